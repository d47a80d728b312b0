package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// cases writes one line for each case that loses and sums up the others.
func (t *text) cases(worst, shown []*record.Case) {
	var listedCases, holds, unseen, not []*record.Case
	for _, c := range worst {
		switch {
		case c.Verdict == record.NotJudged:
			not = append(not, c)
		case c.Verdict == record.Holds && !t.opts.All:
			holds = append(holds, c)
		default:
			listedCases = append(listedCases, c)
		}
		if c.Verdict == record.Holds && !slices.Contains(shown, c) {
			unseen = append(unseen, c)
		}
	}
	if len(worst) == 1 && (len(holds) > 0 || len(not) > 0) {
		return // the head has said it
	}
	alone := len(workloads(worst)) == 1
	if len(listedCases) > 0 {
		t.rows(listedCases, alone)
	}
	t.held(holds, len(listedCases) > 0, alone)
	t.hangsOn(unseen, shown, alone)
	t.notJudged(not, alone, len(shown) == len(not) && len(not) == len(worst))
	t.unjudgedGaps(not, append(listedCases, append(holds, shown...)...))
}

// rows writes the table of the cases that are listed, and what of it the reader needs to know.
func (t *text) rows(cases []*record.Case, alone bool) {
	var hidden []*record.Case
	if len(cases) > t.room.cases {
		cases, hidden = t.kept(cases)
	}
	name, heading := t.caseNames(cases, alone)
	gaps := slices.ContainsFunc(cases, func(c *record.Case) bool { return c.LongestOutage.Max > 0 })
	row := func(first, verdict, lost, longest, runs string) []string {
		if !gaps {
			return []string{first, verdict, lost, runs}
		}
		return []string{first, verdict, lost, longest, runs}
	}
	table := [][]string{row(heading, "VERDICT", "TRAFFIC LOST", "NO ANSWER AT ALL", "RUNS WITH LOSS")}
	for _, c := range cases {
		lost := spread(c.LostSeconds)
		if c.LostSeconds.Max == 0 && c.RequestsLost.Max > 0 {
			lost = numbers(c.RequestsLost) + " requests"
		}
		if len(c.Families) > 0 {
			low, high := familyRange(c, lostBehind)
			if lost = between(low, high); high == 0 && c.WithLoss > 0 {
				lost = spread(c.LostSeconds)
			}
		}
		table = append(table, row(name(c), t.styled(c, string(c.Verdict)), lost, spread(c.LongestOutage), fmt.Sprintf("%d of %d", c.WithLoss, len(c.Runs))))
	}
	t.Table(2, table)
	t.folded(hidden, cases)
	words := inRequests(cases[0])
	if t.room.bare {
		words = ""
	}
	if !t.legend && slices.ContainsFunc(table[1:], func(row []string) bool { return strings.Contains(strings.Join(row[2:], " "), "(") }) {
		words, t.legend = ranges+words, true
	}
	switch {
	case slices.ContainsFunc(cases, (*record.Case).ForGood):
		words += " An outage that does not end is counted until the run ends."
	case slices.ContainsFunc(cases, func(c *record.Case) bool { return c.Lasting() > 0 }):
		words += " What does not end is counted until the run ends."
	}
	if words != "" {
		t.Text("  ", strings.TrimSpace(words))
	}
}

// kept are as many cases as there is room for, in their order: the one that comes first, one of each workload that loses seconds, and those that
// cannot end or lose most.
func (t *text) kept(cases []*record.Case) (shown, hidden []*record.Case) {
	order := slices.Clone(cases[1:])
	sorted.StableBy(order, func(a, b *record.Case) int {
		if a.Verdict.Endless() != b.Verdict.Endless() {
			return map[bool]int{true: -1, false: 1}[a.Verdict.Endless()]
		}
		return cmp.Compare(b.LostSeconds.Median, a.LostSeconds.Median)
	})
	order = oneOfEach(order, cases[0])[:t.room.cases-1]
	for i, c := range cases {
		if i == 0 || slices.Contains(order, c) {
			shown = append(shown, c)
		} else {
			hidden = append(hidden, c)
		}
	}
	return shown, hidden
}

// oneOfEach has the first case of each workload that loses seconds come before all others, but for that of the workload which has a row already.
func oneOfEach(cases []*record.Case, has *record.Case) []*record.Case {
	named := []string{subject(has)}
	var out, rest []*record.Case
	for _, c := range cases {
		if c.LostSeconds.Median < int64(engine.Second) || slices.Contains(named, subject(c)) {
			rest = append(rest, c)
			continue
		}
		named, out = append(named, subject(c)), append(out, c)
	}
	return append(out, rest...)
}

