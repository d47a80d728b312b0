package engine

import (
	"math"
	"testing"
)

// Gaps are exponential: their mean is the mean, a part of exp(-x) is longer than x means.
func TestGapsOfAPoissonProcess(t *testing.T) {
	t.Parallel()
	const n = 200_000
	s := NewStream(1, "gaps", "test")
	var sum float64
	longer := map[float64]int{}
	for i := range uint64(n) {
		x := float64(Gap(5*Second, s.Draw(i))) / float64(5*Second)
		sum += x
		for _, than := range []float64{0.1, 1, 3, 6} {
			if x > than {
				longer[than]++
			}
		}
	}
	if mean := sum / n; math.Abs(mean-1) > 0.01 {
		t.Errorf("mean %f of the mean", mean)
	}
	for than, count := range longer { // order: each for itself
		p := math.Exp(-than)
		if off := math.Abs(float64(count) - n*p); off > 4*math.Sqrt(n*p*(1-p)) {
			t.Errorf("%d of %d gaps are longer than %g means, want %.0f", count, n, than, n*p)
		}
	}
	if least, most := Gap(5*Second, math.MaxUint64), Gap(5*Second, 0); least != 0 || most < 221*Second || most > 222*Second {
		t.Errorf("from %s to %s", least.Duration(), most.Duration())
	}
}
