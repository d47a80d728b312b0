package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A decoder fills Go values of the API types from nodes. It exists, rather than
// handing JSON to a library, because every wrong value has to be reported at
// once and with its place, and because a 10 MB list should be walked once.
//
// Plans are built per Go type on first use, those of a struct's fields as they
// are met, and live as long as one Load: the package keeps no global state.
type decoder struct {
	plans    map[reflect.Type]decodeFunc
	structs  map[reflect.Type]*structPlan
	path     []step
	findings []finding
	// quiet counts the enclosing fields below which unknown fields are not
	// reported: the status of a newer cluster has fields this version of the
	// API does not know, and nobody can do anything about it.
	quiet int
}

// finding is a Problem whose object is not known yet.
type finding struct {
	at       *node
	field    string
	message  string
	severity Severity
	meant    string // see Problem
}

// step is one element of the path to the value being decoded: a field, a map
// key or, when name is "", a list index.
type step struct {
	name  string
	key   bool
	index int
}

type decodeFunc func(d *decoder, n *node, v reflect.Value)

type structPlan struct {
	fields map[string]*fieldPlan
	names  []string // sorted, for the nearest name
}

type fieldPlan struct {
	index  []int
	number int // position in the duplicate check
	of     reflect.Type
	decode decodeFunc // nil until the field is met: of the hundreds that a pod may have, a manifest has a dozen
	ignore bool
	quiet  bool
}

func newDecoder() *decoder {
	return &decoder{plans: map[reflect.Type]decodeFunc{}, structs: map[reflect.Type]*structPlan{}}
}

// decode fills *into from n and returns what was wrong. Values with an error
// keep their zero value.
func (d *decoder) decode(n *node, into any) []finding {
	d.path, d.findings, d.quiet = d.path[:0], nil, 0
	v := reflect.ValueOf(into).Elem()
	d.plan(v.Type())(d, n, v)
	return d.findings
}

func (d *decoder) report(severity Severity, at *node, format string, args ...any) {
	d.findings = append(d.findings, finding{at: at, field: renderPath(d.path), message: fmt.Sprintf(format, args...), severity: severity})
}

func (d *decoder) wrongType(n *node, expected string) {
	d.report(Error, n, "expected %s, got %s", expected, n.describe())
}

func (d *decoder) plan(t reflect.Type) decodeFunc {
	if f := d.plans[t]; f != nil {
		return f
	}
	// A type that contains itself finds this forwarding function.
	var plan decodeFunc
	d.plans[t] = func(d *decoder, n *node, v reflect.Value) { plan(d, n, v) }
	plan = d.newPlan(t)
	d.plans[t] = plan
	return plan
}

func (d *decoder) newPlan(t reflect.Type) decodeFunc {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return decodeTime
	case reflect.TypeFor[metav1.MicroTime]():
		return decodeMicroTime
	case reflect.TypeFor[metav1.Duration]():
		return decodeDuration
	case reflect.TypeFor[intstr.IntOrString]():
		return decodeIntOrString
	case reflect.TypeFor[resource.Quantity]():
		return decodeQuantity
	}
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return decodeJSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		elem := d.plan(t.Elem())
		return func(d *decoder, n *node, v reflect.Value) {
			if n.isNull() {
				return
			}
			p := reflect.New(t.Elem())
			elem(d, n, p.Elem())
			v.Set(p)
		}
	case reflect.Struct:
		return d.newStruct(t).decode
	case reflect.Map:
		return d.newMap(t)
	case reflect.Slice:
		return d.newSlice(t)
	case reflect.String:
		return decodeString
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return decodeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return decodeUint
	case reflect.Float32, reflect.Float64:
		return decodeFloat
	case reflect.Interface:
		return func(_ *decoder, n *node, v reflect.Value) {
			if g := n.generic(); g != nil {
				v.Set(reflect.ValueOf(g))
			}
		}
	default:
		return decodeJSON // the API has none
	}
}

