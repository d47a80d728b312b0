package report

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/check"
)

// darkWords say in a line what becomes of the pods of a case that is not judged because clients
// choose among them; "" for other cases.
func darkWords(c *check.Case) string {
	d := c.Dark
	if d == nil {
		return ""
	}
	words := "; no pod is dark"
	if d.Most.Max > 0 {
		words = fmt.Sprintf("; a pod is dark for %s, at once %s of %d", spread(d.Pods), numbers(d.Most), c.Usable.Of)
	}
	return words + ", roll-out " + spread(d.Rollout)
}

// dark says it in full.
func (t *text) dark(c *check.Case) {
	d := c.Dark
	if d == nil {
		return
	}
	words := "A pod is always replaced before it stops answering"
	if d.Most.Max > 0 {
		words = fmt.Sprintf("A pod that stops answering is dark for %s, until another is ready in its place; at most %s of %d at once",
			spread(d.Pods), numbers(d.Most), c.Usable.Of)
	}
	t.line("        %s. The roll-out takes %s.", words, spread(d.Rollout))
	if n := unsettled(c); n > 0 {
		t.line("        %s had not come to rest at the end%s", count(n, "run", "runs"), unrestWords(c))
	}
}

// numbers writes the median with the range over runs: "1 (1-3)".
func numbers(r check.Range) string {
	if r.Min == r.Max {
		return thousands(r.Median)
	}
	return fmt.Sprintf("%s (%s-%s)", thousands(r.Median), thousands(r.Min), thousands(r.Max))
}
