package cli

import (
	"io"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// tableColumns is how many columns a table may have that is read line by line.
const tableColumns = 4

// writeTable writes a table that is no wider than the terminal. What is the same for several rows, their first cell, is a
// heading; of a table with more columns than a line has room for, each row is a paragraph that says what its cells are.
func writeTable(w io.Writer, rows [][]string) error {
	p := page.New(page.Columns(columns(w)))
	switch {
	case len(rows[0]) <= tableColumns:
		p.Table(0, rows)
	case repeats(rows):
		grouped(p, rows)
	default:
		paragraphs(p, rows)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// repeats says whether rows that follow each other begin with the same cell.
func repeats(rows [][]string) bool { return len(rows) > 2 && rows[1][0] == rows[2][0] }

// grouped writes a table for each first cell, with that and the rest of its first row as its heading.
func grouped(p *page.Page, rows [][]string) {
	for from := 1; from < len(rows); {
		to := from
		var group [][]string
		for ; to < len(rows) && rows[to][0] == rows[from][0]; to++ {
			if to > from {
				group = append(group, rows[to][1:])
			}
		}
		p.Blank()
		p.Text(rows[from][0]+"  ", strings.Join(strings.Fields(strings.Join(rows[from][1:], " ")), " "))
		p.Table(2, group)
		from = to
	}
}

// paragraphs writes a paragraph for each row: its first cell, and beside it the others with what they are.
func paragraphs(p *page.Page, rows [][]string) {
	widest := 0
	for _, row := range rows[1:] {
		widest = max(widest, page.Width(row[0]))
	}
	widest = min(widest, p.Width()/3)
	for _, row := range rows[1:] {
		parts := []string{row[1]}
		for i, cell := range row[2:] {
			if cell != "" {
				parts = append(parts, label(rows[0][i+2])+" "+cell)
			}
		}
		prefix := row[0] + strings.Repeat(" ", max(2, widest+2-page.Width(row[0])))
		p.Hanging(prefix, widest+2, strings.Join(parts, "; "))
	}
}

// label is a column's heading inside a sentence.
func label(heading string) string {
	if heading == "SETTING" {
		return "say it with"
	}
	return strings.ReplaceAll(strings.ToLower(heading), "sigterm", "SIGTERM")
}
