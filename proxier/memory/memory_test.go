package memory

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

func TestSendPicksOneOfTracesTargets(t *testing.T) {
	t.Parallel()
	reached := 0
	for seed := range uint64(200) {
		w := newWorld(t, seed)
		dp := New(plan.Build(w.cache.Snapshot(), w.node))
		for i := range uint64(20) {
			p := w.packet()
			trace := dp.Trace(p)
			got := dp.Send(p, 0, splitMix(seed, i))
			if got.Verdict != trace.Verdict || got.Established {
				t.Fatalf("world %d: %v: send says %s, trace %s", seed, p, got.Verdict, trace.Verdict)
			}
			if got.Verdict != packet.Endpoints {
				if got.Connection != (Connection{}) {
					t.Fatalf("world %d: %v: %s, and yet a connection %v", seed, p, got.Verdict, got.Connection)
				}
				continue
			}
			reached++
			if !slices.Contains(trace.Targets, packet.Target{Addr: got.Endpoint, Masquerade: got.Masquerade}) || got.Service.String() != trace.Service {
				t.Fatalf("world %d: %v: send picks %v, trace knows %v of %s", seed, p, got.Connection, trace.Targets, trace.Service)
			}
		}
	}
	if reached < 150 {
		t.Errorf("only %d packets reached an endpoint", reached)
	}
}

func TestTraceChangesNothing(t *testing.T) {
	t.Parallel()
	dp, p := newSticky(t, 3)
	before := dp.Trace(p)
	for range 5 {
		dp.Trace(p)
	}
	if dp.Flows() != 0 || len(dp.sticky) != 0 || fmt.Sprint(dp.Trace(p)) != fmt.Sprint(before) {
		t.Error("tracing left something behind")
	}
}

func node() *plan.Node {
	return &plan.Node{
		Name: "n1", Addresses: []netip.Addr{addr(192, 168, 0, 1)}, Options: endpoints.CurrentOptions(),
		Detector: plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
	}
}

// portOf is a ready-made service port "default/web" at 172.16.0.1:80 with n endpoints.
func portOf(n int, affinity time.Duration) endpoints.ServicePort {
	sp := endpoints.ServicePort{
		Name: endpoints.ServicePortName{ServiceName: endpoints.ServiceName{Namespace: "default", Name: "web"}, Port: "http"},
		Port: 80, ClusterIP: addr(172, 16, 0, 1), AffinityTimeout: affinity,
	}
	for i := range n {
		sp.Endpoints = append(sp.Endpoints, endpoints.Endpoint{
			Addr: netip.AddrPortFrom(addr(10, 0, byte(i>>8), byte(i)), 8080), NodeName: "n2", Conditions: endpoints.Ready | endpoints.Serving,
		})
	}
	return sp
}

// planOf plans Services for a node through a cache's Snapshot, the only way to one.
func planOf(t testing.TB, n *plan.Node, ports ...endpoints.ServicePort) *plan.Plan {
	t.Helper()
	c := endpoints.NewCache(n.Options)
	for _, sp := range ports {
		svc, slice := objects(sp)
		problems := append(c.SetService(svc), c.SetSlice(slice)...)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	return plan.Build(c.Snapshot(), n)
}

// web names the Service of portOf, as a delta does.
func web() []endpoints.ServiceName {
	return []endpoints.ServiceName{{Namespace: "default", Name: "web"}}
}

func client(port uint16) packet.Packet {
	return packet.Packet{
		Src: netip.AddrPortFrom(addr(10, 0, 99, 1), port), Dst: netip.AddrPortFrom(addr(172, 16, 0, 1), 80), Protocol: packet.TCP, InInterface: "cbr0",
	}
}

func newSticky(t testing.TB, n int) (*Dataplane, packet.Packet) {
	t.Helper()
	return New(planOf(t, node(), portOf(n, time.Hour))), client(1000)
}

// With draws spread evenly over all numbers each endpoint has exactly its share; with
// pseudo-random ones about that.
func TestEveryEndpointHasTheSameChance(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5, 7, 64, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			dp := New(planOf(t, node(), portOf(n, 0)))
			const each = 200
			even, random := map[netip.AddrPort]int{}, map[netip.AddrPort]int{}
			for i := range uint64(n * each) {
				p := client(1000)
				even[dp.Send(p, 0, math.MaxUint64/uint64(n*each)*i+i/2).Endpoint]++
				dp.Close(p.Flow())
				random[dp.Send(p, 0, splitMix(7, i)).Endpoint]++
				dp.Close(p.Flow())
			}
			if len(even) != n || len(random) != n {
				t.Fatalf("%d and %d of %d endpoints were reached", len(even), len(random), n)
			}
			chi := 0.0
			for a, count := range random {
				if d := even[a] - each; d < -1 || d > 1 {
					t.Errorf("%s got %d of %d evenly spread draws, want %d", a, even[a], n*each, each)
				}
				d := float64(count - each)
				chi += d * d / each
			}
			// The mean of chi-square is n-1 and its deviation sqrt(2(n-1)); the draws are always the same.
			if limit := float64(n-1) + 4*math.Sqrt(2*float64(n)); chi > limit {
				t.Errorf("chi-square is %.1f, more than %.1f", chi, limit)
			}
		})
	}
}

