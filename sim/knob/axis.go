package knob

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
)

// MostValues is how many values an axis may have.
const MostValues = 200

// Axis is a setting and the values that it is to have, in order.
type Axis struct {
	Name   string // of a Knob, or the path of a field of a Scenario's spec
	Knob   *Knob  // nil for a path
	Values []Value
}

// Value is one of them.
type Value struct {
	Text   string      // as it is set
	Time   engine.Time // of a duration
	Number int64       // of a count
	Place  float64     // where it stands on the axis: seconds, a count; its index where it is neither
}

// ParseAxis reads NAME=FROM..TO:STEP or NAME=VALUE,VALUE,...: durations, counts, and whatever a path takes.
func ParseAxis(text string) (Axis, error) {
	name, values, ok := strings.Cut(text, "=")
	if !ok || name == "" || values == "" {
		return Axis{}, fmt.Errorf("%q: want NAME=FROM..TO:STEP, such as prestop=0s..30s:1s, or NAME=VALUE,VALUE,...; NAME is %s, or the path of a field of a Scenario's spec",
			text, strings.Join(names(), ", "))
	}
	a := Axis{Name: name}
	unit := Free
	if k, ok := Find(name); ok {
		a.Name, a.Knob, unit = k.Name, &k, k.Unit
	}
	var err error
	if from, rest, ok := strings.Cut(values, ".."); ok {
		a.Values, err = span(from, rest)
	} else {
		a.Values, err = list(values)
	}
	if err == nil {
		err = a.check(unit)
	}
	if err != nil {
		return Axis{}, fmt.Errorf("%s: %w", text, err)
	}
	return a, nil
}

func names() []string {
	var out []string
	for _, k := range All() {
		out = append(out, k.Name)
	}
	return out
}

// list reads VALUE,VALUE,...
func list(values string) ([]Value, error) {
	var out []Value
	for i, text := range strings.Split(values, ",") {
		v, ok := valueOf(text)
		if !ok {
			v = Value{Text: text, Place: float64(i)}
		}
		if text == "" || slices.ContainsFunc(out, func(x Value) bool { return x.Text == v.Text }) {
			return nil, fmt.Errorf("%q is empty or stands there twice", text)
		}
		out = append(out, v)
	}
	if slices.ContainsFunc(out, func(v Value) bool { return !v.measured() }) { // words among them: their order is all there is
		for i := range out {
			out[i].Place = float64(i)
		}
	}
	return out, nil
}

// span reads FROM and TO:STEP.
func span(from, rest string) ([]Value, error) {
	to, step, ok := strings.Cut(rest, ":")
	if !ok {
		return nil, fmt.Errorf("want a step: %s..%s:STEP", from, rest)
	}
	var ends [3]Value
	for i, text := range []string{from, to, step} {
		v, ok := valueOf(text)
		if !ok || !v.measured() || v.percent() {
			return nil, fmt.Errorf("%q: want a duration such as 5s, or a number", text)
		}
		ends[i] = v
	}
	first, last, by := ends[0], ends[1], ends[2]
	timed := first.timed() || last.timed() || by.timed()
	if timed && (first.Number != 0 || last.Number != 0 || by.Number != 0) {
		return nil, fmt.Errorf("want durations or numbers, not both: a number needs its unit, such as 5s")
	}
	start, end, width := first.Number, last.Number, by.Number
	if timed {
		start, end, width = int64(first.Time), int64(last.Time), int64(by.Time)
	}
	if width <= 0 || end < start || (end-start)/width >= MostValues {
		return nil, fmt.Errorf("want a step above 0, an end not before the beginning, and at most %d values", MostValues)
	}
	var out []Value
	for n := start; n <= end; n += width {
		if timed {
			out = append(out, timeValue(engine.Time(n)))
		} else {
			out = append(out, countValue(n))
		}
		if n > math.MaxInt64-width {
			break
		}
	}
	return out, nil
}

// check says whether a knob takes the values.
func (a *Axis) check(unit Unit) error {
	if len(a.Values) > MostValues {
		return fmt.Errorf("%d values: want at most %d", len(a.Values), MostValues)
	}
	for i := range a.Values {
		v := &a.Values[i]
		ok, want := true, ""
		switch unit {
		case Seconds:
			ok, want = (v.timed() || v.Text == "0") && v.Time%engine.Second == 0 && v.Time/engine.Second <= math.MaxInt32, "whole seconds, such as 5s"
		case Count:
			ok, want = v.counted() && v.Number <= math.MaxInt32, "a number, such as 3"
		case CountOrPercent:
			ok, want = v.counted() && v.Number <= math.MaxInt32 || v.percent(), "a number or per cents, such as 1 or 25%"
		case Free:
		}
		if !ok {
			return fmt.Errorf("%q: want %s", v.Text, want)
		}
		if unit == Seconds && v.Text == "0" {
			*v = timeValue(0)
		}
	}
	return nil
}

// valueOf reads a duration, a count or per cents; ok false for anything else.
func valueOf(text string) (Value, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return countValue(n), true
	}
	if digits, ok := strings.CutSuffix(text, "%"); ok {
		if n, err := strconv.ParseInt(digits, 10, 32); err == nil && n >= 0 {
			return Value{Text: text, Place: float64(n)}, true
		}
	}
	if t, err := units.ParseDuration(text); err == nil {
		v := timeValue(t)
		v.Text = text
		return v, true
	}
	return Value{}, false
}

func countValue(n int64) Value {
	return Value{Text: strconv.FormatInt(n, 10), Number: n, Place: float64(n)}
}

func timeValue(t engine.Time) Value {
	text := time.Duration(t).String()
	if t > 0 && t%engine.Second == 0 && t < engine.Hour {
		text = fmt.Sprintf("%ds", t/engine.Second) // not 1m30s
	}
	return Value{Text: text, Time: t, Place: float64(t) / float64(engine.Second)}
}

func (v *Value) percent() bool { return strings.HasSuffix(v.Text, "%") }

func (v *Value) counted() bool {
	n, err := strconv.ParseInt(v.Text, 10, 64)
	return err == nil && n >= 0
}

func (v *Value) timed() bool {
	_, err := units.ParseDuration(v.Text)
	return err == nil && !v.counted()
}

// measured says that the value has a place of its own on a scale.
func (v *Value) measured() bool { return v.counted() || v.timed() || v.percent() }

// Index is where a value stands on the axis, -1 if it does not.
func (a *Axis) Index(text string) int {
	want, ok := valueOf(text)
	return slices.IndexFunc(a.Values, func(v Value) bool {
		return v.Text == text || ok && want.Place == v.Place && want.timed() == v.timed() && want.percent() == v.percent() && v.measured()
	})
}
