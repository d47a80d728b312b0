package fix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A hook that only sleeps is replaced. What another one does stays: the sleep comes before what closes the listener, or ends a sleep that is
// there, and before what nobody knows, which may close it; after what is known to leave it open. Where a shell would not come to the sleep, and where there is none, nothing is advised.
func TestWhatAHookDoesStays(t *testing.T) {
	t.Parallel()
	exec := func(argv ...string) corev1.LifecycleHandler {
		return corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: argv}}
	}
	get := func(path string, port int32) *corev1.HTTPGetAction {
		return &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(port)}
	}
	for _, x := range []struct {
		hook corev1.LifecycleHandler
		want string // "" for no advice
	}{
		{exec("sleep", "3"), `{sleep: {seconds: 15}}`},
		{exec("/bin/sh", "-c", "sleep 3"), `{sleep: {seconds: 15}}`},
		{exec("/bin/sleep", "20"), ""}, // it sleeps longer
		{exec("/bin/sleep", "infinity"), `{sleep: {seconds: 15}}`},
		{exec("/usr/bin/gateway", "sleep", "--duration=4s"), `{sleep: {seconds: 15}}`},
		{exec("/bin/sh", "-c", "sleep ${DRAIN:-5}"), `{sleep: {seconds: 15}}`},
		{exec("/bin/sh", "-c", "sleep $OTHER"), `{exec: {command: ["/bin/sh", -c, "sleep 15; sleep $OTHER"]}}`},
		{exec("sh", "-c", "sleep \"$DRAIN\"; nginx -s quit"), `{exec: {command: ["sh", -c, "sleep 15; nginx -s quit"]}}`},
		{exec("sh", "-c", "sleep $OTHER; nginx -s quit"), `{exec: {command: ["sh", -c, "sleep 15; sleep $OTHER; nginx -s quit"]}}`},
		{exec("sh", "-c", "sleep 5; nginx -s quit"), `{exec: {command: ["sh", -c, "sleep 15; nginx -s quit"]}}`},
		{exec("sh", "-c", "nginx -s quit"), `{exec: {command: ["sh", -c, "sleep 15; nginx -s quit"]}}`},
		{exec("/bin/bash", "-c", "queue --await && queue --leave;"), `{exec: {command: ["/bin/bash", -c, "sleep 15; queue --await && queue --leave;"]}}`},
		{exec("/bin/leave", "--all"), `{exec: {command: [/bin/sh, -c, "sleep 15; /bin/leave --all"]}}`},
		{exec("nats-server", "-sl=ldm=/var/run/nats/nats.pid"), `{exec: {command: [/bin/sh, -c, "sleep 15; nats-server -sl=ldm=/var/run/nats/nats.pid"]}}`},
		{exec("nats-server", "--reload"), `{exec: {command: [/bin/sh, -c, "sleep 15; nats-server --reload"]}}`},
		{exec("sh", "-c", "date >> /tmp/ends; sync"), `{exec: {command: ["sh", -c, "date >> /tmp/ends; sync; sleep 15"]}}`},
		{exec("/app/bin/live", "rpc", "Live.Drainer.drain()"), `{exec: {command: [/bin/sh, -c, "sleep 15; /app/bin/live rpc 'Live.Drainer.drain()'"]}}`},
		{exec("/bin/leave", "it's"), `{exec: {command: [/bin/sh, -c, "sleep 15; /bin/leave 'it'\\''s'"]}}`},
		{exec("/bin/leave", "a\nb"), ""},
		{exec("sh", "-c", "exec /bin/leave"), `{exec: {command: ["sh", -c, "sleep 15; exec /bin/leave"]}}`},
		{exec("sh", "-c", "/bin/leave &"), `{exec: {command: ["sh", -c, "sleep 15; /bin/leave &"]}}`},
		{exec("sh", "-c", "leave || exit 1"), `{exec: {command: ["sh", -c, "sleep 15; leave || exit 1"]}}`},
		{exec("/bin/bash", "-ec", "if true; then\n  leave\nfi\n"), `{exec: {command: ["/bin/bash", -ec, "sleep 15\nif true; then\n  leave\nfi"]}}`},
		{exec("sh", "-c", "sleep 2\nleave\nsync"), `{exec: {command: ["sh", -c, "sleep 15\nleave\nsync"]}}`},
		{exec("sh", "-ec", "date >> /tmp/ends; sync"), `{exec: {command: ["sh", -ec, "sleep 15; date >> /tmp/ends; sync"]}}`},
		{exec("sh", "-c", "date >> /tmp/ends & sync &"), `{exec: {command: ["sh", -c, "sleep 15; date >> /tmp/ends & sync &"]}}`},
		{exec("sh", "-c", "sync # all of it"), `{exec: {command: ["sh", -c, "sleep 15; sync # all of it"]}}`},
		{corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/bye"}}, ""},
		{corev1.LifecycleHandler{HTTPGet: get("/bye?now=1", 8080)}, `{exec: {command: [/bin/sh, -c, "sleep 15; wget -qO- 'http://localhost:8080/bye?now=1'"]}}`},
		{corev1.LifecycleHandler{HTTPGet: get("/healthcheck/fail", 8080)}, ""},
	} {
		sc, w := worldOf(t, fill(nil), scenario.Options{})
		c := &w.Template().Spec.Containers[0]
		c.Lifecycle, c.Env = &corev1.Lifecycle{PreStop: &x.hook}, []corev1.EnvVar{{Name: "DRAIN", Value: "4"}}
		w.Hooks = map[string]world.Hook{c.Name: servers.HookOf(c, world.Overrides{})}
		change := (&target{sc: sc, w: w, server: 0}).preStop(15)
		switch {
		case change == nil && x.want == "":
		case change == nil:
			t.Errorf("%v: no advice", hookName(&x.hook))
		case change.Edits[0].To.YAML != x.want:
			t.Errorf("%v: %s, want %s", hookName(&x.hook), change.Edits[0].To.YAML, x.want)
		}
	}
}

