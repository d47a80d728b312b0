package sim

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// awayPod is one pod that is taken down before its successor is there, with 10 clients that share one
// connection each and wait for as long as it takes.
func awayPod(kind world.Connection) *world.Scenario {
	sc := callsTo(kind)
	zero, one := intstr.FromInt32(0), intstr.FromInt32(1)
	update := sc.Workloads[0].Deployment().Spec.Strategy.RollingUpdate
	update.MaxSurge, update.MaxUnavailable = &zero, &one
	t := &sc.Traffic[0]
	t.Rate, t.Timeout, t.WaitForReady = 100*1000, 60*sec, kind == world.ConnectionHTTP2
	sc.Workloads[0].Hooks = nil
	sc.Workloads[0].App.Start = engine.Constant(3 * sec)
	sc.Workloads[0].App.Serve = engine.Constant(ms)
	return sc
}

// The only pod is away for 3 s at least. What is asked meanwhile waits for a connection and is answered:
// next to nothing fails. Sessions lose that time all the same, and nothing answers in it; calls that wait
// for a connection are late.
func TestASessionLosesTheTimeWithoutAServer(t *testing.T) {
	t.Parallel()
	for kind, loses := range map[world.Connection]bool{world.ConnectionSession: true, world.ConnectionHTTP2: false} { // order: each for itself
		res, err := Run(awayPod(kind), 1)
		if err != nil {
			t.Fatal(err)
		}
		s := res.Streams[0]
		failed := engine.Time(s.Failed) * 10 * ms
		if failed > 100*ms || s.DarkSeconds < 3*sec || s.LongestDark < s.DarkSeconds || s.SlowSeconds < sec || s.SlowSeconds != engine.Time(s.Slow)*10*ms {
			t.Errorf("%d: %d failed, dark for %s s, at most %s s, %s s late", kind, s.Failed, s.DarkSeconds.Seconds(), s.LongestDark.Seconds(), s.SlowSeconds.Seconds())
		}
		if loses && (s.LostSeconds != s.DarkSeconds || s.LongestOutage < 3*sec) || !loses && (s.LostSeconds != failed || s.LongestOutage > sec) {
			t.Errorf("%d: lost %s s, nothing answered for %s s", kind, s.LostSeconds.Seconds(), s.LongestOutage.Seconds())
		}
	}
}

// Two pods are replaced, with time for the rules to follow, and cut what they are working on when they
// get SIGTERM. Of the clients' pools one repeats that, over connections to pods that live, one does not.
func TestAPoolThatRepeatsLosesNothingToAnEnd(t *testing.T) {
	t.Parallel()
	for _, repeats := range []bool{true, false} {
		sc := callsTo(world.ConnectionOwn)
		sc.Workloads[0].App.InFlight = world.InFlightCut
		tr := &sc.Traffic[0]
		tr.KeepAlive, tr.Clients, tr.Rate, tr.RepeatReused = true, 40, 100*1000, repeats
		res, err := Run(sc, 1)
		if err != nil {
			t.Fatal(err)
		}
		s := res.Streams[0]
		lost, rescued := s.Failed, s.Rescued
		if repeats {
			lost, rescued = rescued, lost
		}
		// 100 requests a second that take 100 ms: some 10 are under way.
		if lost < 3 || lost > 25 || rescued != 0 || s.RescuedSeconds != engine.Time(s.Rescued)*10*ms {
			t.Errorf("repeats %v: %d failed, %d rescued", repeats, s.Failed, s.Rescued)
		}
	}
}

