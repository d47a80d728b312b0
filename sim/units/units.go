package units

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// MaxSpan bounds every time a user can give: longer runs end by other bounds first, and sums
// of a few of them do not overflow.
const MaxSpan = 10 * 365 * 24 * engine.Hour

// ParseDuration reads "15s", "1m30s", "250ms": a number needs a unit, and nothing is
// negative. Fractions such as "1.5s" are exact down to the nanosecond.
func ParseDuration(s string) (engine.Time, error) {
	const want = `want a duration with a unit, such as "250ms", "15s" or "1m30s"`
	if _, ok := Decimal(s, 9); ok || s == "" {
		return 0, fmt.Errorf("%q has no unit: %s", s, want)
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no duration: %s", s, want)
	case d < 0:
		return 0, fmt.Errorf("%q is negative: %s", s, want)
	case engine.FromDuration(d) > MaxSpan:
		return 0, fmt.Errorf("%q is longer than 10 years", s)
	}
	return engine.FromDuration(d), nil
}

// ParseSpan reads what programs take as a time: a duration with a unit, or a number of units.
func ParseSpan(s string, unit engine.Time) (engine.Time, bool) {
	if n, ok := Decimal(s, 0); ok {
		if n > uint64(MaxSpan/unit) {
			return 0, false
		}
		return engine.Time(n) * unit, true
	}
	t, err := ParseDuration(s)
	return t, err == nil
}

// RateUnit is what a Rate counts in: a thousandth of a request a second.
const RateUnit = 1000

// MaxRate bounds a rate: a million requests a second.
const MaxRate = 1_000_000 * RateUnit

// ParseRate reads "200/s", "30/m", "2000/h" into thousandths of a request a second.
func ParseRate(s string) (int, error) {
	const want = `want requests in a time, such as "200/s", "30/m" or "0.5/s"`
	number, unit, ok := strings.Cut(s, "/")
	milli, isNumber := Decimal(strings.TrimSpace(number), 3)
	if !ok || !isNumber {
		return 0, fmt.Errorf("%q is no rate: %s", s, want)
	}
	per := uint64(0)
	switch strings.TrimSpace(unit) {
	case "s":
		per = 1
	case "m", "min":
		per = 60
	case "h":
		per = 3600
	default:
		return 0, fmt.Errorf("%q is no rate: %s", s, want)
	}
	switch {
	case milli%per != 0:
		return 0, fmt.Errorf("%q is no whole number of thousandths of a request a second", s)
	case milli/per == 0:
		return 0, fmt.Errorf("%q is no traffic: leave the entry out, or %s", s, want)
	case milli/per > MaxRate:
		return 0, fmt.Errorf("%q is more than 1000000/s", s)
	}
	return int(milli / per), nil
}

// Decimal reads a plain non-negative decimal number times 10^places, exactly: "1.5" with 3
// places is 1500. It is not ok when digits would be lost or it does not fit 63 bits.
func Decimal(s string, places int) (uint64, bool) {
	whole, frac, point := strings.Cut(s, ".")
	if !Digits(whole) && (!point || whole != "") || point && !Digits(frac) {
		return 0, false
	}
	for len(frac) > places {
		if frac[len(frac)-1] != '0' {
			return 0, false
		}
		frac = frac[:len(frac)-1]
	}
	text := strings.TrimLeft(whole+frac+strings.Repeat("0", places-len(frac)), "0")
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, false
	}
	return n, true
}

// Digits says whether a text is decimal digits and nothing else.
func Digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

var errNumber = errors.New("no number")

// Scientific reads a decimal number with an optional exponent, such as "1.5e-05", times
// 10^places, rounded down to an integer. Digits past that are cut off.
func Scientific(s string, places int) (uint64, error) {
	mantissa, exponent, has := strings.Cut(strings.ToLower(s), "e")
	e := 0
	if has {
		n, err := strconv.Atoi(exponent)
		if err != nil || n < -400 || n > 400 {
			return 0, errNumber
		}
		e = n
	}
	whole, frac, point := strings.Cut(mantissa, ".")
	if !Digits(whole) || point && !Digits(frac) {
		return 0, errNumber
	}
	shift := e + places - len(frac)
	text := whole + frac
	switch {
	case shift >= 0:
		text += strings.Repeat("0", shift)
	case -shift >= len(text):
		text = "0"
	default:
		text = text[:len(text)+shift]
	}
	text = strings.TrimLeft(text, "0")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, errNumber
	}
	return n, nil
}

// RateText writes a rate as it is read: "100/s", "0.5/s".
func RateText(r int) string {
	s := strconv.Itoa(r / RateUnit)
	if frac := r % RateUnit; frac != 0 {
		s += "." + strings.TrimRight(strconv.Itoa(RateUnit + frac)[1:], "0")
	}
	return s + "/s"
}
