package servers

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func execIn(image string, argv ...string) *corev1.Container {
	return &corev1.Container{Name: "app", Image: image, Lifecycle: &corev1.Lifecycle{
		PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: argv}},
	}}
}

func sh(script string) *corev1.Container { return execIn("example.com/app:1", "/bin/sh", "-c", script) }

// words writes what matters of a hook.
func words(h world.Hook) string {
	var out []string
	out = append(out, h.Kind, h.Duration.String())
	for _, f := range []struct {
		on   bool
		word string
	}{
		{h.ClosesListener, "closes"}, {h.SignalsServer, "signals"}, {h.FailsReadiness, "fails readiness"},
		{h.WaitsForRequests, "waits"}, {h.Undetermined, "undetermined"},
	} {
		if f.on {
			out = append(out, f.word)
		}
	}
	if h.ActsAfter.Max() > 0 {
		out = append(out, "after "+h.ActsAfter.String())
	}
	return strings.Join(out, " ")
}

// A hook that takes away the file for which the readiness probe looks, or makes the one that must not be there, has the pod not ready.
func TestAHookMayHaveReadinessFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script string
		probe  []string
		want   string
	}{
		{"rm -f /tmp/ready; sleep 30", []string{"cat", "/tmp/ready"}, "exec 30s fails readiness"},
		{"sleep 5; unlink /tmp/ready && sleep 30", []string{"test", "-f", "/tmp/ready"}, "exec 35s fails readiness after 5s"},
		{"touch /tmp/stop; sleep 30", []string{"sh", "-c", "test ! -f /tmp/stop"}, "exec 30s fails readiness"},
		{"touch /tmp/stop; sleep 30", []string{"cat", "/tmp/stop"}, "exec 30s"},
		{"rm -f /tmp/other; sleep 30", []string{"cat", "/tmp/ready"}, "exec 30s"},
		{"rm -f /tmp/stop; sleep 30", []string{"sh", "-c", "test ! -f /tmp/stop"}, "exec 30s"},
		{"rm -f /tmp/ready; sleep 30", nil, "exec 30s"},
	} {
		x := sh(c.script)
		if x.ReadinessProbe = nil; c.probe != nil {
			x.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: c.probe}}}
		}
		if got := words(HookOf(x, world.Overrides{})); got != c.want {
			t.Errorf("%s, asked by %v: %q, want %q", c.script, c.probe, got, c.want)
		}
	}
}

