package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/story"
)

// fixesFor are the changes that were tried for a workload, the best first.
func fixesFor(s *record.Simulation, workload string) []*record.Fix {
	var out []*record.Fix
	for i := range s.Fixes {
		if f := &s.Fixes[i]; f.Workload == workload || slices.Contains(f.Others, workload) {
			out = append(out, f)
		}
	}
	return out
}

// noHelpFor are the changes that do not help a case, nor those of its workload that are like it.
func noHelpFor(s *record.Simulation, c *record.Case) []string {
	var out []string
	for _, n := range s.NoHelp {
		if n.Workload == c.Workload && n.Sudden == c.Sudden && n.Why == "" && n.Gap == 0 {
			out = append(out, n.Title)
		}
	}
	return out
}

// shorterFor says of the changes with which as much is lost of a case, for its clients wait, that a pod is ready again sooner with them.
func shorterFor(s *record.Simulation, c *record.Case) []string {
	var out []string
	for _, n := range s.NoHelp {
		if n.Workload == c.Workload && n.Sudden == c.Sudden && n.Gap > 0 {
			words := fmt.Sprintf("%s: in the worst runs a pod is ready again after %s in place of %s", n.Title, span(n.Shorter), span(n.Gap))
			if n.AsMuch {
				words += "; as much is lost, for the clients that are assumed wait longer"
			}
			out = append(out, words)
		}
	}
	return out
}

// ask asks which load balancer it is.
func (t *text) ask(c *record.Case) string {
	words := "say which of these it is, " + leftOpen(c) + ": "
	if c.StandsIn() {
		words = "say which of these it is most like, for yours is not simulated: "
	}
	return words + t.option("lb", presets(c)) + " (" + t.option("list", "presets") + ")"
}

// leftOpen says how far the input tells which load balancer it is.
func leftOpen(c *record.Case) string {
	for i := range c.Assumptions {
		a := &c.Assumptions[i]
		if a.ID != "lb" && a.ID != "ingress" {
			continue
		}
		_, why, _ := strings.Cut(strings.TrimSuffix(a.Value, ")"), " (")
		switch {
		case why == "":
		case a.Basis == "inferred", a.Basis == "preset":
			return "for all that is said of it is " + why
		case strings.HasPrefix(why, scenario.Contradicts):
			return "for there are " + why
		}
	}
	return "for nothing in the input does"
}

// titledAbove is how many changes that do not help the head of a report names.
const titledAbove = 4

// todo is what to do about a case, in one sentence a way.
func (t *text) todo(c *record.Case) []string {
	if c.Waits() {
		return t.letsItGoOn(c)
	}
	if len(c.Families) > 0 && c.Verdict != record.Holds { // with each of them nothing is lost: it makes no difference
		return []string{t.ask(c)}
	}
	if _, s := c.RarelyStuck(); s != nil && c.WithLoss == 0 {
		return []string{s.What + inBrackets(t.place(s.File, s.Line))}
	}
	if c.HangsOnContainer() {
		return remediesLeftOut(c)
	}
	all := fixesFor(t.sim, c.Workload)
	fixes := slices.DeleteFunc(slices.Clone(all), func(f *record.Fix) bool { return foreign(f, c) })
	switch {
	case c.Verdict == record.Holds:
		return t.todoHolds(c)
	case c.Verdict == record.NotJudged || c.Kind == "Scenario":
		return nil
	case c.ForGood() && promotes(c):
		return []string{"a switchover before the drain; without one it lasts until the operator has labelled another pod, which is not simulated"}
	case c.ForGood() && c.Kind == "Pod":
		return []string{"a controller for the Pod, such as a Deployment: nobody makes this one again"}
	case len(fixes) > 0:
		return t.told(fixes, c)
	case len(noHelpFor(t.sim, c))+len(shorterFor(t.sim, c)) > 0:
		return t.noneHelps(c)
	case len(all) > 0:
		return []string{"nothing that was tried helps" + outsideWords(c, t.drainTold(c))}
	case slices.ContainsFunc(t.sim.NoHelp, func(n record.NoHelp) bool { return n.Workload == c.Workload && n.Sudden == c.Sudden }):
		return []string{"nothing in the manifest has to do with it" + outsideWords(c, t.drainTold(c))}
	default:
		return []string{t.notLookedFor(c)}
	}
}

// todoHolds is what to do about a case that holds: what makes answers come in time, or nothing, and that is said of it as assumed where one that
// holds is an outage otherwise.
func (t *text) todoHolds(c *record.Case) []string {
	if late := t.inTime(c); late != nil {
		return append(late, slices.DeleteFunc(nothing(c), func(words string) bool { return words == "nothing" })...)
	}
	words := nothing(c)
	if closes := t.ifItCloses(c); closes != nil && (words[0] == "nothing" || words[0] == nothingAsAssumed) {
		return closes
	}
	if words[0] != nothingAsAssumed && (words[0] != "nothing" || len(t.outagesBeside(c)) == 0) {
		return words
	}
	together := func(x *record.Case) bool {
		return slices.ContainsFunc(outages(x), func(a *record.Alternative) bool { return a.ID == scenario.Places })
	}
	if together(c) || slices.ContainsFunc(t.besideHolds(c), together) {
		return []string{nothingAsAssumed, withAllOnOneNode}
	}
	return []string{nothingAsAssumed}
}

// withAllOnOneNode is what pages of workloads that lose something as assumed find to help where a node with all pods is drained.
const withAllOnOneNode = "against a drain of the node that all pods are on: a PodDisruptionBudget with maxUnavailable 1 (not tried here)"

// letsItGoOn is what lets a case go on that waits for ever.
func (t *text) letsItGoOn(c *record.Case) []string {
	if ways := t.waysOut(c); len(ways) > 0 {
		return ways
	}
	words := c.Stuck.What
	if where := t.place(c.Stuck.File, c.Stuck.Line); where != "" && wantsNode(words) {
		words += " (for what " + where + " asks)"
	} else if where != "" {
		words += " (" + where + ")"
	}
	return []string{words}
}

// told are the changes that help: the first one, and what somebody may have instead.
func (t *text) told(fixes []*record.Fix, c *record.Case) []string {
	first := titleOf(fixes[0]) + ": " + t.confirmedFor(fixes[0], c) + leastWords(fixes[0], t.othersOf(fixes[0], fixes[0].AloneNot)) + t.sleepsFor(fixes[0])
	if fixes[0].Destructive != "" {
		first += "; but " + fixes[0].Destructive
	}
	out := append([]string{first}, t.instead(fixes, c)...)
	for _, r := range remediesLeftOut(c) {
		if fixes[0].Sleep == 0 || !strings.HasPrefix(r, "the same delay") { // a hook that sleeps is given to these, too: see fix.asLong
			out = append(out, "and, which is not counted here, "+r)
		}
	}
	return out
}

