package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/story"
)

// labels is how wide the labels of the head are.
const labels = 16

// head answers four questions: what happens and how bad it is, who notices, why, what to do.
func (t *text) head(c *record.Case) {
	word := strings.ToUpper(strings.ReplaceAll(string(c.Verdict), "-", " "))
	t.Hanging(t.styled(c, word)+strings.Repeat(" ", max(2, 8-len(word))), 8, subject(c)+sentence(c, t.sim.Wording))
	for _, u := range c.Unmet {
		t.Text("        ", "Not as the Scenario expects: "+u+".")
	}
	if c.Expectation != nil && len(c.Unmet) == 0 {
		t.Text("        ", "As the Scenario expects.")
	}
	if words := allowed(c, t.opts.Limits, t.sim.Wording); words != "" {
		t.Text("        ", "Allowed by "+words+t.notAllowed()+".")
	}
	t.Blank()
	t.labelled("Left out", slices.Concat(leftOut(c), t.standIns(c), t.foreign(c), t.parked(c)))
	if c.Dark != nil {
		t.dark(c)
		return
	}
	if len(c.Families) > 0 {
		t.families(c)
	}
	if mostBefore(c) >= tenth {
		t.labelled("Already", befores(c))
	}
	if f := shownFamily(c); f != nil {
		t.labelled("What to do", t.todo(c))
		t.Text("  ", "What follows is with "+f.Name+":")
	}
	t.labelled("Who notices", t.noticed(c))
	t.gaps(c)
	t.labelled("Why", t.whys(c))
	t.labelled("Overruled", t.overruled(c))
	t.labelled("Assumed", t.madeUp(c))
	t.labelled("Unless", t.unless(c))
	if mostBefore(c) < tenth {
		t.labelled("Also", befores(c))
	}
	if shownFamily(c) == nil {
		t.labelled("What to do", append(t.todo(c), t.passes(c)...))
	}
	t.labelled("Waits, too", t.endless(c))
	t.labelled("Loses, too", t.losesToo(c))
}

// losesToo says what something else loses that is done to the workload of a case which only waits: that nobody notices the one is no word
// about the other.
func (t *text) losesToo(c *record.Case) []string {
	if !c.Waits() || c.WithLoss > 0 || t.opts.Show != "" || c.Workload == "" {
		return nil
	}
	for _, x := range t.sim.Worst() {
		if x.Workload == c.Workload && x.Action != c.Action && x.Headline && !x.Waits() && x.WithLoss > 0 && x.Verdict.Rank() <= record.Drops.Rank() {
			return []string{happening(x) + ":" + strings.TrimSuffix(losing(x), ".")}
		}
	}
	return nil
}

// leftOut says which ways to the pods of a case are not simulated, though the input has them.
func leftOut(c *record.Case) []string {
	var out []string
	for i := range c.NotModelled {
		if n := &c.NotModelled[i]; record.Foremost(n.ID) {
			out = distinct(out, n.What)
		}
	}
	return out
}

// foreign says which other workloads of the input, with a Service in front, are of kinds that are not simulated: whoever reads of this one would
// take them for looked at.
func (t *text) foreign(c *record.Case) []string {
	var out []string
	for i := range t.sim.Cases {
		x := &t.sim.Cases[i]
		if x.Verdict != record.NotJudged || !x.Headline || x.Workload == "" || x.Workload == c.Workload || scenario.Simulates(x.Kind) || t.opts.All || t.opts.Show != "" {
			continue
		}
		out = distinct(out, x.Reason)
	}
	const most = 2
	if len(out) > most {
		out = append(out[:most], count(len(out)-most, "Service", "Services")+" more of such kinds ("+t.option("all", "")+")")
	}
	return out
}

// parked says which other Services of the input nobody waits for now, by its routes: whoever reads of this one would take them for safe.
func (t *text) parked(c *record.Case) []string {
	var out []string
	for i := range t.sim.Cases {
		x := &t.sim.Cases[i]
		if x.ID != c.ID && strings.HasPrefix(x.Reason, scenario.Parked) && !t.opts.All && t.opts.Show == "" {
			out = distinct(out, x.Reason)
		}
	}
	const most = 2
	if n := len(out) - most; n > 0 {
		out = append(out[:most], count(n, "Service", "Services")+" more of which nobody waits for an answer now ("+t.option("all", "")+")")
	}
	return out
}

// overruled says that a budget only puts off what somebody does to a node, for how long, and how the pods end then.
func (t *text) overruled(c *record.Case) []string {
	o, nodes := c.OverruledBy()
	if o == nil {
		return nil
	}
	grace := "with no grace period: a preStop hook has 1 s, and SIGKILL follows SIGTERM after 2 s"
	if o.Left {
		grace = "with what is left of their grace periods"
	}
	words := fmt.Sprintf("%s. %s asks for %s at %s, then deletes the pods, whatever the budget says, %s", o.Why, o.By, span(o.Limit), eachOf(nodes), grace)
	if where := t.place(o.File, o.Line); where != "" {
		words += " (" + where + ")"
	}
	return []string{words}
}

