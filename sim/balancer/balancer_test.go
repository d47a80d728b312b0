package balancer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const sec = engine.Second

// fake is a cluster of three nodes, each with one pod of the same number.
type fake struct {
	eng       *engine.Engine
	endpoints []Endpoint // as heard
	settled   []Endpoint
	ok        map[int]bool // what probes are answered
	would     map[int]bool
	late      bool
	sure      bool
	reaches   map[int]bool
	asked     int
	cuts      []string
	unheard   bool         // of the pods themselves
	left      map[int]bool // nodes that are gone, as the controller has heard
	gone      map[int]bool // ... and as the API says
	cut       []cut
	sends     []sent
	states    []string
	kept      *Balancer // whose answers are summed up
	answers   engine.TraceHash
}

// cut is a member whose connections were cut at a moment.
type cut struct {
	at     engine.Time
	member int
}

// sent is who gets new connections from a moment on.
type sent struct {
	at      engine.Time
	members []int
}

func (f *fake) Nodes() int        { return 3 }
func (f *fake) Heard() []Endpoint { return f.endpoints }
func (f *fake) Left(node int, settled bool) bool {
	if settled {
		return f.gone[node]
	}
	return f.left[node]
}
func (f *fake) Settled() []Endpoint { return f.settled }
func (f *fake) Answer(_ world.Probe, member int, _ uint64) Answer {
	f.asked++
	return Answer{OK: f.ok[member], Late: !f.ok[member] && f.late, Sure: f.sure}
}
func (f *fake) WouldAnswer(_ world.Probe, member int) bool { return f.would[member] }
func (f *fake) Missing() ledger.Actor                      { return ledger.Spec }
func (f *fake) Reaches(member int) bool                    { return f.reaches[member] }
func (f *fake) Address(node int) string                    { return fmt.Sprint("10.0.0.", node) }
func (f *fake) Sends(members []int) {
	f.sends = append(f.sends, sent{f.eng.Now(), slices.Clone(members)})
}
func (f *fake) Target(member int, state State) {
	f.states = append(f.states, fmt.Sprintf("%s %d %s", f.eng.Now().Seconds(), member, state))
}
func (f *fake) Open(pod int) bool {
	if f.unheard {
		return false
	}
	f.cuts = append(f.cuts, fmt.Sprintf("%s open %d", f.eng.Now().Seconds(), pod))
	return true
}
func (f *fake) Cut(member int) {
	f.cut = append(f.cut, cut{f.eng.Now(), member})
	f.cuts = append(f.cuts, fmt.Sprintf("%s %d", f.eng.Now().Seconds(), member))
}
func (f *fake) Moved(gone func(uint64, int) bool) {
	n := 0
	for flow := range uint64(1000) {
		if gone(flow<<54, engine.Below(flow<<54, 3)) {
			n++
		}
	}
	f.cuts = append(f.cuts, fmt.Sprintf("%s moved %d of 1000", f.eng.Now().Seconds(), n))
}

func all(yes bool) map[int]bool { return map[int]bool{0: yes, 1: yes, 2: yes} }

// ready are endpoints on nodes that are ready.
func ready(nodes ...int) []Endpoint {
	var out []Endpoint
	for _, n := range nodes {
		out = append(out, Endpoint{Pod: n, Node: n, Ready: true, Serving: true})
	}
	return out
}

func build(t *testing.T, spec world.LoadBalancer) (*fake, *Balancer) {
	t.Helper()
	return buildSeed(t, spec, 1)
}

func buildSeed(t *testing.T, spec world.LoadBalancer, seed uint64) (*fake, *Balancer) {
	t.Helper()
	f := newFake(seed)
	return f, f.balances(t, spec)
}

func newFake(seed uint64) *fake {
	f := &fake{eng: engine.New(seed, engine.Limits{}), ok: all(true), would: all(true), reaches: all(true), sure: true}
	f.endpoints, f.settled = ready(0, 1, 2), ready(0, 1, 2)
	return f
}

// balances has a load balancer send connections to the cluster.
func (f *fake) balances(t *testing.T, spec world.LoadBalancer) *Balancer {
	t.Helper()
	b := New("balancer", &spec, f.eng, f.eng.Register("test"), f, f)
	keep(t, f, b)
	return b
}

func (f *fake) run(until engine.Time) {
	if err := f.eng.RunUntil(until); err != nil {
		panic(err)
	}
	f.ask()
}

// when returns the first moment, to a tenth of a second, at which the members with new
// connections are as wanted.
func (f *fake) when(b *Balancer, until engine.Time, want ...int) engine.Time {
	for at := f.eng.Now(); at <= until; at += sec / 10 {
		f.run(at)
		if slices.Equal(b.actives(), want) {
			return at
		}
	}
	return engine.Never
}

