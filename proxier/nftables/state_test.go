package nftables

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// table is a table as the kernel has it, in memory: it takes transactions and refuses what the
// kernel refuses.
type table struct {
	family   endpoints.IPFamily
	rows     [numRowSets]map[string]string
	verdicts map[verdictKey]string
	chains   map[string]chain
	ranges   map[string][]span
}

func newTable(f endpoints.IPFamily) *table {
	t := &table{family: f, verdicts: map[verdictKey]string{}, chains: map[string]chain{}, ranges: map[string][]span{}}
	for i := range t.rows {
		t.rows[i] = map[string]string{}
	}
	return t
}

func (k *table) commit(t testing.TB, c *tableChange) {
	t.Helper()
	for _, x := range c.chains {
		if _, ok := k.chains[x.name]; ok {
			t.Errorf("chain %s is made twice", x.name)
		}
		k.chains[x.name] = x
	}
	for _, r := range c.ranges {
		k.ranges[r.in] = r.spans
	}
	for _, v := range c.addVerdicts {
		key := verdictKey{v.in, v.number}
		if _, ok := k.verdicts[key]; ok {
			t.Errorf("element %v of a verdict map is put in twice", key)
		}
		if _, ok := k.chains[v.verdict.chain]; !ok {
			t.Errorf("element %v leads to chain %s, which does not exist", key, v.verdict.chain)
		}
		k.verdicts[key] = v.verdict.chain
	}
	k.commitRows(t, c.rows)
	for _, v := range c.delVerdicts {
		delete(k.verdicts, verdictKey{v.in, v.number})
	}
	for _, name := range c.dropChains {
		delete(k.chains, name)
	}
	for _, name := range c.dropSets {
		delete(k.ranges, name)
	}
}

func (k *table) commitRows(t testing.TB, c *changes) {
	t.Helper()
	for i := range c.sets {
		size := c.sizes[i]
		for row := range slices.Chunk(c.sets[i].del, size.key) {
			if _, ok := k.rows[i][string(row)]; !ok {
				t.Errorf("%s: %x is taken out, but not in", setTable[i].name, row)
			}
			delete(k.rows[i], string(row))
		}
		for row := range slices.Chunk(c.sets[i].add, size.key+size.value) {
			if _, ok := k.rows[i][string(row[:size.key])]; ok {
				t.Errorf("%s: %x is put in, but there", setTable[i].name, row)
			}
			k.rows[i][string(row[:size.key])] = string(row[size.key:])
		}
	}
}

func number(b string) uint32 { return binary.NativeEndian.Uint32([]byte(b)) }

// meaning is what a table makes of frontends, without the numbers and orders that history
// gave things: one line per key, the rest in sets.
type meaning struct {
	Frontends map[string]string
	Addresses map[string][]string
}

func (k *table) meaning(t testing.TB) meaning {
	t.Helper()
	m := meaning{map[string]string{}, map[string][]string{}}
	used := [numRowSets]int{}
	for _, in := range []setID{frontends, nodePorts} {
		for key, value := range k.rows[in] {
			m.Frontends[fmt.Sprintf("%s %x", setTable[in].name, key)] = k.frontend(t, in, key, number(value), &used)
		}
	}
	for _, in := range []setID{endpointMap, stickySlots, stickyEndpoints, stickyLocalEndpoints, stickyIDs, firewalled} {
		if used[in] != len(k.rows[in]) {
			t.Errorf("%s: %d of %d elements belong to a frontend", setTable[in].name, used[in], len(k.rows[in]))
		}
	}
	for _, in := range []setID{clusterIPs, nodeIPs, hairpin} {
		for key := range k.rows[in] {
			m.Addresses[setTable[in].name] = append(m.Addresses[setTable[in].name], fmt.Sprintf("%x", key))
		}
		slices.Sort(m.Addresses[setTable[in].name])
	}
	if len(k.ranges) != len(k.verdictsOf(firewalls)) {
		t.Errorf("%d sets of ranges, %d firewalls", len(k.ranges), len(k.verdictsOf(firewalls)))
	}
	return m
}

func (k *table) verdictsOf(in setID) []string {
	var out []string
	for key, chain := range k.verdicts {
		if key.in == in {
			out = append(out, chain)
		}
	}
	return out
}

