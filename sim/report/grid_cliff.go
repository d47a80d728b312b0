package report

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/grid"
)

// cliff draws the edge between loss and none, with the value at which nothing is lost any more beside each of its steps.
func (d *drawing) cliff(m *grid.Map, x, y func(int) float64) {
	var across, down []grid.Edge // edges of points beside each other, and above each other
	var way strings.Builder
	for _, e := range m.Cliff() {
		if e.Below {
			across = append(across, e)
			fmt.Fprintf(&way, "M%.1f %.1fH%.1f", x(e.X), y(e.Y+1), x(e.X+1))
		} else {
			down = append(down, e)
			fmt.Fprintf(&way, "M%.1f %.1fV%.1f", x(e.X+1), y(e.Y), y(e.Y+1))
		}
	}
	if way.Len() > 0 { // with an edge in the colour of the paper: it passes beside all colours of the scale
		for _, class := range []string{"beneath", "cliff"} {
			d.addf(`<path class=%q d="%s"/>`, class, way.String())
		}
	}
	alike := func(a, b grid.Edge) bool { return m.At(a.X, a.Y).Clean() == m.At(b.X, b.Y).Clean() } // of two sides
	for _, s := range stepsOf(down, func(a, b grid.Edge) bool { return a.X == b.X && a.Y+1 == b.Y && alike(a, b) }) {
		d.steps(m, s, x, y)
	}
	if len(down) == 0 { // the other axis alone decides
		for _, s := range stepsOf(across, func(a, b grid.Edge) bool { return a.Y == b.Y && a.X+1 == b.X && alike(a, b) }) {
			d.level(m, s, x, y)
		}
	}
}

// step is a straight part of the cliff.
type step struct{ first, last grid.Edge }

// stepsOf joins edges that go on straight, with nothing lost on the same side. Each has at most one that follows it.
func stepsOf(edges []grid.Edge, follows func(a, b grid.Edge) bool) []step {
	var out []step
next:
	for _, e := range edges {
		for i := range out {
			if follows(out[i].last, e) {
				out[i].last = e
				continue next
			}
		}
		out = append(out, step{e, e})
	}
	return out
}

// steps writes the value of X on the side of a step on which nothing is lost, where it has room: into the point beside it, over its dot, or
// beginning there where that is too narrow.
func (d *drawing) steps(m *grid.Map, s step, x, y func(int) float64) {
	const high, beside, letter = 13, 6, 8 // pixels
	if y(s.first.Y)-y(s.last.Y+1) < high {
		return
	}
	column, edge, anchor := s.first.X+1, x(s.first.X+1)+beside, "start"
	if m.At(s.first.X, s.first.Y).Clean() {
		column, edge, anchor = s.first.X, x(s.first.X+1)-beside, "end"
	}
	text := m.X.Values[column].Text
	if x(column+1)-x(column) > letter*float64(len([]rune(text)))+beside {
		edge, anchor = (x(column)+x(column+1))/2, "middle"
	}
	d.addf(`<text class="value" text-anchor=%q x="%.1f" y="%.1f">%s</text>`, anchor, edge, (y(s.first.Y)+y(s.last.Y+1))/2+4, escaped(text))
}

// level writes the value of Y on the side of a level line on which nothing is lost.
func (d *drawing) level(m *grid.Map, s step, x, y func(int) float64) {
	const above, below = -6, 15 // pixels
	row, at := s.first.Y+1, y(s.first.Y+1)+above
	if m.At(s.first.X, s.first.Y).Clean() {
		row, at = s.first.Y, y(s.first.Y+1)+below
	}
	d.addf(`<text class="value" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, (x(s.first.X)+x(s.last.X+1))/2, at, escaped(m.Y.Values[row].Text))
}