// A member that stops to answer is left after the phase of its probe, the unhealthy threshold
// less one intervals, and the timeout when nobody answers; it is back after the healthy ones.
func TestDetection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		check       world.HealthCheck
		late        bool
		gone, again [2]engine.Time // from, to, after the change
	}{
		{"3 s, 2 failures", world.HealthCheck{Interval: 3 * sec, Timeout: sec, Healthy: 1, Unhealthy: 2}, false, [2]engine.Time{3 * sec, 6 * sec}, [2]engine.Time{0, 3 * sec}},
		{"3 s, 2 failures, nobody answers", world.HealthCheck{Interval: 3 * sec, Timeout: sec, Healthy: 1, Unhealthy: 2}, true, [2]engine.Time{4 * sec, 7 * sec}, [2]engine.Time{0, 3 * sec}},
		{"2 s, nobody answers, and the timeout is longer", world.HealthCheck{Interval: 2 * sec, Timeout: 3 * sec, Healthy: 2, Unhealthy: 1}, true, [2]engine.Time{3 * sec, 5 * sec}, [2]engine.Time{2 * sec, 4 * sec}},
		{"10 s, 3 of each", world.HealthCheck{Interval: 10 * sec, Timeout: 6 * sec, Healthy: 3, Unhealthy: 3}, false, [2]engine.Time{20 * sec, 30 * sec}, [2]engine.Time{20 * sec, 30 * sec}},
		{"8 s, one failure", world.HealthCheck{Interval: 8 * sec, Timeout: sec, Healthy: 2, Unhealthy: 1}, false, [2]engine.Time{0, 8 * sec}, [2]engine.Time{8 * sec, 16 * sec}},
	} {
		for _, sure := range []bool{true, false} {
			c.check.Probe = world.ProbeHealthPort
			f, b := build(t, world.LoadBalancer{Check: c.check})
			f.late, f.sure = c.late, sure
			f.run(100 * sec)
			if sure && f.asked > 3 {
				t.Errorf("%s: asked %d times though nothing changed", c.name, f.asked)
			}
			f.ok[1] = false
			b.Wake()
			if at := f.when(b, 300*sec, 0, 2) - 100*sec; at < c.gone[0] || at > c.gone[1]+sec/10 {
				t.Errorf("%s, sure %v: gone after %s s, want %v", c.name, sure, at.Seconds(), c.gone)
			}
			f.run(300 * sec)
			f.ok[1] = true
			b.Wake()
			if at := f.when(b, 600*sec, 0, 1, 2) - 300*sec; at < c.again[0] || at > c.again[1]+sec/10 {
				t.Errorf("%s, sure %v: back after %s s, want %v", c.name, sure, at.Seconds(), c.again)
			}
		}
	}
}

// One answer of the other kind begins the row again: a member that answers every other probe stays
// what it is, in or out.
func TestThresholdsCountInARow(t *testing.T) {
	t.Parallel()
	f, b := build(t, world.LoadBalancer{Check: world.HealthCheck{Probe: world.ProbeHealthPort, Interval: sec, Unhealthy: 2, Healthy: 2}})
	f.run(10 * sec)
	alternate := func(want ...int) {
		t.Helper()
		sends := len(f.sends)
		for i := range 20 {
			f.ok[0] = i%2 == 1
			b.Wake()
			f.run(f.eng.Now() + sec)
		}
		if got := b.actives(); !slices.Equal(got, want) || len(f.sends) != sends {
			t.Errorf("sends to %v after %d changes, want %v after none", got, len(f.sends)-sends, want)
		}
	}
	alternate(0, 1, 2)
	f.ok[0] = false
	b.Wake()
	f.run(f.eng.Now() + 5*sec)
	alternate(1, 2)
}

// The controller hears of a terminating endpoint and removes the node 2 s later; 5 s after that
// no new connection goes there, and 30 s after that the old ones are cut.
func TestRemoval(t *testing.T) {
	t.Parallel()
	f, b := build(t, world.LoadBalancer{
		Members: world.MembersLocalNodes, Controller: engine.Constant(2 * sec), Propagation: engine.Constant(5 * sec),
		Registration: engine.Constant(3 * sec), Drain: 30 * sec,
	})
	f.run(10 * sec)
	f.endpoints = ready(0, 2)
	b.Hear()
	if at := f.when(b, 60*sec, 0, 2); at != 17*sec {
		t.Errorf("left at %s s, want 17", at.Seconds())
	}
	f.run(100 * sec)
	if want := []string{"47 1"}; !slices.Equal(f.cuts, want) {
		t.Errorf("cut %q, want %q", f.cuts, want)
	}
	f.endpoints = ready(0, 1, 2)
	b.Hear()
	if at := f.when(b, 160*sec, 0, 1, 2); at != 105*sec {
		t.Errorf("back at %s s, want 105", at.Seconds())
	}
}