// Where the image has no sleep, its length is not what is wrong with a hook that runs one.
func TestAHookWithoutItsProgramGetsTheAction(t *testing.T) {
	t.Parallel()
	sc, w := worldOf(t, fill(nil), scenario.Options{})
	c := &w.Template().Spec.Containers[0]
	c.Image = "gcr.io/distroless/static-debian12"
	c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "10"}}}}
	w.Hooks = map[string]world.Hook{c.Name: servers.HookOf(c, world.Overrides{})}
	change := (&target{sc: sc, w: w, server: 0}).preStop(15)
	if change == nil || change.Title != "preStop: the kubelet's sleep action of 15 s instead of exec sleep 10" || !change.Action || change.Edits[0].To.YAML != "{sleep: {seconds: 15}}" {
		t.Errorf("%+v", change)
	}
}

// A hook whose program is called as a whole command line has no such program: what is changed is said, for the sleep looks the same.
func TestAHookOfOneWordGetsTheAction(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{ // order: each for itself
		"1.36": `preStop: the kubelet's sleep action of 15 s instead of exec "sleep 15" (no such program)`,
		"1.29": `preStop: exec sleep 15 (each word an item of command) instead of exec "sleep 15" (no such program)`,
	} {
		sc, w := worldOf(t, fill(nil), scenario.Options{KubernetesVersion: version})
		c := &w.Template().Spec.Containers[0]
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep 15"}}}}
		w.Hooks = map[string]world.Hook{c.Name: servers.HookOf(c, world.Overrides{})}
		change := (&target{sc: sc, w: w, server: 0}).preStop(15)
		if change == nil || change.Title != want || change.Action != (version == "1.36") {
			t.Errorf("%s: %+v", version, change)
		}
	}
}

