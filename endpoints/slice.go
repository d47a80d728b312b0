package endpoints

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// Slice is an EndpointSlice reduced to what selection reads. It is immutable.
type Slice struct {
	name    string
	service ServiceName
	family  IPFamily
	ports   []slicePort
	entries []SliceEndpoint
}

type slicePort struct {
	name     string
	protocol Protocol
	port     uint16
}

// SliceEndpoint is one endpoint of a Slice before it meets a port.
type SliceEndpoint struct {
	Addr       netip.Addr
	NodeName   string // "" when none is named
	Conditions Conditions
	Meta       *Meta // never nil, and nobody changes it
}

// ReadSlice reads an EndpointSlice, and says what in it cannot be used. It returns nil when no service proxy looks
// at it.
func ReadSlice(s *discoveryv1.EndpointSlice) (*Slice, []Problem) {
	p := problems{of: Problem{Kind: "EndpointSlice", Namespace: s.Namespace, Name: s.Name}}
	return convertSlice(s, &p), p.list
}

// With returns a Slice of the same Service, family and ports by another name and with other endpoints, for those who
// have no API object for each. The list is the Slice's from then on.
func (s *Slice) With(name string, list []SliceEndpoint) *Slice {
	next := *s
	next.name, next.entries = name, list
	return &next
}

// convertSlice reads an EndpointSlice, or returns nil when no service proxy looks at it:
// headless, of type FQDN, or without a Service's name.
func convertSlice(s *discoveryv1.EndpointSlice, p *problems) *Slice {
	service := s.Labels[discoveryv1.LabelServiceName]
	if service == "" || hasLabel(s.Labels, corev1.IsHeadlessService) {
		return nil
	}
	out := &Slice{name: s.Name, service: ServiceName{s.Namespace, service}}
	switch s.AddressType {
	case discoveryv1.AddressTypeIPv4:
		out.family = IPv4
	case discoveryv1.AddressTypeIPv6:
		out.family = IPv6
	case discoveryv1.AddressTypeFQDN:
		return nil
	default:
		p.add("addressType", "%q is not IPv4, IPv6 or FQDN; the slice is skipped", s.AddressType)
		return nil
	}
	out.ports = slicePorts(s.Ports, p)
	out.entries = make([]SliceEndpoint, 0, len(s.Endpoints))
	var metas []Meta // that are free
	for i := range s.Endpoints {
		if len(metas) == 0 {
			metas = make([]Meta, min(len(s.Endpoints)-i, metasTogether))
		}
		if e, ok := out.entry(&s.Endpoints[i], &metas[0], i, p); ok {
			out.entries = append(out.entries, e)
		}
		metas = metas[1:]
	}
	return out
}

// metasTogether is how many share a piece of memory: of one over 512 bytes each pointer costs the garbage collector
// more than the pieces save.
const metasTogether = 5

// slicePorts drops ports with a nil name or a nil or zero number without a word, as
// kube-proxy does (they mean "all ports" to others), and impossible ones with one.
func slicePorts(ports []discoveryv1.EndpointPort, p *problems) []slicePort {
	out := make([]slicePort, 0, len(ports))
	for i, port := range ports {
		if port.Name == nil || port.Port == nil || *port.Port == 0 {
			continue
		}
		protocol, ok := protocolOf(port.Protocol)
		if !ok {
			p.add(path{"ports", i, "protocol"}.String(), "%q is not TCP, UDP or SCTP; the port is skipped", *port.Protocol)
			continue
		}
		number, ok := portNumber(*port.Port, false, path{"ports", i, "port"}, p)
		if ok {
			out = append(out, slicePort{name: *port.Name, protocol: protocol, port: number})
		}
	}
	return out
}

