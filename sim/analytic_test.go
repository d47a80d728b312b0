package sim

import (
	"fmt"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The expected values of these tests are derived in their comments from the constants of the
// set-up, never from the code. Those of them that are about moments, not requests, stand in
// sim/cluster: TestReadyOfAnInitialDelay, TestMinReadySeconds, TestSidecarOrder,
// TestGraceArithmetic, TestACrashInsideTheGracePeriod.

// derivation is a world of which an amount is known beforehand.
type derivation struct {
	world   func() *world.Scenario
	seeds   int
	measure func(*Result) float64
	// holds says whether the amount, summed up over so many seeds, is what was derived.
	holds func(sum float64, seeds int) bool
	// changed makes one constant 10 % larger or smaller: then it must not hold any more.
	what    string
	changed func(*world.Scenario)
}

// test runs the world with at least a million requests, and the changed one once.
func (d derivation) test(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a million requests")
	}
	sum, requests := d.run(t, d.world(), d.seeds)
	if requests < 1_000_000 {
		t.Errorf("only %.0f requests", requests)
	}
	if !d.holds(sum, d.seeds) {
		t.Errorf("got %.0f of %.0f requests", sum, requests)
	}
	sc := d.world()
	d.changed(sc)
	if sum, _ := d.run(t, sc, 1); d.holds(sum, 1) {
		t.Errorf("%s: got %.0f, and the test cannot tell", d.what, sum)
	}
}

// run adds up several seeds. A world without an end of its own has to settle.
func (d derivation) run(t *testing.T, sc *world.Scenario, seeds int) (sum, requests float64) {
	t.Helper()
	for seed := range seeds {
		r, err := Run(sc, uint64(seed+1))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Settled && sc.Until == 0 {
			t.Fatalf("seed %d did not settle", seed+1)
		}
		all := r.Ledger.All()
		if all.OK+all.Failed != all.Total {
			t.Fatalf("%d ok and %d failed of %d", all.OK, all.Failed, all.Total)
		}
		sum += d.measure(r)
		requests += float64(all.Total)
	}
	return sum, requests
}

// chances holds when a sum of independent chances, n a seed and each taken with probability p,
// lies within 4 standard errors and within 1 % of what is expected.
func chances(n, p float64) func(float64, int) bool {
	return func(got float64, seeds int) bool {
		n := n * float64(seeds)
		off := math.Abs(got - n*p)
		return off <= 4*math.Sqrt(n*p*(1-p)) && off <= n*p/100
	}
}

// exactly holds for an amount in which nothing is random: equal to the request.
func exactly(each float64) func(float64, int) bool {
	return func(got float64, seeds int) bool { return got == each*float64(seeds) }
}

func failed(r *Result) float64 { return float64(r.Ledger.All().Failed) }

func total(r *Result) float64 { return float64(r.Ledger.All().Total) }

// only counts failures of one cause, and is not a number when there are others.
func only(cause ledger.Cause) func(*Result) float64 {
	return func(r *Result) (n float64) {
		for _, g := range r.Ledger.Groups() {
			if g.Blame.Cause != cause {
				return math.NaN()
			}
			n += float64(g.Count)
		}
		return n
	}
}

// of counts failures of one cause that clients saw as one outcome.
func of(cause ledger.Cause, outcome ledger.Outcome) func(*Result) float64 {
	return func(r *Result) (n float64) {
		for _, g := range r.Ledger.Groups() {
			if g.Blame.Cause == cause && g.Outcome == outcome {
				n += float64(g.Count)
			}
		}
		return n
	}
}

