package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/grid"
	"github.com/lameduck-proxy/lameduck/sim/knob"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// A picture of a sweep has one panel a map, below each other: rectangles in a scale that is even to the eye (cividis), a colour and a
// dot of their own for points that lose nothing, the cliff as a line, and a ring at the point at which the input stands. Colours
// follow the reader's light or dark scheme: the more is lost, the farther a colour is from the paper. Without any, dots, hatching and
// the line say the same.

// cividis, from bright to dark, as ten steps (matplotlib's table reversed; CC0). From firstDark on it is too dark for black figures. On
// white paper the first step is the least loss, on black paper the most.
var cividis = [...]string{"#fee838", "#e1cc55", "#c3b369", "#a59c74", "#8a8678", "#707173", "#575d6d", "#3b496c", "#123570", "#00224e"}

const firstDark = 5

// The panels' measures, in pixels.
const (
	svgWidth  = 760
	svgLeft   = 110
	svgRight  = 150 // for the scale
	svgTop    = 58
	svgBottom = 74
	svgHigh   = 300 // of a field; a row alone is lower
	svgRow    = 60
)

const svgBase = `
  text { font: 13px system-ui, sans-serif; fill: #1b1f24 }
  .onlittle { font-size: 11px; fill: #000000 } .onmuch { font-size: 11px; fill: #ffffff }
  .title { font-weight: 600; font-size: 15px }
  .axis { fill: none; stroke: #57606a }
  .none { fill: #ffffff; stroke: #d0d7de; stroke-width: 0.5 }
  .dot { fill: #8c959f }
  .unknown { fill: none }
  .paper { fill: #ffffff }
  .cliff { fill: none; stroke: #d55e00; stroke-width: 3; stroke-linecap: square } .beneath { fill: none; stroke: #ffffff; stroke-width: 7; stroke-linecap: square }
  .value { fill: #a34700; font-weight: 600; font-size: 12px; paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round }
  .here { fill: none; stroke: #d55e00; stroke-width: 3 }
  .beside { fill: #d55e00 }
  .herein { fill: none; stroke: #ffffff; stroke-width: 7 }
  .endless { fill: url(#hatch) }
  .hatch { stroke: #cf222e; stroke-width: 3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .paper, .none { fill: #0d1117 } .none { stroke: #30363d } .axis { stroke: #8b949e }
    .onlittle { fill: #ffffff } .onmuch { fill: #000000 }
    .cliff, .here { stroke: #ff9e4a } .beside { fill: #ff9e4a } .herein, .beneath { stroke: #0d1117 } .hatch { stroke: #ff7b72 } .value { fill: #ff9e4a; stroke: #0d1117 }
  }
`

// svgStyle is svgBase with a class for each step of the scale.
var svgStyle = svgBase + stepStyles()

// stepStyles are the steps of the scale, the other way round on dark paper.
func stepStyles() string {
	light, dark := " ", "  @media (prefers-color-scheme: dark) {\n   "
	for i := range cividis {
		light += fmt.Sprintf(" .%s { fill: %s }", stepClass(i), cividis[i])
		dark += fmt.Sprintf(" .%s { fill: %s }", stepClass(i), cividis[len(cividis)-1-i])
	}
	return light + "\n" + dark + "\n  }\n"
}

// stepClass is the class of a step of the scale.
func stepClass(i int) string { return fmt.Sprintf("loss%d", i) }

// drawing is the picture of a sweep under work.
type drawing struct {
	svg
	top  int   // of the panel
	most int64 // of all maps: they share a scale
}

// WriteSweepSVG writes the maps of a sweep as one picture.
func WriteSweepSVG(w io.Writer, r *grid.Result) error {
	d := &drawing{}
	high := 20
	for i := range r.Maps {
		high += panelHigh(&r.Maps[i])
		d.most = max(d.most, r.Maps[i].Most())
	}
	title := fmt.Sprintf("Traffic lost over %s", sweptWords(r))
	d.open(svgWidth, high, title, describe(r), svgStyle)
	d.addf(`<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="8"/></pattern></defs>`)
	d.addf(`<rect class="paper" width="%d" height="%d"/>`, svgWidth, high)
	for i := range r.Maps {
		d.panel(&r.Maps[i])
		d.top += panelHigh(&r.Maps[i])
	}
	d.addf("</svg>")
	_, err := io.WriteString(w, d.String())
	return err
}

// sweptWords names the axes.
func sweptWords(r *grid.Result) string {
	if len(r.Maps) == 0 {
		return "nothing: no case of the input is judged"
	}
	m := &r.Maps[0]
	if m.Y == nil {
		return m.X.Name
	}
	return m.X.Name + " and " + m.Y.Name
}

// describe is the picture for who does not see it.
func describe(r *grid.Result) string {
	var parts []string
	for i := range r.Maps {
		m := &r.Maps[i]
		parts = append(parts, sweepTitle(m)+". "+asItIs(m)+". "+strings.Join(cliffWords(m), " "))
	}
	return strings.Join(parts, " ")
}

