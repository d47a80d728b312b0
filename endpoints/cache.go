package endpoints

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/tidwall/btree"
)

// Cache keeps the current Services and EndpointSlices and publishes Snapshots of them. It
// is incremental: an event marks one Service, or the two between which a slice moves, and
// only marked Services are built again.
//
// A Cache has one owner and no locks. Slices may arrive before their Service and survive
// it; both are reduced to what selection reads, the API objects are not kept.
type Cache struct {
	options  Options
	services map[ServiceName][]ServicePort
	slices   map[sliceKey]*Slice
	// byService finds a service's slices; an empty inner map is removed.
	byService map[ServiceName]map[string]*Slice
	dirty     map[ServiceName]mark
	tree      *btree.BTreeG[*Service]
	version   uint64
	transient bool // a Snapshot need not outlive the next one
}

type sliceKey struct{ namespace, name string }

// NewCache returns an empty Cache that reads objects as o says.
func NewCache(o Options) *Cache {
	return &Cache{
		options:   o,
		services:  map[ServiceName][]ServicePort{},
		slices:    map[sliceKey]*Slice{},
		byService: map[ServiceName]map[string]*Slice{},
		dirty:     map[ServiceName]mark{},
		tree:      newTree(),
	}
}

// NewTransientCache returns an empty Cache whose Snapshots hold until the next one only: a Service with many
// endpoints of which few change is edited where it is, and not copied.
func NewTransientCache(o Options) *Cache {
	c := NewCache(o)
	c.transient = true
	return c
}

// SetService adds a Service or replaces it, and returns what in it could not be used. A
// Service that no proxy handles (see Unproxied) is as good as deleted.
func (c *Cache) SetService(svc *corev1.Service) []Problem {
	p := problems{of: Problem{Kind: "Service", Namespace: svc.Namespace, Name: svc.Name}}
	var ports []ServicePort
	for _, f := range Families() {
		ports = append(ports, servicePorts(svc, f, c.options, &p)...)
	}
	name := ServiceName{svc.Namespace, svc.Name}
	if len(ports) == 0 {
		c.DeleteService(name)
	} else if old, ok := c.services[name]; !ok || !slices.EqualFunc(old, ports, samePort) {
		c.services[name] = ports
		c.dirty[name] = mark{whole: true}
	}
	return uniqueProblems(p.list)
}

