package servers

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// program is one row of the table of programs that preStop hooks run.
type program struct {
	name string
	run  func(c *corev1.Container, argv []string) effect
}

func programNamed(name string) (program, bool) {
	for _, p := range programs() {
		if p.name == name {
			return p, true
		}
	}
	return program{}, false
}

// programs is the table. What a program does was read in its documentation or source where
// the comment of its function says so, and is recalled otherwise.
func programs() []program {
	rows := []program{
		{"sleep", runSleep}, {"usleep", runUsleep}, {"kill", runKill}, {"pkill", runKill}, {"killall", runKill},
		{"python", runPython}, {"python3", runPython}, {"perl", runPython},
		{"curl", runCurl}, {"wget", runCurl},
		{"nginx", runNginx}, {"openresty", runNginx}, {"wait-shutdown", runWaitShutdown},
		{"httpd", runHTTPD}, {"apachectl", runHTTPD}, {"apache2ctl", runHTTPD}, {"caddy", runCaddy},
		{"envoy-gateway", runEnvoyGateway}, {"pilot-agent", runPilotAgent},
		{"redis-cli", runRedis}, {"valkey-cli", runRedis},
		{"pg_ctl", stops("pg_ctl stops the server", 0, 5*engine.Second)},
		{"mysqladmin", stops("mysqladmin shutdown", 0, 5*engine.Second)},
		{"mongosh", stops("mongosh, taken for a shutdown or step-down", 0, 10*engine.Second)},
		{"rabbitmqctl", stops("rabbitmqctl, taken for stop_app", engine.Second, 10*engine.Second)},
		{"rabbitmq-upgrade", runRabbitUpgrade},
		{"nodetool", runNodetool},
		{"consul", stops("consul leave", engine.Second, 5*engine.Second)},
		{"nats-server", runNATS},
		{"test", runTest}, {"[", runTest},
		{"rm", runMarker}, {"unlink", runMarker}, {"touch", runMarker},
	}
	for _, name := range []string{"true", ":", "echo", "printf", "date", "cd", "set", "export", "mkdir", "cat", "ls", "sync", "exit", "logger", "trap", "umask"} {
		rows = append(rows, program{name, instant})
	}
	return append(rows, program{"false", func(*corev1.Container, []string) effect { return effect{fails: true, why: []string{"false"}} }})
}

func instant(_ *corev1.Container, argv []string) effect {
	e := effect{why: []string{argv[0]}}
	if (argv[0] == "exit") && len(argv) > 1 && argv[1] != "0" {
		e.fails = true
	}
	return e
}

// runTest is test, or [: what it says of words that are known is known, and nothing else.
func runTest(_ *corev1.Container, argv []string) effect {
	e := effect{why: []string{argv[0]}}
	words := argv[1:]
	if argv[0] == "[" && len(words) > 0 {
		words = words[:len(words)-1]
	}
	holds, known := false, true
	switch {
	case len(words) == 1:
		holds = words[0] != ""
	case len(words) == 2 && (words[0] == "-n" || words[0] == "-z"):
		holds = (words[1] != "") == (words[0] == "-n")
	case len(words) == 3:
		holds, known = compares(words[0], words[1], words[2])
	default:
		known = false
	}
	e.mayFail, e.fails = !known, known && !holds
	return e
}

// compares is what test says of two words with an operator between them.
func compares(a, operator, b string) (holds, known bool) {
	x, isNumber := units.Decimal(a, 0)
	y, ok := units.Decimal(b, 0)
	isNumber = isNumber && ok
	switch operator {
	case "=", "==":
		return a == b, true
	case "!=":
		return a != b, true
	case "-eq":
		return x == y, isNumber
	case "-ne":
		return x != y, isNumber
	case "-gt":
		return x > y, isNumber
	case "-ge":
		return x >= y, isNumber
	case "-lt":
		return x < y, isNumber
	case "-le":
		return x <= y, isNumber
	default:
		return false, false
	}
}

// runMarker reads what takes a file away, or makes one, that the readiness probe looks for: the pod is not ready from then on, and neither is
// it serving while it terminates (docs/model/pod-lifecycle.md 3.4).
func runMarker(c *corev1.Container, argv []string) effect {
	e := instant(c, argv)
	if c == nil || c.ReadinessProbe == nil || c.ReadinessProbe.Exec == nil {
		return e
	}
	asks := strings.Fields(strings.Join(c.ReadinessProbe.Exec.Command, " "))
	absence := slices.Contains(asks, "!")
	for _, file := range argv[1:] {
		if strings.HasPrefix(file, "/") && slices.Contains(asks, file) && absence == (argv[0] == "touch") {
			return effect{failsReadiness: true, why: []string{strings.Join(argv, " ") + " has the readiness probe fail"}}
		}
	}
	return e
}