// Each container that a Service leads to has to outlast the news.
func TestEachContainerThatAServiceLeadsToSleeps(t *testing.T) {
	t.Parallel()
	text := strings.Replace(fill(nil), "      containers:\n", "      containers:\n      - {name: helper, image: helper:1, ports: [{name: reload, containerPort: 9999}]}\n", 1)
	sc, w := worldOf(t, text, scenario.Options{})
	server := w.ServerIndex()
	sc = sc.Clone()
	svc := sc.Services[0].Service.DeepCopy()
	svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "reload", Port: 9999})
	sc.Services[0].Service = svc
	c := (&target{sc: sc, w: w, server: server}).preStop(15)
	if len(c.Edits) != 2 || c.Title != "preStop: sleep 15 (in helper, too)" && c.Title != "preStop: sleep 15 (in web, too)" {
		t.Errorf("%s: %d edits", c.Title, len(c.Edits))
	}
}

// A sidecar that serves sleeps itself, in its place among the init containers: its hook begins at once, and only SIGTERM waits for its turn.
func TestASidecarThatServesSleeps(t *testing.T) {
	t.Parallel()
	const sidecar = "      initContainers:\n      - {name: migrate, image: example.com/migrate:1}\n" +
		"      - {name: edge, image: nginx:1.27, restartPolicy: Always, ports: [{name: http, containerPort: 8080}], readinessProbe: {tcpSocket: {port: 8080}}LIFECYCLE}\n      containers:\n"
	const quit = ", lifecycle: {preStop: {exec: {command: [/bin/sh, -c, nginx -s quit]}}}"
	for name, x := range map[string]struct{ lifecycle, beside, title, paths, yaml string }{ // order: each for itself
		"without a hook": {"", "{name: app, image: example.com/app:1}", "preStop: sleep 15", "initContainers[1]", "{sleep: {seconds: 15}}"},
		"with a hook": {quit, "{name: app, image: example.com/app:1}", "preStop: sleep 15 before its hook", "initContainers[1]",
			`{exec: {command: ["/bin/sh", -c, "sleep 15; nginx -s quit"]}}`},
		"before an app that it needs": {"", "{name: app, image: php:8.4-fpm}", "preStop: sleep 15 (in app, too)", "initContainers[1] containers[0]", "{sleep: {seconds: 15}}"},
		"beside the server":           {"", "{name: app, image: example.com/app:1, ports: [{containerPort: 80}]}", "preStop: sleep 15", "containers[0]", "{sleep: {seconds: 15}}"},
		"beside the server, with a hook": {quit, "{name: app, image: example.com/app:1, ports: [{containerPort: 80}]}", "preStop: sleep 15 (in edge, too)", "containers[0] initContainers[1]",
			"{sleep: {seconds: 15}}"},
	} {
		text := strings.Replace(fill(nil), "      containers:\n", strings.Replace(sidecar, "LIFECYCLE", x.lifecycle, 1)+"      - "+x.beside+"\n", 1)
		head, rest, _ := strings.Cut(text, x.beside+"\n")
		_, service, _ := strings.Cut(rest, "\n---\n")
		port := map[bool]string{true: "targetPort: 80}", false: "targetPort: 8080}"}[strings.HasPrefix(name, "beside")]
		text = head + x.beside + "\n---\n" + strings.NewReplacer("targetPort: 8080}", port).Replace(service)
		sc, w := worldOf(t, text, scenario.Options{})
		c := (&target{sc: sc, w: w, server: w.ServerIndex()}).preStop(15)
		var paths []string
		for _, e := range c.Edits {
			paths = append(paths, strings.TrimSuffix(strings.TrimPrefix(e.Path, "spec.template.spec."), ".lifecycle.preStop"))
		}
		if c.Title != x.title || strings.Join(paths, " ") != x.paths || c.Edits[0].To.YAML != x.yaml {
			t.Errorf("%s: %q at %v: %s", name, c.Title, paths, c.Edits[0].To.YAML)
		}
	}
}

