package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Style paints a verdict's word (page.Painted); a nil Style leaves it as it is. Colour never carries the meaning alone: the
// words are the same.
type Style func(v record.Verdict, word string) string

// TextOptions say how much of a simulation the text shows.
type TextOptions struct {
	// Show is part of the id, the workload, the action or the traffic of the cases to show in
	// full; "" shows the worst.
	Show string
	// All lists also cases that hold and those that are not judged.
	All bool
	// Verbose lists all assumptions and causes.
	Verbose bool
	// Width is how many columns the terminal has, 0 when there is none: lines are wrapped at 100
	// then. They are never wider than that.
	Width int
	Style Style
	// Lanes has the lost request that is told of drawn as well, in cases with a Timeline, where the page is wide enough.
	Lanes bool
	// Limits say which cases are findings.
	Limits record.Limits
	// EditWith returns the command that opens what a manifest.File stands for, "" for a file;
	// nil means that there are only files.
	EditWith func(file string) string
}

// How many lines a text may have: of one workload, of any number of them, and for each case that
// the user asks to see in full.
const (
	linesOfOne   = 50
	linesOfMany  = 60
	linesOfShown = 80
	linesOfDrain = 12 // more, for what becomes of nodes
	// linesOfPicture are more, where a lost request is drawn as well: who has a terminal sees it at a glance.
	linesOfPicture = 9
)

// room is how many lines of each part a text shows; the rest is a number.
type room struct {
	cases, causes, story, fixes, assumed, noHelp, notes, others int
	parts                                                       int // of a change in a table
	// brief says what has been said before in fewer words, or not again.
	brief bool
	// terse has what is to be pasted in as few lines as it can, and leaves out what was taken from the input; inBraces has also an object
	// that a fix adds in as few lines as it can, and unpasted only names that.
	terse, inBraces, unpasted bool
	// one has one change in full, whichever else there is; bare counts what is not modelled, and leaves out what explains a figure once more.
	one, bare bool
	// counted has a number in place of what stands in for load balancers of other cases, and says in fewest words where an edit is in full.
	counted bool
}

// rooms returns one after the other, each a little smaller, until a text is short enough with
// it: what a reader misses least goes first.
func rooms() []room {
	r := room{cases: 25, causes: 6, story: 12, fixes: 2, assumed: 8, noHelp: 4, notes: 5, others: 5, parts: 9}
	out := []room{r}
	for _, less := range []func(){
		func() { r.assumed = 6 }, func() { r.story = 11 }, func() { r.noHelp = 2 }, func() { r.cases = 18 }, func() { r.fixes = 1 },
		func() { r.assumed = 5 }, func() { r.story = 10 }, func() { r.causes = 5 }, func() { r.cases = 14 }, func() { r.assumed = 4 },
		func() { r.story = 9 }, func() { r.causes = 4 }, func() { r.cases = 10 }, func() { r.noHelp = 1 }, func() { r.notes = 4 },
		func() { r.story = 8 }, func() { r.causes = 3 }, func() { r.others = 4 }, func() { r.cases = 7 }, func() { r.assumed = 3 },
		func() { r.story = 7 }, func() { r.cases = 5 }, func() { r.others = 3 }, func() { r.story = 6 }, func() { r.causes = 2 },
		func() { r.notes = 3 }, func() { r.assumed = 2 }, func() { r.cases = 4 }, func() { r.others = 2 },
		func() { r.notes = 2 }, func() { r.assumed = 1 }, func() { r.causes = 1 }, func() { r.story = 5 }, func() { r.others = 1 },
		func() { r.cases = 3 }, func() { r.noHelp = 0 }, func() { r.brief = true }, func() { r.story = 4 }, func() { r.notes = 1 }, func() { r.story = 0 },
		func() { r.assumed = 0 }, func() { r.notes = 0 }, func() { r.others = 0 }, func() { r.parts = 2 }, func() { r.parts = 1 },
		func() { r.terse = true }, func() { r.cases = 2 }, func() { r.one = true }, func() { r.inBraces = true }, func() { r.bare = true },
		func() { r.cases = 1 }, func() { r.unpasted = true }, func() { r.counted = true },
	} {
		less()
		out = append(out, r)
	}
	return out
}

// everything is the room of a text that is to be complete.
var everything = room{cases: 1 << 20, causes: 1 << 20, story: 1 << 20, fixes: 1 << 20, assumed: 1 << 20, noHelp: 1 << 20, notes: 1 << 20, others: 1 << 20, parts: 1 << 20}

// WriteText writes a simulation for people: what happens, who notices, why and what to do first,
// the command that shows it again last.
func WriteText(w io.Writer, s *record.Simulation, opts TextOptions) error {
	_, err := io.WriteString(w, compose(s, opts))
	return err
}