// eachOf is "the node" or "each of 3 nodes".
func eachOf(nodes int) string {
	if nodes == 1 {
		return "the node"
	}
	return fmt.Sprintf("each of %d nodes", nodes)
}

// endless says what else cannot end, once for each reason, first of the case itself where its outage does, then of its own workload: it loses
// less, and somebody has to know of it all the same. A reason that the head has said is not said again.
func (t *text) endless(c *record.Case) []string {
	var out []string
	if c.LeftWaiting() {
		who, reason := waiting(c)
		out = append(out, who+": "+reason+t.beside(c, &record.Case{}, false))
	}
	out = t.endlessOf(c, c, out)
	own := len(out)
	others := []string{""} // what a drain as such waits for is said where that is told
	for i := range t.sim.Cases {
		if x := &t.sim.Cases[i]; x.Workload != c.Workload && t.opts.Show == "" && c.Kind != scenario.KindNode && !slices.Contains(others, x.Workload) {
			others = append(others, x.Workload)
			out = t.endlessOf(x, c, out)
		}
	}
	const most = 4 // of others
	if hidden := len(out) - own - most; hidden > 0 {
		out = append(out[:own+most], fmt.Sprintf("%d more (%s)", hidden, t.option("show", "NAME")))
	}
	return out
}

// endlessOf adds what cannot end of the workload of a case to what is told beside another one.
func (t *text) endlessOf(of, c *record.Case, said []string) []string {
	var begun []string
	for i := range t.sim.Cases {
		x := &t.sim.Cases[i]
		if x == c || x.Workload != of.Workload || x.Kind == "Scenario" || !x.Waits() || c.Waits() && x.Action == c.Action && x.Stuck.Why == c.Stuck.Why {
			continue
		}
		if x.Workload != c.Workload && x.Stuck.Drain && t.drainShown() {
			continue
		}
		words, known := waitsToo(x, c)
		if slices.Contains(begun, words) {
			continue
		}
		begun = append(begun, words)
		if x.Workload != c.Workload && x.Workload != "" {
			words = t.short(x.Workload) + ", " + words
		}
		said = append(said, words+t.beside(x, c, known))
	}
	return said
}

// beside says of what waits beside a case where that is decided, what would let it, and how many nodes are made up, except for what was said
// of the case; known says that the reason was.
func (t *text) beside(x, c *record.Case, known bool) string {
	words := ""
	if where := t.place(x.Stuck.File, x.Stuck.Line); where != "" && !known {
		words += " (" + where + ")"
	}
	if !known || x.Stuck.What != c.Stuck.What {
		words += "; what would let it: " + x.Stuck.What
	}
	if made := t.madeUp(x); len(made) > 0 && !slices.Equal(made, t.madeUp(c)) {
		words += "; assumed are " + made[0]
	}
	return words
}

// drainShown says that the report has a part of its own about a drain, which says what that waits for.
func (t *text) drainShown() bool {
	return slices.ContainsFunc(t.sim.Cases, func(x record.Case) bool { return x.Kind == scenario.KindNode })
}

// restarts is how often a pod was restarted: of two that wait for the same it may be once more of one.
var restarts = regexp.MustCompile(` restarted [0-9]+ times`)

// waitsToo says what a case waits for; known says that it is what another one, of which the reason has been said, waits for.
func waitsToo(x, told *record.Case) (words string, known bool) {
	who, reason := waiting(x)
	if told.Waits() {
		_, other := waiting(told)
		a, b := ": "+restarts.ReplaceAllString(other, ""), ": "+restarts.ReplaceAllString(reason, "")
		if strings.HasSuffix(a, b) || strings.HasSuffix(b, a) { // one of them names the pod besides
			return who + ", for the same reason", true
		}
	}
	return who + ": " + reason, false
}

// waiting says who waits in a case that cannot end, and for what.
func waiting(c *record.Case) (who, reason string) {
	if c.Stuck.Drain { // what a drain waits for says that it does
		who, reason, _ = strings.Cut(c.Stuck.Why, ": ")
		return who, reason
	}
	if c.Action != scenario.ActionRollout {
		return fmt.Sprintf("after %s not all pods come back%s", article(one(c)), untilBack(c)), c.Stuck.Why
	}
	return article(one(c)) + " " + never(c), c.Stuck.Why
}

// notAllowed names the first case that is a finding all the same, "" without one.
func (t *text) notAllowed() string {
	for _, c := range t.sim.Worst() {
		if c.Fails(t.opts.Limits) {
			return "; not so " + title(c) + t.whose(c) + ", which is " + string(c.Verdict)
		}
	}
	return ""
}

