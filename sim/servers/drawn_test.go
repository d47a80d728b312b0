package servers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// What drawn hooks and containers come to is kept in these, a line each.
const (
	keptHooks      = "testdata/drawn-hooks.txt"
	keptContainers = "testdata/drawn-containers.txt"
)

// drawer draws what nobody would write, of the words that people do write.
type drawer struct{ *rand.Rand }

func newDrawer(seed uint64) drawer { return drawer{rand.New(rand.NewPCG(seed, 5))} } //nolint:gosec // the same each time

func (d drawer) of(list ...string) string { return list[d.IntN(len(list))] }

func (d drawer) is(percent int) bool { return d.IntN(100) < percent }

// number is how long a program is to do something: a figure, or a variable that is known, is not, or has a value of its own.
func (d drawer) number() string {
	return d.of("1", "2", "3", "0", "1.5", "2s", "1m", "007", "soon", "infinity", "", "$SET", "${SET}", "${SET:-9}", "${NONE:-4}", "${NONE-4}", "${NONE:=4}", "${NONE:?no}", "${NONE}",
		"$NONE", "$MAP", "${MAP:-6}", "$S2", "${SET+7}", "${EMPTY:-8}", "${EMPTY-8}", "$EMPTY", "$(cat /x)", "`cat /x`", `"$SET"`, `"${SET}s"`, `'$SET'`, `"\$SET"`, `2\0`, "${SET", "$(SET)", "$TWO")
}

// command is a command of a script.
func (d drawer) command() string {
	switch d.IntN(14) {
	case 0, 1, 2:
		return "sleep " + d.number()
	case 3:
		return d.of("timeout ", "/usr/bin/timeout ", "timeout -k 2 ", "timeout -s KILL ", "timeout --signal=KILL ", "timeout -t ", "timeout --foreground ", "timeout -v -k 1 -s TERM ", "timeout --kill-after=4 ") +
			d.number() + " " + d.of("sleep 5", "sleep "+d.number(), "drain", "sh -c 'sleep 3; exit 1'", "", "true", "kill 1")
	case 4:
		return d.of("SET=", "S2=", "NONE=", "export NONE=", "readonly SET=", "unset SET ", "read SET ", "2SET=", "_x=1 SET=") + d.number()
	case 5:
		return d.of("eval x", ". /etc/env", "source /etc/env", ":", "set -e", "cd /", "wait", "exit "+d.number(), "return 0", "trap 'sleep 3' TERM", "test -f /x", "[ -f /x ]")
	case 6:
		return d.of("kill ", "kill -TERM ", "kill -s QUIT ", "kill -15 ", "kill -0 ", "kill -HUP ", "pkill ", "pkill -QUIT ", "killall -TERM ") + d.of("1", "7", "nginx", "$(cat /run/nginx.pid)", "-1", "")
	case 7:
		return d.of("nginx -s ", "/usr/sbin/nginx -s ", "nginx -c /x -s ") + d.of("quit", "stop", "reload", "")
	case 8:
		return d.of("curl ", "curl -m 3 ", "curl --max-time 2 -s ", "wget -q ", "wget -T 4 -O- ", "curl -X POST ") +
			d.of("localhost/x", "http://127.0.0.1:15000/healthcheck/fail", "localhost:9901/drain_listeners?graceful", "localhost:15020/quitquitquit", "localhost:8090/shutdown", "")
	case 9:
		return d.of("exec ", "env A=1 ", "nohup ", "busybox ", "sudo ", "time ", "nice -n 5 ", "/bin/sh -c ", "bash -ec ") + d.of("sleep 2", "'sleep 2'", "drain", `"sleep $SET"`, "true")
	case 10:
		return d.of("echo a", "date", "touch /tmp/stop", "rm -f /tmp/ready", "unlink /tmp/ready", "cat /x", "printf 'a\\n'", "true", "false", "usleep 200000", "pilot-agent wait")
	case 11:
		return d.of("if test -f /x", "then sleep 1", "fi", "while pgrep x", "do sleep 1", "done", "for i in 1 2", "{ sleep 2", "}", "! sleep 3", "(sleep 2)", "case x in", "f() { sleep 1")
	case 12:
		return d.of("sleep 2 ", "drain ", "date ") + d.of("> /dev/null", "2>&1", ">> /x", "< /y", "&> /x", "2> /x", ">", "<<EOF", "1>&2 >/x", "a>b")
	default:
		return d.of("drain", "./stop.sh "+d.number(), `say "a;b"`, `say 'a && b'`, `say "a`, "say 'a", `say a\;b`, "# sleep 9", "sleep 1 # sleep 9", "say a#b", `python -c "import time; time.sleep(4)"`)
	}
}

func (d drawer) script() string {
	out := d.command()
	for range d.IntN(5) {
		out += d.of("; ", ";", " && ", "&&", " || ", "\n", " | ", " & ", ";; ", " \\\n && ", "\n\n  ", ";\t") + d.command()
	}
	return out
}

