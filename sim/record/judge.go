package record

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Close computes what follows from the runs of a case, its verdict and whether it is what was
// expected. A case that has a verdict already, or no run, is not judged; of one that has both, its
// dark pods are counted.
func (c *Case) Close() {
	c.Causes = []Cause{}
	if c.Verdict == "" && len(c.Runs) == 0 {
		c.Verdict, c.Reason = NotJudged, "no run was done"
	}
	c.Gaps = gapsOf(c.Runs)
	if c.Verdict != "" {
		c.darken()
		return
	}
	var requests, cuts []int64
	for i := range c.Runs {
		r := &c.Runs[i]
		requests = append(requests, int64(r.Totals().Failed))
		cuts = append(cuts, int64(r.Cuts()))
	}
	c.Cuts = rangeOf(cuts)
	c.Usable = fewest(c.Runs)
	c.RequestsLost = rangeOf(requests)
	c.LostSeconds = c.worstClient(1, func(s *Stream) engine.Time { return s.LostSeconds })
	c.LongestOutage = c.worstClient(outageFrom, func(s *Stream) engine.Time { return s.LongestOutage })
	c.judge()
	c.KeepDrain()
	c.Causes, c.Before = causesOf(c), c.before() // the verdict names the run that is shown
	c.Central = c.Verdict
	c.Unmet = Expect(c)
}

// worstClient is a figure of the client with the greatest median: a case's figure is then found again among those of its
// clients. Its Max is that of any client, as it is read as a bound. Where no client has a median of what decides and only the
// greatest of each run has, it is that.
func (c *Case) worstClient(decides engine.Time, of func(*Stream) engine.Time) Range {
	greatest := make([]int64, len(c.Runs))
	var worst Range
	for i := range c.Runs[0].Streams {
		client := make([]int64, len(c.Runs))
		for j := range c.Runs {
			client[j] = int64(of(&c.Runs[j].Streams[i]))
			greatest[j] = max(greatest[j], client[j])
		}
		if r := rangeOf(client); r.Median > worst.Median || r.Median == worst.Median && r.Max > worst.Max {
			worst = r
		}
	}
	all := rangeOf(greatest)
	if worst.Median < int64(decides) && all.Median >= int64(decides) {
		return all
	}
	worst.Max = all.Max
	return worst
}

// unrest is what the first run that had not settled was waiting for.
func unrest(runs []Run) string {
	for i := range runs {
		if runs[i].Unrest != "" {
			return ": " + runs[i].Unrest
		}
	}
	return ""
}

// ForGood says that an outage does not end: in most runs what was begun is stuck, or all is over, and no pod is left that could answer.
func (c *Case) ForGood() bool {
	n := 0
	for i := range c.Runs {
		if r := &c.Runs[i]; r.Usable.Now == 0 && (r.Stuck != nil || r.Settled && r.Usable.Of > 0 && r.Usable.Min == 0) {
			n++
		}
	}
	return c.Verdict == Outage && (2*n > len(c.Runs) || c.Lasting() >= nearlyAll)
}

// Waits says that a case is about something that cannot end: its verdict says so, or its outage is one for good.
func (c *Case) Waits() bool { return c.Stuck != nil && (c.Verdict.Endless() || c.ForGood()) }

// LeftWaiting says that an outage ends, and that something of what was begun does not: the service is back before all of its pods are.
func (c *Case) LeftWaiting() bool { return c.Verdict == Outage && c.Stuck != nil && !c.Waits() }

// fewest picks the run with the fewest usable pods, for the longest time, with how few stayed in any run.
func fewest(runs []Run) Usable {
	out := slices.MinFunc(runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Usable.Min, b.Usable.Min), cmp.Compare(b.Usable.For, a.Usable.For))
	}).Usable
	for i := range runs {
		out.Staying = min(out.Staying, runs[i].Usable.Staying)
	}
	return out
}

func rangeOf(values []int64) Range {
	slices.Sort(values)
	return Range{values[0], values[(len(values)-1)/2], values[len(values)-1]}
}

// one is 1.0 in Q32.
const one = 1 << 32

