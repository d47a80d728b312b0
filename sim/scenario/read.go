package scenario

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
)

// cursor is a value of a checked document and where it is. Reading one that is absent, or
// that check has complained about, gives the default.
type cursor struct {
	d  *document
	at string
	v  any
}

func (d *document) spec() cursor { return cursor{d, "spec", d.value["spec"]} }

func (c cursor) get(name string) cursor {
	m, _ := c.v.(map[string]any)
	return cursor{c.d, child(c.at, name), m[name]}
}

func (c cursor) present() bool { return c.v != nil }

func (c cursor) isMapping() bool {
	_, ok := c.v.(map[string]any)
	return ok
}

func (c cursor) fail(format string, args ...any) { c.d.fail(c.at, format, args...) }

func (c cursor) items() []cursor {
	l, _ := c.v.([]any)
	var out []cursor
	for i, e := range l {
		out = append(out, cursor{c.d, item(c.at, i), e})
	}
	return out
}

// keys returns a mapping's keys in order.
func (c cursor) keys() []string {
	m, _ := c.v.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

func (c cursor) text(def string) string {
	if t, ok := c.v.(string); ok {
		return t
	}
	return def
}

func (c cursor) texts() []string {
	var out []string
	for _, e := range c.items() {
		if t := e.text(""); t != "" {
			out = append(out, t)
		}
	}
	return out
}

func (c cursor) flag(def bool) bool {
	if b, ok := c.v.(bool); ok {
		return b
	}
	return def
}

func (c cursor) whole(def int) int {
	if n, ok := c.v.(int64); ok && n >= 0 && n <= maxWhole {
		return int(n)
	}
	return def
}

// priority reads that of a pod.
func (c cursor) priority() int32 {
	if n, ok := c.v.(int64); ok && n >= math.MinInt32 && n <= math.MaxInt32 {
		return int32(n)
	}
	return 0
}

func (c cursor) span(def engine.Time) engine.Time {
	if t, err := asDuration(c.v); err == nil {
		return t
	}
	return def
}

func (c cursor) rate(def int) int {
	if t, ok := c.v.(string); ok {
		if r, err := units.ParseRate(t); err == nil {
			return r
		}
	}
	return def
}

// changes reads a rate that may be 0, which is also that of none.
func (c cursor) changes() int {
	r, err := asChanges(c.v)
	if err != nil {
		return 0
	}
	return r
}

// seconds reads a number of seconds with at most 3 decimals.
func (c cursor) seconds() *engine.Time {
	n, err := thousandths(c.v)
	if c.v == nil || err != nil {
		return nil
	}
	t := engine.Time(n) * engine.Millisecond
	return &t
}

// part reads a part of a whole, in thousandths.
func (c cursor) part(def int) int {
	n, err := thousandths(c.v)
	if c.v == nil || err != nil || n > wholePart {
		return def
	}
	return int(n)
}

// count reads a whole number that may be absent.
func (c cursor) count() *int {
	if _, ok := c.v.(int64); !ok {
		return nil
	}
	n := c.whole(0)
	return &n
}

// dist reads a distribution; metric is the histogram it may come from.
func (c cursor) dist(def engine.Dist, metric string) engine.Dist {
	switch v := c.v.(type) {
	case string:
		return engine.Constant(c.span(0))
	case map[string]any:
		h, isHistogram := v["histogram"]
		d, err := c.d.distribution(c.at, v, metric)
		if err != nil {
			if isHistogram && h != nil && metric != "" && histogramFile(h) != "" { // what does not need the file, check has said
				c.d.fail(child(c.at, "histogram"), "%v", err)
			}
			return def
		}
		if isHistogram && d == nil {
			return def
		}
		return *d
	}
	return def
}

// histogramFile is the name in histogram: NAME or histogram: {file: NAME}.
func histogramFile(v any) string {
	if m, ok := v.(map[string]any); ok {
		v = m["file"]
	}
	name, _ := v.(string)
	return name
}

var errSpelled = errors.New("not well-formed")

// distribution makes a distribution that is spelled out. For a histogram it needs the metric;
// without one it only looks at what stands in the document, and returns nil.
func (d *document) distribution(at string, m map[string]any, metric string) (*engine.Dist, error) {
	keys := presentKeys(m)
	if len(keys) != 1 {
		return nil, errSpelled
	}
	c := cursor{d, child(at, keys[0]), m[keys[0]]}
	var out engine.Dist
	var err error
	switch keys[0] {
	case "constant":
		out = engine.Constant(c.span(0))
	case "uniform":
		ends := c.items()
		if len(ends) != 2 {
			return nil, fmt.Errorf("uniform: expected two durations, [least, most], got %d", len(ends))
		}
		out, err = engine.Uniform(ends[0].span(0), ends[1].span(0))
	case "normal":
		if err = c.wants("mean", "deviation"); err == nil {
			out, err = engine.Normal(c.get("mean").span(0), c.get("deviation").span(0))
		}
	case "lognormal":
		if err = c.wants("median", "p99"); err == nil {
			out, err = lognormal(c.get("median").span(0), c.get("p99").span(0))
		}
	case "histogram":
		return c.histogram(metric)
	default:
		return nil, errSpelled
	}
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// lognormal keeps the tail within what makes sense: far less than a run's bounds.
func lognormal(median, p99 engine.Time) (engine.Dist, error) {
	if p99 > 24*engine.Hour || median > 0 && p99/median > 10_000 {
		return engine.Dist{}, fmt.Errorf("lognormal: p99 %s is more than a day, or more than 10000 times the median %s", p99.Duration(), median.Duration())
	}
	return engine.Lognormal(median, p99)
}

// wants says which of the fields are missing.
func (c cursor) wants(names ...string) error {
	for _, n := range names {
		if !c.get(n).present() {
			return fmt.Errorf("%s: %s is missing; it takes %s", c.at[len(c.at)-len(lastKey(c.at)):], n, strings.Join(names, " and "))
		}
	}
	return nil
}

func lastKey(at string) string {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i] == '.' {
			return at[i+1:]
		}
	}
	return at
}

// histogram reads the scrape that the document names.
func (c cursor) histogram(metric string) (*engine.Dist, error) {
	name, file := c.text(""), c
	if name == "" {
		file = c.get("file")
		name = file.text("")
	}
	if name == "" {
		return nil, errors.New("histogram: file is missing")
	}
	if metric == "" {
		return nil, nil
	}
	files := c.d.content(file.at, name)
	if len(files) != 1 {
		return nil, nil
	}
	out, err := measured(files[0].Data, metric, c.get("cap").span(0))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &out, nil
}