// caseNames says what cases are called in a table, and its heading: what is the same for all is
// not said of each.
func (t *text) caseNames(cases []*record.Case, alone bool) (name func(*record.Case) string, heading string) {
	action := cases[0].Action
	same := !slices.ContainsFunc(cases, func(c *record.Case) bool { return c.Action != action || c.Kind == "Scenario" || c.Workload == "" })
	if same && action == scenario.ActionRollout && slices.ContainsFunc(cases, func(c *record.Case) bool { return c.Recreates }) { // some of them are restarted pod by pod, and some at once
		action = "restart"
	}
	switch {
	case alone && same && t.room.brief:
		return func(c *record.Case) string { return trafficWords(c) + t.whose(c) }, capitals(action) + " SEEN FROM"
	case alone:
		return func(c *record.Case) string { return happening(c) + t.whose(c) }, "CASE"
	case same && t.namespace() != "":
		return func(c *record.Case) string { return t.short(c.Workload) + ", " + trafficWords(c) + t.whose(c) }, capitals(action) + " IN " + t.namespace() + whose(action)
	case same:
		return func(c *record.Case) string { return c.Workload + ", " + trafficWords(c) + t.whose(c) }, capitals(action) + whose(action)
	case t.namespace() != "" && !slices.ContainsFunc(cases, func(c *record.Case) bool { return c.Kind == "Scenario" }):
		return func(c *record.Case) string { return t.short(subject(c)) + ": " + happening(c) + t.whose(c) }, "CASE IN " + t.namespace()
	default:
		return func(c *record.Case) string { return title(c) + t.whose(c) }, "CASE"
	}
}

// whose names the Service of a case, " of web-internal", where another Service leads to its workload the same way, by one of its ports at least;
// "" for most.
func (t *text) whose(c *record.Case) string { return ofService(t.sim, c) }

func ofService(s *record.Simulation, c *record.Case) string {
	service, ok := serviceOf(c)
	if !ok {
		return ""
	}
	way, ports, _ := strings.Cut(happening(c), " :")
	for i := range s.Cases {
		x := &s.Cases[i]
		if other, _ := serviceOf(x); x.Workload != c.Workload || other == service {
			continue
		}
		if w, p, _ := strings.Cut(happening(x), " :"); w == way && sharePort(ports, p) {
			return " of " + service
		}
	}
	return ""
}

// serviceOf is the name of the Service that a case is about.
func serviceOf(c *record.Case) (string, bool) {
	service, _, ok := strings.Cut(c.ID[strings.LastIndexByte(c.ID, '/')+1:], ":")
	return service, ok
}

// sharePort says that lists of ports, "80 :443", have one in common.
func sharePort(a, b string) bool {
	other := strings.Split(b, " :")
	return slices.ContainsFunc(strings.Split(a, " :"), func(port string) bool { return slices.Contains(other, port) })
}

// capitals is an action in a heading; names of nodes in it stay as they are.
func capitals(action string) string {
	if what, nodes, ok := strings.Cut(action, " of "); ok {
		return strings.ToUpper(what) + " OF " + nodes
	}
	return strings.ToUpper(action)
}

// whose leads from an action in a heading to the names below it.
func whose(action string) string {
	if strings.Contains(action, " of ") {
		return " FOR"
	}
	return " OF"
}

// namespace is the one of all workloads, "" where they have several.
func (t *text) namespace() string {
	all := ""
	for i := range t.sim.Cases {
		if w := t.sim.Cases[i].Workload; w != "" {
			ns, _, _ := strings.Cut(w, "/")
			if all != "" && ns != all {
				return ""
			}
			all = ns
		}
	}
	return all
}

// short is a workload without the namespace that all of them have.
func (t *text) short(workload string) string {
	if ns := t.namespace(); ns != "" {
		return strings.TrimPrefix(workload, ns+"/")
	}
	return workload
}

