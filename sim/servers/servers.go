package servers

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// AppOf returns what the serving container of a pod does, by its image, command and
// arguments (Profiles), and which container that is (ServerOf). Overrides count for the
// workload when they went through Overrides.For.
func AppOf(pod *corev1.PodTemplateSpec, set world.Overrides) world.App {
	i := ServerOf(pod, 0, "")
	if i < 0 {
		return UnknownApp()
	}
	return ContainerApp(world.Serving(&pod.Spec)[i], pod.Labels, set)
}

// ContainerApp returns what one container of a pod with these labels does.
func ContainerApp(c *corev1.Container, labels map[string]string, set world.Overrides) world.App {
	e := EvidenceOf(c, labels)
	app := AppFor(e, set.Profile)
	if start, ok := world.Lookup(set.Start, c.Name); ok {
		app.Start = start
	}
	return app
}

// UnknownApp is an app of which nothing is known.
func UnknownApp() world.App {
	return AppFor(&Evidence{}, "")
}

// AppFor makes the App of the profile with that id, or of the first that matches.
func AppFor(e *Evidence, id string) world.App {
	for _, p := range Profiles() {
		if id != "" && p.ID != id || id == "" && !p.match(e) { // what goes by name only stands behind what matches all
			continue
		}
		app := p.app
		app.Profile, app.Alternatives = p.ID, p.Alternatives
		switch {
		case id != "":
			app.Basis, app.Alternatives = "manifest", nil
		case p.ID == UnknownProfile:
			app.Basis = "assumed"
		default:
			app.Basis, app.Evidence = "inferred", e.decisive(p.match)
		}
		app.Start, app.Serve, app.Init = DefaultStart(), DefaultServe(), DefaultInit()
		if app.JVM = isJVM(e); app.JVM {
			app.Start, app.JVMBy = JVMStart(), e.decisive(isJVM)
		}
		if p.tune != nil {
			p.tune(e, &app)
		}
		if may, known := e.shellStays(); id == "" && may && !known && !app.IgnoresSIGTERM {
			app.Alternatives = append([]string{shellPID1}, app.Alternatives...)
		}
		app.GoAway = app.Tells()
		return app
	}
	return AppFor(e, UnknownProfile)
}

// ServerOf returns the index, in world.Serving, of the container that listens on a target port, given by number
// or by name; with neither, the first that declares a port and is no known sidecar, else the
// first container. It is -1 for a pod without containers.
func ServerOf(pod *corev1.PodTemplateSpec, port int32, name string) int {
	for i, c := range world.Serving(&pod.Spec) {
		for _, p := range c.Ports {
			if name != "" && p.Name == name || name == "" && port != 0 && p.ContainerPort == port {
				return i
			}
		}
	}
	containers := pod.Spec.Containers
	for i := range containers {
		if len(containers[i].Ports) > 0 && !isSidecar(&containers[i]) {
			return i
		}
	}
	for i := range containers {
		if !isSidecar(&containers[i]) {
			return i
		}
	}
	return len(containers) - 1
}

func isSidecar(c *corev1.Container) bool {
	i := ParseImage(c.Image)
	return i.Named("proxyv2", "cloud-sql-proxy", "gce-proxy") || strings.HasSuffix(i.name, "exporter")
}

// Needed says whether a server beside it may need a container for its answers: whether it listens, or is known to be a server, and ends
// when told. What only watches, or ships logs, is not needed, and a mesh's proxy is another matter.
func Needed(c *corev1.Container, labels map[string]string) bool {
	i := ParseImage(c.Image)
	if i.Named("proxyv2") || c.Name == "istio-proxy" || c.Name == "linkerd-proxy" ||
		slices.ContainsFunc(i.segments(), func(w string) bool { return slices.Contains(watcherWords(), w) }) {
		return false
	}
	app := AppFor(EvidenceOf(c, labels), "")
	listens := slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
		return !slices.ContainsFunc([]string{"metric", "prom", "health", "probe", "telemetry", "monitor", "debug"}, func(w string) bool { return strings.Contains(p.Name, w) })
	})
	return !app.IgnoresSIGTERM && (listens || app.Basis == "inferred" || isSidecar(c) || LeadsOut(c))
}

