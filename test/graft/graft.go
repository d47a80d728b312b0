// Package graft makes inputs that nobody wrote: those of the repository, with parts of others in place of theirs. Each value that any field has
// in any of them comes up in one, beside what it was never written for.
//
// Which values come together depends on nothing but their sums, so that an input that is added to the repository, or changed, leaves most of the
// others as they were.
package graft

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kept has the inputs, an array of objects each, as they were in the repository when somebody wrote it: go test ./test/graft -update. Tests that keep
// what comes of them are not told of each input that is added.
const kept = "test/graft/testdata/inputs.jsonl"

type object = map[string]any

// input is what was read together. main are the names that its objects know each other by: of its first workload, of its first Service, and
// of the app in the labels of its pods.
type input struct {
	key     uint64
	objects []object
	main    [3]string
}

// part is a value, and its sum.
type part struct {
	key   uint64
	value any
}

// Stock is what inputs are made of.
type Stock struct {
	inputs []input
	kinds  map[string][]from            // objects, by their kinds
	parts  map[string]map[string][]part // values, by where they stand and their names
	bases  map[string][]input           // what parts of a kind can be put into
	grafts map[string][]rooted          // what comes together, by the names of inputs
}

// from is an object, and where it is from.
type from struct {
	part
	main [3]string
}

// Read reads the inputs that are kept in the repository whose root is given.
func Read(root string) (*Stock, error) {
	data, err := os.ReadFile(filepath.Join(root, kept)) //nolint:gosec // a file of the repository
	if err != nil {
		return nil, err
	}
	s := &Stock{kinds: map[string][]from{}, parts: map[string]map[string][]part{}}
	for line := range strings.Lines(string(data)) {
		var objects []object
		if err := yaml.Unmarshal([]byte(line), &objects); err != nil {
			return nil, fmt.Errorf("%s: %w", kept, err)
		}
		s.add(objects)
	}
	s.group()
	return s, nil
}

// add takes in an input.
func (s *Stock) add(objects []object) {
	in := input{objects: objects}
	in.key, in.main = keyOf(in.objects), mainOf(in.objects)
	if slices.ContainsFunc(in.objects, func(o object) bool { return large(o) }) {
		in.main = [3]string{} // nothing is put into it
	}
	s.inputs = append(s.inputs, in)
	for _, o := range in.objects {
		kind, _ := o["kind"].(string)
		s.kinds[kind] = append(s.kinds[kind], from{part{keyOf(o), o}, in.main})
		eachMapping(o, func(at string, m object) {
			if s.parts[at] == nil {
				s.parts[at] = map[string][]part{}
			}
			for name, value := range m { // order: whichever it is, the sum decides
				p := part{keyOf(value), value}
				if !slices.ContainsFunc(s.parts[at][name], func(q part) bool { return q.key == p.key }) && !fixed(at, name) && !large(object{name: value}) {
					s.parts[at][name] = append(s.parts[at][name], p)
				}
			}
		})
	}
}

// fixed are fields that stay as they are: what an object is, and what others call it.
func fixed(at, name string) bool {
	return !strings.Contains(at, " ") && slices.Contains([]string{"apiVersion", "kind", "metadata", "spec"}, name) || strings.HasSuffix(at, " metadata") && name == "name"
}

// large says that a value has numbers of which a Scenario would be large: tests of the repository have more pods than are looked at in no time.
func large(v any) bool {
	switch v := v.(type) {
	case object:
		for name, x := range v { // order: whichever is large
			if n, ok := x.(int); ok && n > 300 && slices.Contains([]string{"replicas", "count", "minReplicas", "maxReplicas", "clients", "rate"}, name) || large(x) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, large)
	}
	return false
}

// eachMapping visits the mappings of an object with where they stand: templates of pods are alike in every kind.
func eachMapping(o object, visit func(at string, m object)) {
	kind, _ := o["kind"].(string)
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case object:
			if strings.HasSuffix(at, " spec template") {
				at = "Pod"
			}
			visit(at, v)
			for _, name := range names(v) {
				walk(at+" "+name, v[name])
			}
		case []any:
			for _, x := range v {
				walk(at, x)
			}
		}
	}
	walk(kind, o)
}

func names[V any](m map[string]V) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func mainOf(objects []object) (main [3]string) {
	for _, o := range objects {
		switch o["kind"] {
		case "Deployment", "StatefulSet", "DaemonSet":
			if main[0] == "" {
				main[0], _ = at(o, "metadata", "name").(string)
				main[2], _ = at(o, "spec", "template", "metadata", "labels", "app").(string)
			}
		case "Service":
			if main[1] == "" {
				main[1], _ = at(o, "metadata", "name").(string)
			}
		}
	}
	return main
}

func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(object)
		v = m[name]
	}
	return v
}

// keyOf sums up a value.
func keyOf(v any) uint64 { return sum(0, fmt.Sprintf("%T %v", v, v)) }

func sum(seed uint64, text string) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s", seed, text)
	return h.Sum64()
}

// Pick chooses one of a list: the same one whatever else is in the list, as long as nothing comes before it.
func Pick[T any](seed uint64, list []T, key func(T) string) T {
	var best T
	least := uint64(0)
	for i, x := range list {
		if k := sum(seed, key(x)); i == 0 || k < least {
			best, least = x, k
		}
	}
	return best
}