// allowed names the settings that make a case that would be a finding none; "" for other cases.
func allowed(c *record.Case, l record.Limits, by scenario.Wording) string {
	if !c.Fails(record.Limits{}) || c.Fails(l) {
		return ""
	}
	var settings []string
	if l.MaxLost > 0 {
		settings = append(settings, by.Option("max-lost", l.MaxLost.Duration().String()))
	}
	if l.MaxDrops > 0 {
		settings = append(settings, by.Option("max-drops", strconv.FormatInt(l.MaxDrops, 10)))
	}
	if l.FailOn != "" && l.FailOn != record.Drops {
		settings = append(settings, by.Option("fail-on", string(l.FailOn)))
	}
	return listed(settings, len(settings))
}

// labelled writes paragraphs beside a label; none where there are none.
func (t *text) labelled(label string, paragraphs []string) {
	if len(paragraphs) == 1 && paragraphs[0] == "" {
		return // nothing is known
	}
	if t.collect != nil {
		if len(paragraphs) > 0 {
			t.collect(label, paragraphs)
		}
		return
	}
	for i, words := range paragraphs {
		prefix := strings.Repeat(" ", labels)
		if i == 0 {
			prefix = fmt.Sprintf("  %-*s", labels-2, label)
		}
		t.Text(prefix, words)
	}
}

func (t *text) styled(c *record.Case, word string) string {
	if t.opts.Style == nil {
		return word
	}
	return t.opts.Style(c.Verdict, word)
}

// sentence goes on after the name of what a case is about.
func sentence(c *record.Case, by scenario.Wording) string {
	runs, s := c.RarelyStuck()
	if s == nil {
		return verdictWords(c, by)
	}
	words := fmt.Sprintf("%s does not finish in %s of %s runs: %s.", one(c), thousands(int64(runs)), thousands(int64(len(c.Runs))), s.Why)
	if c.Verdict == record.Rare && c.WithLoss == 0 {
		return ": the " + words + " Nothing is lost."
	}
	return verdictWords(c, by) + " The " + words
}

// restsOn says what it rests on that nothing was lost, where that is no figure that has another value: " That rests on ...", "" for nothing.
func restsOn(c *record.Case) string {
	words := ""
	if a := closing(c); a != nil {
		words = fmt.Sprintf(" That rests on %s having no SIGTERM handler: if it %s, it is %s (%s).", appOf(c), atSIGTERM(shortValue(a.Value)), strings.ToUpper(string(a.Verdict)), resultWords(c, a))
	}
	if c.StandsIn() || c.OtherProxy() {
		words += " That goes for what stands in here (see Left out), and may not for what there is."
	}
	return words
}

// verdictWords are the sentence of a case whose verdict says all of whether what is done comes to its end.
func verdictWords(c *record.Case, by scenario.Wording) string {
	if words := familySentence(c, by); words != "" {
		return words
	}
	verdict := c.Verdict
	if c.HangsOnContainer() {
		return fmt.Sprintf(" lost %s in %d simulated %s, and may lose more: a container that it needs, or may need, stops before it does.",
			lostWords(c), len(c.Runs), strings.TrimPrefix(many(c, 2), "2 "))
	}
	if verdict == record.Depends {
		verdict = c.Central
	}
	switch verdict {
	case record.Outage:
		if c.ForGood() {
			return fmt.Sprintf(" answers no request%s any more once %s has begun.", throughOne(c), article(one(c)))
		}
		if none := noPodFor(c); none > 0 {
			return fmt.Sprintf(" has no pod that answers%s for %s %s: it %s, and who asks near the end of that waits.", throughOne(c), span(none), inRuns(c, c.WithLoss),
				loses(c, span(engine.Time(c.LostSeconds.Median))))
		}
		return fmt.Sprintf(" answers no request%s%s for %s %s, and %s.", throughOne(c), overSome(c), span(engine.Time(c.LongestOutage.Median)), inRuns(c, c.WithLoss), loses(c, span(engine.Time(c.LostSeconds.Median))))
	case record.Stalled:
		if c.Kind != "Scenario" && c.Action != scenario.ActionRollout {
			return ": not all of its pods come back" + untilBack(c) + meanwhile(c) + ifItStarts(c) + "." + besides(c)
		}
		return fmt.Sprintf(": %s%s.%s", neverFinishes(c), ifItStarts(c), alsoLost(c))
	case record.Blocked:
		if c.Stuck != nil && givesUp(c.Stuck) {
			return ": the drain gives up." + alsoLost(c)
		}
		if c.Stuck != nil && strings.HasPrefix(c.Stuck.Why, "the eviction") {
			return ": the eviction is refused." + besides(c)
		}
		if c.Stuck != nil && !strings.HasPrefix(c.Stuck.Why, "kubectl") {
			return ": the node is not taken away." + alsoLost(c)
		}
		return ": the drain " + never(c) + "." + alsoLost(c)
	case record.Drops, record.Rare:
		return losing(c)
	case record.Holds:
		return fmt.Sprintf(" lost nothing in %d of %s%s%s.%s%s", len(c.Runs), many(c, len(c.Runs)), inBrackets(trafficWords(c)), lateWords(c), restsOn(c), bound(c, by))
	default:
		return fmt.Sprintf(", %s: %s.%s", happening(c), c.Reason, longer(c, by))
	}
}