// Rules that lead to a pod that is gone are to blame, whatever its address answers: the client waits for its
// timeout, or hears of it.
func TestAnAddressThatIsGoneIsBlamedOnTheRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		change  func(*world.Scenario)
		outcome ledger.Outcome
	}{
		{"silence", func(*world.Scenario) {}, ledger.Timeout},
		{"at once", func(sc *world.Scenario) { sc.Unreachable = true }, ledger.Unreachable},
		{"after 3 s", func(sc *world.Scenario) { sc.Unreachable, sc.UnreachableAfter = true, 3*sec }, ledger.Unreachable},
	} {
		sc := plainWorld(1, 0)
		sc.Latency.ProxySync = engine.Constant(2 * sec)
		c.change(sc)
		res, err := Run(sc, 1)
		if err != nil {
			t.Fatal(err)
		}
		found := uint64(0)
		for _, g := range res.Ledger.Groups() {
			if g.Outcome == ledger.Refused { // while its network is still there
				continue
			}
			if g.Outcome != c.outcome || g.Blame.Cause != ledger.StaleRules {
				t.Errorf("%s: %d %s, %s", c.name, g.Count, g.Outcome, g.Blame.Cause)
			}
			found += g.Count
		}
		if found == 0 {
			t.Errorf("%s: nothing was sent there", c.name)
		}
	}
}

// dialledPod is one pod that is replaced by one, with 10 gRPC clients of 100 calls a second each, in a
// cluster without any delay but the sync of its proxy, which takes 100 ms, the second that it waits before
// the next, and half a second for which the old pod's process stays. The new pod is Ready at 26 s (see plainWorld): the sync for it lasts until 26.1 s, and that
// for the old pod's end begins at 27.1 s and lasts until 27.2 s.
func dialledPod() *world.Scenario {
	sc := plainWorld(1, sec)
	sc.Latency.ProxySync = engine.Constant(100 * ms)
	sc.Workloads[0].App.GoAway, sc.Workloads[0].App.Linger = true, 500*ms
	t := &sc.Traffic[0]
	t.Connection, t.Clients, t.Rate = world.ConnectionHTTP2, 10, 1000*1000
	t.Timeout, t.ConnectTimeout = 10*sec, 20*sec
	return sc
}

// At the deletion all clients hear GOAWAY, and dial while the rules lead to the old pod only: refused. For a second
// their calls fail, which is a second of this traffic. Their next dial, a second after the first, falls
// into the wait of the proxy: half of them come to the new pod, the others to an address where nothing is
// any more. Such a client loses all calls of the 20 s until its dial is given up: 2 s of this traffic each, five of ten
// clients. With a connect timeout of 5 s it is half a second each; where the address answers at once
// it is the next back-off of some 1.6 s, a sixth of a second each.
func TestADialOfGRPCLosesItsTimeout(t *testing.T) {
	t.Parallel()
	lost := func(r *Result) float64 { return float64(r.Streams[0].LostSeconds) / float64(sec) }
	derivation{
		world: dialledPod, seeds: 20, measure: lost, holds: inRange(9.2, 12.8),
		what:    "dials last for 5 s",
		changed: func(sc *world.Scenario) { sc.Traffic[0].ConnectTimeout = 5 * sec },
	}.test(t)
	derivation{
		world: func() *world.Scenario {
			sc := dialledPod()
			sc.Traffic[0].ConnectTimeout = 5 * sec
			return sc
		},
		seeds: 20, measure: lost, holds: inRange(2.9, 4.1),
		what:    "dials last for 20 s",
		changed: func(sc *world.Scenario) { sc.Traffic[0].ConnectTimeout = 20 * sec },
	}.test(t)
	derivation{
		world: func() *world.Scenario {
			sc := dialledPod()
			sc.Unreachable = true
			return sc
		},
		seeds: 20, measure: lost, holds: inRange(1.5, 2.1),
		what:    "silence",
		changed: func(sc *world.Scenario) { sc.Unreachable = false },
	}.test(t)
}

// What Linux says of ICMP host unreachable is what a story says.
func TestAStoryNamesAnAddressThatIsGoneAsLinuxDoes(t *testing.T) {
	t.Parallel()
	sc := plainWorld(1, 0)
	sc.Latency.ProxySync, sc.Unreachable = engine.Constant(2*sec), true
	recorder := &story.Recorder{}
	res, err := RunWith(sc, 1, Options{Events: recorder.Log(nil)})
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	for _, r := range res.Ledger.Failures() {
		if r.Outcome == ledger.Unreachable {
			for _, l := range story.NewTeller(sc, recorder, res.Pods).Tell(r) {
				told += l.Words() + "\n"
			}
			break
		}
	}
	if !strings.Contains(told, "no route to host") {
		t.Errorf("%s", told)
	}
}