// frontend follows one key through the maps, as a packet does.
func (k *table) frontend(t testing.TB, in setID, key string, class uint32, used *[numRowSets]int) string {
	t.Helper()
	vip, dispatch := key, classes
	if in == nodePorts {
		vip, dispatch = strings.Repeat("\x00", addrSize(k.family))+key, nodePortClasses
	}
	name := k.verdicts[verdictKey{dispatch, class}]
	var b strings.Builder
	fmt.Fprintf(&b, "%s", name)
	for _, local := range []bool{false, true} {
		targets := k.list(vip, local, used)
		sticky := k.stickyList(t, vip, local, len(targets), used)
		fmt.Fprintf(&b, " %x sticky %x", targets, sticky)
		checkClass(t, name, class, local, len(targets))
	}
	if id, ok := k.rows[stickyIDs][vip]; ok {
		used[stickyIDs]++
		if number(id)&0xffff != 0 || number(id) == 0 {
			t.Errorf("identity %x", id)
		}
	}
	if n, ok := k.rows[firewalled][vip]; ok {
		used[firewalled]++
		allowList := k.verdicts[verdictKey{firewalls, number(n)}]
		fmt.Fprintf(&b, " admits %v", k.ranges[strings.Replace(allowList, "firewall", "source-ranges", 1)])
	}
	return b.String()
}

// checkClass holds that a class draws from at least as many indices as there are, and not from
// twice as many.
func checkClass(t testing.TB, name string, class uint32, local bool, n int) {
	t.Helper()
	p := power(class >> 3 & 63)
	if local {
		p = power(class >> 9 & 63)
	}
	if n == 0 && p != 0 || n > 0 && (p == 0 || int(p.draws()) < n || int(p.draws()) >= 2*n) {
		t.Errorf("chain %s (class %x) for %d endpoints, local %v", name, class, n, local)
	}
}

// list returns the endpoints at indices 0 .. n-1, in no order of their own.
func (k *table) list(vip string, local bool, used *[numRowSets]int) []string {
	var out []string
	for i := (list{local: local}).offset(); ; i++ {
		target, ok := k.rows[endpointMap][vip+string(binary.NativeEndian.AppendUint32(nil, i))]
		if !ok {
			slices.Sort(out)
			return out
		}
		used[endpointMap]++
		out = append(out, target)
	}
}

// stickyList returns the endpoints that the slots at indices 0 .. n-1 lead to.
func (k *table) stickyList(t testing.TB, vip string, local bool, n int, used *[numRowSets]int) []string {
	t.Helper()
	in := stickyEndpoints
	if local {
		in = stickyLocalEndpoints
	}
	id, ok := k.rows[stickyIDs][vip]
	var out []string
	for i := range n {
		index := string(binary.NativeEndian.AppendUint32(nil, (list{local: local}).offset()+uint32(i)))
		slot, found := k.rows[stickySlots][vip+index]
		if found != ok {
			t.Errorf("%x: a slot at index %d is %v, affinity %v", vip, i, found, ok)
		}
		if !found {
			continue
		}
		used[stickySlots]++
		used[in]++
		if number(slot)&identityMask != number(id) {
			t.Errorf("%x: slot %x of identity %x", vip, slot, id)
		}
		if target := k.rows[endpointMap][vip+index]; k.rows[in][vip+slot] != target {
			t.Errorf("%x: index %d is %x, its slot %x", vip, i, target, k.rows[in][vip+slot])
		}
		out = append(out, k.rows[in][vip+slot])
	}
	slices.Sort(out)
	return out
}

// nodes are configurations that ask for different rules.
func nodes() map[string]*plan.Node {
	out := map[string]*plan.Node{"cluster CIDR": testNode()}
	edit := func(name string, f func(*plan.Node)) {
		n := testNode()
		f(n)
		out[name] = n
	}
	edit("bridge", func(n *plan.Node) {
		n.Detector = plan.LocalDetector{Mode: plan.DetectBridgeInterface, Interface: "cbr0"}
	})
	edit("interface prefix", func(n *plan.Node) {
		n.Detector = plan.LocalDetector{Mode: plan.DetectInterfaceNamePrefix, Interface: "veth"}
	})
	edit("no detector, masqueradeAll", func(n *plan.Node) {
		n.Detector, n.MasqueradeAll = plan.LocalDetector{}, true
	})
	edit("primary addresses", func(n *plan.Node) { n.NodePortAddresses = n.PrimaryNodePortAddresses() })
	return out
}