// lostWords is what a case lost that loses nothing, or hardly anything.
func lostWords(c *record.Case) string {
	if c.WithLoss == 0 {
		return "nothing"
	}
	return "up to " + span(engine.Time(c.LostSeconds.Max))
}

// noPodFor is for how long no pod of a case could answer in the median run, where that is longer than all that got no answer in a row: who asks
// shortly before the end of it waits, and is answered. 0 where it is about as long.
func noPodFor(c *record.Case) engine.Time {
	const part = 50 // of which more is worth telling apart
	none, unanswered := engine.Time(withoutPod(c).Median), engine.Time(c.LongestOutage.Median)
	if more := none - unanswered; more < 2*engine.Second || part*more < unanswered {
		return 0
	}
	return none
}

// givesUp says that who drains a node ends with an error, and waits no longer.
func givesUp(s *record.Stuck) bool { return strings.Contains(s.Why, " gives up on ") }

// graceWords are those of a pod that may take longer to end than a run goes on.
var graceWords = regexp.MustCompile(`with a grace period of (\d+) s`)

// longer says how a run goes on until such a pod is gone: twice the grace period, in hours.
func longer(c *record.Case, by scenario.Wording) string {
	m := graceWords.FindStringSubmatch(c.Reason)
	if m == nil {
		return ""
	}
	grace, err := strconv.Atoi(m[1])
	const hour = 3600
	if err != nil || grace > 100*hour {
		return ""
	}
	return fmt.Sprintf(" Nothing ends that pod before: its app takes no notice of SIGTERM, or is not through. %s goes on until it is gone.", by.Option("until", fmt.Sprintf("%dh", (2*grace+hour-1)/hour)))
}

// ifItStarts is the condition of a case in which a probe restarts what nobody has said the start of: with another time all pods come back.
// "" for other cases.
func ifItStarts(c *record.Case) string {
	if c.Stuck == nil || c.Stuck.TakenToListen == "" {
		return ""
	}
	return ", if its server takes " + c.Stuck.TakenToListen + " to listen, as is assumed"
}

// neverFinishes says what of a case does not: of a Scenario, which does several things, what somebody waits for.
func neverFinishes(c *record.Case) string {
	if c.Kind == "Scenario" {
		return "something that it begins " + never(c)
	}
	return "the " + one(c) + " " + never(c)
}

// never is "never finishes", where that is so in all runs; else in how many it does not finish.
func never(c *record.Case) string {
	if n := c.StuckRuns(); n > 0 && n < len(c.Runs) {
		return fmt.Sprintf("does not finish in %s of %s runs", thousands(int64(n)), thousands(int64(len(c.Runs))))
	}
	return "never finishes"
}

// losing is the sentence of a case that loses something.
func losing(c *record.Case) string {
	switch part := c.Lasting(); {
	case part > 0:
		return fmt.Sprintf(" goes on losing %s of its traffic %s: that does not end by itself.", percent(part), inRuns(c, c.WithLoss))
	case c.LostSeconds.Max == 0: // clients that wait for each answer have no rate
		return fmt.Sprintf(" loses %s requests (%s) %s.", thousands(c.RequestsLost.Median), least(c.RequestsLost), inRuns(c, c.WithLoss))
	case c.LostSeconds.Median == 0:
		return fmt.Sprintf(" %s %s%s.", loses(c, "up to "+span(engine.Time(c.LostSeconds.Max)))+throughOne(c), inRuns(c, c.WithLoss), lateWords(c))
	case c.WithLoss < len(c.Runs), wide(c.LostSeconds):
		return fmt.Sprintf(" %s in the median %s (%s-%s s)%s.", loses(c, span(engine.Time(c.LostSeconds.Median)))+throughOne(c), one(c),
			figure(engine.Time(c.LostSeconds.Min)), figure(engine.Time(c.LostSeconds.Max)), lateWords(c))
	default:
		return fmt.Sprintf(" %s %s%s.", loses(c, span(engine.Time(c.LostSeconds.Median)))+throughOne(c), inRuns(c, c.WithLoss), lateWords(c))
	}
}

// wide says that a figure is less than half of its median in some run, or more than twice: every run has another one. Of what is hardly anything
// that says nothing.
func wide(r record.Range) bool {
	return r.Max >= int64(worthWords) && (2*r.Min < r.Median || r.Max > 2*r.Median)
}

