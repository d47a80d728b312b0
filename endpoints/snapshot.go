package endpoints

import (
	"iter"
	"net/netip"
	"slices"

	"github.com/tidwall/btree"
)

// Service is one Service a service proxy handles, with the endpoints of all its slices. It
// is immutable: a change makes a new one, and an unchanged one keeps its pointer.
type Service struct {
	Name ServiceName
	// Ports holds every port once per IP family it has a ClusterIP in: IPv4 first, each
	// family in spec order.
	Ports []ServicePort

	groups []group
}

// NewService puts a Service together from its ports, for those who have no API objects to
// feed a Cache with. The ports' endpoints are taken in any order; a Meta may be nil.
func NewService(name ServiceName, ports ...ServicePort) *Service {
	svc := &Service{Name: name, Ports: slices.Clone(ports)}
	for i := range svc.Ports {
		sp := &svc.Ports[i]
		g := group{key: portKey{sp.Name.Port, sp.Name.Protocol, sp.Family}, endpoints: slices.Clone(sp.Endpoints)}
		for j := range g.endpoints {
			if g.endpoints[j].Meta == nil {
				g.endpoints[j].Meta = &Meta{}
			}
		}
		g.finish()
		g.give(sp)
		svc.groups = append(svc.groups, g)
	}
	sortGroups(svc.groups)
	return svc
}

// LocalReadyEndpoints counts the distinct IPs of ready endpoints on the node in one
// family: the number a health-check node port answers with. It counts over all ports of
// the slices, also those that no port of the Service matches, and leaves terminating
// endpoints out, so that load balancers leave while KEP-1669 still serves
// (kube-proxy 1.36 endpointschangetracker.go, LocalReadyEndpoints; verified).
func (s *Service) LocalReadyEndpoints(family IPFamily, nodeName string, o Options) int {
	ips := map[netip.Addr]bool{}
	for i := range s.groups {
		g := &s.groups[i]
		if g.key.family != family {
			continue
		}
		sp := ServicePort{Endpoints: g.endpoints, digest: g.digest}
		skip := exclusions(&sp, nodeName, o)
		for j := range g.endpoints {
			e := &g.endpoints[j]
			if e.Conditions.Ready() && e.IsLocal(nodeName) && counts(skip, j) {
				ips[e.Addr.Addr()] = true
			}
		}
	}
	return len(ips)
}

// HealthCheckNodePort returns the Service's health-check node port in a family, 0 for none.
func (s *Service) HealthCheckNodePort(family IPFamily) uint16 {
	for i := range s.Ports {
		if s.Ports[i].Family == family && s.Ports[i].HealthCheckNodePort != 0 {
			return s.Ports[i].HealthCheckNodePort
		}
	}
	return 0
}

// Snapshot is the state of all Services at one moment. It is immutable, costs nothing to
// keep and may be read from any number of goroutines.
type Snapshot struct {
	version uint64
	changed []ServiceName
	options Options
	tree    *btree.BTreeG[*Service]
}

func newTree() *btree.BTreeG[*Service] {
	less := func(a, b *Service) bool { return a.Name.Compare(b.Name) < 0 }
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// Version numbers the snapshots of one Cache from 1.
func (s *Snapshot) Version() uint64 { return s.version }

// Options returns the behaviour under which the Services were read; Select with the same.
func (s *Snapshot) Options() Options { return s.options }

// Changed names, in order, the Services that differ from the Cache's previous snapshot:
// added, replaced or gone.
func (s *Snapshot) Changed() []ServiceName { return s.changed }

// Len returns the number of Services.
func (s *Snapshot) Len() int { return s.tree.Len() }

// Service returns the named Service, nil when there is none that a proxy handles.
func (s *Snapshot) Service(name ServiceName) *Service {
	svc, _ := s.tree.Get(&Service{Name: name})
	return svc
}

// Services walks all Services in name order.
func (s *Snapshot) Services() iter.Seq[*Service] {
	return func(yield func(*Service) bool) { s.tree.Scan(yield) }
}