func TestChangesOneByOneComeToTheSameAsTheWhole(t *testing.T) {
	t.Parallel()
	for _, f := range endpoints.Families() {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s/%d", f, seed), func(t *testing.T) {
				t.Parallel()
				w := backendtest.NewWorld(seed, testNode())
				s, kernel := newState(w.Node, f), newTable(f)
				kernel.commit(t, s.create(w.Plan))
				for i := range 400 {
					for range w.Rand.IntN(3) + 1 {
						w.Disturb(t, 12)
					}
					_, d := w.Step(t)
					kernel.commit(t, s.apply(&d))
					if i%10 != 0 && i < 390 {
						continue
					}
					whole := newTable(f)
					whole.commit(t, newState(w.Node, f).create(w.Plan))
					if diff := cmp.Diff(whole.meaning(t), kernel.meaning(t)); diff != "" {
						t.Fatalf("after %d changes (- whole, + one by one):\n%s", i+1, diff)
					}
					if t.Failed() {
						t.FailNow()
					}
				}
				s.checkEmpty(t, kernel, w)
			})
		}
	}
}

// checkEmpty deletes everything: nothing may be left, neither in the table nor in the books.
func (s *state) checkEmpty(t *testing.T, kernel *table, w *backendtest.World) {
	t.Helper()
	for i := range 12 {
		w.Cache.DeleteService(endpoints.ServiceName{Namespace: "default", Name: fmt.Sprintf("svc-%d", i)})
	}
	_, d := w.Step(t)
	kernel.commit(t, s.apply(&d))
	for i, rows := range kernel.rows {
		if len(rows) > 0 {
			t.Errorf("%s: %d elements are left", setTable[i].name, len(rows))
		}
	}
	if n := len(s.clusterIPs.now) + len(s.hairpins.now) + len(s.order) + len(s.ports.of) + len(s.ports.ring.taken) + len(s.allowLists.of) + len(s.allowLists.numbers); n > 0 {
		t.Errorf("%d entries are left in the books: %+v", n, s)
	}
	if len(kernel.ranges)+len(kernel.verdictsOf(firewalls)) > 0 {
		t.Errorf("firewalls are left: %v", kernel.ranges)
	}
}

// TestElementsAreWhatThePlanSays compares a table with the Plan itself.
func TestElementsAreWhatThePlanSays(t *testing.T) {
	t.Parallel()
	w := backendtest.NewWorld(7, testNode())
	for range 200 {
		w.Disturb(t, 60)
	}
	p, _ := w.Step(t)
	for _, f := range endpoints.Families() {
		kernel := newTable(f)
		kernel.commit(t, newState(w.Node, f).create(p))
		kernel.meaning(t)
		n := 0
		for fe := range p.Frontends() {
			if fe.Family() == f {
				n++
				checkFrontend(t, kernel, fe)
			}
		}
		if got := len(kernel.rows[frontends]) + len(kernel.rows[nodePorts]); got != n || n == 0 {
			t.Errorf("%s: %d keys for %d frontends", f, got, n)
		}
	}
}

// checkFrontend compares what the maps lead to with the frontend's routes.
func checkFrontend(t *testing.T, k *table, f *plan.Frontend) {
	t.Helper()
	var vip []byte
	rowWriter{&vip}.vip(f.Key)
	var used [numRowSets]int
	for _, source := range []plan.Source{plan.FromPod, plan.FromOutside} {
		route := f.Routes[source]
		local := f.Kind.External() && source == plan.FromOutside && route.List == endpoints.LocalList
		var want []string
		if route.Action == plan.Forward {
			for _, x := range f.Lists.Of(route.List) {
				var b []byte
				rowWriter{&b}.target(x.Addr)
				want = append(want, string(b))
			}
		}
		slices.Sort(want)
		if got := k.list(string(vip), local, &used); route.Action == plan.Forward && !slices.Equal(got, want) {
			t.Errorf("%s from %s: %x, want %x", f.Key, source, got, want)
		}
	}
	ranges, guarded := k.rows[firewalled][string(vip)]
	if guarded != (f.Allowed != nil) {
		t.Errorf("%s: firewalled %v, want %v", f.Key, guarded, f.Allowed != nil)
	}
	if guarded {
		allowList := k.verdicts[verdictKey{firewalls, number(ranges)}]
		if got, want := k.ranges[strings.Replace(allowList, "firewall", "source-ranges", 1)], spansOf(f.Allowed); !slices.Equal(got, want) {
			t.Errorf("%s admits %v, want %v", f.Key, got, want)
		}
	}
}