// LossBound is the part of runs that may lose something although none of n did, with 95 %
// confidence: 1 - 0.05^(1/n), rounded up to a millionth.
func LossBound(n int) Fraction {
	const million = 1_000_000
	low, high := 0, million // the least p with (1-p)^n <= 0.05
	for low < high {
		p := (low + high) / 2
		keep := uint64(million-p) * one / million
		if powQ32(keep, n) <= one/20 {
			high = p
		} else {
			low = p + 1
		}
	}
	return Fraction(low)
}

// powQ32 raises a Q32 number of at most 1 to a power.
func powQ32(x uint64, n int) uint64 {
	result := uint64(one)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result = mulQ32(result, x)
		}
		x = mulQ32(x, x)
	}
	return result
}

func mulQ32(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi<<32 | lo>>32
}

// blameKey orders causes of equal counts.
func blameKey(a, b *Cause) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Actor, b.Actor),
		cmp.Compare(boolInt(a.Elsewhere), boolInt(b.Elsewhere)))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// causesOf adds up the groups of all runs.
func causesOf(c *Case) []Cause {
	out := []Cause{}
	nodes, pods := []map[string]bool{}, []map[string]bool{}
	for i := range c.Runs {
		for _, g := range c.Runs[i].Groups {
			at := slices.IndexFunc(out, func(o Cause) bool { return o.Blame == g.Blame })
			if at < 0 {
				at = len(out)
				out = append(out, Cause{Blame: g.Blame, First: g.First, Last: g.Last, Example: Example{c.Runs[i].Seed, g.Example}})
				nodes, pods = append(nodes, map[string]bool{}), append(pods, map[string]bool{})
			}
			o := &out[at]
			if c.Runs[i].Seed == c.WorstSeed && o.Example.Seed != c.WorstSeed {
				o.Example = Example{c.WorstSeed, g.Example}
			}
			o.Count += g.Count
			o.Outcomes[g.Outcome] += g.Count
			o.First, o.Last = min(o.First, g.First), max(o.Last, g.Last)
			for _, n := range slices.Sorted(maps.Keys(g.Nodes)) {
				if n >= 0 && n < len(c.Nodes) {
					nodes[at][c.Nodes[n]] = true
				}
			}
			for _, p := range slices.Sorted(maps.Keys(g.Pods)) {
				pods[at][p] = true
			}
		}
	}
	for i := range out {
		out[i].Nodes, out[i].Pods = words(nodes[i]), words(pods[i])
	}
	byShare(out)
	return out
}

// byShare orders causes by what is lost to each, whether or not somebody else could have answered.
func byShare(causes []Cause) {
	named := func(c *Cause) ledger.Blame { return ledger.Blame{Cause: c.Cause, Actor: c.Actor} }
	count := map[ledger.Blame]uint64{}
	for i := range causes {
		count[named(&causes[i])] += causes[i].Count
	}
	sorted.By(causes, func(a, b Cause) int {
		x, y := named(&a), named(&b)
		if x == y {
			return blameKey(&a, &b)
		}
		return cmp.Or(cmp.Compare(count[y], count[x]), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Actor, b.Actor))
	})
}

// words lists a set in order; it is never nil.
func words(set map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}

// Totals adds up all runs of a case.
func (c *Case) Totals() Stream {
	var sum Stream
	for i := range c.Runs {
		for j := range c.Runs[i].Streams {
			sum.add(&c.Runs[i].Streams[j])
		}
	}
	return sum
}

// Totals adds up all runs of all cases.
func (s *Simulation) Totals() Stream {
	var sum Stream
	for i := range s.Cases {
		t := s.Cases[i].Totals()
		sum.add(&t)
	}
	return sum
}

func (s *Stream) add(t *Stream) {
	s.Add(t.Totals)
	s.Before += t.Before
	for i := range t.Outcomes {
		s.Outcomes[i] += t.Outcomes[i]
	}
}

