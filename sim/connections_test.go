package sim

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Analytic tests of connections that last: the expected values are derived in the comments.

// callsTo is one pod that is replaced by one: 10 clients with a connection each, 10,000 calls
// a second that take 100 ms. A preStop hook of 5 s has the rules lead to the new pod before
// the old one gets SIGTERM, so that a new connection always succeeds.
func callsTo(kind world.Connection) *world.Scenario {
	sc := plainWorld(1, 0)
	sc.Workloads[0].App.Serve = engine.Constant(100 * ms)
	sc.Workloads[0].Hooks = map[string]world.Hook{"app": {Kind: "sleep", Duration: engine.Constant(5 * sec)}}
	t := &sc.Traffic[0]
	t.Connection, t.Clients, t.Rate = kind, 10, 10_000*1000
	return sc
}

// inRange holds for an amount a seed in a range.
func inRange(low, high float64) func(float64, int) bool {
	return func(got float64, seeds int) bool {
		return got >= low*float64(seeds) && got <= high*float64(seeds)
	}
}

// The process ends at SIGTERM and cuts what it is working on: what was asked for in the 100 ms
// before, and in the round trip of 0.5 ms that the answers take, which is 1005 calls; and what
// is written in the 0.25 ms until the clients know, which is 2 or 3.
func TestAnEndWithoutGoAwayCutsTheCallsInFlight(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := callsTo(world.ConnectionHTTP2)
			sc.Workloads[0].App.InFlight = world.InFlightCut
			return sc
		},
		seeds: 2, measure: failed, holds: inRange(1006, 1010),
		what:    "calls take 10 % longer",
		changed: func(sc *world.Scenario) { sc.Workloads[0].App.Serve = engine.Constant(110 * ms) },
	}.test(t)
}

// The same with a server that sends GOAWAY and finishes its calls loses none. One that finishes
// them and sends none is never without calls: it is killed with 1005 of them, after 30 s of
// grace, and 2 or 3 more are written until the clients know.
func TestGoAwayLosesNothing(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := callsTo(world.ConnectionHTTP2)
			sc.Workloads[0].App.GoAway = true
			return sc
		},
		seeds: 2, measure: failed, holds: exactly(0),
		what:    "no GOAWAY",
		changed: func(sc *world.Scenario) { sc.Workloads[0].App.GoAway = false },
	}.test(t)
	derivation{
		world: func() *world.Scenario { return callsTo(world.ConnectionHTTP2) },
		seeds: 2, measure: failed, holds: inRange(1006, 1010),
		what:    "calls take 10 % longer",
		changed: func(sc *world.Scenario) { sc.Workloads[0].App.Serve = engine.Constant(110 * ms) },
	}.test(t)
}

// Sessions take no notice of GOAWAY: 10 of them are cut, with 1005 operations and 2 or 3 that are
// written until the clients know; these open others at once.
func TestSessionsAreCutWithTheirServer(t *testing.T) {
	t.Parallel()
	build := func() *world.Scenario {
		sc := callsTo(world.ConnectionSession)
		sc.Workloads[0].App.GoAway = true
		return sc
	}
	derivation{
		world: build, seeds: 2, measure: failed, holds: inRange(1006, 1010),
		what:    "operations take 10 % longer",
		changed: func(sc *world.Scenario) { sc.Workloads[0].App.Serve = engine.Constant(110 * ms) },
	}.test(t)
	derivation{
		world: build, seeds: 2, measure: func(r *Result) float64 { return float64(r.Streams[0].Cuts) }, holds: exactly(10),
		what:    "a client more",
		changed: func(sc *world.Scenario) { sc.Traffic[0].Clients = 11 },
	}.test(t)
}