func TestEveryJumpLeadsToAChainAndEveryLookupToASet(t *testing.T) {
	t.Parallel()
	for name, node := range nodes() {
		for _, f := range endpoints.Families() {
			c := rehearsal(newState(node, f))
			chains, sets := map[string]bool{}, map[string]bool{}
			for _, x := range c.chains {
				chains[x.name] = true
				if len(x.rules) == 0 {
					t.Errorf("%s: chain %s is empty", name, x.name)
				}
			}
			for _, s := range c.sets {
				sets[s.name] = true
			}
			for _, x := range c.chains {
				for _, r := range x.rules {
					for _, s := range r.statements {
						if v, ok := s.(verdict); ok && v.chain != "" && !chains[v.chain] {
							t.Errorf("%s: chain %s goes to %s, which does not exist", name, x.name, v.chain)
						}
						if in := lookedUp(s); in != "" && !sets[in] {
							t.Errorf("%s: chain %s looks up %s, which does not exist", name, x.name, in)
						}
					}
				}
			}
		}
	}
}

func lookedUp(s statement) string {
	switch s := s.(type) {
	case setPriority:
		return s.in
	case byPriority:
		return s.in
	case inSet:
		return s.in
	case translate:
		return s.in
	default:
		return ""
	}
}

// TestALargeMapIsLookedUpByFewRules: inserting an element costs the kernel a walk over the rules
// that look its map up (README.md, hazard 4).
func TestALargeMapIsLookedUpByFewRules(t *testing.T) {
	t.Parallel()
	c := newState(testNode(), endpoints.IPv4).create(plan.Empty(testNode()))
	rules := map[string]int{}
	for _, x := range c.chains {
		for _, r := range x.rules {
			for _, s := range r.statements {
				if in := lookedUp(s); in != "" {
					rules[in]++
				}
			}
		}
	}
	classesMade := int(powerOf(1024))
	want := map[string]int{
		"endpoints": 2 * classesMade, "frontends": 1, "node-ports": 1, "firewalled": 1, "cluster-ips": 2, "hairpin": 1,
		"classes": 1, "node-port-classes": 1, "firewalls": 1,
	}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Errorf("rules that look up each map (- want, + got):\n%s", diff)
	}
}

func TestOneEndpointLessIsAsFewElementsAsCanBe(t *testing.T) {
	t.Parallel()
	at := func(n int) netip.AddrPort { return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), 80) }
	targets := func(ns ...int) []plan.Target {
		var out []plan.Target
		for _, n := range ns {
			out = append(out, plan.Target{Addr: at(n)})
		}
		return out
	}
	for _, c := range []struct {
		name   string
		placed []int
		next   []int
		want   []int
	}{
		{"the first goes, the last takes its place", []int{1, 2, 3, 4}, []int{2, 3, 4}, []int{4, 2, 3}},
		{"the last goes", []int{1, 2, 3, 4}, []int{1, 2, 3}, []int{1, 2, 3}},
		{"one is replaced where it was", []int{1, 2, 3}, []int{1, 3, 9}, []int{1, 9, 3}},
		{"one more comes to the end", []int{2, 3}, []int{1, 2, 3}, []int{2, 3, 1}},
		{"one more comes behind the only one", []int{2}, []int{1, 2}, []int{2, 1}},
		{"the last two go, and one before them", []int{1, 2, 3, 4, 5}, []int{1, 3}, []int{1, 3}},
		{"all go", []int{1, 2}, nil, nil},
		{"all come", nil, []int{1, 2}, []int{1, 2}},
		{"an order of its own is kept", []int{3, 1, 2}, []int{1, 2, 3}, []int{3, 1, 2}},
	} {
		got := arrange(addrs(targets(c.placed...)), targets(c.next...))
		if want := addrs(targets(c.want...)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

func TestASlotIsNotGivenAgainSoon(t *testing.T) {
	t.Parallel()
	r := newRing()
	seen := map[uint16]bool{}
	for range maxHalf {
		n := r.next()
		if n == 0 || seen[n] {
			t.Fatalf("number %d comes again before all others had their turn", n)
		}
		seen[n] = true
		r.release(n)
	}
	for range maxHalf {
		r.next()
	}
	if n := r.next(); n != 0 {
		t.Errorf("number %d although all are taken", n)
	}
}

func TestRangesAreMerged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ranges, want string }{
		{"10.0.0.0/24 10.0.1.0/24", "10.0.0.0-10.0.1.255 "},
		{"10.0.0.0/8 10.1.0.0/16", "10.0.0.0-10.255.255.255 "},
		{"10.0.2.0/24 10.0.0.7/24", "10.0.0.0-10.0.0.255 10.0.2.0-10.0.2.255 "},
		{"128.0.0.0/1", "128.0.0.0-255.255.255.255 "},
		{"2001:db8::/32 2001:db9::/32", "2001:db8::-2001:db9:ffff:ffff:ffff:ffff:ffff:ffff "},
		{"", ""},
	} {
		var ranges []netip.Prefix
		for _, r := range strings.Fields(c.ranges) {
			ranges = append(ranges, netip.MustParsePrefix(r))
		}
		if got := nameSpans(spansOf(ranges)); got != c.want {
			t.Errorf("%s: %s, want %s", c.ranges, got, c.want)
		}
	}
}

