package sim

import (
	"fmt"
	"math"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// of1 has a world's cluster be of version 1.minor.
func of1(sc *world.Scenario, minor int) {
	p, err := endpoints.ProfileFor(endpoints.Version{Major: 1, Minor: minor}, nil)
	if err != nil {
		panic(err)
	}
	sc.Kubernetes = p
}

// Where no hop takes any time, a new pod's Ready takes one token and the removal of the old pod, at the same
// moment, the other: the rules are never out of date up to 1.33. From 1.34 on they are for minSyncPeriod.
func TestTwoSyncsFollowEachOtherUpTo133(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario {
			sc := plainWorld(4, 2*sec)
			of1(sc, 33)
			sc.Workloads[0].App.Start = engine.Constant(10 * sec)
			sc.Traffic[0].Rate = 20000 * 1000
			return sc
		},
		seeds: 1, measure: failed, holds: exactly(0),
		what:    "the version after it",
		changed: func(sc *world.Scenario) { of1(sc, 34) },
	}.test(t)
}

// Reference: docs/model/kube-proxy.md 6, derived for no preStop, surge 1, minSyncPeriod 1 s and three
// replicas: 0.86 s of traffic from 1.34 on; up to 1.33 0.12 to 0.17 s, and 0.48 s where pods start in half a
// second: syncs for them follow each other faster than tokens come back. The bounds leave 15 % for the other
// delays.
func TestWhatARolloutLosesByVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		minor       int
		start       engine.Time
		least, most float64
	}{
		{36, 5 * sec, 0.82, 0.90}, {34, 5 * sec, 0.82, 0.90},
		{33, 20 * sec, 0.11, 0.17}, {33, 5 * sec, 0.11, 0.17}, {33, 2 * sec, 0.11, 0.17}, {25, 5 * sec, 0.11, 0.17},
		{33, 500 * ms, 0.41, 0.55},
	} {
		t.Run(fmt.Sprintf("1.%d, start %s", c.minor, c.start.Duration()), func(t *testing.T) {
			t.Parallel()
			const seeds = 30
			var sum float64
			for seed := range uint64(seeds) {
				r, err := Run(versioned(c.minor, c.start), seed+1)
				if err != nil {
					t.Fatal(err)
				}
				for _, g := range r.Ledger.Groups() {
					if g.Blame.Cause != ledger.StaleRules {
						t.Errorf("seed %d: %v", seed+1, g.Blame.Cause)
					}
				}
				sum += failed(r) / 200
			}
			if got := sum / seeds; got < c.least || got > c.most {
				t.Errorf("%.3f s of traffic, want %.2f to %.2f s", got, c.least, c.most)
			}
		})
	}
}

// versioned is a rollout of three pods with the delays of a small cluster of a version.
func versioned(minor int, start engine.Time) *world.Scenario {
	sc := plainWorld(3, sec)
	of1(sc, minor)
	sc.Latency = scenario.DefaultLatencies()
	sc.Workloads[0].App.Start = engine.Constant(start)
	sc.Traffic[0].Rate = 200 * 1000
	return sc
}

// Where no hop takes any time the removal of a pod is in force at once, and nothing is lost, in a cluster that
// is idle. With 2 changes of other Services a second the proxy holds x/(1+x) of the time, x = 2 e^2 seconds of
// a hold of 1 s: then it waits for half of it on average, and of three pods one is dead.
func TestADeletionIsNotInForceAtOnceWhereOtherServicesChange(t *testing.T) {
	t.Parallel()
	const seeds = 200
	x := 2 * math.Exp(2)
	for churn, want := range map[int]float64{0: 0, 2000: x / (1 + x) * 0.5 / 3} { // order: each for itself
		var sum float64
		for seed := range uint64(seeds) {
			sc := plainWorld(3, sec)
			sc.Churn, sc.Until = churn, 24*sec
			sc.Actions = []world.Action{{At: 20 * sec, Operation: world.Delete{Pods: world.Pods{Workload: "default/web", Number: 0}}}}
			r, err := Run(sc, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			sum += failed(r) / 1000
		}
		if got := sum / seeds; math.Abs(got-want) > 0.1*want {
			t.Errorf("%d changes in 1000 s: %.4f s of traffic, want %.4f s", churn, got, want)
		}
	}
}

// Other Services change on and on: the run comes to its end all the same, as late as without.
func TestARunWithChangesOfOtherServicesComesToRest(t *testing.T) {
	t.Parallel()
	for _, minor := range []int{33, 36} {
		ends := map[int]engine.Time{}
		for _, churn := range []int{0, 200, 2000, 100_000} {
			sc := versioned(minor, 5*sec)
			sc.Churn = churn
			r, err := Run(sc, 1)
			if err != nil {
				t.Fatal(err)
			}
			if ends[churn] = r.End; !r.Settled || r.Unrest != "" || max(ends[0]-r.End, r.End-ends[0]) > 2*sec {
				t.Errorf("1.%d, churn %d: settled %v %s, ends at %s s, without at %s s", minor, churn, r.Settled, r.Unrest, r.End.Seconds(), ends[0].Seconds())
			}
		}
	}
}
