package cluster

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const gateOne, gateTwo = "example.com/one", "example.com/two"

// gated is a build whose pods have readiness gates; a pod that starts has them closed.
func (b build) gated(gates ...string) build {
	for _, g := range gates {
		b.d.Spec.Template.Spec.ReadinessGates = append(b.d.Spec.Template.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(g)})
	}
	return b
}

func (w *testWorld) gate(at engine.Time, target, gate string, open bool) {
	w.do(at, "setGate", target, fmt.Sprintf("%s=%v", gate, open))
}

// Pods that run have their gates open; a new one is ready when its containers are and every gate
// is open, the first as little as the second, and not ready any more when one closes.
func TestReadinessGates(t *testing.T) {
	t.Parallel()
	b := newBuild(1).gated(gateOne, gateTwo).strategy("1", "0")
	b.container().ReadinessProbe = probe(0, 1, 1, 1)
	w := b.app(func(a *world.App) { a.Start = engine.Constant(2 * sec) }).start(t, 1)
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.gate(20*sec, "web#1", gateOne, true)
	w.gate(30*sec, "web#1", gateTwo, true)
	w.run(29 * sec)
	if p := as[*api.Pod](w.store.Get(api.PodKey(1))); p.Ready || !p.ContainersReady {
		t.Errorf("with one of two gates open: %+v", *p)
	}
	w.run(35 * sec)
	w.gate(60*sec, "web", gateTwo, false)
	w.run(70 * sec)
	w.want("r1 0 running ready=true deleting=false", "30 r1 0 running ready=true deleting=false restarts=0", "60 r1 0 running ready=true deleting=false restarts=0")
	if p := as[*api.Pod](w.store.Get(api.PodKey(1))); p.Ready || !p.ContainersReady || len(p.ClosedGates()) != 1 {
		t.Errorf("with a gate closed: %+v", *p)
	}
}

// The rollout waits for the gate: the old pod is deleted when the new one is ready, not when its
// containers are.
func TestRolloutWaitsForTheGate(t *testing.T) {
	t.Parallel()
	w := newBuild(1).gated(gateOne).strategy("1", "0").start(t, 1)
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.gate(100*sec, "web#1", gateOne, true)
	w.run(90 * sec)
	if !strings.Contains(w.Unrest(), "new pod 0 of default/web waits for its readiness gate example.com/one, which nothing in this input sets") {
		t.Errorf("%q", w.Unrest())
	}
	w.run(200 * sec)
	if at := w.when("r0 0 running ready=true deleting=true"); at != 100*sec {
		t.Errorf("deleted at %s", at.Seconds())
	}
}

// Something that is not in the input sets the gates that nothing in it sets, some time after the pod's containers are ready: the
// rollout waits that long, and is not stuck. A gate that an action sets waits for the action.
func TestWhatIsNotInTheInputSetsAGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		after, want engine.Time
		action      bool
	}{{2 * sec, 12 * sec, false}, {22 * sec, 32 * sec, false}, {2 * sec, 100 * sec, true}} {
		b := newBuild(1).gated(gateOne).strategy("1", "0")
		after := engine.Constant(c.after)
		b.Keeper = world.Keeper{After: &after}
		act := world.Action{At: 100 * sec, Operation: world.SetGate{Pods: world.Pods{Workload: "default/web", Number: 1}, Gate: gateOne, Open: true}}
		if c.action {
			b.Actions = []world.Action{act}
		}
		w := b.start(t, 1)
		w.pods()
		w.do(10*sec, "rolloutRestart", "web", "")
		if c.action {
			w.gate(100*sec, "web#1", gateOne, true)
		}
		w.run(11 * sec)
		if words := w.Unrest(); strings.Contains(words, "which nothing in this input sets") != c.action {
			t.Errorf("%q", words)
		}
		w.run(200 * sec)
		if at := w.when("r0 0 running ready=true deleting=true"); at < c.want || at > c.want+sec { // at the relist at the latest
			t.Errorf("%+v: deleted at %s", c, at.Seconds())
		}
	}
}

