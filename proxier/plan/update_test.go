package plan_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// sameRules says in full what two frontends have to have in common to ask for the same rules.
func sameRules(a, b *plan.Frontend) bool {
	return a.Key == b.Key && a.Kind == b.Kind && a.Service == b.Service && a.Routes == b.Routes && a.Affinity == b.Affinity &&
		slices.Equal(a.Allowed, b.Allowed) && slices.Equal(a.Lists.Cluster, b.Lists.Cluster) && slices.Equal(a.Lists.Local, b.Lists.Local)
}

// dump writes down everything a Plan says.
func dump(p *plan.Plan) string {
	var b strings.Builder
	frontend := func(f *plan.Frontend) {
		fmt.Fprintf(&b, "\t%s %s of %s: %v %v affinity %s from %v\n", f.Key, f.Kind, f.Service, f.Routes, *f.Lists, f.Affinity, f.Allowed)
	}
	for s := range p.Services() {
		fmt.Fprintf(&b, "%s health %v\n", s.Name, s.HealthCheckNodePorts)
		for _, port := range s.Ports {
			fmt.Fprintf(&b, "\t%s %s any %v none local %v %v: %v\n", port.Name, port.Family, port.HasAny, port.NoLocalInternal, port.NoLocalExternal, *port.Lists)
		}
		for i := range s.Frontends {
			frontend(&s.Frontends[i])
		}
	}
	b.WriteString("in force\n")
	for f := range p.Frontends() {
		frontend(f)
	}
	for _, c := range p.Conflicts() {
		fmt.Fprintf(&b, "lost: %s %s of %s to %s of %s\n", c.Loser.Key, c.Loser.Kind, c.Loser.Service, c.Winner.Kind, c.Winner.Service)
	}
	return b.String()
}

// follower keeps a Plan up to date by Update and checks each step against Build and Diff.
type follower struct {
	node    *plan.Node
	cache   *endpoints.Cache
	plan    *plan.Plan
	applied map[plan.Key]*plan.Frontend // what a dataplane that applies the deltas has
	old     []oldPlan
}

type oldPlan struct {
	plan *plan.Plan
	dump string
}

// clusterIPs holds whether an address is a ClusterIP to a look at all Services.
func clusterIPs(p *plan.Plan) error {
	is := map[netip.Addr]bool{}
	for s := range p.Services() {
		for i := range s.Frontends {
			a := s.Frontends[i].Key.Addr
			is[a] = is[a] || s.Frontends[i].Kind == plan.ClusterIP
			is[a.Prev()], is[a.Next()] = is[a.Prev()], is[a.Next()] // nobody's, perhaps
		}
	}
	for a, want := range is { // order: each for itself
		if p.IsClusterIP(a) != want {
			return fmt.Errorf("%s is a ClusterIP: %v, want %v", a, !want, want)
		}
	}
	return nil
}

func newFollower(d plan.Dialect) *follower {
	node := benchNode(d)
	return &follower{node: node, cache: endpoints.NewCache(node.Options), plan: plan.Empty(node), applied: map[plan.Key]*plan.Frontend{}}
}

// step publishes what has changed in the cache and follows it.
func (f *follower) step() error {
	prev := f.plan
	f.old = append(f.old, oldPlan{prev, dump(prev)})
	snap := f.cache.Snapshot()
	next, delta := plan.Update(prev, snap, snap.Changed())
	f.plan = next
	if err := next.CheckInvariants(); err != nil {
		return err
	}
	if err := clusterIPs(next); err != nil {
		return err
	}
	if got, want := dump(next), dump(plan.Build(snap, f.node)); got != want {
		return fmt.Errorf("update makes\n%s\nbuild makes\n%s", got, want)
	}
	diff := plan.Diff(prev, next)
	if !slices.Equal(delta.Frontends, diff.Frontends) || !slices.Equal(delta.Services, diff.Services) {
		return fmt.Errorf("update says\n%v\ndiff says\n%v", delta, diff)
	}
	backwards := slices.Clone(snap.Changed())
	slices.Reverse(backwards)
	again, other := plan.Update(prev, snap, append(backwards, snap.Changed()...))
	if dump(again) != dump(next) || len(other.Frontends) != len(delta.Frontends) || !slices.Equal(other.Services, delta.Services) {
		return fmt.Errorf("the order of the names, or naming them twice, changes the result:\n%s\n%s", dump(again), dump(next))
	}
	unasked := plan.Next(prev, snap, backwards)
	if err := unasked.CheckInvariants(); err != nil {
		return err
	}
	if dump(unasked) != dump(next) {
		return fmt.Errorf("without a delta it makes\n%s\nwith one\n%s", dump(unasked), dump(next))
	}
	return f.apply(delta)
}