func TestDrawsAtTheEdgesStayInRange(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 1000} {
		if got := scale(0, n); got != 0 {
			t.Errorf("the least draw of %d is %d", n, got)
		}
		if got := scale(math.MaxUint64, n); got != n-1 {
			t.Errorf("the greatest draw of %d is %d", n, got)
		}
	}
}

func TestFlowTable(t *testing.T) {
	t.Parallel()
	dp := New(planOf(t, node(), portOf(3, 0)))
	p := client(1000)
	first := dp.Send(p, 0, 0)
	if first.Established || first.Verdict != packet.Endpoints {
		t.Fatalf("the first packet of a flow got %+v", first)
	}
	for draw := range uint64(5) {
		got := dp.Send(p, time.Hour, draw<<61)
		if !got.Established || got.Connection != first.Connection {
			t.Errorf("a later packet got %+v, want the flow's %+v", got, first.Connection)
		}
	}
	if c, ok := dp.Lookup(p.Flow()); !ok || c != first.Connection || dp.Flows() != 1 {
		t.Errorf("the flow table has %v, %v and %d flows", c, ok, dp.Flows())
	}
	other := p
	other.Protocol = packet.UDP
	if got := dp.Send(other, 0, 0); got.Established || got.Verdict == packet.Endpoints {
		t.Errorf("another protocol with the same addresses got %+v", got)
	}
	if dp.Flows() != 1 {
		t.Errorf("%d flows: one that reached no endpoint is remembered", dp.Flows())
	}
	dp.Apply(planOf(t, node()), web())
	if got := dp.Send(p, 0, 0); !got.Established {
		t.Errorf("after its Service went, the flow got %+v", got)
	}
	dp.Close(p.Flow())
	if got := dp.Send(p, 0, 0); got.Established || got.Verdict != packet.None || dp.Flows() != 0 {
		t.Errorf("after the flow ended, its packet got %+v", got)
	}
	dp.Close(p.Flow()) // closing what is not there is no mistake
}

func TestMappedAddressesAreIPv4(t *testing.T) {
	t.Parallel()
	dp := New(planOf(t, node(), portOf(1, 0)))
	p := client(1000)
	want := dp.Trace(p)
	p.Src = netip.AddrPortFrom(netip.AddrFrom16(p.Src.Addr().As16()), p.Src.Port())
	p.Dst = netip.AddrPortFrom(netip.AddrFrom16(p.Dst.Addr().As16()), p.Dst.Port())
	if got := dp.Trace(p); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("IPv4-mapped addresses give %v, want %v", got, want)
	}
}

func TestOtherProtocolsHaveNoPorts(t *testing.T) {
	t.Parallel()
	dp := New(planOf(t, node(), portOf(1, 0)))
	p := client(1000)
	p.Protocol = 1
	if got := dp.Trace(p); got.Verdict != packet.Reject || !strings.Contains(fmt.Sprint(got.Hops), "anything but TCP, UDP and SCTP") {
		t.Errorf("ICMP with port 80 in its packet is taken for TCP: %v", got)
	}
}

// affinity sends the client's next flow and returns its endpoint.
func next(dp *Dataplane, port uint16, now time.Duration, draw uint64) netip.AddrPort {
	return dp.Send(client(port), now, draw).Endpoint
}

