package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/grid"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// shownMaps is how many maps a text shows; JSON has all of them.
const shownMaps = 3

// WriteSweep writes the maps of a sweep, those first that lose most somewhere.
func WriteSweep(w io.Writer, r *grid.Result, width int) error {
	p := page.New(page.Columns(width))
	maps := slices.Clone(r.Maps)
	sorted.StableBy(maps, func(a, b grid.Map) int { return int(min(max(b.Most()-a.Most(), -1), 1)) })
	if len(maps) == 0 {
		p.Text("", "No case of the input is judged.")
	}
	for i := range maps[:min(len(maps), shownMaps)] {
		m := &maps[i]
		p.Text("SWEEP   ", fmt.Sprintf("%s: seconds of traffic lost, median of %s at each point", sweepTitle(m), count(r.Runs, "run", "runs")))
		p.Blank()
		if m.Y == nil {
			sweepLine(p, m)
		} else {
			sweepField(p, m)
		}
		p.Blank()
		p.Text("  ", asItIs(m)+".")
		if m.Unknown {
			p.Text("  ", "Nothing in the input says which load balancer is in front: at each point it is the one that loses most there.")
		}
		for _, words := range cliffWords(m) {
			p.Hanging("  ", 4, words)
		}
		for _, why := range refusals(m) {
			p.Hanging("  Refused, such as ", 4, why)
		}
		p.Blank()
	}
	if more := len(maps) - shownMaps; more > 0 {
		p.Text("", fmt.Sprintf("%s that lose less: JSON has all of them.", count(more, "more case", "more cases")))
	}
	if len(maps) > 0 {
		p.Text("", seen(r.Runs)+" All else is as the report of the input assumes it.")
	}
	if r.Interrupted {
		p.Text("", "Interrupted: points that were not done are empty.")
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// sweepLine is a Map over one axis: a row a value, neighbours that are alike in one.
func sweepLine(p *page.Page, m *grid.Map) {
	rows := [][]string{{m.X.Name, "lost", "runs with loss", ""}}
	most := max(m.Most(), 1)
	for x := 0; x < len(m.X.Values); {
		c, to := m.At(x, 0), x
		for to+1 < len(m.X.Values) && alikeCells(c, m.At(to+1, 0)) {
			to++
		}
		name := m.X.Values[x].Text
		if to > x {
			name += " .. " + m.X.Values[to].Text
		}
		const bar = 40
		rows = append(rows, []string{name, cellLost(c), lossyRuns(c), strings.Repeat("#", int(bar*c.Lost.Median/most))})
		x = to + 1
	}
	p.Table(2, rows)
}

// alikeCells says that two cells are one row of a table.
func alikeCells(a, b *grid.Cell) bool {
	if a.Clean() || a.Verdict.Endless() || a.Runs == 0 {
		return a.Clean() == b.Clean() && a.Verdict == b.Verdict && a.Runs == b.Runs && (a.Refused == "") == (b.Refused == "")
	}
	return false
}

// sweepField is a Map over two axes: a row for each value of Y, in figures where these have room, else in tenths of the most.
func sweepField(p *page.Page, m *grid.Map) {
	names := 0
	for i := range m.Y.Values {
		names = max(names, page.Width(m.Y.Values[i].Text))
	}
	wide := 3
	for i := range m.Cells {
		wide = max(wide, len(figureCell(m, &m.Cells[i])))
	}
	cell, legend := figureCell, "in figures: seconds; . nothing; 0.0 less than 0.05 s; - does not end; x refused; ? not judged"
	if fits := names + 4 + (wide+1)*len(m.X.Values); fits > p.Width() {
		wide, cell = 1, shadeCell
		legend = fmt.Sprintf("1 to 9: ninths of %s; . nothing; - does not end; x refused; ? not judged", span(engine.Time(m.Most())))
	}
	axis := m.X.Values
	p.Verbatim(fmt.Sprintf("  %s down, %s from %s (left) to %s", page.Shown(m.Y.Name), page.Shown(m.X.Name), axis[0].Text, axis[len(axis)-1].Text))
	p.Text("  ", legend)
	p.Blank()
	if wide > 1 {
		head := strings.Repeat(" ", names+2)
		for i := range axis {
			head += fmt.Sprintf(" %*s", wide, clipped(axis[i].Text, wide))
		}
		p.Verbatim(head)
	}
	hereX, hereY := hereOf(m.X, m.HereX), hereOf(m.Y, m.HereY)
	for y := range m.Rows() {
		line := fmt.Sprintf("  %*s", names, m.Y.Values[y].Text)
		for x := range axis {
			text := fmt.Sprintf("%*s", wide, cell(m, m.At(x, y)))
			if x == hereX && y == hereY {
				text = strings.Repeat("@", wide)
			}
			if wide > 1 || x == 0 {
				text = " " + text
			}
			line += text
		}
		p.Verbatim(line)
	}
	if hereX >= 0 && hereY >= 0 {
		p.Text("  ", "@ is the input as it is")
	}
}

// clipped is the name of a column that is no wider than the column.
func clipped(text string, wide int) string {
	if page.Width(text) <= wide {
		return text
	}
	return strings.Repeat(" ", wide-1) + "'"
}

// figureCell is a cell in seconds.
func figureCell(_ *grid.Map, c *grid.Cell) string {
	if mark := markOf(c); mark != "" {
		return mark
	}
	return inSeconds(engine.Time(c.Lost.Median))
}

// shadeCell is a cell as a part of the most that is lost.
func shadeCell(m *grid.Map, c *grid.Cell) string {
	if mark := markOf(c); mark != "" {
		return mark
	}
	return fmt.Sprint(max(1, 9*c.Lost.Median/max(m.Most(), 1)))
}

// markOf is for cells that have no figure.
func markOf(c *grid.Cell) string {
	switch {
	case c.Refused != "":
		return "x"
	case c.Runs == 0:
		return "?"
	case c.Verdict.Endless():
		return "-"
	case c.WithLoss == 0:
		return "."
	default:
		return ""
	}
}

// lossyRuns says in how many runs of a point something is lost.
func lossyRuns(c *grid.Cell) string {
	if c.Runs == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", c.WithLoss, c.Runs)
}