// uniqueProblems drops what both families complained about.
func uniqueProblems(list []Problem) []Problem {
	if len(list) < 2 {
		return list
	}
	var out []Problem
	seen := map[Problem]bool{}
	for _, p := range list {
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// samePort compares what a Service says about a port; endpoints are not filled in yet.
func samePort(a, b ServicePort) bool {
	return a.Name == b.Name && a.Family == b.Family && a.Type == b.Type &&
		a.Port == b.Port && a.NodePort == b.NodePort && a.ClusterIP == b.ClusterIP &&
		slices.Equal(a.ExternalIPs, b.ExternalIPs) && slices.Equal(a.LoadBalancerIPs, b.LoadBalancerIPs) &&
		slices.Equal(a.SourceRanges, b.SourceRanges) && a.AffinityTimeout == b.AffinityTimeout &&
		a.HealthCheckNodePort == b.HealthCheckNodePort &&
		a.InternalPolicy == b.InternalPolicy && a.ExternalPolicy == b.ExternalPolicy
}

// DeleteService removes a Service. Its slices stay, for a Service of that name to come.
func (c *Cache) DeleteService(name ServiceName) {
	if _, ok := c.services[name]; ok {
		delete(c.services, name)
		c.dirty[name] = mark{whole: true}
	}
}

// SetSlice adds an EndpointSlice or replaces it, and returns what in it could not be used.
// A slice whose label now names another Service leaves the first one; kube-proxy 1.36
// keeps it in both until it restarts (docs/limits-of-the-proxy.md).
func (c *Cache) SetSlice(s *discoveryv1.EndpointSlice) []Problem {
	next, problems := ReadSlice(s)
	if next == nil {
		c.DeleteSlice(s.Namespace, s.Name)
	} else {
		c.PutSlice(next)
	}
	return problems
}

// PutSlice is SetSlice for a Slice that was read before.
func (c *Cache) PutSlice(next *Slice) {
	key := sliceKey{next.service.Namespace, next.name}
	if old := c.slices[key]; old != nil {
		if old.equal(next) {
			return
		}
		if old.service == next.service {
			c.slices[key], c.byService[next.service][next.name] = next, next
			c.changed(old, next)
			return
		}
		c.detach(key, old)
	}
	c.slices[key] = next
	if c.byService[next.service] == nil {
		c.byService[next.service] = map[string]*Slice{}
	}
	c.byService[next.service][next.name] = next
	c.dirty[next.service] = mark{whole: true}
}

// DeleteSlice removes an EndpointSlice.
func (c *Cache) DeleteSlice(namespace, name string) {
	key := sliceKey{namespace, name}
	if old := c.slices[key]; old != nil {
		c.detach(key, old)
	}
}

func (c *Cache) detach(key sliceKey, s *Slice) {
	delete(c.slices, key)
	delete(c.byService[s.service], s.name)
	if len(c.byService[s.service]) == 0 {
		delete(c.byService, s.service)
	}
	c.dirty[s.service] = mark{whole: true}
}

// Pending says whether something has been marked since the last Snapshot: without, the next one
// would have nothing new.
func (c *Cache) Pending() bool { return len(c.dirty) > 0 }

// Snapshot publishes the current state. Its cost is that of the Services marked since the
// last one.
func (c *Cache) Snapshot() *Snapshot {
	changed := slices.DeleteFunc(c.marked(), func(name ServiceName) bool { return !c.rebuild(name, c.dirty[name]) })
	c.forgetMarks()
	c.version++
	return &Snapshot{version: c.version, changed: changed, options: c.options, tree: c.tree.Copy()}
}

// marked lists the marked Services in order.
func (c *Cache) marked() []ServiceName {
	if len(c.dirty) == 0 {
		return nil
	}
	names := make([]ServiceName, 0, len(c.dirty))
	for name := range c.dirty { // order: sorted on the next line
		names = append(names, name)
	}
	slices.SortFunc(names, ServiceName.Compare)
	return names
}

// fewMarks is how many marks a map may have had that is used again.
const fewMarks = 8

// forgetMarks takes all marks away. To clear a map that once was large costs its size for ever.
func (c *Cache) forgetMarks() {
	if len(c.dirty) > fewMarks {
		c.dirty = map[ServiceName]mark{}
		return
	}
	clear(c.dirty)
}

// rebuild brings one Service of the tree up to date and says whether it is, or was, there.
func (c *Cache) rebuild(name ServiceName, m mark) bool {
	ports, ok := c.services[name]
	if !ok {
		_, gone := c.tree.Delete(&Service{Name: name})
		return gone
	}
	if !m.whole {
		if old, ok := c.tree.Get(&Service{Name: name}); ok {
			if groups, ok := editGroups(old.groups, m.edits, c.transient); ok {
				c.tree.Set(joinGroups(name, ports, groups))
				return true
			}
		}
	}
	c.tree.Set(buildService(name, ports, c.slicesOf(name)))
	return true
}

func (c *Cache) slicesOf(name ServiceName) []*Slice {
	byName := c.byService[name]
	if len(byName) == 0 {
		return nil
	}
	list := make([]*Slice, 0, len(byName))
	for _, s := range byName { // order: sorted on the next line
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Slice) int { return cmp.Compare(a.name, b.name) })
	return list
}

// buildService joins a Service's ports with its slices' endpoints.
func buildService(name ServiceName, ports []ServicePort, list []*Slice) *Service {
	return joinGroups(name, ports, groupSlices(list))
}

func joinGroups(name ServiceName, ports []ServicePort, groups []group) *Service {
	svc := &Service{Name: name, Ports: slices.Clone(ports), groups: groups}
	for i := range svc.Ports {
		sp := &svc.Ports[i]
		key := portKey{sp.Name.Port, sp.Name.Protocol, sp.Family}
		if j, ok := slices.BinarySearchFunc(svc.groups, key, func(g group, k portKey) int { return g.key.compare(k) }); ok {
			svc.groups[j].give(sp)
		}
	}
	return svc
}
