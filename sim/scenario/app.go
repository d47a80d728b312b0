package scenario

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Overrides are values given beside the input, which win over it: --profile, --set start,
// --set start.NAME, --set prestop.NAME. The zero value overrides nothing.
type Overrides struct {
	Profile string // of every app, "" for what the table says
	// Start and PreStop are by name of a workload or container; "" is every one. The last of
	// several that match counts.
	Start, PreStop []Named
}

// Named is a distribution for what has a name.
type Named struct {
	Name string
	Dist engine.Dist
}

// For returns the overrides as they apply to the containers of one workload: what names the
// workload becomes what counts for each of its containers.
func (o Overrides) For(workload string) Overrides {
	out := o
	out.Start, out.PreStop = forWorkload(o.Start, workload), forWorkload(o.PreStop, workload)
	return out
}

func forWorkload(all []Named, workload string) []Named {
	var out []Named
	for _, n := range all {
		if n.Name == workload {
			n.Name = ""
		}
		out = append(out, n)
	}
	return out
}

func lookup(all []Named, name string) (engine.Dist, bool) {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Name == "" || all[i].Name == name {
			return all[i].Dist, true
		}
	}
	return engine.Dist{}, false
}

// AppOf returns what the serving container of a pod does, by its image, command and
// arguments (Profiles), and which container that is (ServerOf). Overrides count for the
// workload when they went through Overrides.For.
func AppOf(pod *corev1.PodTemplateSpec, set Overrides) App {
	i := ServerOf(pod, 0, "")
	if i < 0 {
		return unknownApp()
	}
	return ContainerApp(&pod.Spec.Containers[i], pod.Labels, set)
}

// ContainerApp returns what one container of a pod with these labels does.
func ContainerApp(c *corev1.Container, labels map[string]string, set Overrides) App {
	e := evidenceOf(c, labels)
	app := profileFor(e, set.Profile)
	if start, ok := lookup(set.Start, c.Name); ok {
		app.Start = start
	}
	return app
}

// graceful says whether an app that shuts down finishes what it has begun. Such servers send
// GOAWAY where they speak HTTP/2: Go's net/http, Envoy, gRPC's GracefulStop
// (docs/model/propagation.md 5; for others it is recalled).
func (a *App) graceful() bool { return !a.IgnoresSIGTERM && a.InFlight == InFlightFinish }

func unknownApp() App {
	return profileFor(&evidence{}, "")
}

// profileFor makes the App of the profile with that id, or of the first that matches.
func profileFor(e *evidence, id string) App {
	for _, p := range Profiles() {
		if id != "" && p.ID != id || id == "" && (p.match == nil || !p.match(e)) {
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
			app.Basis, app.evidence = "inferred", e.decisive(p.match)
		}
		app.Start, app.Serve, app.Init = DefaultStart(), DefaultServe(), DefaultInit()
		if app.jvm = isJVM(e); app.jvm {
			app.Start, app.jvmBy = JVMStart(), e.decisive(isJVM)
		}
		if p.tune != nil {
			p.tune(e, &app)
		}
		app.GoAway = app.graceful()
		return app
	}
	return profileFor(e, UnknownProfile)
}

// ServerOf returns the index of the container that listens on a target port, given by number
// or by name; with neither, the first that declares a port and is no known sidecar, else the
// first container. It is -1 for a pod without containers.
func ServerOf(pod *corev1.PodTemplateSpec, port int32, name string) int {
	containers := pod.Spec.Containers
	for i := range containers {
		for _, p := range containers[i].Ports {
			if name != "" && p.Name == name || name == "" && port != 0 && p.ContainerPort == port {
				return i
			}
		}
	}
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
	i := parseImage(c.Image)
	return i.named("proxyv2", "cloud-sql-proxy", "gce-proxy") || strings.HasSuffix(i.name, "exporter")
}

// DefaultStart is the time from container start to listening of an app of which nothing is
// known.
func DefaultStart() engine.Dist { return engine.Constant(2 * engine.Second) }