// windowsScript is one for a shell of Windows.
func (d drawer) windowsScript() string {
	var parts []string
	for range 1 + d.IntN(3) {
		parts = append(parts, d.of("Start-Sleep 5", "start-sleep -Seconds 4", "sleep -s 3", "Start-Sleep -m 200", "Start-Sleep -Milliseconds 1500", "Start-Sleep -x 3", "sleep", "timeout 5", "timeout /t 6 /nobreak",
			"timeout.exe /T 7", "timeout /nobreak", "Stop-Service web", "& 'sleep 2'", "{sleep 2}", "", "start-sleep 0.5", "sleep soon", "echo 5", "wait 5"))
	}
	return strings.Join(parts, d.of(";", "&", "; ", " & "))
}

// argv is what a hook runs.
func (d drawer) argv() []string {
	switch d.IntN(20) {
	case 0:
		return strings.Fields(d.command())
	case 1:
		return []string{d.of("sleep 5", "/bin/sleep", "sleep", "drain", "contour", "/pilot-agent", "gateway"), d.of("5", "$SET", "envoy", "sleep", "wait"), d.of("shutdown", "3", "--duration=9s", "")}
	case 2:
		return []string{d.of("powershell", "pwsh.exe", `C:\Windows\powershell.exe`), d.of("-Command", "-NoProfile", "-c"), d.windowsScript()}
	case 3:
		return []string{d.of("cmd", "cmd.exe", "CMD"), d.of("/c", "/C", "/s"), d.windowsScript()}
	case 4:
		return nil
	case 5:
		return []string{d.of("/bin/sh", "sh", "bash"), d.of("-c", "-ec", "-x", "-e", "/drain.sh", "-o"), d.script(), d.of("a", "5", "-c")}
	default:
		return []string{d.of("/bin/sh", "sh", "bash", "/bin/ash", "dash"), d.of("-c", "-c", "-c", "-ec", "-exc"), d.script()}
	}
}

func (d drawer) handler() *corev1.LifecycleHandler {
	switch d.IntN(20) {
	case 0:
		return &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: int64(d.IntN(40) - 3)}}
	case 1:
		return &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: d.of("/", "/shutdown", "/shutdown/ready", "/healthcheck/fail", "/drain"), Port: intstr.FromInt32(int32(8089 + d.IntN(3)))}}
	case 2:
		return &corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{}}
	case 3:
		return &corev1.LifecycleHandler{}
	default:
		return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: d.argv()}}
	}
}

func (d drawer) hooked() *corev1.Container {
	c := &corev1.Container{
		Name: "app", Image: d.of("example.com/app:1", "nginx", "node:22", "gcr.io/distroless/static", "busybox", "alpine", "envoyproxy/envoy:v1.31", "mcr.microsoft.com/windows/nanoserver"),
		Lifecycle: &corev1.Lifecycle{PreStop: d.handler()},
		Env: []corev1.EnvVar{
			{Name: "SET", Value: d.of("11", "12", "7s", "1 2")}, {Name: "S2", Value: d.of("$(SET)", "$$", "$(NONE)", "5", "$SET", "$(SET")},
			{Name: "MAP", ValueFrom: &corev1.EnvVarSource{}}, {Name: "EMPTY"}, {Name: "TWO", Value: "1 *"},
		},
	}
	if d.is(10) {
		c.EnvFrom = []corev1.EnvFromSource{{}}
	}
	if d.is(15) {
		c.Lifecycle.PostStart = d.handler()
	}
	if d.is(20) {
		always := corev1.ContainerRestartPolicyAlways
		c.RestartPolicy = &always
	}
	if d.is(20) {
		c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"cat", d.of("/tmp/ready", "/tmp/stop")}}}}
	}
	return c
}

// Hooks that nobody wrote are read as before.
func TestDrawnHooksAreKept(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for seed := range uint64(900) {
		d := newDrawer(seed)
		c, set := d.hooked(), world.Overrides{}
		if d.is(5) {
			set.PreStop = []world.Named{{Name: d.of("app", "other", ""), Dist: engine.Constant(33 * engine.Second)}}
		}
		h := HookOf(c, set)
		fmt.Fprintf(&text, "%d %s", seed, c.Image)
		if exec := c.Lifecycle.PreStop.Exec; exec != nil {
			fmt.Fprintf(&text, " %q", exec.Command)
		}
		fmt.Fprintf(&text, " -> %s: %s", words(h), h.Why)
		if h.Assumes != "" {
			fmt.Fprintf(&text, " assuming %s", h.Assumes)
		}
		if c.Lifecycle.PostStart != nil {
			fmt.Fprintf(&text, " AFTER %+v", h.After)
		}
		text.WriteByte('\n')
	}
	golden.Compare(t, keptHooks, text.String(), *update)
}

