package engine

import (
	"math"
	"strconv"
	"time"
)

// Time is virtual time: nanoseconds since the run began.
type Time int64

// Units of virtual time.
const (
	Nanosecond  Time = 1
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
	Minute           = 60 * Second
	Hour             = 60 * Minute
)

// Never is later than every event.
const Never Time = math.MaxInt64

// FromDuration turns a duration into virtual time.
func FromDuration(d time.Duration) Time { return Time(d) }

// Clock is the time on a wall clock that began with the run, for code that asks for one.
func (t Time) Clock() time.Time { return time.Unix(0, int64(t)).UTC() }

// Duration turns a span of virtual time into a duration.
func (t Time) Duration() time.Duration { return time.Duration(t) }

// Add returns t+d, or Never when that is past the end of time.
func (t Time) Add(d Time) Time {
	if d > 0 && t > Never-d {
		return Never
	}
	return t + d
}

// Seconds returns the time in seconds with at most 6 decimals, truncated, without an exponent
// and without trailing zeros: "2.108", "0", "-0.5".
func (t Time) Seconds() string {
	sign := ""
	if t < 0 {
		sign, t = "-", -t
	}
	micros := int64(t / Microsecond)
	whole, frac := micros/1e6, micros%1e6
	s := sign + strconv.FormatInt(whole, 10)
	if frac == 0 {
		if whole == 0 {
			return "0"
		}
		return s
	}
	digits := strconv.FormatInt(1e6+frac, 10)[1:]
	end := len(digits)
	for digits[end-1] == '0' {
		end--
	}
	return s + "." + digits[:end]
}

// MarshalJSON writes the time as a number of seconds.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(t.Seconds()), nil }

// TruncateToSecond returns the whole second t lies in: metav1.Time keeps no more.
func (t Time) TruncateToSecond() Time { return t - t%Second }
