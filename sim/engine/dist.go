package engine

import (
	"fmt"
	"math/bits"
)

// steps is the resolution of a quantile table: 1,024 intervals of equal probability.
const steps = 1 << stepBits

const stepBits = 10

// Dist is a distribution of times as a table of integer quantiles: entry i is not exceeded
// with probability i/1024. Sampling is a look-up and a linear interpolation in integers. The
// zero Dist is constant 0. It is a value and immutable.
type Dist struct {
	table *[steps + 1]Time // nil: constant or uniform
	value Time             // of a constant; the least of a uniform one
	width Time             // of a uniform one, whose table is computed when it is looked at; else 0
	mean  Time             // but for a uniform one
	name  string           // "" for a uniform one
}

// Constant always gives d.
func Constant(d Time) Dist {
	return Dist{value: d, mean: d, name: d.Duration().String()}
}

// Must returns a distribution that the program itself writes down; it panics where that is none.
func Must(d Dist, err error) Dist {
	if err != nil {
		panic(err)
	}
	return d
}

// Uniform gives every time from a to b with the same chance; a <= b.
func Uniform(a, b Time) (Dist, error) {
	if a > b {
		return Dist{}, fmt.Errorf("uniform: %s is after %s", a.Duration(), b.Duration())
	}
	if a == b {
		return Constant(a), nil
	}
	return Dist{value: a, width: b - a}, nil
}

// Normal is the normal distribution, cut off at 0 below.
func Normal(mean, deviation Time) (Dist, error) {
	if deviation < 0 {
		return Dist{}, fmt.Errorf("normal: the standard deviation %s is negative", deviation.Duration())
	}
	z := normalQuantiles()
	return fromTable(fmt.Sprintf("normal %s ± %s", mean.Duration(), deviation.Duration()), func(i int) Time {
		return max(0, mean+mulTime(deviation, zAt(z, i)))
	}), nil
}

// Lognormal is the lognormal distribution with a median and a 99th percentile.
func Lognormal(median, p99 Time) (Dist, error) {
	if median <= 0 || p99 < median {
		return Dist{}, fmt.Errorf("lognormal: want 0 < median <= p99, got %s and %s", median.Duration(), p99.Duration())
	}
	z, roots := normalQuantiles(), exp2Roots()
	perZ := int64(bits64Div(uint64(log2Ratio(uint64(p99), uint64(median))), z99))
	return fromTable(fmt.Sprintf("lognormal median %s p99 %s", median.Duration(), p99.Duration()), func(i int) Time {
		exponent := mulSigned(zAt(z, i), perZ)
		return mulTime(median, int64(exp2Q32(exponent, &roots)))
	}), nil
}

// z99 is the standard normal quantile of 0.99 in Q32.
const z99 = 9991599880

// bits64Div returns a/b as Q32 for Q32 numbers.
func bits64Div(a, b uint64) uint64 {
	q, _ := bits.Div64(a>>32, a<<32, b)
	return q
}

// Bucket is one bucket of a histogram: Count observations above the previous bucket's bound
// and up to Bound.
type Bucket struct {
	Bound Time
	Count uint64
}

// Histogram is what was measured: uniform inside each bucket, the first of which begins at 0.
func Histogram(buckets []Bucket) (Dist, error) {
	var total uint64
	last := Time(0)
	for _, b := range buckets {
		if b.Bound < last {
			return Dist{}, fmt.Errorf("histogram: bound %s after %s", b.Bound.Duration(), last.Duration())
		}
		last = b.Bound
		total += b.Count
	}
	if total == 0 {
		return Dist{}, fmt.Errorf("histogram: no observations")
	}
	return fromTable(fmt.Sprintf("histogram of %d observations", total), func(i int) Time {
		return histogramQuantile(buckets, total, i)
	}), nil
}