// A new pod's Ready write makes the idle proxy sync at once; the rules then hold R old pods
// and the new one. The Deployment deletes an old pod at the same moment, so its removal waits
// for minSyncPeriod W, and during W each new connection meets the dead pod with chance
// 1/(R+1). R pods are replaced one by one (surge 1, unavailable 0): of the connections offered
// in R windows of W, 1/(R+1) are lost: R/(R+1) x W seconds of traffic.
//
// The proxy is idle at each Ready only if pods become ready more than 2 W apart: the sync at
// the end of the window holds the next one back, too. Hence a start of 25 s with W = 10 s; the
// test after this one has the case in between.
func TestRolloutLosesRByRPlusOneOfMinSyncPeriod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r              int
		minSync, start engine.Time
		rate, seeds    int
	}{
		{1, sec, 15 * sec, 20000, 4}, {4, sec, 15 * sec, 20000, 3}, {20, sec, 15 * sec, 10000, 2},
		{1, 10 * sec, 15 * sec, 10000, 3}, {4, 10 * sec, 25 * sec, 10000, 2}, {20, 10 * sec, 25 * sec, 4000, 1},
	} {
		t.Run(fmt.Sprintf("R=%d minSyncPeriod=%s", c.r, c.minSync.Duration()), func(t *testing.T) {
			t.Parallel()
			derivation{
				world: func() *world.Scenario {
					sc := plainWorld(c.r, c.minSync)
					sc.Traffic[0].Rate = c.rate * 1000
					sc.Workloads[0].App.Start = engine.Constant(c.start)
					// Each pod takes its start and up to a second, the last removal W and 10 % more.
					sc.Until = 10*sec + engine.Time(c.r)*(c.start+sec) + 2*c.minSync
					return sc
				},
				seeds: c.seeds, measure: only(ledger.StaleRules),
				holds:   chances(float64(c.r*c.rate)*float64(c.minSync)/float64(sec), 1/float64(c.r+1)),
				what:    "minSyncPeriod 10 % longer",
				changed: func(sc *world.Scenario) { sc.Nodes[0].Proxy.MinSyncPeriod += c.minSync / 10 },
			}.test(t)
		})
	}
}

// W = 10 s and pods 16 s apart: a start of 15.5 s, and a probe each second, counted from the
// kubelet's relist, whose whole second is that of the Ready before. The first Ready finds the proxy idle: W of
// 1/(R+1). The sync that ends this window keeps the next from starting before 20 s, so the
// Ready at 16 s and the deletion it leads to wait 4 s together; the rules hold R pods
// meanwhile, one of them dead: 4 s of 1/R. At 32 s the proxy is idle again.
func TestReadyWithinTheHoldOfTheSyncBefore(t *testing.T) {
	t.Parallel()
	for r, seeds := range map[int]int{4: 3, 20: 2} { // order: each for itself
		derivation{
			world: func() *world.Scenario {
				sc := plainWorld(r, 10*sec)
				sc.Workloads[0].App.Start = engine.Constant(15*sec + 500*ms)
				sc.Traffic[0].Rate = 5000 * 1000
				sc.Until = 10*sec + engine.Time(r)*16*sec + 22*sec
				return sc
			},
			seeds: seeds, measure: only(ledger.StaleRules),
			holds: func(lost float64, seeds int) bool {
				offered := 5000 * float64(seeds) * float64(r) / 2
				want := offered*10/float64(r+1) + offered*4/float64(r)
				return math.Abs(lost-want) <= 4*math.Sqrt(want) && math.Abs(lost-want) <= want/100
			},
			what:    "minSyncPeriod 10 % longer",
			changed: func(sc *world.Scenario) { sc.Nodes[0].Proxy.MinSyncPeriod += sec },
		}.test(t)
	}
}

// The old pod is deleted minReadySeconds after the second in which the new one became ready:
// 9 to 10 s later, for 10. If that is longer than minSyncPeriod, 9 s here, the proxy is idle by
// then and takes the old pod out at once. With 9.9 s it is not, unless the Ready came in the
// first tenth of its second. (A start of 20 s: the news of the new pod's address makes a sync
// 9 s after the deletion, and the Ready must not wait for the 9 s after that.)
func TestMinReadySecondsAboveMinSyncPeriodRemovesTheLoss(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := plainWorld(4, 9*sec)
			sc.Traffic[0].Rate = 8000 * 1000
			sc.Workloads[0].Deployment().Spec.MinReadySeconds = 10
			sc.Workloads[0].App.Start = engine.Constant(20 * sec)
			return sc
		},
		seeds: 1, measure: failed, holds: exactly(0),
		what:    "minSyncPeriod 10 % longer",
		changed: func(sc *world.Scenario) { sc.Nodes[0].Proxy.MinSyncPeriod += 900 * ms },
	}.test(t)
}

