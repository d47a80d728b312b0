package sim

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// of1 has a world's cluster be of version 1.minor.
func of1(sc *scenario.Scenario, minor int) {
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
		world: func() *scenario.Scenario {
			sc := plainWorld(4, 2*sec)
			of1(sc, 33)
			sc.Workloads[0].App.Start = engine.Constant(10 * sec)
			sc.Traffic[0].Rate = 20000 * 1000
			return sc
		},
		seeds: 1, measure: failed, holds: exactly(0),
		what:    "the version after it",
		changed: func(sc *scenario.Scenario) { of1(sc, 34) },
	}.test(t)
}

// Reference: facts/kube-proxy.md 6, derived for no preStop, surge 1, minSyncPeriod 1 s and three replicas: 0.86 s
// of traffic from 1.34 on; up to 1.33 0.12 to 0.17 s, and 0.48 s where pods start in half a second: syncs for
// them follow each other faster than tokens come back. The bounds leave 15 % for the other delays.
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
func versioned(minor int, start engine.Time) *scenario.Scenario {
	sc := plainWorld(3, sec)
	of1(sc, minor)
	sc.Latency = scenario.DefaultLatencies()
	sc.Workloads[0].App.Start = engine.Constant(start)
	sc.Traffic[0].Rate = 200 * 1000
	return sc
}
