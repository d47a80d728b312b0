package nftables

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// state is what one table holds, as far as its elements do not follow from the Plan alone:
// which numbers stand for what, how often an address is used, and in what order lists are
// stored that have changed since they were written. It turns a change of the Plan into a
// change of elements, and a whole Plan into all of them, which is the change from nothing.
type state struct {
	family endpoints.IPFamily
	layout layout

	clusterIPs *counter
	hairpins   *counter
	order      map[listKey][]netip.AddrPort
	ports      identities
	allowLists allowLists
	have       map[string]bool // chains
	verdicts   map[verdictKey]bool
}

// listKey is one of the lists stored for a frontend.
type listKey struct {
	key   plan.Key
	local bool
}

// verdictKey is an element of a map of classes.
type verdictKey struct {
	in     setID
	number uint32
}

// newState returns the state of an empty table.
func newState(node *plan.Node, family endpoints.IPFamily) *state {
	return &state{
		family: family, layout: layout{family, node},
		clusterIPs: newCounter(), hairpins: newCounter(),
		order: map[listKey][]netip.AddrPort{},
		ports: newIdentities(), allowLists: newAllowLists(),
		have: map[string]bool{}, verdicts: map[verdictKey]bool{},
	}
}

// update is one transaction of a state on its way.
type update struct {
	*state
	tx      *tableChange
	touched map[*identity]*plan.Lists
}

// create returns the transaction that replaces the table by one for a whole Plan.
func (s *state) create(p *plan.Plan) *tableChange { return createAll([]*state{s}, p)[0] }

// createAll does so for the states of several families, in one walk over the Plan.
func createAll(states []*state, p *plan.Plan) []*tableChange {
	byFamily := map[endpoints.IPFamily]*update{}
	for _, s := range states {
		byFamily[s.family] = s.skeleton()
	}
	for f := range p.Frontends() {
		if u := byFamily[f.Family()]; u != nil {
			u.frontend(nil, f)
		}
	}
	out := make([]*tableChange, len(states))
	for i, s := range states {
		out[i] = byFamily[s.family].finish()
	}
	return out
}

// skeleton begins the transaction that replaces the table, with all that does not depend on
// Services.
func (s *state) skeleton() *update {
	u := s.begin()
	u.tx.replace = true
	u.tx.sets = append(u.tx.sets, setTable[:]...)
	u.addChains(s.layout.base())
	for _, c := range madeAtStart() {
		u.addClass(c, false)
		if c.treatment != clusterIP {
			u.addClass(c, true)
		}
	}
	for _, a := range s.layout.nodeIPs() {
		u.tx.rows.put(nodeIPs).addr(a)
	}
	return u
}

// apply returns the transaction for what differs between two Plans.
func (s *state) apply(d *plan.Delta) *tableChange {
	u := s.begin()
	for i := range d.Frontends {
		if c := &d.Frontends[i]; endpoints.FamilyOf(c.Key.Addr) == s.family {
			u.frontend(c.Old, c.New)
		}
	}
	return u.finish()
}

func (s *state) begin() *update {
	return &update{
		state:   s,
		tx:      &tableChange{family: s.family, rows: newChanges(s.family)},
		touched: map[*identity]*plan.Lists{},
	}
}

// finish settles what several frontends share.
func (u *update) finish() *tableChange {
	u.releaseSlots()
	u.settleAllowLists()
	u.settle(u.clusterIPs, clusterIPs, func(w rowWriter, a netip.Addr) { w.addr(a) })
	u.settle(u.hairpins, hairpin, func(w rowWriter, a netip.Addr) { w.addr(a).addr(a) })
	return u.tx
}

// frontend turns one frontend into another. Either may be nil.
func (u *update) frontend(old, next *plan.Frontend) {
	var was, is side
	if old != nil {
		was = u.look(old)
		u.count(old, -1)
	}
	if next != nil {
		is = u.look(next)
		u.count(next, +1)
	}
	u.affinity(old, next, &was, &is)
	key := keyOf(old, next)
	u.list(listKey{key, false}, &was, &is, was.lists.main, is.lists.main)
	u.list(listKey{key, true}, &was, &is, was.lists.local, is.lists.local)
	u.firewall(old, next)
	u.dispatch(key, old != nil, next != nil, was.class, is.class)
}

func keyOf(old, next *plan.Frontend) plan.Key {
	if next != nil {
		return next.Key
	}
	return old.Key
}

// side is one side of a frontend's change.
type side struct {
	class    class
	lists    lists
	identity *identity // nil without affinity
}

func (u *update) look(f *plan.Frontend) side {
	c, l := classify(f)
	return side{class: c, lists: l}
}

// count keeps how often addresses are used.
func (u *update) count(f *plan.Frontend, by int) {
	if f.Kind == plan.ClusterIP {
		u.clusterIPs.add(f.Key.Addr, by)
	}
	for _, list := range [][]plan.Target{f.Lists.Cluster, f.Lists.Local} {
		for _, t := range list {
			if t.Local {
				u.hairpins.add(t.Addr.Addr(), by)
			}
		}
	}
}

// dispatch leads the key to the chain of its class.
func (u *update) dispatch(key plan.Key, had, has bool, was, is class) {
	nodePort := isNodePort(key)
	if has {
		u.addClass(is, nodePort)
	}
	if had && has && was == is {
		return
	}
	in := frontends
	write := func(w rowWriter) rowWriter { return w.vip(key) }
	if nodePort {
		in = nodePorts
		write = func(w rowWriter) rowWriter { return w.proto(key.Protocol).port(key.Port) }
	}
	if had {
		write(u.tx.rows.take(in))
	}
	if has {
		write(u.tx.rows.put(in)).number(is.number())
	}
}