// Client returns what one client lost, per run.
func (c *Case) Client(i int) (lost, longest Range, sum Stream) {
	var losts, longests []int64
	for r := range c.Runs {
		s := &c.Runs[r].Streams[i]
		losts, longests = append(losts, int64(s.LostSeconds)), append(longests, int64(s.LongestOutage))
		sum.add(s)
	}
	if len(losts) == 0 {
		return lost, longest, sum
	}
	return rangeOf(losts), rangeOf(longests), sum
}

// WithoutServer says that what a client lost is the time in which its sessions had no server, which is more than the requests that
// failed come to: most of them waited meanwhile and were answered.
func (c *Case) WithoutServer(i int) bool {
	return slices.ContainsFunc(c.Runs, func(r Run) bool {
		s := &r.Streams[i]
		return NoServer(c.Clients[i].Rate, s.Failed, s.DarkSeconds, s.LostSeconds)
	})
}

// NoServer says that in a run: what was lost is more than the requests come to that failed, at a rate in thousandths a second.
func NoServer(rate int, failed uint64, dark, lost engine.Time) bool {
	return rate > 0 && dark > 0 && lost > engine.Time(failed)*(1000*engine.Second/engine.Time(rate))
}

// ClientLate returns how many requests of one client the action made late in all runs, and how many it had
// answered only at a second try. Late answers have no cause that is kept: clients whose pool is full wait for
// it now and then, in the run without the action or in that with it. So the action makes requests late where
// more runs have more of them with it than have more of them without, by what chance seldom does.
func (c *Case) ClientLate(i int) (slow, rescued uint64) {
	var slower, helped balance
	for r := range c.Runs {
		s, without := &c.Runs[r].Streams[i], Stream{}
		if len(c.Runs[r].Without) > i {
			without = c.Runs[r].Without[i]
		}
		slower.add(s.Slow, without.Slow)
		helped.add(s.Rescued, without.Rescued)
	}
	return slower.told(len(c.Runs)), helped.told(len(c.Runs))
}

// ClientWait is the longest time in which no server took a request of one client within a second, per run.
func (c *Case) ClientWait(i int) Range {
	return c.perRun(i, func(s *Stream) int64 { return int64(s.LongestWait) })
}

// perRun is the range of a figure of one client over the runs.
func (c *Case) perRun(i int, figure func(*Stream) int64) Range {
	var all []int64
	for r := range c.Runs {
		all = append(all, figure(&c.Runs[r].Streams[i]))
	}
	if len(all) == 0 {
		return Range{}
	}
	return rangeOf(all)
}

// balance counts the runs that have more of something with the action, and those that have as many or more without.
type balance struct {
	sum        uint64
	more, less int
}

// add adds a run: what it has more with the action, and all that it has without.
func (b *balance) add(extra, without uint64) {
	b.sum += extra
	switch {
	case extra > 0:
		b.more++
	case without > 0:
		b.less++
	}
}

// told is the sum where it is no chance: where every run has more, or the runs differ by two standard deviations
// of tossed coins.
func (b *balance) told(runs int) uint64 {
	if d := b.more - b.less; b.more == runs || d > 0 && d*d > 4*(b.more+b.less) {
		return b.sum
	}
	return 0
}

// ClientCuts returns how many connections of one client were cut, per run.
func (c *Case) ClientCuts(i int) Range {
	return c.perRun(i, func(s *Stream) int64 { return int64(s.Cuts) })
}