// A preStop hook as long as minSyncPeriod, 10 s here, keeps the old pod listening until its
// removal is in force. One of 9 s does not.
func TestPreStopOutlastsThePropagation(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := plainWorld(4, 10*sec)
			sc.Traffic[0].Rate = 8000 * 1000
			sc.Workloads[0].App.Start = engine.Constant(25 * sec)
			sc.Workloads[0].Hooks = map[string]world.Hook{"app": {Kind: "sleep", Duration: engine.Constant(10 * sec)}}
			return sc
		},
		seeds: 1, measure: failed, holds: exactly(0),
		what: "preStop 10 % shorter",
		changed: func(sc *world.Scenario) {
			sc.Workloads[0].Hooks["app"] = world.Hook{Kind: "sleep", Duration: engine.Constant(9 * sec)}
		},
	}.test(t)
}

// lastPod has one pod whose requests take 5 s and come each 0.04 ms; it is taken away at 20 s.
func lastPod() *world.Scenario {
	sc := plainWorld(1, sec)
	sc.Actions = []world.Action{{At: 20 * sec, Operation: world.Scale{Workload: "deployment/web", Replicas: 0}}}
	sc.Until = 41 * sec
	sc.Workloads[0].App.Serve = engine.Constant(5 * sec)
	sc.Traffic[0].Timeout = 30 * sec
	sc.Traffic[0].Rate = 25000 * 1000
	return sc
}

func longerRequests(sc *world.Scenario) { sc.Workloads[0].App.Serve = engine.Constant(5500 * ms) }

// At SIGTERM the requests of the last 5 s and a round trip of 0.5 ms are in flight. With a
// grace period of 3 s they are cut 3 s later: those that arrived after 20 - 2.0005 s and before
// 20 s. In 2.0005 s there are 50,012.5 intervals: 50,012 arrivals, of which the last, at 20 s
// sharp, is refused already.
func TestKillAfterGraceCutsWhatTakesLonger(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := lastPod()
			grace(3)(sc)
			return sc
		},
		seeds: 1, measure: of(ledger.KilledInFlight, ledger.Reset), holds: exactly(50_012),
		what: "requests that take 10 % longer", changed: longerRequests,
	}.test(t)
}

// An app that finishes requests for at most 2 s after SIGTERM cuts those that arrived after
// 20 - 3.0005 s: 75,012.5 intervals.
func TestOwnExitCutsWhatTakesLongerThanItWaits(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := lastPod()
			finishWithin(2 * sec)(sc)
			return sc
		},
		seeds: 1, measure: of(ledger.ExitInFlight, ledger.Reset), holds: exactly(75_012),
		what: "patience 10 % longer", changed: finishWithin(2200 * ms),
	}.test(t)
}

// A liveness probe that fails restarts the container inside the pod: SIGTERM, the probe's own
// grace period of 3 s, SIGKILL. The pod stays, and so does its time: as above, requests that
// arrived within 2.0005 s before the probe failed. The probe's moment is none of an arrival, so
// of 50,012.5 intervals there are 50,012 or 50,013 arrivals.
func TestRestartInsideThePodCutsWhatTakesLongerThanItsGrace(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := lastPod()
			liveness(sc)
			three := int64(3)
			template(sc).Containers[0].LivenessProbe.TerminationGracePeriodSeconds = &three
			sc.Actions = []world.Action{{At: 20 * sec, For: 2 * sec, Operation: world.Dependency{Name: "db", Down: true}}}
			return sc
		},
		seeds: 1, measure: of(ledger.LivenessRestart, ledger.Reset),
		holds: func(cut float64, _ int) bool { return cut == 50_012 || cut == 50_013 },
		what:  "requests that take 10 % longer", changed: longerRequests,
	}.test(t)
}