// A controller that holds back acts at once on news after a while, and on what follows shortly
// after that only when the hold is over.
func TestAControllerThatHoldsBack(t *testing.T) {
	t.Parallel()
	for _, hold := range []engine.Time{0, 4 * sec} {
		f, b := build(t, world.LoadBalancer{Members: world.MembersLocalNodes, Controller: engine.Constant(sec / 2), ControllerHold: hold})
		f.run(10 * sec)
		f.endpoints = ready(0, 2)
		b.Hear()
		if at := f.when(b, 60*sec, 0, 2); at != 10*sec+sec/2 {
			t.Errorf("hold %s: the first at %s s, want 10.5", hold.Duration(), at.Seconds())
		}
		f.endpoints = ready(0)
		b.Hear()
		want := 11 * sec
		if hold > 0 {
			want = 10*sec + sec/2 + hold
		}
		if at := f.when(b, 60*sec, 0); at != want {
			t.Errorf("hold %s: the next at %s s, want %s", hold.Duration(), at.Seconds(), want.Seconds())
		}
	}
}

// A member that comes back while it drains is not cut; removed again it drains all over again. One
// that comes back before its removal is known is as if it had never been away.
func TestComingBack(t *testing.T) {
	t.Parallel()
	f, b := build(t, world.LoadBalancer{Members: world.MembersLocalNodes, Propagation: engine.Constant(5 * sec), Drain: 30 * sec})
	hear := func(at engine.Time, nodes ...int) {
		f.run(at)
		f.endpoints = ready(nodes...)
		b.Hear()
	}
	hear(10*sec, 0, 2)     // left at 15 s, to be cut at 45 s
	hear(30*sec, 0, 1, 2)  // back
	hear(40*sec, 0, 2)     // left at 45 s, to be cut at 75 s
	hear(100*sec, 0, 1, 2) // back
	hear(110*sec, 0, 2)    // to be left at 115 s
	hear(112*sec, 0, 1, 2) // back
	hear(114*sec, 0, 2)    // left at 119 s, to be cut at 149 s
	f.run(200 * sec)
	if want := []string{"75 1", "149 1"}; !slices.Equal(f.cuts, want) {
		t.Errorf("cut %q, want %q", f.cuts, want)
	}
	var moments []string
	for _, s := range f.sends {
		moments = append(moments, fmt.Sprint(s.at.Seconds(), " ", len(s.members)))
	}
	if want := []string{"15 2", "30 3", "45 2", "100 3", "119 2"}; !slices.Equal(moments, want) {
		t.Errorf("%q, want %q", moments, want)
	}
}

// Connections to a member that fails its checks are cut for that, and not because a draining time is over.
func TestACutOfAnUnhealthyMemberIsKnown(t *testing.T) {
	t.Parallel()
	for _, cuts := range []bool{true, false} {
		f, b := build(t, world.LoadBalancer{
			Drain: engine.Never, CutUnhealthy: cuts, Check: world.HealthCheck{Probe: world.ProbeHealthPort, Interval: sec, Timeout: sec, Healthy: 1, Unhealthy: 1},
		})
		f.run(10 * sec)
		f.ok[1] = false
		b.Wake()
		f.run(20 * sec)
		if b.CutsUnhealthy(0) || b.CutsUnhealthy(1) != cuts || b.CutsUnhealthy(99) {
			t.Errorf("cuts %v: %v, %v, %v", cuts, b.CutsUnhealthy(0), b.CutsUnhealthy(1), b.CutsUnhealthy(99))
		}
	}
}

// What was found out of a member that is gone says nothing of the one that has come in its place.
func TestAMemberThatIsGoneHasNoHealth(t *testing.T) {
	t.Parallel()
	f, b := build(t, world.LoadBalancer{
		Members: world.MembersLocalNodes, Drain: engine.Never, CutUnhealthy: true, HealthPropagation: engine.Constant(20 * sec),
		Check: world.HealthCheck{Probe: world.ProbeHealthPort, Interval: sec, Timeout: sec, Healthy: 1, Unhealthy: 1},
	})
	f.run(10 * sec)
	f.ok[1] = false
	b.Wake()
	f.run(12 * sec) // unhealthy: known by 31 s
	f.endpoints, f.ok[1] = ready(0, 2), true
	b.Hear()
	f.run(13 * sec)
	f.endpoints = ready(0, 1, 2)
	b.Hear()
	f.run(100 * sec)
	if len(f.cuts) > 0 {
		t.Errorf("cut %q", f.cuts)
	}
}

