package cli

import (
	"io"

	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// printFields prints the reference of a Scenario's fields: as text an entry of some lines each, since the words of some are long.
func (c *simCommand) printFields() error {
	fields := scenario.Fields()
	if c.output == "text" {
		p := page.New(page.Columns(columns(c.std.Out)))
		for _, f := range fields {
			writeField(p, &f)
		}
		_, err := io.WriteString(c.std.Out, p.String())
		return err
	}
	rows := [][]string{{"FIELD", "TYPE", "DEFAULT", "WHAT"}}
	for _, f := range fields {
		rows = append(rows, []string{f.Path, f.Type, f.Default, f.About})
	}
	return c.printRows(rows)
}

// writeField writes a field's path, and below it what the field is for, its type and its default.
func writeField(p *page.Page, f *scenario.FieldDoc) {
	head := f.Type
	if f.Default != "" {
		head += "; default: " + f.Default
	}
	p.Verbatim(f.Path)
	p.Text("    ", f.About)
	p.Text("    ", head)
}
