package fix

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// readiness keeps traffic from a pod that does not listen yet.
func (t *target) readiness() *Change {
	c := t.container()
	port := t.listening()
	if port == 0 {
		return nil
	}
	if c.ReadinessProbe != nil {
		return t.listensFirst(c.ReadinessProbe, port)
	}
	return &Change{
		ID: "readinessProbe", Title: fmt.Sprintf("readinessProbe on port %d", port),
		Edits: []edit.Edit{t.edit(t.path("readinessProbe"), fmt.Sprintf("{tcpSocket: {port: %d}, periodSeconds: 5}", port))},
		Cost:  "an HTTP or gRPC probe that asks the app is better than an open port, if it has one",
	}
}

// listensFirst has a readiness probe wait for the server that would pass before it listens: what else it is for stays.
func (t *target) listensFirst(readiness *corev1.Probe, port int32) *Change {
	if t.container().StartupProbe != nil || !t.w.App.PassesAtOnce(readiness) {
		return nil
	}
	const least = 300 // s: how long the server takes is mostly assumed, and nothing restarted it before
	failures, _ := world.FailuresFor(&corev1.Probe{PeriodSeconds: 1}, t.w.App.Start.Max())
	failures = max(failures, least)
	return &Change{
		ID: "readinessProbe", Title: fmt.Sprintf("startupProbe on port %d", port),
		Edits: []edit.Edit{t.edit(t.path("startupProbe"), fmt.Sprintf("{tcpSocket: {port: %d}, periodSeconds: 1, failureThreshold: %d}", port, failures))},
		Cost:  fmt.Sprintf("a container that does not listen within %d s is restarted", failures),
	}
}

// sooner has the kubelet ask a pod at once and every second whether it is ready, where something waits for that: there is no other pod
// meanwhile, or none that its node may send to. After a first failure the kubelet asks again one period later, 10 s by default, and not
// before initialDelaySeconds are over (docs/model/pod-lifecycle.md 3.1, 3.2).
func (t *target) sooner() *Change {
	c := t.container()
	_, unavailable := t.w.Fenceposts()
	if alone := t.late() || t.w.Recreate() || unavailable >= t.w.Replicas() || emptied(t.sc) && t.w.Replicas() == 1; !alone {
		return nil
	}
	out := &Change{ID: "readinessPeriod"}
	var titles []string
	if p := c.StartupProbe; p != nil && p.PeriodSeconds > 1 { // as long as before in all
		const most = math.MaxInt32
		failures := int32(min(most, int64(p.InitialDelaySeconds)+int64(p.PeriodSeconds)*int64(p.FailureThreshold)))
		titles = append(titles, fmt.Sprintf("startupProbe.periodSeconds: 1 and failureThreshold: %d", failures))
		out.Edits = append(out.Edits, t.edit(t.path("startupProbe.periodSeconds"), 1), t.edit(t.path("startupProbe.failureThreshold"), failures))
		if p.InitialDelaySeconds > 0 {
			titles = append(titles, "initialDelaySeconds: 0")
			out.Edits = append(out.Edits, t.edit(t.path("startupProbe.initialDelaySeconds"), 0))
		}
	}
	if p := c.ReadinessProbe; p != nil && (p.PeriodSeconds > 1 || p.InitialDelaySeconds > 0) {
		var fields []string
		if p.PeriodSeconds > 1 {
			fields = append(fields, "periodSeconds: 1")
			out.Edits = append(out.Edits, t.edit(t.path("readinessProbe.periodSeconds"), 1))
		}
		if p.InitialDelaySeconds > 0 {
			fields = append(fields, "initialDelaySeconds: 0")
			out.Edits = append(out.Edits, t.edit(t.path("readinessProbe.initialDelaySeconds"), 0))
		}
		titles = append(titles, "readinessProbe."+strings.Join(fields, ", "))
	}
	if len(out.Edits) == 0 {
		return nil
	}
	out.Title = strings.Join(titles, ", ")
	return out
}

// staysReady has a server that says while it stops that it is not ready, and accepts connections still, be ready for as long as that takes: its
// node would send to it, and only the probe has it not do so (docs/model/load-balancers.md 5.1 On SIGTERM). nil where no node needs its own
// pod, and where the server is heard to be unready at no time or too late anyway.
func (t *target) staysReady() *Change {
	p, accepts := t.container().ReadinessProbe, t.acceptsUnready()
	if p == nil || accepts == 0 || !t.local() {
		return nil
	}
	period := engine.Time(max(p.PeriodSeconds, 1)) * engine.Second
	failures := int32((accepts+period-1)/period) + 1
	if failures <= p.FailureThreshold {
		return nil
	}
	return &Change{
		ID: "readinessThreshold", Title: fmt.Sprintf("readinessProbe.failureThreshold: %d", failures),
		Edits: []edit.Edit{t.edit(t.path("readinessProbe.failureThreshold"), failures)},
		Cost:  fmt.Sprintf("a pod that is not well while it runs gets traffic for up to %d s before that counts", int64(engine.Time(failures)*period/engine.Second)),
	}
}

// acceptsUnready is for how long the server accepts connections while it stops and says that it is not ready, at most; 0 for at no time.
func (t *target) acceptsUnready() engine.Time {
	hook, app := t.w.Hooks[t.container().Name], &t.w.App
	var after engine.Time // SIGTERM, or what does as much
	switch app.Listener {
	case world.ListenerStays:
		after = engine.Never
	case world.ListenerDrains:
		after = app.DrainFor
	case world.ListenerCloses: // at once
	}
	left := t.w.Grace()
	switch {
	case hook.ClosesListener && !hook.SignalsServer:
		return 0
	case hook.FailsReadiness && !hook.SignalsServer:
		return min(left, hook.Duration.Max()-hook.ActsAfter.Min()+min(after, left))
	case app.ReadinessFails:
		return min(left, after)
	default:
		return 0
	}
}

// late says that a node which sends what comes to it to its own pods only is without one, or sends to one that does not accept any more, for as
// long as it takes until readiness is seen: that of a DaemonSet's new pod, where the old one has to go first, and that of a server that
// fails its readiness probe at SIGTERM and does not accept for so long.
func (t *target) late() bool {
	if !t.local() {
		return false
	}
	_, unavailable := t.w.Fenceposts()
	return t.isDaemon() && unavailable > 0 || t.w.App.ClosesUnseen(t.container().ReadinessProbe)
}

// local says that a Service before the workload has nodes send to their own pods only.
func (t *target) local() bool {
	for i := range t.sc.Services {
		svc := t.sc.Services[i].Service
		if svc.Namespace != t.w.Namespace() || !world.Selects(svc, t.w.Template().Labels) {
			continue
		}
		internal := svc.Spec.InternalTrafficPolicy
		if svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal || internal != nil && *internal == corev1.ServiceInternalTrafficPolicyLocal {
			return true
		}
	}
	return false
}