// PassesOn says that a container is a proxy or a web server that passes requests on to an app, by its image or command: nothing else is known of
// what a server needs for its answers. One that is managed from outside leads to other pods.
func PassesOn(c *corev1.Container, app *world.App) bool {
	return IsWebServer(c) && app.Profile != "envoy-gateway" && app.Profile != "ingress-nginx" || ParseImage(c.Image).Named("oauth2-proxy") ||
		slices.Contains([]string{"nginx", "nginx-sigterm", "httpd", "caddy", "haproxy", "envoy", "traefik"}, app.Profile)
}

// BehindProxy says whether a container beside a proxy is what that passes requests on to: an app that listens, or is known to be a server of apps, and
// ends when told. What manages the proxy, and what serves others than its clients, is not.
func BehindProxy(c *corev1.Container, labels map[string]string) bool {
	if !Needed(c, labels) || isSidecar(c) || IsDatabase(EvidenceOf(c, labels)) || IsWebServer(c) {
		return false
	}
	words := append(ParseImage(c.Image).segments(), strings.FieldsFunc(c.Name, func(r rune) bool { return r == '-' })...)
	return !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(managerWords(), w) })
}

// managerWords are words in names of containers, and of their images, that manage a proxy beside them.
func managerWords() []string {
	return []string{"admin", "auth", "authz", "bouncer", "controller", "dataplane", "dataplaneapi", "discovery", "manager", "operator", "pilot", "proxy", "shutdown", "sync", "syncer", "watcher", "xds"}
}

// LeadsOut says whether a container is a proxy through which what is beside it reaches something outside of its pod, a database mostly, by its image.
func LeadsOut(c *corev1.Container) bool {
	return ParseImage(c.Image).Named("cloud-sql-proxy", "gce-proxy", "alloydb-auth-proxy", "pgbouncer", "pgcat", "odyssey", "proxysql", "mysql-router", "twemproxy", "daprd")
}

// watcherWords are words in names of images of what nobody waits for: shippers of logs, collectors, exporters.
func watcherWords() []string {
	return []string{"agent", "alloy", "bit", "datadog", "exporter", "filebeat", "fluent", "fluentbit", "fluentd", "metrics", "opentelemetry", "otel", "otelcol", "promtail", "reloader", "statsd", "vector"}
}

// DefaultStart is the time from container start to listening of an app of which nothing is
// known.
func DefaultStart() engine.Dist { return engine.Constant(2 * engine.Second) }

// JVMStart is that of an app that runs on a JVM.
func JVMStart() engine.Dist { return engine.Constant(15 * engine.Second) }

// StartsBetween is the range that is tried of an app's start (docs/model/simulator.md 5.3 and 9).
func StartsBetween(a *world.App) (least, most engine.Time) {
	if a.JVM {
		return 5 * engine.Second, 40 * engine.Second
	}
	return 500 * engine.Millisecond, 20 * engine.Second
}

// BasisWords says where the profile comes from, and from what it was inferred.
func BasisWords(a *world.App) string {
	if a.Evidence == "" {
		return a.Basis
	}
	return a.Basis + " from its " + a.Evidence
}

// StartWords says of a start-up that it is a JVM's.
func StartWords(a *world.App, start string) string {
	if a.JVM {
		return start + " (a JVM)"
	}
	return start
}

// DefaultServe is the time an app takes to answer a request.
func DefaultServe() engine.Dist {
	return engine.Must(engine.Lognormal(20*engine.Millisecond, 300*engine.Millisecond))
}

// The functions below read the arguments that set a grace period.

func tuneIngressNginx(e *Evidence, app *world.App) {
	if v, ok := e.grace(world.ShutdownGrace); ok && v > 0 {
		app.Listener, app.DrainFor = world.ListenerDrains, v
	}
	if v, ok := e.grace("--post-shutdown-grace-period"); ok {
		app.Linger = v
	}
}

