package cluster

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
)

// pinning finds who keeps a flow over UDP with an endpoint that does not answer: the first stage
// on the way to the node's clean-up that has not heard that the endpoint does not serve. That
// is told by the kubelet, when the pod has ended: before, the blame is unsaid. Without another
// endpoint that serves there is no clean-up, and nobody is late.
func (w *World) pinning(e Entry, node int, target netip.AddrPort, unsaid ledger.Actor) ledger.Actor {
	p := w.Proxies[node]
	among, some := servingIn(e, w.settledView(), target)
	cleans := func(v *nodeproxy.View) bool {
		if v == nil {
			return false
		}
		among, some := servingIn(e, v, target)
		return some && !among
	}
	switch {
	case among:
		return unsaid
	case !some:
		return ledger.Spec
	case !cleans(w.views.Last):
		return ledger.SliceController
	case !cleans(p.Received()):
		return ledger.Watch
	case !cleans(p.Syncing()):
		return ledger.ProxyWait
	default:
		return ledger.ProxySync
	}
}

// servingIn says whether a target is among the endpoints of a port that serve, and whether there
// are any.
func servingIn(e Entry, v *nodeproxy.View, target netip.AddrPort) (among, some bool) {
	for _, s := range e.Endpoints(v) {
		if s.Conditions.Serving() {
			some = true
			among = among || s.Addr == target
		}
	}
	return among, some
}