// entry reads one endpoint, the i-th of its slice, and puts what is printed of it into meta.
func (s *Slice) entry(e *discoveryv1.Endpoint, meta *Meta, i int, p *problems) (SliceEndpoint, bool) {
	if len(e.Addresses) == 0 {
		p.add(path{"endpoints", i, "addresses"}.String(), "an endpoint needs an address; it is skipped")
		return SliceEndpoint{}, false
	}
	addr, err := parseAddr(e.Addresses[0]) // kube-proxy reads no other
	what := ""
	switch {
	case err != nil:
		what = err.Error()
	case FamilyOf(addr) != s.family:
		what = fmt.Sprintf("%s is not an %s address, as the slice's addressType says", addr, s.family)
	case Unusable(addr, AsEndpoint) != "":
		what = fmt.Sprintf("%s is %s", addr, Unusable(addr, AsEndpoint))
	}
	if what != "" {
		p.add(path{"endpoints", i, "addresses[0]"}.String(), "%s; the endpoint is skipped", what)
		return SliceEndpoint{}, false
	}
	meta.Slice = s.name
	out := SliceEndpoint{Addr: addr, Conditions: conditionsOf(&e.Conditions), Meta: meta}
	if e.NodeName != nil {
		out.NodeName = *e.NodeName
	}
	if e.Zone != nil {
		out.Meta.Zone = *e.Zone
	}
	if e.TargetRef != nil && e.TargetRef.Kind == "Pod" {
		out.Meta.Pod = e.TargetRef.Name
	}
	if e.Hints != nil {
		for _, z := range e.Hints.ForZones {
			out.Meta.ForZones = append(out.Meta.ForZones, z.Name)
		}
		for _, n := range e.Hints.ForNodes {
			out.Meta.ForNodes = append(out.Meta.ForNodes, n.Name)
		}
	}
	return out, true
}

// conditionsOf reads nil as kube-proxy does: ready and serving nil are true, whatever the
// other conditions say; terminating nil is false.
func conditionsOf(c *discoveryv1.EndpointConditions) Conditions {
	var out Conditions
	if c.Ready == nil || *c.Ready {
		out |= Ready
	}
	if c.Serving == nil || *c.Serving {
		out |= Serving
	}
	if c.Terminating != nil && *c.Terminating {
		out |= Terminating
	}
	return out
}

// equal says whether two slices mean the same to selection, so that updates of
// annotations and the like wake nobody.
func (s *Slice) equal(o *Slice) bool {
	return s.name == o.name && s.service == o.service && s.family == o.family &&
		slices.Equal(s.ports, o.ports) && slices.EqualFunc(s.entries, o.entries, SliceEndpoint.equal)
}

func (e SliceEndpoint) equal(o SliceEndpoint) bool {
	return e.Addr == o.Addr && e.NodeName == o.NodeName && e.Conditions == o.Conditions && (e.Meta == o.Meta || e.Meta.equal(o.Meta))
}

// equal compares what is of importance to selection, or to people.
func (m *Meta) equal(o *Meta) bool {
	return m.Pod == o.Pod && m.Zone == o.Zone && slices.Equal(m.ForZones, o.ForZones) && slices.Equal(m.ForNodes, o.ForNodes)
}

// portKey is how a Service's port finds the ports of its slices.
type portKey struct {
	name     string
	protocol Protocol
	family   IPFamily
}

func (k portKey) compare(o portKey) int {
	if c := cmp.Compare(k.family, o.family); c != 0 {
		return c
	}
	if c := cmp.Compare(k.name, o.name); c != 0 {
		return c
	}
	return cmp.Compare(k.protocol, o.protocol)
}

// group is all endpoints that a service's slices offer under one port key, in the total
// order of ServicePort.Endpoints.
type group struct {
	key       portKey
	endpoints []Endpoint
	counts    census
	positions []int32 // of the endpoints, with more up to its capacity; groups share them
	digest
}

// census counts the endpoints of a group that have something which Select looks for.
type census struct{ zoneHints, nodeHints, terminating, unready, duplicates int }