func tuneEnvoy(e *Evidence, app *world.App) {
	if v, ok := e.grace("--drain-time-s"); ok {
		app.DrainFor = v
	}
}

// Sets says that a container's manifest has a variable with a value written out.
func Sets(c *corev1.Container, variable string) bool {
	return EvidenceOf(c, nil).variable(variable) != ""
}

func tuneIstio(e *Evidence, app *world.App) {
	if v, ok := units.ParseSpan(e.variable("TERMINATION_DRAIN_DURATION_SECONDS"), engine.Second); ok {
		*IstioDrain(app) = v
	}
	if strings.EqualFold(e.variable("EXIT_ON_ZERO_ACTIVE_CONNECTIONS"), "true") {
		app.InFlight = world.InFlightFinish
	}
}

// tuneOPA reads for how long OPA goes on serving after SIGTERM, and then lets requests finish (cmd/run.go and runtime.go, gracefulServerShutdown).
func tuneOPA(e *Evidence, app *world.App) {
	if v, ok := e.grace("--shutdown-wait-period"); ok && v > 0 {
		app.Listener, app.DrainFor = world.ListenerDrains, v
		adds(app, "--shutdown-wait-period "+v.Seconds()+" s")
	}
	if v, ok := e.grace("--shutdown-grace-period"); ok {
		app.FinishWithin = v
	}
}

// adds says what else decides what the app does, where something was concluded from evidence at all.
func adds(app *world.App, said string) {
	if app.Evidence != "" {
		app.Evidence += ", " + said
	}
}

func tuneGunicorn(e *Evidence, app *world.App) {
	if v, ok := e.grace("--graceful-timeout"); ok {
		app.FinishWithin = v
	}
}

// tuneUWSGI: with die-on-term it ends at SIGTERM, with gracefully_kill_them_all for signal 15 it finishes first. Its own files are not read.
func tuneUWSGI(e *Evidence, app *world.App) {
	_, said := e.option("--die-on-term")
	switch v := strings.ToLower(e.variable("UWSGI_DIE_ON_TERM")); {
	case slices.Contains(e.words, "unix_signal:15") && slices.Contains(e.words, "gracefully_kill_them_all"):
		app.InFlight = world.InFlightFinish
	case said || slices.Contains(e.words, "--die-on-term") || v == "1" || v == "true":
	default:
		return
	}
	app.IgnoresSIGTERM, app.Listener, app.Alternatives = false, world.ListenerCloses, nil
}

func tuneUvicorn(e *Evidence, app *world.App) {
	if v, ok := e.grace("--timeout-graceful-shutdown"); ok {
		app.FinishWithin = v
	}
}

func tuneSpring(e *Evidence, app *world.App) {
	const how, phase = "SERVER_SHUTDOWN", "SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE"
	switch strings.ToLower(e.variable(how)) {
	case "immediate":
		app.InFlight, app.FinishWithin, app.Alternatives = world.InFlightCut, 0, nil
		e.also(app, how)
	case "graceful":
		app.Alternatives = nil
		e.also(app, how)
	}
	if v, ok := units.ParseSpan(e.variable(phase), engine.Millisecond); ok {
		app.FinishWithin = v
		e.also(app, phase)
	}
}

// also says of a variable that it decides what the app does, too.
func (e *Evidence) also(app *world.App, variable string) {
	if app.Evidence != "variable "+variable {
		adds(app, variable+"="+e.variable(variable))
	}
}

// grace reads a flag as a time: a number of seconds, or with a unit.
func (e *Evidence) grace(name string) (engine.Time, bool) {
	v, ok := e.option(name)
	if !ok {
		return 0, false
	}
	return units.ParseSpan(v, engine.Second)
}

// DefaultInit is how long an init container runs of which nothing is known
// (docs/model/simulator.md 9).
func DefaultInit() engine.Dist { return engine.Constant(5 * engine.Second) }
