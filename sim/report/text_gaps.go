package report

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// gaps says for how long each pod of a StatefulSet is gone, a line each StatefulSet: whoever needs that pod, its peers among them, has to do
// without. Of what does not end no time is known.
func (t *text) gaps(c *record.Case) {
	if c.Stuck != nil {
		return
	}
	label := "In turn"
	var lines []string
	for i := range c.Gaps {
		g := &c.Gaps[i]
		words := gapWords(g)
		if words == "" {
			continue
		}
		if len(c.Gaps) > 1 {
			words = t.short(g.Workload) + ": " + words
		}
		if len(g.Pods) < 2 || g.Most.Max > 1 {
			label = "Gone"
		}
		lines = append(lines, words)
	}
	t.labelled(label, lines)
}

// gapWords are "store-2 is gone for 17.4 s, store-1 for 16.9 s and store-0 for 17 s, one at a time"; "" where no pod comes back, as after
// scaling down, or none is gone for a moment.
func gapWords(g *record.Gaps) string {
	const most = 4
	var each []string
	var longest int64
	for i, p := range g.Pods {
		if p.NotBack > 0 {
			return ""
		}
		longest = max(longest, p.For.Max)
		words := p.Pod + " for " + span(engine.Time(p.For.Median))
		if i == 0 {
			words = p.Pod + " is gone for " + span(engine.Time(p.For.Median))
		}
		each = append(each, words)
	}
	if longest == 0 {
		return ""
	}
	words := ""
	switch n := len(each); {
	case n == 1:
		words = each[0]
	case n > most:
		words = fmt.Sprintf("%s, %s and so on to %s", each[0], each[1], each[n-1])
	default:
		words = strings.Join(each[:n-1], ", ") + " and " + each[n-1]
	}
	switch n := g.Most.Max; {
	case len(each) == 1:
	case n == 1:
		words += ", one at a time"
	default:
		words += fmt.Sprintf(", up to %d at once", n)
	}
	if p := &g.Pods[0].For; len(each) > 1 || p.Min < p.Max {
		words += fmt.Sprintf(" (medians; at most %s)", span(engine.Time(longest)))
	}
	return words
}
