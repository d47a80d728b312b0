package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// A picture of one lost request: the pod that it met, what the API says of that pod, and until when each node sends to it, as bars over the
// seconds since its deletion. Requests die between the pod's closing and the last node's letting go. Below it the same run with what
// helps, in the same seconds. Each meaning has a colour and a pattern; what can be a word is one.

// The measures of a picture, in pixels. It is read on telephones, too: at half of its width.
const (
	raceWide   = 720
	raceLeft   = 108 // for names
	raceRight  = 16
	raceBefore = 104 // from the left to the deletion
	raceAfter  = 130 // from the last moment to the right: for words behind it
	raceHead   = 64
	raceTitle  = 58 // of a panel, with its scale
	raceBand   = 24 // for what is said of the time in which requests die
	raceRowH   = 38
	raceBar    = 22
	raceGap    = 22 // between panels
	raceLine   = 19 // of the words below
)

// patterned are the looks that have a pattern.
var patterned = []string{looksLate, looksClosed, looksLeaving, looksFallback, looksNobody}

// raceDrawing is such a picture under work: with one scale of time in all of its panels.
type raceDrawing struct {
	svg
	top  int
	wide engine.Time // from the deletion to the last moment that matters in any panel
}

// racePanel is one run.
type racePanel struct {
	*scene
	title string
}

// WriteSVG draws the lost request of the first case that is shown, with the same run with what helps below it. Where nothing is lost it
// draws the pod that times count from.
func WriteSVG(w io.Writer, s *record.Simulation, show string) error {
	worst, _ := drains(s.Worst())
	shown := chosen(worst, show)
	d := &raceDrawing{}
	if len(shown) == 0 {
		d.words("Nothing to draw", []string{"No workload of the input is judged."})
	} else if panels := panelsOf(s, shown[0]); len(panels) == 0 {
		d.words(subject(shown[0]), slices.Concat(foldedLines(subject(shown[0])+sentence(shown[0], s.Wording), raceLetters),
			foldedLines("There is no more to draw: "+undrawn(shown[0])+".", raceLetters)))
	} else {
		d.panels(shown[0], panels)
	}
	_, err := io.WriteString(w, d.String())
	return err
}

// undrawn says why there is no picture of a case.
func undrawn(c *record.Case) string {
	if c.Timeline == nil {
		return "no run of it was kept"
	}
	if len(c.Timeline.Bands) == 0 {
		return "in the run that is looked at, no pod goes"
	}
	return "the request that is told of met no pod that goes. The page has it (-o html)"
}

// panelsOf are the runs of a case: as it is, and with the first fix of which there are lanes.
func panelsOf(s *record.Simulation, c *record.Case) []racePanel {
	if c.Timeline == nil {
		return nil
	}
	is := sceneAt(c.Timeline, c.Timeline.Zero.Pod, nil)
	if x := exampleCause(c); x != nil {
		is = sceneOf(c.Timeline, x)
	}
	if is == nil {
		return nil
	}
	out := []racePanel{{is, "As it is"}}
	for i := range s.Fixes {
		for k := range s.Fixes[i].Cases {
			x := &s.Fixes[i].Cases[k]
			if x.ID != c.ID || x.Timeline == nil || len(out) > 1 {
				continue
			}
			at := slices.IndexFunc(x.Timeline.Pods, func(p timeline.PodLane) bool { return calledOr(&p) == calledOr(is.pod) })
			if at < 0 {
				continue
			}
			fixed := sceneAt(x.Timeline, x.Timeline.Pods[at].ID, nil)
			if is.stays {
				fixed = is.again(x.Timeline, x.Timeline.Pods[at].ID)
			}
			if fixed != nil {
				out = append(out, racePanel{fixed.seenFrom(is), "With " + s.Fixes[i].Title})
			}
		}
	}
	return out
}

// words is a picture of a sentence.
func (d *raceDrawing) words(heading string, lines []string) {
	high := raceHead + raceLine*len(lines)
	d.open(raceWide, high, heading, strings.Join(lines, " "), raceStyle)
	d.addf(`<rect class="paper" width="%d" height="%d"/>`, raceWide, high)
	d.addf(`<text class="title" x="16" y="30">%s</text>`, escaped(shortName(heading, raceTitled)))
	for i, line := range lines {
		d.addf(`<text x="16" y="%d">%s</text>`, raceHead+raceLine*i, escaped(line))
	}
	d.addf("</svg>")
}