// The last thing that a hook does to a sidecar counts: no SIGTERM comes at that moment, as it does to other containers.
func TestWhatTheHookOfASidecarDoesLast(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][2]string{
		"sleep 2; nginx -s quit":           {"exec 2s", "exec 2s closes after 2s"},
		"nginx -s quit; sleep 2":           {"exec 2s closes", "exec 2s closes"},
		"sleep 2; curl -s localhost/stop":  {"exec uniform 2s-7s undetermined", "exec uniform 2s-7s undetermined"},
		"sleep 3; kill -s QUIT 1":          {"exec 3s", "exec 3s closes after 3s"},
		"sleep 4 && pilot-agent wait-more": {"exec uniform 4s-9s undetermined", "exec uniform 4s-9s undetermined"},
	} {
		x, always := sh(script), corev1.ContainerRestartPolicyAlways
		plain := words(HookOf(x, world.Overrides{}))
		x.RestartPolicy = &always
		if got := [2]string{plain, words(HookOf(x, world.Overrides{}))}; got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

func TestHookOf(t *testing.T) {
	t.Parallel()
	ingress := execIn("registry.k8s.io/ingress-nginx/controller:v1.15.1", "/wait-shutdown")
	graceful := execIn("registry.k8s.io/ingress-nginx/controller:v1.15.1", "/wait-shutdown")
	graceful.Args = []string{"/nginx-ingress-controller", "--shutdown-grace-period=60"}
	drains := sh("wget -q --post-data= 'localhost:9901/drain_listeners?graceful' ; sleep 10")
	drains.Args = []string{"--drain-time-s", "5"}
	const unknown = "exec uniform 0s-5s undetermined"
	for _, tt := range []struct {
		name string
		c    *corev1.Container
		want string
	}{
		{"sleep is exact", execIn("app", "sleep", "15"), "exec 15s"},
		{"by its path", execIn("app", "/bin/sleep", "15"), "exec 15s"},
		{"with units that add up", execIn("app", "sleep", "1m", "2.5s"), "exec 1m2.5s"},
		{"by its subcommand", execIn("app", "/usr/bin/gateway", "sleep", "--duration=40s"), "exec 40s"},
		{"by its subcommand's argument", execIn("app", "/agent", "sleep", "20"), "exec 20s"},
		{"by its subcommand's flag, in two words", execIn("app", "/agent", "sleep", "--duration", "1m"), "exec 1m0s"},
		{"as long as it does by itself", execIn("app", "/usr/bin/gateway", "sleep"), "exec 30s"},
		{"by a flag of another subcommand", execIn("app", "/agent", "linger", "--duration=1m"), unknown},
		{"a duration that is computed", execIn("app", "/agent", "sleep", "--duration=$(WAIT)"), unknown},
		{"a word that is none of its own", execIn("app", "/agent", "queue", "sleep", "20"), unknown},
		{"without end", execIn("app", "sleep", "infinity"), "exec 24h0m0s"},
		{"sleep that fails", execIn("app", "sleep", "soon"), "exec 0s"},
		{"sleep without a time", execIn("app", "sleep"), "exec 0s"},
		{"usleep", execIn("app", "usleep", "1500000"), "exec 1.5s"},
		{"in busybox", execIn("app", "busybox", "sleep", "3"), "exec 3s"},
		{"sh -c", sh("sleep 10"), "exec 10s"},
		{"bash -ec with a second option", execIn("app", "bash", "-e", "-c", "sleep 10"), "exec 10s"},
		{"sh -exc", execIn("app", "sh", "-exc", "sleep 10"), "exec 10s"},
		{"exec in a shell ends it", sh("exec sleep 10; sleep 5"), "exec 10s"},
		{"a shell in a shell", sh(`sh -c "sleep 7"`), "exec 7s"},
		{"a variable set before it", sh("X=1 sleep 4"), "exec 4s"},
		{"env", execIn("app", "env", "A=b", "sleep", "4"), "exec 4s"},
		{"env with several variables", execIn("app", "env", "A=b", "C=d", "sleep", "4"), "exec 4s"},
		{"env with a shell behind it", execIn("app", "env", "A=b", "/bin/sh", "-c", "sleep 4"), "exec 4s"},
		{"nohup", execIn("app", "nohup", "sleep", "4"), "exec 4s"},
		{"sudo", execIn("app", "sudo", "sleep", "4"), "exec 4s"},
		{"command", execIn("app", "command", "sleep", "4"), "exec 4s"},
		{"NATS in lame duck mode accepts nothing", execIn("nats:2.10", "nats-server", "-sl=ldm=/var/run/nats/nats.pid"), "exec uniform 0s-100ms closes"},
		{"tini and its dashes", execIn("app", "/sbin/tini", "--", "sleep", "4"), "exec 4s"},
		{"dumb-init", execIn("app", "dumb-init", "sleep", "4"), "exec 4s"},
		{"what runs nothing else", execIn("app", "sudo"), "exec uniform 0s-5s undetermined"},
		{"env that runs nothing", execIn("app", "env", "A=b"), unknown},
		{"a variable and nothing else", execIn("app", "A=b"), unknown},
		{"a && b", sh("sleep 5 && sleep 6"), "exec 11s"},
		{"a; b", sh("sleep 5; sleep 6"), "exec 11s"},
		{"lines and comments", sh("# drain\nsleep 5 # five\n\nsleep 6\n"), "exec 11s"},
		{"a continued line", sh("sleep \\\n 5"), "exec 5s"},
		{"redirections", sh("sleep 5 > /dev/null 2>&1"), "exec 5s"},
		{"a && b with a that fails", sh("false && sleep 6"), "exec 0s"},
		{"a || b with a that fails", sh("false || sleep 6"), "exec 6s"},
		{"a || b with a that does not", sh("true || sleep 6"), "exec 0s"},
		{"a || b with a that may", sh("drain || sleep 6"), "exec uniform 0s-11s undetermined"},
		{"a && b with a that may", sh("drain && sleep 6"), "exec uniform 0s-11s undetermined"},
		{"a; b after what fails", sh("false; sleep 6"), "exec 6s"},
		{"timeout of what is longer", execIn("app", "timeout", "3", "sleep", "10"), "exec 3s"},
		{"what timed out has failed", sh("timeout 3 sleep 10 && sleep 5"), "exec 3s"},
		{"and what comes after it is run all the same", sh("timeout 3 sleep 10; sleep 5"), "exec 8s"},
		{"what timed out is made up for", sh("timeout 3 sleep 10 || sleep 5"), "exec 8s"},
		{"what ended in time has not failed", sh("timeout 30 sleep 10 || sleep 5"), "exec 10s"},
		{"a bracket that nobody closes", sh("sleep $(cat /x"), "exec uniform 0s-5s undetermined"},
		{"a backquote that nobody closes", sh("sleep `cat /x"), "exec uniform 0s-5s undetermined"},
		{"a brace that nobody closes", sh("sleep ${X"), "exec uniform 0s-5s undetermined"},
		{"timeout of what is shorter", sh("timeout -s KILL 30s sleep 10"), "exec 10s"},
		{"timeout of an unknown program", sh("timeout 3 drain.sh"), "exec uniform 0s-3s undetermined"},
		{"a longer timeout of an unknown program", sh("timeout 30 drain.sh"), "exec uniform 0s-30s undetermined"},
		{"a file that may be there", sh("[ -f /x ] && sleep 5"), "exec uniform 0s-5s"},
		{"timeout and nothing else", execIn("app", "timeout"), unknown},
		{"timeout with an option and nothing else", execIn("app", "timeout", "-s", "KILL"), unknown},
		{"timeout of an old busybox", execIn("app", "timeout", "-t", "3", "sleep", "10"), "exec 3s"},
		{"timeouts in each other", sh("timeout 5 timeout 4 sleep 3"), "exec 3s"},
		{"timeouts in each other without an end", sh(strings.Repeat("timeout 5 ", 40) + "sleep 3"), "exec uniform 0s-5s undetermined"},
		{"backquotes with nothing in them", sh("echo ``; sleep 5"), "exec 5s"},
		{"an unknown program", execIn("app", "/app/drain"), unknown},
		{"a request, and sleep when it was answered", sh("curl -X POST localhost:8080/drain && sleep 5"), "exec uniform 5s-10s undetermined"},
		{"a request that may be refused, and sleep when it was not", sh("curl -sf localhost:8080/drain && sleep 5"), "exec uniform 0s-10s undetermined"},
		{"an unknown program, then sleep", sh("/app/drain; sleep 5"), "exec uniform 5s-10s undetermined"},
		{"a time that is computed", sh("sleep $DELAY"), unknown},
		{"a time that is computed, in quotes", sh(`sleep "${DELAY%s}"`), unknown},
		{"a command line in one word", execIn("app", "sleep 15"), "missing 0s"},
		{"a loop", sh("while true; do sleep 1; done"), unknown},
		{"a loop until connections are gone", sh(`while [ $(netstat -plunt | grep tcp | wc -l) -ne 0 ]; do sleep 1; done`), "exec uniform 0s-5s waits undetermined"},
		{"a loop until istio's proxy has no connections", sh(`until [ $(curl -s localhost:15020/stats | grep -c active) = 0 ]; do sleep 1; done`), "exec uniform 0s-5s waits undetermined"},
		{"a loop that asks ss", sh(`while [ -n "$(ss -Htn state established)" ]; do sleep 1; done`), "exec uniform 0s-5s waits undetermined"},
		{"a quote that is not closed", sh(`echo "x`), unknown},
		{"brackets in brackets", sh("echo $(cat $(ls) x); sleep 5"), "exec 5s"},
		{"timeout of nothing at all", sh("timeout 0 sleep 3"), "exec 0s"},
		{"a program that is there no more", execIn("gcr.io/distroless/base:debug", "sh", "-c", "/no/such; sleep 2"), "exec uniform 2s-7s undetermined"},
		{"an empty script", sh(""), "exec 0s"},
		{"python", execIn("app", "python", "-c", "import time; time.sleep(15)"), "exec 15s"},
		{"perl", execIn("app", "perl", "-e", "sleep 3"), "exec 3s"},
		{"python that does not sleep", execIn("app", "python3", "-c", "15"), unknown},
		{"python that sleeps in a loop", execIn("app", "python3", "-c", "while busy(): time.sleep(1)"), unknown},
		{"python that sleeps for each", execIn("app", "python3", "-c", "for i in x: time.sleep(1)"), unknown},
		{"python that sleeps twice", execIn("app", "python3", "-c", "sleep(1); sleep(2)"), unknown},
		{"python that sleeps for what is computed", execIn("app", "python3", "-c", "time.sleep(n)"), unknown},
		{"nginx -s quit", execIn("nginx:1.27", "/usr/sbin/nginx", "-s", "quit"), "exec 0s closes"},
		{"sleep, then nginx -s quit: SIGTERM comes at that moment", execIn("nginx", "sh", "-c", "sleep 10; nginx -s quit"), "exec 10s"},
		{"nginx -s quit, then sleep", execIn("nginx", "sh", "-c", "nginx -s quit; sleep 10"), "exec 10s closes"},
		{"sleep, nginx -s quit, sleep", execIn("nginx", "sh", "-c", "sleep 5; nginx -s quit; sleep 10"), "exec 15s closes after 5s"},
		{"nginx -s quit and a loop beside it", execIn("nginx", "sh", "-c", "nginx -s quit; while pgrep nginx; do sleep 1; done"), "exec uniform 0s-5s closes undetermined"},
		{"sleep, then what is more than a chain", sh(`sleep 15; if [ -e /x ]; then exit 0; fi; drain`), "exec uniform 15s-20s undetermined"},
		{"sleep and a request, then what is more than a chain", sh("sleep 10 && curl -m 2 localhost/drain ; case $X in a) ;; esac; sleep 30"), "exec uniform 10s-17s undetermined"},
		{"sleep, then a loop until connections are gone", sh("sleep 5; while netstat -an | grep EST; do sleep 1; done"), "exec uniform 5s-10s waits undetermined"},
		{"sleep that is not waited for, then a loop", sh("sleep 15 & while true; do sleep 1; done"), unknown},
		{"sleep in a list that is not waited for", sh("sleep 15 && drain & wait"), unknown},
		{"sleep in a function", sh("drain() { sleep 15; }; drain"), unknown},
		{"sleep in brackets", sh("(sleep 15); drain"), unknown},
		{"sleep that replaces the shell, before a loop", sh("exec sleep 15; while true; do sleep 1; done"), "exec 15s"},
		{"SIGTERM to PID 1", sh("kill -TERM 1; sleep 5"), "exec 5s closes signals"},
		{"SIGTERM to what ignores it", execIn("node:22", "sh", "-c", "kill 1; sleep 5"), "exec 5s signals"},
		{"SIGQUIT to nginx", execIn("nginx", "sh", "-c", "kill -s QUIT 1; sleep 5"), "exec 5s closes"},
		{"a signal that does nothing", sh("kill -0 1"), "exec 0s"},
		{"SIGKILL by its name", sh("kill -s KILL 1; sleep 5"), "exec 5s closes"},
		{"SIGKILL by its number", sh("kill -9 1; sleep 5"), "exec 5s closes"},
		{"SIGINT with its prefix", sh("kill -SIGINT 1; sleep 5"), "exec 5s closes signals"},
		{"a signal of which nothing is known", sh("kill -s HUP 1; sleep 5"), "exec 5s undetermined"},
		{"what acts first counts", execIn("nginx", "sh", "-c", "nginx -s quit; sleep 5; kill -TERM 1; sleep 5"), "exec 10s closes"},
		{"a path with an equals sign is no variable", sh("/opt/a=b/sleep 4"), "exec 4s"},
		{"ingress-nginx", ingress, "exec uniform 1s-2s closes signals fails readiness waits"},
		{"ingress-nginx with a grace period", graceful, "exec uniform 1m1s-1m2s signals fails readiness waits"},
		{"sleep before /wait-shutdown", execIn("ingress-nginx/controller", "sh", "-c", "sleep 5; /wait-shutdown"), "exec uniform 6s-7s closes signals fails readiness waits after 5s"},
		{"Envoy's health check", sh("curl -X POST localhost:9901/healthcheck/fail; sleep 10"), "exec uniform 10s-10.1s fails readiness"},
		{"Envoy's listeners", sh("curl -X POST localhost:9901/drain_listeners; sleep 10"), "exec uniform 10s-10.1s closes"},
		{"Envoy's listeners, which stay open for 600 s", sh("curl -X POST 'localhost:9901/drain_listeners?graceful'; sleep 10"), "exec uniform 10s-10.1s"},
		{"Envoy's listeners, which stay open for as long as it says", drains, "exec uniform 10s-10.1s closes after 5s"},
		{"Envoy Gateway's shutdown manager", execIn("envoyproxy/gateway", "envoy-gateway", "envoy", "shutdown"), "exec uniform 10s-1m0s fails readiness waits"},
		{"istio", execIn("istio/proxyv2", "pilot-agent", "request", "POST", "quitquitquit"), "exec uniform 0s-100ms signals"},
		{"curl with a bound", sh("curl --max-time 3 localhost/drain"), "exec uniform 0s-3s undetermined"},
		{"wget with a bound", sh("wget -T 2 -q localhost/drain"), "exec uniform 0s-2s undetermined"},
		{"wget with a bound by its name", sh("wget --timeout=2 localhost/drain"), "exec uniform 0s-2s undetermined"},
		{"curl with a bound by an equals sign", sh("curl --max-time=4 localhost/drain"), "exec uniform 0s-4s undetermined"},
		{"curl with a short bound", sh("curl -m 2 localhost/drain"), "exec uniform 0s-2s undetermined"},
		{"caddy stop", execIn("caddy:2", "sh", "-c", "caddy stop; sleep 5"), "exec 5s closes"},
		{"caddy that is only looked at", execIn("caddy:2", "sh", "-c", "caddy; sleep 5"), "exec 5s"},
		{"httpd that stops", execIn("httpd:2.4", "sh", "-c", "apachectl -k graceful-stop; sleep 5"), "exec 5s closes"},
		{"httpd that is started again", execIn("httpd:2.4", "sh", "-c", "apachectl -k restart; sleep 5"), "exec 5s"},
		{"what is done first counts, and what comes later does not undo it", execIn("nginx", "sh", "-c", "nginx -s quit; sleep 2; echo x; sleep 3"), "exec 5s closes"},
		{"numbers that are compared", sh("[ 3 -gt 3 ] || sleep 5"), "exec 5s"},
		{"numbers that are compared, and equal", sh("[ 3 -ge 3 ] && sleep 5"), "exec 5s"},
		{"numbers of which one is less", sh("[ 3 -lt 3 ] || sleep 5"), "exec 5s"},
		{"numbers of which none is more", sh("[ 3 -le 3 ] && sleep 5"), "exec 5s"},
		{"cassandra", execIn("cassandra:4", "/bin/sh", "-c", "nodetool drain"), "exec uniform 1s-30s closes undetermined"},
		{"redis", execIn("redis:7", "redis-cli", "shutdown", "nosave"), "exec uniform 0s-1s closes"},
		{"rabbitmq", execIn("rabbitmq:4", "rabbitmq-upgrade", "drain"), "exec uniform 1s-10s closes undetermined"},
		{"rabbitmq that waits for its others before", execIn("rabbitmq:4", "/bin/sh", "-c", "rabbitmq-upgrade await_online_quorum_plus_one -t 60 && rabbitmq-upgrade drain -t 60"), "exec uniform 0s-15s closes undetermined after uniform 0s-5s"},
		{"a shell that distroless does not have", execIn("gcr.io/distroless/static:nonroot", "/bin/sh", "-c", "sleep 15"), "missing 0s"},
		{"sleep that scratch does not have", execIn("traefik/whoami:v1.10", "sleep", "15"), "missing 0s"},
		{"distroless with a shell", execIn("gcr.io/distroless/base:debug", "/bin/sh", "-c", "sleep 15"), "exec 15s"},
		{"distroless and its own program", execIn("gcr.io/distroless/static", "/app", "-drain"), unknown},
		{"no command", execIn("app"), "missing 0s"},
		{"no hook", &corev1.Container{Name: "app"}, " 0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := HookOf(tt.c, world.Overrides{})
			if got := words(h); got != tt.want {
				t.Errorf("got  %s (%s)\nwant %s", got, h.Why, tt.want)
			}
			if h.Kind != HookNone && h.Why == "" && tt.name != "an empty script" {
				t.Error("it does not say why")
			}
		})
	}
}

