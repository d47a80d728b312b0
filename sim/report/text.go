package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Style turns a verdict's word into what a terminal shows for it; a nil Style leaves it as it
// is. Colour never carries the meaning alone: the words are the same.
type Style func(v check.Verdict, word string) string

// TextOptions say how much of a simulation the text shows.
type TextOptions struct {
	// Show is part of the id, the workload, the action or the traffic of the cases to show in
	// full; "" shows the worst.
	Show string
	// All lists also cases that hold and those that are not judged.
	All bool
	// Verbose lists all assumptions.
	Verbose bool
	Style   Style
	// EditWith returns the command that opens what a manifest.File stands for, "" for a file;
	// nil means that there are only files.
	EditWith func(file string) string
}

// WriteText writes a simulation for people: the verdict first, the replay command last.
func WriteText(w io.Writer, s *check.Simulation, opts TextOptions) error {
	t := text{w: bufio.NewWriter(w), sim: s, opts: opts}
	t.write()
	return t.w.Flush()
}

// text is the writer of one simulation.
type text struct {
	w    *bufio.Writer
	sim  *check.Simulation
	opts TextOptions
}

func (t *text) line(format string, args ...any) {
	fmt.Fprintln(t.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

func (t *text) write() {
	worst := t.sim.Worst()
	if len(worst) == 0 {
		t.line("NOT JUDGED  nothing to judge: the input has no workload behind a Service, and no Scenario")
		return
	}
	shown := worst[:1]
	if t.opts.Show != "" {
		shown = nil
		for _, c := range worst {
			if strings.Contains(c.ID, t.opts.Show) || strings.Contains(title(c), t.opts.Show) {
				shown = append(shown, c)
			}
		}
	}
	t.table(worst, shown)
	for _, c := range shown {
		t.why(c)
		t.example(c)
	}
	t.fixes(shown)
	t.assumptions(shown)
	t.last(shown)
}

// listedCases is how many lines of cases a text has that does not list all.
const listedCases = 25

// table writes the headline of each shown case, one line for each case that loses, and a count
// of the others.
func (t *text) table(worst, shown []*check.Case) {
	for _, c := range shown {
		t.headline(c)
		t.line("")
	}
	var rows [][]string
	var holds, not []*check.Case
	for _, c := range worst {
		switch {
		case c.Verdict == check.Holds && !t.opts.All:
			holds = append(holds, c)
		case c.Verdict == check.NotJudged && !t.opts.All:
			not = append(not, c)
		default:
			rows = append(rows, t.row(c))
		}
	}
	if len(rows) > 0 {
		t.rows(rows)
		t.inRequests(worst[0])
	}
	t.held(holds, len(rows))
	if len(not) > 0 && len(worst) > 1 {
		t.line("%s not judged (--all says why)", count(len(not), "case is", "cases are"))
	}
	if len(rows) > 0 || len(worst) > 1 {
		t.line("")
	}
}

// row is the line of one case.
func (t *text) row(c *check.Case) []string {
	if c.Verdict == check.NotJudged {
		return []string{title(c), t.styled(c, string(c.Verdict)), c.Reason + darkWords(c)}
	}
	return []string{title(c), t.styled(c, string(c.Verdict)), spread(c.LongestOutage), spread(c.LostSeconds),
		fmt.Sprintf("%d of %d", c.WithLoss, len(c.Runs))}
}

// rows writes the lines of cases, the first of many.
func (t *text) rows(rows [][]string) {
	hidden := 0
	if len(rows) > listedCases && !t.opts.All {
		rows, hidden = rows[:listedCases], len(rows)-listedCases
	}
	t.columns(append([][]string{{"CASE", "VERDICT", "NOTHING ANSWERS", "TRAFFIC LOST", "RUNS WITH LOSS"}}, rows...))
	if hidden > 0 {
		t.line("%s less (--all lists them)", count(hidden, "more case loses", "more cases lose"))
	}
}

// held counts the cases that hold, with the weakest of their bounds: that of the fewest runs,
// when some were interrupted.
func (t *text) held(holds []*check.Case, others int) {
	if len(holds) == 0 || others == 0 && len(holds) == 1 {
		return
	}
	bound := holds[0]
	for _, c := range holds {
		if c.Bound > bound.Bound {
			bound = c
		}
	}
	t.line("%s: %s (--all lists them)", count(len(holds), "case holds", "cases hold"), boundWords(bound))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// title names a case in the table: "shop/web: rolling restart, outside :80".
func title(c *check.Case) string {
	words := c.Workload + ": " + c.Action
	if c.Workload == "" {
		words = c.ID + ": " + c.Action
	}
	if c.Traffic != "" {
		words += ", " + c.Traffic
	}
	return words
}

func (t *text) styled(c *check.Case, word string) string {
	if t.opts.Style == nil {
		return word
	}
	return t.opts.Style(c.Verdict, word)
}

// headline is the verdict's word and one sentence.
func (t *text) headline(c *check.Case) {
	word := strings.ToUpper(strings.ReplaceAll(string(c.Verdict), "-", " "))
	t.line("%s  %s", t.styled(c, word), cmp.Or(c.Workload, c.ID))
	t.line("        %s", sentence(c))
	if c.Cuts.Max > 0 {
		t.line("        Connections that ended with their servers, or were cut on the way: %s (%s-%s).", thousands(c.Cuts.Median), thousands(c.Cuts.Min), thousands(c.Cuts.Max))
	}
	t.dark(c)
	t.deciding(c)
	for _, u := range c.Unmet {
		t.line("        not as expected: %s", u)
	}
	if c.Expectation != nil && len(c.Unmet) == 0 {
		t.line("        As the Scenario expects.")
	}
}

func sentence(c *check.Case) string {
	what := "A " + c.Action
	if c.Kind == "Scenario" {
		what = "Scenario " + c.ID
	}
	verdict := c.Verdict
	if verdict == check.Depends {
		what, verdict = "As assumed, "+strings.ToLower(what[:1])+what[1:], c.Central
	}
	switch verdict {
	case check.Outage:
		return fmt.Sprintf("%s stops all traffic (%s) for %s, and loses %s of it.", what, c.Traffic, span(engine.Time(c.LongestOutage.Median)), span(engine.Time(c.LostSeconds.Median)))
	case check.Drops:
		if c.LostSeconds.Max == 0 { // clients that wait for each answer have no rate
			return fmt.Sprintf("%s loses up to %s requests a run (%s), in %d of %d runs.", what, thousands(c.RequestsLost.Max), c.Traffic, c.WithLoss, len(c.Runs))
		}
		if c.LostSeconds.Median == 0 {
			return fmt.Sprintf("%s loses traffic (%s) in %d of %d runs: up to %s of it.", what, c.Traffic, c.WithLoss, len(c.Runs), span(engine.Time(c.LostSeconds.Max)))
		}
		return fmt.Sprintf("%s loses %s of traffic (%s), in %d of %d runs.", what, span(engine.Time(c.LostSeconds.Median)), c.Traffic, c.WithLoss, len(c.Runs))
	case check.Holds:
		return fmt.Sprintf("%s, %s: %s.", what, c.Traffic, boundWords(c))
	default:
		return fmt.Sprintf("%s, %s: %s.", what, c.Traffic, c.Reason)
	}
}

// boundWords says what nothing lost amounts to.
func boundWords(c *check.Case) string {
	subject := "such runs lose"
	if strings.Contains(c.Action, "rolling restart") || strings.Contains(c.Action, "rolloutRestart") {
		subject = "such rollouts lose"
	}
	n := len(c.Runs)
	words := fmt.Sprintf("lost nothing in %d of %d runs: with 95 %% confidence at most %s of %s anything", n, n, percent(c.Bound), subject)
	if n < 300 {
		words += " (--runs 300 for 1 %)"
	}
	return words
}

// worstClient is the client that lost most over all runs.
func worstClient(c *check.Case) int {
	best := 0
	var most int64 = -1
	for i := range c.Clients {
		if lost, _, _ := c.Client(i); lost.Median > most {
			best, most = i, lost.Median
		}
	}
	return best
}

// inRequests explains the unit of the loss by its number of requests.
func (t *text) inRequests(c *check.Case) {
	if c.LostSeconds.Max == 0 || len(c.Clients) == 0 || c.Clients[worstClient(c)].Rate == 0 {
		return
	}
	lost, kind := engine.Time(c.LostSeconds.Median), ""
	if lost == 0 {
		lost, kind = engine.Time(c.LostSeconds.Max), ", in the worst run"
	}
	rate := c.Clients[worstClient(c)].Rate
	const unit = int64(1000 * engine.Second)
	requests := (int64(lost/engine.Microsecond)*int64(rate) + unit/2/int64(engine.Microsecond)) / (unit / int64(engine.Microsecond))
	t.line("%q is %s x your request rate: %s requests at %s%s.", span(lost)+" of traffic", figure(lost), thousands(requests), rateWords(rate), kind)
}

func unsettled(c *check.Case) int {
	n := 0
	for i := range c.Runs {
		if !c.Runs[i].Settled {
			n++
		}
	}
	return n
}

func causeWords(cause string) string {
	for _, row := range Causes() {
		if row.Cause == cause {
			return row.What
		}
	}
	return ""
}

// last writes seeds, trace and how to see a run again.
func (t *text) last(shown []*check.Case) {
	if t.sim.Interrupted {
		done := 0
		for i := range t.sim.Cases {
			done += len(t.sim.Cases[i].Runs)
		}
		t.line("INTERRUPTED after %s: the figures are of those", count(done, "run", "runs"))
	}
	seeds := fmt.Sprintf("seed %d", t.sim.Seed)
	if t.sim.Runs > 1 {
		seeds = fmt.Sprintf("seed %d-%d", t.sim.Seed, t.sim.Seed+uint64(t.sim.Runs)-1)
	}
	if len(shown) == 0 {
		t.line("no case matches %q: they are", t.opts.Show)
		for i := range t.sim.Cases {
			t.line("  %s", t.sim.Cases[i].ID)
		}
	}
	trace, replay := "", ""
	if len(shown) > 0 {
		if run := worstRun(shown[0]); run != nil {
			trace = "  trace " + run.TraceHash
			if t.sim.Replay != "" {
				replay = fmt.Sprintf("  replay: %s --seed %d --runs 1 --show %s", t.sim.Replay, run.Seed, shown[0].ID)
			}
		}
	}
	t.line("%s%s%s", seeds, trace, replay)
}

// columns writes rows as wide as their cells need. Colours have no width.
func (t *text) columns(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 || len(row) == len(rows[0]) {
				widths[i] = max(widths[i], width(cell))
			}
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", max(0, widths[i]-width(cell))+2))
			}
		}
		t.line("%s", b.String())
	}
}

// width counts what a terminal shows of a cell.
func width(cell string) int {
	n, escape := 0, false
	for _, r := range cell {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n++
		}
	}
	return n
}
