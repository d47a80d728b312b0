package record

import (
	"cmp"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Try records the runs of a case with another value of an assumption. They are compared with
// the case's own runs of the same seeds. When one of the two loses something in most runs and
// the other nothing, or hardly anything, whether it is lost depends on the assumption; a loss in one run or two may be
// chance. Where either loses something in few of its runs medians say nothing: then it is in how many (rates).
// The verdict stays what it is as assumed. Alternatives without runs are left out. Try returns the effect.
func (c *Case) Try(id, value string, runs []Run) Effect {
	other, own, ok := c.against(runs)
	if !ok {
		return NoEffect
	}
	a := Alternative{ID: id, Value: value, Verdict: other.Verdict, LostSeconds: other.LostSeconds, ForGood: other.ForGood(), Lasting: other.Lasting(), Effect: NoEffect,
		Runs: len(runs), WithLoss: other.WithLoss, Shift: shift(&other, &own)}
	if c.hangs(&other, &own) {
		a.Stuck = other.Stuck
	}
	switch {
	case other.Verdict == NotJudged, other.ForGood() && own.ForGood(), a.Lasting > 0 && own.Lasting() > 0: // what does not end is as long as the run
	case mostly(&other) && hardly(&own) || mostly(&own) && hardly(&other), c.hangs(&other, &own), c.frees(&other, &own), other.ForGood() != own.ForGood():
		a.Effect = VerdictEffect
	case Differ(other.LostSeconds.Median, own.LostSeconds.Median) && c.apart(runs):
		a.Effect = SizeEffect
	default:
		a.Effect = c.rates(&other, &own)
	}
	if a.Effect == NoEffect && a.Verdict != NotJudged && !a.ForGood && a.Lasting == 0 {
		c.ofOneClient(&a, &other, &own)
	}
	c.Alternatives = append(c.Alternatives, a)
	return a.Effect
}

// ofOneClient finds the client of which a value that changes nothing of the case's loss halves the loss, or doubles it: the case's is that of the
// client that loses most.
func (c *Case) ofOneClient(a *Alternative, other, own *Case) {
	for i := range c.Clients {
		of := func(runs []Run) (out []engine.Time) {
			for k := range runs {
				out = append(out, runs[k].Streams[i].LostSeconds)
			}
			return out
		}
		was, _, _ := own.Client(i)
		is, _, _ := other.Client(i)
		less, more := min(was.Median, is.Median), max(was.Median, is.Median)
		if Differ(less, more) && 2*less <= more && more-less > max(a.Was-a.Is, a.Is-a.Was) && Apart(of(other.Runs), of(c.Runs)) {
			a.Client, a.Was, a.Is = c.Clients[i].Name, was.Median, is.Median
		}
	}
}

// Sporadic says that a case loses something in some of its runs, and in no more than half of them: its median is 0.
func (c *Case) Sporadic() bool { return c.WithLoss > 0 && !mostly(c) }

// rates is the effect of another value by the part of the runs that lose something: it is half as often, or twice, on the same seeds, and hardly
// by chance another part than that of all runs of the case.
func (c *Case) rates(other, own *Case) Effect {
	switch {
	case !uneven(other, own) || !unlike(other.WithLoss, len(other.Runs), c.WithLoss, len(c.Runs)):
		return NoEffect
	case hardly(other) != hardly(c):
		return VerdictEffect
	default:
		return SizeEffect
	}
}

// Unsure says that runs with another value lose something so much more often than those of the case with the same seeds, or less, that more of
// them may show an effect which these do not, or show that it is less than that on the verdict.
func (c *Case) Unsure(runs []Run) bool {
	other, own, ok := c.against(runs)
	return ok && len(runs) < len(c.Runs) && uneven(&other, &own) && !mostly(&other) && !mostly(&own) && c.rates(&other, &own) != SizeEffect
}

// uneven says that one of two cases of as many runs loses something twice as often as the other, or more.
func uneven(a, b *Case) bool {
	return a.WithLoss != b.WithLoss && max(a.WithLoss, b.WithLoss) >= 2*min(a.WithLoss, b.WithLoss)
}

// unlike says that j of m runs and k of n are not parts of one, with 99 % confidence: it is the score test, and one run alone proves nothing.
func unlike(j, m, k, n int) bool {
	off, all, both := int64(j*n-k*m), int64(n+m), int64(j+k)
	return max(j, k) > 1 && 1000*off*off*all > 6636*int64(n*m)*both*(all-both)
}

// shift is by how many per cent more runs with another value lose, all together, than as many of the case: less than 0 where it is less.
func shift(other, own *Case) int64 {
	var is, was int64
	for i := range own.Runs {
		is, was = is+int64(other.Runs[i].LostSeconds()/engine.Millisecond), was+int64(own.Runs[i].LostSeconds()/engine.Millisecond)
	}
	if was == 0 {
		return 0
	}
	return hundred * (is - was) / was
}

const hundred = 100

// Same says that runs with another value of an assumption come to the same as the first runs of the case so clearly that more
// of them would not show an effect: both lose in all runs or in none, and about as much.
func (c *Case) Same(runs []Run) bool {
	other, own, ok := c.against(runs)
	if !ok {
		return false
	}
	if stuck := c.StuckRuns(); stuck > 0 && stuck < len(c.Runs) {
		return false
	}
	here, there := own.LostSeconds.Median, other.LostSeconds.Median
	alike := !Differ(here, there) && !Differ(here, there+(there-here)) // also if they were twice as far apart
	return other.Verdict == own.Verdict && other.WithLoss == own.WithLoss && own.WithLoss%len(runs) == 0 && alike
}

// hangs says that with another value what is done cannot end in most runs, where it ends in most as assumed, or that it cannot in some, where
// it ends in all of as many, and the verdict of the case is not that already.
func (c *Case) hangs(other, own *Case) bool {
	if mostlyStuck(other) {
		return other.Verdict.Endless() && !mostlyStuck(own) && !mostlyStuck(c)
	}
	return other.Verdict.Endless() && !c.Verdict.Endless() && own.StuckRuns() == 0
}

func mostlyStuck(c *Case) bool { return 2*c.StuckRuns() > len(c.Runs) }

// frees says that what cannot end in some runs of the case, and in some of the first of them, comes to its end in all of these with another
// value, and that this is hardly chance.
func (c *Case) frees(other, own *Case) bool {
	if !c.Verdict.Endless() || other.StuckRuns() > 0 || own.StuckRuns() == 0 {
		return false
	}
	all := len(c.Runs)
	ended := uint64(all - c.StuckRuns()) //nolint:gosec // a count
	return mostlyStuck(own) || powQ32(ended*one/uint64(all), len(own.Runs)) <= one/hundred
}

// against are the figures of runs with another value, and of as many of the case's own.
func (c *Case) against(runs []Run) (other, own Case, ok bool) {
	if len(runs) == 0 || len(runs) > len(c.Runs) {
		return other, own, false
	}
	other, own = Case{Clients: c.Clients, Runs: runs}, Case{Clients: c.Clients, Runs: c.Runs[:len(runs)]}
	other.Close()
	own.Close()
	return other, own, true
}

// Perhaps says that runs with another value of an assumption come to another median than as many of the case, by chance or not: a change
// has to do with it, too.
func (c *Case) Perhaps(runs []Run) bool {
	other, own, ok := c.against(runs)
	return ok && Differ(other.LostSeconds.Median, own.LostSeconds.Median)
}

// WithoutWait says that another value of an assumption is that kube-proxy does not wait between two syncs.
func WithoutWait(id, value string) bool {
	return id == "proxy" && strings.HasPrefix(value, "minSyncPeriod 0")
}

// Blames says that another value of an assumption is without what most of a loss is put down to: whoever reads of the one looks for the other.
func (c *Case) Blames(id, value string) bool {
	return WithoutWait(id, value) && len(c.Causes) > 0 && c.Causes[0].Actor == ledger.ProxyWait
}

// Typical says that the first runs of a case lose, all together, no less than nine tenths of what as many of all do: where few runs lose most of
// it, what the others come to with another value says nothing about all of them.
func (c *Case) Typical(runs int) bool {
	var few, all int64
	for i := range c.Runs {
		lost := int64(c.Runs[i].LostSeconds() / engine.Millisecond)
		if all += lost; i < runs {
			few += lost
		}
	}
	return 10*few*int64(len(c.Runs)) >= 9*all*int64(runs)
}

// apart says that what runs with another value lose is hardly by chance more than what all runs of the case lose, or less.
func (c *Case) apart(runs []Run) bool { return Apart(lostIn(runs), lostIn(c.Runs)) }

// lostIn is what each run loses.
func lostIn(runs []Run) []engine.Time {
	out := make([]engine.Time, len(runs))
	for i := range runs {
		out[i] = runs[i].LostSeconds()
	}
	return out
}

// Apart says that figures of some runs are hardly by chance greater than those of others, or less: of two samples of one distribution the pairs in
// which the one is greater differ so much from those in which the other is in 6 of 1,000 (the test of Mann and Whitney). The medians of a few
// runs alone do not say it: where a pod comes back on its node in 5 s or on another one in 20 s, they are either.
func Apart(some, others []engine.Time) bool {
	more := 0
	for i := range some {
		for k := range others {
			more += cmp.Compare(some[i], others[k])
		}
	}
	n, all := len(some), len(others)
	const few = 20
	if all < few || max(more, -more) == n*all { // so few runs as somebody asked for are told as they are; or they are as far apart as can be
		return true
	}
	return 2*more*more >= 5*n*all*(n+all+1) // more than 2.7 deviations; the variance is n x all x (n + all + 1) / 3
}

func mostly(c *Case) bool { return 2*c.WithLoss > len(c.Runs) }

func hardly(c *Case) bool { return c.WithLoss == 0 || c.Verdict == Rare }

// Differ says whether two medians of seconds lost are worth telling apart: by more than a
// tenth and more than a twentieth of a second.
func Differ(a, b int64) bool {
	d := max(a-b, b-a)
	return d > int64(50*engine.Millisecond) && 10*d > max(a, b)
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