func (d *raceDrawing) panels(c *record.Case, panels []racePanel) {
	rows := make([][]raceRow, len(panels))
	high := raceHead
	for i, p := range panels {
		rows[i] = p.rows()
		high += raceTitle + p.bandHigh() + raceRowH*len(rows[i]) + raceGap
		d.wide = max(d.wide, panels[0].last-panels[0].zero)
		if to := p.band.To; to != nil {
			d.wide = max(d.wide, *to-p.zero)
		}
	}
	d.wide = max(d.wide, 10*engine.Millisecond)
	below := d.below(c, panels[0])
	high += raceLine * len(below)
	if panels[0].f != nil {
		high += raceLine + 4
	}
	does, since := " is deleted", "the deletion"
	if panels[0].stays {
		does, since = "", shortName(panels[0].begun(), raceBegun)
	} else if !panels[0].fromDeletion() {
		does, since = " ends", "then"
	}
	heading := fmt.Sprintf("%s: %s%s", subject(c), calledOr(panels[0].pod), does)
	d.open(raceWide, high, heading, d.describe(panels, below), raceStyle)
	d.addf(racePatterns)
	d.addf(`<rect class="paper" width="%d" height="%d"/>`, raceWide, high)
	d.addf(`<text class="title" x="16" y="30">%s</text>`, escaped(shortName(heading, raceTitled)))
	which := fmt.Sprintf("the worst of %s, in seconds since %s", count(len(c.Runs), "run", "runs"), since)
	d.addf(`<text class="soft" x="16" y="51">%s, %s</text>`, escaped(shortName(happening(c), raceLetters-len(which)-len(", "))), which)
	d.top = raceHead
	for i, p := range panels {
		d.panel(&p, rows[i])
	}
	if panels[0].f != nil {
		d.legend()
	}
	for i, line := range below {
		d.addf(`<text class="soft" x="16" y="%d">%s</text>`, d.top+raceLine*i+5, escaped(line))
	}
	d.addf("</svg>")
}

// below are the words under the panels: why.
func (d *raceDrawing) below(c *record.Case, p racePanel) []string {
	if p.f == nil || len(c.Causes) == 0 {
		return nil
	}
	return foldedLines("Why: "+inFront(c, causeStory(c.Causes[0].Blame))+".", raceLetters)
}

// legend says what the marks of lost requests are.
func (d *raceDrawing) legend() {
	y := d.top
	for _, e := range []struct {
		x     int
		ring  bool
		words string
	}{{22, false, "a lost request, above its cause"}, {376, true, "the one that the report tells of"}} {
		d.cross(float64(e.x), y)
		if e.ring {
			d.addf(`<circle class="own" cx="%d" cy="%d" r="6.5"/>`, e.x, y)
		}
		d.addf(`<text class="soft" x="%d" y="%d">%s</text>`, e.x+14, y+5, e.words)
	}
	d.top += raceLine + 4
}

// How many letters there is room for: in a line, in the title, and in the name of a row.
const (
	raceLetters = 86
	raceTitled  = 58
	raceName    = 13
	raceWhose   = 16 // in smaller letters
	raceBegun   = 34 // of what times count from
)

// foldedLines breaks a text into lines.
func foldedLines(text string, most int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > most {
			out, line = append(out, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(out, line)
}

// forClients says of a load balancer's band whose it is, where there is another one of the same name.
func (s *scene) forClients(n *timeline.NodeBand) string {
	same := 0
	for i := range s.band.Nodes {
		if s.band.Nodes[i].Name == n.Name {
			same++
		}
	}
	if same < 2 || len(n.Clients) == 0 {
		return ""
	}
	return " for " + s.clients(n.Clients)
}

// describe is the picture for who does not see it.
func (d *raceDrawing) describe(panels []racePanel, below []string) string {
	var out []string
	for _, p := range panels {
		words := fmt.Sprintf("%s: %s lost.", p.title, count(int(p.lost()), "request", "requests"))
		if p.band.From != nil && !p.stays {
			words += fmt.Sprintf(" The pod accepts no connections from %s on.", since(*p.band.From, p.zero))
		}
		for _, n := range p.band.Nodes {
			if n.LetGo == nil || n.Like >= 0 {
				continue
			}
			what := "lets go of it"
			if n.Gone {
				what = "is gone, as its machine is,"
			}
			words += fmt.Sprintf(" %s%s %s at %s.", n.Name, p.forClients(&n), what, since(*n.LetGo, p.zero))
		}
		out = append(out, words)
	}
	return strings.Join(append(out, below...), " ")
}