func (d *decoder) newStruct(t reflect.Type) *structPlan {
	p := &structPlan{fields: map[string]*fieldPlan{}}
	d.structs[t] = p
	d.addFields(p, t, nil)
	// order: the names are sorted below.
	for name := range p.fields {
		p.names = append(p.names, name)
	}
	slices.Sort(p.names)
	for i, name := range p.names {
		p.fields[name].number = i
	}
	return p
}

func (d *decoder) addFields(p *structPlan, t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		here := append(slices.Clone(index), i)
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct, strings.Contains(options, "inline"):
			d.addFields(p, f.Type, here)
		default:
			if name == "" {
				name = f.Name
			}
			p.fields[name] = &fieldPlan{
				index: here,
				of:    f.Type,
				// Nobody reads it and it is often half of a live object.
				ignore: f.Type == reflect.TypeFor[[]metav1.ManagedFieldsEntry](),
				quiet:  name == "status",
			}
		}
	}
}

func (p *structPlan) decode(d *decoder, n *node, v reflect.Value) {
	if n.isNull() {
		return
	}
	if n.shape != mapping {
		d.wrongType(n, "a mapping")
		return
	}
	var few [64]*node
	seen := few[:]
	if len(p.names) > len(few) {
		seen = make([]*node, len(p.names))
	}
	for i := 0; i+1 < len(n.kids); i += 2 {
		key, val := &n.kids[i], &n.kids[i+1]
		d.path = append(d.path, step{name: key.text})
		f := p.fields[key.text]
		switch {
		case f == nil:
			d.unknown(p, key)
		case seen[f.number] != nil:
			d.duplicate(seen[f.number], key)
		default:
			seen[f.number] = key
			if f.ignore {
				break
			}
			if f.quiet {
				d.quiet++
			}
			if f.decode == nil {
				f.decode = d.plan(f.of)
			}
			f.decode(d, val, v.FieldByIndex(f.index))
			if f.quiet {
				d.quiet--
			}
		}
		d.path = d.path[:len(d.path)-1]
	}
}

func (d *decoder) duplicate(first, again *node) {
	d.findings = append(d.findings, duplicateKey(first, again, renderPath(d.path)))
}

func duplicateKey(first, again *node, field string) finding {
	words := fmt.Sprintf("duplicate key, first given on line %d", first.line)
	if field == "apiVersion" || field == "kind" { // whoever joined two files
		words += "; is it another object, with the line --- missing before it?"
	}
	return finding{at: again, field: field, message: words, severity: Error}
}

func (d *decoder) unknown(p *structPlan, key *node) {
	if d.quiet > 0 {
		return
	}
	if near := cmp.Or(Nearest(key.text, p.names), onlyLonger(key.text, p.names)); near != "" {
		d.report(Warning, key, "unknown field, ignored; did you mean %s?", near)
		d.findings[len(d.findings)-1].meant = near
		return
	}
	if len(p.names) <= 8 {
		d.report(Warning, key, "unknown field, ignored; valid here: %s", strings.Join(p.names, ", "))
		return
	}
	d.report(Warning, key, "unknown field, ignored")
}

func (d *decoder) newMap(t reflect.Type) decodeFunc {
	if t.Key().Kind() != reflect.String {
		return decodeJSON
	}
	elem := d.plan(t.Elem())
	return func(d *decoder, n *node, v reflect.Value) {
		if n.isNull() {
			return
		}
		if n.shape != mapping {
			d.wrongType(n, "a mapping")
			return
		}
		m := reflect.MakeMapWithSize(t, len(n.kids)/2)
		k := reflect.New(t.Key()).Elem()
		e := reflect.New(t.Elem()).Elem()
		var first map[string]*node // made when there is a duplicate
		for i := 0; i+1 < len(n.kids); i += 2 {
			key, val := &n.kids[i], &n.kids[i+1]
			d.path = append(d.path, step{name: key.text, key: true})
			k.SetString(key.text)
			if m.MapIndex(k).IsValid() {
				if first == nil {
					first = n.firstKeys()
				}
				d.duplicate(first[key.text], key)
			}
			e.SetZero()
			elem(d, val, e)
			m.SetMapIndex(k, e)
			d.path = d.path[:len(d.path)-1]
		}
		v.Set(m)
	}
}