// instead are the changes that somebody may have in place of the first one: what breaks nothing, needs no pod more, or does for rollouts alone.
func (t *text) instead(fixes []*record.Fix, c *record.Case) []string {
	var out []string
	more, alone := withoutMore(fixes), rolloutsAlone(fixes)
	if f := harmlessFor(fixes, 1, c); f != nil {
		words := "or, which breaks nothing, "
		if f == more {
			words, more = "or, which breaks nothing and needs no pod more, ", nil
		}
		words += f.Title + ": " + t.confirmedFor(f, c)
		if len(f.NotWith) > 0 {
			words += "; not enough if " + alternatives(t.others(f), 3)
		}
		out = append(out, words)
	}
	if more != nil && more != alone {
		without := "without a pod more"
		if strings.Contains(more.Title, "needs room for one pod more") {
			without = "with a pod more in rollouts only"
		}
		out = append(out, "or, "+without+", "+more.Title+": "+confirmedInShort(onlyOf(more, c)))
	}
	if alone != nil {
		of := alone.Cases[slices.IndexFunc(alone.Cases, rollsOut)].ID
		if c.Action == scenario.ActionRollout {
			of = c.ID
		}
		words := "or, for the " + t.oneOf(of) + " alone, " + alone.Title + ": " + confirmedInShort(onlyOf(alone, &record.Case{ID: of}))
		if alone.Destructive != "" && !strings.Contains(fixes[0].Destructive, alone.Destructive) {
			words += "; but " + alone.Destructive
		}
		out = append(out, words)
	}
	return out
}

func rollsOut(x record.FixedCase) bool { return x.Action == scenario.ActionRollout }

// rolloutsAlone is the first change without a pod more, where the first of all has one, that leaves as much of what is lost in all else that is done
// as it was, and not of rollouts; nil where there is none.
func rolloutsAlone(fixes []*record.Fix) *record.Fix {
	if !fixes[0].Pods {
		return nil
	}
	for _, f := range fixes[1:] {
		others := slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool { return !rollsOut(x) })
		if !f.Pods && others && slices.ContainsFunc(f.Cases, rollsOut) && !slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool { return rollsOut(x) == inVain(&x) }) {
			return f
		}
	}
	return nil
}

// oneOf is what is done in a case, by its id.
func (t *text) oneOf(id string) string {
	for i := range t.sim.Cases {
		if c := &t.sim.Cases[i]; c.ID == id {
			return one(c)
		}
	}
	return "rollout"
}

// noneHelps says that nothing which was tried makes less be lost, and first what makes a pod be ready again sooner.
func (t *text) noneHelps(c *record.Case) []string {
	sooner, words := shorterFor(t.sim, c), "no change of the manifest that was tried helps"
	if len(sooner) > 0 {
		words = "nothing that was tried halves what is lost"
	}
	if titles := noHelpFor(t.sim, c); len(titles) > 0 && (len(sooner) == 0 || !t.room.bare) {
		words += " (" + listed(titles, titledAbove) + ")" + noUseAlone(c, titles)
	}
	if c.Class == scenario.ClassDatagram && len(c.Causes) > 0 && c.Causes[0].Culprit.What == story.NoReadinessProbe {
		sooner = append(sooner, "a readinessProbe with exec or httpGet that asks whether the app takes what it is sent: write it, for a probe of an open port is of TCP, and this app has none that is known")
	}
	return append(sooner, words+outsideWords(c, t.drainTold(c)))
}

// noUseAlone says why the remedy of the cause that the Why names does not help: nobody else could answer.
func noUseAlone(c *record.Case, noHelp []string) string {
	if len(c.Causes) == 0 || c.Causes[0].Elsewhere {
		return ""
	}
	what := c.Causes[0].Culprit.What
	tried := func(title string) bool {
		return slices.ContainsFunc(noHelp, func(words string) bool { return strings.HasPrefix(words, title) })
	}
	switch {
	case what == "no readinessProbe" && tried("readinessProbe"):
		return ": as long as no pod answers, a probe only decides how requests fail, refused or after a wait"
	case strings.HasPrefix(what, "no preStop") && tried("preStop"):
		return ": as long as no other pod answers, a hook only has the outage begin later"
	default:
		return ""
	}
}

// wantsNode says that what lets something go on is a node: the field behind it is why, and not what to change.
func wantsNode(what string) bool {
	first, rest, _ := strings.Cut(what, " ")
	return first == "a" && strings.HasPrefix(rest, "node ") || strings.HasPrefix(rest, "node more") || strings.HasPrefix(rest, "nodes more")
}

// foreign says that a change was found for what else is done to a case's workload, and not for what the case is about.
func foreign(f *record.Fix, c *record.Case) bool {
	return len(f.Cases) > 0 && !slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool { return x.Action == c.Action || x.ID == c.ID || x.Action == "" })
}

// ownFirst has the changes for what a case is about come before those for what else is done to its workload.
func ownFirst(fixes []*record.Fix, c *record.Case) []*record.Fix {
	out := slices.Clone(fixes)
	rank := func(f *record.Fix) int {
		if foreign(f, c) {
			return 1
		}
		return 0
	}
	sorted.StableBy(out, func(a, b *record.Fix) int { return rank(a) - rank(b) })
	return out
}

// outsideWords say what there is to try besides the manifest where a node ends under its pods. A kubelet that ends them first already is
// no advice. drain says where to read what a drain loses, "" where the reader has it before him.
func outsideWords(c *record.Case, drain string) string {
	var ways []string
	switch c.Action {
	case scenario.ActionCrash:
		return noticed(c)
	case scenario.ActionReboot:
		return noticed(c) + "; if the reboot is planned, drain the node before" + onceEvictable(c, drain)
	case scenario.ActionShutdown:
		ways = append(ways, "drain the node before"+onceEvictable(c, drain))
	case scenario.ActionSpot:
		if who, _, said := assumed(c, "spot-handler"); said && !strings.HasPrefix(who, scenario.NobodyReacts) {
			return ""
		}
		ways = append(ways, "have a node termination handler drain the node at the notice"+onceEvictable(c, drain))
	default:
		return ""
	}
	if _, _, made := assumed(c, "kubelet"); made && c.Sudden {
		ways = append(ways, "have the kubelet end its pods first (nodes.kubelet.shutdownGracePeriod)")
	}
	return "; " + strings.Join(ways, ", or ")
}

