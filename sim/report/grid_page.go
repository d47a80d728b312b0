package report

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/grid"
)

// SweepPage is a sweep as a page shows it: the picture, and a table of each map with the same figures.
type SweepPage struct {
	Title   string // what is lost over what
	Picture string // SVG, as WriteSweepSVG writes it
	Style   string // what stands in the picture's style element
	Seen    string // how sure the figures are
	Partial bool   // it was interrupted
	Maps    []SweepTable
}

// SweepTable is a map in words: a row a value of Y, or one row where there is none.
type SweepTable struct {
	Title   string
	AsItIs  string
	Unknown bool     // each point is behind the load balancer that loses most there
	Cliffs  []string // from where on nothing is lost
	Refused []string // points that cannot be, each by its name and with its reason
	X, Y    string   // the axes' names; Y may be ""
	Columns []string
	Rows    []SweepRow
}

// SweepRow is a value of Y, and what is lost at each of X.
type SweepRow struct {
	Name  string
	Cells []SweepPoint
}

// SweepPoint is a point in words. Here says that the input is there; Clean that nothing is lost.
type SweepPoint struct {
	Lost, Runs  string
	Here, Clean bool
}

// PageOfSweep is a sweep for a page.
func PageOfSweep(r *grid.Result) (*SweepPage, error) {
	var picture strings.Builder
	if err := WriteSweepSVG(&picture, r); err != nil {
		return nil, err
	}
	p := &SweepPage{Title: "Traffic lost over " + sweptWords(r), Picture: picture.String(), Style: svgStyle, Partial: r.Interrupted}
	if len(r.Maps) > 0 {
		p.Seen = seen(r.Runs) + " All else is as the report of the input assumes it."
	}
	for i := range r.Maps {
		p.Maps = append(p.Maps, sweepTable(&r.Maps[i]))
	}
	return p, nil
}

func sweepTable(m *grid.Map) SweepTable {
	t := SweepTable{Title: sweepTitle(m), AsItIs: asItIs(m) + ".", Unknown: m.Unknown, Cliffs: cliffWords(m), X: m.X.Name}
	for x := range m.X.Values {
		t.Columns = append(t.Columns, m.X.Values[x].Text)
	}
	if m.Y != nil {
		t.Y = m.Y.Name
	}
	for y := range m.Rows() {
		row := SweepRow{}
		if m.Y != nil {
			row.Name = m.Y.Values[y].Text
		}
		for x := range m.X.Values {
			c := m.At(x, y)
			here := x == hereOf(m.X, m.HereX) && (m.Y == nil || y == hereOf(m.Y, m.HereY))
			row.Cells = append(row.Cells, SweepPoint{Lost: cellLost(c), Runs: lossyRuns(c), Here: here, Clean: c.Clean()})
			if c.Refused != "" {
				t.Refused = append(t.Refused, c.Refused)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