func panelHigh(m *grid.Map) int { return svgTop + fieldHigh(m) + svgBottom }

func fieldHigh(m *grid.Map) int {
	if m.Y == nil {
		return svgRow
	}
	return svgHigh
}

// panel draws one map.
func (d *drawing) panel(m *grid.Map) {
	const wide = svgWidth - svgLeft - svgRight
	high := fieldHigh(m)
	columns, rows := len(m.X.Values), m.Rows()
	x := func(i int) float64 { return svgLeft + float64(wide)*float64(i)/float64(columns) }
	y := func(i int) float64 { // the first row is the lowest
		return float64(d.top+svgTop) + float64(high)*float64(rows-i)/float64(rows)
	}
	d.addf(`<text class="title" x="16" y="%d">%s</text>`, d.top+28, escaped(sweepTitle(m)))
	d.addf(`<text x="16" y="%d">%s</text>`, d.top+46, escaped(asItIs(m)))
	for j := range rows {
		for i := range columns {
			d.cell(m.At(i, j), box{x(i), y(j + 1), x(i+1) - x(i), y(j) - y(j+1)}, pointWords(m, i, j))
		}
	}
	d.cliff(m, x, y)
	d.here(m, x, y)
	d.addf(`<rect class="axis" x="%d" y="%d" width="%d" height="%d"/>`, svgLeft, d.top+svgTop, wide, high)
	d.labels(m, x, y)
	d.scale(m)
}

// box is where something is drawn.
type box struct{ x, y, wide, high float64 }