// What the server may need for its answers is told to stop when the server is: it has to sleep as long, also where no Service leads to it.
// A shipper of logs is waited for by nobody, and what sleeps as long already stays.
func TestWhatTheServerNeedsSleepsAsLong(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ beside, title, yaml, cost string }{
		{"{name: fpm, image: php:8.4-fpm}", "preStop: sleep 15 (in fpm, too)", "{sleep: {seconds: 15}}", ""},
		{"{name: fluentd, image: fluent/fluentd:1}", "preStop: sleep 15", "", ""},
		{"{name: fluentd, image: fluent/fluentd:1, readinessProbe: {tcpSocket: {port: 9}}, lifecycle: {preStop: {sleep: {seconds: 3}}}}", "preStop: sleep 15 (in fluentd, too)", "{sleep: {seconds: 15}}", ""},
		{"{name: fpm, image: php:8.4-fpm, lifecycle: {preStop: {httpGet: {path: /bye, port: 9}}}}", "preStop: sleep 15 (in fpm (if the image has wget), too)", `{exec: {command: [/bin/sh, -c, "sleep 15; wget -qO- http://localhost:9/bye"]}}`, ""},
		{"{name: fpm, image: php:8.4-fpm, lifecycle: {preStop: {sleep: {seconds: 20}}}}", "preStop: sleep 15", "", ""},
		{"{name: fpm, image: php:8.4-fpm, lifecycle: {preStop: {httpGet: {path: /bye, port: 9, httpHeaders: [{name: Token, value: x}]}}}}", "preStop: sleep 15", "", "fpm: to serve as long, too, a sleep is needed there"},
	} {
		sc, w := worldOf(t, strings.Replace(fill(nil), "      containers:\n", "      containers:\n      - "+x.beside+"\n", 1), scenario.Options{})
		c := (&target{sc: sc, w: w, server: w.ServerIndex()}).preStop(15)
		if c.Title != x.title || (x.yaml != "") != (len(c.Edits) == 2) || x.yaml != "" && c.Edits[1].To.YAML != x.yaml || !strings.Contains(c.Cost, x.cost) {
			t.Errorf("%s: %q, %q, %v", x.beside, c.Title, c.Cost, c.Edits)
		}
	}
}

// Where the hook of a proxy is long enough, what it passes its requests on to sleeps as long as it does; else both get a longer one.
func TestWhatIsBehindAProxySleepsAsLong(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ hook, beside, title, yaml string }{
		{"sleep: {seconds: 20}", "ports: [{containerPort: 9}]", "preStop: sleep 20 in container api, behind web", "{sleep: {seconds: 20}}"},
		{"sleep: {seconds: 25}", "ports: [{containerPort: 9}]", "preStop: sleep 25 in container api, behind web, terminationGracePeriodSeconds: 35", "{sleep: {seconds: 25}}"},
		{"sleep: {seconds: 20}", "ports: [{containerPort: 9}], lifecycle: {preStop: {exec: {command: [/bin/bye]}}}", "preStop: sleep 20 in container api before its hook (if the image has a shell), behind web, terminationGracePeriodSeconds: 35", `{exec: {command: [/bin/sh, -c, "sleep 20; /bin/bye"]}}`},
		{"sleep: {seconds: 20}", "ports: [{containerPort: 9}], lifecycle: {preStop: {sleep: {seconds: 20}}}", "", ""},
		{"sleep: {seconds: 20}", "env: []", "", ""},
		{"sleep: {seconds: 9}", "ports: [{containerPort: 9}]", "", ""},
	} {
		text := strings.Replace(fill(map[string]string{"CONTAINER": "        lifecycle: {preStop: {" + x.hook + "}}"}), "      containers:\n", "      containers:\n      - {name: api, image: example.com/api, "+x.beside+"}\n", 1)
		sc, w := worldOf(t, text, scenario.Options{})
		c := (&target{sc: sc, w: w, server: w.ServerIndex()}).abreast(9 * engine.Second)
		switch {
		case (c == nil) != (x.title == ""):
			t.Errorf("%s, %s: %+v", x.hook, x.beside, c)
		case c != nil && (c.Title != x.title || c.Edits[0].To.YAML != x.yaml):
			t.Errorf("%s, %s: %q, %v", x.hook, x.beside, c.Title, c.Edits)
		}
	}
}