// folded is a line for each verdict of the cases that have none of their own, the one whose cases lose most first, and the worse one of two that lose
// as much. Workloads that lose seconds are named there if no row has them.
func (t *text) folded(hidden, rows []*record.Case) {
	same := make([][]*record.Case, record.NotJudged.Rank()+1)
	for _, c := range hidden {
		same[c.Verdict.Rank()] = append(same[c.Verdict.Rank()], c)
	}
	sorted.StableBy(same, func(a, b []*record.Case) int { return cmp.Compare(mostLost(b), mostLost(a)) })
	for _, cases := range same {
		if len(cases) > 0 {
			t.Text("  ", fmt.Sprintf("%s: %s, %s%s (%s lists them)",
				count(len(cases), "more case", "more cases"), cases[0].Verdict, lostOfAll(cases), t.seconds(cases, rows), t.option("all", "")))
		}
	}
}

// mostLost is what the worst of some cases loses in its median run.
func mostLost(cases []*record.Case) (most int64) {
	for _, c := range cases {
		most = max(most, c.LostSeconds.Median)
	}
	return most
}

// seconds names the workloads of cases that lose a second or more and have no row, "" without any.
func (t *text) seconds(cases, rows []*record.Case) string {
	var names []string
	for _, c := range cases {
		other := func(x *record.Case) bool { return subject(x) == subject(c) }
		if c.LostSeconds.Median >= int64(engine.Second) && subject(c) != "" && !slices.ContainsFunc(rows, other) {
			names = distinct(names, t.short(subject(c)))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", a second and more of " + listed(names, 4)
}

// lostOfAll says what cases lose in the median run, from the least to the most; where none does in that, the most that any run loses.
func lostOfAll(cases []*record.Case) string {
	low, high, most, runs := engine.Never, engine.Time(0), engine.Time(0), 0
	for _, c := range cases {
		m := engine.Time(c.LostSeconds.Median)
		low, high, most = min(low, m), max(high, m), max(most, engine.Time(c.LostSeconds.Max))
		runs = max(runs, c.WithLoss)
	}
	if high > 0 || most == 0 {
		return between(low, high) + " lost"
	}
	in := fmt.Sprintf("%d of %s", runs, count(len(cases[0].Runs), "run", "runs"))
	if len(cases) > 1 {
		in = "up to " + in
	}
	return "up to " + span(most) + " lost in " + in
}

// held sums up the cases that hold, with the weakest of their bounds: that of the fewest runs,
// when some were interrupted.
func (t *text) held(holds []*record.Case, others, alone bool) {
	if len(holds) == 0 {
		return
	}
	weakest, such := holds[0], strings.TrimPrefix(many(holds[0], 2), "2 ")
	for _, c := range holds {
		if one(c) != one(weakest) {
			such = "runs"
		}
		if c.Bound > weakest.Bound {
			weakest = c
		}
	}
	words := count(len(holds), "case holds", "cases hold")
	if others {
		words = count(len(holds), "more case holds", "more cases hold")
	}
	named := " (" + t.option("all", "") + " lists them)"
	if len(holds) <= fewCases {
		words, named = words+" ("+t.names(holds, alone)+")", ""
	}
	t.Text("  ", fmt.Sprintf("%s: lost nothing in %s each%s.%s", words, count(len(weakest.Runs), "run", "runs"), named, boundOf(weakest, such, t.sim.Wording)))
}

// hangsOn says of cases that hold, and of which nothing else is told, what is late of them, and what they hang on: once for what is the same.
func (t *text) hangsOn(holds, shown []*record.Case, alone bool) {
	var words []string
	of := map[string][]*record.Case{}
	for _, c := range holds {
		parts := lateParts(c)
		breaks := breaking(c)
		if said := outages(c); len(shown) == 1 && slices.Contains(t.besideHolds(shown[0]), c) { // the head has told these
			breaks = slices.DeleteFunc(breaks, func(b string) bool {
				return slices.ContainsFunc(said, func(a *record.Alternative) bool { return strings.HasPrefix(b, condition(c, a)+" (") })
			})
		}
		if len(breaks) > 0 {
			parts = append(parts, "something is lost if "+breaks[0])
			if len(breaks) > 1 {
				parts[len(parts)-1] += ", or in " + count(len(breaks)-1, "more way", "more ways")
			}
		}
		if w := strings.Join(parts, "; "); w != "" {
			words, of[w] = distinct(words, w), append(of[w], c)
		}
	}
	if t.room.brief && len(words) > 0 && !t.opts.All {
		line := count(len(words), "case that holds answers late, or loses", "cases that hold answer late, or lose") + " something with other values"
		if slices.ContainsFunc(holds, func(c *record.Case) bool { return len(outages(c)) > 0 }) {
			line += ", up to an outage"
		}
		t.Text("  ", line+" ("+t.option("all", "")+").")
		return
	}
	for i, w := range words {
		if i == fewCases && !t.opts.All {
			t.Text("  ", fmt.Sprintf("%d more of those that hold answer late, or lose something otherwise (%s)", len(words)-i, t.option("all", "")))
			return
		}
		t.Hanging("  ", 4, t.names(of[w], alone)+": "+w+".")
	}
}

// lateParts say what of the traffic of a case is late, or answered only at a second try: of the client that has most of it.
func lateParts(c *record.Case) (parts []string) {
	var late, second engine.Time
	for i := range c.Clients {
		slow, rescued := c.ClientLate(i)
		late, second = max(late, meanSeconds(slow, c, i)), max(second, meanSeconds(rescued, c, i))
	}
	if late >= worthWords {
		return []string{span(late) + " of traffic is answered more than 1 s late"}
	}
	if second >= worthWords {
		return []string{span(second) + " of traffic is answered only at a second try"}
	}
	return nil
}

// fewCases is how many cases are rather named than counted.
const fewCases = 2

// names are what cases are called in a line: their workload where there are several.
func (t *text) names(cases []*record.Case, alone bool) string {
	var out []string
	for _, c := range cases {
		if alone {
			out = append(out, happening(c)+t.whose(c))
		} else {
			out = append(out, t.short(subject(c))+": "+happening(c)+t.whose(c))
		}
	}
	return strings.Join(out, "; ")
}

// notJudged says why cases are not judged, or how many.
func (t *text) notJudged(not []*record.Case, alone, said bool) {
	if len(not) == 0 || said && !t.opts.All {
		return
	}
	if !t.opts.All {
		t.Text("  ", count(len(not), "case is", "cases are")+" not judged ("+t.option("all", "")+" says why).")
		return
	}
	for _, c := range not {
		name := title(c)
		if alone {
			name = happening(c)
		}
		name += t.whose(c)
		t.Hanging("  ", 4, name+": not judged: "+c.Reason+darkWords(c))
	}
}

// unjudgedGaps names the workloads of which no case is judged although pods are gone for seconds, for clients choose the pod: who reads of the
// others would take them for looked at.
func (t *text) unjudgedGaps(not, said []*record.Case) {
	if t.opts.All || t.opts.Show != "" {
		return // each of them has a line
	}
	var dark []*record.Case
	for _, c := range not {
		of := func(x *record.Case) bool { return x.Workload == c.Workload }
		if d := c.Dark; d != nil && d.Pods.Median >= int64(engine.Second) && !slices.ContainsFunc(said, of) && !slices.ContainsFunc(dark, of) {
			dark = append(dark, c)
		}
	}
	whole := func(c *record.Case) bool { return c.Dark.Most.Median >= int64(c.Usable.Of) }
	sorted.StableBy(dark, func(a, b *record.Case) int {
		if whole(a) != whole(b) {
			return map[bool]int{true: -1, false: 1}[whole(a)]
		}
		return cmp.Compare(b.Dark.Pods.Median, a.Dark.Pods.Median)
	})
	for i, c := range dark {
		if i == t.room.cases {
			t.Text("  ", fmt.Sprintf("%s more of which pods are dark for seconds.", count(len(dark)-i, "workload", "workloads")))
			return
		}
		words := darkWords(c)
		if whole(c) {
			words += "; nobody answers meanwhile"
		}
		t.Hanging("  ", 4, t.short(c.Workload)+": "+happening(c)+t.whose(c)+": not judged, for "+c.Reason+words+".")
	}
}

// worstClient is the client that lost most over all runs.
func worstClient(c *record.Case) int {
	best := 0
	var most int64 = -1
	for i := range c.Clients {
		if lost, _, _ := c.Client(i); lost.Median > most {
			best, most = i, lost.Median
		}
	}
	return best
}

// inRequests explains the unit of the loss by its number of requests; that of sessions is no number of requests.
func inRequests(c *record.Case) string {
	if withoutServer(c) {
		return " Of sessions it is how long one has no server, the mean of all sessions: most requests wait meanwhile and are answered late."
	}
	if c.LostSeconds.Max == 0 || len(c.Clients) == 0 || c.Clients[worstClient(c)].Rate == 0 {
		return ""
	}
	lost := engine.Time(c.LostSeconds.Median)
	if lost == 0 {
		lost = engine.Time(c.LostSeconds.Max)
	}
	rate := c.Clients[worstClient(c)].Rate
	const unit = int64(1000 * engine.Second)
	requests := (int64(lost/engine.Microsecond)*int64(rate) + unit/2/int64(engine.Microsecond)) / (unit / int64(engine.Microsecond))
	return fmt.Sprintf(" %s of traffic at %s are %s.", span(lost), perSecond(rate), count(int(requests), "request", "requests"))
}

// perSecond is a rate in thousandths: "1 request/s", "0.5 requests/s".
func perSecond(rate int) string {
	if rate == 1000 {
		return "1 request/s"
	}
	return (engine.Time(rate) * engine.Millisecond).Seconds() + " requests/s"
}

// darkWords say in a line what becomes of the pods of a case that is not judged because clients
// choose among them; "" for other cases.
func darkWords(c *record.Case) string {
	d := c.Dark
	if d == nil {
		return ""
	}
	words := "; no pod is dark"
	switch {
	case d.Most.Max > 0 && c.Stuck != nil:
		words = fmt.Sprintf("; not every pod that goes dark is replaced, at once %s of %d are dark", numbers(d.Most), c.Usable.Of)
	case d.Most.Max > 0 && c.Action == scenario.ActionScaleDown:
		words = fmt.Sprintf("; a pod goes for good, at once %s of %d", numbers(d.Most), c.Usable.Of)
	case d.Most.Max > 0:
		words = fmt.Sprintf("; a pod is dark for %s, at once %s of %d", spread(d.Pods), numbers(d.Most), c.Usable.Of)
	}
	if d.Rollout.Max == 0 {
		return words
	}
	return words + ", rollout " + spread(d.Rollout)
}

// dark says it in full.
func (t *text) dark(c *record.Case) {
	d := c.Dark
	words := "nobody who knows which pods there are: each is replaced before it stops answering"
	switch {
	case d.Most.Max > 0 && c.Stuck != nil: // how long it was dark is how long the run went on
		words = fmt.Sprintf("clients that need a pod that stops answering: not every one is replaced; at most %s of %d pods at once", numbers(d.Most), c.Usable.Of)
	case c.Stuck != nil:
		words = "nobody: no pod stops answering"
	case d.Most.Max > 0 && c.Action == scenario.ActionScaleDown:
		words = fmt.Sprintf("clients that need the pod that goes, for good: none is made in its place; at most %s of %d pods at once", numbers(d.Most), c.Usable.Of)
	case d.Most.Max > 0:
		words = fmt.Sprintf("clients that need a pod that stops answering, for %s until another is ready in its place; at most %s of %d pods at once",
			spread(d.Pods), numbers(d.Most), c.Usable.Of)
	}
	t.labelled("Who notices", []string{words})
	if s := c.Stuck; s != nil {
		what := s.What
		if where := t.place(s.File, s.Line); where != "" {
			what += " (" + where + ")"
		}
		t.labelled("Why", []string{s.Why})
		t.labelled("What to do", []string{what})
		return
	}
	t.gaps(c)
	t.labelled("Left out", []string{oldAddresses(c)})
	if move, settle, made := assumed(c, "volume-move"); made && d.Most.Max > 0 {
		t.labelled("Assumed", []string{"a volume takes " + otherInWords(move) + " to another node, where its pod comes back on one: that is part of these times" + inBrackets(t.way(settle))})
	}
	if d.Rollout.Max > 0 {
		t.labelled("How long", []string{"the rollout takes " + spread(d.Rollout)})
	}
	t.labelled("", unsettledWords(c))
}

// oldAddresses says what nobody knows of clients that choose the pod: for how long they ask one that is not there any more.
func oldAddresses(c *record.Case) string {
	words := "clients that keep the address of a pod that has gone: DNS keeps an answer for 5 to 30 s, gRPC and Java often for longer. What they ask there is lost"
	if c.Kind != "StatefulSet" { // there the pod that follows comes only after the hook
		words += ", unless a preStop hook lasts longer than that"
	}
	return words + ". examples/scenarios/headless-stale-dns.yaml plays it"
}

// unsettledWords says how many runs had not settled, and what the first of them was waiting
// for.
func unsettledWords(c *record.Case) []string {
	n, waits := 0, ""
	for i := range c.Runs {
		if r := &c.Runs[i]; !r.Settled {
			n++
			if waits == "" && r.Unrest != "" {
				waits = ": " + r.Unrest
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s had not settled at the end%s", count(n, "run", "runs"), waits)}
}
