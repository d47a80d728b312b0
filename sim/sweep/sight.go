package sweep

import (
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// A run of ten thousand pods takes half a minute, and its timeline is made in a second run, of what a first one found to matter. Where a
// case has one run, the run that is counted is that first one, and the second one is told of, too.

// mostSights is of how many units it is kept what a run heard: of a large world some hundred megabytes.
const mostSights = 4

// sights has the only run of units whose worlds are large say what of it a timeline has to have.
func (p *pool) sights(units []*unit) {
	if p.opts.Runs != 1 || p.opts.Timelines == 0 || p.opts.Untold {
		return
	}
	left := mostSights
	for _, u := range units {
		ordered := u.sc != nil && u.sc.Expect != nil && len(u.sc.Expect.Order) > 0 // is listened to already
		if u.sc == nil || ordered || left == 0 {
			continue
		}
		if r := timeline.NewRecorder(u.sc, nil); r.Cramped() {
			u.sight = r
			left--
		}
	}
}

// followed is a run with a recorder of what its timeline has.
type followed struct {
	recorder *timeline.Recorder
	res      *sim.Result
}

// follow is the run of a unit that has a sight, with a recorder for its timeline, which is kept, and one for stories: of the proxies of nodes
// what some do, nil for all. It is nil where requests fail without the action, too: which these are has to be known before.
func (p *pool) follow(u *unit, recorder *story.Recorder, nodes []int) (*story.Teller, error) {
	if u.sight == nil || failsAnyway(&u.record) {
		return nil, nil
	}
	p.counts.add(ForStory, 1)
	run := &u.record.Runs[0]
	x := traced{sc: u.sc, seed: run.Seed, requests: run.Sum().Total}
	r := timeline.NewRecorder(u.sc, u.sight.Focus())
	res, err := x.run(r, sim.Options{Events: r.LogWith(recorder, nodes)})
	if err != nil {
		return nil, err
	}
	u.followed = &followed{r, res}
	return story.NewTeller(u.sc, recorder, res.Pods), nil
}