// groupSlices collects the slices of one service, given in name order, by port key.
func groupSlices(list []*Slice) []group {
	var groups []group
	var at places[portKey]
	for _, s := range list {
		for _, port := range s.ports {
			key := portKey{port.name, port.protocol, s.family}
			known := at.of(key)
			if known < 0 {
				at.add(key)
				known = len(groups)
				groups = append(groups, group{key: key, endpoints: make([]Endpoint, 0, len(s.entries))})
			}
			g := &groups[known]
			g.endpoints = appendPort(g.endpoints, s.entries, port.port)
		}
	}
	sortGroups(groups)
	for i := range groups {
		groups[i].finish()
	}
	return groups
}

// sortGroups orders groups by their keys; those with equal ones keep their order. Mostly there is one.
func sortGroups(groups []group) {
	if len(groups) > 1 {
		sort.Stable(byKey(groups))
	}
}

// byKey is that order. It is no call of slices.SortStableFunc, for that is compiled again
// for each type, and the module of lameduck play is small.
type byKey []group

func (g byKey) Len() int           { return len(g) }
func (g byKey) Less(i, j int) bool { return g[i].key.compare(g[j].key) < 0 }
func (g byKey) Swap(i, j int)      { g[i], g[j] = g[j], g[i] }

// appendPort appends entries of a slice with one port.
func appendPort(list []Endpoint, entries []SliceEndpoint, port uint16) []Endpoint {
	for i := range entries {
		e := &entries[i]
		list = append(list, Endpoint{
			Addr: netip.AddrPortFrom(e.Addr, port), NodeName: e.NodeName, Meta: e.Meta, Conditions: e.Conditions,
		})
	}
	return list
}

// appendTo appends entries of a slice under one port key.
func (s *Slice) appendTo(list []Endpoint, entries []SliceEndpoint, key portKey) []Endpoint {
	for _, port := range s.ports {
		if key == (portKey{port.name, port.protocol, s.family}) {
			list = appendPort(list, entries, port.port)
		}
	}
	return list
}

func byAddr(a, b Endpoint) int { return a.Addr.Compare(b.Addr) }

// finish puts the endpoints in order and learns what Select may skip. The sort is stable:
// entries with equal addresses stay in slice order.
func (g *group) finish() {
	if !slices.IsSortedFunc(g.endpoints, byAddr) {
		slices.SortStableFunc(g.endpoints, byAddr)
	}
	g.counts = census{}
	for i := range g.endpoints {
		g.counts.add(&g.endpoints[i], 1)
		if i > 0 && g.endpoints[i-1].Addr == g.endpoints[i].Addr {
			g.counts.duplicates++
		}
	}
	g.learn()
}

// add counts an endpoint that comes, or with -1 goes.
func (c *census) add(e *Endpoint, n int) {
	if len(e.Meta.ForZones) > 0 {
		c.zoneHints += n
	}
	if len(e.Meta.ForNodes) > 0 {
		c.nodeHints += n
	}
	if e.Conditions.Terminating() {
		c.terminating += n
	}
	if !e.Conditions.Ready() {
		c.unready += n
	}
}

// traits are what the counts amount to.
func (c *census) traits() (t traits) {
	for _, is := range []struct {
		trait traits
		so    bool
	}{
		{hasDuplicates, c.duplicates > 0}, {hasZoneHints, c.zoneHints > 0}, {hasNodeHints, c.nodeHints > 0},
		{hasTerminating, c.terminating > 0}, {onlyReady, c.unready == 0},
	} {
		if is.so {
			t |= is.trait
		}
	}
	return t
}

// learn works the digest out: the endpoints are in order and counted.
func (g *group) learn() {
	n := len(g.endpoints)
	if cap(g.positions) < n {
		g.positions = make([]int32, n+n/8)
		for i := range g.positions {
			g.positions[i] = int32(i)
		}
	}
	g.positions = g.positions[:n]
	g.digest = digest{traits: g.counts.traits()}
	if n > 0 {
		g.all = g.positions[:n:n]
	}
}

// give hands the endpoints to a port.
func (g *group) give(sp *ServicePort) {
	sp.Endpoints, sp.digest = g.endpoints, g.digest
}