func TestHooksThatAreNoProgram(t *testing.T) {
	t.Parallel()
	get := func(path string) *corev1.LifecycleHandler {
		return &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: path}}
	}
	for _, tt := range []struct {
		name string
		hook *corev1.LifecycleHandler
		want string
	}{
		{"sleep action", &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 15}}, "sleep 15s"},
		{"sleep action of 0", &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{}}, "sleep 0s"},
		{"httpGet", get("/drain"), "httpGet uniform 0s-5s undetermined"},
		{"httpGet to Envoy Gateway's shutdown manager", get("/shutdown/ready"), "httpGet uniform 10s-1m0s fails readiness waits"},
		{"httpGet to Contour's shutdown manager", &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/shutdown", Port: intstr.FromInt32(8090)}},
			"httpGet uniform 5s-10s fails readiness waits"},
		{"the same path elsewhere", get("/shutdown"), "httpGet uniform 0s-5s undetermined"},
		{"Contour's shutdown", &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/contour", "envoy", "shutdown"}}}, "exec uniform 5s-10s fails readiness waits"},
		{"httpGet to Envoy", get("/healthcheck/fail"), "httpGet uniform 0s-100ms fails readiness"},
		{"tcpSocket fails", &corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{}}, "tcpSocket 0s"},
		{"nothing in it", &corev1.LifecycleHandler{}, " 0s"},
	} {
		c := &corev1.Container{Lifecycle: &corev1.Lifecycle{PreStop: tt.hook}}
		hook := HookOf(c, world.Overrides{})
		if got := words(hook); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if tt.hook.TCPSocket != nil && hook.Why != "tcpSocket is not implemented for hooks: it fails at once" {
			t.Errorf("%s: %q", tt.name, hook.Why)
		}
	}
}