// A pod that terminates is no member for a load balancer that looks at terminating, and is one
// for MetalLB while it serves.
func TestMembership(t *testing.T) {
	t.Parallel()
	list := []Endpoint{
		{Pod: 10, Node: 0, Ready: true, Serving: true},
		{Pod: 11, Node: 1, Serving: true, Terminating: true},
		{Pod: 12, Node: 2},
		{Pod: 13, Node: 0, Ready: true, Serving: true},
		{Pod: 14, Node: 0, Ready: true}, // published although it is not ready; node 1 has only what terminates
	}
	for _, c := range []struct {
		members world.LBMembers
		target  world.LBTarget
		want    []int
	}{
		{world.MembersAllNodes, world.TargetNodes, []int{0, 1, 2}},
		{world.MembersLocalNodes, world.TargetNodes, []int{0, 2}},
		{world.MembersServing, world.TargetNodes, []int{0, 1}},
		{world.MembersReadyPods, world.TargetPods, []int{10, 13, 14}},
		{world.MembersLivePods, world.TargetPods, []int{10, 12, 13, 14}},
		{world.MembersServingPods, world.TargetPods, []int{10, 13}},
	} {
		_, b := build(t, world.LoadBalancer{Members: c.members, Target: c.target})
		if got := b.choose(list, false); !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, want %v", c.members, got, c.want)
		}
	}
}

// A node that has left is no target, whoever is on it; pods are targets wherever they are. The controller
// looks at nodes when it hears of one, even where endpoints do not matter to it.
func TestNodesThatLeave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		members world.LBMembers
		target  world.LBTarget
		want    []int
	}{
		{world.MembersAllNodes, world.TargetNodes, []int{0, 2}},
		{world.MembersLocalNodes, world.TargetNodes, []int{0, 2}},
		{world.MembersServing, world.TargetNodes, []int{0, 2}},
		{world.MembersReadyPods, world.TargetPods, []int{0, 1, 2}},
	} {
		f, b := build(t, world.LoadBalancer{Members: c.members, Target: c.target, Controller: engine.Constant(2 * sec), Propagation: engine.Constant(5 * sec), Drain: engine.Never})
		f.left = map[int]bool{1: true}
		b.HearNode()
		want := 7 * sec
		if len(c.want) == 3 {
			want = 0
		}
		if at := f.when(b, 20*sec, c.want...); at != want {
			t.Errorf("%d: left at %s s, want %s s", c.members, at.Seconds(), want.Seconds())
		}
		if got := b.settled(); len(got) != 3 { // the API does not say so
			t.Errorf("%d: settled %v", c.members, got)
		}
		if f.gone = f.left; !slices.Equal(b.settled(), c.want) {
			t.Errorf("%d: settled %v", c.members, b.settled())
		}
	}
}

func TestWithoutAHealthyMember(t *testing.T) {
	t.Parallel()
	check := world.HealthCheck{Probe: world.ProbeHealthPort, Interval: sec, Unhealthy: 1, Healthy: 1}
	for _, open := range []bool{true, false} {
		f, b := build(t, world.LoadBalancer{Check: check, FailOpen: open})
		f.ok = all(false)
		b.Wake()
		f.run(5 * sec)
		if _, ok := b.Pick(7, -1); ok != open {
			t.Errorf("fail-open %v: a target %v", open, ok)
		}
	}
}

// An ALB whose only target is new has none until its first checks are finished: after two intervals
// they have succeeded, or failed for good, which makes it one of those that get everything when
// all are unhealthy. Another one that fails open sends to it from the beginning.
// Reference: docs/model/load-balancers.md 3 AWS ALB.
func TestATargetThatIsInitialGetsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		waits, well bool
		from        engine.Time // its registration
	}{
		{"an ALB, and it answers", true, true, 20 * sec},
		{"an ALB, and it does not", true, false, 20 * sec},
		{"any other", false, true, 0},
	} {
		f, b := build(t, world.LoadBalancer{
			Target: world.TargetPods, Members: world.MembersReadyPods, FailOpen: true, InitialWaits: c.waits,
			Check: world.HealthCheck{Probe: world.ProbePod, Interval: 10 * sec, Timeout: sec, Healthy: 2, Unhealthy: 2},
		})
		f.ok[2], f.would[2] = c.well, c.well
		f.endpoints = ready(2)
		b.reconcile([]int{0, 1})
		f.run(sec)
		b.reconcile([]int{2})
		f.run(f.eng.Now()) // it is registered, and the others are removed
		_, ok := b.Pick(7, -1)
		if at := f.when(b, f.eng.Now()+30*sec, 2); at-sec != c.from || ok != !c.waits {
			t.Errorf("%s: a target %t, and it from %s s on", c.name, ok, (at - sec).Seconds())
		}
		if c.waits && b.Unrest() != "" {
			t.Errorf("%s: unrest, %s", c.name, b.Unrest())
		}
	}
}