// uWSGI ends with its grace period, whatever its hook does.
func TestASleepDoesNotHaveUWSGIEndLater(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{ // order: each for itself
		"[uwsgi, --http, ':8080']":                "each pod takes its whole grace period to stop, with this or without, for uWSGI only reloads at SIGTERM: --die-on-term in its command has it end then",
		"[uwsgi, --http, ':8080', --die-on-term]": "each pod takes 15 s longer to stop",
	} {
		sc, w := worldOf(t, strings.Replace(fill(map[string]string{"CONTAINER": "        command: " + command}), "image: nginx", "image: python", 1), scenario.Options{})
		if c := (&target{sc: sc, w: w, server: w.ServerIndex()}).preStop(15); c.Cost != want {
			t.Errorf("%s: %q", command, c.Cost)
		}
	}
}

// One pod more needs what the others have, and a GPU is nobody's meanwhile.
func TestAPodMoreNeedsItsGPU(t *testing.T) {
	t.Parallel()
	lines := map[string]string{
		"STRATEGY":  "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}",
		"CONTAINER": "        resources: {limits: {cpu: 2, nvidia.com/gpu: 1}}",
	}
	sc, w := worldOf(t, fill(lines), scenario.Options{})
	if got := Changes(sc, w, engine.Second)[0].Title; got != "maxUnavailable: 0, maxSurge: 1 (needs room for one pod more, with nvidia.com/gpu: 1)" {
		t.Error(got)
	}
}

// Nobody is told to sleep for less than the hook does. A program that may be missing in the image becomes an action of the same length, where
// there is one; a hook that is known to sleep, or that does more after it, stays.
func TestNoSleepIsShorterThanTheHooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hook, version, want string
	}{
		{"exec: {command: [sleep, '40']}", "", "preStop: sleep 40, as an action instead of a program"},
		{"exec: {command: [sleep, '40']}", "1.29", ""},
		{"exec: {command: [sh, -c, sleep 40 && catalina.sh stop]}", "", ""},
		{"exec: {command: [sh, -c, sleep 2 && catalina.sh stop]}", "", "preStop: sleep 15 before its hook"},
		{"sleep: {seconds: 40}", "", ""},
	} {
		sc, w := worldOf(t, strings.Replace(fill(map[string]string{"GRACE": "      terminationGracePeriodSeconds: 90", "CONTAINER": "        lifecycle: {preStop: {" + c.hook + "}}"}), "image: nginx", "image: corp/app", 1), scenario.Options{KubernetesVersion: c.version})
		got := ""
		for _, x := range Changes(sc, w, 13*engine.Second) {
			if x.ID == "preStop" {
				got, _, _ = strings.Cut(x.Title, ", termination")
			}
		}
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.hook, c.version, got, c.want)
		}
		if c.want == "" {
			continue
		}
		if s := Shorter(sc, w, 1); s != nil && strings.Contains(s.Title, "sleep 40") {
			t.Errorf("%s: %s", c.hook, s.Title)
		}
	}
}

