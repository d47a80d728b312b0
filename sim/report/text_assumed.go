package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// deciding writes, for a case that depends, one line for each assumption that decides.
func (t *text) deciding(c *check.Case) {
	if c.Verdict != check.Depends {
		return
	}
	for i := range c.Assumptions {
		a := &c.Assumptions[i]
		if e, _ := c.EffectOf(a.ID); e != check.VerdictEffect {
			continue
		}
		var parts []string
		for _, alt := range c.Alternatives {
			if alt.ID == a.ID && alt.Effect == check.VerdictEffect {
				parts = append(parts, fmt.Sprintf("%s with %s", alternativeWords(&alt), alt.Value))
			}
		}
		t.line("        Depends on %s: %s; settle it with %s", a.What, strings.Join(parts, ", "), a.Settle)
	}
}

func alternativeWords(a *check.Alternative) string {
	if a.Verdict == check.Holds {
		return "holds"
	}
	return fmt.Sprintf("%s (%s)", a.Verdict, span(engine.Time(a.LostSeconds.Median)))
}

// assumptions lists what was taken for granted in the shown cases and whether it matters. What
// changed nothing is a count.
func (t *text) assumptions(shown []*check.Case) {
	r := &Result{}
	for _, c := range shown {
		r.assume(c)
	}
	if len(r.Assumptions) == 0 {
		return
	}
	tried := false
	for i := range r.Assumptions {
		tried = tried || r.Assumptions[i].Effect != nil
	}
	rows := [][]string{{"ASSUMED", "", "BASIS", "settle it with"}}
	if tried {
		rows[0] = []string{"ASSUMED, and does it matter?", "", "", "settle it with"}
	}
	nothing, untried := 0, 0
	for i := range r.Assumptions {
		a := &r.Assumptions[i]
		words, shows := matters(a, tried)
		switch {
		case shows || t.opts.Verbose:
			rows = append(rows, []string{"  " + a.What, a.Value, words, a.Settle})
		case a.Effect != nil:
			nothing++
		default:
			untried++
		}
	}
	if len(rows) > 1 {
		t.columns(rows)
	} else {
		t.line("%s", rows[0][0])
	}
	switch {
	case nothing+untried == 0:
	case !tried:
		t.line("  %s of a small cluster (-v, --list latencies)", count(untried, "latency", "latencies"))
	case nothing == 0:
		t.line("  %d more were not varied (-v)", untried)
	default:
		t.line("  %d more changed nothing when varied, %d were not varied (-v)", nothing, untried)
	}
	for _, n := range r.NotModelled {
		direction := map[string]string{"more": "more losses in reality", "fewer": "fewer losses in reality"}[n.Direction]
		t.line("  Not modelled: %s, %s (%s)", n.Object, n.What, cmp.Or(direction, "more or fewer losses in reality"))
	}
	t.line("")
}

// matters says in words whether an assumption does, and whether it is worth a line: when
// assumptions were tried, those that change something, else all but the latencies.
func matters(a *Assumption, tried bool) (words string, shows bool) {
	switch {
	case !tried:
		return a.Basis, !strings.HasPrefix(a.ID, "latency.")
	case a.Effect == nil:
		return "not varied", false
	case *a.Effect == string(check.NoEffect):
		return "no", false
	default:
		return effectWords(a), true
	}
}

// effectWords says what other values of an assumption do: the verdict they change to, or what
// is lost from the least to the most.
func effectWords(a *Assumption) string {
	if *a.Effect == string(check.VerdictEffect) {
		for _, alt := range a.Alternatives {
			if alt.Effect == string(check.VerdictEffect) {
				return "yes: " + alt.Verdict + " with " + shortValue(alt.Value)
			}
		}
	}
	least, most := a.Alternatives[0].LostSeconds.Median, a.Alternatives[0].LostSeconds.Median
	for _, alt := range a.Alternatives {
		least, most = min(least, alt.LostSeconds.Median), max(most, alt.LostSeconds.Median)
	}
	values := make([]string, len(a.Alternatives))
	for i := range a.Alternatives {
		values[i] = shortValue(a.Alternatives[i].Value)
	}
	if least == most {
		return fmt.Sprintf("size: %s with %s", span(least), values[0])
	}
	return fmt.Sprintf("size: %s-%s lost", figure(least), span(most))
}

// shortValue is a value without its explanation.
func shortValue(v string) string {
	head, _, _ := strings.Cut(v, ":")
	return head
}