func (f *follower) apply(delta plan.Delta) error {
	for _, c := range delta.Frontends {
		if f.applied[c.Key] == nil != (c.Old == nil) || c.Old != nil && !sameRules(c.Old, f.applied[c.Key]) {
			return fmt.Errorf("%s: the delta's old frontend is not what was there", c.Key)
		}
		if c.New == nil {
			delete(f.applied, c.Key)
		} else {
			f.applied[c.Key] = c.New
		}
	}
	n := 0
	for want := range f.plan.Frontends() {
		n++
		if got := f.applied[want.Key]; got == nil || !sameRules(got, want) {
			return fmt.Errorf("%s: applying deltas gives %v, the Plan has %v", want.Key, got, want)
		}
		if f.plan.Frontend(want.Key) != want {
			return fmt.Errorf("%s: walking and looking up give different frontends", want.Key)
		}
	}
	if n != len(f.applied) {
		return fmt.Errorf("applying deltas gives %d frontends, the Plan has %d", len(f.applied), n)
	}
	return nil
}

// unchanged says whether a Plan has changed after it was made.
func (f *follower) unchanged() error {
	for i, old := range f.old {
		if got := dump(old.plan); got != old.dump {
			return fmt.Errorf("plan %d was\n%s\nand is\n%s", i, old.dump, got)
		}
	}
	return nil
}

// play reads events off bytes, three an event: what happens, to which of a few Services, and
// how. Addresses and node ports are so few that Services collide.
func play(f *follower, events []byte) error {
	for len(events) >= 3 {
		what, which, how := events[0], int(events[1]%6), events[2]
		events = events[3:]
		w := worldService{namespace: "a", name: fmt.Sprintf("s%d", which)}
		if which > 3 {
			w.namespace = "b"
		}
		switch what % 8 {
		case 0, 1:
			f.cache.SetService(shaped(w, which, what, how).object())
		case 2:
			f.cache.DeleteService(endpoints.ServiceName{Namespace: w.namespace, Name: w.name})
		case 3, 4, 5, 6:
			s := sliceObject(w.namespace, w.name, endpointsFrom(how, what))
			s.Name += fmt.Sprint(what / 8 % 2) // each Service has two slices
			f.cache.SetSlice(s)
		default:
			f.cache.DeleteSlice(w.namespace, w.name+fmt.Sprint(how%2))
		}
		if what>>7 == 0 { // else the next event falls into the same Snapshot
			if err := f.step(); err != nil {
				return err
			}
		}
	}
	if err := f.step(); err != nil {
		return err
	}
	return f.unchanged()
}

func shaped(w worldService, which int, what, how byte) worldService {
	w.clusterIP = netip.AddrFrom4([4]byte{172, 16, 0, byte(which)})
	w.exposed = how&1 != 0
	w.internalLocal, w.externalLocal = how&2 != 0, how&4 != 0
	w.affinity = how&8 != 0
	w.external = netip.AddrFrom4([4]byte{198, 18, 0, how >> 4 % 4})
	w.nodePort, w.healthPort = 30000+int32(how>>4%4), 31000
	if how>>6 == 3 {
		w.external = netip.AddrFrom4([4]byte{172, 16, 0, how >> 4 % 4}) // another Service's ClusterIP
	}
	if what&16 != 0 {
		w.ports = []int32{80, 81, 82}[:1+what>>5%3]
	}
	if what&32 != 0 {
		w.ranges = []string{"192.168.0.0/24", "203.0.113.0/24"}[what>>6&1:]
	}
	if what&64 != 0 {
		w.protocol = corev1.ProtocolUDP
	}
	return w
}

// endpointsFrom makes up to four endpoints, two bits of how for each: none, ready, draining or
// gone. The first two run on the node.
func endpointsFrom(how, what byte) []worldEndpoint {
	var list []worldEndpoint
	for i := range 4 {
		state := how >> (2 * i) & 3
		if state == 0 {
			continue
		}
		e := worldEndpoint{addr: netip.AddrFrom4([4]byte{10, 0, what >> 4 & 1, byte(i)}), node: "n1", ready: state == 1, serving: state == 2}
		if i < 2 {
			e.node = "n0"
		}
		list = append(list, e)
	}
	return list
}