func TestAffinityIsKeyedByClientAddress(t *testing.T) {
	t.Parallel()
	dp, p := newSticky(t, 4)
	if a, b := next(dp, 1, 0, 0), next(dp, 2, 0, math.MaxUint64); a != b {
		t.Errorf("one client got %s and %s", a, b)
	}
	p.Src = netip.AddrPortFrom(addr(10, 0, 99, 2), 1)
	if a, b := next(dp, 3, 0, 0), dp.Send(p, 0, math.MaxUint64).Endpoint; a == b {
		t.Errorf("two clients got %s with different draws", a)
	}
}

func TestAffinityEndsExactlyWhenItTimesOut(t *testing.T) {
	t.Parallel()
	dp, _ := newSticky(t, 2)
	first := next(dp, 1, 0, 0)
	if got := next(dp, 2, time.Hour-1, math.MaxUint64); got != first {
		t.Errorf("just before its end the client got %s, want %s", got, first)
	}
	if got := next(dp, 3, 2*time.Hour-1, math.MaxUint64); got == first {
		t.Errorf("at its end, counted from the last new connection, the client got %s again", got)
	}
}

func TestEstablishedPacketsDoNotRefreshAffinity(t *testing.T) {
	t.Parallel()
	dp, _ := newSticky(t, 2)
	first := next(dp, 1, 0, 0)
	next(dp, 1, time.Hour-1, 0)
	if got := next(dp, 2, time.Hour, math.MaxUint64); got == first {
		t.Errorf("a packet of an established flow kept the client at %s", got)
	}
}

func TestAffinityMayBeShortenedAndProlonged(t *testing.T) {
	t.Parallel()
	dp, _ := newSticky(t, 2)
	first := next(dp, 1, 0, 0)
	dp.Apply(planOf(t, node(), portOf(2, time.Minute)), web())
	if got := next(dp, 2, 59*time.Second, math.MaxUint64); got != first {
		t.Errorf("within the new timeout the client got %s, want %s", got, first)
	}
	if got := next(dp, 3, 3*time.Minute, math.MaxUint64); got == first {
		t.Errorf("after the new timeout the client got %s again", got)
	}
}

func TestAffinityForgets(t *testing.T) {
	t.Parallel()
	hour := portOf(2, time.Hour)
	one := portOf(2, time.Hour)
	one.Endpoints = one.Endpoints[1:]
	none := portOf(0, time.Hour)
	for name, c := range map[string]struct {
		between []endpoints.ServicePort
		want    bool
	}{
		"nothing when the Service stays":     {between: []endpoints.ServicePort{hour}, want: false},
		"an endpoint that leaves":            {between: []endpoints.ServicePort{one}, want: true},
		"all when there is no endpoint":      {between: []endpoints.ServicePort{none}, want: true},
		"all when it is turned off":          {between: []endpoints.ServicePort{portOf(2, 0)}, want: true},
		"all when the Service is taken away": {between: nil, want: true},
	} {
		dp, _ := newSticky(t, 2)
		first := next(dp, 1, 0, 0)
		dp.Apply(planOf(t, node(), c.between...), web())
		dp.Apply(planOf(t, node(), hour), web())
		if got := next(dp, 2, 1, math.MaxUint64); (got != first) != c.want {
			t.Errorf("%s: first %s, then %s", name, first, got)
		}
	}
}

func TestAffinityOfOthersIsLeftAlone(t *testing.T) {
	t.Parallel()
	dp, _ := newSticky(t, 2)
	first := next(dp, 1, 0, 0)
	dp.Apply(dp.Plan(), []endpoints.ServiceName{{Namespace: "default", Name: "other"}})
	if got := next(dp, 2, 1, math.MaxUint64); got != first {
		t.Errorf("another Service's change moved the client from %s to %s", first, got)
	}
}

// Who decides by the rules alone gets the endpoints where there are any, and no others.
func TestADecisionHasItsEndpoints(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]packet.Verdict{0: packet.Reject, 2: packet.Endpoints} {
		d := Decide(planOf(t, node(), portOf(n, 0)), client(1000))
		if d.Verdict != want || len(d.Targets) != n {
			t.Errorf("of %d endpoints: %s, %v", n, d.Verdict, d.Targets)
		}
	}
}
