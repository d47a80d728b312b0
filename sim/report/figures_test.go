package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptFigures has what is said of records with one field changed, a row each.
const keptFigures = "testdata/figures/kept.txt"

// eachFigure visits the fields of a record by their paths: the first and the last of each list, and nothing of the input's own objects.
func eachFigure(path string, v reflect.Value, visit func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if visit(path, v); !v.IsNil() {
			eachFigure(path, v.Elem(), visit)
		}
	case reflect.Slice:
		visit(path, v)
		for i := range v.Len() {
			if i == 0 || i == v.Len()-1 {
				eachFigure(fmt.Sprintf("%s[%d]", path, i), v.Index(i), visit)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if p := f.Type.PkgPath(); f.IsExported() && !strings.Contains(p, "sim/world") && !strings.Contains(p, "endpoints") {
				eachFigure(strings.TrimPrefix(path+"."+f.Name, "."), v.Field(i), visit)
			}
		}
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		visit(path, v)
	default: // maps, functions and interfaces are no figures
	}
}

// figureChanges are what is done to a field; each says whether it is another one then.
var figureChanges = []struct {
	name string
	do   func(v reflect.Value) bool
}{
	{"0", func(v reflect.Value) bool { return setFigure(v, 0) }},
	{"1", func(v reflect.Value) bool { return setFigure(v, 1) }},
	{"2", func(v reflect.Value) bool { return setFigure(v, 2) }},
	{"many", func(v reflect.Value) bool { return setFigure(v, 97) }},
	{"otherwise", func(v reflect.Value) bool {
		switch v.Kind() {
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.String:
			v.SetString("other")
		default:
			return false
		}
		return true
	}},
	{"none", func(v reflect.Value) bool {
		if k := v.Kind(); k != reflect.Pointer && k != reflect.Slice && k != reflect.String || v.IsZero() {
			return false
		}
		v.SetZero()
		return true
	}},
	{"one of them", func(v reflect.Value) bool {
		if v.Kind() != reflect.Slice || v.Len() < 2 {
			return false
		}
		v.Set(v.Slice(0, 1))
		return true
	}},
}

// setFigure sets a number.
func setFigure(v reflect.Value, n int64) bool {
	switch {
	case v.CanInt() && v.Int() != n && !v.OverflowInt(n):
		v.SetInt(n)
	case v.CanUint() && v.Uint() != uint64(n): //nolint:gosec // not negative
		v.SetUint(uint64(n)) //nolint:gosec // not negative
	default:
		return false
	}
	return true
}

// changedFigure is a record with one field changed: of which sample, at which path, how.
type changedFigure struct {
	sample, path string
	change       int
}

func (c changedFigure) String() string {
	return fmt.Sprintf("%s %s, %s", c.path, figureChanges[c.change].name, c.sample)
}

// eachChange makes each change of a record, one after the other, and takes it back when it has been looked at.
func eachChange(s *record.Simulation, visit func(path string, change int)) {
	eachFigure("", reflect.ValueOf(s).Elem(), func(path string, v reflect.Value) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		for n, c := range figureChanges {
			if c.do(v) {
				visit(path, n)
				v.Set(was)
			}
		}
	})
}

// said sums up what is said of a record in every form, or that there is no such record.
func said(s *record.Simulation) (sum string) {
	defer func() {
		if recover() != nil {
			sum = "cannot be"
		}
	}()
	h := fnv.New64a()
	lines := 0
	for _, opts := range []TextOptions{{}, {All: true, Verbose: true}} {
		text := compose(s, opts)
		lines += strings.Count(text, "\n")
		_, _ = h.Write([]byte(text))
	}
	doc, err := json.Marshal(Build(s))
	if err != nil {
		return err.Error()
	}
	_, _ = h.Write(doc)
	return fmt.Sprintf("%d lines, %016x", lines, h.Sum64())
}

// figured are the records that are changed.
var figured = []string{
	"made-drops", "made-families", "made-stuck", "made-blocked", "made-kept", "made-rare", "made-before", "made-fallback", "made-sessions",
}

// ofEach is how many of the records that have a field are said again with a change of it.
const ofEach = 2

// Records of which one field is another are said as before: a figure that is 0, 1 or 2, a list that is empty. In which of the records
// that have it a field is changed depends on nothing but their names, its path and the change.
func TestChangedFiguresAreKept(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	order := func(c changedFigure) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(c.String()))
		return h.Sum64()
	}
	records := map[string]*record.Simulation{}
	have := map[string][]changedFigure{} // those that have a field, by path and change
	for _, sample := range figured {
		records[sample] = goldens[sample].of(t)
		eachChange(records[sample], func(path string, change int) {
			key := fmt.Sprint(path, change)
			have[key] = append(have[key], changedFigure{sample, path, change})
		})
	}
	chosen := map[changedFigure]bool{}
	for _, all := range have { // order: each for itself
		slices.SortFunc(all, func(a, b changedFigure) int { return cmp.Compare(order(a), order(b)) })
		for _, c := range all[:min(ofEach, len(all))] {
			chosen[c] = true
		}
	}
	var rows []string
	for _, sample := range figured {
		eachChange(records[sample], func(path string, change int) {
			if c := (changedFigure{sample, path, change}); chosen[c] {
				rows = append(rows, c.String()+": "+said(records[sample]))
			}
		})
	}
	slices.Sort(rows)
	golden.Compare(t, keptFigures, strings.Join(rows, "\n")+"\n", *update)
}
