package cluster

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// slow has the slice controller take a second, so that what comes before its writes can be seen.
func (b build) slow() build {
	b.Latency.APIWrite, b.Latency.SliceController = engine.Constant(10*ms), engine.Constant(sec)
	return b
}

func (w *testWorld) entryOf(t *testing.T, external bool) Entry {
	t.Helper()
	e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80, External: external})
	if !ok {
		t.Fatal("no entry")
	}
	return e
}

// Rules go with their Service, whatever the slices say, and its slices go, too. To its address nothing answers then, and to its node port
// the node itself says no. One that is made again has no endpoints until its slices are written. Reference: docs/model/controllers.md 9.5.
func TestAServiceIsDeleted(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(2).slow().relabels(world.Action{At: 10 * sec, For: 10 * sec, Operation: world.DeleteService{Service: "default/web"}})
	b.svc.Spec.Type, b.svc.Spec.Ports[0].NodePort = corev1.ServiceTypeNodePort, 30080
	b.svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
	w := b.start(t, 1)
	for _, a := range b.Actions {
		w.at(a.At, func() { w.Do(a) })
		w.at(a.At+a.For, func() { w.Undo(a) })
	}
	inside, outside := w.entryOf(t, false), w.entryOf(t, true)
	want := func(at engine.Time, in, out packet.Verdict, slices int) {
		t.Helper()
		w.run(at)
		if a, b := w.Enter(inside, 0), w.Enter(outside, 0); a.Verdict != in || b.Verdict != out || len(w.ids()) != slices {
			t.Errorf("at %s s: inside %v, outside %v, %d endpoints", at.Seconds(), a.Verdict, b.Verdict, len(w.ids()))
		}
	}
	want(10*sec, packet.Endpoints, packet.Endpoints, 2)
	want(12*sec, packet.None, packet.Reject, 0)
	if cause, actor := w.cause(inside, 0, netip.AddrPort{}, ledger.FaultDropped); cause != ledger.ServiceChanged || actor != ledger.Spec || w.elsewhere(inside, netip.AddrPort{}) || w.lag() != "" {
		t.Errorf("%s, %s; %q", cause, actor, w.lag())
	}
	want(20*sec+500*ms, packet.Reject, packet.Reject, 0)
	if cause, actor := w.cause(inside, 0, netip.AddrPort{}, ledger.FaultRejected); cause != ledger.ServiceChanged || actor != ledger.SliceController {
		t.Errorf("made again: %s, %s", cause, actor)
	}
	want(30*sec, packet.Endpoints, packet.Endpoints, 2)
	if s := w.Unrest(); s != "" || w.lag() != "" {
		t.Errorf("%q, %q", s, w.lag())
	}
}

// A port of another number is another port: the one of before leads nowhere as soon as a proxy knows, before any slice is written. In mode
// nftables the address refuses it, in mode iptables nothing answers. The node port stays. Reference: docs/model/controllers.md 9.5.
func TestAPortOfAServiceChanges(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(2).mode(1, "iptables").slow().relabels(world.Action{At: 10 * sec, Operation: world.SetPort{Service: "default/web", Port: 80, Protocol: corev1.ProtocolTCP, To: 81}})
	w := b.acts(t)
	e := w.entryOf(t, false)
	w.run(20 * sec)
	if a, b := w.Enter(e, 0).Verdict, w.Enter(e, 1).Verdict; a != packet.Reject || b != packet.None {
		t.Errorf("the port of before: %v, %v", a, b)
	}
	if cause, actor := w.cause(e, 0, netip.AddrPort{}, ledger.FaultRejected); cause != ledger.ServiceChanged || actor != ledger.Spec || w.elsewhere(e, netip.AddrPort{}) {
		t.Errorf("%s, %s", cause, actor)
	}
	e.port = 81
	if d := w.Enter(e, 0); d.Verdict != packet.Endpoints || len(d.Targets) != 2 || !w.offers(e) || w.lag() != "" {
		t.Errorf("the new one: %+v, %q", d, w.lag())
	}
}

// Another target port has each slice written anew, over the one that was, so that there is no gap; its pods answer there if they listen.
// Reference: docs/model/controllers.md 9.5.
func TestATargetPortChanges(t *testing.T) {
	t.Parallel()
	to := world.SetPort{Service: "default/web", Port: 80, Protocol: corev1.ProtocolTCP, Target: 9090}
	byName := to
	byName.Target, byName.TargetName = 0, "admin"
	for _, c := range []struct {
		o        world.SetPort
		declared bool
	}{{to, false}, {to, true}, {byName, true}} {
		b, declared := newBuild(150).nodes(1).slow().relabels(world.Action{At: 10 * sec, Operation: c.o}), c.declared
		if declared {
			b.container().Ports = append(b.container().Ports, corev1.ContainerPort{Name: "admin", ContainerPort: 9090})
		}
		w := b.acts(t)
		e := w.entryOf(t, false)
		w.run(10*sec + 500*ms)
		if d := w.Enter(e, 0); len(d.Targets) != 150 || d.Targets[0].Addr.Port() != 8080 || w.lag() == "" {
			t.Errorf("before: %d targets, %q", len(d.Targets), w.lag())
		}
		w.run(20 * sec)
		d := w.Enter(e, 0)
		if len(d.Targets) != 150 || d.Targets[0].Addr.Port() != 9090 || d.Targets[149].Addr.Port() != 9090 || w.lag() != "" {
			t.Fatalf("%d targets, %+v, %q", len(d.Targets), d.Targets[0], w.lag())
		}
		i := w.Instance(d.Targets[0].Addr.Addr())
		cause, actor := w.unreachable(d.Targets[0].Addr)
		if w.Listens(i, 9090) != declared || !w.Listens(i, 8080) || !declared && (cause != ledger.ServiceChanged || actor != ledger.Spec) {
			t.Errorf("declared %v: listens %v, %s, %s", declared, w.Listens(i, 9090), cause, actor)
		}
	}
}

// A Service whose selector is changed to one that no pod has is to blame, and not its pods, which are ready; one that selects them still is not. Reference: docs/model/controllers.md 9.1 Removing the label.
func TestAServiceThatSelectsNoPod(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"nobody": true, "web": false} {
		b := newBuild(2).nodes(2).relabels(world.Action{At: 10 * sec, Operation: world.SetSelector{Service: "default/web", Selector: map[string]string{"app": value}}})
		w := b.acts(t)
		w.run(20 * sec)
		if cause, actor := w.cause(w.entryOf(t, false), 0, netip.AddrPort{}, ledger.FaultRejected); (cause == ledger.ServiceChanged) != want || want && actor != ledger.Spec {
			t.Errorf("%s: %s, %s", value, cause, actor)
		}
	}
}
