package servers

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Kinds of hooks.
const (
	HookNone      = ""          // there is none
	HookSleep     = "sleep"     // the sleep action
	HookExec      = "exec"      // a program in the container
	HookHTTP      = "httpGet"   // a request to the container
	HookMissing   = "missing"   // a program that the image does not have: fails at once
	HookTCPSocket = "tcpSocket" // accepted by the API, fails at once
)

const (
	// unknownHook is how long a program of which nothing is known may take
	// (docs/model/simulator.md 5.3).
	unknownHook = 5 * engine.Second
	// Forever stands for a sleep without end; the grace period ends it.
	Forever = 24 * engine.Hour
)

// HookOf reads a container's preStop hook: what it does to the server and how long it takes.
// A sleep action is exact. Of a program, the argv and sh -c strings are read: sleep, timeout,
// chains, and the programs of the table in program.go; anything else takes 0-5 s as an
// assumption, after what is known before it, and is Undetermined. A program that the image is known not to have fails at
// once: no delay at all (docs/model/pod-lifecycle.md 2.1). Overrides replace the duration.
func HookOf(c *corev1.Container, set world.Overrides) world.Hook {
	h := preStop(c, set)
	if c.Lifecycle != nil && c.Lifecycle.PostStart != nil {
		after := recognise(c, c.Lifecycle.PostStart)
		h.After = world.PostStart{
			Duration: after.Duration, Undetermined: after.Undetermined, Why: after.Why,
			Fails: after.Kind == HookTCPSocket || Lacks(c, c.Lifecycle.PostStart.Exec) != "",
		}
	}
	return h
}

func preStop(c *corev1.Container, set world.Overrides) world.Hook {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil {
		return world.Hook{}
	}
	h := recognise(c, c.Lifecycle.PreStop)
	if d, ok := world.Lookup(set.PreStop, c.Name); ok && h.Kind != HookNone {
		h.Duration, h.Undetermined, h.Assumes = d, false, ""
		h.Why += "; its duration is given"
		if h.Kind == HookMissing && len(c.Lifecycle.PreStop.Exec.Command) > 0 {
			h.Kind = HookExec // who knows how long it takes knows that it is there
		}
	}
	return h
}

func recognise(c *corev1.Container, hook *corev1.LifecycleHandler) world.Hook {
	switch {
	case hook.Sleep != nil:
		d := engine.Time(min(max(hook.Sleep.Seconds, 0), int64(units.MaxSpan/engine.Second))) * engine.Second
		return world.Hook{Kind: HookSleep, Duration: engine.Constant(d), Why: "sleep action, " + d.Duration().String()}
	case hook.Exec != nil:
		return execHook(c, hook.Exec.Command)
	case hook.HTTPGet != nil:
		return httpHook(hook.HTTPGet)
	case hook.TCPSocket != nil:
		return world.Hook{Kind: HookTCPSocket, Why: "tcpSocket is not implemented for hooks: it fails at once"}
	}
	return world.Hook{}
}

func execHook(c *corev1.Container, argv []string) world.Hook {
	if len(argv) == 0 {
		return world.Hook{Kind: HookMissing, Why: "no command: it fails at once"}
	}
	if why := absent(ParseImage(c.Image), argv[0]); why != "" {
		return world.Hook{Kind: HookMissing, Why: why}
	}
	if words := strings.Fields(argv[0]); len(words) > 1 {
		return world.Hook{Kind: HookMissing, Why: fmt.Sprintf("no program is called %q: it fails at once; each word is an item of command", argv[0])}
	}
	if len(argv) > 1 && path.Base(argv[0]) == "sleep" && strings.HasPrefix(argv[1], "$") {
		// docs/model/pod-lifecycle.md 2.2 variables
		return world.Hook{Kind: HookMissing, Why: "nothing replaces " + argv[1] + " in a hook without a shell: sleep fails at once"}
	}
	if len(argv) > 2 && path.Base(argv[0]) == "contour" && argv[1] == "envoy" && argv[2] == "shutdown" {
		return contourShutdown().hook(HookExec)
	}
	e := interpreter{container: c}.argv(argv, 0)
	e.alone = world.Sidecar(c)
	h := e.hook(HookExec)
	if program := neededProgram(argv); program != "" && !HasShell(c) {
		h.Assumes = program
	}
	return h
}

