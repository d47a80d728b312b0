package fix

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// hooked is a preStop hook that sleeps and does what the hook of a container does besides.
type hooked struct {
	yaml  string
	words string      // after "sleep N", "" where there is no hook
	rest  engine.Time // how long what it does besides may take
	// unknown says that nobody knows what it does to the server besides.
	unknown bool
	// kept says that what its hook does besides a sleep stays.
	kept bool
	// instead says that its hook's program is left out.
	instead bool
	// request says that what it does besides is the request that the kubelet makes now; shell that nothing says that the image has a shell.
	request, shell bool
}

var (
	sleeps    = regexp.MustCompile(`^(exec )?sleep (` + sleptFor + `);?$`)
	leadSleep = regexp.MustCompile(`^sleep (` + sleptFor + `) *(;|&&|\n) *`)
	safeWord  = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)
)

// sleptFor is a time as scripts have it: a number, or a variable. Where nobody knows the variable's value the hook is undetermined.
const sleptFor = `[0-9.]+[smh]?|"?\$(\w+|\{[^}"]*\})"?`

// sleepingHook is a container's hook with a sleep of so many seconds. What it has besides a sleep stays: only its author knows what that is
// for. The sleep comes before it, unless all that it does is known to leave the server accepting, and its node sending to it: most programs of hooks have it stop that,
// and a sleep after them is none. ok is false where nothing can be put before it or after it: a shell that is replaced, or where there is none.
func (t *target) sleepingHook(c *corev1.Container, seconds int64) (h hooked, ok bool) {
	known := t.w.Hooks[c.Name]
	plain := fmt.Sprintf("{sleep: {seconds: %d}}", seconds)
	windows := world.OnWindows(&t.w.Template().Spec) != ""
	if t.withoutSleepAction() && windows {
		plain = fmt.Sprintf("{exec: {command: [powershell, -Command, Start-Sleep -Seconds %d]}}", seconds)
	} else if t.withoutSleepAction() {
		plain = fmt.Sprintf("{exec: {command: [sleep, %q]}}", fmt.Sprint(seconds))
	}
	switch {
	case known.Kind == servers.HookNone:
		return hooked{yaml: plain}, true
	case known.Kind != servers.HookExec && known.Kind != servers.HookHTTP, plainSleep(c.Lifecycle.PreStop) && !known.Undetermined:
		return hooked{yaml: plain, words: " instead of " + hookName(c.Lifecycle.PreStop)}, true
	}
	if windows { // no shell of its images reads such a script
		return hooked{yaml: plain, words: " (the sleep action) instead of " + hookName(c.Lifecycle.PreStop), unknown: known.Undetermined, instead: true}, !t.withoutSleepAction()
	}
	shell, script := scriptBehind(c, &known)
	if script == "" {
		return h, false
	}
	h.request = known.Kind == servers.HookHTTP
	h.shell = !servers.HasShell(c) && (h.request || !isScript(c.Lifecycle.PreStop.Exec.Command))
	h.kept, h.words, h.rest = true, " after its hook", min(known.Duration.Max(), engine.Hour)
	rest := script
	if !known.Undetermined || !strings.Contains(leadSleep.FindString(script), "$") {
		rest = leadSleep.ReplaceAllString(script, "")
	}
	if rest != script || !t.goesOn(&known) || !canFollow(c, script) {
		h.words, script = " before its hook", sleepBefore(seconds, rest)
	} else {
		script = fmt.Sprintf("%s; sleep %d", strings.TrimRight(script, "; "), seconds)
	}
	h.unknown = known.Undetermined && !known.ClosesListener && !known.SignalsServer
	h.yaml = fmt.Sprintf("{exec: {command: [%s, %s]}}", shell, strconv.Quote(script))
	return h, true
}

// sleepBefore has a script sleep first: on a line of its own where the script has several.
func sleepBefore(seconds int64, script string) string {
	between := "; "
	if strings.Contains(script, "\n") {
		between = "\n"
	}
	return fmt.Sprintf("sleep %d%s%s", seconds, between, script)
}

// goesOn says that a hook leaves a server accepting, and its node sending to it: a pod that says that it is not ready is no use to a node that
// sends to its own pods only.
func (t *target) goesOn(h *world.Hook) bool {
	return !h.Undetermined && !h.ClosesListener && !h.SignalsServer && (!h.FailsReadiness || !t.local())
}

