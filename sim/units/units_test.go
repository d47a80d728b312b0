package units

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{ // want: it in full, or what is wrong with it in words
		{"15s", "15s"}, {"1m30s", "1m30s"}, {"250ms", "250ms"}, {"0s", "0s"}, {"1.5s", "1.5s"}, {"1h", "1h0m0s"}, {"100us", "100µs"}, {"7ns", "7ns"},
		{"15", "no unit"}, {"0", "no unit"}, {"1.5", "no unit"}, {"", "no unit"},
		{"1d", "no duration"}, {"s", "no duration"}, {"15 s", "no duration"}, {"soon", "no duration"}, {"NaNs", "no duration"},
		{"-1s", "negative"}, {"90000h", "longer than 10 years"}, {"87600h", "87600h0m0s"}, {"87600h1ns", "longer than 10 years"}, {"9999999999h", "no duration"},
	} {
		got, err := ParseDuration(tt.in)
		if err != nil {
			if !strings.Contains(tt.want, " ") && tt.want != "negative" || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q: got error %v, want %s", tt.in, err, tt.want)
			}
		} else if got.Duration().String() != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got.Duration(), tt.want)
		}
	}
}

// A program's setting without a unit is in the unit that the program counts in.
func TestParseSpan(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		unit engine.Time
		want string // empty: refused
	}{
		{"30", engine.Second, "30s"}, {"30", engine.Millisecond, "30ms"}, {"30s", engine.Millisecond, "30s"}, {"0", engine.Second, "0s"},
		{"315360000", engine.Second, "87600h0m0s"}, {"315360001", engine.Second, ""}, {"315360001", engine.Millisecond, "87h36m0.001s"},
		{"18446744073709551615", engine.Second, ""}, {"-1", engine.Second, ""}, {"1.5", engine.Second, ""}, {"soon", engine.Second, ""}, {"", engine.Second, ""},
	} {
		got, ok := ParseSpan(tt.in, tt.unit)
		if ok != (tt.want != "") || ok && got.Duration().String() != tt.want {
			t.Errorf("%q in units of %s: %s, %v; want %q", tt.in, tt.unit.Duration(), got.Duration(), ok, tt.want)
		}
	}
}

func TestParseRate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		want int
		err  string
	}{
		{"200/s", 200_000, ""}, {"30/m", 500, ""}, {"30/min", 500, ""}, {"36/h", 10, ""}, {"0.5/s", 500, ""}, {"0.001/s", 1, ""}, {"1000000/s", MaxRate, ""}, {"200 / s", 200_000, ""},
		{"200", 0, "no rate"}, {"200/d", 0, "no rate"}, {"/s", 0, "no rate"}, {"-1/s", 0, "no rate"}, {"1e3/s", 0, "no rate"}, {"0.0001/s", 0, "no rate"},
		{"0/s", 0, "no traffic"}, {"1/m", 0, "no whole number"}, {"1000001/s", 0, "more than"}, {"99999999999999999999/s", 0, "no rate"},
	} {
		got, err := ParseRate(tt.in)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: got %d, %v", tt.in, got, err)
		}
		if err == nil {
			if again, err := ParseRate(RateText(got)); again != got || err != nil {
				t.Errorf("%q is written as %s", tt.in, RateText(got))
			}
		}
	}
}

func TestDecimal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in     string
		places int
		want   uint64
		ok     bool
	}{
		{"1.5", 3, 1500, true}, {"0.125", 3, 125, true}, {"0.1250", 3, 125, true}, {".5", 1, 5, true}, {"007", 0, 7, true}, {"0", 3, 0, true},
		{"1.2345", 3, 0, false}, {"1.", 3, 0, false}, {".", 3, 0, false}, {"", 0, 0, false}, {"+1", 0, 0, false}, {"1 ", 0, 0, false}, {"9223372036854775808", 0, 0, false},
	} {
		if got, ok := Decimal(tt.in, tt.places); got != tt.want || ok != tt.ok {
			t.Errorf("decimal(%q, %d): got %d, %t", tt.in, tt.places, got, ok)
		}
	}
	for _, tt := range []struct {
		in     string
		places int
		want   string
	}{
		{"0.001", 9, "1000000"}, {"1e-05", 9, "10000"}, {"1.6384e+01", 9, "16384000000"}, {"16.384", 9, "16384000000"}, {"1.2E6", 0, "1200000"},
		{"1e-30", 9, "0"}, {"0", 9, "0"}, {"1e400", 0, "no number"}, {"1e99", 0, "no number"}, {"NaN", 0, "no number"}, {"-1", 0, "no number"}, {"1e", 0, "no number"},
	} {
		got, err := Scientific(tt.in, tt.places)
		text := fmt.Sprint(got)
		if err != nil {
			text = err.Error()
		}
		if text != tt.want {
			t.Errorf("scientific(%q, %d): got %s, want %s", tt.in, tt.places, text, tt.want)
		}
	}
}