// graftsOf is about how many values come together in an input, by the kind of object that they are of.
func graftsOf(root string) int {
	if root == "Scenario" {
		return 4 // most that are wrong are errors there
	}
	return 10
}

// rooted is a value of a field, and where that stands.
type rooted struct {
	part
	at, name string
}

// group brings the values of one kind of object into lists that come together.
func (s *Stock) group() {
	all := map[string][]rooted{}
	for at, fields := range s.parts { // order: sorted below
		for name, values := range fields { // order: sorted below
			root, _, _ := strings.Cut(at, " ")
			for _, p := range values {
				all[root] = append(all[root], rooted{p, at, name})
			}
		}
	}
	s.grafts, s.bases = map[string][]rooted{}, map[string][]input{}
	for root, list := range all { // order: into a map
		s.bases[root] = s.basesOf(root)
		buckets := 1
		for buckets*graftsOf(root) < len(list) {
			buckets *= 2 // so that one value more changes one list, mostly
		}
		for _, r := range list {
			name := fmt.Sprintf("%s-%03d", root, sum(r.key, r.at+r.name)%uint64(buckets)) //nolint:gosec // it is positive
			s.grafts[name] = append(s.grafts[name], r)
		}
	}
	for _, list := range s.grafts { // order: each for itself
		slices.SortFunc(list, func(x, y rooted) int {
			return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.name, y.name), cmp.Compare(x.key, y.key))
		})
	}
}

// Names are those of all inputs that can be made, sorted.
func (s *Stock) Names() []string { return names(s.grafts) }

// Input is the input of a name: YAML of one or more documents.
func (s *Stock) Input(name string) (string, error) {
	root, _, _ := strings.Cut(name, "-")
	seed := sum(0, name)
	objects := s.base(root, seed)
	for _, r := range s.grafts[name] {
		if mappings := placesIn(objects, r.at); len(mappings) > 0 {
			m := Pick(r.key, mappings, func(o object) string { return fmt.Sprint(o) })
			if r.at == "Scenario spec actions" && r.name != "at" && r.name != "for" { // an action is one thing that is done
				for other := range m { // order: all of them
					if other != "at" && other != "for" {
						delete(m, other)
					}
				}
			}
			m[r.name] = copied(r.value, nil)
		}
	}
	var b strings.Builder
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return "", err
		}
		b.WriteString("---\n" + string(text))
	}
	return b.String(), nil
}

// isOf says whether an object has what is of a kind: a template of pods is of kind Pod.
func isOf(o object, root string) bool {
	return o["kind"] == root || root == "Pod" && at(o, "spec", "template") != nil
}

// basesOf are inputs with a workload, a Service and an object of a kind; where there are hardly any, those without the latter.
func (s *Stock) basesOf(root string) []input {
	var with, whole []input
	for _, in := range s.inputs {
		if in.main[0] == "" || in.main[1] == "" || root != "Scenario" && slices.ContainsFunc(in.objects, func(o object) bool { return isOf(o, "Scenario") }) {
			continue // without a Scenario what is done to a workload can be chosen
		}
		whole = append(whole, in)
		if slices.ContainsFunc(in.objects, func(o object) bool { return isOf(o, root) }) {
			with = append(with, in)
		}
	}
	if len(with) < 3 {
		return whole
	}
	return with
}

// base is one of them, with an object of the kind that is to be changed.
func (s *Stock) base(root string, seed uint64) []object {
	with := s.bases[root]
	chosen := Pick(seed, with, func(in input) string { return strconv.FormatUint(in.key, 10) })
	var objects []object
	for _, o := range chosen.objects {
		objects = append(objects, renamed(o, nil))
	}
	if slices.ContainsFunc(objects, func(o object) bool { return isOf(o, root) }) || len(s.kinds[root]) == 0 {
		return objects
	}
	x := Pick(seed+1, s.kinds[root], func(f from) string { return strconv.FormatUint(f.key, 10) })
	called := map[string]string{}
	for i, name := range x.main {
		if name != "" && chosen.main[i] != "" {
			called[name] = chosen.main[i]
		}
	}
	return append(objects, renamed(x.value, called))
}

// placesIn are the mappings of objects that stand at a place. Those that are missing below what is there are made.
func placesIn(objects []object, at string) []object {
	var out []object
	for _, o := range objects {
		eachMapping(o, func(place string, m object) {
			switch {
			case place == at:
				out = append(out, m)
			case strings.HasPrefix(at, place+" "):
				below := at[len(place)+1:]
				if _, there := m[below]; !there && !strings.Contains(below, " ") && !listed(below) {
					made := object{}
					m[below] = made
					out = append(out, made)
				}
			}
		})
	}
	return out
}

// listed are names of lists of mappings, in which nothing is put that has no other fields.
func listed(name string) bool {
	return strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "Labels") && name != "labels" && name != "annotations" && name != "resources"
}

// renamed is an object of its own, in which some words are others.
func renamed(v any, called map[string]string) object {
	o, _ := copied(v, called).(object)
	return o
}

// copied is a value of its own, in which some words are others.
func copied(v any, called map[string]string) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, x := range v { // order: into a map
			out[name] = copied(x, called)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = copied(x, called)
		}
		return out
	case string:
		if other, ok := called[v]; ok {
			return other
		}
	}
	return v
}
