package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

const (
	// confirmRuns is how many new seeds confirm a fix (docs/model/simulator.md 3); newSeeds is how far
	// away they are.
	confirmRuns = 200
	newSeeds    = 1_000_000
	// lightRuns is how many seeds, its own and new ones, confirm a fix for a workload that is like another one in everything
	// but its names.
	lightRuns = 20
	// fewestNew is how many new seeds confirm any other fix at least, where there is a lot to confirm: if nothing is lost in so
	// many, then with 95 % confidence at most 5 % lose anything, which is the bound of the verdict rare.
	fewestNew = 59
	// inFull is for how many workloads there are all of them, those that matter most: for others half of them, which a report has a line for.
	inFull = 3
	// sampleRuns is how many runs attempts are compared on: those that lost most.
	sampleRuns = 5
	// shownFixes is how many are looked for and confirmed; together is how many changes one may
	// be made of.
	shownFixes = 2
	together   = 3
	// searching is about how much the sets of changes of one size may cost that are tried for all workloads together, in events,
	// and rerunning how much the seeds may that all workloads lost something with, when they are run again with what was found.
	searching = 1_000_000
	rerunning = 200_000
	// confirming is about how much the new seeds may cost that confirm one change for one case of each workload, in events.
	confirming = 1_000_000
)

// fixes looks for changes to the manifests of the workloads that lose something, those that matter most first, and returns what was
// confirmed.
func fixes(p *pool, units []*unit, out *record.Simulation) (map[confirmation]*confirmed, error) {
	var workloads []string
	for _, c := range out.Worst() {
		if loses(c) && !slices.Contains(workloads, c.Workload) && (p.opts.Fixes < 0 || len(workloads) < p.opts.Fixes) {
			workloads = append(workloads, c.Workload)
		}
	}
	b := &bench{
		pool: p, out: out, workloads: workloads, known: map[string]*solution{}, confirmed: map[confirmation]*confirmed{}, hooks: map[string]lates{}, measured: map[string]lates{},
	}
	var groups []group
	for _, name := range workloads {
		groups = append(groups, groupsOf(units, name)...)
	}
	b.groups = max(len(groups), 1)
	if err := b.unblock(units); err != nil {
		return b.confirmed, err
	}
	for _, g := range groups {
		if p.ctx.Err() != nil {
			break
		}
		if err := b.solve(g); err != nil {
			return b.confirmed, err
		}
	}
	return b.confirmed, nil
}

// group is the units that a change of a workload is judged by: behind the same load balancer, where it might be several.
type group struct {
	workload string
	preset   string // "" where it is known
	sudden   bool   // pods end with their machine: what helps them is nothing for pods that are told to stop, and the other way round
	units    []*unit
}

// groupsOf are those of a workload. Cases without load balancers are in all of them.
func groupsOf(units []*unit, workload string) []group {
	var presets []string
	var own []*unit
	for _, u := range units {
		if u.record.Workload == workload && u.judged() {
			own = append(own, u)
			if u.family != nil && !slices.Contains(presets, u.family.Preset) {
				presets = append(presets, u.family.Preset)
			}
		}
	}
	if len(presets) == 0 {
		presets = []string{""}
	}
	var out []group
	for _, preset := range presets {
		for _, sudden := range []bool{false, true} {
			g := group{workload: workload, preset: preset, sudden: sudden}
			lost := false
			for _, u := range own {
				if u.family != nil && u.family.Preset != preset || !loses(&u.record) || u.record.Sudden != sudden {
					continue
				}
				g.units, lost = append(g.units, u), lost || preset == "" || u.family != nil
			}
			if lost {
				out = append(out, g)
			}
		}
	}
	return out
}

// loses says that a case is worth fixing. What a Scenario does to its world is its own affair, and a rollout that is stuck has to
// come to its end first.
func loses(c *record.Case) bool {
	if c.Kind == kindScenario || c.Verdict.Endless() {
		return false
	}
	for i := range c.Families {
		if loses(&c.Families[i].Case) {
			return true
		}
	}
	return slices.ContainsFunc(c.Runs, func(r record.Run) bool { return fixable(&r) > 0 })
}

