package plan

import (
	"slices"

	"github.com/tidwall/btree"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Change is one frontend that differs between two Plans. Old is nil when it is new, New is
// nil when it is gone. Neither belongs to a claim that lost.
type Change struct {
	Key      Key
	Old, New *Frontend
}

// Delta is what differs between two Plans of the same node.
type Delta struct {
	Frontends []Change // in key order
	// Services names, in order, the Services with other rules, health-check ports or lists.
	Services []endpoints.ServiceName
}

// Empty says whether there is nothing to do.
func (d *Delta) Empty() bool { return len(d.Frontends) == 0 && len(d.Services) == 0 }

// Empty returns a Plan for a node without Services.
func Empty(node *Node) *Plan {
	opts := btree.Options{NoLocks: true}
	claims := func(a, b claim) bool { return a.compare(b) < 0 }
	return &Plan{
		node:   node,
		names:  btree.NewBTreeGOptions(func(a, b endpoints.ServiceName) bool { return a.Compare(b) < 0 }, opts),
		claims: btree.NewBTreeGOptions(claims, opts),
		lost:   btree.NewBTreeGOptions(claims, opts),
	}
}

// Build plans a whole Snapshot for a node.
func Build(snap *endpoints.Snapshot, node *Node) *Plan {
	p := Empty(node)
	var claims []claim
	for svc := range snap.Services() {
		s := buildService(svc, node)
		p.services.set(s)
		p.names.Load(s.Name)
		for i := range s.Frontends {
			claims = append(claims, s.claim(i))
		}
	}
	slices.SortFunc(claims, claim.compare)
	for i, c := range claims {
		p.claims.Load(c)
		if i > 0 && claims[i-1].key == c.key {
			p.lost.Load(c)
		}
	}
	return p
}

// Update returns the Plan for snap and what differs from prev, looking only at the named
// Services: those that changed between the Snapshot prev was made from and snap, in any
// order. prev stays valid and may be read meanwhile, but no two Updates may start from it at
// the same time. The node is prev's.
func Update(prev *Plan, snap *endpoints.Snapshot, changed []endpoints.ServiceName) (*Plan, Delta) {
	next := *prev
	next.services = prev.services.copy()
	u := update{prev: prev, next: &next}
	for _, name := range changed {
		u.replace(name, snap.Service(name))
	}
	return &next, u.delta()
}

// Next is Update for those who do not ask what differs: nothing is compared.
func Next(prev *Plan, snap *endpoints.Snapshot, changed []endpoints.ServiceName) *Plan {
	next := *prev
	next.services = prev.services.copy()
	u := update{prev: prev, next: &next}
	for _, name := range changed {
		if old, s, ok := u.put(name, snap.Service(name)); ok {
			u.arrange(old, s)
		}
	}
	return &next
}

// update is one Plan on the way to the next.
type update struct {
	prev, next *Plan
	changes    []serviceChange
	moved      bool // some claim has come or gone
}

// serviceChange is a Service that asks for other rules than before. Either may be nil.
type serviceChange struct{ old, new *Service }

func (c serviceChange) name() endpoints.ServiceName {
	if c.new == nil {
		return c.old.Name
	}
	return c.new.Name
}

// replace brings one Service of the next Plan up to date, and notes what it was before.
func (u *update) replace(name endpoints.ServiceName, svc *endpoints.Service) {
	if old, s, ok := u.put(name, svc); ok && !sameService(old, s) {
		u.changes = append(u.changes, serviceChange{old, s})
		u.arrange(old, s)
	}
}

// put puts one Service of a Snapshot into the next Plan, ok false when it is there already. Both versions may
// be nil.
func (u *update) put(name endpoints.ServiceName, svc *endpoints.Service) (old, s *Service, ok bool) {
	hash := hashName(name)
	old = u.next.services.get(hash, name)
	if old == nil && svc == nil || old != nil && old.source == svc {
		return nil, nil, false
	}
	if svc == nil {
		u.next.services.delete(hash, name)
	} else {
		s = buildService(svc, u.next.node)
		u.next.services.set(s)
	}
	return old, s, true
}

// arrange keeps the order of names and claims, where it changes at all: seldom, since new
// endpoints are none of its business.
func (u *update) arrange(old, s *Service) {
	if old != nil && s != nil && old.sameClaims(s) {
		return
	}
	next := u.next
	if !u.moved {
		u.moved = true
		next.names, next.claims, next.lost = u.prev.names.Copy(), u.prev.claims.Copy(), u.prev.lost.Copy()
	}
	if old != nil {
		next.names.Delete(old.Name)
		for i := range old.Frontends {
			next.withdraw(old.claim(i))
		}
	}
	if s != nil {
		next.names.Set(s.Name)
		for i := range s.Frontends {
			next.stake(s.claim(i))
		}
	}
}

// stake enters a claim. One of two on the same key has lost.
func (p *Plan) stake(c claim) {
	if by := p.winner(c.key); by != nil {
		loser := claim{c.key, by}
		if loser.compare(c) < 0 {
			loser = c
		}
		p.lost.Set(loser)
	}
	p.claims.Set(c)
}

// withdraw takes a claim back. If it was in force, the next on its key is now.
func (p *Plan) withdraw(c claim) {
	p.claims.Delete(c)
	if _, lost := p.lost.Delete(c); lost {
		return
	}
	if heir := p.winner(c.key); heir != nil {
		p.lost.Delete(claim{c.key, heir})
	}
}

// inForce says whether the Service's i-th frontend is the one of its key.
func (p *Plan) inForce(s *Service, i int) bool {
	if p.lost.Len() == 0 {
		return true
	}
	_, lost := p.lost.Get(s.claim(i))
	return !lost
}

// sameClaims says whether the frontends of two versions of a Service differ in nothing but
// what they do.
func (s *Service) sameClaims(o *Service) bool {
	if len(s.Frontends) != len(o.Frontends) {
		return false
	}
	for i := range s.Frontends {
		a, b := &s.Frontends[i], &o.Frontends[i]
		if a.Key != b.Key || a.Kind != b.Kind || a.Service != b.Service {
			return false
		}
	}
	return true
}

// delta says what the replaced Services amount to.
func (u *update) delta() Delta {
	var d Delta
	if len(u.changes) == 0 {
		return d
	}
	d.Services = make([]endpoints.ServiceName, len(u.changes))
	for i, c := range u.changes {
		d.Services[i] = c.name()
	}
	slices.SortFunc(d.Services, endpoints.ServiceName.Compare)
	if u.moved {
		u.compareKeys(&d)
	} else {
		u.compareInPlace(&d)
	}
	return d
}

// compareInPlace holds each frontend against its former self: where all claims stand as they
// did, the winners do.
func (u *update) compareInPlace(d *Delta) {
	for _, c := range u.changes {
		for i := range c.new.Frontends {
			if u.next.inForce(c.new, i) {
				d.add(&c.old.Frontends[i], &c.new.Frontends[i])
			}
		}
	}
	slices.SortFunc(d.Frontends, func(a, b Change) int { return a.Key.Compare(b.Key) })
}

// compareKeys looks up who had and who has each key that a replaced Service claims or claimed.
func (u *update) compareKeys(d *Delta) {
	var keys []Key
	for _, c := range u.changes {
		for _, s := range []*Service{c.old, c.new} {
			if s == nil {
				continue
			}
			for i := range s.Frontends {
				keys = append(keys, s.Frontends[i].Key)
			}
		}
	}
	slices.SortFunc(keys, Key.Compare)
	for _, key := range slices.Compact(keys) {
		d.add(u.prev.Frontend(key), u.next.Frontend(key))
	}
}

// Diff compares two Plans frontend by frontend and Service by Service. Its cost is that of
// the Plans, not of the difference; Update knows the same for less.
func Diff(old, next *Plan) Delta {
	var d Delta
	merge(old.Frontends(), next.Frontends(), func(f *Frontend) Key { return f.Key }, Key.Compare, d.add)
	serviceName := func(s *Service) endpoints.ServiceName { return s.Name }
	merge(old.Services(), next.Services(), serviceName, endpoints.ServiceName.Compare, func(a, b *Service) {
		if !sameService(a, b) {
			if b == nil {
				b = a
			}
			d.Services = append(d.Services, b.Name)
		}
	})
	return d
}

func (d *Delta) add(old, next *Frontend) {
	switch {
	case old == nil && next == nil, old != nil && next != nil && old.equal(next):
	case next == nil:
		d.Frontends = append(d.Frontends, Change{Key: old.Key, Old: old})
	default:
		d.Frontends = append(d.Frontends, Change{Key: next.Key, Old: old, New: next})
	}
}

// sameService says whether two Services ask for the same rules; either may be nil.
func sameService(a, b *Service) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a == b {
		return true
	}
	if a.HealthCheckNodePorts != b.HealthCheckNodePorts || len(a.Ports) != len(b.Ports) || len(a.Frontends) != len(b.Frontends) {
		return false
	}
	for i := range a.Frontends {
		if !a.Frontends[i].equal(&b.Frontends[i]) {
			return false
		}
	}
	for i := range a.Ports {
		if !a.Ports[i].equal(&b.Ports[i]) {
			return false
		}
	}
	return true
}