// stops makes a row of a program that stops the server at its beginning and whose duration is
// an assumption of the table.
func stops(why string, low, high engine.Time) func(*corev1.Container, []string) effect {
	return func(*corev1.Container, []string) effect {
		return effect{min: low, max: high, closes: true, unknown: true, why: []string{why}}
	}
}

// runRabbitUpgrade reads rabbitmq-upgrade: drain stops the listeners, and its other commands wait for other members.
func runRabbitUpgrade(c *corev1.Container, argv []string) effect {
	if slices.Contains(argv, "drain") {
		return stops("rabbitmq-upgrade drain", engine.Second, 10*engine.Second)(c, argv)
	}
	return unknownEffect(strings.Join(argv[:min(len(argv), 2)], " "))
}

// runNATS reads nats-server --signal: with ldm, "the server will stop accepting new connections" and lets go of those that it has, in
// two minutes by default (https://docs.nats.io/nats-server/nats_admin/lame_duck_mode; verified); with quit and stop it ends. The program
// that sends the signal does not wait.
func runNATS(_ *corev1.Container, argv []string) effect {
	signals := slices.ContainsFunc(argv, func(a string) bool {
		return slices.ContainsFunc(strings.Split(a, "="), func(word string) bool { return slices.Contains([]string{"ldm", "quit", "stop", "term"}, word) })
	})
	if !signals {
		return unknownEffect(strings.Join(argv[:min(len(argv), 2)], " "))
	}
	return effect{max: 100 * engine.Millisecond, closes: true, why: []string{strings.Join(argv, " ") + " has it stop accepting at once"}}
}

func runSleep(_ *corev1.Container, argv []string) effect {
	total := engine.Time(0)
	for _, a := range argv[1:] {
		d, ok := sleepTime(a)
		if !ok {
			return effect{fails: true, why: []string{"sleep cannot read " + a + ": it fails at once"}}
		}
		total = addSpan(total, d)
	}
	if len(argv) == 1 {
		return effect{fails: true, why: []string{"sleep without a time fails at once"}}
	}
	return effect{min: total, max: total, why: []string{strings.Join(argv, " ")}}
}

func runUsleep(_ *corev1.Container, argv []string) effect {
	if len(argv) == 2 {
		if n, ok := units.Decimal(argv[1], 0); ok && n < uint64(Forever/engine.Microsecond) {
			d := engine.Time(n) * engine.Microsecond
			return effect{min: d, max: d, why: []string{strings.Join(argv, " ")}}
		}
	}
	return unknownEffect(strings.Join(argv, " "))
}

// runPython reads python -c "import time; time.sleep(15)" and perl -e "sleep 15".
func runPython(_ *corev1.Container, argv []string) effect {
	text := strings.Join(argv[1:], " ")
	at := strings.LastIndex(text, "sleep")
	if at < 0 || strings.Count(text, "sleep") > 1 || strings.Contains(text, "while") || strings.Contains(text, "for ") {
		return unknownEffect("a script of " + Base(argv[0]))
	}
	number := strings.TrimLeft(text[at+len("sleep"):], " (")
	end := strings.IndexFunc(number, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end >= 0 {
		number = number[:end]
	}
	d, ok := sleepTime(number)
	if !ok {
		return unknownEffect("a script of " + Base(argv[0]))
	}
	return effect{min: d, max: d, why: []string{Base(argv[0]) + " sleeps " + d.Duration().String()}}
}

// runKill reads kill [-SIG | -s SIG] PID: what is sent to the server begins its end.
func runKill(c *corev1.Container, argv []string) effect {
	signal := "TERM"
	for i, a := range argv[1:] {
		switch {
		case a == "-s" && i+2 < len(argv):
			signal = argv[i+2]
		case len(a) > 1 && a[0] == '-' && a != "-f" && a != "-x" && a != "-o" && a != "-n" && a != "-s":
			signal = a[1:]
		}
	}
	e := effect{why: []string{strings.Join(argv, " ")}}
	switch strings.TrimPrefix(strings.ToUpper(signal), "SIG") {
	case "TERM", "15", "INT", "2":
		e.signals = true
		e.closes = closesAtOnce(c)
	case "QUIT", "3", "USR1", "10", "WINCH", "28":
		e.closes = true // the graceful stop of nginx and php-fpm, haproxy, httpd
	case "KILL", "9":
		e.closes = true
	case "0":
	default:
		e.unknown = true
	}
	return e
}

func closesAtOnce(c *corev1.Container) bool {
	app := ContainerApp(c, nil, world.Overrides{})
	return app.Listener == world.ListenerCloses && !app.IgnoresSIGTERM
}

// runCurl: a request to something in the pod. Known addresses do known things, a --max-time
// bounds the rest.
func runCurl(c *corev1.Container, argv []string) effect {
	text := strings.Join(argv, " ")
	switch {
	case strings.Contains(text, "/drain_listeners") && strings.Contains(text, "graceful"):
		return drainsListeners(c)
	case strings.Contains(text, "/healthcheck/fail"):
		return effect{max: 100 * engine.Millisecond, failsReadiness: true, why: []string{"Envoy's /healthcheck/fail"}}
	case strings.Contains(text, "/drain_listeners"), strings.Contains(text, "/quitquitquit"):
		return effect{max: 100 * engine.Millisecond, closes: true, why: []string{Base(argv[0]) + " to the proxy's admin port"}}
	}
	e := unknownEffect(Base(argv[0]) + ": how long the answer takes is not known")
	e.answered = !slices.ContainsFunc(argv, failsOnErrors) // any answer is good enough
	for i, a := range argv {
		value := ""
		switch key, v, ok := strings.Cut(a, "="); {
		case ok && (key == "--max-time" || key == "--timeout"):
			value = v
		case (a == "--max-time" || a == "-m" || a == "-T") && i+1 < len(argv):
			value = argv[i+1]
		}
		if d, ok := sleepTime(value); ok {
			e.max = d
			e.why = []string{Base(argv[0]) + ": at most " + d.Duration().String()}
		}
	}
	return e
}

// failsOnErrors says of an argument of curl's that it makes an answer of 400 and above a failure: --fail, or f among short ones.
func failsOnErrors(arg string) bool {
	return strings.HasPrefix(arg, "--fail") || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "f")
}

