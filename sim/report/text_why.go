package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/story"
)

// why lists the causes of a case with their shares of what is lost, and their codes at the right.
func (t *text) why(c *record.Case) {
	if len(c.Causes) == 0 {
		return
	}
	notes := []string{elsewhereWords(c.Causes, c.Totals().Failed, keepsData(c), c.Usable.Of == 1) + t.withoutTheWait(c)}
	if nobodyBehind(c) {
		notes[0] = "There was no pod that could have answered."
	}
	if words := fewestWords(c); words != "" && (!t.room.bare || len(c.Families) == 0) { // their headline and table have taken that room
		notes = append(notes, words)
	}
	for _, words := range unsettledWords(c) {
		notes = append(notes, words+".")
	}
	if t.noTable(c) {
		t.Text("WHY   ", happening(c)+t.whose(c)+": "+firstCauses(c)+". "+strings.Join(notes, " "))
		return
	}
	t.Text("WHY   ", happening(c)+t.whose(c))
	t.causes(c)
	for _, words := range notes {
		t.Text("  ", words)
	}
}

// firstCauses are the first two causes of a case with their shares, and their codes: for a page that has no room for a table.
func firstCauses(c *record.Case) string {
	const most = 2
	all := c.Totals().Failed
	causes := slices.Clone(c.Causes)
	for i := range causes { // which lines are behind them is said in the table
		causes[i].Culprit = story.Culprit{}
	}
	causes = merged(causes)
	var words []string
	for i := range causes[:min(most, worthARow(causes, all))] {
		x := &causes[i]
		words = append(words, share(x.Count, all)+" "+inFront(c, causeName(x.Blame))+" ("+x.Cause.String()+")")
	}
	return strings.Join(words, "; ")
}

// fewestWords says how many pods could answer when they were fewest, "" where all could all the time. Where nothing was answered
// nevertheless it was not for want of them.
func fewestWords(c *record.Case) string {
	u := c.Usable
	if u.Of == 0 || u.Min == u.Of || u.For == 0 {
		return ""
	}
	words := fmt.Sprintf("At the worst moment %d of %s could answer, for %s in the worst run", u.Min, count(u.Of, "pod", "pods"), span(u.For))
	if u.Min > 0 && c.LongestOutage.Median > 0 {
		words += ": pods were there all the time, also while nothing was answered"
	}
	return words + "."
}

// causes is the table of them.
func (t *text) causes(c *record.Case) {
	all := c.Totals().Failed
	rows := [][]string{}
	causes := merged(c.Causes)
	shown := t.room.causes
	if !t.opts.Verbose {
		shown = min(shown, worthARow(causes, all))
	}
	for i := range causes {
		x := &causes[i]
		if i == shown && len(causes) > i+1 {
			var rest uint64
			for _, y := range causes[i:] {
				rest += y.Count
			}
			more := fmt.Sprintf("%d more causes (-v)", len(causes)-i)
			if 100*x.Count < all {
				more = fmt.Sprintf("%d more causes, each less than 1 %% (-v)", len(causes)-i)
			}
			rows = append(rows, []string{fmt.Sprintf("%5s", share(rest, all)), more, ""})
			break
		}
		words := inFront(c, causeName(x.Blame))
		if i > 0 && !x.Culprit.Same(causes[0].Culprit) {
			words += t.behind(x.Culprit)
		}
		rows = append(rows, []string{fmt.Sprintf("%5s", share(x.Count, all)), words, x.Cause.String()})
	}
	t.Table(0, rows)
}

// worthARow is how many causes, the most first, have a row of their own: the first one, and all that are a hundredth of what is lost.
func worthARow(causes []record.Cause, all uint64) int {
	rows := 1
	for rows < len(causes) && 100*causes[rows].Count >= all {
		rows++
	}
	return rows
}

// behind is what stands in a manifest behind a cause, in brackets.
func (t *text) behind(l story.Culprit) string {
	if l.What == "" {
		return ""
	}
	words := l.What
	if where := t.place(l.File, l.Line); where != "" {
		words += ", " + where
	}
	return " (" + words + ")"
}

