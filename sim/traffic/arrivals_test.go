package traffic

import (
	"math"
	"math/big"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

func poisson(seed uint64) *arrivals {
	p := &arrivals{process: Poisson, interval: 10 * ms, draws: engine.NewStream(seed, "test", "arrivals")}
	p.begin()
	return p
}

// The exponential distribution: mean, variance mean^2, and P(X > 3 mean) = e^-3; and a gap says
// nothing of the next one.
func TestGapsAreExponential(t *testing.T) {
	t.Parallel()
	const n, mean = 1_000_000, float64(10 * ms)
	p := poisson(1)
	sum, squares, products, beyond, last := 0.0, 0.0, 0.0, 0.0, mean
	was := p.next
	for range n {
		p.pass()
		x := float64(p.next - was)
		was = p.next
		sum += x
		squares += x * x
		products += (x - mean) * (last - mean)
		last = x
		if x > 3*mean {
			beyond++
		}
	}
	if got := sum / n; math.Abs(got-mean) > 4*mean/math.Sqrt(n) {
		t.Errorf("mean %v", got)
	}
	if got := squares/n - sum/n*sum/n; math.Abs(got/mean/mean-1) > 0.02 {
		t.Errorf("variance %v of mean^2", got/mean/mean)
	}
	if got := products / n / mean / mean; math.Abs(got) > 4/math.Sqrt(n) {
		t.Errorf("correlation of neighbours %v", got)
	}
	if q := math.Exp(-3); math.Abs(beyond-n*q) > 4*math.Sqrt(n*q) {
		t.Errorf("%v beyond three means, want %v", beyond, n*q)
	}
}

// Whether arrivals are taken one by one or passed at once, in whatever steps, they are the same.
func TestArrivalsAreCountedAsTheyAreDrawn(t *testing.T) {
	t.Parallel()
	for _, process := range []Arrivals{Poisson, Constant} {
		for seed := range uint64(50) {
			one := &arrivals{process: process, interval: 10 * ms, draws: engine.NewStream(seed, "test", "arrivals")}
			all := &arrivals{process: process, interval: 10 * ms, draws: engine.NewStream(seed, "test", "arrivals")}
			one.begin()
			all.begin()
			steps := engine.NewStream(seed, "test", "steps")
			limit := engine.Time(0)
			for i := range uint64(40) {
				limit += engine.Time(engine.Below(steps.Draw(i), int(300*ms)))
				n := uint64(0)
				for one.next < limit {
					one.pass()
					n++
				}
				if got := all.passUntil(limit); got != n || all.next != one.next || all.count != one.count {
					t.Fatalf("process %d, seed %d: until %s s %d arrivals, then number %d at %s s; one by one %d, %d, %s s",
						process, seed, limit.Seconds(), got, all.count, all.next.Seconds(), n, one.count, one.next.Seconds())
				}
			}
		}
	}
}

// The table is the sum of e^-8 8^k/k!, and the guide finds the place in it.
func TestPoissonTable(t *testing.T) {
	t.Parallel()
	const precision = 400
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }
	weight, whole := number(1), number(0) // 8^k/k!, and their sum: e^8
	term := number(1)
	for k := 1; k < 300; k++ {
		whole.Add(whole, term)
		term.Mul(term, number(slotMean)).Quo(term, number(float64(k)))
	}
	sum := number(0)
	for k, have := range poissonTable {
		sum.Add(sum, weight)
		weight.Mul(weight, number(slotMean)).Quo(weight, number(float64(k+1)))
		share := new(big.Float).SetPrec(precision).Quo(sum, whole)
		want, _ := share.SetMantExp(share, 64).Uint64()
		if have != want {
			t.Errorf("entry %d is %#x, want %#x", k, have, want)
		}
	}
	for g, from := range poissonFrom {
		least, n := uint64(g)<<60, 0
		for n < mostInSlot && poissonTable[n] <= least {
			n++
		}
		if n != int(from) {
			t.Errorf("from %d for %#x, want %d", from, least, n)
		}
	}
	if mostInSlot+1 > slotDraws {
		t.Errorf("a slot of %d requests has more than %d draws", mostInSlot, slotDraws)
	}
}