// cell draws one point: with words to hover.
func (d *drawing) cell(c *grid.Cell, b box, words string) {
	class, step := "", -1
	switch {
	case c.Runs == 0: // a cross: refused, or not done
		d.addf(`<path class="axis" d="M%.2f %.2fl%.2f %.2fm%.2f 0l%.2f %.2f"/>`, b.x+b.wide/3, b.y+b.high/3, b.wide/3, b.high/3, -b.wide/3, b.wide/3, -b.high/3)
		class = "unknown"
	case c.Verdict.Endless():
		class = "endless"
	case c.WithLoss == 0:
		class = "none"
	default:
		step = stepOf(c.Lost.Median, d.most)
		class = stepClass(step)
	}
	d.addf(`<rect class=%q x="%.2f" y="%.2f" width="%.2f" height="%.2f"><title>%s</title></rect>`, class, b.x, b.y, b.wide, b.high, escaped(words))
	if class == "none" {
		d.addf(`<circle class="dot" cx="%.2f" cy="%.2f" r="%.2f"/>`, b.x+b.wide/2, b.y+b.high/2, min(1.5, b.wide/6, b.high/6))
	}
	const roomX, roomY = 30, 14 // for a figure
	if step >= 0 && b.wide >= roomX && b.high >= roomY {
		on := "onlittle"
		if step >= firstDark {
			on = "onmuch"
		}
		d.addf(`<text class=%q text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, on, b.x+b.wide/2, b.y+b.high/2+4, escaped(svgFigure(c)))
	}
}

// svgFigure is the loss of a cell: of the median run, which may have none.
func svgFigure(c *grid.Cell) string {
	if c.Lost.Median == 0 {
		return string(record.Rare)
	}
	return figure(engine.Time(c.Lost.Median))
}

// stepOf is which step of the scale a loss has: the last one is the most of all.
func stepOf(lost, most int64) int {
	return min(int(int64(len(cividis))*lost/max(most, 1)), len(cividis)-1)
}

// pointWords name a point and what is lost there.
func pointWords(m *grid.Map, x, y int) string {
	words := m.X.Name + " " + m.X.Values[x].Text
	if m.Y != nil {
		words += ", " + m.Y.Name + " " + m.Y.Values[y].Text
	}
	c := m.At(x, y)
	if c.Runs == 0 {
		return words + ": " + cellLost(c)
	}
	return fmt.Sprintf("%s: %s, in %d of %d runs", words, cellLost(c), c.WithLoss, c.Runs)
}

// hereOf is where the input stands on an axis, -1 where it is outside of it, or that is not known.
func hereOf(a *knob.Axis, here string) int {
	if here == "" {
		return -1
	}
	return a.Index(here)
}

// hereOn is where the input stands on both axes; in the first row where there is but one.
func hereOn(m *grid.Map) (i, j int) {
	i = hereOf(m.X, m.HereX)
	if m.Y != nil {
		j = hereOf(m.Y, m.HereY)
	}
	return i, j
}

// here draws a frame round the input's own point, where both axes have it; where one has it, a triangle outside of the map, at its column or row.
func (d *drawing) here(m *grid.Map, x, y func(int) float64) {
	i, j := hereOn(m)
	if i < 0 || j < 0 {
		d.beside(m, i, j, x, y)
		return
	}
	for _, frame := range []struct {
		class string
		inset float64
	}{{"herein", 3}, {"here", 3}} {
		d.addf(`<rect class=%q x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="3"><title>the input as it is</title></rect>`,
			frame.class, x(i)+frame.inset, y(j+1)+frame.inset, x(i+1)-x(i)-2*frame.inset, y(j)-y(j+1)-2*frame.inset)
	}
}

// beside draws a triangle that points at the column, or at the row, in which the input would stand if the map went on.
func (d *drawing) beside(m *grid.Map, i, j int, x, y func(int) float64) {
	const title = "<title>the input as it is: not on the map</title>"
	switch {
	case i >= 0:
		d.addf(`<path class="beside" d="M%.1f %.1fl-5 7h10z">%s</path>`, (x(i)+x(i+1))/2, y(0)+1, title)
	case m.Y != nil && j >= 0:
		d.addf(`<path class="beside" d="M%.1f %.1fl7 -5v10z">%s</path>`, x(len(m.X.Values))+1, (y(j)+y(j+1))/2, title)
	}
}

// labels writes the axes' names and as many values as have room.
func (d *drawing) labels(m *grid.Map, x, y func(int) float64) {
	bottom := d.top + svgTop + fieldHigh(m)
	const room = 52 // pixels a label
	for i, step := 0, every(m.X, int(x(1)-x(0)), room); i < len(m.X.Values); i += step {
		d.addf(`<text text-anchor="middle" x="%.1f" y="%d">%s</text>`, (x(i)+x(i+1))/2, bottom+22, escaped(m.X.Values[i].Text))
	}
	d.addf(`<text class="title" text-anchor="middle" x="%d" y="%d">%s</text>`, (svgLeft+svgWidth-svgRight)/2, bottom+46, escaped(m.X.Name))
	if m.Y == nil {
		return
	}
	const high = 18
	for j, step := 0, every(m.Y, int(y(0)-y(1)), high); j < len(m.Y.Values); j += step {
		d.addf(`<text text-anchor="end" x="%d" y="%.1f">%s</text>`, svgLeft-8, (y(j)+y(j+1))/2+4, escaped(m.Y.Values[j].Text))
	}
	d.addf(`<text class="title" text-anchor="middle" transform="translate(20 %d) rotate(-90)">%s</text>`, d.top+svgTop+fieldHigh(m)/2, escaped(m.Y.Name))
}

// every is how many values of an axis share a label.
func every(a *knob.Axis, pixels, room int) int {
	step := 1
	for step*max(pixels, 1) < room && step < len(a.Values) {
		step++
	}
	return step
}

// entry is a line of the legend.
type entry struct{ class, words string }

// line is the class of the entry of the legend that is a line.
const line = "cliff"

// scale draws what the colours and marks of a map mean.
func (d *drawing) scale(m *grid.Map) {
	const swatch, left = 18, svgWidth - svgRight + 24
	row := func(i int) int { return d.top + svgTop + i*(swatch+4) }
	for i, t := range d.entries(m) {
		switch t.class {
		case line:
			d.addf(`<path class=%q d="M%d %dh%d"/>`, line, left, row(i)+swatch/2, swatch)
			d.addf(`<text x="%d" y="%d">%s</text>`, left+swatch+6, row(i)+14, t.words)
			continue
		case "beside":
			d.addf(`<path class="beside" d="M%d %dl-5 7h10z"/>`, left+swatch/2, row(i)+5)
			d.addf(`<text x="%d" y="%d">%s</text>`, left+swatch+6, row(i)+14, t.words)
			continue
		}
		d.addf(`<rect class=%q x="%d" y="%d" width="%d" height="%d"/>`, t.class, left, row(i), swatch, swatch)
		if t.class == "none" {
			d.addf(`<circle class="dot" cx="%d" cy="%d" r="1.5"/>`, left+swatch/2, row(i)+swatch/2)
		}
		d.addf(`<text x="%d" y="%d">%s</text>`, left+swatch+6, row(i)+14, escaped(t.words))
	}
}

// entries are those of the legend that a map needs.
func (d *drawing) entries(m *grid.Map) []entry {
	var out []entry
	has := func(is func(*grid.Cell) bool) bool {
		return slices.ContainsFunc(m.Cells, func(c grid.Cell) bool { return is(&c) })
	}
	if has((*grid.Cell).Clean) {
		out = append(out, entry{"none", "nothing lost"})
	}
	if d.most > 0 {
		out = append(out, entry{stepClass(0), "little"}, entry{stepClass(len(cividis) - 1), span(engine.Time(d.most))})
	}
	if has(func(c *grid.Cell) bool { return c.Verdict.Endless() }) {
		out = append(out, entry{"endless", "does not end"})
	}
	if has(func(c *grid.Cell) bool { return c.Refused != "" }) {
		out = append(out, entry{"unknown", "x  refused"})
	}
	if len(m.Cliff()) > 0 {
		out = append(out, entry{line, "the loss ends"})
	}
	if i, j := hereOn(m); i >= 0 && j >= 0 {
		out = append(out, entry{"here", "as it is"})
	} else if i >= 0 || m.Y != nil && j >= 0 {
		out = append(out, entry{"beside", "as it is"})
	}
	return out
}
