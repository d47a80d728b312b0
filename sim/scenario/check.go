package scenario

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
)

// check compares a value with its shape and reports everything that is wrong with it. What
// passes can be read without a further look at types.
func (d *document) check(s *shape, at string, v any) {
	if v == nil {
		return // as if it were not there
	}
	switch s.kind {
	case object:
		d.checkObject(s, at, v)
	case mapOf:
		m, ok := v.(map[string]any)
		if !ok {
			d.fail(at, "expected a mapping, got %s", describe(v))
			return
		}
		for _, key := range slices.Sorted(maps.Keys(m)) {
			d.check(s.elem, child(at, key), m[key])
		}
	case listOf:
		l, ok := v.([]any)
		if !ok {
			d.fail(at, "expected a list, got %s", describe(v))
			return
		}
		for i, e := range l {
			if e == nil {
				d.fail(item(at, i), "expected %s, got nothing", expected(s.elem))
			}
			d.check(s.elem, item(at, i), e)
		}
	case dist:
		d.checkDist(at, v)
	default:
		d.checkScalar(s, at, v)
	}
}

func (d *document) checkObject(s *shape, at string, v any) {
	m, ok := v.(map[string]any)
	if _, isText := v.(string); isText && s.short != "" {
		return
	}
	if !ok {
		of := ""
		if names := s.names(); len(names) <= 8 {
			of = " with " + orList(names)
		}
		alone := ""
		if s.short != "" {
			alone = "a string or "
		}
		d.fail(at, "expected %sa mapping%s, got %s", alone, of, describe(v))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		f := s.field(key)
		if f == nil {
			at := child(at, key)
			d.report(manifest.Error, d.keyPosition(at), at, "unknown field; %s", didYouMean(key, s.names()))
			continue
		}
		d.check(f, child(at, key), m[key])
	}
}

func (d *document) checkScalar(s *shape, at string, v any) {
	switch s.kind {
	case text:
		t, ok := v.(string)
		if !ok {
			d.fail(at, "expected a string, got %s%s", describe(v), quoteHint(v))
		} else if s.words != nil && !slices.Contains(s.words, t) {
			d.fail(at, "%s is not valid; %s", strconv.Quote(t), didYouMean(t, s.words))
		}
	case portOfPods:
		_, named := v.(string)
		if _, ok := v.(int64); !ok && !named {
			d.fail(at, "expected a port of the pods, its number or its name, got %s", describe(v))
		}
	case share:
		if _, ok := shareOf(v); !ok {
			d.fail(at, "expected a number of pods such as 1, or \"25%%\", got %s", describe(v))
		}
	case boolean:
		if _, ok := v.(bool); !ok {
			d.fail(at, "expected true or false, got %s", describe(v))
		}
	default:
		d.checkNumber(s, at, v)
	}
}

func (d *document) checkNumber(s *shape, at string, v any) {
	switch s.kind {
	case whole:
		n, ok := v.(int64)
		if !ok || n < 0 || n > maxWhole {
			d.fail(at, "expected a whole number from 0 to %d, got %s", maxWhole, describe(v))
		}
	case priority:
		if n, ok := v.(int64); !ok || n < math.MinInt32 || n > math.MaxInt32 {
			d.fail(at, "expected the priority of a pod, a whole number from %d to %d, got %s", math.MinInt32, math.MaxInt32, describe(v))
		}
	case number:
		if _, err := thousandths(v); err != nil {
			d.fail(at, "expected %v, got %s", err, describe(v))
		}
	case quantity:
		if _, err := asQuantity(v); err != nil {
			d.fail(at, "%v", err)
		}
	case part:
		if n, err := thousandths(v); err != nil || n > wholePart {
			d.fail(at, "expected a part of the requests, a number from 0 to 1 with at most 3 decimals, got %s", describe(v))
		}
	default:
		d.checkTime(s, at, v)
	}
}

func (d *document) checkTime(s *shape, at string, v any) {
	switch s.kind {
	case duration:
		if _, err := asDuration(v); err != nil {
			d.fail(at, "%v", err)
		}
	case spanOr:
		if _, err := asDuration(v); err != nil && v != s.words[0] {
			d.fail(at, "%v, or %s", err, s.words[0])
		}
	case rate:
		if err := asRate(v); err != nil {
			d.fail(at, "%v", err)
		}
	case changes:
		if _, err := asChanges(v); err != nil {
			d.fail(at, "%v", err)
		}
	default:
	}
}

// maxWhole bounds counts: what is larger is a slip of the pen.
const maxWhole = 1_000_000

