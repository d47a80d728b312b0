package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestEventsRunInTotalOrder(t *testing.T) {
	t.Parallel()
	e := New(1, Limits{})
	a, b := e.Register("a"), e.Register("b")
	var got []string
	add := func(at Time, c Class, o Owner, name string) {
		e.At(at, c, o, name, func() { got = append(got, name) })
	}
	add(2, ClassTimer, a, "later")
	add(1, ClassTimer, b, "second owner")
	add(1, ClassTimer, a, "first owner, scheduled first")
	add(1, ClassTimer, a, "first owner, scheduled second")
	add(1, ClassDelivery, b, "news before timers")
	add(1, ClassAction, b, "actions before news")
	if err := e.RunUntil(Never); err != nil {
		t.Fatal(err)
	}
	want := []string{"actions before news", "news before timers", "first owner, scheduled first", "first owner, scheduled second", "second owner", "later"}
	if !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

func TestHeapKeepsOrderUnderRandomSchedulingAndCancelling(t *testing.T) {
	t.Parallel()
	e := New(1, Limits{})
	o := e.Register("x")
	s := NewStream(7, "test", "times")
	var last Time
	ran, cancelled := 0, 0
	for i := uint64(0); i < 5000; i++ {
		h := e.At(Time(Below(s.Draw(i), 1000)), ClassTimer, o, "tick", func() {
			if e.Now() < last {
				t.Errorf("%d after %d", e.Now(), last)
			}
			last = e.Now()
			ran++
			if ran%3 == 0 && ran < 9000 {
				e.After(Time(ran%7), ClassTimer, o, "again", func() { ran++ })
			}
		})
		if i%5 == 0 && e.Cancel(h) {
			cancelled++
			if e.Cancel(h) {
				t.Error("cancelled twice")
			}
		}
	}
	if err := e.RunUntil(Never); err != nil {
		t.Fatal(err)
	}
	if cancelled != 1000 || ran < 4000 || e.Next() != Never {
		t.Errorf("ran %d, cancelled %d, next %d", ran, cancelled, e.Next())
	}
}

func TestSchedulingIntoThePastPanics(t *testing.T) {
	t.Parallel()
	e := New(1, Limits{})
	o := e.Register("x")
	if err := e.RunUntil(Second); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	e.At(Second-1, ClassTimer, o, "late", func() {})
}

func TestReachingALimitIsAnErrorWithAName(t *testing.T) {
	t.Parallel()
	for limit, limits := range map[string]Limits{"events": {Events: 10}, "time": {Time: Second}} {
		e := New(1, limits)
		o := e.Register("loop")
		var again func()
		again = func() { e.After(Second/5, ClassTimer, o, "again", again) }
		again()
		err := e.RunUntil(Never)
		var reached *LimitError
		if !errors.As(err, &reached) || reached.Limit != limit {
			t.Errorf("limit %s: %v", limit, err)
		}
	}
}

func TestDrawsDependOnWhoAsksForWhatAndNothingElse(t *testing.T) {
	t.Parallel()
	a := NewStream(1, "deployment/web 2 0", "start")
	if a.Draw(5) != NewStream(1, "deployment/web 2 0", "start").Draw(5) {
		t.Error("the same draw differs")
	}
	others := map[string]uint64{
		"seed":      NewStream(2, "deployment/web 2 0", "start").Draw(5),
		"component": NewStream(1, "deployment/web 2 1", "start").Draw(5),
		"purpose":   NewStream(1, "deployment/web 2 0", "stop").Draw(5),
		"counter":   a.Draw(6),
		"part":      a.Sub(0).Draw(5),
	}
	for what, other := range others {
		if other == a.Draw(5) {
			t.Errorf("another %s gives the same draw", what)
		}
	}
}

// Each letter of a name counts: two workloads whose names differ in the first or the last one alone draw nothing alike.
func TestNamesThatDifferInOneLetterDrawDifferently(t *testing.T) {
	t.Parallel()
	const name = "pod/web"
	for i := range len(name) {
		other := name[:i] + "x" + name[i+1:]
		if NewStream(1, name, "start").Draw(0) == NewStream(1, other, "start").Draw(0) {
			t.Errorf("%s draws what %s does", other, name)
		}
		if NewStream(1, "pod", name).Draw(0) == NewStream(1, "pod", other).Draw(0) {
			t.Errorf("what is drawn for %s is what is drawn for %s", other, name)
		}
	}
}

// The chi-square of 64 bins over 64,000 draws lies below 103 with probability 0.999.
func TestDrawsAreUniform(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func(i uint64) uint64{
		"by counter": NewStream(3, "a", "b").Draw,
		"by seed":    func(i uint64) uint64 { return NewStream(i, "a", "b").Draw(0) },
		"by name":    func(i uint64) uint64 { return NewStream(3, fmt.Sprint("pod ", i), "b").Draw(0) },
		"by part":    func(i uint64) uint64 { return NewStream(3, "a", "b").Sub(i).Draw(0) },
	} {
		var bins [64]int
		for i := uint64(0); i < 64000; i++ {
			bins[Below(draw(i), len(bins))]++
		}
		chi := 0.0
		for _, n := range bins {
			chi += float64(n-1000) * float64(n-1000) / 1000
		}
		if chi > 103 {
			t.Errorf("%s: chi-square %.1f", name, chi)
		}
	}
}

func TestHashSeesOrderTimeAndRecords(t *testing.T) {
	t.Parallel()
	run := func(change string) uint64 {
		e := New(1, Limits{})
		o := e.Register("x")
		first, second := "first", "second"
		if change == "order" {
			first, second = second, first
		}
		at := Second
		if change == "time" {
			at++
		}
		e.At(at, ClassTimer, o, first, func() {})
		e.At(2*Second, ClassTimer, o, second, func() {
			if change != "record" {
				e.Hash().Record("request", 1, 2)
			}
		})
		if err := e.RunUntil(Never); err != nil {
			t.Fatal(err)
		}
		return e.Hash().Sum()
	}
	base := run("")
	if base != run("") {
		t.Error("the same run hashes differently")
	}
	for _, change := range []string{"order", "time", "record"} {
		if run(change) == base {
			t.Errorf("another %s hashes the same", change)
		}
	}
}

func TestSecondsHaveAtMostSixDecimals(t *testing.T) {
	t.Parallel()
	for in, want := range map[Time]string{
		0: "0", Second: "1", 2*Second + 108*Millisecond: "2.108", -500 * Millisecond: "-0.5",
		1: "0", Microsecond: "0.000001", 13*Second + 600*Millisecond: "13.6", -1: "0",
	} {
		if got := in.Seconds(); got != want {
			t.Errorf("%d ns: %q, want %q", int64(in), got, want)
		}
	}
}

// Floats stay in tests: here they check the integer tables against the formulas.
func TestDistributionsHaveTheirQuantiles(t *testing.T) {
	t.Parallel()
	must := func(d Dist, err error) Dist {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	z := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	sigma := math.Log(300.0/20) / z(0.99)
	for _, c := range []struct {
		dist Dist
		want func(p float64) float64
	}{
		{must(Uniform(5*Millisecond, 30*Millisecond)), func(p float64) float64 { return 5e6 + p*25e6 }},
		{must(Normal(Second, 100*Millisecond)), func(p float64) float64 { return 1e9 + 1e8*z(p) }},
		{must(Lognormal(20*Millisecond, 300*Millisecond)), func(p float64) float64 { return 20e6 * math.Exp(sigma*z(p)) }},
		{must(Lognormal(40*Microsecond, 40*Microsecond)), func(float64) float64 { return 40e3 }},
		{must(Histogram([]Bucket{{Second, 10}, {2 * Second, 0}, {4 * Second, 30}})), func(p float64) float64 {
			if p <= 0.25 {
				return p * 4e9
			}
			return 2e9 + (p-0.25)/0.75*2e9
		}},
		{must(Histogram([]Bucket{{Second, 1}, {2 * Second, 1}})), func(p float64) float64 { return p * 2e9 }},
	} {
		for _, p := range []float64{0.05, 0.25, 0.5, 0.75, 0.95, 0.99} {
			got := float64(c.dist.Sample(uint64(p * math.MaxUint64)))
			if want := c.want(p); math.Abs(got-want) > 0.004*want+2 {
				t.Errorf("%s: quantile %v = %v, want %v", c.dist, p, got, want)
			}
		}
	}
}

// A distribution that is moved by a constant has each draw later by that, and so its mean and its bounds.
func TestAMovedDistributionIsTheSameLater(t *testing.T) {
	t.Parallel()
	uniform, err1 := Uniform(5*Millisecond, 30*Millisecond)
	same, err2 := Uniform(Second, Second)
	lognormal, err3 := Lognormal(20*Millisecond, 300*Millisecond)
	histogram, err4 := Histogram([]Bucket{{Second, 10}, {4 * Second, 30}})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	const shift = 3 * Second
	for _, d := range []Dist{Constant(0), Constant(Second), uniform, same, lognormal, histogram} {
		moved, near := d.Plus(shift), func(a, b Time) bool { return a-b <= Microsecond && b-a <= Microsecond }
		if !near(moved.Min(), d.Min()+shift) || !near(moved.Max(), d.Max()+shift) || math.Abs(float64(moved.Mean()-d.Mean()-shift)) > 0.001*float64(d.Mean())+1000 {
			t.Errorf("%s: from %v to %v, %v on average, and %v to %v, %v before", moved, moved.Min(), moved.Max(), moved.Mean(), d.Min(), d.Max(), d.Mean())
		}
		for i := range uint64(100) {
			draw := i * (math.MaxUint64 / 99)
			if got, was := moved.Sample(draw), d.Sample(draw); !near(got, was+shift) {
				t.Errorf("%s: %v, and %v before", moved, got, was)
			}
		}
	}
}

func TestDistributionsRefuseWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func() (Dist, error){
		"backwards":    func() (Dist, error) { return Uniform(2, 1) },
		"median 0":     func() (Dist, error) { return Lognormal(0, 1) },
		"p99 < median": func() (Dist, error) { return Lognormal(2, 1) },
		"deviation":    func() (Dist, error) { return Normal(1, -1) },
		"nothing":      func() (Dist, error) { return Histogram([]Bucket{{1, 0}}) },
		"disorder":     func() (Dist, error) { return Histogram([]Bucket{{2, 1}, {1, 1}}) },
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkEvents(b *testing.B) {
	e := New(1, Limits{})
	o := e.Register("x")
	s := NewStream(1, "bench", "delay")
	for i := range uint64(1000) {
		var again func()
		n := i
		again = func() { n += 1000; e.After(Time(s.Draw(n)>>40), ClassTimer, o, "tick", again) }
		again()
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Step(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	d, err := Lognormal(20*Millisecond, 300*Millisecond)
	if err != nil {
		b.Fatal(err)
	}
	s := NewStream(1, "bench", "service time")
	i := uint64(0)
	for b.Loop() {
		d.Sample(s.Draw(i))
		i++
	}
}

func TestAnEventWithANumberIsInOrderWithOthersAndCanBeCancelled(t *testing.T) {
	t.Parallel()
	e := New(1, Limits{})
	o := e.Register("x")
	var got []uint64
	add := func(n uint64) { got = append(got, n) }
	e.AtWith(2, ClassTimer, o, "with", add, 2)
	e.At(1, ClassTimer, o, "without", func() { add(1) })
	e.AfterWith(-1, ClassTimer, o, "at once", add, 0)
	h := e.AtWith(1, ClassTimer, o, "cancelled", add, 7)
	if !e.Cancel(h) || e.Cancel(h) {
		t.Error("an event with a number is cancelled once, and then no more")
	}
	if err := e.RunUntil(Never); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []uint64{0, 1, 2}) || e.Events() != 3 {
		t.Errorf("got %v, %d events", got, e.Events())
	}
}
