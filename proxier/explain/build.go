package explain

import (
	"iter"
	"net/netip"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Build explains the Services of a snapshot that keep lets through (nil: all) as the node
// sees them. The node's Options have to be the profile's.
func Build(snap *endpoints.Snapshot, node *plan.Node, profile endpoints.Profile, keep func(endpoints.ServiceName) bool) *Explanation {
	return BuildServices(snap.Services(), node, profile, keep, func() bool { return false })
}

// BuildServices is Build for Services that come from elsewhere, such as those of a Plan in force. They have to be in
// name order. Before each port it asks whether nobody waits for the answer any more: then there is none, nil.
func BuildServices(services iter.Seq[*endpoints.Service], node *plan.Node, profile endpoints.Profile,
	keep func(endpoints.ServiceName) bool, ended func() bool,
) *Explanation {
	x := &Explanation{
		APIVersion: APIVersion, Kind: "Explanation",
		Node: node.Name, Zone: node.Zone,
		KubernetesVersion: profile.Version.String(), Mode: node.Dialect.String(),
		TerminatingFallback: node.Options.TerminatingFallback.String(),
		WhatIf:              orEmpty(profile.WhatIf), Notes: orEmpty(profile.Notes),
		Services: []Service{}, NotProxied: []NotProxied{},
	}
	var decisions []endpoints.Decision
	for svc := range services {
		if keep != nil && !keep(svc.Name) {
			continue
		}
		b := newBuilder(svc, node)
		for i := range svc.Ports {
			if ended() {
				return nil
			}
			decisions = decisions[:0]
			x.Services = append(x.Services, b.port(i, &decisions))
		}
	}
	return x
}

// builder explains one Service, port by port. What is the same for all ports is computed once: a Service may have thousands.
type builder struct {
	svc    *endpoints.Service
	node   *plan.Node
	health [2]*HealthPort  // by family, nil for none
	plan   []plan.Frontend // what leads to the port that is being explained
}

func newBuilder(svc *endpoints.Service, node *plan.Node) *builder {
	b := &builder{svc: svc, node: node}
	for _, f := range endpoints.Families() {
		b.health[f] = b.healthPort(f)
	}
	return b
}

func (b *builder) port(i int, scratch *[]endpoints.Decision) Service {
	sp := &b.svc.Ports[i]
	b.plan = plan.ForPort(sp, b.node)
	info := endpoints.NodeInfo{Name: b.node.Name, Zone: b.node.Zone}
	sel, decisions := endpoints.Decide(sp, info, b.node.Options, *scratch)
	*scratch = decisions
	out := Service{
		Service: sp.Name.ServiceName.String(), Port: sp.Name.Port, PortNumber: int(sp.Port),
		Protocol: sp.Name.Protocol.String(), IPFamily: sp.Family.String(), Type: sp.Type,
		ClusterIP: sp.ClusterIP.String(), LoadBalancerIPs: addrs(sp.LoadBalancerIPs),
		ExternalIPs: addrs(sp.ExternalIPs), NodePort: int(sp.NodePort), LoadBalancerSourceRanges: prefixes(b.ranges(sp)),
		InternalTrafficPolicy: sp.InternalPolicy.String(),
		TopologyMode:          sel.Topology.String(),
		Cluster:               listOf(sp, &sel.Cluster), Local: listOf(sp, &sel.Local),
		Reachable:           addrPorts(sp, sel.Reachable),
		HasAnyEndpoints:     sel.HasAny,
		UsesTerminating:     UsesTerminating{sel.Cluster.Fallback, sel.Local.Fallback},
		HealthCheckNodePort: b.health[sp.Family],
	}
	if sp.ExternallyAccessible() {
		out.ExternalTrafficPolicy = sp.ExternalPolicy.String()
	}
	out.Traffic = b.traffic(sp)
	w := newWhy(sp, b.node.Name, sel.Topology)
	out.Decisions = make([]Decision, len(sp.Endpoints))
	for j := range sp.Endpoints {
		out.Decisions[j] = w.decision(j, decisions[j])
	}
	out.Remarks = b.remarks(i)
	return out
}

func (b *builder) healthPort(family endpoints.IPFamily) *HealthPort {
	h, ok := healthcheck.ServiceOf(b.svc, family, b.node.Name, b.node.Options)
	if !ok {
		return nil
	}
	a := healthcheck.ServiceAnswer(h, true, b.node.Options)
	return &HealthPort{Port: int(h.Port), LocalEndpoints: h.LocalEndpoints, Status: a.Status}
}

// ranges are those that a caller of the port's load-balancer IPs has to be in, nil where everybody may call them. Which those are, and whether
// they bind at all, is the plan's to say: without a usable endpoint iptables mode has no rule for them.
func (b *builder) ranges(sp *endpoints.ServicePort) []netip.Prefix {
	for i := range b.plan {
		if f := &b.plan[i]; f.Kind == plan.LoadBalancerIP && f.Allowed != nil {
			return sp.SourceRanges
		}
	}
	return nil
}

// traffic lists the routes of the port: to its ClusterIP, and to its external addresses if
// it has any, which all have the same.
func (b *builder) traffic(sp *endpoints.ServicePort) []Traffic {
	out := []Traffic{}
	for _, to := range []struct {
		name     string
		external bool
		sources  []plan.Source
	}{
		{"external", true, []plan.Source{plan.FromOutside, plan.FromPod, plan.FromNode}},
		{"clusterIP", false, []plan.Source{plan.FromPod, plan.FromNode, plan.FromOutside}},
	} {
		f := frontendOf(b.plan, to.external)
		if f == nil {
			continue
		}
		for _, source := range to.sources {
			if source == plan.FromPod && !b.node.Detector.Implemented(sp.Family) {
				continue // without a detector no packet counts as a pod's
			}
			out = append(out, trafficOf(f, source, to.name))
		}
	}
	return out
}

func trafficOf(f *plan.Frontend, source plan.Source, to string) Traffic {
	r := f.Routes[source]
	t := Traffic{From: source.String(), To: to, Action: r.Action.String(), Endpoints: []string{}, Masquerade: r.Masquerade, Why: r.Why.String()}
	if r.Action == plan.Forward {
		t.List = r.List.String()
		for _, target := range f.Lists.Of(r.List) {
			t.Endpoints = append(t.Endpoints, target.Addr.String())
		}
	}
	return t
}

// frontendOf returns one of a port's frontends: its ClusterIP, or any external one, nil when it
// has none. All external frontends of a port route alike.
func frontendOf(port []plan.Frontend, external bool) *plan.Frontend {
	for i := range port {
		if port[i].Kind.External() == external {
			return &port[i]
		}
	}
	return nil
}

func listOf(sp *endpoints.ServicePort, l *endpoints.List) []string {
	if !l.Used {
		return nil
	}
	return addrPorts(sp, l.Index)
}

func addrPorts(sp *endpoints.ServicePort, index []int32) []string {
	out := make([]string, len(index))
	for i, j := range index {
		out[i] = sp.Endpoints[j].Addr.String()
	}
	return out
}

func addrs(list []netip.Addr) []string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.String()
	}
	return out
}

func prefixes(list []netip.Prefix) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return out
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
