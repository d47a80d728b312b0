package sim

import (
	"fmt"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// The expected values of these tests are derived in their comments from the constants of the
// set-up, never from the code.

// count is what a run says of one cause, over all streams.
func count(r *Result, cause ledger.Cause) (n float64) {
	for _, g := range r.Ledger.Groups() {
		if g.Blame.Cause == cause {
			n += float64(g.Count)
		}
	}
	return n
}

// runs adds up several seeds.
func runs(t *testing.T, sc *scenario.Scenario, seeds int, measure func(*Result) float64) (sum, requests float64) {
	t.Helper()
	for seed := range seeds {
		r, err := Run(sc, uint64(seed+1))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Settled {
			t.Fatalf("%s: seed %d did not settle", sc.Name, seed+1)
		}
		all := r.Ledger.All()
		if all.OK+all.Failed != all.Total {
			t.Fatalf("%s: %d ok and %d failed of %d", sc.Name, all.OK, all.Failed, all.Total)
		}
		sum += measure(r)
		requests += float64(all.Total)
	}
	return sum, requests
}

// near says whether a sum of independent chances, each taken with probability p out of n, lies
// within 4 standard errors and 1 % of what was derived.
func near(got, n, p float64) bool {
	want := n * p
	return math.Abs(got-want) <= 4*math.Sqrt(n*p*(1-p))+1 && math.Abs(got-want) <= want/100+1
}

func failed(r *Result) float64 { return float64(r.Ledger.All().Failed) }

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
		{1, sec, 15 * sec, 20000, 4}, {4, sec, 15 * sec, 20000, 4}, {20, sec, 15 * sec, 10000, 2},
		{1, 10 * sec, 15 * sec, 10000, 2}, {4, 10 * sec, 25 * sec, 10000, 2}, {20, 10 * sec, 25 * sec, 4000, 1},
	} {
		t.Run(fmt.Sprintf("R=%d minSyncPeriod=%s", c.r, c.minSync.Duration()), func(t *testing.T) {
			t.Parallel()
			sc := plainWorld(c.r, c.minSync)
			sc.Traffic[0].Rate = c.rate * 1000
			sc.Workloads[0].App.Start = engine.Constant(c.start)
			lost, requests := runs(t, sc, c.seeds, failed)
			offered := float64(c.seeds*c.r*c.rate) * float64(c.minSync) / float64(sec)
			if !near(lost, offered, 1/float64(c.r+1)) {
				t.Errorf("lost %.0f of %.0f requests, want %.0f", lost, requests, offered/float64(c.r+1))
			}
			// The same with minSyncPeriod 10 % longer must not pass for it.
			sc.Nodes[0].Proxy.MinSyncPeriod += c.minSync / 10
			if lost, _ := runs(t, sc, c.seeds, failed); near(lost, offered, 1/float64(c.r+1)) {
				t.Errorf("lost %.0f with minSyncPeriod 10 %% longer: the test cannot tell", lost)
			}
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
	for _, r := range []int{4, 20} {
		sc := plainWorld(r, 10*sec)
		sc.Workloads[0].App.Start = engine.Constant(15*sec + 500*ms)
		sc.Traffic[0].Rate = 5000 * 1000
		lost, _ := runs(t, sc, 2, failed)
		offered := 2 * 5000 * float64(r) / 2
		want := offered*10/float64(r+1) + offered*4/float64(r)
		if math.Abs(lost-want) > 4*math.Sqrt(want) || math.Abs(lost-want) > want/100 {
			t.Errorf("R=%d: lost %.0f, want %.0f", r, lost, want)
		}
	}
}

// The old pod is deleted minReadySeconds after the new one became ready. If that is longer
// than minSyncPeriod the proxy is idle by then and takes the old pod out at once.
func TestMinReadySecondsAboveMinSyncPeriodRemovesTheLoss(t *testing.T) {
	t.Parallel()
	sc := plainWorld(4, sec)
	sc.Traffic[0].Rate = 10000 * 1000
	sc.Workloads[0].Deployment.Spec.MinReadySeconds = 3
	if lost, requests := runs(t, sc, 1, failed); lost != 0 || requests < 500_000 {
		t.Errorf("lost %.0f of %.0f", lost, requests)
	}
}

// preStop sleep 15 s keeps the old pod listening until long after its removal from the rules.
func TestPreStopOutlastsThePropagation(t *testing.T) {
	t.Parallel()
	sc := plainWorld(4, sec)
	sc.Traffic[0].Rate = 5000 * 1000
	sc.Workloads[0].Hooks = map[string]scenario.Hook{"app": {Kind: "sleep", Duration: engine.Constant(15 * sec)}}
	if lost, _ := runs(t, sc, 2, failed); lost != 0 {
		t.Errorf("lost %.0f", lost)
	}
}

// A pod is scaled away while each request takes 10 s. At SIGTERM the requests of the last 10 s
// are in flight, evenly spread over what is left of them. With a grace period G they are cut
// G later: of the pod's share of the traffic in 10 s, those with more than G to go:
// rate/2 x (10 s - G). The proxy is idle, so no new connection is lost.
func TestKillAfterGraceCutsWhatTakesLonger(t *testing.T) {
	t.Parallel()
	for _, grace := range []int64{4, 8} {
		sc := plainWorld(2, sec)
		sc.Actions = []scenario.Action{{At: 20 * sec, Verb: "scale", Target: "deployment/web", Value: "1"}}
		sc.Workloads[0].Deployment.Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
		sc.Workloads[0].App.Serve = engine.Constant(10 * sec)
		sc.Traffic[0].Timeout = 30 * sec
		sc.Traffic[0].Rate = 10000 * 1000
		lost, _ := runs(t, sc, 4, func(r *Result) float64 {
			if f, k := failed(r), count(r, ledger.KilledInFlight); f != k {
				t.Errorf("grace %d: %.0f failed, %.0f of them killed in flight", grace, f, k)
			}
			return failed(r)
		})
		if offered := 4 * 10000 * float64(10-grace); !near(lost, offered, 0.5) {
			t.Errorf("grace %d: lost %.0f, want %.0f", grace, lost, offered/2)
		}
	}
}

// An app that finishes requests for at most 2 s after SIGTERM cuts those with more than 2 s to
// go: rate/2 x 8 s of the pod's share.
func TestOwnExitCutsWhatTakesLongerThanItWaits(t *testing.T) {
	t.Parallel()
	sc := plainWorld(2, sec)
	sc.Actions = []scenario.Action{{At: 20 * sec, Verb: "scale", Target: "deployment/web", Value: "1"}}
	sc.Workloads[0].App.Serve = engine.Constant(10 * sec)
	sc.Workloads[0].App.FinishWithin = 2 * sec
	sc.Traffic[0].Timeout = 30 * sec
	sc.Traffic[0].Rate = 10000 * 1000
	lost, _ := runs(t, sc, 4, func(r *Result) float64 { return count(r, ledger.ExitInFlight) })
	if !near(lost, 4*10000*8, 0.5) {
		t.Errorf("lost %.0f, want %d", lost, 4*10000*8/2)
	}
}

// dropWorld has one pod on each of two nodes, reached over node ports with policy Local; the
// first pod's readiness is held at false for 2 s, and its probe runs each second and needs one
// answer. From outside half of the connections come to its node, which drops them meanwhile.
func dropWorld(timeout engine.Time) *scenario.Scenario {
	sc := plainWorld(2, sec)
	sc.Nodes = append(sc.Nodes, sc.Nodes[0])
	sc.Nodes[1].Name = "node-2"
	svc := sc.Services[0].Service
	svc.Spec.Type = corev1.ServiceTypeNodePort
	svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	svc.Spec.Ports[0].NodePort = 30080
	sc.Workloads[0].Deployment.Spec.Template.Spec.Containers[0].ReadinessProbe.FailureThreshold = 1
	sc.Actions = []scenario.Action{{At: 10 * sec, For: 2 * sec, Verb: "setReady", Target: "web#0", Value: "false"}}
	sc.Traffic[0].External = true
	sc.Traffic[0].Timeout = timeout
	sc.Traffic[0].Rate = 20000 * 1000
	return sc
}

// Retransmissions come 1 and 3 s after the first SYN: within a timeout of 5 s every connection
// dropped in a window of 2 s gets through, late. Half of rate x 2 s is slow, none fails.
func TestDropWindowShorterThanTheTimeoutOnlyDelays(t *testing.T) {
	t.Parallel()
	slow, _ := runs(t, dropWorld(5*sec), 4, func(r *Result) float64 {
		if failed(r) != 0 {
			t.Errorf("%.0f failed", failed(r))
		}
		return float64(r.Ledger.All().Slow)
	})
	if !near(slow, 4*20000*2, 0.5) {
		t.Errorf("slow %.0f, want %d", slow, 4*20000)
	}
}

// With a timeout of 1 s the first retransmission comes too late: half of rate x 2 s fails.
func TestDropWindowLongerThanTheTimeoutFails(t *testing.T) {
	t.Parallel()
	lost, _ := runs(t, dropWorld(sec), 4, func(r *Result) float64 { return count(r, ledger.NoLocalEndpoint) })
	if !near(lost, 4*20000*2, 0.5) {
		t.Errorf("lost %.0f, want %d", lost, 4*20000)
	}
}

// 10 clients that ask again when they are answered, 1 ms of service and 0.5 ms of round trip:
// each asks again 1.5 ms after its last time. Client c begins at c ms: by 60 s it has asked
// ceil((60,000 - c) / 1.5) times. Nothing is random: equal to the request.
func TestClosedLoopAsksAsFastAsItIsAnswered(t *testing.T) {
	t.Parallel()
	sc := plainWorld(2, sec)
	sc.Actions = []scenario.Action{{At: 60 * sec, Verb: "resume", Target: "deployment/web"}} // changes nothing
	sc.Until = 60 * sec
	sc.Traffic[0].Arrivals = scenario.ArrivalsClosedLoop
	sc.Traffic[0].Clients = 10
	r, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for c := range 10 {
		want += math.Ceil(float64(60_000-c) / 1.5)
	}
	if got := float64(r.Ledger.All().Total); got != want {
		t.Errorf("%.0f requests, want %.0f", got, want)
	}
}

// Poisson arrivals: n is distributed with variance n.
func TestPoissonArrivalsHaveTheirRate(t *testing.T) {
	t.Parallel()
	sc := plainWorld(1, sec)
	sc.Actions = []scenario.Action{{At: 100 * sec, Verb: "resume", Target: "deployment/web"}} // changes nothing
	sc.Until = 100 * sec
	sc.Traffic[0].Arrivals = scenario.ArrivalsPoisson
	sc.Traffic[0].Rate = 20000 * 1000
	total, _ := runs2(t, sc, 2)
	if want := 2.0 * 100 * 20000; math.Abs(total-want) > 4*math.Sqrt(want) {
		t.Errorf("%.0f requests, want %.0f", total, want)
	}
}

// runs2 counts requests of runs that end at Until.
func runs2(t *testing.T, sc *scenario.Scenario, seeds int) (total, lost float64) {
	t.Helper()
	for seed := range seeds {
		r, err := Run(sc, uint64(seed+1))
		if err != nil {
			t.Fatal(err)
		}
		total += float64(r.Ledger.All().Total)
		lost += failed(r)
	}
	return total, lost
}

// An app serves one request of 10 ms at a time and lets none wait. At 250 a second, 4 ms apart,
// it takes one, turns the two within 10 ms away and takes the next.
func TestOverloadTurnsAwayWhatThereIsNoRoomFor(t *testing.T) {
	t.Parallel()
	sc := plainWorld(1, sec)
	sc.Actions = []scenario.Action{{At: 100 * sec, Verb: "resume", Target: "deployment/web"}} // changes nothing
	sc.Until = 100 * sec
	sc.Workloads[0].App.Serve = engine.Constant(10 * ms)
	sc.Workloads[0].App.Concurrency = 1
	sc.Traffic[0].Rate = 250 * 1000
	total, lost := runs2(t, sc, 1)
	if total < 24_990 || math.Abs(lost-total*2/3) > 2 {
		t.Errorf("%.0f of %.0f turned away, want two thirds", lost, total)
	}
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

// The budget of the design: 5 million requests a second a core, with 1 % of them failing.
func BenchmarkRollout(b *testing.B) {
	sc := plainWorld(4, sec)
	sc.Traffic[0].Rate = 20000 * 1000
	var requests uint64
	for b.Loop() {
		r, err := Run(sc, 1)
		if err != nil {
			b.Fatal(err)
		}
		requests += r.Ledger.All().Total
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
}