// The first checks are not over, whatever comes of them: a run does not end before.
func TestFirstChecksAreUnrest(t *testing.T) {
	t.Parallel()
	f, b := build(t, world.LoadBalancer{
		Target: world.TargetPods, Members: world.MembersReadyPods, FailOpen: true, InitialWaits: true,
		Check: world.HealthCheck{Probe: world.ProbePod, Interval: 10 * sec, Timeout: sec, Healthy: 2, Unhealthy: 3},
	})
	f.ok, f.would = all(false), all(false)
	b.reconcile(nil)
	f.run(sec)
	b.reconcile([]int{1})
	for _, c := range []struct {
		at   engine.Time
		want string
	}{{25 * sec, "the load balancer has not finished the first checks of pod 1"}, {32 * sec, ""}} {
		f.run(c.at)
		if got := b.Unrest(); got != c.want {
			t.Errorf("after %s s: %q", c.at.Seconds(), got)
		}
	}
}

// A repeated SYN stays with its member while that is active, whatever becomes of the others,
// where the load balancer hashes flows.
func TestAFlowStaysWithItsMember(t *testing.T) {
	t.Parallel()
	for _, hash := range []world.FlowHash{world.HashFlow, world.HashRandom} {
		f, b := build(t, world.LoadBalancer{Hash: hash, Check: world.HealthCheck{Probe: world.ProbeHealthPort, Interval: sec, Unhealthy: 1, Healthy: 1}})
		var first [100]int
		for flow := range first {
			first[flow], _ = b.Pick(uint64(flow)<<57, -1)
		}
		f.ok[0] = false
		b.Wake()
		f.run(5 * sec)
		moved := 0
		for flow, was := range first {
			fresh, _ := b.Pick(uint64(flow)<<57, -1)
			m, ok := b.Pick(uint64(flow)<<57, was)
			want := was
			if was == 0 || hash == world.HashRandom {
				want = fresh
			}
			if !ok || m != want || m == 0 {
				t.Errorf("%v, flow %d: member %d, then %d, want %d", hash, flow, was, m, want)
			}
			if was != 0 && was != fresh {
				moved++
			}
		}
		if moved == 0 {
			t.Error("every flow would be where it was, anyway")
		}
	}
}

// One node answers ARP: which one follows from the addresses alone. Routers spread flows over
// all that announce, and again when one goes. Flow i of 1000 is at i/1024 of all: node 1 of three
// has those from 342 to 682, 341 of them, which move; those below stay with node 0, which has
// the lower half now, and those above with node 2, which has the upper one.
func TestAnnouncements(t *testing.T) {
	t.Parallel()
	_, b := build(t, world.LoadBalancer{Announce: world.AnnounceL2, Members: world.MembersServing})
	leader, _ := b.Pick(0, -1)
	for flow := range uint64(10) {
		if m, _ := b.Pick(flow<<60, -1); m != leader {
			t.Errorf("node %d and node %d answer ARP", m, leader)
		}
	}
	// The one that answers goes, and comes back: each time all connections lead to a node that does
	// not know them.
	f, b := build(t, world.LoadBalancer{Announce: world.AnnounceL2, Members: world.MembersServing, Drain: engine.Never})
	others := slices.DeleteFunc([]int{0, 1, 2}, func(n int) bool { return n == leader })
	f.run(sec)
	f.endpoints = ready(others...)
	b.Hear()
	f.run(2 * sec)
	second, _ := b.Pick(0, -1)
	f.endpoints = ready(0, 1, 2)
	b.Hear()
	f.run(3 * sec)
	if again, _ := b.Pick(0, -1); second == leader || again != leader || len(f.cuts) != 2 {
		t.Errorf("node %d, then %d, then %d: %q", leader, second, again, f.cuts)
	}
	f, b = build(t, world.LoadBalancer{Announce: world.AnnounceBGP, Members: world.MembersServing, Drain: engine.Never})
	f.run(sec)
	f.endpoints = ready(0, 2)
	b.Hear()
	f.run(2 * sec)
	if len(f.cuts) != 1 || f.cuts[0] != "1 moved 341 of 1000" {
		t.Errorf("%q", f.cuts)
	}
	// Nobody serves any more, on one node after the other: the address is withdrawn, with all that led
	// to it.
	f.endpoints = ready()
	b.Hear()
	f.run(3 * sec)
	if m, ok := b.Pick(0, -1); ok || len(f.cuts) != 3 || f.cuts[2] != "2 moved 1000 of 1000" {
		t.Errorf("node %d answers (%v): %q", m, ok, f.cuts)
	}
}

// elected are two of three nodes, without the one that answers ARP, and which of them answers when it is not there.
func elected(t *testing.T, spec world.LoadBalancer) (others []int, second int) {
	t.Helper()
	_, b := build(t, spec)
	leader := b.announced([]int{0, 1, 2})[0]
	others = slices.DeleteFunc([]int{0, 1, 2}, func(n int) bool { return n == leader })
	return others, b.announced(others)[0]
}