// With one pod, which goes before the next one is there, the probes that say when that is ready ask at once and each second; a startupProbe gives as
// long as before in all.
func TestProbesOfTheOnlyPodAskEachSecond(t *testing.T) {
	t.Parallel()
	const startup = "        startupProbe: {tcpSocket: {port: 8080}, initialDelaySeconds: 20, periodSeconds: 10, failureThreshold: 30}"
	const readiness = "        readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 5}"
	for _, c := range []struct{ probes, strategy, want string }{
		{startup, "  strategy: {type: Recreate}", "startupProbe.periodSeconds: 1 and failureThreshold: 320, initialDelaySeconds: 0"},
		{startup + "\n" + readiness, "  strategy: {type: Recreate}", "startupProbe.periodSeconds: 1 and failureThreshold: 320, initialDelaySeconds: 0, readinessProbe.periodSeconds: 1"},
		{readiness, "  strategy: {type: Recreate}", "readinessProbe.periodSeconds: 1"},
		{startup, "", ""},
	} {
		sc, w := worldOf(t, fill(map[string]string{"CONTAINER": c.probes, "STRATEGY": c.strategy}), scenario.Options{})
		got := ""
		for _, x := range Changes(sc, w, engine.Second) {
			if x.ID != "readinessPeriod" {
				continue
			}
			got = x.Title
			p := Apply(sc, "shop/web", []Change{x}).Workload("shop/web").Container()
			if s := p.StartupProbe; s != nil && (s.PeriodSeconds != 1 || s.FailureThreshold != 320 || s.InitialDelaySeconds != 0) {
				t.Errorf("%+v", s)
			}
			if r := p.ReadinessProbe; r != nil && r.PeriodSeconds != 1 {
				t.Errorf("%+v", r)
			}
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Where the image has no program that sleeps and the API no action yet the app itself has to go on serving, for as long as a hook would sleep.
func TestAnAppServesOnWhereNothingSleeps(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ image, version, profile, grace, want string }{
		{"gcr.io/distroless/static", "1.29", "", "", "have the app go on serving for 15 s after SIGTERM"},
		{"gcr.io/distroless/static", "1.29", "", "      terminationGracePeriodSeconds: 20", "have the app go on serving for 15 s after SIGTERM, terminationGracePeriodSeconds: 25"},
		{"gcr.io/distroless/static", "1.29", "ignores", "", ""},
		{"gcr.io/distroless/static", "1.29", "drains", "", "have the app go on serving for 15 s after SIGTERM"},
		{"gcr.io/distroless/static", "1.30", "", "", "preStop: sleep 15"},
		{"nginx", "1.29", "", "", "preStop: sleep 15"},
	} {
		text := strings.Replace(fill(map[string]string{"GRACE": x.grace}), "image: nginx", "image: "+x.image, 1)
		sc, w := worldOf(t, text, scenario.Options{KubernetesVersion: x.version, Profile: x.profile})
		got := ""
		for _, c := range Changes(sc, w, 12*engine.Second) {
			if c.ID != "serves" && c.ID != "preStop" {
				continue
			}
			got += c.Title
			after := Apply(sc, "shop/web", []Change{c}).Workload("shop/web").App
			if serves := after.Listener == world.ListenerDrains && after.DrainFor == 15*engine.Second; serves != (c.ID == "serves") || strings.Contains(c.Cost, "preStop: sleep 15 does as much") != serves {
				t.Errorf("%+v: %+v, %+v", x, c, after)
			}
		}
		if got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
	}
	sc, w := worldOf(t, strings.Replace(fill(nil), "image: nginx", "image: gcr.io/distroless/static", 1), scenario.Options{KubernetesVersion: "1.29"})
	w.App.Listener, w.App.DrainFor = world.ListenerDrains, 15*engine.Second
	if slices.ContainsFunc(Changes(sc, w, 12*engine.Second), func(c Change) bool { return c.ID == "serves" }) {
		t.Error("it does so already")
	}
}

// Where nothing says that the image has a shell, a hook that needs one now is advised with that said, and not at all where it has none.
func TestAHookThatNeedsAShellSaysSo(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ image, hook, title, cost string }{
		{"example.com/live:1", "exec: {command: [/app/bin/live, rpc]}", "preStop: sleep 15 before its hook (if the image has a shell)", ""},
		{"example.com/live:1-alpine", "exec: {command: [/app/bin/live, rpc]}", "preStop: sleep 15 before its hook", ""},
		{"example.com/live:1", "exec: {command: [sh, -c, /app/bin/live rpc]}", "preStop: sleep 15 before its hook", ""},
		{"gcr.io/distroless/static", "exec: {command: [/app/bin/live, rpc]}", "", ""},
		{"example.com/live:1", "httpGet: {path: /drain, port: 8080}", "preStop: sleep 15 before its hook (if the image has a shell and wget)", "in an image without them have the app do at SIGTERM what the request asks for"},
		{"gcr.io/distroless/static", "httpGet: {path: /drain, port: 8080}", "", ""},
		{"example.com/live:1", "httpGet: {path: /drain, port: 8443, scheme: HTTPS}", "preStop: sleep 15 before its hook (if the image has a shell and wget)", ""},
	} {
		text := strings.Replace(fill(map[string]string{"CONTAINER": "        lifecycle: {preStop: {" + x.hook + "}}"}), "image: nginx", "image: "+x.image, 1)
		sc, w := worldOf(t, text, scenario.Options{})
		title, cost := "", ""
		if c := (&target{sc: sc, w: w, server: 0}).preStop(15); c != nil {
			title, cost = c.Title, c.Cost
			// The kubelet does not look at the certificate of a server that it asks.
			if https := strings.Contains(x.hook, "HTTPS"); strings.Contains(c.Edits[0].To.YAML, "wget -qO- --no-check-certificate https://localhost:8443/drain") != https {
				t.Errorf("%s: %s", x.hook, c.Edits[0].To.YAML)
			}
		}
		if title != x.title || !strings.Contains(cost, x.cost) || x.cost == "" && !strings.Contains(x.hook, "HTTPS") && strings.Contains(cost, "shell") {
			t.Errorf("%s, %s: %q, %q", x.image, x.hook, title, cost)
		}
	}
}

// A container has a Service's port if it names it: by the name or the number of the target, which is the Service's own where there is none.
func TestWhichContainerHasAPort(t *testing.T) {
	t.Parallel()
	c := &corev1.Container{Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9090}, {Name: "http", ContainerPort: 8080}}}
	for _, tt := range []struct {
		target intstr.IntOrString
		port   int32
		want   bool
	}{
		{intstr.FromString("http"), 80, true}, {intstr.FromString("https"), 8080, false}, {intstr.FromInt32(8080), 80, true}, {intstr.FromInt32(80), 8080, false},
		{intstr.IntOrString{}, 9090, true}, {intstr.IntOrString{}, 80, false},
	} {
		if got := has(c, tt.target, tt.port); got != tt.want {
			t.Errorf("target %v, port %d: %v", &tt.target, tt.port, got)
		}
	}
}