func TestOverridesOfHooks(t *testing.T) {
	t.Parallel()
	set := world.Overrides{PreStop: []world.Named{{Name: "web", Dist: engine.Constant(9 * engine.Second)}, {Name: "side", Dist: engine.Constant(engine.Second)}}}
	c := sh("/drain; nginx -s quit; sleep 1")
	if got := words(HookOf(c, set)); !strings.Contains(got, "undetermined") {
		t.Errorf("an override for another container counts: %s", got)
	}
	if got, want := words(HookOf(c, set.For("web"))), "exec 9s closes after uniform 0s-5s"; got != want {
		t.Errorf("for the workload: got %s, want %s", got, want)
	}
	c.Name = "side"
	if got := HookOf(c, set.For("web")).Duration.String(); got != "1s" {
		t.Errorf("the last that matches counts: got %s", got)
	}
	absent := &corev1.Container{Name: "side", Image: "gcr.io/distroless/static", Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
		Exec: &corev1.ExecAction{Command: []string{"sleep", "15"}},
	}}}
	if without, with := words(HookOf(absent, world.Overrides{})), words(HookOf(absent, set)); without != "missing 0s" || with != "exec 1s" {
		t.Errorf("a program that the image does not have: %s, with its duration given %s", without, with)
	}
	if got := words(HookOf(&corev1.Container{Name: "side"}, set)); got != " 0s" {
		t.Errorf("a container without a hook got one: %s", got)
	}
}