// JVMStart is that of an app that runs on a JVM.
func JVMStart() engine.Dist { return engine.Constant(15 * engine.Second) }

// startsBetween is the range that is tried of an app's start (docs/model/simulator.md 5.3 and 9).
func (a *App) startsBetween() (least, most engine.Time) {
	if a.jvm {
		return 5 * engine.Second, 40 * engine.Second
	}
	return 500 * engine.Millisecond, 20 * engine.Second
}

// basisWords says where the profile comes from, and from what it was inferred.
func (a *App) basisWords() string {
	if a.evidence == "" {
		return a.Basis
	}
	return a.Basis + " from its " + a.evidence
}

// startWords says of a start-up that it is a JVM's.
func (a *App) startWords(start string) string {
	if a.jvm {
		return start + " (a JVM)"
	}
	return start
}

// DefaultServe is the time an app takes to answer a request.
func DefaultServe() engine.Dist {
	return must(engine.Lognormal(20*engine.Millisecond, 300*engine.Millisecond))
}

// must is for distributions whose parameters stand in this package.
func must(d engine.Dist, err error) engine.Dist {
	if err != nil {
		panic("scenario: a default distribution is impossible: " + err.Error())
	}
	return d
}

// The functions below read the arguments that set a grace period.

func tuneIngressNginx(e *evidence, app *App) {
	if v, ok := e.grace("--shutdown-grace-period"); ok && v > 0 {
		app.Listener, app.DrainFor = ListenerDrains, v
	}
	if v, ok := e.grace("--post-shutdown-grace-period"); ok {
		app.Linger = v
	}
}

func tuneEnvoy(e *evidence, app *App) {
	if v, ok := e.grace("--drain-time-s"); ok {
		app.DrainFor = v
	}
}

func tuneIstio(e *evidence, app *App) {
	v, ok := parseSpan(e.variable("TERMINATION_DRAIN_DURATION_SECONDS"), engine.Second)
	if ok {
		app.DrainFor = v
	}
	if strings.EqualFold(e.variable("EXIT_ON_ZERO_ACTIVE_CONNECTIONS"), "true") {
		app.InFlight = InFlightFinish
	}
}

func tuneTraefik(e *evidence, app *App) {
	for _, w := range e.words {
		key, value, ok := strings.Cut(strings.ToLower(w), "=")
		if !ok || !strings.HasPrefix(key, "--entrypoints.") {
			continue
		}
		v, ok := parseSpan(value, engine.Second)
		switch {
		case !ok:
		case strings.HasSuffix(key, ".transport.lifecycle.requestacceptgracetimeout") && v > 0:
			app.Listener, app.DrainFor = ListenerDrains, v
		case strings.HasSuffix(key, ".transport.lifecycle.gracetimeout"):
			app.FinishWithin = v
		}
	}
}

func tuneGunicorn(e *evidence, app *App) {
	if v, ok := e.grace("--graceful-timeout"); ok {
		app.FinishWithin = v
	}
}

func tuneUvicorn(e *evidence, app *App) {
	if v, ok := e.grace("--timeout-graceful-shutdown"); ok {
		app.FinishWithin = v
	}
}

func tuneSpring(e *evidence, app *App) {
	switch strings.ToLower(e.variable("SERVER_SHUTDOWN")) {
	case "immediate":
		app.InFlight, app.FinishWithin, app.Alternatives = InFlightCut, 0, nil
	case "graceful":
		app.Alternatives = nil
	}
	if v, ok := parseSpan(e.variable("SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE"), engine.Millisecond); ok {
		app.FinishWithin = v
	}
}

// grace reads a flag as a time: a number of seconds, or with a unit.
func (e *evidence) grace(name string) (engine.Time, bool) {
	v, ok := e.option(name)
	if !ok {
		return 0, false
	}
	return parseSpan(v, engine.Second)
}
