package record

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const (
	// outageFrom is how long nothing must answer for an outage.
	outageFrom = engine.Second
	// rareBelow is what each run of a rare case loses less than, and oneInRare in how many runs it may lose something.
	rareBelow = 100 * engine.Millisecond
	oneInRare = 20
)

// tally counts the runs that a verdict follows from.
type tally struct {
	runs, outages, stuck, losses int
	large                        int // lose rareBelow or more
	unsettled                    int
	blocked                      int // of stuck: drains
}

func tallyOf(runs []Run) tally {
	n := tally{runs: len(runs)}
	for i := range runs {
		r := &runs[i]
		count := func(to *int, yes bool) {
			if yes {
				*to++
			}
		}
		count(&n.outages, r.LongestOutage() >= outageFrom)
		count(&n.stuck, r.Stuck != nil)
		count(&n.blocked, r.Stuck != nil && r.Stuck.Drain)
		count(&n.losses, r.Totals().Failed > 0 || r.LostSeconds() >= rareBelow) // a session without a server has waited, and lost no request
		count(&n.large, r.LostSeconds() >= rareBelow)
		count(&n.unsettled, !r.Settled)
	}
	return n
}

// word is the verdict of so many runs.
func (n *tally) word() Verdict {
	switch {
	case 2*n.outages > n.runs:
		return Outage
	case oneInRare*n.stuck > n.runs:
		return n.endless()
	case n.large > 0 || oneInRare*n.losses > n.runs:
		return Drops
	case n.losses > 0, n.stuck > 0:
		return Rare
	case n.unsettled > 0:
		return NotJudged
	default:
		return Holds
	}
}

// endless is the verdict where more runs are stuck than may be rare: who waits for the end of it waits in vain then.
func (n *tally) endless() Verdict {
	if 2*n.blocked > n.stuck {
		return Blocked
	}
	return Stalled
}

// oftenEnough is how often something must have been seen in the runs of a case where seeing it once decides: as many
// other runs see it again, with more than 95 % confidence.
const oftenEnough = 5

// border names the verdict that the word might as well be with other seeds, as many as these, "" when it is the same with 95 %
// confidence. That nothing was lost is no such word: it is claimed of these runs, with a bound for others.
func (n *tally) border() Verdict {
	word := n.word()
	switch {
	case !decided(n.outages, n.runs, 2):
		return other(word, Outage, n.without())
	case word == Outage:
		return ""
	case n.stuck > 0 && !decided(n.stuck, n.runs, oneInRare):
		return other(word, n.endless(), n.seldomStuck())
	case word.Endless() || n.losses == 0:
		return ""
	case word == Rare && n.losses < oftenEnough:
		return Holds
	case decided(n.losses, n.runs, oneInRare) && oneInRare*n.losses > n.runs:
		return "" // too many to be rare, however much each of them loses
	case n.large > 0 && n.large < oftenEnough, n.large == 0 && !decided(n.losses, n.runs, oneInRare):
		return other(word, Drops, Rare)
	default:
		return ""
	}
}

// without is the word of the same runs if none of them were an outage.
func (n *tally) without() Verdict {
	m := *n
	m.outages = 0
	return m.word()
}

// seldomStuck is the word of the same runs if no more of them were stuck than may be rare.
func (n *tally) seldomStuck() Verdict {
	m := *n
	m.stuck = min(m.stuck, m.runs/oneInRare)
	return m.word()
}

// other is the one of two verdicts that a word is not.
func other(word, a, b Verdict) Verdict {
	if word == a {
		return b
	}
	return a
}

// decided says that k of n runs are, with 95 % confidence, more or less than one in so many. The runs are looked at up to ten or
// eleven times, as more of them are done: 99 % each time, for the looks are at much the same runs (of ten at equal distances, Pocock
// 1977 has 98.9 %). It is the score test, whose interval is Wilson's: z = 2.576, z^2 = 6.636.
func decided(k, n, in int) bool {
	off := int64(in*k - n)
	return 1000*off*off > 6636*int64(n)*int64(in-1)
}