// Connections that stand do not follow the rules: for 10 s nothing is ready, the rules reject
// all that is new, and no call is lost. With a connection for each request about 10 s are: from
// the probe, each second, to the probe after the 10 s.
func TestConnectionsThatStandDoNotFollowTheRules(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := callsTo(world.ConnectionHTTP2)
			sc.Traffic[0].Rate *= 2
			probe := sc.Workloads[0].Deployment().Spec.Template.Spec.Containers[0].ReadinessProbe
			probe.FailureThreshold = 1
			sc.Actions = []world.Action{{At: 10 * sec, For: 10 * sec, Operation: world.SetReady{Pods: world.Pods{Workload: "web", Number: world.AllPods}, Ready: false}}}
			return sc
		},
		seeds: 1, measure: failed, holds: exactly(0),
		what:    "a connection each",
		changed: func(sc *world.Scenario) { sc.Traffic[0].Connection = world.ConnectionOwn },
	}.test(t)
}

// queries is one pod that is replaced by one, asked over UDP, where a sync takes 2 s.
func queries(fixed bool) *world.Scenario {
	sc := plainWorld(1, 0)
	sc.Latency.ProxySync = engine.Constant(2 * sec)
	p := &sc.Services[0].Service.Spec.Ports[0]
	p.Protocol = corev1.ProtocolUDP
	t := &sc.Traffic[0]
	t.Protocol, t.FixedPorts, t.Clients, t.Rate, t.Timeout = endpoints.UDP, fixed, 10, 20_000*1000, 2*sec
	return sc
}

// The new pod's Ready has the proxy sync at once, for 2 s; the old pod is deleted at the same
// moment and closes its port. The sync after that one ends 4 s after the deletion: it cleans
// the flows up that are still with the old pod, which has ended within 2 s, and was told of as
// that. Until then all clients ask in vain: 4 s of 20,000 questions a second. New flows come as
// far by the same rules: the first sync adds the new pod, so that for 2 s all and then for
// 2 s half of them are lost, 3 s in all.
func TestAPinnedFlowIsLostUntilTheCleanUp(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario { return queries(true) },
		seeds: 1, measure: failed, holds: inRange(79_900, 80_100),
		what:    "a sync takes 10 % longer",
		changed: func(sc *world.Scenario) { sc.Latency.ProxySync = engine.Constant(2200 * ms) },
	}.test(t)
	derivation{
		world: func() *world.Scenario { return queries(false) },
		seeds: 1, measure: failed, holds: inRange(59_400, 60_600),
		what:    "a sync takes 10 % longer",
		changed: func(sc *world.Scenario) { sc.Latency.ProxySync = engine.Constant(2200 * ms) },
	}.test(t)
}

// A preStop hook of 5 s keeps the old pod serving: new flows go to the new pod only, and a flow
// that stands stays, so that the hook loses nothing of it and saves nothing either. The old pod
// closes its port 5 s after the deletion and has ended within a second, which is one period of the
// relist; a sync of 2 s follows at once, for the one before is long over. All in all 2 to 3 s of
// 20,000 questions a second; new flows lose nothing.
func TestAPinnedFlowStaysWithAPodThatServes(t *testing.T) {
	t.Parallel()
	build := func(fixed bool) *world.Scenario {
		sc := queries(fixed)
		sc.Workloads[0].Hooks = map[string]world.Hook{"app": {Kind: "sleep", Duration: engine.Constant(5 * sec)}}
		return sc
	}
	derivation{
		world: func() *world.Scenario { return build(true) },
		seeds: 1, measure: failed, holds: inRange(39_900, 60_100),
		what:    "a sync takes 4 s",
		changed: func(sc *world.Scenario) { sc.Latency.ProxySync = engine.Constant(4 * sec) },
	}.test(t)
	derivation{
		world: func() *world.Scenario { return build(false) },
		seeds: 1, measure: failed, holds: exactly(0),
		what:    "flows that are pinned",
		changed: func(sc *world.Scenario) { sc.Traffic[0].FixedPorts = true },
	}.test(t)
}

// named is one pod of a headless Service that is replaced by one, with clients that resolve its name.
func named() *world.Scenario {
	sc := plainWorld(1, 0)
	spec := &sc.Services[0].Service.Spec
	spec.ClusterIP, spec.ClusterIPs = corev1.ClusterIPNone, []string{corev1.ClusterIPNone}
	t := &sc.Traffic[0]
	t.Named, t.Clients, t.Rate = true, 10, 20_000*1000
	return sc
}

