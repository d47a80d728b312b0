package plan

import (
	"cmp"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/tidwall/btree"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Kind is what makes an address and port lead to a Service.
type Kind uint8

// The kinds, in the order in which they win when two Services claim the same address,
// protocol and port (upstream leaves that to map order): what the cluster allocates before
// what a load balancer reports before what a user may write.
const (
	ClusterIP Kind = iota
	LoadBalancerIP
	ExternalIP
	NodePort
)

// String returns "ClusterIP", "LoadBalancer IP", "external IP" or "node port".
func (k Kind) String() string {
	return [...]string{"ClusterIP", "LoadBalancer IP", "external IP", "node port"}[k]
}

// External says whether externalTrafficPolicy governs the kind.
func (k Kind) External() bool { return k != ClusterIP }

// Key is what a packet is matched by: destination address, protocol and port. The node
// ports of a family stand under its unspecified address, 0.0.0.0 or ::.
type Key struct {
	Addr     netip.Addr
	Protocol endpoints.Protocol
	Port     uint16
}

// NodePortKey returns the key of a node port.
func NodePortKey(family endpoints.IPFamily, protocol endpoints.Protocol, port uint16) Key {
	addr := netip.IPv4Unspecified()
	if family == endpoints.IPv6 {
		addr = netip.IPv6Unspecified()
	}
	return Key{addr, protocol, port}
}

// String returns "10.96.0.10:53/UDP".
func (k Key) String() string {
	return fmt.Sprintf("%s/%s", netip.AddrPortFrom(k.Addr, k.Port), k.Protocol)
}

// Compare orders keys by address, protocol and port.
func (k Key) Compare(o Key) int {
	if c := k.Addr.Compare(o.Addr); c != 0 {
		return c
	}
	if c := cmp.Compare(k.Protocol, o.Protocol); c != 0 {
		return c
	}
	return cmp.Compare(k.Port, o.Port)
}

// Action is what becomes of a new flow.
type Action uint8

// The actions.
const (
	Forward Action = iota // to an endpoint of the route's list
	Reject                // refuse at once
	Drop                  // swallow
)

// String returns "forward", "reject" or "drop".
func (a Action) String() string { return [...]string{"forward", "reject", "drop"}[a] }

// Why says how a route came about.
type Why uint8

// The reasons of a route.
const (
	ByPolicy           Why = iota // the traffic policy's own list
	ShortCircuit                  // externalTrafficPolicy Local does not apply to pods and the node itself
	NoEndpoints                   // nothing usable anywhere
	NoLocalEndpoints              // usable endpoints exist, but none on this node
	NoClusterEndpoints            // only with KEP-1669's alpha: the Local list falls back, this one does not
)

// String returns a stable code, such as "short-circuit".
func (w Why) String() string {
	return [...]string{"policy", "short-circuit", "no-endpoints", "no-local-endpoints", "no-cluster-endpoints"}[w]
}

// Hooks are the places of a node's packet path at which a filter rule is attached.
type Hooks uint8

// The hooks that service rules use.
const (
	Input      Hooks = 1 << iota // packets for the node itself
	Forwarding                   // packets passing through
	Output                       // packets the node sends
)

// Route is what becomes of new flows from one Source to one frontend.
type Route struct {
	Action Action
	Why    Why
	// List is where Forward picks, each endpoint with the same chance; it is not empty.
	List endpoints.ListKind
	// Masquerade rewrites the source to the node's address. Hairpin traffic is masqueraded
	// whatever this says, see Plan.Hairpin.
	Masquerade bool
	// Hooks limits Reject and Drop: a packet that passes none of them goes on untouched.
	Hooks Hooks
}

// Target is an endpoint as the rules need it.
type Target struct {
	Addr  netip.AddrPort
	Local bool // runs on this node
}

// Lists holds the endpoints of a service port that this node may use, in address order.
// Frontends of the same port share it.
type Lists struct {
	Cluster, Local []Target
	// ClusterFallback and LocalFallback say that nothing ready was in the list's scope and it
	// holds serving terminating endpoints (KEP-1669). Dataplanes need not care.
	ClusterFallback, LocalFallback bool
}

// Fallback says whether one of the lists fell back to serving terminating endpoints.
func (l *Lists) Fallback(kind endpoints.ListKind) bool {
	if kind == endpoints.LocalList {
		return l.LocalFallback
	}
	return l.ClusterFallback
}

// Of returns one of the lists.
func (l *Lists) Of(kind endpoints.ListKind) []Target {
	if kind == endpoints.LocalList {
		return l.Local
	}
	return l.Cluster
}

// Frontend is one address and port that leads to a service port. It is immutable.
type Frontend struct {
	Key     Key
	Kind    Kind
	Service endpoints.ServicePortName
	Routes  [numSources]Route // by Source
	Lists   *Lists            // never nil
	// Affinity is how long a client's choice is remembered, per Service port and client
	// address; 0 is not at all.
	Affinity time.Duration
	// Allowed limits who may talk to a load-balancer IP; others are dropped before anything
	// else is looked at. Nil admits everyone.
	Allowed []netip.Prefix
}

// Family returns the frontend's IP family.
func (f *Frontend) Family() endpoints.IPFamily { return endpoints.FamilyOf(f.Key.Addr) }

// Admits says whether a source may talk to the frontend.
func (f *Frontend) Admits(src netip.Addr) bool {
	return f.Allowed == nil || slices.ContainsFunc(f.Allowed, func(p netip.Prefix) bool { return p.Contains(src) })
}

// equal says whether two frontends ask for the same rules.
func (f *Frontend) equal(o *Frontend) bool {
	return f == o || f.Key == o.Key && f.Kind == o.Kind && f.Service == o.Service &&
		f.Routes == o.Routes && f.Affinity == o.Affinity && slices.Equal(f.Allowed, o.Allowed) &&
		slices.Equal(f.Lists.Cluster, o.Lists.Cluster) && slices.Equal(f.Lists.Local, o.Lists.Local)
}

// Port is what a node does for one service port in one family.
type Port struct {
	Name   endpoints.ServicePortName
	Family endpoints.IPFamily
	HasAny bool // some endpoint somewhere is usable
	Lists  *Lists
	// NoLocalInternal and NoLocalExternal say that a Local policy drops traffic here for
	// want of a local endpoint: what kubeproxy_sync_proxy_rules_no_local_endpoints_total counts.
	NoLocalInternal, NoLocalExternal bool
}

// equal says whether two ports ask for the same, their lists apart: frontends have those.
func (p *Port) equal(o *Port) bool {
	return p.Name == o.Name && p.Family == o.Family && p.HasAny == o.HasAny &&
		p.NoLocalInternal == o.NoLocalInternal && p.NoLocalExternal == o.NoLocalExternal
}

// Service is what a node does for one Service.
type Service struct {
	Name      endpoints.ServiceName
	Ports     []Port
	Frontends []Frontend
	// HealthCheckNodePorts holds the Service's health-check node port by family, 0 for none.
	HealthCheckNodePorts [2]uint16

	hash   uint64
	source *endpoints.Service
}

// Source returns the Service that s was planned from, with all its endpoints, whatever the node may
// use of them.
func (s *Service) Source() *endpoints.Service { return s.source }

// claim is what stands for a frontend in the order of all of them. It says where the
// frontend is found and not what it does, so that a change of endpoints leaves it alone.
type claim struct {
	key Key
	by  *claimant // nil to look a key up: before all claims on it
}

type claimant struct {
	kind    Kind
	service endpoints.ServicePortName
	hash    uint64 // of the Service's name
	place   int    // in Service.Frontends
}

// compare orders claims by key; those on one key by kind, then by service port.
func (c claim) compare(o claim) int {
	if r := c.key.Compare(o.key); r != 0 {
		return r
	}
	switch {
	case c.by == o.by:
		return 0
	case c.by == nil:
		return -1
	case o.by == nil:
		return 1
	}
	if r := cmp.Compare(c.by.kind, o.by.kind); r != 0 {
		return r
	}
	return c.by.service.Compare(o.by.service)
}

// claim returns what stands for one of the Service's frontends. No two are equal.
func (s *Service) claim(i int) claim {
	f := &s.Frontends[i]
	return claim{f.Key, &claimant{kind: f.Kind, service: f.Service, hash: s.hash, place: i}}
}

// Plan is what a node's service rules have to do. It is immutable.
type Plan struct {
	node     *Node
	services table
	names    *btree.BTreeG[endpoints.ServiceName]
	claims   *btree.BTreeG[claim] // the first of a key wins
	lost     *btree.BTreeG[claim] // those that are not the first
}

// Node returns the node the Plan was made for.
func (p *Plan) Node() *Node { return p.node }

// Len returns the number of Services.
func (p *Plan) Len() int { return p.services.len }

// Service returns what the node does for a Service, nil when there is none.
func (p *Plan) Service(name endpoints.ServiceName) *Service {
	return p.services.get(hashName(name), name)
}

// Services walks all Services in name order.
func (p *Plan) Services() iter.Seq[*Service] {
	return func(yield func(*Service) bool) {
		p.names.Scan(func(name endpoints.ServiceName) bool { return yield(p.Service(name)) })
	}
}

// Frontend returns the frontend in force for a key, nil when there is none.
func (p *Plan) Frontend(key Key) *Frontend {
	if by := p.winner(key); by != nil {
		return p.frontend(by)
	}
	return nil
}

// winner returns who has the claim in force for a key, nil when nobody claims it.
func (p *Plan) winner(key Key) *claimant {
	var found *claimant
	p.claims.Ascend(claim{key: key}, func(c claim) bool {
		if c.key == key {
			found = c.by
		}
		return false
	})
	return found
}

func (p *Plan) frontend(by *claimant) *Frontend {
	return &p.services.get(by.hash, by.service.ServiceName).Frontends[by.place]
}

// Frontends walks the frontends in force in key order.
func (p *Plan) Frontends() iter.Seq[*Frontend] {
	return func(yield func(*Frontend) bool) {
		var last Key
		p.claims.Scan(func(c claim) bool {
			if c.key == last {
				return true // a claim that lost
			}
			last = c.key
			return yield(p.frontend(c.by))
		})
	}
}

// Conflict is a claim on an address and port that another Service has.
type Conflict struct {
	Loser, Winner *Frontend
}

// Conflicts lists the claims that are not in force, in key order.
func (p *Plan) Conflicts() []Conflict {
	var out []Conflict
	p.lost.Scan(func(c claim) bool {
		if winner := p.winner(c.key); winner.service != c.by.service {
			out = append(out, Conflict{Loser: p.frontend(c.by), Winner: p.frontend(winner)})
		}
		return true
	})
	return out
}

// IsClusterIP says whether an address is the ClusterIP of some Service.
func (p *Plan) IsClusterIP(a netip.Addr) bool {
	found := false
	p.claims.Ascend(claim{key: Key{Addr: a}}, func(c claim) bool {
		if c.key.Addr != a {
			return false
		}
		found = c.by.kind == ClusterIP
		return !found
	})
	return found
}

// Hairpin says whether traffic from src sent to target is masqueraded because it comes back
// to where it came from: nftables mode looks at the node's own endpoints, iptables mode at
// all the node can reach.
func (p *Plan) Hairpin(src netip.Addr, target Target) bool {
	return src == target.Addr.Addr() && (target.Local || p.node.Dialect == IPTables)
}

// HealthCheckNodePort returns the Service whose health-check node port this is in a family.
func (p *Plan) HealthCheckNodePort(family endpoints.IPFamily, port uint16) (endpoints.ServiceName, bool) {
	if port == 0 {
		return endpoints.ServiceName{}, false
	}
	for s := range p.Services() {
		if s.HealthCheckNodePorts[family] == port {
			return s.Name, true
		}
	}
	return endpoints.ServiceName{}, false
}