// histogramQuantile finds the bucket in which i/1024 of the observations are reached.
func histogramQuantile(buckets []Bucket, total uint64, i int) Time {
	rank := uint64(i) * total // in 1/1024 observations
	var below uint64
	lower := Time(0)
	for _, b := range buckets {
		count := b.Count * steps
		if b.Count > 0 && rank <= below+count {
			return lower + scaleTime(b.Bound-lower, rank-below, count)
		}
		below += count
		lower = b.Bound
	}
	return lower
}

func fromTable(name string, quantile func(i int) Time) Dist {
	var table [steps + 1]Time
	var sum Time
	for i := range table {
		table[i] = quantile(i)
	}
	for i := range steps {
		sum += meanOf(table[i], table[i+1])
	}
	return Dist{table: &table, mean: sum, name: name}
}

// meanOf is what an interval of a table adds to the mean.
func meanOf(low, high Time) Time { return (low + high) / 2 / steps }

// Sample turns a uniform draw into a time.
func (d *Dist) Sample(draw uint64) Time {
	if d.table == nil {
		return d.sampleWithoutTable(draw)
	}
	i := draw >> (64 - stepBits)
	low := d.table[i]
	part, _ := bits.Mul64(uint64(d.table[i+1]-low), draw<<stepBits)
	return low + Time(part)
}

func (d *Dist) sampleWithoutTable(draw uint64) Time {
	if d.width == 0 {
		return d.value
	}
	i := int(draw >> (64 - stepBits)) // below steps
	low, high := d.quantile(i), d.quantile(i+1)
	part, _ := bits.Mul64(uint64(high-low), draw<<stepBits)
	return low + Time(part)
}

// Plus returns the distribution moved by a constant.
func (d Dist) Plus(shift Time) Dist {
	if d.table == nil && d.width == 0 {
		return Constant(d.value + shift)
	}
	return fromTable(fmt.Sprintf("%s + %s", d, shift.Duration()), func(i int) Time { return d.quantile(i) + shift })
}

// Mean returns the mean of what Sample gives, to the resolution of its table.
func (d Dist) Mean() Time {
	if d.width > 0 {
		return d.value + d.width/2
	}
	return d.mean
}

// Min and Max return the bounds of what Sample gives.
func (d Dist) Min() Time { return d.quantile(0) }

// Max returns the upper bound of what Sample gives.
func (d Dist) Max() Time { return d.quantile(steps) }

// quantile is what is not exceeded with probability i/1024.
func (d Dist) quantile(i int) Time {
	switch {
	case d.table != nil:
		return d.table[i]
	case d.width > 0:
		hi, lo := bits.Mul64(uint64(d.width), uint64(i)) // 0 to steps
		return d.value + Time(hi<<(64-stepBits)|lo>>stepBits)
	default:
		return d.value
	}
}

// String names the distribution with its parameters.
func (d Dist) String() string {
	switch {
	case d.width > 0:
		return fmt.Sprintf("uniform %s-%s", d.value.Duration(), (d.value + d.width).Duration())
	case d.name == "":
		return "0s"
	default:
		return d.name
	}
}

// zAt returns the i/1024 quantile of the standard normal distribution in Q32.
func zAt(z *[steps/2 + 1]int64, i int) int64 {
	if i >= steps/2 {
		return z[i-steps/2]
	}
	return -z[steps/2-i]
}

// scaleTime returns t*num/den for a non-negative t.
func scaleTime(t Time, num, den uint64) Time {
	hi, lo := bits.Mul64(uint64(t), num)
	q, _ := bits.Div64(hi, lo, den)
	return Time(q)
}

// mulTime returns t times a signed Q32 number, for a non-negative t.
func mulTime(t Time, q int64) Time {
	if q < 0 {
		return -mulTime(t, -q)
	}
	hi, lo := bits.Mul64(uint64(t), uint64(q))
	return Time(hi<<32 | lo>>32)
}

// mulSigned multiplies a signed Q32 number with a non-negative one.
func mulSigned(a, b int64) int64 {
	if a < 0 {
		return -int64(mulQ32(uint64(-a), uint64(b)))
	}
	return int64(mulQ32(uint64(a), uint64(b)))
}