func TestUpdateFollowsRandomEvents(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 2))
			events := make([]byte, 3*(20+rng.IntN(40)))
			for i := range events {
				events[i] = byte(rng.Uint32())
			}
			if err := play(newFollower(plan.Dialect(seed%2)), events); err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add(false, []byte("0a1"))
	f.Add(true, []byte{0, 0, 0xff, 3, 0, 0x55, 0, 1, 0xff, 2, 0, 0, 7, 0, 0})
	f.Add(false, []byte{0x10, 0, 0xc1, 0, 1, 0, 0, 2, 0xd1, 3, 0, 0xaa, 0x80, 1, 7, 2, 2, 0})
	f.Fuzz(func(t *testing.T, iptables bool, events []byte) {
		dialect := plan.NFTables
		if iptables {
			dialect = plan.IPTables
		}
		if err := play(newFollower(dialect), events[:min(len(events), 150)]); err != nil {
			t.Error(err)
		}
	})
}

// set puts a Service and its endpoints into the follower's cache.
func (f *follower) set(w worldService, list ...worldEndpoint) {
	f.cache.SetService(w.object())
	f.cache.SetSlice(sliceObject(w.namespace, w.name, list))
}

func at(a, node string) worldEndpoint {
	return worldEndpoint{addr: netip.MustParseAddr(a), node: node, ready: true}
}

func clusterService(name string, last byte) worldService {
	return worldService{namespace: "a", name: name, clusterIP: netip.AddrFrom4([4]byte{172, 16, 0, last})}
}

func exposedService(name string, last byte) worldService {
	w := clusterService(name, last)
	w.exposed, w.external, w.nodePort, w.healthPort = true, netip.MustParseAddr("198.18.0.1"), 30000, 31000
	return w
}

func TestAConflictIsSettledAnewWhenTheWinnerGoes(t *testing.T) {
	t.Parallel()
	f := newFollower(plan.NFTables)
	f.set(exposedService("web", 1), at("10.0.0.1", "n0"))
	f.set(exposedService("another", 2), at("10.0.0.2", "n0"))
	if err := f.step(); err != nil {
		t.Fatal(err)
	}
	keys := []plan.Key{
		{Addr: netip.MustParseAddr("198.18.0.1"), Port: 80}, {Addr: netip.MustParseAddr("198.18.0.2"), Port: 80},
		plan.NodePortKey(endpoints.IPv4, endpoints.TCP, 30000),
	}
	if n := len(f.plan.Conflicts()); n != len(keys) {
		t.Fatalf("%d conflicts, want %d", n, len(keys))
	}
	for _, c := range f.plan.Conflicts() {
		if c.Winner.Service.Name != "another" || c.Loser.Service.Name != "web" || c.Winner.Key != c.Loser.Key {
			t.Errorf("%s: %s wins over %s, want the first by name to win", c.Loser.Key, c.Winner.Service, c.Loser.Service)
		}
	}
	f.cache.DeleteService(endpoints.ServiceName{Namespace: "a", Name: "another"})
	prev := f.plan
	if err := f.step(); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if got := f.plan.Frontend(key); got == nil || got.Service.Name != "web" {
			t.Errorf("%s belongs to %v, want web", key, got)
		}
		if got := prev.Frontend(key); got.Service.Name != "another" {
			t.Errorf("%s belonged to %v in the old Plan, want another", key, got)
		}
	}
	if n := len(f.plan.Conflicts()); n != 0 {
		t.Errorf("%d conflicts are left", n)
	}
}

func TestKindsComeBeforeNamesInConflicts(t *testing.T) {
	t.Parallel()
	f := newFollower(plan.NFTables)
	f.set(clusterService("web", 1), at("10.0.0.1", "n0"))
	thief := exposedService("a-thief", 9)
	thief.external = netip.MustParseAddr("172.16.0.1")
	f.set(thief, at("10.0.0.2", "n0"))
	if err := f.step(); err != nil {
		t.Fatal(err)
	}
	if got := f.plan.Frontend(plan.Key{Addr: thief.external, Port: 80}); got.Service.Name != "web" || got.Kind != plan.ClusterIP {
		t.Errorf("another's external IP beats a ClusterIP: %s has it", got.Service)
	}
	if !f.plan.IsClusterIP(thief.external) || f.plan.IsClusterIP(thief.vip()) {
		t.Error("ClusterIPs are told wrong from other addresses")
	}
}