// loses says what a time is that a case loses: traffic, or the time of sessions.
func loses(c *record.Case, time string) string {
	if withoutServer(c) {
		return "leaves sessions without a server for " + time
	}
	return "loses " + time + " of traffic"
}

// throughOne names the entrance of a case whose port has others, too, " through Ingress public": what is said of it does not go for those. ""
// for a port with one.
func throughOne(c *record.Case) string {
	_, words, found := strings.Cut(c.Traffic, ", through ")
	words, _, ports := strings.Cut(words, " :")
	if !found || !ports || strings.HasPrefix(words, "a ") || strings.HasPrefix(words, "an ") {
		return ""
	}
	return " through " + words
}

// overSome says that only who keeps connections gets no answer for a while, "" where others do not either: who opens new ones is answered by
// another pod, while those are at one that answers with errors.
func overSome(c *record.Case) string {
	kept := slices.IndexFunc(c.Clients, func(x record.Client) bool { return x.Name == "keep-alive" })
	if kept < 0 || len(c.Clients) == 1 {
		return ""
	}
	for i := range c.Clients {
		if _, outage, _ := c.Client(i); (outage.Median >= int64(engine.Second)) != (i == kept) {
			return ""
		}
	}
	return " over " + clientName(c, kept)
}

// withoutServer says that what is lost of a case is the time of sessions without a server.
func withoutServer(c *record.Case) bool { return len(c.Clients) > 0 && c.WithoutServer(worstClient(c)) }

// lateWords say what is answered late, where that is much more than what is lost: a client that waits less loses that, too.
func lateWords(c *record.Case) string {
	var late engine.Time
	for i := range c.Clients {
		if none := unconnected(c, i); none.Median > 0 && none.Median >= 3*c.LostSeconds.Median {
			return fmt.Sprintf(", and takes no new connection for %s: who waits that long is answered late", atLength(none))
		}
		slow, _ := c.ClientLate(i)
		late = max(late, meanSeconds(slow, c, i))
	}
	if late < engine.Second || late < 3*engine.Time(c.LostSeconds.Median) {
		return ""
	}
	return fmt.Sprintf(", and answers %s of traffic more than 1 s late", span(late))
}

// unconnected is for how long none of a client's connections came about, though clients repeated the SYN, and who waited was answered
// late; 0 where the median is no second more, and no quarter more, than all that came to nothing in a row.
func unconnected(c *record.Case, i int) record.Range {
	_, longest, _ := c.Client(i)
	wait := c.ClientWait(i)
	if more := wait.Median - longest.Median; !c.Clients[i].Connects || more < int64(engine.Second) || 4*more < longest.Median || c.ForGood() {
		return record.Range{}
	}
	return wait
}

// atLength is the median of durations, with the longest where that is another thing: "2 s, up to 16 s".
func atLength(r record.Range) string {
	words := span(engine.Time(r.Median))
	if r.Max > 2*r.Median {
		words += ", up to " + span(engine.Time(r.Max))
	}
	return words
}

func inBrackets(words string) string {
	if words == "" {
		return ""
	}
	return " (" + words + ")"
}

func least(r record.Range) string { return thousands(r.Min) + "-" + thousands(r.Max) }

// alsoLost says what a rollout that is stuck loses besides.
func alsoLost(c *record.Case) string {
	if c.Class == scenario.ClassDNS {
		return " What its clients notice is not judged: they choose the pod."
	}
	if c.WithLoss == 0 {
		return " Nothing is lost meanwhile."
	}
	return " Until then it" + losing(c)
}

// besides says what is lost by an action that ends, though not all of what follows does.
func besides(c *record.Case) string {
	if c.WithLoss == 0 {
		return " Nothing is lost."
	}
	return " It" + losing(c)
}

// bound says what nothing lost amounts to.
func bound(c *record.Case, by scenario.Wording) string {
	return boundOf(c, strings.TrimPrefix(many(c, 2), "2 "), by)
}

// boundOf is bound for what is called so: "rolling restarts".
func boundOf(c *record.Case, such string, by scenario.Wording) string {
	if c.Bound == 0 {
		return ""
	}
	words := fmt.Sprintf(" With 95 %% confidence at most %s of such %s lose anything", percent(c.Bound), such)
	if len(c.Runs) < 300 {
		words += " (" + by.Option("runs", "300") + ": 1 %)"
	}
	return words + "."
}

