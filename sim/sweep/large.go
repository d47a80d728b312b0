package sweep

import (
	"fmt"
	"strconv"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// One run of a rollout of thousands of pods takes minutes: hundreds of them are not begun. They are what is
// asked for where nobody says otherwise.
const (
	mostPods  = 5000 // that an action replaces, where any number of runs may follow
	largeRuns = 20   // of a larger one
)

// tooLarge says why a simulation would not end within minutes, before its first run; nil when it would.
func tooLarge(units []*unit, opts *Options) error {
	if opts.Runs > 0 && opts.Runs <= largeRuns && !opts.Sensitivity && opts.Fixes == 0 {
		return nil
	}
	for _, u := range units {
		if u.sc != nil && sim.Replaced(u.sc) > mostPods {
			return sim.TooLarge(u.sc, fmt.Sprintf("each of hundreds of runs would take minutes; at most %d pods, or %s (or fewer), %s and %s",
				mostPods, opts.Wording.Option("runs", strconv.Itoa(largeRuns)), opts.Wording.Option("sensitivity", "false"), opts.Wording.Option("fixes", "0")))
		}
	}
	return nil
}

// copies is what a run costs beside its events, in events: each write of a slice is a new list of all endpoints
// of its Service, and there are about as many writes as pods that are replaced.
func copies(sc *world.Scenario) int {
	const (
		fewPods = 500 // cost nothing to speak of
		pairs   = 2   // of a pod and an endpoint cost as much as an event: 5,000 pods take 13 s, 2,000 take 3 s
	)
	if sc == nil {
		return 0
	}
	if pods := sim.Replaced(sc); pods > fewPods {
		return pods * pods / pairs
	}
	return 0
}