// noticed says how long nobody knows of a machine that is gone, and what makes that less bad.
func noticed(c *record.Case) string {
	const renewal, look = 10, 5 // seconds: of leases, and of the controller that looks at them
	after := int64(c.Silence / engine.Second)
	return fmt.Sprintf("; it takes %d to %d s until the control plane notices: more pods on more nodes carry less each", after-renewal, after+look)
}

// onceEvictable says what has to be changed before any drain empties a node, or where to read what one loses.
func onceEvictable(c *record.Case, drain string) string {
	if c.Unevictable == "" {
		return inBrackets(drain)
	}
	return " (not now: " + c.Unevictable + ")"
}

// drainTold says where to read what a drain of the node loses: a loss of its own, and not nothing. "" where the report has it.
func (t *text) drainTold(c *record.Case) string {
	if slices.ContainsFunc(t.sim.Cases, func(x record.Case) bool { return x.Workload == c.Workload && x.Action == scenario.ActionDrain }) {
		return ""
	}
	return t.option("action", "drain") + " says what that loses"
}

// waysOut are the changes with which a rollout comes to its end that is stuck.
func (t *text) waysOut(c *record.Case) []string {
	var out []string
	for _, f := range wayOut(t.sim, c) {
		words := titleOf(f) + ": " + confirmedInShort(f)
		if len(out) > 0 {
			words = "or " + words
		}
		out = append(out, words)
	}
	if len(out) > 0 && len(c.Families) > 0 && slices.ContainsFunc(wayOut(t.sim, c), func(f *record.Fix) bool { return worstConfirmed(f).Confirm.LostSeconds.Max > 0 }) {
		out = append(out, "what it loses then depends on the load balancer: say which it is, and what helps there is looked for, too: "+t.option("lb", presets(c)))
	}
	return out
}

// wayOut are the changes with which what is stuck comes to its end.
func wayOut(s *record.Simulation, c *record.Case) []*record.Fix {
	return slices.DeleteFunc(fixesFor(s, c.Workload), func(f *record.Fix) bool {
		return !slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool { return x.ID == c.ID && x.StuckBefore > 0 })
	})
}

// harmless is the first change after so many that breaks nothing, where all of these may; nil where there is none.
func harmless(fixes []*record.Fix, after int) *record.Fix {
	breaks := func(f *record.Fix) bool { return f.Destructive != "" }
	if !slices.ContainsFunc(fixes[:after], breaks) || slices.ContainsFunc(fixes[:after], func(f *record.Fix) bool { return !breaks(f) }) {
		return nil
	}
	for _, f := range fixes[after:] {
		if !breaks(f) {
			return f
		}
	}
	return nil
}

// harmlessFor is harmless, where that is worth it for a case.
func harmlessFor(fixes []*record.Fix, after int, c *record.Case) *record.Fix {
	if f := harmless(fixes, after); f != nil && worthIt(f, c) {
		return f
	}
	return nil
}

// worthIt says that a change leaves half or less of what a case loses, or that the case is none that it was confirmed for.
func worthIt(f *record.Fix, c *record.Case) bool {
	at := slices.IndexFunc(f.Cases, func(x record.FixedCase) bool { return x.ID == c.ID })
	if at < 0 {
		return true
	}
	x := &f.Cases[at]
	if x.Before.Median == 0 {
		return 2*x.After.Max <= x.Before.Max
	}
	return 2*x.After.Median <= x.Before.Median
}

// onlyOf is a fix with what it does to one case, where it was confirmed for that: before it, what all runs of the case lose.
func onlyOf(f *record.Fix, c *record.Case) *record.Fix {
	own := *f
	own.Cases = nil
	for _, x := range f.Cases {
		if x.ID != c.ID {
			continue
		}
		if len(c.Families) == 0 && c.LostSeconds.Max > 0 {
			x.Before = c.LostSeconds
		}
		own.Cases = append(own.Cases, x)
	}
	if len(own.Cases) == 0 {
		return f
	}
	return &own
}

// confirmedFor says what a fix came to for a case, and for the worst other one where it is clean for this alone. Of a fix that was not
// confirmed for the case it says which one the figures are of.
func (t *text) confirmedFor(f *record.Fix, c *record.Case) string {
	own, worst := onlyOf(f, c), worstConfirmed(f)
	words := confirmedWords(own)
	switch x := worstConfirmed(own); {
	case len(f.Cases) == 0 || worst.ID == c.ID:
		return words
	case worst.Confirm.WithLoss == 0: // nor is anything lost in another case
		return confirmedWords(f)
	case own == f:
		if open, ok := strings.CutSuffix(words, ")"); ok {
			return open + "; " + t.caseOf(f, worst.ID) + ")"
		}
		return words + " (" + t.caseOf(f, worst.ID) + ")"
	case x.Confirm.Runs > 0 && x.Confirm.WithLoss == 0 && x.StuckBefore == 0 && worst.Confirm.WithLoss > 0:
		return t.sameAs(c, worst.ID) + words + "; " + t.caseOf(f, worst.ID) + ": in " + count(worst.Confirm.Runs, "new run", "new runs") + " " + atMost(worst.Confirm.LostSeconds) + inBrackets(t.alone(worst.ID))
	default:
		return words
	}
}

// sameAs says through which traffic a case is seen, where another one is of the same action, which a figure of either names.
func (t *text) sameAs(c *record.Case, id string) string {
	for i := range t.sim.Cases {
		if x := &t.sim.Cases[i]; x.ID == id && one(x) == one(c) && c.Traffic != "" {
			return trafficWords(c) + t.whose(c) + ": "
		}
	}
	return ""
}

// caseOf names a case of a fix by what is done and its traffic.
func (t *text) caseOf(f *record.Fix, id string) string {
	for i := range t.sim.Cases {
		if c := &t.sim.Cases[i]; c.ID == id {
			if subject(c) != f.Workload || len(f.Others) > 0 {
				return subject(c) + ", " + happening(c) + t.whose(c)
			}
			return happening(c) + t.whose(c)
		}
	}
	return id
}

// withoutMore is the first change that needs no pod more, where the first of all does; nil where there is none.
func withoutMore(fixes []*record.Fix) *record.Fix {
	if !fixes[0].Pods {
		return nil
	}
	for _, f := range fixes[1:] {
		if !f.Pods && f.Destructive == "" {
			return f
		}
	}
	return nil
}

