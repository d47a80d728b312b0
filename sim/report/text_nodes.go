package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// noNode says that a case cannot end because pods find no node.
func noNode(c *record.Case) bool {
	return c.Waits() && strings.Contains(c.Stuck.Why, "nodes are available")
}

// untilBack says of pods that find no node while theirs is drained when they come back: they had room on it. "" for other cases.
func untilBack(c *record.Case) string {
	if c.Action != scenario.ActionDrain || !noNode(c) {
		return ""
	}
	return " until the node is uncordoned or replaced"
}

// meanwhile says how many of a workload's pods serve until then, "" where that is not known, or they are none.
func meanwhile(c *record.Case) string {
	if u := c.Usable; untilBack(c) != "" && u.Now > 0 && u.Now < u.Of {
		return fmt.Sprintf("; %d of %d serve meanwhile", u.Now, u.Of)
	}
	return ""
}

// madeUp says of what cannot end for want of a node that nobody chose how many there are, and with how many it ends.
func (t *text) madeUp(c *record.Case) []string {
	number, settle, ok := assumed(c, "nodes")
	if !ok || !noNode(c) {
		return nil
	}
	var ends, waits []string
	for i := range c.Alternatives {
		switch a := &c.Alternatives[i]; {
		case a.ID != "nodes" || a.Verdict == record.NotJudged:
		case a.Verdict.Endless() || a.ForGood:
			waits = append(waits, leading(a.Value))
		default:
			ends = append(ends, leading(a.Value))
		}
	}
	words := leading(number) + " nodes"
	if zones, _, made := assumed(c, "zones"); made && strings.Contains(c.Stuck.What, "zone") {
		words += " in the zones " + zones
	}
	words += ", for the input has no Node"
	so := string(c.Verdict)
	if c.ForGood() {
		so = "for ever"
	}
	switch {
	case len(ends) > 0:
		words += "; with " + oneOf(ends) + " it is not " + so
	case len(waits) > 0:
		words += "; with " + oneOf(waits) + " it is " + so + ", too"
	}
	return []string{words + inBrackets(t.way(settle))}
}

// assumed is what a case assumes of something, and what says it otherwise; ok is false where it assumes nothing.
func assumed(c *record.Case, id string) (value, settle string, ok bool) {
	for i := range c.Assumptions {
		if a := &c.Assumptions[i]; a.ID == id {
			return a.Value, a.Settle, true
		}
	}
	return "", "", false
}

// leading is the number that a value begins with: "6" of "6, twice as many as pods".
func leading(value string) string {
	return value[:len(value)-len(strings.TrimLeft(value, "0123456789"))]
}

// oneOf lists numbers of which each is enough, the least first: "4, 6 or 9".
func oneOf(numbers []string) string {
	sorted.By(numbers, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	last := len(numbers) - 1
	if last == 0 {
		return numbers[0]
	}
	return strings.Join(numbers[:last], ", ") + " or " + numbers[last]
}
