package check

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Expect says what of a case's expectation did not come true, nil when all did or nothing was
// expected. Bounds hold for every run, causes for all runs together.
func Expect(c *Case) []string {
	e := c.Expectation
	if e == nil {
		return nil
	}
	var out []string
	unmet := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if e.FailedMax != nil && c.RequestsLost.Max > int64(*e.FailedMax) {
		unmet("failed: %d in seed %d, more than max %d", c.RequestsLost.Max, c.WorstSeed, *e.FailedMax)
	}
	if e.FailedMin != nil && c.RequestsLost.Min < int64(*e.FailedMin) {
		unmet("failed: only %d in one of the runs, less than min %d", c.RequestsLost.Min, *e.FailedMin)
	}
	if e.LostSecondsMax != nil && c.LostSeconds.Max > int64(*e.LostSecondsMax) {
		unmet("lostSeconds: %s in one of the runs, more than max %s", engine.Time(c.LostSeconds.Max).Seconds(), e.LostSecondsMax.Seconds())
	}
	if e.LostSecondsMin != nil && c.LostSeconds.Min < int64(*e.LostSecondsMin) {
		unmet("lostSeconds: only %s in one of the runs, less than min %s", engine.Time(c.LostSeconds.Min).Seconds(), e.LostSecondsMin.Seconds())
	}
	if e.Verdict != "" && string(c.Verdict) != e.Verdict {
		unmet("verdict: %s, not %s", c.Verdict, e.Verdict)
	}
	out = append(out, expectCauses(c)...)
	if e.UsablePodsMin != nil || e.UsablePodsMax != nil {
		unmet("usablePods: runs do not record the number of usable pods yet, so this cannot be checked")
	}
	if len(e.Order) > 0 {
		unmet("order: runs do not record their story yet, so this cannot be checked")
	}
	return out
}

func expectCauses(c *Case) []string {
	e := c.Expectation
	var seen, out []string
	for _, x := range c.Causes {
		if word := x.Cause.String(); !slices.Contains(seen, word) {
			seen = append(seen, word)
		}
	}
	for _, word := range seen {
		if len(e.CausesOnly) > 0 && !slices.Contains(e.CausesOnly, word) {
			out = append(out, fmt.Sprintf("causes: %s occurred, and is not among only", word))
		}
		if slices.Contains(e.CausesNone, word) {
			out = append(out, fmt.Sprintf("causes: %s occurred, though none of it was expected", word))
		}
	}
	for _, word := range e.CausesSome {
		if !slices.Contains(seen, word) {
			out = append(out, fmt.Sprintf("causes: %s did not occur", word))
		}
	}
	return out
}