// A startupProbe is offered where a livenessProbe may end an app that starts, and nothing keeps it from that yet.
func TestAStartupProbeIsOfferedBesideALivenessProbe(t *testing.T) {
	t.Parallel()
	const live = "        livenessProbe: {tcpSocket: {port: 8080}}\n"
	for probes, want := range map[string]bool{"": false, live: true, live + "        startupProbe: {tcpSocket: {port: 8080}}\n": false} { // order: each by itself
		s, w := worldOf(t, fill(map[string]string{"CONTAINER": strings.TrimSuffix(probes, "\n")}), scenario.Options{})
		if got := slices.ContainsFunc(Changes(s, w, 0), func(c Change) bool { return c.ID == "startupProbe" }); got != want {
			t.Errorf("%q: %v", probes, got)
		}
	}
}

// A readiness probe that passes before the server listens keeps what else it is for, and a startup probe asks the server before it. There is no
// use of one where the readiness probe may ask the server.
func TestAStartupProbeIsOfferedWhereTheReadinessProbeAsksNothing(t *testing.T) {
	t.Parallel()
	const title = "startupProbe on port 8080"
	for probes, want := range map[string]string{ // order: each by itself
		"readinessProbe: {exec: {command: [sh, -c, 'test ! -f /tmp/drain']}}":                            title,
		"readinessProbe: {exec: {command: [cat, /tmp/healthy]}}":                                         "",
		"readinessProbe: {exec: {command: [\"true\"]}}\n        startupProbe: {tcpSocket: {port: 8080}}": "",
	} {
		s, w := worldOf(t, fill(map[string]string{"CONTAINER": "        " + probes}), scenario.Options{})
		got := ""
		for _, c := range Changes(s, w, 0) {
			if c.ID == "readinessProbe" {
				got = c.Title
				if yaml := fmt.Sprint(c.Edits); !strings.Contains(yaml, "{tcpSocket: {port: 8080}, periodSeconds: 1, failureThreshold: 300}") {
					t.Errorf("%q: %s", probes, yaml)
				}
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", probes, got, want)
		}
	}
}

// A hook that is longer than the grace period is cut: more time alone is tried, as much as the hook and what comes after it take, and is a part of
// a longer hook. Where the hook has the time that it asks for nothing is changed.
func TestAHookThatIsCutIsGivenItsTime(t *testing.T) {
	t.Parallel()
	for grace, want := range map[string]string{"20": "terminationGracePeriodSeconds: 40", "30": "terminationGracePeriodSeconds: 40", "31": "terminationGracePeriodSeconds: 62"} { // order: each for itself
		text := fill(map[string]string{"CONTAINER": "        lifecycle: {preStop: {exec: {command: [sleep, \"30\"]}}}", "GRACE": "      terminationGracePeriodSeconds: " + grace})
		sc, w := worldOf(t, text, scenario.Options{})
		var ids, titles []string
		for _, c := range Changes(sc, w, 100*engine.Second) {
			if c.ID == "terminationGracePeriodSeconds" || c.ID == "preStop" {
				ids = append(ids, c.ID)
			}
			if c.ID == "terminationGracePeriodSeconds" {
				titles = append(titles, c.Title)
			}
			if cut := grace != "31"; c.ID == "preStop" && slices.Equal(c.Has, []string{"terminationGracePeriodSeconds"}) != cut {
				t.Errorf("grace %s: %s has %v", grace, c.Title, c.Has)
			}
		}
		if !slices.Equal(titles, []string{want}) || grace != "31" && ids[0] != "terminationGracePeriodSeconds" {
			t.Errorf("grace %s: %v, %v", grace, titles, ids)
		}
	}
}

// No image of Windows has a shell that reads a script of sh: the sleep action takes the place of a hook, and nothing where there is no such
// action; without any hook PowerShell sleeps then.
func TestHooksOfWindowsHaveNoShell(t *testing.T) {
	t.Parallel()
	program := &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"powershell", "-Command", "iisreset /stop"}}}}
	for _, x := range []struct {
		version string
		hook    *corev1.Lifecycle
		want    string // "" for no advice
	}{
		{"1.34", program, "{sleep: {seconds: 15}}"},
		{"1.28", program, ""},
		{"1.28", nil, "{exec: {command: [powershell, -Command, Start-Sleep -Seconds 15]}}"},
		{"1.34", nil, "{sleep: {seconds: 15}}"},
	} {
		sc, w := worldOf(t, fill(nil), scenario.Options{Set: []string{"kubernetes.version=" + x.version}})
		spec := &w.Template().Spec
		spec.OS = &corev1.PodOS{Name: corev1.Windows}
		c := &spec.Containers[0]
		c.Lifecycle = x.hook
		w.Hooks = map[string]world.Hook{c.Name: servers.HookOf(c, world.Overrides{})}
		got := ""
		if change := (&target{sc: sc, w: w, server: 0}).preStop(15); change != nil {
			got = change.Edits[0].To.YAML
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", x.version, got, x.want)
		}
	}
}