// Each hop on the way from the controller's write to the slice takes its time: the write 10 ms,
// the kubelet's watch 20 ms, its status 30 ms, the EndpointSlice controller's watch 20 ms, its
// reaction 40 ms and its write 10 ms: 130 ms in all, and 143 ms were one of each 10 % slower.
func TestTheWayOfAGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slower engine.Time // of a hundred
		want   engine.Time
	}{{100, 130 * ms}, {110, 143 * ms}} {
		b := newBuild(1).gated(gateOne)
		d := func(t engine.Time) engine.Dist { return engine.Constant(t * c.slower / 100) }
		b.Latency = world.Latencies{APIWrite: d(10 * ms), Watch: d(20 * ms), StatusWrite: d(30 * ms), SliceController: d(40 * ms)}
		w := b.start(t, 1)
		w.gate(10*sec, "web", gateOne, false)
		w.gate(20*sec, "web", gateOne, true)
		var ready engine.Time
		w.store.Subscribe("test", w.eng.Register("test"), engine.Dist{}, func(o api.Object) {
			if at := w.eng.Now(); at > 20*sec && len(as[*nodeproxy.SliceWrite](o).View.Snapshot.Changed()) > 0 {
				ready = at
			}
		}, api.KindSlices)
		w.run(30 * sec)
		if ready-20*sec != c.want {
			t.Errorf("%d %%: in the slice %s s after the order, want %s", c.slower, (ready - 20*sec).Seconds(), c.want.Seconds())
		}
	}
}

// A pod that is worked on waits for the next relist, as with any other reason to work on it.
func TestAGateWaitsForTheRelist(t *testing.T) {
	t.Parallel()
	w := newBuild(1).gated(gateOne).start(t, 1)
	w.gate(10*sec, "web", gateOne, false)
	w.gate(10*sec+100*ms, "web", gateOne, true) // the pod was worked on 100 ms ago
	w.pods()
	w.run(20 * sec)
	next := w.kubelets[0].NextRelist(10*sec + 100*ms)
	w.want("ready=", "10 r0 0 running ready=true deleting=false restarts=0", "10 r0 0 running ready=false deleting=false restarts=0",
		"10.1 r0 0 running ready=false deleting=false restarts=0", next.Seconds()+" r0 0 running ready=true deleting=false restarts=0")
}

// A load balancer's gate that pods have by injection, not by the manifest.
func TestInjectedGate(t *testing.T) {
	t.Parallel()
	lb := &world.LoadBalancer{Service: "default/web", ReadinessGate: "target-health.elbv2.k8s.aws/*", GateInjection: world.InjectAlways}
	for _, c := range []struct {
		name, service string
		injection     world.GateInjection
		template      []string
		want          string
	}{
		{"by the webhook", "default/web", world.InjectAlways, nil, "target-health.elbv2.k8s.aws/k8s-default-web-80"},
		{"beside another one", "default/web", world.InjectAlways, []string{gateOne}, gateOne + " target-health.elbv2.k8s.aws/k8s-default-web-80"},
		{"not twice", "default/web", world.InjectAlways, []string{"target-health.elbv2.k8s.aws/own"}, "target-health.elbv2.k8s.aws/own"},
		{"no webhook", "default/web", world.InjectNever, nil, ""},
		{"another Service's", "default/api", world.InjectAlways, nil, ""},
	} {
		b := newBuild(1).gated(c.template...)
		own := *lb
		own.GateInjection = c.injection
		b.Traffic = []world.Traffic{{Service: c.service, Port: 80, LB: &own}}
		p := as[*api.Pod](b.start(t, 1).store.Get(api.PodKey(0)))
		if got := strings.Join(p.Gates, " "); got != c.want || len(p.ClosedGates()) > 0 {
			t.Errorf("%s: %q, closed %v", c.name, got, p.ClosedGates())
		}
	}
}

// Who keeps a pod that could answer from being ready: the controller of its gate, the manifest
// with a gate that nobody sets, the kubelet that has not seen it open, or that is paused.
func TestWhoIsLateWithAGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		kept  string
		twist func(*testWorld)
		want  ledger.Actor
	}{
		{"a controller", gateOne, func(*testWorld) {}, ledger.LBController},
		{"nobody", gateTwo, func(*testWorld) {}, ledger.Spec},
		{"the kubelet, which has not heard", gateOne, func(w *testWorld) { w.gate(100*sec, "web", gateOne, true) }, ledger.Kubelet},
		{"the kubelet, which is paused", gateOne, func(w *testWorld) { w.do(100*sec, "component", "kubelet/node-1", "pause") }, ledger.Kubelet},
	} {
		b := newBuild(1).gated(gateOne)
		b.Traffic = []world.Traffic{{Service: "default/web", Port: 80, LB: &world.LoadBalancer{ReadinessGate: c.kept}}}
		hears := engine.Constant(60 * sec)
		b.Nodes[0].Watch = &hears
		w := b.start(t, 1)
		e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80})
		if !ok {
			t.Fatal("no entry")
		}
		w.gate(10*sec, "web", gateOne, false)
		c.twist(w)
		w.run(130 * sec)
		got := w.Judge(e, 0, netip.AddrPort{}, ledger.FaultRejected)
		if got.Cause != ledger.NoEndpoint || got.Actor != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
