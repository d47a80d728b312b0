package grid

// At is the cell of a value of X and one of Y, by their numbers.
func (m *Map) At(x, y int) *Cell { return &m.Cells[y*len(m.X.Values)+x] }

// Rows is how many values Y has, 1 without it.
func (m *Map) Rows() int {
	if m.Y == nil {
		return 1
	}
	return len(m.Y.Values)
}

// Clean says that nothing is lost, and that what was begun comes to its end.
func (c *Cell) Clean() bool { return c.Runs > 0 && c.WithLoss == 0 && !c.Verdict.Endless() }

// Clean is a stretch of one row in which nothing is lost.
type Clean struct {
	From, To int // numbers of values of X
}

// Stretches are those of a row, in order.
func (m *Map) Stretches(y int) []Clean {
	var out []Clean
	for x := range m.X.Values {
		switch {
		case !m.At(x, y).Clean():
		case len(out) > 0 && out[len(out)-1].To == x-1:
			out[len(out)-1].To = x
		default:
			out = append(out, Clean{x, x})
		}
	}
	return out
}

// Edge lies between two neighbours of which one loses something and the other one nothing: right of (X, Y), or below it.
type Edge struct {
	X, Y  int
	Below bool
}

// Cliff are all edges: where loss begins.
func (m *Map) Cliff() []Edge {
	var out []Edge
	for y := range m.Rows() {
		for x := range m.X.Values {
			here := m.At(x, y)
			if here.Runs == 0 {
				continue
			}
			if x+1 < len(m.X.Values) && differ(here, m.At(x+1, y)) {
				out = append(out, Edge{X: x, Y: y})
			}
			if y+1 < m.Rows() && differ(here, m.At(x, y+1)) {
				out = append(out, Edge{X: x, Y: y, Below: true})
			}
		}
	}
	return out
}

func differ(a, b *Cell) bool { return b.Runs > 0 && a.Clean() != b.Clean() }

// Most is the largest loss of all cells: of the median run.
func (m *Map) Most() int64 {
	most := m.Here.Lost.Median
	for i := range m.Cells {
		most = max(most, m.Cells[i].Lost.Median)
	}
	return most
}