// dropWorld has one pod on each of two nodes, reached over node ports with policy Local; the
// first pod's readiness is held at false for 2 s, and its probe runs each second and needs one
// answer. Clients go to its node, which drops all they send for exactly 2 s: from a tick of the
// probe to the second one after it.
func dropWorld(timeout engine.Time) func() *world.Scenario {
	return func() *world.Scenario {
		sc := quiet(2, world.Action{At: 10 * sec, For: 2 * sec, Operation: world.SetReady{Pods: world.Pods{Workload: "web", Number: 0}, Ready: false}})
		local(sc)
		firstProbe(sc)
		sc.Traffic[0].Nodes = []string{"node-1"}
		sc.Traffic[0].Timeout = timeout
		sc.Traffic[0].Rate = 20000 * 1000
		return sc
	}
}

// Retransmissions come 1 and 3 s after the first SYN: within a timeout of 5 s every connection
// dropped in a window of 2 s gets through, late. Rate x 2 s are slow, none fails.
func TestDropWindowShorterThanTheTimeoutOnlyDelays(t *testing.T) {
	t.Parallel()
	derivation{
		world: dropWorld(5 * sec), seeds: 2,
		measure: func(r *Result) float64 {
			if failed(r) != 0 {
				return math.NaN()
			}
			return float64(r.Ledger.All().Slow)
		},
		holds: exactly(20_000 * 2),
		what:  "a rate 10 % higher", changed: func(sc *world.Scenario) { sc.Traffic[0].Rate += sc.Traffic[0].Rate / 10 },
	}.test(t)
}

// With a timeout of 1 s the first retransmission comes too late: rate x 2 s fail. With 1.1 s it
// saves those of the window's last second.
func TestDropWindowLongerThanTheTimeoutFails(t *testing.T) {
	t.Parallel()
	derivation{
		world: dropWorld(sec), seeds: 2,
		measure: only(ledger.NoLocalEndpoint), holds: exactly(20_000 * 2),
		what: "a timeout 10 % longer", changed: func(sc *world.Scenario) { sc.Traffic[0].Timeout = 1100 * ms },
	}.test(t)
}

// steady does nothing for a while.
func steady(replicas int, until engine.Time) *world.Scenario {
	sc := quiet(replicas, world.Action{At: until, Operation: world.Resume{Workload: "deployment/web"}}) // changes nothing
	sc.Until = until
	return sc
}

// 30 clients that ask again when they are answered, 1 ms of service and 0.5 ms of round trip:
// each asks again 1.5 ms after its last time. Client c begins at c ms: by 60 s it has asked
// ceil((60,000 - c) / 1.5) times. Nothing is random: equal to the request.
func TestClosedLoopAsksAsFastAsItIsAnswered(t *testing.T) {
	t.Parallel()
	want := 0.0
	for c := range 30 {
		want += math.Ceil(float64(60_000-c) / 1.5)
	}
	derivation{
		world: func() *world.Scenario {
			sc := steady(2, 60*sec)
			sc.Traffic[0].Arrivals, sc.Traffic[0].Clients = world.ArrivalsClosedLoop, 30
			return sc
		},
		seeds: 1, measure: total, holds: exactly(want),
		what: "requests that take 10 % longer", changed: func(sc *world.Scenario) { sc.Workloads[0].App.Serve = engine.Constant(1100 * us) },
	}.test(t)
}

// Poisson arrivals: n is distributed with variance n.
func TestPoissonArrivalsHaveTheirRate(t *testing.T) {
	t.Parallel()
	const rate, length = 20000, 60
	derivation{
		world: func() *world.Scenario {
			sc := steady(1, length*sec)
			sc.Traffic[0].Arrivals, sc.Traffic[0].Rate = world.ArrivalsPoisson, rate*1000
			return sc
		},
		seeds: 1, measure: total,
		holds: func(n float64, seeds int) bool {
			want := float64(seeds * length * rate)
			return math.Abs(n-want) <= 4*math.Sqrt(want) && math.Abs(n-want) <= want/100
		},
		what: "a rate 10 % higher", changed: func(sc *world.Scenario) { sc.Traffic[0].Rate += rate * 100 },
	}.test(t)
}