// noticed says for each kind of client what becomes of it: who loses most first, who loses
// nothing last and in one sentence.
func (t *text) noticed(c *record.Case) []string {
	if len(c.Clients) == 0 || len(c.Runs) == 0 {
		return nil
	}
	order := make([]int, len(c.Clients))
	for i := range order {
		order[i] = i
	}
	lost := func(i int) int64 {
		r, _, sum := c.Client(i)
		return max(r.Median, int64(sum.Failed))
	}
	sorted.StableBy(order, func(a, b int) int { return int(lost(b) - lost(a)) })
	var out, spared []string
	place := whence(c)
	for _, i := range order {
		brief := t.room.brief && len(out) > 0
		if words := clientWords(c, i, brief); words != "" {
			if late := lateOf(c, i); brief && !t.room.bare && !strings.Contains(words, late) {
				words += "; " + late
			}
			out = append(out, clientName(c, i)+place+": "+words)
			place = "" // said once
		} else {
			spared = append(spared, clientName(c, i))
		}
	}
	switch {
	case len(out) == 0 && c.HangsOnContainer():
		return []string{"in these runs nobody: " + listed(spared, 3) + place + " got all answers, as if no container needed another"}
	case len(out) == 0 && len(c.Before) > 0:
		return []string{"nobody: " + listed(spared, 3) + place + " got as many answers as without it"}
	case len(out) == 0:
		return []string{"nobody: " + listed(spared, 3) + place + " got all answers"}
	case len(spared) > 0:
		out = append(out, listed(spared, 3)+": nothing")
	}
	return out
}

// lostRequests is how many requests were lost in a run: in all where that is less than one in each.
func lostRequests(n, runs int) string {
	if n < runs {
		return count(n, "request", "requests") + " lost in " + count(runs, "run", "runs")
	}
	return count((n+runs/2)/runs, "request", "requests") + " lost in each run"
}

// clientWords is what one kind of client notices, "" for nothing. In brief it is what was lost, and for how long nothing was answered, which may
// be what the headline says.
func clientWords(c *record.Case, i int, brief bool) string {
	lost, longest, sum := c.Client(i)
	var parts []string
	outcomes := outcomeWords(&sum)
	if c.Clients[i].Name == scenario.Messages && sum.Failed > 0 {
		outcomes = " (they vanish, and nobody is told)"
	}
	brief = brief && outcomes != ""
	if brief {
		outcomes = ""
	}
	switch median := engine.Time(lost.Median); {
	case sum.Failed == 0:
	case c.LastingOf(i) > 0:
		parts = append(parts, percent(c.LastingOf(i))+" lost, without an end"+outcomes)
	case lost.Max == 0:
		parts = append(parts, count(int(sum.Failed)/len(c.Runs), "request", "requests")+" lost"+outcomes)
	case c.WithoutServer(i):
		time := span(median)
		if median == 0 {
			time = "at most " + span(engine.Time(lost.Max))
		}
		parts = append(parts, fmt.Sprintf("%s without a server; %s%s", time, lostRequests(int(sum.Failed), len(c.Runs)), outcomes))
	case median == 0:
		parts = append(parts, "at most "+span(engine.Time(lost.Max))+" lost"+outcomes)
	default:
		parts = append(parts, span(median)+" lost"+upTo(c, i, lost)+outcomes)
	}
	if m := engine.Time(longest.Median); m > 0 && sum.Failed > 0 && !c.ForGood() {
		parts = append(parts, "no answer at all for "+span(m))
	}
	if brief {
		return strings.Join(parts, "; ")
	}
	if cuts := c.ClientCuts(i); cuts.Max > 0 {
		ended := numbers(cuts)
		if cuts.Median == 0 {
			ended = "up to " + thousands(cuts.Max)
		}
		parts = append(parts, ended+" connections end with their server or are cut")
	}
	slow, rescued := c.ClientLate(i)
	if none := unconnected(c, i); none.Median > 0 {
		parts = append(parts, "no new connection for "+atLength(none))
	}
	if s := meanSeconds(slow, c, i); s >= worthWords {
		parts = append(parts, span(s)+" answered more than 1 s late")
	}
	if s := meanSeconds(rescued, c, i); s >= worthWords {
		parts = append(parts, span(s)+" answered only at a second try")
	}
	return strings.Join(parts, "; ")
}

// lateOf says that a second of a client's traffic is answered late, or more: who waits less loses that, too. "" for less.
func lateOf(c *record.Case, i int) string {
	slow, _ := c.ClientLate(i)
	if s := meanSeconds(slow, c, i); s >= engine.Second {
		return span(s) + " answered more than 1 s late"
	}
	return ""
}

// upTo is the most that a client loses in a run where that is far from the median, of one whose range no table has.
func upTo(c *record.Case, i int, lost record.Range) string {
	if most := engine.Time(lost.Max); i != worstClient(c) && most >= engine.Second && lost.Max > 3*lost.Median {
		return ", up to " + span(most)
	}
	return ""
}

// worthWords is how much traffic has to be late, or answered at a second try, to be told.
const worthWords = 100 * engine.Millisecond