// fixable counts the lost requests that a manifest may have to do with: not those that raced
// with the closing of an idle connection, which happens to any pod that ends. The time that sessions have no server, where that is
// what is lost, counts as the requests of 100/s: they wait for one that looks for its next server.
func fixable(r *record.Run) uint64 {
	var lost uint64
	for i := range r.Streams {
		if s := &r.Streams[i]; s.DarkSeconds > 0 && s.LostSeconds == s.DarkSeconds {
			lost += uint64(s.DarkSeconds / (10 * engine.Millisecond))
		}
	}
	for i := range r.Groups {
		if r.Groups[i].Blame.Cause != ledger.KeepaliveRace {
			lost += r.Groups[i].Count
		}
	}
	return lost
}

// bench is where fixes are looked for, workload after workload.
type bench struct {
	pool      *pool
	out       *record.Simulation
	workloads []string             // in the order in which fixes are looked for
	known     map[string]*solution // by group.key
	groups    int                  // how many there are: they share the budgets
	tried     [][]string           // sets of changes, by their IDs, that helped a workload before: tried first
	// confirmed is what units without a load balancer came to with some changes: they are judged again for each that others of
	// their workload might be behind, and the changes are often the same.
	confirmed map[confirmation]*confirmed
	// hooks is how late the last way to a pod of a workload closes in what its other changes were looked for: one report has one hook for it.
	hooks map[string]lates
	// measured is what the searches of the groups came to that were measured before their turn.
	measured map[string]lates
}

// measure is that of a search for a group, once.
func (b *bench) measure(s *search, g *group) error {
	key := fmt.Sprintf("%s %s %t", g.workload, g.preset, g.sudden)
	known, ok := b.measured[key]
	if ok {
		s.lates = known
		return nil
	}
	if err := s.measure(); err != nil {
		return err
	}
	b.measured[key] = s.lates
	return nil
}

// hookFor is how late the last way to a pod of a workload closes in all that is done to it and loses something, where its load balancer is known.
func (b *bench) hookFor(workload string, units []*unit) (latest lates, err error) {
	for _, g := range groupsOf(units, workload) {
		if g.preset != "" || g.sudden {
			continue
		}
		s := b.searchFor(&g)
		if err := b.measure(s, &g); err != nil {
			return latest, err
		}
		latest.upTo(&s.lates)
	}
	return latest, nil
}

// searchFor is the search for what helps a group.
func (b *bench) searchFor(g *group) *search {
	s := &search{
		pool: b.pool, workload: g.workload, preset: g.preset, units: g.units, tried: b.tried, confirmed: b.confirmed, shown: shownFixes,
		budget: searching / max(b.groups, 1), reruns: rerunning / max(b.groups, 1), confirms: confirming / max(b.groups, 1),
		mostNew: b.pool.opts.ConfirmRuns,
	}
	if slices.Index(b.workloads, g.workload) >= inFull {
		s.mostNew = (s.mostNew + 1) / 2
	}
	if g.preset != "" {
		s.shown = 1 // one line a load balancer
	}
	return s
}

// solution is what the search for a workload came to.
type solution struct {
	sets    [][]string            // of changes, by their IDs
	notWith [][]record.OtherValue // by set: the other values with which it does not help
	lates   lates
}