// An app serves one request of 0.115 ms at a time and lets none wait. They come each 0.04 ms:
// it takes one, turns the two within 0.115 ms away and takes the next. In 48 s there are
// 1,200,000, less the one at 48 s sharp; every third, from the first on, is taken, 400,000, and
// 799,999 are not. If one takes 0.1265 ms three are turned away.
func TestOverloadTurnsAwayWhatThereIsNoRoomFor(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := steady(1, 48*sec)
			sc.Workloads[0].App.Serve, sc.Workloads[0].App.Concurrency = engine.Constant(115*us), 1
			sc.Traffic[0].Rate = 25000 * 1000
			return sc
		},
		seeds: 1, measure: only(ledger.Overloaded), holds: exactly(799_999),
		what: "requests that take 10 % longer", changed: func(sc *world.Scenario) { sc.Workloads[0].App.Serve = engine.Constant(126500) },
	}.test(t)
}

// 20 of 1000 requests are answered with an error: of 55 s at 20,000/s one in 50.
func TestAppErrorsAreThePartAskedFor(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := steady(2, 55*sec)
			sc.Workloads[0].App.Errors = 20
			sc.Traffic[0].Rate = 20000 * 1000
			return sc
		},
		seeds: 2, measure: only(ledger.AppError), holds: chances(55*20000, 0.02),
		what: "10 % more errors", changed: func(sc *world.Scenario) { sc.Workloads[0].App.Errors = 22 },
	}.test(t)
}

func TestSameSeedSameHashOtherSeedOtherHash(t *testing.T) {
	t.Parallel()
	sc := plainWorld(4, sec)
	hash := func(seed uint64) string {
		r, err := Run(sc, seed)
		if err != nil {
			t.Fatal(err)
		}
		return r.TraceHash
	}
	if first, again := hash(1), hash(1); first != again {
		t.Error("the same seed gives another trace")
	}
	if hash(1) == hash(2) {
		t.Error("another seed gives the same trace")
	}
}

// The budget of the design: 5 million requests a second a core, with 1 % of them failing, and as
// many with a load balancer in the path.
func BenchmarkRollout(b *testing.B) {
	l4 := world.LoadBalancer{
		Members: world.MembersLocalNodes, Controller: engine.Constant(sec), Propagation: engine.Constant(5 * sec), Drain: 30 * sec,
		Check: world.HealthCheck{Probe: world.ProbeHealthPort, Interval: sec, Timeout: sec, Healthy: 1, Unhealthy: 2},
	}
	l7 := world.LoadBalancer{
		Target: world.TargetPods, Members: world.MembersReadyPods, Controller: engine.Constant(sec), Drain: engine.Never,
		Hash: world.HashRandom, Layer7: &world.Layer7{Retries: 1, ConnectTimeout: sec, UpstreamIdle: 60 * sec},
	}
	for _, c := range []struct {
		name string
		sc   *world.Scenario
	}{
		{"way=inside", plainWorld(4, sec)},
		{"way=balancer", balanced(corev1.ServiceExternalTrafficPolicyLocal, l4)},
		{"way=proxy", balanced(corev1.ServiceExternalTrafficPolicyCluster, l7)},
		{"way=controller", behindController(1)},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.sc.Traffic[0].Rate = 20000 * 1000
			c.sc.Workloads[len(c.sc.Workloads)-1].App.Serve = engine.Constant(ms)
			var requests uint64
			for b.Loop() {
				r, err := Run(c.sc, 1)
				if err != nil {
					b.Fatal(err)
				}
				requests += r.Ledger.All().Total
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
		})
	}
}