// meanSeconds is how much of a client's traffic a number of its requests in all runs is, by run;
// 0 for clients without a rate.
func meanSeconds(requests uint64, c *record.Case, i int) engine.Time {
	rate := c.Clients[i].Rate
	if rate == 0 || len(c.Runs) == 0 {
		return 0
	}
	return engine.Time(requests) * (1000 * engine.Second / engine.Time(rate)) / engine.Time(len(c.Runs))
}

// outcomeWords says how clients see what is lost, the most frequent first.
func outcomeWords(s *record.Stream) string {
	var kinds []ledger.Outcome
	for o := ledger.OK + 1; o < ledger.NumOutcomes; o++ {
		if s.Outcomes[o] > 0 {
			kinds = append(kinds, o)
		}
	}
	sorted.StableBy(kinds, func(a, b ledger.Outcome) int { return int(s.Outcomes[b]) - int(s.Outcomes[a]) })
	var words []string
	for _, o := range kinds {
		if 50*s.Outcomes[o] < s.Failed { // less than 2 % is nothing that a user looks for
			continue
		}
		if 200*s.Outcomes[o] < 199*s.Failed {
			words = append(words, seenAs(o)+" "+share(s.Outcomes[o], s.Failed))
		} else {
			words = append(words, seenAs(o))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// whys is one sentence: the cause of most of what is lost, and the line behind it.
func (t *text) whys(c *record.Case) []string {
	switch {
	case c.Verdict == record.Holds:
		return t.whyItHolds(c)
	case c.Waits():
		return []string{c.Stuck.Why}
	case onlyOfItsName(c):
		return noEmpty("the only pod has to end before the next one of its name is made, and until that is ready nobody answers", bounded(c))
	}
	if len(c.Causes) == 0 {
		return nil
	}
	x := &merged(c.Causes)[0]
	words := insteadOf(c) + inFront(c, causeStory(x.Blame))
	if unmoved(c) {
		words = insteadOf(c) + phrases[x.Cause].story
	}
	if restarted(x) {
		words = restartStory(c, x)
	}
	if lastOnSilentNode(c) {
		words = "no other pod is ready, and one on a node that is silent is replaced only when its tolerationSeconds are over, 300 s by default"
	}
	if nobodyBehind(c) {
		words = "no pod is ready behind the Service, at any time: the manifests have no workload that it selects, or one without ready pods"
	}
	if all := c.Totals().Failed; 100*x.Count < 95*all {
		words += " (" + share(x.Count, all) + " of the loss)"
	}
	if !t.room.brief {
		words += unregistered(c)
	}
	out := noEmpty(words+t.culprit(x.Culprit), bounded(c), webhookWords(c))
	if unmoved(c) {
		out = append(out, instead(c))
	}
	return out
}

// noEmpty are the paragraphs that say something.
func noEmpty(paragraphs ...string) []string {
	return slices.DeleteFunc(paragraphs, func(words string) bool { return words == "" })
}

// restarted says that the request that is told of a cause went to a pod that its livenessProbe had restarted, and that nobody had deleted.
func restarted(x *record.Cause) bool {
	return x.Cause != ledger.LivenessRestart && strings.HasPrefix(x.Culprit.What, story.Liveness)
}

// restartStory says what is late after such a restart.
func restartStory(c *record.Case, x *record.Cause) string {
	words := phrases[ledger.LivenessRestart].story
	const again = ", and may do so again after each restart"
	if x.Cause == ledger.StaleRules {
		return words + again + "; nodes go on sending it new connections: " + lateness(x.Blame)
	}
	return words + again + "; " + inFront(c, causeName(x.Blame))
}

// insteadOf says that it is kube-proxy which stands behind the main cause, where the nodes have another proxy: "" for others.
func insteadOf(c *record.Case) string {
	if !c.OtherProxy() || c.Causes[0].Cause != ledger.StaleRules {
		return ""
	}
	return "with kube-proxy in place of the nodes' own proxy, "
}

// unregistered says of an outage in which the load balancer sends to dead targets why nobody else answers: in some of its runs it has no
// target at all after them, for the new ones have not passed their health checks. "" for others.
func unregistered(c *record.Case) string {
	if c.Verdict != record.Outage && c.Central != record.Outage || c.Causes[0].Cause != ledger.StaleLB {
		return ""
	}
	var n uint64
	for i := range c.Causes {
		if c.Causes[i].Cause == ledger.NoHealthyTarget {
			n += c.Causes[i].Count
		}
	}
	all := c.Totals().Failed
	if 10*n < all {
		return ""
	}
	return "; nobody else answers, for " + inFront(c, "the load balancer or proxy") + " does not send to its new targets yet (without any target: " + share(n, all) + ")"
}

// webhookWords say of a webhook nobody of which answers for a time what that comes to, by its failurePolicy: the figures are of its Service
// alone. "" for others.
func webhookWords(c *record.Case) string {
	if c.Verdict != record.Outage {
		return ""
	}
	for i := range c.NotModelled {
		switch n := &c.NotModelled[i]; {
		case n.ID != "webhook":
		case n.Direction == "fewer":
			return "failurePolicy Ignore: no request of users is lost meanwhile, but this check"
		default:
			return "failurePolicy Fail, and it is asked of all Pods: none is made while nobody answers, its own neither, so that it may be for good"
		}
	}
	return ""
}

// onlyOfItsName says that a StatefulSet of one pod is rolled out, or its pod evicted or deleted: whatever else delays a request meanwhile, without it
// as many are lost. A pod that ends with its machine is another matter: until somebody says that it is gone, none is made.
func onlyOfItsName(c *record.Case) bool {
	return c.Kind == "StatefulSet" && c.Usable.Of == 1 && c.Usable.Min == 0 && c.Verdict == record.Outage && !c.ForGood() && !c.Sudden && c.Action != scenario.ActionCrash &&
		c.Action != scenario.ActionReboot
}

// lastOnSilentNode says that what is lost waits for a pod to be given up whose node says nothing any more.
func lastOnSilentNode(c *record.Case) bool {
	return c.Action == scenario.ActionCrash && c.Kind == "Deployment" && c.Causes[0].Cause == ledger.NoEndpoint
}

// noTable says that the causes of a case have no table: the head has named the one that there is room for.
func (t *text) noTable(c *record.Case) bool {
	return t.room.brief && t.room.causes == 1 && !c.Verdict.Endless() && c.Verdict != record.Holds
}

// culprit is a sentence about what stands in a manifest, or is missing there, and where.
func (t *text) culprit(l story.Culprit) string {
	if l.What == "" {
		return ""
	}
	words := ". The manifest has " + l.What
	if l.What == story.ToNothing {
		words = ". " + strings.ToUpper(l.What[:1]) + l.What[1:]
	}
	if hook, ok := strings.CutPrefix(l.What, "preStop: "); ok {
		words = ". Its preStop hook: " + hook
	} else if app, ok := strings.CutPrefix(l.What, "the app "); ok {
		words = ". The app " + app
	}
	if where := t.place(l.File, l.Line); where != "" {
		words += " (" + where + ")"
	}
	if l.Probe != "" {
		words += ", and a " + l.Probe
		if where := t.place(l.ProbeFile, l.ProbeLine); where != "" {
			words += " (" + where + ")"
		}
	}
	return words
}

// resultWords is what another value of an assumption comes to.
func resultWords(c *record.Case, a *record.Alternative) string {
	lost := span(engine.Time(a.LostSeconds.Median)) + " lost"
	switch {
	case a.ForGood:
		return "no request is answered any more"
	case a.Lasting > 0:
		return percent(a.Lasting) + " lost, without an end"
	case a.Verdict == record.Holds && c.Sporadic() && a.Runs > 0:
		return "nothing lost in " + count(a.Runs, "run", "runs")
	case a.Verdict == record.Holds:
		return "nothing lost"
	case a.Verdict.Endless() && a.LostSeconds.Median > 0:
		return string(a.Verdict) + ", " + lost
	case a.Verdict == record.NotJudged, a.Verdict.Endless():
		return string(a.Verdict)
	case a.LostSeconds.Median == 0 && a.WithLoss > 0:
		return fmt.Sprintf("up to %s lost in %d of %s", span(engine.Time(a.LostSeconds.Max)), a.WithLoss, count(a.Runs, "run", "runs"))
	default:
		return lost
	}
}

// tenth is one of ten requests: what fails of more than that is told first.
const tenth record.Fraction = 100_000

// mostBefore is the greatest part of a client's requests that fails without the action.
func mostBefore(c *record.Case) record.Fraction {
	var most record.Fraction
	for _, b := range c.Before {
		most = max(most, b.Lost)
	}
	return most
}

// befores says what fails without the action, too: once for all clients and sets of nodes, with the words and the part of those
// who lose most by it.
func befores(c *record.Case) []string {
	reason := func(b record.Before) string {
		if _, why, ok := strings.Cut(b.What, ": "); ok {
			return why
		}
		return b.What
	}
	var worst []record.Before
	for _, b := range c.Before {
		same := func(x record.Before) bool { return reason(x) == reason(b) }
		switch at := slices.IndexFunc(worst, same); {
		case at < 0:
			worst = append(worst, b)
		case b.Lost > worst[at].Lost:
			worst[at] = b
		}
	}
	var out []string
	for _, b := range worst {
		words := "before anything happens: " + b.What
		if b.Lost > 0 {
			words += fmt.Sprintf(" (%s of requests, no part of what is lost)", share(uint64(b.Lost), 1_000_000))
		}
		out = append(out, words)
	}
	return out
}
