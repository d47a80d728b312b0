package report

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// endless says that with another value of an assumption what is done never ends, where it does as assumed.
func endless(a *record.Alternative) bool { return a.Stuck != nil && a.Effect != record.NoEffect }

// waitsFor is what it waits for then, and the field behind that: ": the new pod has been restarted ... (web.yaml:29)"; "" where it ends.
func waitsFor(a *record.Alternative) string {
	if !endless(a) {
		return ""
	}
	words := ": " + a.Stuck.Why
	if a.Stuck.Line > 0 {
		words += fmt.Sprintf(" (%s:%d)", a.Stuck.File, a.Stuck.Line)
	}
	return words
}

// neverEnds are the other values with which what is done never ends, and what would let it go on, each once.
func neverEnds(c *record.Case) (conditions, remedies []string) {
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; endless(a) {
			conditions = append(conditions, condition(c, a)+waitsFor(a))
			remedies = distinct(remedies, a.Stuck.What)
		}
	}
	return conditions, remedies
}

// endsFor is 1 for an assumption with another value of which what is done never ends: the rest is only more or less of a loss.
func endsFor(c *record.Case, id string) int {
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; a.ID == id && endless(a) {
			return 1
		}
	}
	return 0
}

// nothing is what to do about a case that loses nothing: what lets it end with a value with which it would not, too.
func nothing(c *record.Case) []string {
	if _, remedies := neverEnds(c); len(remedies) > 0 {
		return []string{"nothing as assumed; where it would never end: " + strings.Join(remedies, "; ")}
	}
	if remedies := remediesLeftOut(c); len(remedies) > 0 {
		return remedies
	}
	return []string{"nothing"}
}

// remediesLeftOut are what to do about what is left out of a case: a verdict that does not count it says nothing of that.
func remediesLeftOut(c *record.Case) []string {
	var out []string
	for i := range c.NotModelled {
		if r := c.NotModelled[i].Remedy; r != "" {
			out = distinct(out, r)
		}
	}
	return out
}