// What a container's manifest writes out is known in its hooks, and what a script sets itself; what comes from elsewhere is not.
func TestHooksWithVariables(t *testing.T) {
	t.Parallel()
	const unknown = "exec uniform 0s-5s undetermined"
	from := func(name string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}
	}
	env := []corev1.EnvVar{
		{Name: "DRAIN", Value: "25"}, {Name: "UNIT", Value: "2m"}, {Name: "EMPTY"}, {Name: "TWO", Value: "1 2"}, from("POD"),
		{Name: "TENFOLD", Value: "$(DRAIN)0"}, {Name: "OF_POD", Value: "$(POD)"}, {Name: "OPEN", Value: "$(DRAIN"}, {Name: "PRICE", Value: "$$(DRAIN) $5"},
		{Name: "TWICE", Value: "1"}, {Name: "TWICE", Value: "2"}, {Name: "LOST", Value: "1"}, from("LOST"),
	}
	for script, want := range map[string]string{
		"sleep $DRAIN": "exec 25s", "sleep ${DRAIN}": "exec 25s", `sleep "$DRAIN"`: "exec 25s", `sleep "${DRAIN:-5}"`: "exec 25s", "sleep ${DRAIN-5}s": "exec 25s",
		"sleep ${DRAIN:?is to be set}": "exec 25s", "sleep 1$DRAIN": "exec 2m5s", "sleep $UNIT": "exec 2m0s", "sleep $TENFOLD": "exec 4m10s",
		"sleep $TWICE": "exec 2s", "sleep 5; sleep $DRAIN && sleep 1": "exec 31s", `sh -c "sleep $DRAIN"`: "exec 25s", `sh -c 'sleep $DRAIN'`: "exec 25s",
		"sleep $POD": unknown, "sleep $OTHER": unknown, "sleep ${OTHER:-5}": "exec 5s", "sleep ${OTHER-7}": "exec 7s", "sleep ${OTHER:=8}; sleep 1": "exec 9s", `sleep "${OTHER:-5}"`: "exec 5s",
		"sleep ${POD:-5}": unknown, "sleep ${OTHER:-$DRAIN}": unknown, "sleep ${OTHER:-}": unknown, "sleep ${OTHER:?none}": unknown, "sleep ${OTHER}": unknown,
		"sleep $OF_POD": unknown, "sleep $LOST": unknown,
		"sleep ${DRAIN%s}": unknown, "sleep ${#DRAIN}": unknown, "sleep ${DRAIN:+5}": unknown, "sleep ${EMPTY:-5}": "exec 5s", "sleep ${OPEN:-5": unknown, "sleep $((DRAIN + 5))": unknown,
		"sleep $TWO": unknown, `sleep "\$DRAIN"`: unknown, "sleep $(DRAIN)": unknown, "sleep $1": unknown, "sleep $": unknown,
		"sleep '$DRAIN'": "exec 0s", `sleep "$EMPTY"`: "exec 0s", "sleep $EMPTY": "exec 0s", `sleep "$PRICE"`: "exec 0s", "sleep $OPEN": "exec 0s",
		"DRAIN=7; sleep $DRAIN": "exec 7s", "A=3 B=$DRAIN; sleep $A $B": "exec 28s", "export A=4 && sleep $A": "exec 4s", "DRAIN=7 sleep $DRAIN": "exec 25s",
		"A=3; A=4; sleep $A": "exec 4s", "DRAIN=7 true; sleep $DRAIN": "exec 25s",
		"drain || DRAIN=7; sleep $DRAIN": "exec uniform 0s-10s undetermined", "DRAIN=$POD; sleep $DRAIN": "exec uniform 0s-10s undetermined",
		"unset DRAIN; sleep $DRAIN": "exec uniform 0s-10s undetermined", "eval x; sleep $DRAIN": "exec uniform 0s-10s undetermined",
		`[ "$DRAIN" = 25 ] && sleep 3`: "exec 3s", `[ "$DRAIN" != 25 ] && sleep 3`: "exec 0s", `test $DRAIN -gt 0 && sleep $DRAIN`: "exec 25s",
		`[ $DRAIN -lt 25 ] || sleep 3`: "exec 3s", `[ $DRAIN -eq 25 ] && [ $DRAIN -ne 1 ] && [ $DRAIN -ge 25 ] && [ $DRAIN -le 25 ] && sleep 3`: "exec 3s",
		`[ -n "$EMPTY" ] || sleep 3`: "exec 3s", `[ -z "$EMPTY" ] && sleep 3`: "exec 3s", `[ "$DRAIN" ] && sleep 3`: "exec 3s", `[ x == y ] && sleep 3`: "exec 0s",
		"[ -f /tmp/x ] && sleep 3": "exec uniform 0s-3s", "test -d / -a -d /x && sleep 3": "exec uniform 0s-3s", "[ a -eq 1 ] && sleep 3": "exec uniform 0s-3s",
		"[ a -nt b ] && sleep 3": "exec uniform 0s-3s",
	} {
		c := sh(script)
		c.Env = env
		if got := words(HookOf(c, world.Overrides{})); got != want {
			t.Errorf("%s: got %s, want %s", script, got, want)
		}
	}
	other := sh("sleep ${OTHER:-5}")
	if other.EnvFrom = make([]corev1.EnvFromSource, 1); words(HookOf(other, world.Overrides{})) != unknown {
		t.Errorf("variables of a ConfigMap: %s", words(HookOf(other, world.Overrides{})))
	}
	c := sh("sleep 2; sleep $DRAIN$UNIT$UNIT")
	if c.Env = env; HookOf(c, world.Overrides{}).Why != "sleep 2, then sleep cannot read 252m2m: it fails at once (by DRAIN, UNIT)" {
		t.Errorf("why: %s", HookOf(c, world.Overrides{}).Why)
	}
	for _, word := range []string{"$DRAIN", "$(DRAIN)"} {
		c := execIn("example.com/app:1", "sleep", word)
		c.Env = env
		if h := HookOf(c, world.Overrides{}); words(h) != "missing 0s" || !strings.Contains(h.Why, "nothing replaces "+word) {
			t.Errorf("%s: %s, %s", word, words(h), h.Why)
		}
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ script, want string }{
		{"", "ok"},
		{"a 'b c' \"d e\"", "ok [a|b c|d e]"},
		{`a\ b`, "ok [a b]"},
		{"a&&b||c;d|e", "ok [a] &&[b] ||[c] ;[d] |[e]"},
		{"a $(b; c) `d`", "ok [a|$(b; c)|`d`]$"},
		{"a >b 2>>c <d e", "ok [a|e]"},
		{"a;;b", "bad"}, {"(a)", "bad"}, {"a &", "bad"}, {"a <<X", "bad"}, {"a >", "bad"},
		{"if a; then b; fi", "bad"}, {"! a", "bad"}, {"{ a; }", "bad"}, {"function a", "bad"}, {"a; done", "bad [a]"}, {"a && b &", "bad"}, {"a; b && (c) &", "bad [a]"}, {"a; b &", "bad [a]"}, {"a && (b >&2) && c", "bad [a]"}, {"until a", "bad"}, {"case a", "bad"}, {"a if then", "ok [a|if|then]"},
		{"'a", "bad"}, {"$(a", "bad"}, {"`a", "bad"}, {"\"a\\\"b\"", "bad"},
		{"a \\", "ok [a|]"},
		{"#x", "ok"},
	} {
		commands, ok := parseShell(tt.script, literals(nil))
		got := map[bool]string{true: "ok", false: "bad"}[ok]
		for _, c := range commands {
			got += fmt.Sprintf(" %s[%s]%s", c.after, strings.Join(c.words, "|"), map[bool]string{true: "$"}[c.opaque])
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.script, got, tt.want)
		}
	}
}

// Shells of Windows sleep by commands of their own. timeout ends at once where nobody could press a key, as in a hook.
func TestHooksOfWindows(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"powershell|-Command|Start-Sleep -Seconds 20":                                                   "exec 20s",
		"powershell.exe|-NoProfile|-Command|Start-Sleep|-s|7":                                           "exec 7s",
		`C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\PowerShell.exe|Start-Sleep -Milliseconds 1500`: "exec 1.5s",
		"pwsh|-c|sleep 5; Start-Sleep 1":                                                                "exec 6s",
		"powershell|-Command|Start-Sleep -Seconds 20; iisreset /stop":                                   "exec uniform 20s-25s undetermined",
		"cmd|/c|timeout /t 20 /nobreak":                                                                 "exec uniform 0s-20s undetermined",
		"timeout|/t|20":                                                                                 "exec uniform 0s-20s undetermined",
		"cmd.exe|/c|stop.bat":                                                                           "exec uniform 0s-5s undetermined",
	} {
		if got := words(HookOf(execIn("mcr.microsoft.com/windows/servercore/iis:1", strings.Split(command, "|")...), world.Overrides{})); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