// An external IP that becomes a load-balancer IP is the same address in the same place, and a claim of another kind: it wins
// against the external IP of a Service whose name comes first.
func TestAClaimOfAnotherKindIsSettledAnew(t *testing.T) {
	t.Parallel()
	f := newFollower(plan.NFTables)
	shared := netip.MustParseAddr("203.0.113.7").String()
	first := clusterService("a-first", 2).object()
	first.Spec.ExternalIPs = []string{shared}
	f.cache.SetService(first)
	web := clusterService("web", 1).object()
	web.Spec.ExternalIPs = []string{shared}
	f.cache.SetService(web)
	owner := func(want string, kind plan.Kind) {
		t.Helper()
		if err := f.step(); err != nil {
			t.Fatal(err)
		}
		if got := f.plan.Frontend(plan.Key{Addr: netip.MustParseAddr(shared), Port: 80}); got == nil || got.Service.Name != want || got.Kind != kind {
			t.Errorf("%v, want the %s of %s", got, kind, want)
		}
	}
	owner("a-first", plan.ExternalIP)
	web.Spec.Type, web.Spec.ExternalIPs = corev1.ServiceTypeLoadBalancer, nil
	web.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: shared}}
	f.cache.SetService(web)
	owner("web", plan.LoadBalancerIP)
}

func TestADeltaIsEmptyWhenNothingChangesForThisNode(t *testing.T) {
	t.Parallel()
	local := exposedService("web", 1)
	local.internalLocal, local.externalLocal = true, true
	internal := clusterService("web", 1)
	internal.internalLocal = true
	cases := map[string]struct {
		service     worldService
		before, now []worldEndpoint
	}{
		"another node's endpoint comes, and only the Local list is used": {
			internal, []worldEndpoint{at("10.0.0.1", "n0")}, []worldEndpoint{at("10.0.0.1", "n0"), at("10.0.0.2", "n1")},
		},
		"a remote endpoint moves to another node": {
			clusterService("web", 1), []worldEndpoint{at("10.0.0.1", "n1")}, []worldEndpoint{at("10.0.0.1", "n2")},
		},
		"an endpoint that is in no list changes": {
			local, []worldEndpoint{at("10.0.0.1", "n0"), {addr: netip.MustParseAddr("10.0.0.2"), node: "n1", serving: true}},
			[]worldEndpoint{at("10.0.0.1", "n0"), {addr: netip.MustParseAddr("10.0.0.2"), node: "n1"}},
		},
		"the only endpoint starts to terminate and still serves": {
			clusterService("web", 1), []worldEndpoint{at("10.0.0.1", "n1")}, []worldEndpoint{{addr: netip.MustParseAddr("10.0.0.1"), node: "n1", serving: true}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFollower(plan.NFTables)
			f.set(c.service, c.before...)
			if err := f.step(); err != nil {
				t.Fatal(err)
			}
			prev := f.plan
			f.set(c.service, c.now...)
			snap := f.cache.Snapshot()
			next, delta := plan.Update(prev, snap, snap.Changed())
			if len(snap.Changed()) != 1 {
				t.Fatalf("the Snapshot names %v", snap.Changed())
			}
			if !delta.Empty() {
				t.Errorf("delta is %v", delta)
			}
			if got, want := dump(next), dump(plan.Build(snap, f.node)); got != want {
				t.Errorf("update makes\n%s\nbuild makes\n%s", got, want)
			}
		})
	}
}

func TestAServiceIsNamedThoughItsFrontendsLost(t *testing.T) {
	t.Parallel()
	f := newFollower(plan.NFTables)
	f.set(exposedService("a-winner", 1), at("10.0.0.1", "n0"))
	f.set(exposedService("loser", 2), at("10.0.0.2", "n0"))
	if err := f.step(); err != nil {
		t.Fatal(err)
	}
	prev := f.plan
	f.set(exposedService("loser", 2), at("10.0.0.3", "n0"))
	snap := f.cache.Snapshot()
	_, delta := plan.Update(prev, snap, snap.Changed())
	if want := []endpoints.ServiceName{{Namespace: "a", Name: "loser"}}; !slices.Equal(delta.Services, want) {
		t.Errorf("delta names %v, want %v", delta.Services, want)
	}
	if len(delta.Frontends) != 1 || delta.Frontends[0].New.Kind != plan.ClusterIP {
		t.Errorf("delta changes %v, want the ClusterIP alone: the loser has no other frontend in force", delta.Frontends)
	}
}