// compose writes the text with the most room that leaves it short enough.
func compose(s *record.Simulation, opts TextOptions) string {
	worst, nodes := drains(s.Worst())
	shown := chosen(worst, opts.Show)
	if opts.Verbose || opts.All {
		return newText(s, opts, everything).write(worst, nodes, shown)
	}
	limit, out := mostLines(worst, shown, opts)+linesOfDrain*len(nodes), ""
	if opts.Lanes {
		limit += linesOfPicture
	}
	for _, r := range rooms() {
		out = newText(s, opts, r).write(worst, nodes, shown)
		if strings.Count(out, "\n") <= limit {
			break
		}
	}
	return out
}

func mostLines(worst, shown []*record.Case, opts TextOptions) int {
	switch {
	case opts.Show != "":
		return linesOfShown * max(len(shown), 1)
	case len(workloads(worst)) > 1:
		return linesOfMany
	default:
		return linesOfOne
	}
}

// chosen are the cases to show in full: the worst, or all that match.
func chosen(worst []*record.Case, show string) []*record.Case {
	if show == "" {
		return worst[:min(1, len(worst))]
	}
	var out []*record.Case
	for _, c := range worst {
		if Matches(c, show) {
			out = append(out, c)
		}
	}
	return out
}

func workloads(cases []*record.Case) []string {
	var out []string
	for _, c := range cases {
		out = distinct(out, subject(c))
	}
	return out
}

// text is the writer of one simulation.
type text struct {
	*page.Page
	sim  *record.Simulation
	opts TextOptions
	room room
	// file is the last one that was named: places in it are lines only.
	file string
	// only is the file of the input where it has one alone, and named says that it stands on the page: its lines are all that is said then.
	only  string
	named bool
	// legend says that it stands on the page what a range is.
	legend bool
	// pasted are the edits that the page has: what is there need not be pasted again.
	pasted []*edit.Edit
	// collect, if it is not nil, is handed what stands beside a label instead of its being written.
	collect func(label string, paragraphs []string)
}

func newText(s *record.Simulation, opts TextOptions, r room) *text {
	return &text{Page: page.New(page.Columns(opts.Width)), sim: s, opts: opts, room: r, only: onlyFile(s)}
}

// onlyFile is the file of all cases, "" where they are of several.
func onlyFile(s *record.Simulation) string {
	only := ""
	for i := range s.Cases {
		file, _, _ := strings.Cut(s.Cases[i].Source, ":")
		if file == "" || only != "" && file != only {
			return ""
		}
		only = file
	}
	return only
}

// Text is Page.Text, with the name of the only file once.
func (t *text) Text(prefix, words string) { t.Page.Text(t.once(prefix), t.once(words)) }

// Hanging is Page.Hanging, with the name of the only file once.
func (t *text) Hanging(prefix string, indent int, words string) {
	t.Page.Hanging(t.once(prefix), indent, t.once(words))
}

// once takes the name of the only file from before a line's number, but for the first time.
func (t *text) once(words string) string {
	if t.only == "" {
		return words
	}
	var out strings.Builder
	for name := t.only + ":"; ; {
		at := strings.Index(words, name)
		if at < 0 {
			return out.String() + words
		}
		end := at + len(name)
		place := (at == 0 || strings.ContainsRune(" (,;:", rune(words[at-1]))) && end < len(words) && words[end] >= '0' && words[end] <= '9'
		out.WriteString(words[:at])
		if !place || !t.named {
			out.WriteString(t.only)
		}
		out.WriteByte(':')
		t.named = t.named || place
		words = words[end:]
	}
}

func (t *text) write(worst, nodes, shown []*record.Case) string {
	if len(worst) == 0 {
		t.nothingJudged()
		return t.String()
	}
	t.refused()
	t.misspelled()
	t.entry()
	t.drainHead(worst, nodes)
	for _, c := range shown {
		t.head(c)
		t.Blank()
	}
	t.cases(worst, shown)
	t.nowhere()
	t.drained(nodes)
	for _, c := range shown {
		t.Blank()
		t.why(c)
		t.Blank()
		t.story(c)
	}
	t.Blank()
	t.fixes(shown)
	t.Blank()
	t.assumptions(shown)
	if !t.dropped(shown) { // which takes the place of a blank: nothing is left out for it
		t.Blank()
	}
	t.last(shown)
	return t.String()
}