// notLookedFor says why a workload has neither a fix nor a change that does not help.
func (t *text) notLookedFor(c *record.Case) string {
	switch {
	case racesOnly(c):
		return "nothing in the manifest: a request that meets a connection just as it is closed may be lost with any pod that ends; who asks again does not notice"
	case t.sim.Interrupted:
		return "fixes were not looked for: interrupted"
	case len(t.sim.Fixes)+len(t.sim.NoHelp) > 0:
		return "fixes were not looked for: " + t.option("fixes", "") + " says for how many workloads, the worst first"
	default:
		return "fixes were not looked for (" + t.option("fixes", "0") + ")"
	}
}

// worstConfirmed is the case of a fix that lost in the greatest part of the new runs.
func worstConfirmed(f *record.Fix) *record.FixedCase {
	if len(f.Cases) == 0 {
		return &record.FixedCase{}
	}
	worst := &f.Cases[0]
	for i := range f.Cases {
		if x := &f.Cases[i]; x.Confirm.WithLoss*max(worst.Confirm.Runs, 1) > worst.Confirm.WithLoss*max(x.Confirm.Runs, 1) {
			worst = x
		}
	}
	return worst
}

// confirmedWords says what a fix came to on the runs that confirm it.
func confirmedWords(f *record.Fix) string {
	x := worstConfirmed(f)
	if x.Confirm.Runs == 0 {
		return "not confirmed"
	}
	word := runsOf(f)
	runs := count(x.Confirm.Runs, "new "+word, "new "+plural(word))
	if x.StuckBefore > 0 {
		words := fmt.Sprintf("finishes in %s of %s, and loses %s", thousands(int64(x.Confirm.Runs-x.Confirm.Stuck)), runs, atMost(x.Confirm.LostSeconds))
		if x.Confirm.LostSeconds.Max > 0 {
			words += " in these"
		}
		return words
	}
	if x.Confirm.WithLoss == 0 {
		return fmt.Sprintf("nothing lost in %s (at most %s of %s lose anything)", runs, percent(record.LossBound(x.Confirm.Runs)), plural(word))
	}
	switch lost, was := x.Confirm.LostSeconds, x.Before; {
	case 2*x.Confirm.WithLoss <= x.Confirm.Runs || lost.Median == 0:
	case 10*lost.Median > 9*was.Median: // the rare runs are what it mends
		return fmt.Sprintf("in %s at most %s lost in place of at most %s", runs, span(engine.Time(lost.Max)), span(engine.Time(was.Max)))
	default:
		return fmt.Sprintf("%s lost in place of %s (in %s at most %s)", span(engine.Time(lost.Median)), span(engine.Time(x.Before.Median)), runs, span(engine.Time(lost.Max)))
	}
	return stillLost(&x.Confirm, word)
}

// stillLost says in how many of the new runs something is lost with a change, and how much at most in these: in others it may be more.
func stillLost(c *record.Confirm, word string) string {
	runs, most := count(c.Runs, "new "+word, "new "+plural(word)), span(engine.Time(c.LostSeconds.Max))
	if c.WithLoss == c.Runs {
		return "in " + runs + " at most " + most + " lost"
	}
	return fmt.Sprintf("something lost in %s of %s, in these at most %s", thousands(int64(c.WithLoss)), runs, most)
}

// runsOf is what one run of the cases of a fix is called: "rollout", "node drain", and "run" where several things are done.
func runsOf(f *record.Fix) string {
	action := ""
	for i := range f.Cases {
		switch a := f.Cases[i].Action; {
		case i > 0 && a != action:
			return "run"
		default:
			action = a
		}
	}
	if action == "" || action == scenario.ActionRollout {
		return "rollout"
	}
	return action
}

// atMost is the most of what is lost.
func atMost(lost record.Range) string {
	if lost.Max == 0 {
		return "nothing"
	}
	return "at most " + span(engine.Time(lost.Max))
}

// confirmedInShort is the same without the bound, which has been said of another change.
func confirmedInShort(f *record.Fix) string {
	words, _, _ := strings.Cut(confirmedWords(f), " (")
	return words
}

// leftWords says why something is lost yet.
func leftWords(causes []string) string {
	var words []string
	for c := ledger.NoCause + 1; c < ledger.NumCauses; c++ {
		if slices.Contains(causes, c.String()) {
			words = append(words, phrases[c].name)
		}
	}
	if len(words) == 0 {
		return ""
	}
	if len(words) > 1 {
		return " (" + words[0] + ", and others)"
	}
	return " (" + words[0] + ")"
}

// leastWords says what less would do as assumed: one of the changes, not if something is otherwise that the others are for, or a shorter hook.
func leastWords(f *record.Fix, aloneNot []string) string {
	alone := "; as assumed, " + f.Alone + " does as much by itself"
	if len(aloneNot) > 0 {
		alone += " (not if " + alternatives(aloneNot, 1) + ")"
	}
	switch {
	case f.Alone != "" && leastHook(f) != "":
		return alone + ", and " + strings.TrimPrefix(enough(f), "as assumed, ")
	case f.Alone != "":
		return alone
	case f.Least != "":
		return "; " + enough(f)
	default:
		return ""
	}
}

// leastHook is Fix.Least, "" where as assumed a change does without any hook.
func leastHook(f *record.Fix) string {
	if f.Alone != "" && !strings.HasPrefix(f.Alone, "preStop") {
		return ""
	}
	return f.Least
}

// enough says which hook would do without the other values of the assumptions, for which the one that is advised does, too.
func enough(f *record.Fix) string {
	least := "sleep " + strings.TrimSuffix(f.Least, " s")
	if f.Action {
		least = "a sleep action of " + f.Least
	}
	if x := worstConfirmed(f); x.Confirm.WithLoss > 0 {
		return "as assumed, " + least + " does as much"
	}
	return "as assumed, " + least + " is enough"
}

// farMore is how much longer than it has to be as assumed a hook is of which it is said why.
const farMore = 30 * engine.Second

// sleepsFor says what a hook is so long for that would do with far less as assumed; "" for others.
func (t *text) sleepsFor(f *record.Fix) string {
	least, err := strconv.Atoi(strings.TrimSuffix(leastHook(f), " s"))
	if err != nil || f.SleepFor.ID == "" || f.Sleep < engine.Time(least)*engine.Second+farMore {
		return ""
	}
	return fmt.Sprintf(" (%d if %s)", f.Sleep/engine.Second, t.othersOf(f, []record.OtherValue{f.SleepFor})[0])
}

