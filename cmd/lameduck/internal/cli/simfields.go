package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// printFields prints the reference of a Scenario's fields: as text an entry of some lines each, since the words of some are long.
func (c *simCommand) printFields() error {
	fields := scenario.Fields()
	if c.output == "text" {
		for _, f := range fields {
			writeField(c.std.Out, &f)
		}
		return nil
	}
	rows := [][]string{{"FIELD", "TYPE", "DEFAULT", "WHAT"}}
	for _, f := range fields {
		rows = append(rows, []string{f.Path, f.Type, f.Default, f.About})
	}
	return c.printRows(rows)
}

// writeField writes "spec.until  duration, default 1h", and below it what the field is for.
func writeField(w io.Writer, f *scenario.FieldDoc) {
	head := f.Type
	if f.Default != "" {
		head += "; default: " + f.Default
	}
	fmt.Fprintln(w, f.Path)
	for _, text := range []string{f.About, head} {
		for _, line := range wrapped(text, listWidth-4) {
			fmt.Fprintln(w, "    "+line)
		}
	}
}

// listWidth is how wide a printed list is, in columns.
const listWidth = 100

// wrapped breaks a text into lines of at most so many bytes, between words.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