// Reference: docs/model/simulator.md 2, rules 7 and 8.
func TestJudge(t *testing.T) {
	t.Parallel()
	check := world.HealthCheck{Probe: world.ProbeHealthPort, Interval: 10 * sec, Unhealthy: 2, Healthy: 2}
	announced := world.LoadBalancer{Announce: world.AnnounceL2, Members: world.MembersServing, Registration: engine.Constant(90 * sec)}
	others, second := elected(t, announced)
	for _, c := range []struct {
		name   string
		spec   world.LoadBalancer
		twist  func(*fake, *Balancer)
		member int
		cause  ledger.Cause
		actor  ledger.Actor
	}{
		{"a settled member", world.LoadBalancer{Check: check}, func(*fake, *Balancer) {}, 1, ledger.NoCause, ledger.Spec},
		{"a member that settled probes leave", world.LoadBalancer{Check: check}, func(f *fake, _ *Balancer) { f.would[1] = false }, 1, ledger.StaleLB, ledger.LBProbe},
		{"and nobody would have helped", world.LoadBalancer{Check: check}, func(f *fake, _ *Balancer) { f.would[1], f.reaches = false, all(false) }, 1, ledger.NoCause, ledger.Spec},
		{"a member that the controller has not removed", world.LoadBalancer{Members: world.MembersLocalNodes}, func(f *fake, _ *Balancer) { f.settled = ready(0, 2) }, 1, ledger.StaleLB, ledger.LBController},
		{"a member whose removal is on its way", world.LoadBalancer{Members: world.MembersLocalNodes, Propagation: engine.Constant(sec)}, func(f *fake, b *Balancer) {
			f.endpoints, f.settled = ready(0, 2), ready(0, 2)
			b.Hear()
			f.run(sec / 2)
		}, 1, ledger.StaleLB, ledger.LBPropagation},
		{"a member whose failure is on its way", world.LoadBalancer{Check: check, HealthPropagation: engine.Constant(sec)}, func(f *fake, b *Balancer) {
			f.ok, f.would = map[int]bool{0: true, 2: true}, map[int]bool{0: true, 2: true}
			b.Wake()
			for b.member(1).healthy {
				f.run(f.eng.Now() + sec/10)
			}
		}, 1, ledger.StaleLB, ledger.LBPropagation},
		{"a member that is used because none seems to be healthy, and one is", world.LoadBalancer{Check: check, FailOpen: true}, func(f *fake, b *Balancer) {
			f.ok = all(false)
			b.Wake()
			f.run(60 * sec)
			f.would = map[int]bool{0: true}
		}, 1, ledger.StaleLB, ledger.LBProbe},
		{"a member that the controller has not removed, and none of the others is healthy: they are used all the same", world.LoadBalancer{Check: check, FailOpen: true, Members: world.MembersLocalNodes},
			func(f *fake, _ *Balancer) { f.settled, f.would = ready(0, 2), all(false) }, 1, ledger.StaleLB, ledger.LBController},
		{"a member that the controller has not removed, and without it there were none: the others are not checked yet",
			world.LoadBalancer{Check: check, Members: world.MembersReadyPods, Target: world.TargetPods}, func(f *fake, b *Balancer) {
				newTargets(f, b)
				f.endpoints = ready(1, 2)
				f.settled = ready(2)
			}, 1, ledger.NoHealthyTarget, ledger.LBProbe},
		{"a member that is being removed, and the one that takes its place is being registered",
			world.LoadBalancer{Check: check, Members: world.MembersReadyPods, Target: world.TargetPods, Registration: engine.Constant(90 * sec), Propagation: engine.Constant(90 * sec)}, func(f *fake, b *Balancer) {
				newTargets(f, b)
				f.endpoints, f.settled = ready(2), ready(2)
				b.Hear()
				f.run(f.eng.Now() + sec)
			}, 1, ledger.NoHealthyTarget, ledger.LBPropagation},
		{"the same of a proxy that is told whole lists: both are one change",
			world.LoadBalancer{
				Check: check, Members: world.MembersReadyPods, Target: world.TargetPods, Registration: engine.Constant(90 * sec), Propagation: engine.Constant(90 * sec),
				Layer7: &world.Layer7{WholeLists: true},
			}, func(f *fake, b *Balancer) {
				newTargets(f, b)
				f.endpoints, f.settled = ready(2), ready(2)
				b.Hear()
				f.run(f.eng.Now() + sec)
			}, 1, ledger.StaleLB, ledger.LBPropagation},
		{"no target, and none settled", world.LoadBalancer{Check: check}, func(f *fake, _ *Balancer) { f.would = all(false) }, -1, ledger.NoHealthyTarget, ledger.Spec},
		{"no target, and one that was not probed again", world.LoadBalancer{Check: check}, func(f *fake, b *Balancer) {
			f.ok = all(false)
			b.Wake()
			f.run(60 * sec)
		}, -1, ledger.NoHealthyTarget, ledger.LBProbe},
		{"no target, and one that the controller has not added", world.LoadBalancer{Members: world.MembersReadyPods, Target: world.TargetPods}, func(f *fake, b *Balancer) {
			f.endpoints, f.settled = nil, ready(1)
			b.Hear()
			f.run(sec)
		}, -1, ledger.NoHealthyTarget, ledger.LBController},
		{"no target, and one that is being registered", world.LoadBalancer{Members: world.MembersReadyPods, Target: world.TargetPods, Registration: engine.Constant(90 * sec)}, func(f *fake, b *Balancer) {
			f.endpoints = nil
			b.Hear()
			f.run(sec)
			f.endpoints, f.settled = ready(1), ready(1)
			b.Hear()
			f.run(2 * sec)
		}, -1, ledger.NoHealthyTarget, ledger.LBPropagation},
		{"no target, and one that is registered again while it drains", world.LoadBalancer{Members: world.MembersReadyPods, Target: world.TargetPods, Registration: engine.Constant(90 * sec), Drain: 300 * sec}, func(f *fake, b *Balancer) {
			f.endpoints = nil
			b.Hear()
			f.run(sec)
			f.endpoints, f.settled = ready(1), ready(1)
			b.Hear()
			f.run(2 * sec)
		}, -1, ledger.NoHealthyTarget, ledger.LBPropagation},
		{"a node that answers ARP, since the one that is to answer has not been chosen again", announced, func(f *fake, b *Balancer) {
			f.endpoints, f.settled = ready(others...), ready(0, 1, 2)
			b.Hear()
			f.run(sec)
		}, second, ledger.StaleLB, ledger.LBController},
		{"a node that answers ARP, since the one that is to answer is being registered", announced, func(f *fake, b *Balancer) {
			f.endpoints = ready(others...)
			b.Hear()
			f.run(sec)
			f.endpoints = ready(0, 1, 2)
			b.Hear()
			f.run(2 * sec)
		}, second, ledger.StaleLB, ledger.LBPropagation},
		{"a node that answered ARP when it was asked, and another one answers by now", announced, func(*fake, *Balancer) {}, second, ledger.StaleLB, ledger.LBPropagation},
	} {
		f, b := build(t, c.spec)
		c.twist(f, b)
		if cause, actor, _ := b.Judge(c.member); cause != c.cause || actor != c.actor {
			t.Errorf("%s: %s, %s, want %s, %s", c.name, cause, actor, c.cause, c.actor)
		}
	}
}

