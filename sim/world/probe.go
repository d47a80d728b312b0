package world

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// AsksProcess says that an exec probe passes as soon as its container's process runs, whatever the app does: it looks for the process, or
// for nothing, or says that a file is not there. A liveness probe that looks at a file is taken for one, too: what an app writes when it is
// ready stays there.
func AsksProcess(p *corev1.Probe, liveness bool) bool {
	commands := commandsOf(p)
	for _, words := range commands {
		name := path.Base(words[0])
		if !slices.Contains([]string{"pgrep", "pidof", "ps", "true", ":", "echo"}, name) && strings.Join(words, " ") != "exit 0" &&
			!saysAbsent(words) && (!liveness || !slices.Contains(append([]string{"test", "["}, listers...), name)) {
			return false
		}
	}
	return len(commands) > 0
}

// AsksForAbsence says that an exec probe fails when somebody makes a file.
func AsksForAbsence(p *corev1.Probe) bool { return slices.ContainsFunc(commandsOf(p), saysAbsent) }

// PassesAtOnce says of the readiness probe of an app that it passes as soon as its container runs: by its program, or as somebody says it.
func (a *App) PassesAtOnce(p *corev1.Probe) bool {
	if p == nil || p.Exec == nil || a.ReadinessAsks == AsksServer {
		return false
	}
	return a.ReadinessAsks == AsksNothing || AsksProcess(p, false)
}

// Asks is what an exec readiness probe asks.
type Asks uint8

// What it asks.
const (
	AsksByProgram Asks = iota // what its program is known for, else the server
	AsksServer                // it passes when the server listens
	AsksNothing               // it passes as soon as the container runs
)

// listers are programs that fail where a file is not there.
var listers = []string{"cat", "ls", "stat"}

// commandsOf are those of an exec probe that all have to pass: its program, or those of a shell with && between them. nil where a script is more
// than that.
func commandsOf(p *corev1.Probe) [][]string {
	if p == nil || p.Exec == nil || len(p.Exec.Command) == 0 {
		return nil
	}
	argv := p.Exec.Command
	if len(argv) != 3 || !strings.HasSuffix(path.Base(argv[0]), "sh") || !strings.HasPrefix(argv[1], "-") || !strings.HasSuffix(argv[1], "c") {
		return [][]string{argv}
	}
	var out [][]string
	for _, command := range strings.Split(strings.TrimSuffix(strings.TrimSpace(argv[2]), ";"), "&&") {
		words := strings.Fields(command)
		if len(words) == 0 || strings.ContainsAny(command, ";&|`$\n") {
			return nil
		}
		out = append(out, words)
	}
	return out
}

// saysAbsent says of a command that it passes while a file is not there.
func saysAbsent(words []string) bool {
	negated := words[0] == "!"
	if negated {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	switch name, last := path.Base(words[0]), len(words)-1; {
	case name == "[" && words[last] == "]", name == "[[" && words[last] == "]]":
		words = words[1:last]
	case name == "test":
		words = words[1:]
	default:
		return negated && slices.Contains(listers, name)
	}
	if len(words) > 0 && words[0] == "!" {
		negated, words = !negated, words[1:]
	}
	return negated && len(words) == 2 && slices.Contains([]string{"-e", "-f", "-d", "-s", "-r"}, words[0])
}

// FailuresFor is the failureThreshold with which a startup probe waits four times as long as a server takes to listen, and half a minute at
// least, for how long that takes is hardly ever known; and how many seconds that is. It is 0 where the probe waits so long.
func FailuresFor(p *corev1.Probe, start engine.Time) (failures, seconds int64) {
	const room, least = 4, 30
	period, delay := int64(max(p.PeriodSeconds, 1)), int64(p.InitialDelaySeconds)
	failures = (max(least, int64((room*start+engine.Second-1)/engine.Second)) - delay + period - 1) / period
	if failures <= int64(p.FailureThreshold) {
		return 0, 0
	}
	return failures, delay + failures*period
}
