package record

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
	if met(c) && unasked(c) {
		unmet("requests: none was sent in any run, so that nothing could be lost")
	}
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
	out = append(out, expectUsable(c)...)
	out = append(out, expectGaps(c)...)
	for i := range c.Runs {
		if c.Runs[i].Out != "" {
			unmet("order: %s, in seed %d", c.Runs[i].Out, c.Runs[i].Seed)
			break
		}
	}
	return out
}

// met says that something is expected of requests which a case meets that has none.
func met(c *Case) bool {
	e := c.Expectation
	return e.Verdict != string(NotJudged) && (e.FailedMax != nil || e.LostSecondsMax != nil || len(e.CausesOnly)+len(e.CausesNone) > 0)
}

// expectUsable looks at how few pods could answer, in the first run in which they are too few or too many.
func expectUsable(c *Case) []string {
	e := c.Expectation
	for i := range c.Runs {
		switch u, seed := c.Runs[i].Usable, c.Runs[i].Seed; {
		case e.UsablePodsMin != nil && u.Min < *e.UsablePodsMin:
			return []string{fmt.Sprintf("usablePods: only %d in seed %d, less than min %d", u.Min, seed, *e.UsablePodsMin)}
		case e.UsablePodsMax != nil && u.Min > *e.UsablePodsMax:
			return []string{fmt.Sprintf("usablePods: never fewer than %d in seed %d, more than max %d", u.Min, seed, *e.UsablePodsMax)}
		}
	}
	return nil
}

// expectGaps looks at the gaps of StatefulSets in each run; one without any is shorter than any least one.
func expectGaps(c *Case) (out []string) {
	e := c.Expectation
	for i := range c.Runs {
		least, most := c.Runs[i].gapBounds()
		switch seed := c.Runs[i].Seed; {
		case e.GapSecondsMax != nil && most > *e.GapSecondsMax:
			return []string{fmt.Sprintf("gapSeconds: %s in seed %d, more than max %s", most.Seconds(), seed, e.GapSecondsMax.Seconds())}
		case e.GapSecondsMin != nil && least == engine.Never:
			return []string{fmt.Sprintf("gapSeconds: no pod of a StatefulSet goes in seed %d", seed)}
		case e.GapSecondsMin != nil && least < *e.GapSecondsMin:
			return []string{fmt.Sprintf("gapSeconds: only %s in seed %d, less than min %s", least.Seconds(), seed, e.GapSecondsMin.Seconds())}
		}
	}
	return nil
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