// Worst returns the cases from the one that somebody has to act on first: what loses something or cannot end before what does neither, much
// before little, what users see before what only machines do, and then by what is lost. What cannot end stands before the first loss of less than
// a second (outageFrom), whoever asks, for it is not clients who wait for it; so does what answers nothing any more. A drain that is blocked and
// loses nothing comes after what users lose of each rolling restart, too. Verdicts are words for all that, and decide last.
func (s *Simulation) Worst() []*Case {
	var cases, endless, harmless []*Case
	for i := range s.Cases {
		switch c := &s.Cases[i]; {
		case c.urgency() != cannotEnd:
			cases = append(cases, c)
		case c.Verdict == Blocked && c.WithLoss == 0:
			harmless = append(harmless, c)
		default:
			endless = append(endless, c)
		}
	}
	for _, list := range [][]*Case{cases, endless, harmless} {
		sorted.StableBy(list, func(a, b *Case) int {
			return cmp.Or(cmp.Compare(a.gravity(), b.gravity()), cmp.Compare(a.urgency(), b.urgency()), cmp.Compare(a.distance(), b.distance()),
				cmp.Compare(a.Users, b.Users), cmp.Compare(b.weighs(), a.weighs()), cmp.Compare(b.LostSeconds.Max, a.LostSeconds.Max),
				cmp.Compare(a.Verdict.Rank(), b.Verdict.Rank()))
		})
	}
	at, after := 0, 0
	for i, c := range cases {
		if at == i && (c.urgency() == lasts || c.urgency() == much && c.LostSeconds.Median >= int64(outageFrom)) {
			at = i + 1
		}
		if c.ofEachRestart() {
			after = i + 1
		}
	}
	after = max(at, after)
	return slices.Concat(cases[:at], endless, cases[at:after], harmless, cases[after:])
}

// weighs is what a case loses, to compare it with others: in the median run, where that is a second or more; else what all runs lose by the run if that
// is more, for most of it may be in few of them.
func (c *Case) weighs() int64 {
	median := c.LostSeconds.Median
	if median >= int64(outageFrom) || len(c.Runs) == 0 {
		return median
	}
	var all int64
	for i := range c.Runs {
		all += int64(c.Runs[i].LostSeconds())
	}
	return max(median, all/int64(len(c.Runs)))
}

// ofEachRestart says that each rolling restart loses something of a case that is about users.
func (c *Case) ofEachRestart() bool {
	return c.gravity() == 0 && c.distance() < farthest && c.Action == scenario.ActionRollout && c.WithLoss > 0 && c.WithLoss == len(c.Runs)
}

// What goes on until somebody acts, and what is over by itself, by whether it is much.
const (
	lasts     = iota
	much      // a second and more in the median run; of those who ask from outside, a tenth of that
	cannotEnd // and loses less than a second
	little
	unseen // by users
)

// urgency is one of these.
func (c *Case) urgency() int {
	switch distance := c.distance(); {
	case c.ForGood() && (c.Waits() || distance < farthest):
		return lasts
	case c.Verdict.Endless() && c.LostSeconds.Median < int64(outageFrom):
		return cannotEnd
	case distance < farthest && c.LostSeconds.Median >= int64(outageFrom), distance == 0 && c.LostSeconds.Median >= int64(rareBelow):
		return much
	case distance < farthest:
		return little
	default:
		return unseen
	}
}

// gravity puts verdicts into three classes.
func (c *Case) gravity() int {
	switch c.Verdict {
	case NotJudged:
		return 2
	case Holds, Rare:
		return 1
	default:
		return 0
	}
}

// distance is how far a case's clients are from users: those that ask from outside are the nearest, those that are none of
// a report's headlines are the farthest. An outage of a webhook without which no Pod is made is everybody's who runs something in the
// cluster.
func (c *Case) distance() int {
	switch {
	case c.Headline && slices.ContainsFunc(c.Clients, func(x Client) bool { return x.External }):
		return 0
	case c.Headline, c.Verdict == Outage && c.vetoesPods():
		return 1
	default:
		return farthest
	}
}

const farthest = 2

// vetoesPods says that a case's Service is asked before any Pod is made, and that none is where it does not answer.
func (c *Case) vetoesPods() bool {
	return c.Class == scenario.ClassWebhook && slices.ContainsFunc(c.NotModelled, func(n world.NotModelled) bool { return n.ID == "webhook" && n.Direction == "more" })
}

// First is the case that a report begins with, nil without any case.
func (s *Simulation) First() *Case {
	if worst := s.Worst(); len(worst) > 0 {
		return worst[0]
	}
	return nil
}

// StandsIn says that what the users come through is not simulated, and others in its place.
func (c *Case) StandsIn() bool {
	return slices.ContainsFunc(c.NotModelled, func(n world.NotModelled) bool { return n.ID == world.StandIn })
}
