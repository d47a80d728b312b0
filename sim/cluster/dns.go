package cluster

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
)

// nameServer is the cluster's DNS: for each headless Service the addresses of its ready
// endpoints, as of the slices that its watch has shown. It answers at once, with a TTL; what
// clients keep is theirs (docs/model/propagation.md 1.10; recalled). There is none without a
// headless Service.
type nameServer struct {
	records [][]netip.Addr // by service
}

func newNameServer(w *World) *nameServer {
	d := &nameServer{records: make([][]netip.Addr, len(w.services))}
	w.store.Subscribe("dns", w.eng.Register("dns"), w.sc.Latency.Watch, func(o api.Object) {
		if s, ok := o.(*nodeproxy.SliceWrite); ok && w.services[s.Service].headless {
			d.records[s.Service] = s.Records
		}
	}, api.KindSlices)
	return d
}

// anyHeadless says whether the cluster's DNS is of any importance.
func (w *World) anyHeadless() bool {
	return slices.ContainsFunc(w.services, func(s serviceInfo) bool { return s.headless })
}

// recordsOf are the addresses of the ready ones among some endpoints.
func recordsOf(list []endpointslice.Entry) []netip.Addr {
	var out []netip.Addr
	for i := range list {
		if list[i].Conditions.Ready() {
			out = append(out, list[i].IP)
		}
	}
	return out
}

// Resolve returns what the cluster's DNS says of a headless Service now, by ID of the pods, with
// the port that pods listen on.
func (w *World) Resolve(e Entry) []netip.AddrPort {
	var out []netip.AddrPort
	for _, a := range w.dns.records[e.service] {
		out = append(out, netip.AddrPortFrom(a, e.targetPort))
	}
	return out
}

// setHeadless fills in what is different about the Entry of a headless Service.
func (e *Entry) setHeadless(w *World, service int) {
	e.service, e.headless = service, w.services[service].headless
	for _, p := range w.sc.Services[service].Service.Spec.Ports {
		for _, q := range w.services[service].ports {
			if uint16(p.Port) == e.port && *q.Name == p.Name {
				e.targetPort = uint16(*q.Port)
			}
		}
	}
}

// staleName blames an attempt that went to an address from DNS, or to none: stale-dns where the
// API has no such ready pod any more, else what is wrong with the pod.
func (w *World) staleName(e Entry, target netip.AddrPort) (ledger.Cause, ledger.Actor) {
	settled := recordsOf(w.settledEndpoints(e.service))
	if slices.Contains(settled, target.Addr()) {
		return w.unreachable(target)
	}
	helps := func(list []netip.Addr) bool { return len(list) > 0 && !slices.Contains(list, target.Addr()) }
	switch {
	case len(settled) == 0:
		return ledger.StaleDNS, w.unnoticed(e, func(*kubelet.Instance) bool { return true })
	case !helps(recordsOf(w.slicesInAPI(e.service))):
		return ledger.StaleDNS, ledger.SliceController
	case !helps(w.dns.records[e.service]):
		return ledger.StaleDNS, ledger.Watch
	default:
		return ledger.StaleDNS, ledger.DNSCache
	}
}

func isHeadless(svc *corev1.Service) bool { return svc.Spec.ClusterIP == corev1.ClusterIPNone }

// dnsTTL is how long clients keep an answer: that of the Corefile that kubeadm writes (recalled).
const dnsTTL = 30 * engine.Second

// TTL is how long clients keep what Resolve says.
func (w *World) TTL() engine.Time { return dnsTTL }