// fixes writes what was tried against the losses of the shown workloads in full, and in a line
// each what helps others.
func (t *text) fixes(shown []*record.Case) {
	var names []string
	headed := false
	for _, c := range shown {
		if c.Workload == "" || slices.Contains(names, c.Workload) {
			continue
		}
		names = append(names, c.Workload)
		fixes, noHelp := t.triedFor(c)
		none := len(fixes) == 0 && len(shorterFor(t.sim, c)) == 0
		if len(fixes)+len(noHelp) == 0 || len(fixes) == 0 && !none && t.room.noHelp == 0 { // nothing would be below the heading
			continue
		}
		if !headed {
			t.heading(fixes)
			headed = true
		}
		fixes = ownFirst(fixes, c)
		room := min(t.room.fixes, len(fixes))
		for _, f := range fixes[:room] {
			t.fix(f, c)
		}
		if f := harmlessFor(fixes, room, c); f != nil && !t.room.one {
			t.fix(f, c)
		}
		t.noHelp(noHelp, t.suddenAlone(c), none)
		for _, n := range t.sim.NoHelp {
			if n.Workload == c.Workload && n.Sudden == c.Sudden && n.Why != "" && t.room.noHelp > 0 {
				t.Hanging("  ", 6, "Not tried: "+n.Title+": "+n.Why+".")
			}
		}
	}
	if t.opts.Show == "" {
		t.otherFixes(names, headed)
	}
}

// triedFor is what helps a case, and what does not: behind the load balancer that its figures are with, where it might be several.
func (t *text) triedFor(c *record.Case) (fixes []*record.Fix, noHelp []string) {
	fixes, noHelp = fixesFor(t.sim, c.Workload), noHelpFor(t.sim, c)
	if f := shownFamily(c); f != nil && !c.Waits() {
		if fixes = nil; f.Fix != nil {
			fixes = []*record.Fix{f.Fix}
		}
	}
	if c.Waits() && len(fixes) == 0 {
		noHelp = nil // the head says what lets it go on: no change of the manifest that was tried
	}
	return fixes, noHelp
}

func (t *text) heading(fixes []*record.Fix) {
	if len(fixes) == 0 || len(fixes[0].Cases) == 0 {
		t.Text("", "WHAT HELPS")
		return
	}
	x := &fixes[0].Cases[0]
	these := "these " + count(x.Runs, "run", "runs")
	switch all := t.runsOf(x.ID); {
	case all == 1:
		these = "this run"
	case x.Runs < all:
		these = fmt.Sprintf("%d of these %s, of which these medians are", x.Runs, count(all, "run", "runs"))
	}
	t.Text("WHAT HELPS   ", fmt.Sprintf("tried on %s, then on %s", these, count(x.Confirm.Runs, "new one", "new ones")))
}

// runsOf is how many runs a case has, by its id.
func (t *text) runsOf(id string) int {
	for i := range t.sim.Cases {
		if c := &t.sim.Cases[i]; c.ID == id {
			return len(c.Runs)
		}
	}
	return 0
}

// suddenAlone says that pods end with their machine in a case, and in others of its workload they do not: what helps these is above it.
func (t *text) suddenAlone(c *record.Case) bool {
	return c.Sudden && slices.ContainsFunc(t.sim.Cases, func(x record.Case) bool { return x.Workload == c.Workload && !x.Sudden })
}

func (t *text) noHelp(titles []string, sudden, none bool) {
	if len(titles) == 0 || t.room.noHelp == 0 && !none {
		return
	}
	prefix, most := "  Does not help: ", max(t.room.noHelp, 1)
	if sudden {
		prefix = "  Does not help where a machine ends under its pods: "
	}
	if none {
		prefix, most = "  Nothing that was tried: ", max(t.room.noHelp, titledAbove) // those of the head
	}
	t.Text(prefix, strings.Join(titles[:min(most, len(titles))], "; ")+".")
}

// fix writes one change below a case: what it does, and for what, where that is not what the case is about, what to paste where, and what
// it costs.
func (t *text) fix(f *record.Fix, below *record.Case) {
	title := titleOf(f)
	if foreign(f, below) {
		title += forWhat(f, below)
	}
	t.Hanging("  ", 6, title)
	t.fixed(f)
	for i := range f.Edits {
		t.edit(&f.Edits[i], t.toShow(below))
	}
	t.editWith(f)
	if len(f.NotWith) > 0 {
		most := 3
		if t.opts.Verbose {
			most = len(f.NotWith)
		}
		t.Hanging("      ", 8, "Helps as assumed. Not enough if "+alternatives(t.others(f), most)+".")
	}
	if notes := t.notes(f); len(notes) > 0 {
		t.Text("      ", strings.Join(notes, "; ")+".")
	}
	if f.Destructive != "" {
		t.Text("      ", "Careful: "+f.Destructive+".")
	}
	if len(f.Others) > 0 {
		t.Text("      ", fmt.Sprintf("The same helps %s%s: %s.", count(len(f.Others), "more workload", "more workloads"), onFewer(f), listed(t.withPlaces(f.Others), 6)))
	}
}

// titleOf is the title of a change, with the bound of a budget that its own takes the place of: the API server refuses both.
func titleOf(f *record.Fix) string {
	const bound, budget = "maxUnavailable: 1", "PodDisruptionBudget"
	for i := range f.Edits {
		if e := &f.Edits[i]; e.Kind == budget && e.Path == "spec" && e.From.String() != "" {
			return strings.Replace(f.Title, bound+" in its "+budget, bound+" in place of "+e.From.String()+" in its "+budget, 1)
		}
	}
	return f.Title
}

// forWhat says what a change is for that is not for what a case is about.
func forWhat(f *record.Fix, below *record.Case) string {
	if word := runsOf(f); word != "run" {
		return ", for " + article(word)
	}
	return ", but not for " + article(one(below))
}

// onFewer says on how many new runs a change was confirmed for each of the other workloads, where these are fewer.
func onFewer(f *record.Fix) string {
	if len(f.Cases) == 0 {
		return ""
	}
	runs := f.Cases[0].Confirm.Runs
	fewest := runs
	for i := range f.Cases {
		fewest = min(fewest, f.Cases[i].Confirm.Runs)
	}
	if fewest == runs {
		return ""
	}
	return fmt.Sprintf(", in %d new runs each at least", fewest)
}

// notes say how far a change goes, and what it costs: what matters most first, as many as there is room for.
func (t *text) notes(f *record.Fix) []string {
	var notes []string
	if leastHook(f) != "" {
		notes = append(notes, enough(f)+t.sleepsFor(f))
	}
	if len(f.Families) > 0 {
		notes = append(notes, confirmedBehind(f.Families))
	}
	if f.Cost != "" {
		notes = append(notes, f.Cost)
	}
	if f.Margin > 0 {
		notes = append(notes, fmt.Sprintf("still enough if %s up to %s later than in these runs", lateHops(f.Hops), span(f.Margin)))
	}
	if f.Longer >= engine.Second/2 {
		notes = append(notes, "all is over "+span(f.Longer)+" later")
	}
	return notes[:min(len(notes), t.room.notes)]
}