// drainsListeners is Envoy's /drain_listeners?graceful: it returns at once, and the listeners accept
// until the drain time is over (docs/model/propagation.md 5 Envoy; the default of 600 s, too).
func drainsListeners(c *corev1.Container) effect {
	drain, ok := EvidenceOf(c, nil).grace("--drain-time-s")
	if !ok {
		drain = 10 * engine.Minute
	}
	return effect{
		max: 100 * engine.Millisecond, closes: true, actMin: drain, actMax: drain,
		why: []string{"Envoy drains its listeners, which stay open for " + drain.Duration().String()},
	}
}

// runNginx: -s quit returns at once; the listeners are closed by then
// (docs/model/propagation.md 5).
func runNginx(_ *corev1.Container, argv []string) effect {
	text := strings.Join(argv, " ")
	e := effect{why: []string{text}}
	if strings.Contains(text, "quit") || strings.Contains(text, "stop") {
		e.closes = true
	}
	return e
}

// runWaitShutdown is ingress-nginx' /wait-shutdown: SIGTERM to the controller, then a look
// each second until nginx has gone (docs/model/load-balancers.md 5.1; verified). nginx goes after
// --shutdown-grace-period and when its requests are done.
func runWaitShutdown(c *corev1.Container, _ []string) effect {
	e := EvidenceOf(c, nil)
	grace, _ := e.grace("--shutdown-grace-period")
	return effect{
		min: grace + engine.Second, max: grace + 2*engine.Second,
		signals: true, closes: grace == 0, failsReadiness: true, waits: true,
		why: []string{"/wait-shutdown sends SIGTERM and waits for nginx to go"},
	}
}

func runHTTPD(_ *corev1.Container, argv []string) effect {
	text := strings.Join(argv, " ")
	return effect{closes: strings.Contains(text, "stop"), why: []string{text}}
}

func runCaddy(_ *corev1.Container, argv []string) effect {
	return effect{closes: len(argv) > 1 && argv[1] == "stop", why: []string{strings.Join(argv, " ")}}
}

// runEnvoyGateway is the shutdown manager's hook: it fails readiness and waits 10-60 s
// (docs/model/load-balancers.md 5.2; verified).
func runEnvoyGateway(_ *corev1.Container, argv []string) effect {
	if strings.Contains(strings.Join(argv, " "), "shutdown") {
		return effect{min: 10 * engine.Second, max: engine.Minute, failsReadiness: true, waits: true, why: []string{"Envoy Gateway's shutdown manager: drains 10-60 s"}}
	}
	return unknownEffect(strings.Join(argv, " "))
}

func runPilotAgent(_ *corev1.Container, argv []string) effect {
	text := strings.Join(argv, " ")
	if strings.Contains(text, "quitquitquit") {
		return effect{max: 100 * engine.Millisecond, signals: true, why: []string{text}}
	}
	return unknownEffect(text)
}

func runRedis(_ *corev1.Container, argv []string) effect {
	text := strings.ToLower(strings.Join(argv, " "))
	if strings.Contains(text, "shutdown") {
		return effect{max: engine.Second, closes: true, why: []string{"redis shutdown"}}
	}
	return unknownEffect(text)
}

// runNodetool: drain stops client connections before SIGTERM; how long it takes hangs on the
// memtables.
func runNodetool(_ *corev1.Container, argv []string) effect {
	if strings.Contains(strings.Join(argv, " "), "drain") {
		return effect{min: engine.Second, max: 30 * engine.Second, closes: true, unknown: true, why: []string{"nodetool drain closes client connections first; how long it takes is assumed"}}
	}
	return unknownEffect(strings.Join(argv, " "))
}
