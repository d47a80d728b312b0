package conntrack

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Flow is what matters of the kernel's entry of a UDP flow.
type Flow struct {
	To     netip.AddrPort // where the client sent it
	Server netip.AddrPort // who answers: what To was translated to, or To
}

// judge says which flows are stale.
type judge struct {
	now *plan.Plan // in force
	// before holds the Plans that were, since the last time that all stale flows were deleted.
	before []*plan.Plan
	// local holds addresses that are the node's beside those it is known by, sorted.
	local []netip.Addr
	known map[portOf]map[netip.AddrPort]bool
}

// portOf is a service port in a family.
type portOf struct {
	name   endpoints.ServicePortName
	family endpoints.IPFamily
}

func newJudge(now *plan.Plan, before []*plan.Plan, local []netip.Addr) *judge {
	local = slices.SortedFunc(slices.Values(local), netip.Addr.Compare)
	return &judge{now: now, before: before, local: local, known: map[portOf]map[netip.AddrPort]bool{}}
}

// stale says whether the rules would not let the flow go where it goes.
func (j *judge) stale(f Flow) bool {
	if fe := j.frontend(j.now, f.To); fe != nil {
		return !j.serving(fe)[f.Server]
	}
	if f.Server == f.To {
		return false // nobody translated it, so it was none of the rules' business
	}
	// Its endpoint is gone. Other rules may translate, too: only what was a Service's.
	return slices.ContainsFunc(j.before, func(p *plan.Plan) bool { return j.frontend(p, f.To) != nil })
}

// frontend returns what leads from an address and port to a Service, nil if nothing does.
func (j *judge) frontend(p *plan.Plan, to netip.AddrPort) *plan.Frontend {
	if fe := p.Frontend(plan.Key{Addr: to.Addr(), Protocol: endpoints.UDP, Port: to.Port()}); fe != nil {
		return fe
	}
	if !j.acceptsNodePorts(p.Node(), to.Addr()) {
		return nil
	}
	return p.Frontend(plan.NodePortKey(endpoints.FamilyOf(to.Addr()), endpoints.UDP, to.Port()))
}

// acceptsNodePorts says whether an address is one on which node ports answer. Without ranges all of
// the machine's are, also those that the Node object does not have.
func (j *judge) acceptsNodePorts(node *plan.Node, a netip.Addr) bool {
	if node.AcceptsNodePorts(a) {
		return true
	}
	if _, local := slices.BinarySearchFunc(j.local, a, netip.Addr.Compare); !local || a.IsLoopback() {
		return false
	}
	ranges := node.NodePortRanges(endpoints.FamilyOf(a))
	return ranges == nil || slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return r.Contains(a) })
}

// serving returns the endpoints at which flows to a frontend may stay.
func (j *judge) serving(fe *plan.Frontend) map[netip.AddrPort]bool {
	key := portOf{fe.Service, fe.Family()}
	set, ok := j.known[key]
	if ok {
		return set
	}
	set = map[netip.AddrPort]bool{}
	for _, sp := range udpPorts(j.now.Service(fe.Service.ServiceName)) {
		if sp.Name != key.name || sp.Family != key.family {
			continue
		}
		for i := range sp.Endpoints {
			if serves(&sp.Endpoints[i]) {
				set[sp.Endpoints[i].Addr] = true
			}
		}
	}
	j.known[key] = set
	return set
}

// serves says whether flows may stay at an endpoint.
func serves(e *endpoints.Endpoint) bool { return e.Conditions.Ready() || e.Conditions.Serving() }

// udpPorts returns a Service's UDP ports, of both families; none of nil.
func udpPorts(s *plan.Service) []*endpoints.ServicePort {
	if s == nil {
		return nil
	}
	var out []*endpoints.ServicePort
	ports := s.Source().Ports
	for i := range ports {
		if ports[i].Name.Protocol == endpoints.UDP {
			out = append(out, &ports[i])
		}
	}
	return out
}

// mayLeaveStale says whether the change of a Service may have made flows stale; either may be nil.
// kube-proxy looks whenever an endpoint of a Service with a UDP port changed.
func mayLeaveStale(old, now *plan.Service) bool {
	before, after := udpPorts(old), udpPorts(now)
	if len(before) == 0 && len(after) == 0 {
		return false
	}
	if !slices.Equal(udpKeys(old), udpKeys(now)) || len(before) != len(after) {
		return true // addresses that came, with flows from before, or went
	}
	for i := range before {
		if before[i].Name != after[i].Name || before[i].Family != after[i].Family || lost(before[i], after[i]) {
			return true
		}
	}
	return false
}

// lost says whether a port has lost an endpoint at which flows may be, or got its first, without
// which its flows were not translated.
func lost(old, now *endpoints.ServicePort) bool {
	serving := map[netip.AddrPort]bool{}
	for i := range now.Endpoints {
		if serves(&now.Endpoints[i]) {
			serving[now.Endpoints[i].Addr] = true
		}
	}
	had := 0
	for i := range old.Endpoints {
		if !serves(&old.Endpoints[i]) {
			continue
		}
		had++
		if !serving[old.Endpoints[i].Addr] {
			return true
		}
	}
	return had == 0 && len(serving) > 0
}

// udpKeys returns the addresses and ports that lead to a Service over UDP, in the Service's order.
func udpKeys(s *plan.Service) []plan.Key {
	if s == nil {
		return nil
	}
	var out []plan.Key
	for i := range s.Frontends {
		if k := s.Frontends[i].Key; k.Protocol == endpoints.UDP {
			out = append(out, k)
		}
	}
	return out
}