// httpHook: the kubelet waits for the answer without a limit and does not look at its status
// (docs/model/pod-lifecycle.md 2.2).
func httpHook(get *corev1.HTTPGetAction) world.Hook {
	if strings.HasPrefix(get.Path, "/shutdown/ready") { // Envoy Gateway, docs/model/load-balancers.md 5.2
		return effect{min: 10 * engine.Second, max: engine.Minute, failsReadiness: true, waits: true, why: []string{"Envoy's shutdown manager: drains 10-60 s"}}.hook(HookHTTP)
	}
	if get.Path == "/shutdown" && get.Port.IntValue() == contourShutdownPort {
		return contourShutdown().hook(HookHTTP)
	}
	if strings.HasSuffix(get.Path, "/healthcheck/fail") {
		return effect{max: 100 * engine.Millisecond, failsReadiness: true, why: []string{"Envoy's /healthcheck/fail"}}.hook(HookHTTP)
	}
	return unknownEffect("httpGet " + get.Path + ": how long it takes to answer is not known").hook(HookHTTP)
}

// contourShutdownPort is where the shutdown manager of Contour's Envoy answers.
const contourShutdownPort = 8090

// contourShutdown is what "contour envoy shutdown" does, and what the shutdown manager's /shutdown waits for: Envoy fails its health check and
// closes connections after their next answer, and each 5 s it is asked how many are left, idle ones too. Whoever serves has some at the first
// look (docs/model/load-balancers.md 5.2 Contour).
func contourShutdown() effect {
	return effect{min: 5 * engine.Second, max: 10 * engine.Second, failsReadiness: true, waits: true,
		why: []string{"Contour's shutdown manager: waits until Envoy has no connections left, and asks each 5 s"}}
}

// effect is what a command does: how long it takes, and to the server.
type effect struct {
	min, max engine.Time

	closes, signals, failsReadiness bool
	actMin, actMax                  engine.Time // when the above happens, from the beginning

	waits bool // goes on while requests are served
	alone bool // no SIGTERM comes at its end: that of a sidecar waits for the other containers
	// fails and mayFail decide what comes next in a chain; unknown says that the times are
	// assumptions.
	fails, mayFail, unknown bool
	answered                bool // a request, which fails only where nobody answers: that is not taken for granted
	why                     []string
}

func (e effect) acts() bool { return e.closes || e.signals || e.failsReadiness }

func unknownEffect(why string) effect {
	return effect{max: unknownHook, unknown: true, mayFail: true, why: []string{why}}
}

// hook turns an effect into a Hook. What is done to the server as the very last thing is left
// out where the kubelet's SIGTERM comes at the same moment and does the same.
func (e effect) hook(kind string) world.Hook {
	h := world.Hook{
		Kind:             kind,
		Duration:         between(e.min, e.max),
		WaitsForRequests: e.waits,
		Undetermined:     e.unknown,
		Why:              strings.Join(e.why, ", then "),
	}
	if e.acts() && (e.alone || e.actMax == 0 || e.actMax < e.max || e.actMin < e.min) {
		h.ClosesListener, h.SignalsServer, h.FailsReadiness = e.closes, e.signals, e.failsReadiness
		h.ActsAfter = between(e.actMin, e.actMax)
	}
	return h
}

func between(low, high engine.Time) engine.Dist {
	if low == high {
		return engine.Constant(low)
	}
	return engine.Must(engine.Uniform(low, high))
}