// slept is how many seconds an exec hook sleeps that a longer sleep would take the place of: nobody is told to sleep for less than that. 0 for
// other hooks.
func slept(c *corev1.Container, known world.Hook) int64 {
	if known.Kind != servers.HookExec || c.Lifecycle == nil || c.Lifecycle.PreStop == nil || c.Lifecycle.PreStop.Exec == nil {
		return 0
	}
	if !plainSleep(c.Lifecycle.PreStop) {
		_, script := scriptOf(c.Lifecycle.PreStop.Exec.Command)
		if leadSleep.FindString(script) == "" || strings.Count(script, "sleep") > 1 {
			return 0
		}
	}
	return int64(known.Duration.Min() / engine.Second)
}

// scriptBehind is what a hook does besides a sleep, in a shell: its program, or its request, made by a program. script is "" where it cannot
// be there.
func scriptBehind(c *corev1.Container, known *world.Hook) (shell, script string) {
	if known.Kind != servers.HookHTTP {
		argv := c.Lifecycle.PreStop.Exec.Command
		if !isScript(argv) && servers.LacksShell(c) {
			return "", ""
		}
		return scriptOf(argv)
	}
	get := c.Lifecycle.PreStop.HTTPGet
	port := get.Port.IntVal
	for _, p := range c.Ports {
		if get.Port.Type == intstr.String && p.Name == get.Port.StrVal {
			port = p.ContainerPort
		}
	}
	if !known.Undetermined || servers.LacksShell(c) || len(get.HTTPHeaders) > 0 || port == 0 {
		return "", "" // what is known to wait or to fail readiness is no matter of a sleep
	}
	url := fmt.Sprintf("%s://%s:%d/%s", strings.ToLower(cmp.Or(string(get.Scheme), "http")), cmp.Or(get.Host, "localhost"), port, strings.TrimPrefix(get.Path, "/"))
	wget := "wget -qO- "
	if get.Scheme == corev1.URISchemeHTTPS { // the kubelet does not look at the certificate either, and there is none for localhost
		wget += "--no-check-certificate "
	}
	return "/bin/sh, -c", wget + shellWord(url)
}

// costs are what a sleep in a hook is to be paid with, besides the time.
func (h *hooked) costs() string {
	out := ""
	if h.unknown && h.instead {
		return "; what its hook's program does besides is left out: have the app do that at SIGTERM"
	}
	if h.unknown {
		what := "program"
		if h.request {
			what = "request"
		}
		out = "; the sleep comes first, for the hook's " + what + " may have the server stop accepting"
	}
	if h.request {
		out += "; in an image without them have the app do at SIGTERM what the request asks for, and use the sleep action in its place"
	}
	return out
}

// needs is what the image has to have, in brackets, "" for nothing that is not known to be there.
func (h *hooked) needs() string {
	switch {
	case h.request && h.shell:
		return " (if the image has a shell and wget)"
	case h.request:
		return " (if the image has wget)"
	case h.shell:
		return " (if the image has a shell)"
	default:
		return ""
	}
}

// withoutSleepAction says that the API does not have it yet without a feature gate.
func (t *target) withoutSleepAction() bool {
	v := t.sc.Kubernetes.Version
	return v.Major == sleepSince.Major && v.Minor < sleepSince.Minor
}

// nothingSleeps says that no hook can wait in the server's container: its image has no program that does, and the API no action yet.
func (t *target) nothingSleeps() bool {
	return t.withoutSleepAction() && servers.LacksShell(t.container())
}

// servesOn has the app itself wait where no hook can: it goes on serving after SIGTERM until nobody sends to it any more.
func (t *target) servesOn(lateness engine.Time) *Change {
	seconds := Sleep(lateness)
	after := engine.Time(seconds) * engine.Second
	if !t.nothingSleeps() || t.w.App.IgnoresSIGTERM || t.w.App.Listener == world.ListenerDrains && t.w.App.DrainFor >= after {
		return nil
	}
	c := &Change{
		ID: "serves", Title: fmt.Sprintf("have the app go on serving for %d s after SIGTERM", seconds), Around: Around{Accepts: after},
		Cost: fmt.Sprintf("a change of the app: its image has no program that sleeps, and Kubernetes has the sleep action from %s on; in another image, or then, preStop: sleep %d does as much", sleepSince, seconds),
	}
	if needed := seconds + int64(max(t.w.App.FinishWithin, spare)/engine.Second); needed > t.graceSeconds() {
		c.Title += ", " + graceWords(needed)
		c.Edits = append(c.Edits, t.edit(gracePath, needed))
	}
	return c
}

