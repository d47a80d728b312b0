package engine

import (
	"math"
	"testing"
)

// Powers of two are within the fixed point's range, and the largest or nothing beyond it.
func TestPowersOfTwo(t *testing.T) {
	t.Parallel()
	roots := exp2Roots()
	for _, c := range []struct {
		x    float64
		want float64
	}{
		{0, 1}, {1, 2}, {-1, 0.5}, {0.5, math.Sqrt2}, {-0.5, 1 / math.Sqrt2}, {3.25, math.Pow(2, 3.25)}, {29.5, math.Pow(2, 29.5)}, {-31, math.Pow(2, -31)}, {-32, math.Pow(2, -32)},
		{30, 1 << 30}, {31, 1 << 30}, {31.5, 1 << 30}, {100, 1 << 30}, {-33, 0}, {-100, 0},
	} {
		got := float64(exp2Q32(int64(c.x*float64(one)), &roots)) / float64(one)
		if math.Abs(got-c.want) > c.want*1e-8+1/float64(one) {
			t.Errorf("2^%v = %v, want %v", c.x, got, c.want)
		}
	}
}