func TestClassNumbersAreDifferent(t *testing.T) {
	t.Parallel()
	seen := map[uint32]class{}
	for _, tr := range []treatment{refused, clusterIP, external, externalLocal} {
		for main := power(0); main < 40; main++ {
			for local := power(0); local < 40; local++ {
				for _, s := range []uint32{0, 1, 10800, maxSticky} {
					c := class{tr, main, local, s}
					if other, ok := seen[c.number()]; ok {
						t.Fatalf("%+v and %+v have the same number", c, other)
					}
					seen[c.number()] = c
				}
			}
		}
	}
	if len(slices.Collect(maps.Keys(seen))) == 0 {
		t.Fatal("no class was tried")
	}
}

// TestAnEndpointThatComesBackIsNotRemembered: what packets remember is its slot.
func TestAnEndpointThatComesBackIsNotRemembered(t *testing.T) {
	t.Parallel()
	w := backendtest.NewWorld(1, testNode())
	svc := backendtest.PacketService()
	seconds := int32(600)
	svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	svc.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
	s, kernel := newState(w.Node, endpoints.IPv4), newTable(endpoints.IPv4)
	kernel.commit(t, s.create(w.Plan))
	seen := map[uint32]string{}
	apply := func(step string, addrs ...string) {
		backendtest.SetService(t, w.Cache, svc, backendtest.PacketSlice(addrs...))
		_, d := w.Step(t)
		kernel.commit(t, s.apply(&d))
		for _, slot := range kernel.rows[stickySlots] {
			if by, ok := seen[number(slot)]; ok && by != step {
				t.Errorf("%s: slot %x was %s", step, number(slot), by)
			}
			seen[number(slot)] = step
		}
	}
	apply("the first", "10.244.0.5")
	apply("nothing")
	apply("the first again", "10.244.0.5")
	if len(seen) != 2 {
		t.Errorf("%d slots, want 2", len(seen))
	}
	affine := svc
	svc = backendtest.PacketService()
	apply("without affinity", "10.244.0.5")
	if n := len(kernel.rows[stickySlots]) + len(kernel.rows[stickyIDs]); n > 0 {
		t.Errorf("%d elements of affinity are left", n)
	}
	svc = affine
	apply("with affinity again", "10.244.0.5")
	if len(seen) != 3 {
		t.Errorf("%d slots, want 3", len(seen))
	}
}

// What is counted up and down again in one transaction is neither put in nor taken out.
func TestWhatComesAndGoesAtOnceIsNotWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, by []int
		add, del   int
	}{
		{nil, []int{1}, 1, 0}, {nil, []int{1, -1}, 0, 0}, {nil, []int{1, 1, -1}, 1, 0},
		{[]int{1}, []int{-1}, 0, 1}, {[]int{1}, []int{-1, 1}, 0, 0}, {[]int{1}, []int{1}, 0, 0}, {[]int{1, 1}, []int{-1}, 0, 0}, {[]int{1, 1}, []int{-1, -1}, 0, 1},
	} {
		s := newState(testNode(), endpoints.IPv4)
		a := netip.MustParseAddr("10.96.0.1")
		for _, by := range c.before {
			s.clusterIPs.add(a, by)
		}
		s.begin().finish()
		for _, by := range c.by {
			s.clusterIPs.add(a, by)
		}
		rows := s.begin().finish().rows.sets[clusterIPs]
		if len(rows.add) != 4*c.add || len(rows.del) != 4*c.del {
			t.Errorf("%v, then %v: %x put in, %x taken out", c.before, c.by, rows.add, rows.del)
		}
	}
}