// then puts one effect after another. The first thing that is done to the server counts.
func (e effect) then(f effect) effect {
	out := effect{
		min: addSpan(e.min, f.min), max: addSpan(e.max, f.max),
		closes: e.closes, signals: e.signals, failsReadiness: e.failsReadiness,
		actMin: e.actMin, actMax: e.actMax,
		waits: e.waits || f.waits, unknown: e.unknown || f.unknown, fails: f.fails, mayFail: f.mayFail,
		why: append(append([]string(nil), e.why...), f.why...),
	}
	if !e.acts() { // nor may f: then there is nothing to come of it
		out.closes, out.signals, out.failsReadiness = f.closes, f.signals, f.failsReadiness
		out.actMin, out.actMax = addSpan(e.min, f.actMin), addSpan(e.max, f.actMax)
	}
	return out
}

func addSpan(a, b engine.Time) engine.Time { return min(a+b, Forever) }

// interpreter works out what a command line does in a container.
type interpreter struct{ container *corev1.Container }

// maxDepth bounds sh -c inside sh -c.
const maxDepth = 5

// argv is the effect of a program and its arguments.
func (in interpreter) argv(argv []string, depth int) effect {
	if depth > maxDepth {
		return unknownEffect("shells within shells")
	}
	argv = unwrap(argv)
	if len(argv) == 0 {
		return effect{}
	}
	if script, ok := shellScript(argv); ok {
		return in.script(script, depth+1)
	}
	name := Base(argv[0])
	if name == "timeout" && len(argv) > 1 && strings.EqualFold(argv[1], "/t") {
		return windowsCommand(argv)
	}
	if name == "timeout" {
		return in.timeout(argv, depth+1)
	}
	if p, ok := programNamed(name); ok {
		return p.run(in.container, argv)
	}
	if commands, ok := windowsShell(argv); ok {
		return windows(commands)
	}
	if d, ok := SleepsBy(argv); ok {
		return effect{min: d, max: d, why: []string{strings.Join(argv, " ")}}
	}
	return unknownEffect("unknown program " + argv[0])
}

// gatewaySleep is how long NGINX Gateway Fabric's gateway sleeps where it is not told.
const gatewaySleep = 30 * engine.Second

// SleepsBy is how long a program sleeps that is told to by its subcommand sleep, as NGINX Gateway Fabric's gateway: "sleep --duration=40s",
// 30 s without the flag (nginx/nginx-gateway-fabric, Installation, "Configure Delayed Termination"; read). ok is
// false for others.
func SleepsBy(argv []string) (d engine.Time, ok bool) {
	if len(argv) < 2 || argv[1] != "sleep" {
		return 0, false
	}
	const flag = "--duration"
	switch rest := argv[2:]; {
	case len(rest) == 0 && Base(argv[0]) == "gateway":
		return gatewaySleep, true
	case len(rest) == 1:
		return units.ParseSpan(strings.TrimPrefix(rest[0], flag+"="), engine.Second)
	case len(rest) == 2 && rest[0] == flag:
		return units.ParseSpan(rest[1], engine.Second)
	default:
		return 0, false
	}
}

// unwrap takes off what only runs the rest.
func unwrap(argv []string) []string {
	for len(argv) > 1 {
		switch Base(argv[0]) {
		case "exec", "nohup", "busybox", "sudo", "command", "tini", "dumb-init", "--":
			argv = argv[1:]
		case "env":
			argv = argv[1:]
			for len(argv) > 1 && strings.Contains(argv[0], "=") {
				argv = argv[1:]
			}
		default:
			if name, _, ok := strings.Cut(argv[0], "="); ok && !strings.Contains(name, "/") { // X=1 cmd
				argv = argv[1:]
				continue
			}
			return argv
		}
	}
	return argv
}