// plainSleep says that a hook does nothing but sleep.
func plainSleep(h *corev1.LifecycleHandler) bool {
	switch {
	case h.Exec == nil:
		return h.Sleep != nil
	case len(h.Exec.Command) == 2:
		return path.Base(h.Exec.Command[0]) == "sleep"
	case len(h.Exec.Command) == 3 && h.Exec.Command[1] == "-c":
		return sleeps.MatchString(strings.TrimSpace(h.Exec.Command[2]))
	default:
		_, ok := servers.SleepsBy(h.Exec.Command)
		return ok
	}
}

// isScript says that a command line is a shell's, with a script.
func isScript(argv []string) bool {
	return len(argv) == 3 && runsScript.MatchString(argv[1]) && slices.Contains([]string{"sh", "bash", "ash", "dash"}, path.Base(argv[0]))
}

// runsScript are the options of a shell that runs a script: -c, -ec, -exc.
var runsScript = regexp.MustCompile(`^-[eux]*c$`)

// scriptOf is what a program's arguments are in a shell, "" where they cannot be written there.
func scriptOf(argv []string) (shell, script string) {
	if isScript(argv) {
		return strconv.Quote(argv[0]) + ", " + argv[1], strings.TrimSpace(argv[2])
	}
	var words []string
	for _, word := range argv {
		if strings.Contains(word, "\n") {
			return "", ""
		}
		words = append(words, shellWord(word))
	}
	return "/bin/sh, -c", strings.Join(words, " ")
}

// canFollow says that a command can follow a container's hook in its script. None can follow a here document, a comment, something in the
// background, or what takes the place of the shell or ends it; before each of them one can.
func canFollow(c *corev1.Container, script string) bool {
	if exec := c.Lifecycle.PreStop.Exec; exec == nil || !isScript(exec.Command) {
		return true
	}
	return !strings.HasSuffix(script, "&") && !strings.HasSuffix(script, "\\") && !strings.ContainsAny(script, "\n#") && !endsShell.MatchString(script) &&
		!strings.Contains(c.Lifecycle.PreStop.Exec.Command[1], "e")
}

// shellWord is a word as a shell reads it: in quotes where it has anything in it that a shell would look at.
func shellWord(word string) string {
	if safeWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var endsShell = regexp.MustCompile(`(^|[;&|({ ])(exec|exit|trap|set -e)\b|<<`)

// servers are the containers that Services lead to, the one that is judged first.
func (t *target) servers() []int {
	containers := t.containers()
	out := []int{t.server}
	for i := range t.sc.Services {
		svc := t.sc.Services[i].Service
		if svc.Namespace != t.w.Namespace() || !world.Selects(svc, t.w.Template().Labels) {
			continue
		}
		for k := range svc.Spec.Ports {
			at := slices.IndexFunc(containers, func(c *corev1.Container) bool { return has(c, svc.Spec.Ports[k].TargetPort, svc.Spec.Ports[k].Port) })
			if at >= 0 && !slices.Contains(out, at) && !t.endsLater(at) {
				out = append(out, at)
			}
		}
	}
	return out
}

// outlasting are the containers beside the one that is judged first that have to live as long: those that a Service leads to, those that
// it may need for its answers, and those whose hook keeps the pod's readiness for a while. The kubelet stops all of a pod at the same time.
func (t *target) outlasting() []int {
	out := t.servers()[1:]
	for i, c := range t.containers() {
		ready := c.ReadinessProbe != nil && t.w.Hooks[c.Name].Kind != servers.HookNone
		if i != t.server && !slices.Contains(out, i) && !t.endsLater(i) && (ready || servers.Needed(c, t.w.Template().Labels)) {
			out = append(out, i)
		}
	}
	return out
}

// endsLater says that a container is a sidecar beside a server that is none, and has no hook that has it stop before its turn: it is told to stop
// when the others have ended (docs/model/pod-lifecycle.md 2.4).
func (t *target) endsLater(container int) bool {
	c := t.containers()[container]
	return container >= len(t.w.Template().Spec.Containers) && t.server < len(t.w.Template().Spec.Containers) && t.w.Hooks[c.Name].Kind == servers.HookNone
}

// has says that a container names the port that a Service's port leads to.
func has(c *corev1.Container, target intstr.IntOrString, port int32) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
		switch {
		case target.Type == intstr.String:
			return p.Name == target.StrVal
		case target.IntVal == 0:
			return p.ContainerPort == port
		default:
			return p.ContainerPort == target.IntVal
		}
	})
}
