// Package table turns what was measured into a table: a section for each size and mode, a line
// for each thing that was measured, a column for each proxy, and the ratio between the two. It
// answers which number stands where, and measures nothing.
package table

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Unit says how a value is written.
type Unit uint8

// The units. Seconds and Bytes are medians over runs and have a ratio; Of adds up.
const (
	Seconds Unit = iota
	Bytes
	Of // so many of Sample.N
)

// Row is something that is measured.
type Row struct {
	ID    string
	Title string
	Unit  Unit
}

// Sample is one value, in seconds, bytes or pieces.
type Sample struct {
	Value float64
	// N is from how many tries it comes; with Of, how many there were.
	N int
}

// Column is what one proxy did in one section, by row: a sample for each run.
type Column struct {
	Samples map[string][]Sample
	// Missing says why there is no sample, for every row that has none.
	Missing string
}

// Add appends the samples of a run.
func (c *Column) Add(run map[string]Sample) {
	if c.Samples == nil {
		c.Samples = map[string][]Sample{}
	}
	for id, s := range run { // order: each goes to a place of its own
		c.Samples[id] = append(c.Samples[id], s)
	}
}

// Section is a size in a mode.
type Section struct {
	Title   string
	Columns []Column // as many as the table has names
}

// Table is all of it.
type Table struct {
	Names []string
	// Compare adds the ratio of the second column to the first.
	Compare  bool
	Rows     []Row
	Sections []Section
}

// Quantile returns the smallest value that at least a share q of all values do not exceed. It
// sorts them. There has to be one.
func Quantile(values []float64, q float64) float64 {
	slices.Sort(values)
	i := int(math.Ceil(q*float64(len(values)))) - 1
	return values[max(i, 0)]
}

// Median returns the middle value, or the mean of the two.
func Median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// combine makes one sample of those of several runs.
func combine(u Unit, runs []Sample) Sample {
	var values []float64
	sum, n := 0.0, 0
	for _, s := range runs {
		values = append(values, s.Value)
		sum += s.Value
		n += s.N
	}
	if u == Of {
		return Sample{sum, n}
	}
	return Sample{Median(values), n}
}

// cells returns the table's lines, without those that nobody has a value for.
func (t *Table) cells(s *Section) [][]string {
	lines := [][]string{append([]string{s.Title}, t.Names...)}
	if t.Compare {
		lines[0] = append(lines[0], t.Names[1]+" : "+t.Names[0])
	}
	for _, row := range t.Rows {
		line, found := []string{row.Title}, false
		for _, c := range s.Columns {
			runs := c.Samples[row.ID]
			if len(runs) == 0 {
				line = append(line, c.Missing)
				continue
			}
			found = true
			line = append(line, write(row.Unit, combine(row.Unit, runs)))
		}
		if found {
			lines = append(lines, t.compared(line, row, s))
		}
	}
	if len(lines) == 1 {
		lines = append(lines, t.nothing(s))
	}
	return lines
}

func (t *Table) nothing(s *Section) []string {
	line := []string{"nothing measured"}
	for _, c := range s.Columns {
		line = append(line, c.Missing)
	}
	return t.compared(line, Row{}, s)
}

// compared appends the ratio to a line.
func (t *Table) compared(line []string, row Row, s *Section) []string {
	if !t.Compare {
		return line
	}
	a, b := s.Columns[0].Samples[row.ID], s.Columns[1].Samples[row.ID]
	if row.Unit == Of || len(a) == 0 || len(b) == 0 {
		return append(line, "")
	}
	return append(line, Ratio(combine(row.Unit, b).Value, combine(row.Unit, a).Value))
}

// Ratio writes a/b: "1/8.3" when a is smaller.
func Ratio(a, b float64) string {
	switch {
	case a <= 0 || b <= 0:
		return ""
	case a < b:
		return "1/" + significant(b/a)
	default:
		return significant(a / b)
	}
}

// significant writes a number with two significant digits, and whole ones from 10 on.
func significant(v float64) string {
	switch {
	case v >= 99.5:
		magnitude := math.Pow10(int(math.Log10(v)) - 1)
		return fmt.Sprintf("%.0f", math.Round(v/magnitude)*magnitude)
	case v >= 9.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 0.995:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

func write(u Unit, s Sample) string {
	switch u {
	case Bytes:
		return significant(s.Value/1e6) + " MB"
	case Of:
		return fmt.Sprintf("%.0f of %d", s.Value, s.N)
	default:
		out := duration(s.Value)
		if s.N > 1 {
			out += fmt.Sprintf(" (n=%d)", s.N)
		}
		return out
	}
}

func duration(seconds float64) string {
	switch {
	case seconds >= 0.9995:
		return significant(seconds) + " s"
	case seconds >= 0.000_995:
		return significant(seconds*1e3) + " ms"
	default:
		return significant(seconds*1e6) + " us"
	}
}

// Text returns the table for a terminal.
func (t *Table) Text() string {
	var b strings.Builder
	for i := range t.Sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		lines := t.cells(&t.Sections[i])
		widths := widths(lines)
		for _, line := range lines {
			var out strings.Builder
			for c, cell := range line {
				out.WriteString(cell + strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell)+2))
			}
			b.WriteString(strings.TrimRight(out.String(), " ") + "\n")
		}
	}
	return b.String()
}

func widths(lines [][]string) []int {
	out := make([]int, len(lines[0]))
	for _, line := range lines {
		for c, cell := range line {
			out[c] = max(out[c], utf8.RuneCountInString(cell))
		}
	}
	return out
}

// Markdown returns the table for a document.
func (t *Table) Markdown() string {
	var b strings.Builder
	for i := range t.Sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		lines := t.cells(&t.Sections[i])
		for n, line := range lines {
			b.WriteString("| " + strings.Join(line, " | ") + " |\n")
			if n == 0 {
				b.WriteString("|" + strings.Repeat("---|", len(line)) + "\n")
			}
		}
	}
	return b.String()
}
