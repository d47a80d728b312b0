package sim

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// watch opens the books of a run. They are kept in every run: what they notice is a fault of
// the simulator, never of the scenario.
func (r *run) watch() {
	promises := make([]check.Promise, len(r.sc.Traffic))
	for i := range r.sc.Traffic {
		promises[i] = promise(&r.sc.Traffic[i])
	}
	r.books.Open(promises)
	r.ledger.Listen(r.books)
	if r.opts.Requests != nil {
		r.ledger.Listen(both{r.books, r.opts.Requests})
	}
	r.found = make([]found, len(r.sc.Traffic)*len(r.sc.Nodes))
	differ := make([]bool, len(r.sc.Traffic))
	for i := range differ {
		_, differ[i], _ = r.inForce(i, 0) // by policy Local: else only the slices matter
	}
	r.seen = make([]map[uint64]*seen, len(differ))
	for i, own := range differ {
		if !own {
			r.seen[i] = map[uint64]*seen{}
		}
	}
	r.flows = check.NewFlows(differ, len(r.sc.Nodes), r.inForce)
}

// promise is what a stream's clients do at most: so many attempts, each with its timeout and
// the round trip that brings the bad news.
func promise(t *world.Traffic) check.Promise {
	p := check.Promise{Name: t.Name, Attempts: 1 + t.Retries}
	if t.KeepAlive && t.RepeatReused {
		p.Attempts += t.Clients
	}
	if t.Timeout > 0 {
		p.Within = engine.Time(p.Attempts) * (t.Timeout + externalRTT)
	}
	if proxy := proxyOf(t); proxy != nil {
		p.Attempts *= 1 + proxy.Retries
	}
	return p
}

// both has two listeners hear the same.
type both [2]ledger.Listener

// Begin is heard by both.
func (b both) Begin(stream int, number uint64, arrival engine.Time) {
	b[0].Begin(stream, number, arrival)
	b[1].Begin(stream, number, arrival)
}

// Counted is heard by both.
func (b both) Counted(stream int, first, n uint64) {
	b[0].Counted(stream, first, n)
	b[1].Counted(stream, first, n)
}

// AttemptFailed is heard by both.
func (b both) AttemptFailed(stream int) {
	b[0].AttemptFailed(stream)
	b[1].AttemptFailed(stream)
}

// Succeed is heard by both.
func (b both) Succeed(stream int, number, endpoint uint64, end engine.Time, rescued, late bool) {
	b[0].Succeed(stream, number, endpoint, end, rescued, late)
	b[1].Succeed(stream, number, endpoint, end, rescued, late)
}

// Revoke is heard by both.
func (b both) Revoke(stream int, number uint64, rescued, late bool) {
	b[0].Revoke(stream, number, rescued, late)
	b[1].Revoke(stream, number, rescued, late)
}

// Fail is heard by both.
func (b both) Fail(r *ledger.Request) {
	b[0].Fail(r)
	b[1].Fail(r)
}

// verify closes the books.
func (r *run) verify(settled bool) error {
	if r.broken != nil {
		return r.broken
	}
	if err := r.books.Close(r.ledger); err != nil {
		return err
	}
	if err := r.flows.Err(); err != nil {
		return err
	}
	if !settled {
		return nil
	}
	return r.cluster.Stuck()
}

// found remembers which targets have been checked under the slices in force on a node: the check
// costs the first connection to a target a look, and the rest a bit.
type found struct {
	view *nodeproxy.View
	seen *seen
}

// seen are the pods that were checked under one view, of all nodes that it is the same for.
type seen struct{ pods []bool }

// keptSeen bounds what is remembered of old views.
const keptSeen = 128

// seenUnder returns what has been checked under a view.
func (r *run) seenUnder(stream int, view *nodeproxy.View) *seen {
	common := r.seen[stream]
	if common == nil { // nodes differ
		return &seen{}
	}
	s := common[view.Number]
	if s == nil {
		if len(common) >= keptSeen {
			clear(common)
		}
		s = &seen{}
		common[view.Number] = s
	}
	return s
}

// add remembers a pod, and says whether it was remembered before.
func (s *seen) add(pod uint64) bool {
	for pod >= uint64(len(s.pods)) {
		s.pods = append(s.pods, make([]bool, pod+1)...)
	}
	was := s.pods[pod]
	s.pods[pod] = true
	return was
}

// Began has every new connection checked against the slices in force on its node.
func (nw *network) Began(stream, node, _ int, target *traffic.Target) {
	if nw.opts.Events.Hears(event.Flow) {
		nw.tellFlow(stream, node, target)
	}
	nw.allowed(stream, node, target)
}

// allowed checks a target, nil for nowhere, against the slices in force on a node.
func (nw *network) allowed(stream, node int, target *traffic.Target) {
	view := nw.cluster.Proxies[node].Installed()
	f := &nw.found[stream*len(nw.sc.Nodes)+node]
	if f.view != view {
		*f = found{view, (*run)(nw).seenUnder(stream, view)}
	}
	if target == nil {
		nw.flows.Began(stream, node, view.Number, netip.AddrPort{})
		return
	}
	if !f.seen.add(target.Server.ID()) {
		nw.flows.Began(stream, node, view.Number, target.Addr)
	}
}

func (nw *network) tellFlow(stream, node int, target *traffic.Target) {
	var to netip.AddrPort
	if target != nil {
		to = target.Addr
	}
	nw.opts.Events.Tell(event.Event{Kind: event.Flow, Pod: -1, Node: node, Stream: stream, To: to})
}

// inForce returns what the slices in force on a node say of a stream's Service port, and how
// the Service's own fields ask for them to be used. It follows nothing that was derived from
// either. The list is overwritten at the next call.
func (r *run) inForce(stream, node int) (list []check.Endpoint, local, fallback bool) {
	t := r.sc.Traffic[stream].ClientSide()
	options := r.sc.Kubernetes.Options
	list = r.listed[:0]
	for i := range r.sc.Services {
		spec, name := &r.sc.Services[i].Service.Spec, r.sc.Services[i].Service.ObjectMeta
		if name.Namespace+"/"+name.Name != t.Service {
			continue
		}
		externalLocal := spec.Type != corev1.ServiceTypeClusterIP && spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
		internalLocal := options.InternalTrafficPolicy && spec.InternalTrafficPolicy != nil && *spec.InternalTrafficPolicy == corev1.ServiceInternalTrafficPolicyLocal
		local = t.External && externalLocal || !t.External && internalLocal
		fallback = options.TerminatingFallback == endpoints.FallbackAll ||
			options.TerminatingFallback == endpoints.FallbackExternalLocal && externalLocal && local
		svc := r.cluster.Proxies[node].Installed().Snapshot.Service(endpoints.ServiceName{Namespace: name.Namespace, Name: name.Name})
		if svc == nil {
			continue
		}
		for p := range svc.Ports {
			if int(svc.Ports[p].Port) != t.Port || svc.Ports[p].Name.Protocol != t.Protocol || svc.Ports[p].Family != endpoints.IPv4 {
				continue
			}
			list = slices.Grow(list, len(svc.Ports[p].Endpoints))
			for _, e := range svc.Ports[p].Endpoints {
				list = append(list, check.Endpoint{
					Addr: e.Addr, Local: e.NodeName == r.sc.Nodes[node].Name,
					Ready: e.Conditions.Ready(), Serving: e.Conditions.Serving(), Terminating: e.Conditions.Terminating(),
				})
			}
		}
	}
	r.listed = list
	return list, local, fallback
}
