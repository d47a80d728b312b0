package world

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// AsksProcess says that an exec probe passes as soon as its container's process runs, whatever the app does: it looks for the process, or
// for nothing. A liveness probe that looks at a file is taken for one, too: what an app writes when it is ready stays there.
func AsksProcess(p *corev1.Probe, liveness bool) bool {
	if p == nil || p.Exec == nil {
		return false
	}
	argv := p.Exec.Command
	if len(argv) == 3 && strings.HasSuffix(path.Base(argv[0]), "sh") && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[1], "c") {
		if strings.ContainsAny(argv[2], ";&|`$\n") {
			return false
		}
		argv = strings.Fields(argv[2])
	}
	if len(argv) == 0 {
		return false
	}
	name := path.Base(argv[0])
	return slices.Contains([]string{"pgrep", "pidof", "ps", "true", ":", "echo"}, name) ||
		liveness && slices.Contains([]string{"cat", "test", "[", "ls", "stat"}, name)
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