// confirmedBehind says behind which load balancers a change was tried of which the figures are: the table has what helps behind the others.
func confirmedBehind(families []string) string {
	return "these figures are with " + listed(families, 6) + " (the table has the others)"
}

// lateHops are what may be late on the way of the news that a pod goes, with a verb.
func lateHops(hops []string) string {
	switch len(hops) {
	case 0:
		return "nodes are"
	case 1:
		if hops[0] == "nodes" {
			return "nodes are"
		}
		return hops[0] + " is"
	default:
		return strings.Join(hops[:len(hops)-1], ", ") + " or " + hops[len(hops)-1] + " is"
	}
}

// others names the other values with which a fix does not help as much.
func (t *text) others(f *record.Fix) []string { return t.othersOf(f, f.NotWith) }

// othersOf are other values in words, as the case of a change has them.
func (t *text) othersOf(f *record.Fix, values []record.OtherValue) []string {
	var out []string
	for _, o := range values {
		of := &record.Case{}
		for i := range t.sim.Cases {
			c := &t.sim.Cases[i]
			if _, _, ok := assumed(c, o.ID); ok && (c.Workload == f.Workload || of.Workload == "") {
				of = c
			}
		}
		out = distinct(out, condition(of, &record.Alternative{ID: o.ID, Value: o.Value}))
	}
	return out
}

// fixed writes what became of the cases of a change: in one paragraph where the new runs lost nothing in any of them. Of the
// other workloads that it helps, only what loses something with it is written, as far as that is few lines.
func (t *text) fixed(f *record.Fix) {
	if words := goesOn(f); words != "" {
		t.Hanging("      ", 8, words)
		return
	}
	clean := func(x record.FixedCase) bool { return x.Confirm.Runs > 0 && x.Confirm.WithLoss == 0 }
	most := 6
	if t.room.terse {
		most = 2
	}
	var parts, vain []string
	fewest, losing, worst, rest := 0, 0, "", int64(0) // the worst of those that are not written, and what it loses at most
	for i := range f.Cases {
		x := &f.Cases[i]
		if clean(*x) && !t.concerns(f, x) {
			continue
		}
		if inVain(x) {
			vain = append(vain, strings.TrimSuffix(t.trafficOf(f, x.ID), ": "))
			continue
		}
		words := lessLost(x)
		if x.StuckBefore > 0 {
			words = fmt.Sprintf("finishes in %s of %s, and loses %s", thousands(int64(x.Runs-x.Stuck)), count(x.Runs, "run", "runs"), leftOf(x.After))
		}
		if len(f.Cases) > 1 {
			words = t.trafficOf(f, x.ID) + words
		}
		if clean(*x) {
			parts = append(parts, words)
			if fewest == 0 || x.Confirm.Runs < fewest {
				fewest = x.Confirm.Runs
			}
			continue
		}
		if losing++; losing > most {
			if lost := x.Confirm.LostSeconds.Max; lost >= rest {
				rest, worst = lost, strings.TrimSuffix(t.trafficOf(f, x.ID), ": ")
			}
			continue
		}
		if x.Confirm.Runs > 0 {
			words += "; " + stillLost(&x.Confirm, "run") + leftWords(x.Confirm.Left)
		}
		if alone := t.alone(x.ID); alone != "" {
			words += "; " + alone
		}
		t.Hanging("      ", 8, words)
	}
	if losing > most {
		t.Text("      ", fmt.Sprintf("%s something with it, too, in the new runs at most %s (%s).", count(losing-most, "more case loses", "more cases lose"), span(engine.Time(rest)), worst))
	}
	if len(vain) > 0 {
		t.Hanging("      ", 8, "as much is lost with it: "+several(vain, most))
	}
	t.cleanCases(f, parts, fewest)
}

// goesOn says of a change that lets one case go on behind each of the load balancers that it might be what it loses then behind them; "" for others.
func goesOn(f *record.Fix) string {
	if len(f.Cases) < 2 || slices.ContainsFunc(f.Cases, func(x record.FixedCase) bool {
		return x.ID != f.Cases[0].ID || x.StuckBefore == 0 || x.Confirm.Stuck > 0
	}) {
		return ""
	}
	least, most, runs := engine.Never, engine.Time(0), f.Cases[0].Confirm.Runs
	for i := range f.Cases {
		x := &f.Cases[i].Confirm
		least, most, runs = min(least, engine.Time(x.LostSeconds.Max)), max(most, engine.Time(x.LostSeconds.Max)), min(runs, x.Runs)
	}
	words := fmt.Sprintf("finishes in all new runs, %d or more behind each load balancer", runs)
	switch {
	case most == 0:
		return words + ", and loses nothing"
	case least == most:
		return words + ", and loses at most " + span(most) + " in these"
	default:
		return fmt.Sprintf("%s, and loses at most %s to %s in these, by load balancer", words, spanOr0(least), span(most))
	}
}

// cleanCases writes the cases in which nothing is lost with a change, confirmed by so many new runs at least.
func (t *text) cleanCases(f *record.Fix, parts []string, fewest int) {
	switch {
	case len(parts) > 2 && t.room.terse:
		t.Hanging("      ", 8, fmt.Sprintf("%s; %d more cases lose nothing with it; nothing in the new runs either", parts[0], len(parts)-1))
	case len(parts) > 0 && t.room.brief:
		t.Hanging("      ", 8, strings.Join(parts, "; ")+"; nothing in the new runs either")
	case len(parts) > 0:
		t.Hanging("      ", 8, strings.Join(parts, "; ")+fmt.Sprintf("; nothing in the new runs either: at most %s of %s lose anything", percent(record.LossBound(fewest)), plural(runsOf(f))))
	}
}

// several joins words that have commas in them; of more than most, the rest is a number.
func several(words []string, most int) string {
	if len(words) > most {
		words = append(slices.Clone(words[:most]), fmt.Sprintf("%d more", len(words)-most))
	}
	return strings.Join(words, "; ")
}

// inVain says that a change which helps other cases leaves as much of the loss of this one.
func inVain(x *record.FixedCase) bool { return asMuch(x) && 2*x.After.Max > x.Before.Max }

// asMuch says that a change leaves as much of the loss of the median run, nine tenths or more: what it helps is the runs that lose more.
func asMuch(x *record.FixedCase) bool {
	return x.StuckBefore == 0 && x.Before.Median > 0 && 10*x.After.Median >= 9*x.Before.Median
}