// solve looks for what helps a workload behind one load balancer, and adds it to the record.
func (b *bench) solve(g group) error {
	s := b.searchFor(&g)
	key := g.key()
	same := b.known[key]
	if same != nil {
		s.lates, s.tried, s.light = same.lates, same.sets, true
	} else if err := b.measure(s, &g); err != nil {
		return err
	}
	hook := b.hooks[g.workload]
	s.lates.upTo(&hook)
	found, noHelp := s.run()
	solved := &solution{lates: s.lates}
	for _, a := range found {
		confirmed, helps := s.confirm(a)
		if !helps {
			if !a.hasOneOf(noHelp) { // the set says no more than its part
				noHelp = append([]string{a.title()}, noHelp...)
			}
			continue
		}
		a, f := s.sufficient(s.gated(a, &confirmed))
		ids := a.ids()
		if f.NotWith = same.known(ids); same == nil {
			f.NotWith = append(s.notWith(a), s.brokenBy(a)...)
		}
		solved.sets, solved.notWith = append(solved.sets, ids), append(solved.notWith, f.NotWith)
		if !slices.ContainsFunc(b.tried, func(t []string) bool { return slices.Equal(t, ids) }) {
			b.tried = append(b.tried, ids)
		}
		if g.preset != "" {
			f.Families = []string{g.preset}
			b.toFamilies(f, &g)
		}
		b.add(f)
	}
	b.untried(&g)
	for _, title := range noHelp {
		n := record.NoHelp{Workload: g.workload, Title: title, Sudden: g.sudden}
		n.Gap, n.Shorter, n.AsMuch = s.shortens(title)
		if !slices.ContainsFunc(b.out.NoHelp, func(x record.NoHelp) bool {
			return x.Workload == n.Workload && x.Title == n.Title && x.Sudden == n.Sudden && x.Why == ""
		}) {
			b.out.NoHelp = append(b.out.NoHelp, n)
		}
	}
	if same == nil && key != "" {
		b.known[key] = solved
	}
	return nil
}

// untried says of the change that a person would think of first why it was not tried.
func (b *bench) untried(g *group) {
	for _, u := range g.units {
		w := u.sc.Workload(g.workload)
		if w == nil {
			continue
		}
		if title, why := fix.Untried(u.sc, w); why != "" && !slices.ContainsFunc(b.out.NoHelp, func(n record.NoHelp) bool { return n.Workload == g.workload && n.Why == why }) {
			b.out.NoHelp = append(b.out.NoHelp, record.NoHelp{Workload: g.workload, Title: title, Why: why, Sudden: g.sudden})
		}
	}
}

// known are the other values with which a set of changes did not help a workload that is the same but for its names.
func (s *solution) known(ids []string) []record.OtherValue {
	if s == nil {
		return nil
	}
	at := slices.IndexFunc(s.sets, func(set []string) bool { return slices.Equal(set, ids) })
	if at < 0 {
		return nil
	}
	return s.notWith[at]
}

// key is the same for workloads that are alike but for names, "" where that is not known.
func (g *group) key() string {
	var out strings.Builder
	for _, u := range g.units {
		if u.alike == "" {
			return ""
		}
		out.WriteString(u.alike + "\n")
	}
	return out.String()
}

// toFamilies records the best fix with the load balancer that it was confirmed for.
func (b *bench) toFamilies(f *record.Fix, g *group) {
	for _, u := range g.units {
		families := b.out.Cases[u.index].Families
		for i := range families {
			if families[i].Preset == g.preset && families[i].Fix == nil {
				own := *f
				families[i].Fix = &own
			}
		}
	}
}

// add adds a fix to the record: to the one that is the same for another load balancer or another workload, if there is one.
func (b *bench) add(f *record.Fix) {
	for i := range b.out.Fixes {
		x := &b.out.Fixes[i]
		if x.Title != f.Title || x.Cost != f.Cost || x.Destructive != f.Destructive || !slices.Equal(x.NotWith, f.NotWith) {
			continue
		}
		switch {
		case x.Workload == f.Workload:
			x.Families = append(x.Families, f.Families...)
			alsoFor(x, f)
			return
		case slices.Contains(x.Others, f.Workload):
			return
		case len(x.Families) == 0 && len(f.Families) == 0:
			x.Others, x.Cases = append(x.Others, f.Workload), append(x.Cases, f.Cases...)
			x.OtherEdits = append(x.OtherEdits, record.OtherEdits{Workload: f.Workload, Edits: f.Edits})
			return
		}
	}
	b.out.Fixes = append(b.out.Fixes, *f)
}

