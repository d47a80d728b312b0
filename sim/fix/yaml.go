package fix

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// edit is a change of one field. Where the field is not in the manifest yet, or becomes a block of lines, the edit has the
// YAML to paste: with the fields above it that are missing, too, indented from the first of them on.
func (t *target) edit(path, from, to string, block ...string) record.Edit {
	e := record.Edit{Path: path, From: from, To: to}
	o := t.w.Object
	if o == nil {
		return e
	}
	p := o.At(path)
	e.File, e.Line = p.File, p.Line
	missing := !o.Has(path)
	if missing {
		e.From = ""
	}
	if !missing && len(block) == 0 {
		return e
	}
	names := strings.Split(path, ".")
	first := len(names) - 1
	for missing && first > 0 && !o.Has(strings.Join(names[:first], ".")) {
		first--
	}
	const step = "  "
	indent := ""
	for _, name := range names[first : len(names)-1] {
		e.YAML = append(e.YAML, indent+name+":")
		indent += step
	}
	last := indent + names[len(names)-1] + ":"
	if len(block) == 0 {
		e.YAML = append(e.YAML, last+" "+to)
		return e
	}
	e.YAML = append(e.YAML, last)
	for _, line := range block {
		e.YAML = append(e.YAML, indent+step+line)
	}
	return e
}