// checkDist: a duration stands for a constant; else exactly one of the five.
func (d *document) checkDist(at string, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		if _, err := asDuration(v); err != nil {
			d.fail(at, "%v, or a mapping with %s", err, orList(distShape().names()))
		}
		return
	}
	spelled := distShape()
	if name, ok := m["histogram"].(string); ok {
		m = maps.Clone(m)
		m["histogram"] = map[string]any{"file": name}
	}
	before := len(d.problems)
	d.checkObject(&spelled, at, m)
	if len(d.problems) > before {
		return
	}
	if n := len(presentKeys(m)); n != 1 {
		d.fail(at, "expected exactly one of %s, got %d", orList(spelled.names()), n)
		return
	}
	if _, err := d.distribution(at, m, ""); err != nil {
		d.fail(at, "%v", err)
	}
}

func presentKeys(m map[string]any) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if m[key] != nil {
			out = append(out, key)
		}
	}
	return out
}

func asDuration(v any) (engine.Time, error) {
	switch v := v.(type) {
	case string:
		return units.ParseDuration(v)
	case int64, float64:
		return 0, fmt.Errorf("%s has no unit: want a duration such as %s", describe(v), `"250ms", "15s" or "1m30s"`)
	default:
		return 0, fmt.Errorf("expected a duration such as %s, got %s", `"250ms", "15s" or "1m30s"`, describe(v))
	}
}

// asQuantity reads how much of a resource there is.
func asQuantity(v any) (resource.Quantity, error) {
	text := ""
	switch v := v.(type) {
	case string:
		text = v
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() < 0 {
		return q, fmt.Errorf("expected a quantity such as 4, %s, got %s", `"500m" or "8Gi"`, describe(v))
	}
	return q, nil
}

func asRate(v any) error {
	t, ok := v.(string)
	if !ok {
		return fmt.Errorf("expected a rate such as %s, got %s", `"200/s" or "30/m"`, describe(v))
	}
	_, err := units.ParseRate(t)
	return err
}

// mostChanges bounds how often other Services change: every proxy syncs for each.
const mostChanges = 100 * units.RateUnit

// asChanges reads a rate that may be 0, into thousandths a second.
func asChanges(v any) (int, error) {
	const want = `"0.2/s", "10/m", or "0/s" for none`
	t, ok := v.(string)
	if !ok {
		return 0, fmt.Errorf("expected changes in a time, such as %s, got %s", want, describe(v))
	}
	if number, unit, _ := strings.Cut(t, "/"); strings.TrimSpace(number) == "0" && slices.Contains(rateUnits(), strings.TrimSpace(unit)) {
		return 0, nil
	}
	r, err := units.ParseRate(t)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no number of changes in a time: want %s, in whole thousandths a second", t, want)
	case r > mostChanges:
		return 0, fmt.Errorf("%q is more than %s", t, units.RateText(mostChanges))
	}
	return r, nil
}

// rateUnits are those of parseRate.
func rateUnits() []string { return []string{"s", "m", "min", "h"} }

// wholePart is all of something, in thousandths.
const wholePart = 1000

// thousandths reads a number with at most 3 decimals, exactly.
func thousandths(v any) (uint64, error) {
	var s string
	switch v := v.(type) {
	case int64:
		s = strconv.FormatInt(v, 10)
	case float64:
		s = strconv.FormatFloat(v, 'f', -1, 64)
	}
	n, ok := units.Decimal(s, 3)
	if !ok || n > maxWhole*1000 {
		return 0, fmt.Errorf("a number from 0 to %d with at most 3 decimals", maxWhole)
	}
	return n, nil
}

// describe names a value in a message.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "the boolean " + strconv.FormatBool(v)
	case int64:
		return "the number " + strconv.FormatInt(v, 10)
	case float64:
		return "the number " + strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		if r := []rune(v); len(r) > 40 {
			v = string(r[:40]) + "..."
		}
		return "the string " + strconv.Quote(v)
	case []any:
		return "a list"
	default:
		return "a mapping"
	}
}

func quoteHint(v any) string {
	switch v.(type) {
	case bool, int64, float64:
		return "; put it in quotes"
	}
	return ""
}

func expected(s *shape) string {
	switch s.kind {
	case object, mapOf:
		return "a mapping"
	case listOf:
		return "a list"
	case text:
		return "a string"
	default:
		return "a value"
	}
}

// orList writes "a, b or c".
func orList(words []string) string {
	switch len(words) {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	}
	out := ""
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			out += " or "
		default:
			out += ", "
		}
		out += w
	}
	return out
}