func (d drawer) container() *corev1.Container {
	c := &corev1.Container{
		Name: d.of("app", "web", "istio-proxy", "auth", "proxy-sync", "exporter", "my-admin", "linkerd-proxy"), Image: combinedImages[d.IntN(len(combinedImages))],
		Command: strings.Fields(combinedCommands[d.IntN(len(combinedCommands))]),
	}
	if d.is(40) {
		c.Image = d.of("docker.io/istio/proxyv2", "x/cloud-sql-proxy:2", "prom/node-exporter", "config-reloader", "fluent/fluent-bit", "oauth2-proxy:v7", "pgbouncer", "mongo:7", "app-watcher", "vault-agent", "grafana/agent", "openjdk:21", "app")
	}
	if d.is(50) {
		c.Ports = append(c.Ports, corev1.ContainerPort{Name: d.of("http", "metrics", "http-metrics", "health", "", "prom", "grpc", "debug"), ContainerPort: []int32{80, 8080, 9090, 5432, 3306}[d.IntN(5)]})
	}
	if d.is(30) {
		c.Args = strings.Fields(d.of("--graceful-timeout 30", "-Dspring.x=y", "-jar app.jar", "--shutdown-timeout=5s", "--drain-time-s 9", "-c 'exec java -jar a.jar'", "server --port 80", "$(OPTS)"))
	}
	if d.is(40) {
		c.Env = []corev1.EnvVar{{Name: d.of("SPRING_PROFILES_ACTIVE", "JAVA_OPTS", "NODE_ENV", "PORT", "TERMINATION_DRAIN_DURATION_SECONDS", "GUNICORN_CMD_ARGS", "MINIMUM_DRAIN_DURATION", "EXIT_ON_ZERO_ACTIVE_CONNECTIONS", "ASPNETCORE_URLS"), Value: d.of("", "prod", "30", "true", "--graceful-timeout=9", "10s")}}
	}
	probe := func() *corev1.Probe {
		p := &corev1.Probe{}
		switch d.IntN(5) {
		case 0:
			return nil
		case 1:
			p.Exec = &corev1.ExecAction{Command: d.argv()}
		case 2:
			p.TCPSocket = &corev1.TCPSocketAction{}
		default:
			p.HTTPGet = &corev1.HTTPGetAction{Path: d.of("/", "/actuator/health/liveness", "/actuator/health", "/healthz", "/q/health/ready", "/health/live", "/ready")}
		}
		return p
	}
	c.ReadinessProbe, c.LivenessProbe, c.StartupProbe = probe(), probe(), probe()
	return c
}

// traits are what else is said of a container.
func traits(c *corev1.Container, labels map[string]string) string {
	app := ContainerApp(c, labels, world.Overrides{})
	drains := "unknown"
	if d := IstioDrain(&app); d != nil {
		drains = d.Duration().String()
	}
	var out []string
	probe := c.ReadinessProbe
	if probe == nil || probe.Exec == nil {
		probe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}}
	}
	for _, x := range []struct {
		is   bool
		name string
	}{
		{Needed(c, labels), "needed"}, {PassesOn(c, &app), "passes on"}, {BehindProxy(c, labels), "behind a proxy"}, {LeadsOut(c), "leads out"}, {IsWebServer(c), "web server"},
		{IsDatabase(EvidenceOf(c, labels)), "database"}, {HasShell(c), "shell"}, {LacksShell(c), "no shell"}, {Sets(c, "PORT"), "sets PORT"}, {AsksServer(probe), "asked"}, {app.GoAway, "goes away"},
	} {
		if x.is {
			out = append(out, x.name)
		}
	}
	if why := Lacks(c, probe.Exec); why != "" {
		out = append(out, "lacks: "+why)
	}
	least, most := StartsBetween(&app)
	return fmt.Sprintf("%s, %s, starts in %s, %s to %s; %q of %q, %v; port %d, drain %s; %s", appWords(app), BasisWords(&app), app.Start, least.Duration(), most.Duration(), app.Evidence, app.JVMBy, app.Alternatives,
		DefaultPort(c), drains, strings.Join(out, ", "))
}

// What is said of containers that nobody wrote is said as before.
func TestDrawnContainersAreKept(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for seed := range uint64(500) {
		d := newDrawer(seed)
		c := d.container()
		var labels map[string]string
		if d.is(15) {
			labels = map[string]string{d.of("app.kubernetes.io/name", "app", "istio", "strimzi.io/name"): d.of("ingress-nginx", "envoy", "web", "kafka", "argocd-server")}
		}
		fmt.Fprintf(&text, "%d %s %s %q -> %s\n", seed, c.Name, c.Image, append(c.Command, c.Args...), traits(c, labels))
	}
	golden.Compare(t, keptContainers, text.String(), *update)
}
