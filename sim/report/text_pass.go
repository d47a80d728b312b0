package report

import (
	"slices"
	"strconv"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// smallLoss is what the median run of a case may lose that somebody may want to allow: a few requests.
const smallLoss = 100 * engine.Millisecond

// passes says which limit has the exit code be 0 where a case is a finding, nothing in the manifest was found to help, and little is lost in all
// that fails: nil for others.
func (t *text) passes(c *record.Case) []string {
	l := t.opts.Limits
	if !c.Fails(l) || c.Expectation != nil || l.MaxLost > 0 || slices.ContainsFunc(fixesFor(t.sim, c.Workload), func(f *record.Fix) bool { return !foreign(f, c) }) {
		return nil
	}
	looked := slices.ContainsFunc(t.sim.NoHelp, func(n record.NoHelp) bool { return n.Workload == c.Workload && n.Sudden == c.Sudden })
	if !looked && !racesOnly(c) {
		return nil
	}
	for _, x := range failing(t.sim, l) {
		if x.LostSeconds.Median > int64(smallLoss) {
			return nil
		}
		l.MaxDrops = max(l.MaxDrops, x.RequestsLost.Median, 1)
	}
	if t.sim.Fails(l) {
		return nil
	}
	return []string{"the exit code is 1 for this; to allow it, in a pipeline: " + t.option("max-drops", strconv.FormatInt(l.MaxDrops, 10))}
}

// racesOnly says that a case loses nothing but requests that meet a connection just as it is closed, which no manifest has to do with.
func racesOnly(c *record.Case) bool {
	return len(c.Causes) > 0 && !slices.ContainsFunc(c.Causes, func(x record.Cause) bool { return x.Cause != ledger.KeepaliveRace })
}

// failing are the cases that are findings; of one that is told by load balancer those with each that it might be.
func failing(s *record.Simulation, l record.Limits) (out []*record.Case) {
	for i := range s.Cases {
		c := &s.Cases[i]
		for k := range c.Families {
			if f := &c.Families[k].Case; f.Fails(l) {
				out = append(out, f)
			}
		}
		if len(c.Families) == 0 && c.Fails(l) {
			out = append(out, c)
		}
	}
	return out
}
