package cluster

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Rules of a node that has not heard of a Service match nothing. One that has heard of the Service refuses at a port that it does not know (mode nftables).
func TestRulesWithoutAServiceMatchNothing(t *testing.T) {
	t.Parallel()
	w := newBuild(2).start(t, 1)
	known, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80})
	if !ok {
		t.Fatal("no entry")
	}
	service, port := known, known
	service.name.Name = "unheard"
	port.port++
	for e, want := range map[*Entry]packet.Verdict{&known: packet.Endpoints, &service: packet.None, &port: packet.Reject} {
		if d := w.Enter(*e, 0); d.Verdict != want || (len(d.Targets) > 0) != (want == packet.Endpoints) {
			t.Errorf("%+v: %v with %d targets, want %v", *e, d.Verdict, len(d.Targets), want)
		}
	}
}

// A request could have been answered by another pod that is ready, or that listens at all where the Service publishes such pods,
// too: not by the one it went to, by one that does not listen, by one that is deleted, nor by one whose every answer is an error.
func TestWhoElseCouldHaveAnswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		publish, ready, listens, errs, deleted bool
		want                                   bool
	}{
		"the other one is ready":                             {false, true, true, false, false, true},
		"it is not ready":                                    {false, false, true, false, false, false},
		"it is not ready, and published":                     {true, false, true, false, false, true},
		"it does not listen":                                 {false, true, false, false, false, false},
		"it does not listen, and is published":               {true, false, false, false, false, false},
		"it answers with errors":                             {false, true, true, true, false, false},
		"it answers with errors, is not ready but published": {true, false, true, true, false, false},
		"it is deleted, and Ready as long as its hook takes": {false, true, true, false, true, false},
		"it is deleted, and published":                       {true, true, true, false, true, true},
	} {
		b := newBuild(2)
		b.svc.Spec.PublishNotReadyAddresses = c.publish
		if c.errs {
			b.app(func(a *world.App) { a.Errors = everyRequest })
		}
		w := b.start(t, 1)
		e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80})
		if !ok {
			t.Fatal("no entry")
		}
		asked, other := w.PodInstance(0), w.PodInstance(1)
		w.countUsable(0, 1, c.ready)
		other.Listening = c.listens
		if p, ok := w.store.Get(api.PodKey(1)).(*api.Pod); ok && c.deleted {
			p.DeletedAt = w.eng.Now()
		}
		if got := w.elsewhere(e, netip.AddrPortFrom(asked.IP, 8080)); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// Clients of a headless Service go to the pods' port behind the port that they ask for, of several.
func TestWhichPortOfPodsIsBehindAHeadlessService(t *testing.T) {
	t.Parallel()
	for headless, ip := range map[bool]string{true: corev1.ClusterIPNone, false: "10.96.0.1"} {
		b := newBuild(1)
		b.svc.Spec.ClusterIP, b.svc.Spec.ClusterIPs = ip, []string{ip}
		b.svc.Spec.Ports = []corev1.ServicePort{
			{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)},
			{Name: "admin", Port: 81, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(9090)},
		}
		w := b.start(t, 1)
		for port, want := range map[int]uint16{80: 8080, 81: 9090} {
			if e, ok := w.Entry(world.Traffic{Service: "default/web", Port: port}); !ok || e.headless != headless || e.targetPort != want {
				t.Errorf("headless %v, port %d: %v, %+v", headless, port, ok, e)
			}
		}
	}
}