// Clients resolve the name at 0 s and keep the answer for 30 s. The new pod listens 15 s after 10 s,
// its probe finds out within a second, and the old pod is deleted: from then until 30 s every
// client asks an address that is gone, for 4 to 5 s.
func TestNamesAreKeptForTheirTTL(t *testing.T) {
	t.Parallel()
	derivation{
		world: named, seeds: 1, measure: only(ledger.StaleDNS), holds: inRange(4*20_000, 5*20_000),
		what:    "a start of 2 s more",
		changed: func(sc *world.Scenario) { sc.Workloads[0].App.Start = engine.Constant(17 * sec) },
	}.test(t)
}

// Clients resolve the name at 0 s, and again at each end of the TTL. Of two pods one is deleted,
// and gone from DNS at once: half of what is asked meets its address, until the TTL is over. Over
// 30 worlds the deletion is at any moment between 30.5 s and 59.5 s; its successor takes too long
// to start to be of any importance.
func TestAnAddressIsKeptForTheRestOfItsTTL(t *testing.T) {
	t.Parallel()
	const rate, worlds = 1000, 30
	lost, requests := 0.0, 0.0
	for i := range engine.Time(worlds) {
		sc := named()
		two := int32(2)
		sc.Workloads[0].Deployment().Spec.Replicas = &two
		neverReady(sc)
		linger(sc)
		sc.Workloads[0].App.Linger = 60 * sec
		grace(60)(sc)
		at := 30*sec + sec/2 + i*sec
		sc.Actions = []world.Action{action(at, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}})}
		sc.Traffic[0].Rate, sc.Until = rate*1000, at+35*sec
		r, err := Run(sc, 1)
		if err != nil {
			t.Fatal(err)
		}
		lost += only(ledger.StaleDNS)(r)
		requests += total(r)
	}
	if requests < 1_000_000 {
		t.Errorf("only %.0f requests", requests)
	}
	// rest is how much of a TTL is left at all those moments.
	rest := func(ttl float64) (sum float64) {
		for i := range worlds {
			at := 30.5 + float64(i)
			sum += ttl*math.Ceil(at/ttl) - at
		}
		return sum
	}
	if !chances(rate*rest(30), 0.5)(lost, 1) {
		t.Errorf("%.0f lost, want %.0f", lost, rate*rest(30)/2)
	}
	if chances(rate*rest(33), 0.5)(lost, 1) {
		t.Error("a TTL 10 % longer is not noticed")
	}
}

// The only pod's process crashes. The kubelet's relist, each second, finds out; the next one says
// that the pod is ready again, and until then the rules reject: 1 to 2 s after the crash. The client
// tries to connect within half a round trip, in vain, and waits 1 s, as gRPC does, in vain, and
// then 1.6 s, give or take a fifth, which is always long enough. Calls fail for 2.6 s in the mean,
// beside those that were in flight, of 100 ms and a round trip. A back-off that is 10 % longer
// costs 2.86 s.
func TestBackOffAfterACrash(t *testing.T) {
	t.Parallel()
	const rate, worlds = 1000, 200
	sum := 0.0
	for i := range engine.Time(worlds) { // at moments that are spread over a second
		sc := callsTo(world.ConnectionHTTP2)
		noReadiness(sc)
		sc.Workloads[0].App.Start, sc.Workloads[0].App.GoAway = engine.Constant(300*ms), true // it helps nothing
		sc.Actions = []world.Action{action(20*sec+i*sec/worlds+ms/4, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}})}
		sc.Traffic[0].Rate, sc.Traffic[0].Clients, sc.Until = rate*1000, 1, 30*sec
		r, err := Run(sc, uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		lost := failed(r)/rate - 0.1005
		if sum += lost; lost < 2.277 || lost > 2.923 {
			t.Errorf("world %d: %.3f s", i, lost)
		}
	}
	// The deviation of a time that is uniform over 0.64 s is 0.185 s.
	holds := func(mean float64) bool { return math.Abs(mean-2.6) <= 4*0.185/math.Sqrt(worlds) }
	if mean := sum / worlds; !holds(mean) || holds(1.1*mean) {
		t.Errorf("%.3f s in the mean", mean)
	}
}