// dropped says which parts of the shown cases there was no room for, which -v shows. It returns whether there are any.
func (t *text) dropped(shown []*record.Case) bool {
	var parts []string
	for _, c := range shown {
		if t.room.story == 0 && exampleCause(c) != nil {
			parts = distinct(parts, "one lost request")
		}
		if causes := merged(c.Causes); t.noTable(c) && worthARow(causes, c.Totals().Failed) > 2 {
			parts = distinct(parts, "the other causes")
		}
		fixes := fixesFor(t.sim, c.Workload)
		if f := shownFamily(c); f != nil {
			fixes = nil
			if f.Fix != nil {
				fixes = []*record.Fix{f.Fix}
			}
		}
		if len(fixes) > t.room.fixes {
			parts = distinct(parts, "other changes that help")
		}
		if t.room.notes == 0 && slices.ContainsFunc(fixes, func(f *record.Fix) bool { return f.Cost != "" }) {
			parts = distinct(parts, "what a change costs")
		}
		if t.room.noHelp == 0 && len(fixes) > 0 && len(noHelpFor(t.sim, c)) > 0 {
			parts = distinct(parts, "what does not help")
		}
	}
	if len(parts) == 0 {
		return false
	}
	words := listed(parts, len(parts))
	if t.room.bare {
		words = "more"
	}
	t.Text("  ", "No room for "+words+" (-v).")
	return true
}

// toShow is the option that shows a case in full.
func (t *text) toShow(c *record.Case) string { return t.option("show", t.shortID(c)) }

// place is where something stands: the file only where it is another one than before.
func (t *text) place(file string, line int) string {
	if file == "" {
		return ""
	}
	if file == t.file {
		return fmt.Sprintf(":%d", line)
	}
	t.file = file
	return fmt.Sprintf("%s:%d", file, line)
}

// subject is what a case is about: its workload, or the Scenario.
func subject(c *record.Case) string {
	switch {
	case c.OfNodes():
		return nodesOf(c)
	case c.Kind == "Scenario" || c.Workload == "":
		return c.ID
	}
	return c.Workload
}

// happening is what was done and seen through which traffic: "rolling restart, inside :80".
func happening(c *record.Case) string {
	words := c.Action
	if c.Kind != "Scenario" {
		words = one(c)
	}
	if c.Traffic != "" {
		words += ", " + trafficWords(c)
	}
	return words
}

// title names a case in a table of several workloads.
func title(c *record.Case) string { return subject(c) + ": " + happening(c) }

// trafficWords are those of the input's class without its code.
func trafficWords(c *record.Case) string {
	for _, word := range []struct{ class, words string }{{"h2", "gRPC, HTTP/2"}, {"session", "sessions"}, {"peer", "between its pods"}, {"datagram", "UDP"}} {
		if rest, ok := strings.CutPrefix(c.Traffic, word.class); ok && c.Class == word.class {
			return word.words + strings.TrimPrefix(rest, "s") // peers
		}
	}
	return c.Traffic
}

// last writes what was interrupted and how to see the first of the shown cases again.
func (t *text) last(shown []*record.Case) {
	if t.sim.Interrupted {
		done := 0
		for i := range t.sim.Cases {
			done += len(t.sim.Cases[i].Runs)
		}
		t.Text("", fmt.Sprintf("INTERRUPTED after %s: the figures are of those.", count(done, "run", "runs")))
	}
	if len(shown) == 0 {
		t.Text("", fmt.Sprintf("No case matches %q. They are:", t.opts.Show))
		for i := range t.sim.Cases {
			t.Text("  ", t.sim.Cases[i].ID)
		}
		return
	}
	run := worstRun(shown[0])
	if run == nil || t.sim.Replay == "" {
		return
	}
	t.command("Again: ", strings.Join([]string{t.sim.Replay, t.toShow(shown[0]), t.option("seed", strconv.FormatUint(run.Seed, 10)), t.option("runs", "1")}, " "))
}

// shortID is the end of a case's id, "web:80" or "rollout/web:80", that is enough to show that case alone.
func (t *text) shortID(c *record.Case) string {
	if !strings.Contains(c.ID[strings.LastIndexByte(c.ID, '/')+1:], ":") { // no port of a Service: a name that may be any part of another id
		return c.ID
	}
	for at := len(c.ID); ; {
		if at = strings.LastIndexByte(c.ID[:at], '/'); at < 0 {
			return c.ID
		}
		end := c.ID[at+1:]
		others := func(x record.Case) bool { return x.ID != c.ID && Matches(&x, end) }
		if !slices.ContainsFunc(t.sim.Cases, others) {
			return end
		}
	}
}

// command writes a command that a shell takes as it stands: lines that go on end with a
// backslash.
func (t *text) command(prefix, command string) {
	const more = " \\"
	lines := page.Wrap(together(command), t.Width()-len(prefix)-len(more))
	for i, line := range lines {
		line = strings.ReplaceAll(line, joint, " ")
		if i < len(lines)-1 {
			line += more
		}
		if i > 0 {
			prefix = strings.Repeat(" ", len(prefix))
		}
		t.Verbatim(prefix + line)
	}
}

// joint stands between a flag and its value while a command is broken into lines: no shell command has it.
const joint = "\ue000" // for private use

// together keeps each flag and its value in one line.
func together(command string) string {
	words := strings.Split(command, " ")
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			if strings.HasPrefix(words[i-1], "-") && !strings.HasPrefix(word, "-") {
				b.WriteString(joint)
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteString(word)
	}
	return b.String()
}