// firstKeys returns a mapping's keys by name, the first of each.
func (n *node) firstKeys() map[string]*node {
	first := make(map[string]*node, len(n.kids)/2)
	for i := 0; i+1 < len(n.kids); i += 2 {
		if first[n.kids[i].text] == nil {
			first[n.kids[i].text] = &n.kids[i]
		}
	}
	return first
}

func (d *decoder) newSlice(t reflect.Type) decodeFunc {
	if t.Elem().Kind() == reflect.Uint8 {
		return decodeJSON // base64
	}
	elem := d.plan(t.Elem())
	return func(d *decoder, n *node, v reflect.Value) {
		if n.isNull() {
			return
		}
		if n.shape != sequence {
			d.wrongType(n, "a list")
			return
		}
		s := reflect.MakeSlice(t, len(n.kids), len(n.kids))
		for i := range n.kids {
			d.path = append(d.path, step{index: i})
			elem(d, &n.kids[i], s.Index(i))
			d.path = d.path[:len(d.path)-1]
		}
		v.Set(s)
	}
}

func decodeString(d *decoder, n *node, v reflect.Value) {
	if n.shape == scalar {
		switch n.resolve() {
		case stringScalar:
			v.SetString(n.text)
			return
		case nullScalar:
		default:
			d.report(Error, n, "expected a string, got %s; put it in quotes", n.describe())
		}
		return
	}
	d.wrongType(n, "a string")
}

func decodeBool(d *decoder, n *node, v reflect.Value) {
	if n.shape == scalar {
		switch n.resolve() {
		case boolScalar:
			b, _ := parseBool(n.text)
			v.SetBool(b)
			return
		case nullScalar:
			return
		default:
		}
	}
	d.wrongType(n, "true or false")
}

// integer returns the whole number n stands for; 8080.0 counts, as it does for
// kubectl.
func (n *node) integer() (int64, bool) {
	switch n.resolve() {
	case intScalar:
		return parseInt(n.text)
	case floatScalar:
		f, _ := parseFloat(n.text)
		i := int64(f)
		return i, f > -1<<53 && f < 1<<53 && float64(i) == f
	default:
		return 0, false
	}
}

func decodeInt(d *decoder, n *node, v reflect.Value) {
	if n.isNull() {
		return
	}
	i, ok := n.integer()
	bits := v.Type().Bits()
	switch {
	case ok && !v.OverflowInt(i):
		v.SetInt(i)
	case ok:
		d.wrongType(n, fmt.Sprintf("a whole number from %d to %d", int64(-1)<<(bits-1), int64(1)<<(bits-1)-1))
	default:
		d.notANumber(n)
	}
}

func (d *decoder) notANumber(n *node) {
	if _, ok := parseInt(n.text); ok && n.shape == scalar && !n.plain {
		d.report(Error, n, "expected a whole number, got %s; remove the quotes", n.describe())
		return
	}
	d.wrongType(n, "a whole number")
}

func decodeUint(d *decoder, n *node, v reflect.Value) {
	if n.isNull() {
		return
	}
	i, ok := n.integer()
	switch {
	case ok && i >= 0 && !v.OverflowUint(uint64(i)):
		v.SetUint(uint64(i))
	case ok:
		d.wrongType(n, fmt.Sprintf("a whole number from 0 to %d", ^uint64(0)>>(64-v.Type().Bits())))
	default:
		d.notANumber(n)
	}
}

