package record

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// DarkRun is what a client that knows all pods of the case's workload would see of a run.
type DarkRun struct {
	Pods    []engine.Time // how long each pod that went was dark, until another took its place
	Order   []string      // their names, in the order of going, where pods keep them
	Most    int           // dark at one moment
	Rollout engine.Time   // from the new template to the last pod that came or went
}

// Dark is what is reported of a case that is run though it is not judged, because clients choose
// the pod by themselves.
type Dark struct {
	Pods    Range    // nanoseconds: of all pods of all runs
	Order   []string // in which pods went, where that was the same in all runs, else nil
	Most    Range    // pods, per run
	Rollout Range    // nanoseconds, per run; 0 without a rollout
}

// darken computes the figures of a case without a verdict from its runs. Its worst run is the one
// with the pod that was dark for longest.
func (c *Case) darken() {
	if len(c.Runs) == 0 {
		return
	}
	var pods, most, rollout []int64
	longest := int64(-1)
	for i := range c.Runs {
		r := &c.Runs[i]
		for _, p := range r.Dark.Pods {
			pods = append(pods, int64(p))
			if int64(p) > longest {
				longest, c.WorstSeed = int64(p), r.Seed
			}
		}
		most, rollout = append(most, int64(r.Dark.Most)), append(rollout, int64(r.Dark.Rollout))
	}
	n := tallyOf(c.Runs)
	c.Usable, c.Stuck = fewest(c.Runs), n.waitsFor(c.Runs)
	if c.Stuck != nil && n.endless() == Blocked { // that is so whoever asks
		c.Verdict, c.Reason = Blocked, ""
	}
	c.Dark = &Dark{Most: rangeOf(most), Rollout: rangeOf(rollout), Order: c.Runs[0].Dark.Order}
	if slices.ContainsFunc(c.Runs, func(r Run) bool { return !slices.Equal(r.Dark.Order, c.Dark.Order) }) {
		c.Dark.Order = nil
	}
	if len(pods) == 0 { // no pod went
		c.WorstSeed = c.Runs[0].Seed
		return
	}
	c.Dark.Pods = rangeOf(pods)
}
