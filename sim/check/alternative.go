package check

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// loses says that a verdict is one of loss.
func (v Verdict) loses() bool { return v == Outage || v == Drops }

// Try records the runs of a case with another value of an assumption. They are compared with
// the case's own runs of the same seeds. When one of the two loses something in most runs and
// the other in none, the case depends on the assumption; a loss in one run or two may be
// chance. Alternatives without runs are left out.
func (c *Case) Try(id, value string, runs []Run) {
	if len(runs) == 0 || len(runs) > len(c.Runs) {
		return
	}
	other, own := Case{Clients: c.Clients, Runs: runs}, Case{Clients: c.Clients, Runs: c.Runs[:len(runs)]}
	other.Close()
	own.Close()
	a := Alternative{ID: id, Value: value, Verdict: other.Verdict, LostSeconds: other.LostSeconds, Effect: NoEffect}
	switch {
	case other.Verdict == NotJudged:
	case mostly(&other) && own.WithLoss == 0 || mostly(&own) && other.WithLoss == 0:
		a.Effect = VerdictEffect
		c.Verdict = Depends
	case differ(other.LostSeconds.Median, own.LostSeconds.Median):
		a.Effect = SizeEffect
	}
	c.Alternatives = append(c.Alternatives, a)
	if c.Verdict == Depends {
		c.Reason = c.dependsOn()
	}
}

func mostly(c *Case) bool { return 2*c.WithLoss > len(c.Runs) }

// differ says whether two medians of seconds lost are worth telling apart: by more than a
// tenth and more than a twentieth of a second.
func differ(a, b int64) bool {
	d := max(a-b, b-a)
	return d > int64(50*engine.Millisecond) && 10*d > max(a, b)
}

// dependsOn names the assumptions that decide.
func (c *Case) dependsOn() string {
	var parts []string
	for _, a := range c.Alternatives {
		if a.Effect == VerdictEffect {
			parts = append(parts, fmt.Sprintf("%s with %s %s", a.Verdict, a.ID, a.Value))
		}
	}
	return fmt.Sprintf("%s as assumed, %s", c.Central, strings.Join(parts, ", "))
}

// EffectOf is the greatest effect of an assumption; tried is false when no other value of it
// was tried.
func (c *Case) EffectOf(id string) (e Effect, tried bool) {
	e = NoEffect
	for _, a := range c.Alternatives {
		if a.ID != id {
			continue
		}
		tried = true
		if a.Effect == VerdictEffect || e == NoEffect {
			e = a.Effect
		}
	}
	return e, tried
}