// newTargets has a load balancer begin with pod 1 alone, and add pod 2 after 200 s.
func newTargets(f *fake, b *Balancer) {
	f.endpoints = ready(1)
	b.reconcile([]int{1})
	f.run(200 * sec)
	f.endpoints = ready(1, 2)
	b.Hear()
	f.run(200*sec + 1)
}

// A member that is to be removed and fails its health checks, too, is left when the first of both is over: the other could take as long as it likes.
// Reference: docs/model/simulator.md 2, rule 8.
func TestWhatComesFirstIsBlamed(t *testing.T) {
	t.Parallel()
	slow, fast := engine.Constant(40*sec), engine.Constant(5*sec)
	for _, c := range []struct {
		name                            string
		controller, propagation, health engine.Dist
		interval, after                 engine.Time // of the failed checks; how long after that it is asked whose lateness it is
		actor                           ledger.Actor
	}{
		{"the checks find it sooner than the removal spreads", engine.Constant(0), slow, engine.Constant(0), 3 * sec, sec, ledger.LBProbe},
		{"the removal spreads sooner than the checks find it", engine.Constant(0), fast, engine.Constant(0), 30 * sec, sec, ledger.LBPropagation},
		{"the checks find it sooner than the controller acts", slow, fast, engine.Constant(0), 3 * sec, sec, ledger.LBProbe},
		{"the controller acts sooner than the checks find it", fast, engine.Constant(0), engine.Constant(0), 30 * sec, sec, ledger.LBController},
		{"what the checks have found spreads later than the removal", engine.Constant(0), fast, slow, sec / 2, 4 * sec, ledger.LBPropagation},
	} {
		f, b := build(t, world.LoadBalancer{
			Members: world.MembersLocalNodes, Controller: c.controller, Propagation: c.propagation, HealthPropagation: c.health,
			Check: world.HealthCheck{Probe: world.ProbeHealthPort, Interval: c.interval, Unhealthy: 2, Healthy: 2},
		})
		f.run(60 * sec)
		f.endpoints, f.settled = ready(0, 2), ready(0, 2)
		f.ok[1], f.would[1] = false, false
		b.Hear()
		b.Wake()
		f.run(60*sec + c.after)
		if cause, actor, _ := b.Judge(1); cause != ledger.StaleLB || actor != c.actor {
			t.Errorf("%s: %s, %s, want %s", c.name, cause, actor, c.actor)
		}
		predicted := min(b.removedAt(b.member(1)), b.failedAt(b.member(1)))
		f.run(predicted - 1)
		before := slices.Contains(b.actives(), 1)
		f.run(predicted)
		if after := slices.Contains(b.actives(), 1); !before || after {
			t.Errorf("%s: left at %s s: it gets new connections before: %v, then: %v", c.name, predicted.Seconds(), before, after)
		}
	}
}