// merged adds up causes that differ only in whether another pod could have answered, the most first.
func merged(causes []record.Cause) []record.Cause {
	var out []record.Cause
next:
	for i := range causes {
		for j := range out {
			if out[j].Cause == causes[i].Cause && out[j].Actor == causes[i].Actor && out[j].Culprit == causes[i].Culprit {
				out[j].Count += causes[i].Count
				continue next
			}
		}
		out = append(out, causes[i])
	}
	sorted.StableBy(out, func(a, b record.Cause) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// elsewhereWords tells the race part, which delays and readiness mend, from the outage part,
// which only more pods mend.
func elsewhereWords(causes []record.Cause, all uint64, data, one bool) string {
	var others, local, withdrawn uint64
	for i := range causes {
		if !causes[i].Elsewhere {
			continue
		}
		others += causes[i].Count
		if causes[i].Cause == ledger.NoLocalEndpoint {
			local += causes[i].Count
			if causes[i].Actor == ledger.App {
				withdrawn += causes[i].Count
			}
		}
	}
	switch others {
	case all:
		if 2*withdrawn > all {
			return "The node's own pod could have answered most of them, had it stayed ready."
		}
		if 2*local > all {
			return "A ready pod on another node could have answered, if the traffic policy were not Local."
		}
		return "Each time another ready pod could have answered."
	case 0:
		if causes[0].Cause == ledger.ServiceChanged {
			return "No pod could have answered: nothing leads to one."
		}
		if causes[0].Culprit.What == story.ToNothing {
			return "No pod could have answered: there is none any more."
		}
		if data {
			return "No other pod could have answered, and a second one would not have the data: only a shorter time between both helps."
		}
		if slices.ContainsFunc(causes, func(c record.Cause) bool { return c.Actor == ledger.VolumeAttach }) {
			return "No other pod could have answered, and on another node none has its volume before the old one has let it go."
		}
		return "No other pod could have answered: only more pods, or a new one before the old one goes, help."
	default:
		if one {
			return fmt.Sprintf("For %s of the lost requests the next pod was there already; before that nobody could have answered.", share(others, all))
		}
		return fmt.Sprintf("Another ready pod could have answered in %s; in the rest nobody could.", share(others, all))
	}
}

// nobodyBehind says that no pod was ready behind the Service from the first request to the last: nothing became of an old pod.
func nobodyBehind(c *record.Case) bool {
	sum := c.Totals()
	return len(c.Causes) > 0 && c.Causes[0].Cause == ledger.NoEndpoint && sum.Failed == sum.Total
}

// withoutTheWait says what would be lost if kube-proxy did not wait, where its waiting loses
// most.
func (t *text) withoutTheWait(c *record.Case) string {
	if c.Causes[0].Actor != ledger.ProxyWait {
		return ""
	}
	switch a := withoutWait(c); {
	case a == nil:
		return ""
	case a.LostSeconds.Median == 0 && (c.Sporadic() || a.WithLoss > 0):
		return " With minSyncPeriod 0: " + resultWords(c, a) + "."
	case a.LostSeconds.Median == 0:
		return " With minSyncPeriod 0 nothing would be lost."
	case a.Effect == record.NoEffect && a.Shift <= -tenPercent:
		return " With minSyncPeriod 0 " + allTogether(a) + "."
	case unmoved(c):
		return " With minSyncPeriod 0 as much would be lost."
	case a.Effect == record.NoEffect: // the medians are alike, and the few runs that were tried are not those that lose most
		return ""
	default:
		return " With minSyncPeriod 0 it would be " + span(engine.Time(a.LostSeconds.Median)) + "."
	}
}

// story tells how one lost request came about, or, of a case that holds, how a rollout went.
func (t *text) story(c *record.Case) {
	if t.room.story == 0 {
		return
	}
	if x := exampleCause(c); x != nil {
		t.lostOne(c, x)
	} else if c.Kept != nil && len(c.Kept.Story) > 0 && t.opts.Show != "" {
		t.timeline("ONE "+strings.ToUpper(one(c)), fmt.Sprintf("seed %d, nothing lost", c.Kept.Seed), toldOf(c.Kept.Story))
	}
}

func (t *text) lostOne(c *record.Case, x *record.Cause) {
	lines := toldOf(x.Story)
	r := &x.Example.Request
	if len(lines) == 0 { // it was not told, and what the request alone says may not be how it was
		return
	}
	tail := fmt.Sprintf("seed %d", x.Example.Seed)
	if len(c.Clients) > 1 && r.Stream < len(c.Clients) {
		tail += ", " + c.Clients[r.Stream].Name
	}
	if r.Attempts > 1 {
		tail += fmt.Sprintf(", %d attempts", r.Attempts)
	}
	t.timeline("ONE LOST REQUEST", tail, lines)
	t.lanes(c, x)
}

// toldLine is a line of a story in words.
type toldLine struct {
	at     engine.Time
	words  string
	file   string // "" when no line of a manifest is behind it
	line   int
	origin string // the pod whose deletion this is, where the story counts from it
	kept   bool   // never left out: what the story counts from, what the loss comes from, the request
	ends   string // the pod that ends with it, of the request: never left out, but told in one line where there is little room; "" for others
}

func toldOf(lines []story.Line) []toldLine {
	var out []toldLine
	for i := range lines {
		l := &lines[i]
		told := toldLine{l.At, l.Words(), l.File, l.Line, "", l.Origin || l.Blamed || l.Lost != nil, ""}
		if l.Decides {
			told.ends = l.Pod()
		}
		if l.Origin {
			told.origin = l.Pod()
		}
		if l.Lost != nil {
			told.words = strings.Replace(told.words, "this request", "THIS REQUEST", 1)
		}
		out = append(out, told)
	}
	return out
}

// timeline writes lines of a story with their times from one of them on.
func (t *text) timeline(heading, tail string, lines []toldLine) {
	zero, from := origin(lines)
	t.Text(heading+"   ", from+tail)
	lines = shortened(lines, t.room.story)
	widest := 0
	for _, l := range lines {
		widest = max(widest, len(since(l.at, zero)))
	}
	var rows [][]string
	for _, l := range lines {
		at := since(l.at, zero)
		row := []string{strings.Repeat(" ", widest-len(at)+2) + at, l.words}
		if where := t.place(l.file, l.line); where != "" {
			row = append(row, where)
		}
		rows = append(rows, row)
	}
	t.Table(0, rows)
}

// origin is the time from which a story counts: the deletion of the pod it is about, else its
// first line.
func origin(lines []toldLine) (zero engine.Time, words string) {
	for _, l := range lines {
		if l.origin != "" {
			return l.at, "times since " + l.origin + " was deleted, "
		}
	}
	return lines[0].at, "times since the first line, "
}

// shortened leaves out lines from the middle of what happened before the request until there
// are no more than most: those without a line of a manifest first. How the pod ended is told in any case, in one line if it has to be.
func shortened(lines []toldLine, most int) []toldLine {
	out := slices.Clone(lines)
	if len(out) > most {
		out = endInOne(out)
	}
	for len(out) > most {
		drop := -1
		for i := 1; i < len(out)-1; i++ {
			if out[i].kept || out[i].ends != "" {
				continue
			}
			if out[i].file == "" {
				drop = i
				break
			}
			if drop < 0 {
				drop = i
			}
		}
		if drop < 0 {
			return out
		}
		out = slices.Delete(out, drop, drop+1)
	}
	return out
}

// endInOne tells in one line how the pod of a request ended: "SIGTERM to old pod 0; it accepts no connections any more; it exits 2 s later".
func endInOne(lines []toldLine) []toldLine {
	var out []toldLine
	at := -1
	for _, l := range lines {
		switch {
		case l.ends == "":
			out = append(out, l)
		case at < 0:
			at = len(out)
			out = append(out, l)
		default:
			words := strings.Replace(l.words, l.ends, "it", 1)
			if later := l.at - out[at].at; later >= 10*engine.Millisecond {
				words += " " + span(later) + " later"
			}
			out[at].words += "; " + words
			out[at].kept = out[at].kept || l.kept
			if out[at].file == "" {
				out[at].file, out[at].line = l.file, l.line
			}
		}
	}
	return out
}
