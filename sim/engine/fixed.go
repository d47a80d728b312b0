package engine

import "math/bits"

// Fixed-point arithmetic with 32 fractional bits, for the curves of distributions: equal on
// every platform, which floating point is not (Go fuses multiplication and addition on some).

// one is 1.0 in Q32.
const one = 1 << 32

// mulQ32 multiplies two non-negative Q32 numbers, rounding down.
func mulQ32(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi<<32 | lo>>32
}

// exp2Roots holds 2^(2^-k) in Q32 for k = 1..32, by repeated square roots of 2.
func exp2Roots() [33]uint64 {
	var roots [33]uint64
	x := uint64(2 * one)
	for k := 1; k <= 32; k++ {
		x = sqrtQ32(x)
		roots[k] = x
	}
	return roots
}

// sqrtQ32 returns the square root of a Q32 number, rounded down: bit by bit, the largest r
// with r*r <= x.
func sqrtQ32(x uint64) uint64 {
	var r uint64
	for bit := uint64(1) << 47; bit > 0; bit >>= 1 {
		if t := r | bit; mulQ32(t, t) <= x {
			r = t
		}
	}
	return r
}

// exp2Q32 returns 2^x in Q32 for x = n + frac/2^32, with n from -32 to 30.
func exp2Q32(x int64, roots *[33]uint64) uint64 {
	n, frac := x>>32, uint64(x)&(one-1)
	y := uint64(one)
	for k := 1; k <= 32; k++ {
		if frac>>(32-k)&1 == 1 {
			y = mulQ32(y, roots[k])
		}
	}
	switch {
	case n > 30:
		return one << 30
	case n >= 0:
		return y << n
	case n < -32:
		return 0
	default:
		return y >> -n
	}
}

// log2Ratio returns log2(a/b) in Q32 for a >= b > 0: the whole part by shifts, then a bit of
// the fraction per squaring.
func log2Ratio(a, b uint64) int64 {
	n := int64(0)
	for b <= a/2 {
		b, n = 2*b, n+1
	}
	x, _ := bits.Div64(a>>32, a<<32, b) // a/b, at least 1 and less than 2
	result := n << 32
	for bit := int64(one >> 1); bit > 0; bit >>= 1 {
		x = mulQ32(x, x)
		if x >= 2*one {
			x >>= 1
			result += bit
		}
	}
	return result
}