// Enough says that other seeds, as many as the case has runs, would give the same verdict with 95 % confidence.
func (c *Case) Enough() bool {
	n := tallyOf(c.Runs)
	return n.border() == ""
}

// judge sets the verdict of a case that has runs.
func (c *Case) judge() {
	n := tallyOf(c.Runs)
	c.WithLoss = n.losses
	c.Verdict = n.word()
	c.Stuck = n.waitsFor(c.Runs)
	c.WorstSeed = c.worst().Seed
	switch border := n.border(); {
	case silent(c):
		c.Verdict, c.Reason = NotJudged, "nothing answers, with the action or without it"+notReady(c.Runs)
	case c.Verdict == Holds && unasked(c):
		c.Verdict, c.Reason = NotJudged, nobodyAsked
	case c.Verdict == NotJudged:
		c.Reason = fmt.Sprintf("lost nothing, but had not settled when the run ended, in %d of %d runs%s", n.unsettled, n.runs, unrest(c.Runs))
	case c.Verdict == Holds:
		c.Bound = LossBound(n.runs)
	case border != "" && n.runs >= surelyMany:
		c.Reason = fmt.Sprintf("on the border between %s and %s", c.Verdict, border)
	}
	if (c.Verdict == Holds || c.Verdict == Rare) && c.Uncounted() {
		c.Verdict = Depends
	}
}

// Uncounted says that something is lost of a case, or may be, that no run counts.
func (c *Case) Uncounted() bool {
	return slices.ContainsFunc(c.NotModelled, func(n world.NotModelled) bool { return world.Uncounted(n.ID) })
}

// HangsOnContainer says that a case loses nothing in its runs, or hardly ever, and that a container which the server needs, or may need, ends before it.
func (c *Case) HangsOnContainer() bool {
	n := tallyOf(c.Runs)
	word := n.word()
	return c.Verdict == Depends && c.Uncounted() && (word == Holds || word == Rare) && len(c.Families) == 0
}

// waitsFor is what the first run that cannot end waits for, where more cannot than may be rare, else nil.
func (n *tally) waitsFor(runs []Run) *Stuck {
	for i := range runs {
		if s := runs[i].Stuck; s != nil && oneInRare*n.stuck > n.runs {
			return s
		}
	}
	return nil
}

// StuckRuns is in how many runs something that was begun cannot end.
func (c *Case) StuckRuns() int {
	n := tallyOf(c.Runs)
	return n.stuck
}

// RarelyStuck is in how many runs something that was begun cannot end, and what it waits for there, where that is so rare that the verdict
// is another one; 0 where it is the verdict, or in no run.
func (c *Case) RarelyStuck() (runs int, what *Stuck) {
	n := tallyOf(c.Runs)
	if c.Verdict == Outage || n.stuck == 0 || oneInRare*n.stuck > n.runs {
		return 0, nil
	}
	at := slices.IndexFunc(c.Runs, func(r Run) bool { return r.Stuck != nil })
	return n.stuck, c.Runs[at].Stuck
}

// shows says that a run is one of what the verdict says: it is shown, and done again, for that.
func (v Verdict) shows(r *Run) bool {
	switch {
	case v == Outage:
		return r.LongestOutage() >= outageFrom
	case v.Endless():
		return r.Stuck != nil
	case v == NotJudged:
		return !r.Settled
	default:
		return true
	}
}

// worst is the run that loses most of those that show what the verdict says, the first of several. What sessions lose is the time in
// which they have no server, and then it is the run with most of it, of those in which a request failed: of that, a story is told.
func (c *Case) worst() *Run {
	var dark []int // clients
	for i := range c.Clients {
		if c.WithoutServer(i) {
			dark = append(dark, i)
		}
	}
	loss := func(r *Run) []uint64 {
		failed, without := r.Totals().Failed, engine.Time(0)
		for _, i := range dark {
			without = max(without, r.Streams[i].LostSeconds)
		}
		return []uint64{min(failed, 1), uint64(without), failed}
	}
	var worst *Run
	onlyStuck := c.Verdict == Rare && c.WithLoss == 0 // that is what is rare
	for i := range c.Runs {
		if r := &c.Runs[i]; (c.Verdict.shows(r) && !onlyStuck || onlyStuck && r.Stuck != nil) && (worst == nil || slices.Compare(loss(r), loss(worst)) > 0) {
			worst = r
		}
	}
	if worst == nil {
		return &c.Runs[0]
	}
	return worst
}

