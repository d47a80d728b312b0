package engine

import "math"

// ln2 is the natural logarithm of 2 in Q32.
const ln2 = 2977044472

// Gap returns the time from one event of a Poisson process to the next, for a mean of such times and
// a draw: -mean x ln(u), with u uniform from 0 to 1.
func Gap(mean Time, draw uint64) Time {
	return mulTime(mulTime(mean, log2Ratio(math.MaxUint64, max(draw, 1))), ln2)
}

// Ln is the natural logarithm of a whole number from 1, in Q32: it has one value on all machines.
func Ln(n uint64) int64 { return int64(mulQ32(uint64(log2Ratio(n, 1)), ln2)) }