// addClass makes a class's chains, where they do not exist.
func (u *update) addClass(c class, nodePort bool) {
	in := classes
	if nodePort {
		in = nodePortClasses
	}
	key := verdictKey{in, c.number()}
	if u.verdicts[key] {
		return
	}
	u.verdicts[key] = true
	u.addChains(u.layout.classChains(c, nodePort))
	u.tx.addVerdicts = append(u.tx.addVerdicts, verdictElement{in, c.number(), verdict{goTo, c.name(nodePort)}})
}

func (u *update) addChains(chains []chain) {
	for _, c := range chains {
		if !u.have[c.name] {
			u.have[c.name] = true
			u.tx.chains = append(u.tx.chains, c)
		}
	}
}

// list brings one of a frontend's lists from old to next. Entries that stay keep their index;
// a new one takes the place of one that left, and the last ones fill what is still empty, so
// that the indices 0 .. n-1 are the ones in use.
func (u *update) list(key listKey, was, is *side, old, next []plan.Target) {
	if len(old) == 0 && len(next) == 0 {
		return
	}
	placed := u.placed(key, old)
	order := arrange(placed, next)
	u.writeList(key, placed, order)
	u.writeSlots(key, was, is, placed, order)
	inOrder := slices.EqualFunc(order, next, func(a netip.AddrPort, t plan.Target) bool { return a == t.Addr })
	if inOrder {
		delete(u.order, key)
	} else {
		u.order[key] = order
	}
}

// placed is the order in which a list is stored. A list is written in its own order first.
func (u *update) placed(key listKey, list []plan.Target) []netip.AddrPort {
	if o, ok := u.order[key]; ok {
		return o
	}
	return addrs(list)
}

func addrs(list []plan.Target) []netip.AddrPort {
	out := make([]netip.AddrPort, len(list))
	for i, t := range list {
		out[i] = t.Addr
	}
	return out
}

// arrange returns next in an order that differs from placed in as few places as possible.
func arrange(placed []netip.AddrPort, next []plan.Target) []netip.AddrPort {
	if len(placed) == 0 {
		return addrs(next)
	}
	stays := func(a netip.AddrPort) bool {
		_, found := slices.BinarySearchFunc(next, a, func(t plan.Target, a netip.AddrPort) int { return t.Addr.Compare(a) })
		return found
	}
	known := slices.Clone(placed)
	slices.SortFunc(known, netip.AddrPort.Compare)
	var fresh []netip.AddrPort
	for _, t := range next {
		if _, found := slices.BinarySearchFunc(known, t.Addr, netip.AddrPort.Compare); !found {
			fresh = append(fresh, t.Addr)
		}
	}
	order := make([]netip.AddrPort, 0, max(len(placed), len(next)))
	var holes []int
	for _, a := range placed {
		switch {
		case stays(a):
		case len(fresh) > 0:
			a, fresh = fresh[0], fresh[1:]
		default:
			holes = append(holes, len(order))
		}
		order = append(order, a)
	}
	order = append(order, fresh...)
	return closeHoles(order, holes)
}

// closeHoles fills indices, given in order, with the last entries.
func closeHoles(order []netip.AddrPort, holes []int) []netip.AddrPort {
	for len(holes) > 0 {
		last := len(order) - 1
		if holes[len(holes)-1] == last {
			holes = holes[:len(holes)-1]
		} else {
			order[holes[0]] = order[last]
			holes = holes[1:]
		}
		order = order[:last]
	}
	return order
}

// writeList writes what differs between two orders of a list.
func (u *update) writeList(key listKey, old, next []netip.AddrPort) {
	base := list{local: key.local}.offset()
	for i := range max(len(old), len(next)) {
		if i < len(old) && i < len(next) && old[i] == next[i] {
			continue
		}
		index := base + uint32(i) // an index of a list
		if i < len(old) {
			u.tx.rows.take(endpointMap).vip(key.key).number(index)
		}
		if i < len(next) {
			u.tx.rows.put(endpointMap).vip(key.key).number(index).target(next[i])
		}
	}
}

// counter counts uses of addresses, and remembers what it held when the transaction began.
type counter struct{ now, before map[netip.Addr]int }

func newCounter() *counter { return &counter{map[netip.Addr]int{}, map[netip.Addr]int{}} }

func (c *counter) add(a netip.Addr, by int) {
	n := c.now[a]
	if _, ok := c.before[a]; !ok {
		c.before[a] = n
	}
	c.now[a] = n + by
}

// settle writes what a counter's addresses have come to: an address is in the set while
// something uses it.
func (u *update) settle(c *counter, in setID, write func(rowWriter, netip.Addr)) {
	for _, a := range slices.SortedFunc(maps.Keys(c.before), netip.Addr.Compare) {
		before, now := c.before[a], c.now[a]
		switch {
		case before == 0 && now > 0:
			write(u.tx.rows.put(in), a)
		case before > 0 && now == 0:
			write(u.tx.rows.take(in), a)
		}
		if now == 0 {
			delete(c.now, a)
		}
	}
	if len(c.before) > 0 {
		// A new map, since to empty or to walk one costs the most it ever held: a whole cluster.
		c.before = map[netip.Addr]int{}
	}
}