// lessLost is what a change makes of a loss: of the greatest one, where it leaves the median run as it was.
func lessLost(x *record.FixedCase) string {
	if asMuch(x) {
		return "at most " + span(engine.Time(x.Before.Max)) + " -> at most " + span(engine.Time(x.After.Max)) + ", in the median run " + span(engine.Time(x.Before.Median)) + " as before"
	}
	return lostBefore(x.Before) + " -> " + leftOf(x.After)
}

// lostBefore is what is lost without a change: at most, where most runs lose nothing.
func lostBefore(before record.Range) string {
	if before.Median == 0 && before.Max > 0 {
		return "at most " + span(engine.Time(before.Max))
	}
	return spanOr0(engine.Time(before.Median))
}

// leftOf is what a change leaves of a loss.
func leftOf(after record.Range) string {
	if after.Median == 0 && after.Max > 0 {
		return "at most " + span(engine.Time(after.Max))
	}
	return span(engine.Time(after.Median))
}

// alone says of a case with a change in which pods of other workloads behind its Service may end, too, that these are without it: each workload is
// tried by itself. "" for others.
func (t *text) alone(id string) string {
	at := slices.IndexFunc(t.sim.Cases, func(c record.Case) bool { return c.ID == id })
	if at < 0 || t.sim.Cases[at].Action == scenario.ActionRollout {
		return ""
	}
	c := &t.sim.Cases[at]
	service, _ := serviceOf(c)
	namespace, _, _ := strings.Cut(c.Workload, "/")
	var others []string
	for i := range t.sim.Cases {
		x := &t.sim.Cases[i]
		same, _ := serviceOf(x)
		if ns, _, _ := strings.Cut(x.Workload, "/"); service != "" && same == service && ns == namespace && x.Workload != c.Workload {
			others = distinct(others, t.short(x.Workload))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return "tried in " + t.short(c.Workload) + " alone: what pods of " + listed(others, 2) + " lose on the node is in it"
}

// ofItsOwn is a fix with the cases of the workloads that it is for, and of these only what it was found for: figures of others say nothing of it.
func (t *text) ofItsOwn(f *record.Fix) *record.Fix {
	own := *f
	own.Cases = slices.DeleteFunc(slices.Clone(f.Cases), func(x record.FixedCase) bool {
		return slices.ContainsFunc(t.sim.Cases, func(c record.Case) bool {
			return c.ID == x.ID && c.Workload != f.Workload && !slices.Contains(f.Others, c.Workload)
		})
	})
	if len(own.Cases) == 0 {
		return f
	}
	return &own
}

// otherResult is what a change comes to for workloads that are not shown, with the case that the figure is of where it is not clean.
func (t *text) otherResult(f *record.Fix) string {
	f = t.ofItsOwn(f)
	words, worst := confirmedInShort(f), worstConfirmed(f)
	if worst.Confirm.WithLoss == 0 || worst.StuckBefore > 0 {
		return words
	}
	if len(f.Cases) > 1 {
		words += " (" + t.caseOf(f, worst.ID) + ")"
	}
	if alone := t.alone(worst.ID); alone != "" {
		words += "; " + alone
	}
	return words
}

// concerns says that a case of a change is one of the workload that it was found for, not of another that it helps, too.
func (t *text) concerns(f *record.Fix, x *record.FixedCase) bool {
	return !slices.ContainsFunc(t.sim.Cases, func(c record.Case) bool { return c.ID == x.ID && slices.Contains(f.Others, c.Workload) })
}

// trafficOf names a case of a fix by the traffic it is about.
func (t *text) trafficOf(f *record.Fix, id string) string {
	for i := range t.sim.Cases {
		if c := &t.sim.Cases[i]; c.ID == id {
			words := trafficWords(c) + t.whose(c) + ": "
			if runsOf(f) == "run" {
				words = happening(c) + t.whose(c) + ": "
			}
			if subject(c) != f.Workload || len(f.Others) > 0 {
				words = subject(c) + ", " + words
			}
			return words
		}
	}
	return id + ": "
}

// edit writes where a field stands, or would, and what to write there: an object that is added in braces where there is little room,
// and where there is none only its name, for show has it in full.
func (t *text) edit(e *edit.Edit, show string) {
	where := "new"
	if e.Path != "" || e.Gone {
		where = t.place(e.File, e.Line)
	}
	if where != "" {
		where += "   "
	}
	if e.Gone {
		t.Text("      "+where, "delete "+e.From.String())
		return
	}
	switch above := t.above(e); {
	case above != nil && above.To == e.To && above.With == e.With:
		t.Text("      "+where, fieldOf(e)+" as above")
		return
	case above != nil:
		where += "in place of the above: "
	}
	t.pasted = append(t.pasted, e)
	if t.inShort(e, where, show) || t.block(e, where) {
		return
	}
	words := fieldOf(e) + ": " + e.To.String()
	if inJSON := e.YAML(); e.JSON() && len(inJSON) == 1 {
		words = inJSON[0]
	}
	if from := e.From.String(); from != "" && from != e.To.String() {
		words += " instead of " + from
	}
	t.Text("      "+where, words)
}

// inShort writes an object that is added, or a key of one, with no more than there is room for; false where it is not such an edit, or has room.
func (t *text) inShort(e *edit.Edit, where, show string) bool {
	added, key := e.Added(), e.Key()
	if t.room.counted {
		show = "-v"
	}
	switch {
	case t.room.unpasted && added != "" && e.Path == "":
		t.Text("      "+where, e.To.String()+" ("+show+" has it in full)")
	case t.room.unpasted && e.File == "" && key != "":
		t.Text("      ", key+": "+e.To.String()+" ("+show+" has it in full)")
	case t.room.inBraces && added != "" && (e.Path == "" || e.File == "" && key != ""):
		t.Hanging("      "+where, 8, added)
	default:
		return false
	}
	return true
}

// block writes what is to be pasted: between the braces that it goes into, where there are such; false where nothing is.
func (t *text) block(e *edit.Edit, where string) bool {
	block := e.YAML()
	if e.Merge && e.Braces != edit.NoBraces && e.With.YAML == "" { // between the braces that are there
		inside := *e
		inside.Merge = false
		block = inside.YAML()
	}
	switch {
	case len(block) == 0, e.JSON() && e.At == e.Path && e.With.YAML == "" && !strings.HasPrefix(e.To.YAML, "{"): // a value in place of another one
		return false
	case e.Braces != edit.NoBraces && e.With.YAML == "":
		for i := range block {
			block[i] = strings.TrimSpace(block[i])
		}
		t.inBraces("      "+where+inBracesOf(e)+": ", strings.Join(block, " "), e.JSON())
	default:
		if t.room.terse {
			block = inOneLine(block)
		}
		note, in := "", container.FindString(e.At)
		switch {
		case e.At == e.Path && e.Path != "" && !e.Merge && e.With.YAML == "": // beside it there would be two
			note = "# in place of the one here"
		case in != "" && !t.room.terse: // above its line another one ends
			note = "# of " + in + ", which begins here"
		}
		t.paste(where, note, block)
	}
	return true
}

// inBraces writes what goes between braces that are there, after where that is. A text of JSON is in one line, and no word is broken.
func (t *text) inBraces(where, text string, json bool) {
	switch {
	case json && page.Width(where)+len(text) > t.Width():
		t.Verbatim(strings.TrimRight(where, " "))
		t.Verbatim("          " + text)
	case page.Width(where)+longestWord(text) > t.Width():
		t.Verbatim(strings.TrimRight(where, " "))
		t.Hanging("        ", 8, text)
	default:
		t.Hanging(where, 8, text)
	}
}

// longestWord is how long the longest word of a text is.
func longestWord(text string) (longest int) {
	for _, word := range strings.Fields(text) {
		longest = max(longest, len(word))
	}
	return longest
}

// container is one that is not the first of its pod, at the end of a path.
var container = regexp.MustCompile(`[a-zA-Z]+\[[1-9]\d*\]$`)

// inBracesOf says between which braces of a line an edit goes, or what it takes the place of there: a line may have several.
func inBracesOf(e *edit.Edit) string {
	field := e.At[strings.LastIndexByte(e.At, '.')+1:]
	where := "in the braces"
	if e.JSON() { // the comma stands behind it
		where = "first in the braces"
	}
	switch {
	case e.At == e.Path:
		return "in place of that " + cmp.Or(e.Key(), field)
	case e.At == "spec.template.spec":
		return where + " of the pod's spec"
	case field == "":
		return where
	default:
		return where + " of " + field
	}
}

// fieldOf names what an edit changes.
func fieldOf(e *edit.Edit) string {
	if e.Path == "" {
		return e.To.String()
	}
	return cmp.Or(e.Key(), e.Path[strings.LastIndexByte(e.Path, '.')+1:])
}

// above is what the page has for the field of an edit, nil for nothing.
func (t *text) above(e *edit.Edit) *edit.Edit {
	for _, x := range t.pasted {
		if x.File == e.File && x.Path == e.Path && x.Line == e.Line && x.Kind == e.Kind && (x.Path != "" || x.To == e.To) {
			return x
		}
	}
	return nil
}

// paste writes a block beside where it belongs, or below that where the page has no room beside it. A note stands behind its first line.
func (t *text) paste(where, note string, block []string) {
	widest := len(block[0]+note) + 1
	for _, line := range block {
		widest = max(widest, len(line))
	}
	indent := "      " + strings.Repeat(" ", len(where))
	first := "      " + where
	if len(indent)+widest > t.Width() {
		t.Verbatim(strings.TrimRight(first+note, " "))
		first, indent, note = "          ", "          ", ""
	}
	t.Verbatim(strings.TrimRight(first+block[0]+" "+note, " "))
	for _, line := range block[1:] {
		t.Verbatim(indent + line)
	}
}

// inOneLine has a field of one field in braces: the same in YAML, and harder to read. All else stays as it is.
func inOneLine(block []string) []string {
	if len(block) != 2 || !strings.HasSuffix(block[0], ":") || !strings.Contains(block[1], ":") || strings.HasPrefix(strings.TrimSpace(block[1]), "- ") {
		return block
	}
	return []string{block[0] + " {" + strings.TrimSpace(block[1]) + "}"}
}

// editWith says how to change what is no file.
func (t *text) editWith(f *record.Fix) {
	if t.opts.EditWith == nil {
		return
	}
	var commands []string
	for _, e := range f.Edits {
		if c := t.opts.EditWith(e.File); c != "" {
			commands = distinct(commands, c)
		}
	}
	for _, c := range commands {
		t.command("      with: ", c)
	}
}

// otherFixes folds what helps workloads that are not shown: one line for each change.
func (t *text) otherFixes(shown []string, headed bool) {
	type group struct {
		title, result string
		names         []string
	}
	var groups []*group
	for i := range t.sim.Fixes {
		f := &t.sim.Fixes[i]
		if slices.Contains(shown, f.Workload) || firstFix(t.sim, f.Workload) != f {
			continue
		}
		title := f.Title
		if len(f.Families) > 0 {
			title += ", behind " + listed(presetNames(f.Families), 6)
		}
		at := slices.IndexFunc(groups, func(g *group) bool { return g.title == title && g.result == t.otherResult(f) })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &group{title: title, result: t.otherResult(f)})
		}
		groups[at].names = append(append(groups[at].names, f.Workload), f.Others...)
	}
	for i, g := range groups {
		if !headed {
			t.heading(nil)
			headed = true
		}
		if i == t.room.others && len(groups) > t.room.others+1 {
			t.Text("  ", fmt.Sprintf("%d more changes help others (%s).", len(groups)-i, t.option("show", "NAME")))
			return
		}
		names := g.names
		for j, name := range names {
			names[j] = t.short(name)
		}
		t.Hanging("  ", 6, fmt.Sprintf("%s, for %s (%s): %s", g.title, count(len(names), "more workload", "more workloads"), listed(names, 4), g.result))
	}
}

// firstFix is the best one of a workload: behind the load balancer that its worst case is told of, where it may be several.
func firstFix(s *record.Simulation, workload string) *record.Fix {
	preset := ""
	for _, c := range s.Worst() {
		if f := shownFamily(c); c.Workload == workload && f != nil {
			preset = f.Preset
			break
		}
	}
	var first *record.Fix
	for i := range s.Fixes {
		f := &s.Fixes[i]
		switch {
		case f.Workload != workload:
		case preset == "" || slices.Contains(f.Families, preset):
			return f
		case first == nil:
			first = f
		}
	}
	return first
}

// presetNames are what people call load balancers.
func presetNames(ids []string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, scenario.PresetName(id))
	}
	return out
}

// withPlaces names workloads with the places of their manifests.
func (t *text) withPlaces(workloads []string) []string {
	var out []string
	for _, name := range workloads {
		words := name
		for i := range t.sim.Cases {
			if c := &t.sim.Cases[i]; c.Workload == name && c.Source != "" {
				where := strings.Split(c.Source, ":")
				words += " (" + strings.Join(where[:min(2, len(where))], ":") + ")"
				break
			}
		}
		out = append(out, words)
	}
	return out
}