// alsoFor adds to a fix the cases of the same one that it does not have yet: those in which pods end with their machine are looked at by
// themselves.
func alsoFor(x, f *record.Fix) {
	for _, c := range f.Cases {
		if !slices.ContainsFunc(x.Cases, func(o record.FixedCase) bool { return o.ID == c.ID && o.Action == c.Action }) {
			x.Cases = append(x.Cases, c)
		}
	}
}

// attempt is some changes together, and what is left of the loss on the samples.
type attempt struct {
	changes       []fix.Change
	lost          uint64
	of            []uint64 // by unit: its part of lost
	better, worse int      // runs that lost less with it, and more
	stuck         int      // runs whose rollout did not come to its end
	gaps          []gap    // of the runs of the samples, in their order
	ran           bool
}

func (a *attempt) ids() []string {
	var out []string
	for i := range a.changes {
		out = append(out, a.changes[i].ID)
	}
	return out
}

// makeshift says that an attempt has a change that is a poor answer, and not the better one with it.
func (a *attempt) makeshift() bool {
	return slices.ContainsFunc(a.changes, func(c fix.Change) bool { return a.makes(&c) })
}

// makes says that a change is a makeshift together with the others of an attempt.
func (a *attempt) makes(c *fix.Change) bool {
	return c.Makeshift != "" && !slices.ContainsFunc(a.changes, func(x fix.Change) bool { return x.Replicas > 0 || x.ID == c.Unless })
}

// title names the changes together.
func (a *attempt) title() string { return titles(fix.Together(a.changes), ", ") }

func titles(changes []fix.Change, between string) string {
	var list []string
	for i := range changes {
		if changes[i].Title != "" {
			list = append(list, changes[i].Title)
		}
	}
	return strings.Join(list, between)
}

func (a *attempt) contains(other *attempt) bool {
	for _, id := range other.ids() {
		if !slices.Contains(a.ids(), id) {
			return false
		}
	}
	return true
}

// hasOneOf says that a set of several changes has one of these titles in it.
func (a *attempt) hasOneOf(titles []string) bool {
	return len(a.changes) > 1 && slices.ContainsFunc(a.changes, func(c fix.Change) bool { return slices.Contains(titles, c.Title) })
}

// has says that a change is a part of one of an attempt, or one of these a part of it.
func (a *attempt) has(c *fix.Change) bool {
	return slices.ContainsFunc(a.changes, func(x fix.Change) bool { return slices.Contains(x.Has, c.ID) || slices.Contains(c.Has, x.ID) })
}

// covers says that another attempt is one change that is a part of this attempt's hook.
func (a *attempt) covers(other *attempt) bool {
	return len(other.changes) == 1 && slices.ContainsFunc(a.changes, func(x fix.Change) bool { return x.Sleep > 0 && slices.Contains(x.Has, other.changes[0].ID) })
}

// grow adds one more change to each attempt of a level, each set once.
func grow(level, singles []*attempt) []*attempt {
	var out []*attempt
	for _, a := range level {
		last := a.changes[len(a.changes)-1].ID
		after := slices.IndexFunc(singles, func(s *attempt) bool { return s.changes[0].ID == last }) + 1
		for _, s := range singles[after:] {
			if a.has(&s.changes[0]) {
				continue
			}
			out = append(out, &attempt{changes: append(slices.Clone(a.changes), s.changes...)})
		}
	}
	return out
}

// sample picks the runs of a case that attempts are tried on: those that lost most.
func sample(c *record.Case) []record.Run {
	runs := slices.Clone(c.Runs)
	sorted.StableBy(runs, func(a, b record.Run) int { return cmp.Compare(fixable(&b), fixable(&a)) })
	return runs[:min(sampleRuns, len(runs))]
}
