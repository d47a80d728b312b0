package fix

import (
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
}

var (
	sleeps    = regexp.MustCompile(`^(exec )?sleep [0-9.]+[smh]?;?$`)
	leadSleep = regexp.MustCompile(`^sleep [0-9.]+[smh]? *(;|&&) *`)
	safeWord  = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)
)

// sleepingHook is a container's hook with a sleep of so many seconds. What it has besides a sleep stays: only its author knows what that is
// for. The sleep comes before it, unless all that it does is known to leave the server accepting: most programs of hooks have it stop that,
// and a sleep after them is none. ok is false where nothing can be put before it or after it: a request, or a shell that is replaced.
func (t *target) sleepingHook(c *corev1.Container, seconds int64) (h hooked, ok bool) {
	known := t.w.Hooks[c.Name]
	plain := fmt.Sprintf("{sleep: {seconds: %d}}", seconds)
	if t.withoutSleepAction() {
		plain = fmt.Sprintf("{exec: {command: [sleep, %q]}}", fmt.Sprint(seconds))
	}
	switch {
	case known.Kind == servers.HookNone:
		return hooked{yaml: plain}, true
	case known.Kind != servers.HookExec && known.Kind != servers.HookHTTP, plainSleep(c.Lifecycle.PreStop):
		return hooked{yaml: plain, words: " instead of " + hookName(c.Lifecycle.PreStop)}, true
	case known.Kind == servers.HookHTTP:
		return h, false
	}
	shell, script := scriptOf(c.Lifecycle.PreStop.Exec.Command)
	if script == "" {
		return h, false
	}
	h.words, h.rest = " after its hook", min(known.Duration.Max(), engine.Hour)
	rest := leadSleep.ReplaceAllString(script, "")
	if accepts := !known.Undetermined && !known.ClosesListener && !known.SignalsServer; rest != script || !accepts {
		h.words, script = " before its hook", fmt.Sprintf("sleep %d; %s", seconds, rest)
	} else {
		script = fmt.Sprintf("%s; sleep %d", strings.TrimRight(script, "; "), seconds)
	}
	h.unknown = known.Undetermined && !known.ClosesListener && !known.SignalsServer
	h.yaml = fmt.Sprintf("{exec: {command: [%s, %s]}}", shell, strconv.Quote(script))
	return h, true
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

// withoutSleepAction says that the API does not have it yet without a feature gate.
func (t *target) withoutSleepAction() bool {
	v := t.sc.Kubernetes.Version
	return v.Major == sleepSince.Major && v.Minor < sleepSince.Minor
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
		return false
	}
}

// scriptOf is what a program's arguments are in a shell, "" where nothing can follow them there: a here document, something in the
// background, or what takes the place of the shell or ends it.
func scriptOf(argv []string) (shell, script string) {
	if len(argv) == 3 && argv[1] == "-c" && slices.Contains([]string{"sh", "bash", "ash", "dash"}, path.Base(argv[0])) {
		s := strings.TrimSpace(argv[2])
		if strings.HasSuffix(s, "&") || strings.HasSuffix(s, "\\") || strings.ContainsAny(s, "\n#") || endsShell.MatchString(s) {
			return "", ""
		}
		return strconv.Quote(argv[0]) + ", -c", s
	}
	if slices.ContainsFunc(argv, func(word string) bool { return !safeWord.MatchString(word) }) {
		return "", ""
	}
	return "/bin/sh, -c", strings.Join(argv, " ")
}

var endsShell = regexp.MustCompile(`(^|[;&|({ ])(exec|exit|trap|set -e)\b|<<`)

// servers are the containers that Services lead to, the one that is judged first.
func (t *target) servers() []int {
	containers := t.w.Template().Spec.Containers
	out := []int{t.server}
	for i := range t.sc.Services {
		svc := t.sc.Services[i].Service
		if svc.Namespace != t.w.Namespace() || !world.Selects(svc, t.w.Template().Labels) {
			continue
		}
		for k := range svc.Spec.Ports {
			at := slices.IndexFunc(containers, func(c corev1.Container) bool { return has(&c, svc.Spec.Ports[k].TargetPort, svc.Spec.Ports[k].Port) })
			if at >= 0 && !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

// outlasting are the containers beside the one that is judged first that have to live as long: those that a Service leads to, and those
// that it may need for its answers. The kubelet stops all of a pod at the same time.
func (t *target) outlasting() []int {
	out := t.servers()[1:]
	containers := t.w.Template().Spec.Containers
	for i := range containers {
		if i != t.server && !slices.Contains(out, i) && servers.Needed(&containers[i], t.w.Template().Labels) {
			out = append(out, i)
		}
	}
	return out
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
