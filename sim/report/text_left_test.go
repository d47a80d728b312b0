package report

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// A median of nearly nothing is no comfort to whoever has the run that loses a minute.
func TestWhatAFixLeavesIsNotItsMedianAlone(t *testing.T) {
	t.Parallel()
	const ms, s = int64(engine.Millisecond), int64(engine.Second)
	for name, c := range map[string]struct {
		median, own, anew int64
		want              string
	}{
		"nothing":                              {0, 0, 0, "preStop: sleep 15"},
		"nothing in most runs":                 {0, 0, 20 * ms, "preStop: sleep 15: up to 0.02 s left"},
		"nothing in most runs, a minute once":  {0, 0, 60 * s, "preStop: sleep 15: up to 60 s left"},
		"hardly anything, and never more":      {30 * ms, 50 * ms, 900 * ms, "preStop: sleep 15: 0.03 s left"},
		"hardly anything, and a minute once":   {30 * ms, 50 * ms, 55 * s, "preStop: sleep 15: 0.03 s left, up to 55 s"},
		"... in the runs that it was found on": {30 * ms, 61 * s, 55 * s, "preStop: sleep 15: 0.03 s left, up to 61 s"},
		"about the same in all runs":           {4 * s, 5 * s, 8 * s, "preStop: sleep 15: 4 s left"},
	} {
		f := &record.Fix{Title: "preStop: sleep 15 instead of sleep 5", Cases: []record.FixedCase{{
			After: record.Range{Median: c.median, Max: c.own}, Confirm: record.Confirm{LostSeconds: record.Range{Max: c.anew}},
		}}}
		if got := fixInWords(f, "", 9); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A cell that has room for one change says which that is, its budget in short, and how many come with it.
func TestAFixOfManyPartsInACell(t *testing.T) {
	t.Parallel()
	f := &record.Fix{Title: "replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1), terminationGracePeriodSeconds: 60 instead of 30, preStop: sleep 15"}
	for most, want := range map[int]string{
		1: "replicas: 2 with a budget, 2 more",
		2: "replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1), grace period 60, 1 more",
		3: "replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1), grace period 60, preStop: sleep 15",
	} {
		if got := fixInWords(f, "", most); got != want {
			t.Errorf("room for %d: %q, want %q", most, got, want)
		}
	}
}

// What a fix leaves of a case is nothing that it leaves of another one.
func TestWhatIsLeftIsOfTheCase(t *testing.T) {
	t.Parallel()
	left := func(id string, seconds int64) record.FixedCase {
		r := record.Range{Min: seconds * int64(engine.Second), Median: seconds * int64(engine.Second), Max: seconds * int64(engine.Second)}
		return record.FixedCase{ID: id, After: r, Confirm: record.Confirm{LostSeconds: r}}
	}
	f := &record.Fix{Title: "x", Cases: []record.FixedCase{left("a", 0), left("b", 3)}}
	for id, want := range map[string]string{"a": "x", "b": "x: 3 s left", "c": "x: 3 s left"} {
		if got := fixInWords(f, id, 9); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

// A change that leaves the median run as it was helps those that lose most, or it is in vain.
func TestAChangeThatLeavesTheMedianAsItWas(t *testing.T) {
	t.Parallel()
	const cs = int64(10 * engine.Millisecond)
	of := func(median, most int64) record.Range { return record.Range{Median: median * cs, Max: most * cs} }
	for name, c := range map[string]struct {
		was, is record.Range
		want    string // "" where it is in vain
		left    string
	}{
		"half of it":            {of(80, 90), of(40, 45), "0.8 s -> 0.4 s", "x: 0.4 s left"},
		"the same":              {of(5, 9), of(5, 9), "", "x: up to 0.09 s left"},
		"less of the most":      {of(5, 145), of(5, 8), "at most 1.45 s -> at most 0.08 s, in the median run 0.05 s as before", "x: up to 0.08 s left"},
		"nothing in the median": {of(0, 145), of(0, 8), "at most 1.45 s -> at most 0.08 s", "x: up to 0.08 s left"},
	} {
		x := record.FixedCase{Before: c.was, After: c.is}
		if got := lessLost(&x); inVain(&x) != (c.want == "") || c.want != "" && got != c.want {
			t.Errorf("%s: %q, in vain %t, want %q", name, got, inVain(&x), c.want)
		}
		if got := fixInWords(&record.Fix{Title: "x", Cases: []record.FixedCase{x}}, "", 9); got != c.left {
			t.Errorf("%s: %q, want %q", name, got, c.left)
		}
	}
}