func TestAnAddressListedTwiceIsOneFrontend(t *testing.T) {
	t.Parallel()
	f := newFollower(plan.NFTables)
	svc := exposedService("web", 1).object()
	svc.Spec.ExternalIPs = []string{"198.18.0.1", "198.18.0.9", "198.18.0.1"}
	svc.Status.LoadBalancer.Ingress = append(svc.Status.LoadBalancer.Ingress, svc.Status.LoadBalancer.Ingress[0])
	f.cache.SetService(svc)
	if err := f.step(); err != nil {
		t.Fatal(err)
	}
	if s := f.plan.Service(endpoints.ServiceName{Namespace: "a", Name: "web"}); len(s.Frontends) != 5 {
		t.Errorf("%d frontends, want ClusterIP, load-balancer IP, two external IPs and a node port", len(s.Frontends))
	}
}

func TestOneServiceMayClaimAnAddressTwice(t *testing.T) {
	t.Parallel()
	f := newFollower(plan.NFTables)
	w := exposedService("web", 1)
	svc := w.object()
	svc.Spec.ExternalIPs = []string{w.vip().String()} // common where a bare-metal load balancer announces it
	svc.Spec.LoadBalancerSourceRanges = []string{"203.0.113.0/24"}
	f.cache.SetService(svc)
	if err := f.step(); err != nil {
		t.Fatal(err)
	}
	got := f.plan.Frontend(plan.Key{Addr: w.vip(), Port: 80})
	if got == nil || got.Kind != plan.LoadBalancerIP || got.Allowed == nil {
		t.Errorf("got %v, want the load-balancer IP with its source ranges", got)
	}
	if n := len(f.plan.Conflicts()); n != 0 {
		t.Errorf("%d conflicts of a Service with itself", n)
	}
}

func TestEveryChangeOfRulesIsADelta(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(w *worldService, list *[]worldEndpoint)
		keys   int // how many change; the Service is named in any case
	}{
		"nothing":                    {func(*worldService, *[]worldEndpoint) {}, -1},
		"an endpoint":                {func(_ *worldService, list *[]worldEndpoint) { (*list)[1].addr = netip.MustParseAddr("10.0.0.9") }, 4},
		"where an endpoint runs":     {func(_ *worldService, list *[]worldEndpoint) { (*list)[1].node = "n0" }, 4},
		"no endpoint any more":       {func(_ *worldService, list *[]worldEndpoint) { *list = nil }, 4},
		"the internal policy":        {func(w *worldService, _ *[]worldEndpoint) { w.internalLocal = true }, 1},
		"the external policy":        {func(w *worldService, _ *[]worldEndpoint) { w.externalLocal = false }, 4},
		"the source ranges":          {func(w *worldService, _ *[]worldEndpoint) { w.ranges = []string{"203.0.114.0/24"} }, 1},
		"no source ranges any more":  {func(w *worldService, _ *[]worldEndpoint) { w.ranges = nil }, 1},
		"session affinity":           {func(w *worldService, _ *[]worldEndpoint) { w.affinity = true }, 4},
		"the health-check node port": {func(w *worldService, _ *[]worldEndpoint) { w.healthPort++ }, 0},
		"the node port":              {func(w *worldService, _ *[]worldEndpoint) { w.nodePort++ }, 2},
		"the port":                   {func(w *worldService, _ *[]worldEndpoint) { w.ports = []int32{81} }, 6}, // the node port does not show it
		"the ClusterIP":              {func(w *worldService, _ *[]worldEndpoint) { w.clusterIP = netip.MustParseAddr("172.16.0.7") }, 2},
		"the protocol":               {func(w *worldService, _ *[]worldEndpoint) { w.protocol = corev1.ProtocolUDP }, 8},
		"another port":               {func(w *worldService, _ *[]worldEndpoint) { w.ports = []int32{80, 81} }, 4},
		"its external addresses":     {func(w *worldService, _ *[]worldEndpoint) { w.exposed = false }, 4}, // the ClusterIP has no Local list any more
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFollower(plan.NFTables)
			w := exposedService("web", 1)
			w.externalLocal, w.ranges = true, []string{"203.0.113.0/24"}
			list := []worldEndpoint{at("10.0.0.1", "n0"), at("10.0.0.2", "n1")}
			f.set(w, list...)
			if err := f.step(); err != nil {
				t.Fatal(err)
			}
			prev := f.plan
			c.change(&w, &list)
			f.set(w, list...)
			if err := f.step(); err != nil {
				t.Fatal(err)
			}
			delta := plan.Diff(prev, f.plan)
			if (len(delta.Services) == 1) != (c.keys >= 0) || len(delta.Frontends) != max(c.keys, 0) {
				t.Errorf("the delta has %d frontends of %v, want %d\n%v", len(delta.Frontends), delta.Services, c.keys, delta.Frontends)
			}
		})
	}
}