// surelyMany is from how many runs on a verdict that could as well be another is said to be on the border: of fewer, it is
// said how many there were.
const surelyMany = 100

// notReady says why no pod is, as far as a run found out: what the scheduler or a probe has against one, or which are not.
func notReady(runs []Run) string {
	for i := range runs {
		if s := runs[i].Stuck; s != nil {
			return ": " + s.Why
		}
	}
	return unrest(runs)
}

// silent says that no request is answered in any run, and would not be without the action.
func silent(c *Case) bool {
	sum := c.Totals()
	return sum.Before > 0 && sum.OK+sum.Failed == 0
}

// nobodyAsked is why a case without a request has no verdict.
const nobodyAsked = "nobody asks: no client sent a request in any run, so that none could be lost"

// unasked says that no run of a Scenario has a request: where none is made none is lost, whatever is done. Drains of nodes ask nobody, and are
// judged by what becomes of their pods.
func unasked(c *Case) bool {
	sum := c.Totals()
	return c.Kind == "Scenario" && sum.Total+sum.OK+sum.Failed == 0
}

// Limits say which cases are findings.
type Limits struct {
	// FailOn is the mildest verdict that is one; "" for Drops.
	FailOn Verdict
	// MaxDrops is how many requests, MaxLost how many seconds of traffic a case may lose in the median run; 0 for no such limit.
	// They are for what is lost: a rollout that cannot end is a finding whatever it loses.
	MaxDrops int64
	MaxLost  engine.Time
}

// Fails says whether a case is a finding: its Scenario's expectation is not met, or, without one, its verdict is as bad as
// FailOn, or worse. Where the load balancer is unknown it is one if it is behind any that it might be.
func (c *Case) Fails(l Limits) bool {
	failOn := l.FailOn
	if failOn == "" {
		failOn = Drops
	}
	for i := range c.Families {
		if c.Families[i].Case.Fails(l) {
			return true
		}
	}
	switch {
	case c.Expectation != nil:
		return len(c.Unmet) > 0
	case c.Verdict == Depends && failOn.Rank() >= Drops.Rank() && c.HangsOnContainer() && c.needs():
		return true // that something is lost is known
	case c.Verdict == Holds:
		return false
	case c.Verdict == NotJudged:
		return failOn == NotJudged
	case c.Verdict.Rank() > failOn.Rank():
		return false
	case c.Verdict.Endless() || c.Verdict == Depends:
		return true
	default:
		return !l.allow(c)
	}
}

// allow says that a case loses no more than may be lost, and not without an end.
func (l *Limits) allow(c *Case) bool {
	return (l.MaxDrops > 0 || l.MaxLost > 0) && c.Lasting() == 0 && c.Stuck == nil &&
		(l.MaxDrops == 0 || c.RequestsLost.Median <= l.MaxDrops) && (l.MaxLost == 0 || c.LostSeconds.Median <= int64(l.MaxLost))
}

// needs says that a container which the server is known to need ends before it.
func (c *Case) needs() bool {
	return slices.ContainsFunc(c.NotModelled, func(n world.NotModelled) bool { return n.ID == world.Needed })
}

// Fails says whether anything of a simulation is a finding: one of its cases, or, where failing on what is not judged is asked for, that there is
// none.
func (s *Simulation) Fails(l Limits) bool {
	if len(s.Cases) == 0 {
		return l.FailOn == NotJudged
	}
	for i := range s.Cases {
		if s.Cases[i].Fails(l) {
			return true
		}
	}
	return false
}