func decodeFloat(d *decoder, n *node, v reflect.Value) {
	if n.isNull() {
		return
	}
	if n.shape == scalar {
		switch n.resolve() {
		case intScalar:
			i, _ := parseInt(n.text)
			v.SetFloat(float64(i))
			return
		case floatScalar:
			f, _ := parseFloat(n.text)
			v.SetFloat(f)
			return
		default:
		}
	}
	d.wrongType(n, "a number")
}

// pointer returns the address of a value of type T; newPlan sees to the type.
func pointer[T any](v reflect.Value) *T {
	p, _ := v.Addr().Interface().(*T)
	return p
}

func decodeIntOrString(d *decoder, n *node, v reflect.Value) {
	if n.isNull() {
		return
	}
	out := pointer[intstr.IntOrString](v)
	if i, ok := n.integer(); ok && int64(int32(i)) == i {
		*out = intstr.FromInt32(int32(i))
		return
	}
	if n.shape == scalar && n.resolve() == stringScalar {
		*out = intstr.FromString(n.text)
		return
	}
	if _, whole := n.integer(); whole {
		d.wrongType(n, fmt.Sprintf("a whole number from %d to %d, or a string", math.MinInt32, math.MaxInt32))
		return
	}
	d.wrongType(n, "a whole number or a string")
}

func decodeQuantity(d *decoder, n *node, v reflect.Value) {
	if n.isNull() {
		return
	}
	if n.shape != scalar || n.resolve() == boolScalar {
		d.wrongType(n, "a quantity such as 500m, 2 or 1Gi")
		return
	}
	text := strings.TrimSpace(n.text)
	if n.plain {
		// 0x10 and 010 are numbers to YAML but not to a quantity.
		if i, ok := parseInt(text); ok {
			text = strconv.FormatInt(i, 10)
		}
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		d.wrongType(n, "a quantity such as 500m, 2 or 1Gi")
		return
	}
	*pointer[resource.Quantity](v) = q
}

func parseTime(d *decoder, n *node, layout, example string) (time.Time, bool) {
	if n.isNull() {
		return time.Time{}, false
	}
	if n.shape == scalar && n.resolve() == stringScalar {
		if t, err := time.Parse(layout, n.text); err == nil {
			// As apimachinery does it, but in UTC: the local zone of the machine
			// must not show in what is read.
			return t.UTC(), true
		}
	}
	d.wrongType(n, "a time such as "+example)
	return time.Time{}, false
}

func decodeTime(d *decoder, n *node, v reflect.Value) {
	if t, ok := parseTime(d, n, time.RFC3339, "2026-01-31T12:00:00Z"); ok {
		pointer[metav1.Time](v).Time = t
	}
}

func decodeMicroTime(d *decoder, n *node, v reflect.Value) {
	if t, ok := parseTime(d, n, metav1.RFC3339Micro, "2026-01-31T12:00:00.000000Z"); ok {
		pointer[metav1.MicroTime](v).Time = t
	}
}

func decodeDuration(d *decoder, n *node, v reflect.Value) {
	if n.isNull() {
		return
	}
	if n.shape == scalar {
		out := pointer[metav1.Duration](v)
		text := n.text
		if i, ok := n.integer(); ok && i == 0 {
			text = "0s" // the one number that needs no unit
		}
		if dur, err := time.ParseDuration(text); err == nil && (n.resolve() == stringScalar || dur == 0) {
			out.Duration = dur
			return
		}
	}
	d.wrongType(n, "a duration such as 30s, 1m30s or 500ms")
}

// decodeJSON is for the types that bring their own UnmarshalJSON and for the
// few shapes that the API hardly uses.
func decodeJSON(d *decoder, n *node, v reflect.Value) {
	if n.isNull() {
		return
	}
	data, err := json.Marshal(n.generic())
	if err == nil {
		err = json.Unmarshal(data, v.Addr().Interface())
	}
	if err != nil {
		d.report(Error, n, "cannot be read as %s: %v", v.Type(), err)
	}
}