// A SYN that is repeated stays where a proxy or a table of connections has it, as long as open connections stay there, and goes where new ones go else.
func TestARepeatedSYN(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec world.LoadBalancer
		want bool // it stays with a member that fails its checks
		gone bool // it stays with one that is removed, too
	}{
		"afresh":                 {world.LoadBalancer{}, false, false},
		"stays":                  {world.LoadBalancer{RepeatedSYN: world.SYNStays, Drain: engine.Never}, true, true},
		"stays while it drains":  {world.LoadBalancer{RepeatedSYN: world.SYNStays}, true, false},
		"stays unless it is cut": {world.LoadBalancer{RepeatedSYN: world.SYNStays, CutUnhealthy: true, Drain: engine.Never}, false, true},
		"in turn, afresh":        {world.LoadBalancer{Hash: world.HashRoundRobin}, false, false},
		"of a proxy":             {world.LoadBalancer{Hash: world.HashRoundRobin, Layer7: &world.Layer7{}}, true, true},
	} {
		c.spec.Check = world.HealthCheck{Probe: world.ProbeHealthPort, Interval: sec, Unhealthy: 1, Healthy: 1}
		f, b := build(t, c.spec)
		f.ok[0] = false
		b.Wake()
		f.run(5 * sec)
		for flow := range uint64(20) {
			if m, ok := b.Pick(flow<<59, 0); !ok || (m == 0) != c.want {
				t.Errorf("%s, flow %d: member %d, want it to stay: %v", name, flow, m, c.want)
			}
		}
		b.remove(0, f.eng.Now())
		f.run(20 * sec)
		for flow := range uint64(20) {
			if m, ok := b.Pick(flow<<59, 0); !ok || (m == 0) != c.gone {
				t.Errorf("%s, flow %d, of a member that is removed: member %d, want it to stay: %v", name, flow, m, c.gone)
			}
		}
	}
}

// A proxy in the cluster is told whole lists, one after another: a pod that it heard of before another one left takes over from that at the same
// moment or before it, in every draw. A provider's load balancer is told of each by itself, and there is a gap between them in some.
func TestAProxyInTheClusterIsToldWholeLists(t *testing.T) {
	t.Parallel()
	pod := func(numbers ...int) []Endpoint {
		var out []Endpoint
		for _, n := range numbers {
			out = append(out, Endpoint{Pod: n, Ready: true, Serving: true})
		}
		return out
	}
	delay, err := engine.Uniform(sec/10, sec)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		inside bool
		apart  engine.Time // how long after the new pod's the old pod's change is heard
		want   bool        // there is a moment without any member, with some seed
	}{
		"inside, two lists":       {true, sec / 5, false},
		"inside, one list":        {true, 0, false},
		"a provider's, two calls": {false, sec / 5, true},
		"a provider's, one call":  {false, 0, true},
	} {
		empty := false
		for seed := range uint64(40) {
			f, b := buildSeed(t, world.LoadBalancer{
				Target: world.TargetPods, Members: world.MembersReadyPods, Registration: delay, Propagation: delay, Drain: engine.Never,
				Layer7: &world.Layer7{WholeLists: c.inside},
			}, seed)
			f.endpoints = pod(0)
			b.reconcile([]int{0})
			f.run(5 * sec)
			f.sends = nil
			if c.apart > 0 {
				f.endpoints = pod(0, 7)
				b.Hear()
				f.run(f.eng.Now() + c.apart)
			}
			f.endpoints = pod(7)
			b.Hear()
			f.run(20 * sec)
			for _, s := range f.sends {
				empty = empty || len(s.members) == 0
			}
			if got := b.actives(); !slices.Equal(got, []int{7}) {
				t.Fatalf("%s, seed %d: in the end %v, want the new pod alone", name, seed, got)
			}
		}
		if empty != c.want {
			t.Errorf("%s: nobody to send to with some seed: %v, want %v", name, empty, c.want)
		}
	}
}