// timeout is coreutils' and busybox': it ends the command after that long.
func (in interpreter) timeout(argv []string, depth int) effect {
	rest := argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		takesValue := rest[0] == "-s" || rest[0] == "-k" || rest[0] == "-t"
		if rest[0] == "-t" { // old busybox
			break
		}
		rest = rest[1:]
		if takesValue && len(rest) > 0 {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 && rest[0] == "-t" {
		rest = rest[1:]
	}
	if len(rest) < 2 {
		return unknownEffect("timeout without a command")
	}
	limit, ok := sleepTime(rest[0])
	e := in.argv(rest[1:], depth)
	if !ok {
		e.unknown = true
		return e
	}
	if e.unknown { // nothing is known but the bound
		e.max = limit
	}
	e.mayFail = e.mayFail || e.max > limit
	e.fails = e.fails || e.min > limit
	e.min, e.max = min(e.min, limit), min(e.max, limit)
	e.actMin, e.actMax = min(e.actMin, limit), min(e.actMax, limit)
	e.why = append(append([]string(nil), e.why...), fmt.Sprintf("cut off after %s", limit.Duration()))
	return e
}

// script is the effect of a shell string.
func (in interpreter) script(script string, depth int) effect {
	commands, ok := parseShell(script, literals(in.container))
	total, ended := in.chain(commands, depth)
	switch {
	case ok || ended:
		return total
	case len(commands) == 0:
		return in.opaqueScript(script)
	default: // it lasts as long as what is known of it, at least
		return total.then(in.opaqueScript(script))
	}
}

// chain is the effect of commands one after another; ended says that the shell becomes one of them, and nothing comes after that.
func (in interpreter) chain(commands []command, depth int) (total effect, ended bool) {
	failed, uncertain, answered := false, false, false
	for i, c := range commands {
		if i > 0 {
			switch c.after {
			case "&&":
				if failed {
					continue
				}
			case "||":
				if !failed && !uncertain {
					continue
				}
			}
		}
		e := in.command(c, depth)
		if i > 0 && c.after == "||" && uncertain && !failed {
			e.min = 0 // it may not run at all
		}
		if i > 0 && c.after == "&&" && uncertain && !answered {
			e.min = 0
		}
		total = total.then(e)
		failed, uncertain, answered = e.fails, e.mayFail && !e.fails, e.answered
		if len(c.words) > 0 && Base(c.words[0]) == "exec" {
			return total, true
		}
	}
	return total, false
}

func (in interpreter) command(c command, depth int) effect {
	name := ""
	if len(c.words) > 0 {
		name = Base(c.words[0])
	}
	if c.opaque && name != "kill" && name != "echo" && name != "curl" && name != "wget" {
		return unknownEffect("a value that is computed when it runs: " + strings.Join(c.words, " "))
	}
	if why := absent(ParseImage(in.container.Image), c.words[0]); why != "" && name != "exec" {
		return effect{fails: true, why: []string{why}}
	}
	if c.assigns() {
		return effect{}
	}
	e := in.argv(c.words, depth)
	if len(e.why) > 0 && len(c.by) > 0 {
		e.why[0] += " (by " + strings.Join(c.by, ", ") + ")"
	}
	return e
}

// opaqueScript is for what is more than a chain of commands.
func (in interpreter) opaqueScript(script string) effect {
	if strings.Contains(script, "netstat") || strings.Contains(script, "15020/") || strings.Contains(script, "ss -") {
		e := unknownEffect("a loop that waits for connections to end")
		e.waits = true
		return e
	}
	return unknownEffect("a script that is more than a chain of commands")
}

// sleepTime reads sleep's argument: seconds, with or without a unit, "infinity".
func sleepTime(s string) (engine.Time, bool) {
	if s == "infinity" || s == "inf" {
		return Forever, true
	}
	unit, number := engine.Second, s
	if s != "" {
		switch s[len(s)-1] {
		case 's':
			number = s[:len(s)-1]
		case 'm':
			unit, number = engine.Minute, s[:len(s)-1]
		case 'h':
			unit, number = engine.Hour, s[:len(s)-1]
		case 'd':
			unit, number = 24*engine.Hour, s[:len(s)-1]
		}
	}
	milli, ok := units.Decimal(number, 3)
	if !ok || milli > uint64(Forever/unit)*1000 {
		return Forever, ok
	}
	return engine.Time(milli) * (unit / 1000), true
}
