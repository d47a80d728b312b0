package controlplane

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Comparison is what came of holding the simulator to one recording.
type Comparison struct {
	// Differences are what is not the same, in words.
	Differences []string
	// Moments is how many events were compared by their time, Late by how much the simulation's were later than the recorded
	// ones, in order; negative where they were earlier.
	Moments int
	Late    []Seconds
	// Seed is that of the run.
	Seed uint64
	// Held is how many other statements were compared.
	Held int
}

// Tolerance is how far the k-th event of a kind may be from the recorded one: so much, and a part of the time since the
// beginning, since each wait adds a reaction that takes its own time.
type Tolerance struct {
	Least Seconds
	Part  float64
}

// Usual is the tolerance for recordings of the control plane of test/e2e. A slice may be written a second later than usual,
// or two: its controller found its own cache behind (docs/model/measured.md 1, stale cache).
func Usual() Tolerance { return Tolerance{Least: 0.6, Part: 0.03} }

const (
	staleCache Seconds = 2.1
	// look is how often kubectl looks whether pods are gone: one that goes at about that moment is seen then, or a second later.
	look Seconds = 1.1
)

// allowed is how far an event of a kind at a time may be.
func (t Tolerance) allowed(what What, at Seconds) Seconds {
	least := t.Least
	switch what {
	case Endpoint, EndpointGone:
		least += staleCache
	case Drained:
		least += look
	default:
	}
	return least + Seconds(t.Part)*max(0, at)
}

// Compare compares a recording with what was simulated of it.
func Compare(r *Recording, simulated []Event, t Tolerance) *Comparison {
	c := &Comparison{}
	was, made := newAccount(r, r.Events), newAccount(r, simulated)
	c.moments(was, made, t)
	for _, statement := range slices.Sorted(maps.Keys(union(was.says, made.says))) {
		c.Held++
		if want, got := was.says[statement], made.says[statement]; want != got {
			c.differ("%s: recorded %s, simulated %s", statement, cmp.Or(want, "none"), cmp.Or(got, "none"))
		}
	}
	slices.Sort(c.Late)
	return c
}

func union[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func (c *Comparison) differ(format string, args ...any) {
	c.Differences = append(c.Differences, fmt.Sprintf(format, args...))
}

// moments compares the times of events, the k-th of each kind with the k-th. Where waits are longer than the tolerance, that
// holds their order, too.
func (c *Comparison) moments(was, made *account, t Tolerance) {
	for _, name := range slices.Sorted(maps.Keys(union(was.series, made.series))) {
		want, got := was.series[name], made.series[name]
		what := What(strings.Fields(name)[0])
		if len(want) != len(got) {
			c.differ("%s: recorded %d times, simulated %d times", name, len(want), len(got))
		}
		worst, at := Seconds(0), -1
		for i := range min(len(want), len(got)) {
			late := got[i] - want[i]
			c.Moments++
			c.Late = append(c.Late, late)
			if over := max(late, -late) - t.allowed(what, want[i]); over > worst {
				worst, at = over, i
			}
		}
		if at >= 0 {
			c.differ("%s: the %s at %.3f s, simulated at %.3f s", name, ordinal(at+1), want[at], got[at])
		}
	}
}

// ordinal is "1st", "2nd", "11th".
func ordinal(n int) string {
	ending := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return fmt.Sprint(n, ending)
}
