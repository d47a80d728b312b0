package scenario

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/presets"
)

// writtenFamilies are those of all files, as they are written.
func writtenFamilies(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, f := range presets.Files() {
		o, problems := manifest.Raw(manifest.File{Name: f.Path, Data: []byte(f.Text)})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		m, _ := o.Value.(map[string]any)
		list, _ := m["presets"].([]any)
		for _, v := range list {
			family, _ := v.(map[string]any)
			out = append(out, family)
		}
	}
	return out
}

// readFamily reads a family that is the only one of its file: the first problem, "" for none.
func readFamily(t *testing.T, family any) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"presets": []any{family}})
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := readPresets([]manifest.File{{Name: "in.yaml", Data: text}}); len(problems) > 0 {
		return problems[0].Error()
	}
	return ""
}

// claimLists are the lists of values of a family: those of all rows, and those of each policy.
func claimLists(family map[string]any) map[string][]any {
	out := map[string][]any{}
	out["values"], _ = family["values"].([]any)
	policies, _ := family["externalTrafficPolicy"].(map[string]any)
	for policy, v := range policies { // order: each for itself
		out[policy], _ = v.([]any)
	}
	return out
}

// A preset gives every field that its load balancer has, once, with one source and one status: without one of them, or with a
// value twice, the file is refused.
func TestEveryFieldOfAPresetHasOneSource(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		if !slices.EqualFunc(p.Fields, fieldNames(&p.LoadBalancer), func(f PresetField, name string) bool {
			return f.Name == name && f.Value != "" && f.Source != "" && slices.Contains([]string{verified, documented, recalled, inferred, reported}, f.Status)
		}) {
			t.Errorf("%s: %+v", p.ID, p.Fields)
		}
	}
	tried := 0
	for _, family := range writtenFamilies(t) {
		if problem := readFamily(t, family); problem != "" {
			t.Fatal(problem)
		}
		for _, claims := range claimLists(family) { // order: each for itself
			for i := range claims {
				claim, _ := claims[i].(map[string]any)
				tried += spoil(t, family, claim)
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d values", tried)
	}
}

// spoil takes each part of a claim away, and gives each of its values twice. It returns how many values there are.
func spoil(t *testing.T, family, claim map[string]any) int {
	t.Helper()
	without := func(m map[string]any, key, want string) {
		kept := m[key]
		delete(m, key)
		if problem := readFamily(t, family); !strings.Contains(problem, want) {
			t.Errorf("%v without %s: %q, want %q", family["name"], key, problem, want)
		}
		m[key] = kept
	}
	without(claim, "source", "source is missing")
	without(claim, "status", "status is missing")
	values, _ := claim["loadBalancer"].(map[string]any)
	kept := family["values"]
	list, _ := kept.([]any)
	for name, v := range values { // order: each for itself
		if claim["status"] != reported { // or else its range is refused first
			without(values, name, " has no value for "+name+":")
		}
		family["values"] = append(slices.Clone(list), map[string]any{"status": recalled, "source": "it is said", "loadBalancer": map[string]any{name: v}})
		if problem := readFamily(t, family); !strings.Contains(problem, "already: want it once") {
			t.Errorf("%v with %s twice: %q", family["name"], name, problem)
		}
	}
	family["values"] = kept
	return len(values)
}

// What is wrong with a file is said where it stands, with what would be valid.
func TestPresetsThatAreRefused(t *testing.T) {
	t.Parallel()
	const head = "presets:\n- name: acme\n  short: ACME\n  what: ACME, layer 4\n  values:\n"
	const hop = "- {status: recalled, source: from memory, loadBalancer: {target: nodes}}\n"
	for name, tt := range map[string]struct{ text, want string }{ // order: each for itself
		"no file":                {"", "in.yaml:1:1: expected a mapping, got nothing"},
		"a list":                 {"- 1\n", "in.yaml:1:1: expected a mapping, got a list"},
		"two documents":          {"presets: []\n---\npresets: []\n", "in.yaml:3:1: expected one document, got 2"},
		"a key twice":            {"presets: []\npresets: []\n", "in.yaml:2:1: presets: duplicate key, first given on line 1"},
		"an unknown field":       {head + "  - {status: recalled, source: from memory, loadBalancer: {taget: nodes}}\n", "in.yaml:6:60: presets[0].values[0].loadBalancer.taget: unknown field; did you mean target?"},
		"a field of a Scenario":  {head + "  - {status: recalled, source: from memory, loadBalancer: {preset: kind}}\n", "in.yaml:6:60: presets[0].values[0].loadBalancer.preset: unknown field; valid here: target, members,"},
		"a value of another one": {head + "  - {status: recalled, source: from memory, loadBalancer: {target: racks}}\n", "in.yaml:6:68: presets[0].values[0].loadBalancer.target: \"racks\" is not valid; valid here: nodes, pods"},
		"an unknown status":      {head + "  - {status: rumoured, source: from memory}\n", "in.yaml:6:14: presets[0].values[0].status: \"rumoured\" is not valid; valid here: verified, documented, reported, recalled, inferred"},
		"no status":              {head + "  - {source: from memory}\n", "in.yaml:6:5: presets[0].values[0]: status is missing: want verified, documented, reported, recalled or inferred"},
		"no source":              {head + "  - {status: recalled}\n", "in.yaml:6:5: presets[0].values[0]: source is missing: want a fact of docs/model, or a page of the maker, and what it says"},
		"a value twice":          {head + "  " + hop + "  " + hop, "in.yaml:7:68: presets[0].values[1].loadBalancer.target: given for acme at in.yaml:6:68 already: want it once"},
		"a value twice, for one policy": {
			head + "  " + hop + "  externalTrafficPolicy:\n    Local:\n    " + hop + "    Cluster: []\n",
			"in.yaml:9:70: presets[0].externalTrafficPolicy.Local[0].loadBalancer.target: given for acme-local at in.yaml:6:68 already: want it once",
		},
		"one policy":            {head + "  " + hop + "  externalTrafficPolicy: {Local: []}\n", "in.yaml:7:3: presets[0].externalTrafficPolicy: Cluster is missing: want both policies, or neither"},
		"a field is missing":    {head + "  " + hop, "in.yaml:2:3: presets[0]: acme has no value for members, nodesLeave,"},
		"no name":               {"presets:\n- {short: A, what: an A}\n", "in.yaml:2:3: presets[0]: name is missing"},
		"no name for people":    {"presets:\n- {name: a, what: an A}\n", "in.yaml:2:3: presets[0]: short is missing"},
		"a name that is no row": {"presets:\n- {name: auto, short: A, what: an A}\n", "in.yaml:2:10: presets[0].name: \"auto\" is no name of a preset: want letters, digits and -, and neither auto nor none"},
		"a name with a space":   {"presets:\n- {name: a b, short: A, what: an A}\n", "in.yaml:2:10: presets[0].name: \"a b\" is no name of a preset"},
		"a name that is taken":  {"presets:\n- {name: a, short: A, what: an A}\n- {name: a, short: A, what: an A}\n", "in.yaml:3:10: presets[1].name: there is a preset a already, at in.yaml:2:10: want another name"},
		"a proxy's field":       {head + "  - {status: recalled, source: from memory, loadBalancer: {retries: 1}}\n", "in.yaml:6:69: presets[0].values[0].loadBalancer.retries: not a field of acme; valid here: target,"},
		"a range of what is known": {
			head + "  - {status: verified, source: from memory, reported: {propagation: [1s, 2s]}, loadBalancer: {propagation: 1s}}\n",
			"in.yaml:6:45: presets[0].values[0].reported: a range is what reports differ in: want status reported, or none",
		},
		"other values of what is verified": {
			head + "  - {status: verified, source: from memory, unmeasured: {propagation: [1s, 2s]}, loadBalancer: {propagation: 0s}}\n",
			"in.yaml:6:45: presets[0].values[0].unmeasured: these are values in place of one that nobody has measured: want status inferred or recalled, or none",
		},
		"other values that are not longer": {
			head + "  - {status: inferred, source: from memory, unmeasured: {propagation: [1s, 2s]}, loadBalancer: {propagation: 1s}}\n",
			"in.yaml:6:58: presets[0].values[0].unmeasured.propagation: propagation is 1s: want a value, and two longer ones",
		},
		"other values in the wrong order": {
			head + "  - {status: inferred, source: from memory, unmeasured: {propagation: [2s, 1s]}, loadBalancer: {propagation: 0s}}\n",
			"in.yaml:6:58: presets[0].values[0].unmeasured.propagation: expected two durations, the lesser one first",
		},
		"no range of what is reported": {
			head + "  - {status: reported, source: from memory, loadBalancer: {propagation: 1s}}\n",
			"in.yaml:6:5: presets[0].values[0]: propagation is only reported: want the least and the most that was, as reported: {propagation: [5s, 40s]}",
		},
		"a range that is none": {
			head + "  - {status: reported, source: from memory, reported: {propagation: [2s, 1s]}, loadBalancer: {propagation: 1s}}\n",
			"in.yaml:6:56: presets[0].values[0].reported.propagation: expected two durations, [least, most]",
		},
		"a value beyond its range": {
			head + "  - {status: reported, source: from memory, reported: {propagation: [1s, 2s]}, loadBalancer: {propagation: 3s}}\n",
			"in.yaml:6:56: presets[0].values[0].reported.propagation: propagation is 3s: want a value within what was reported",
		},
		"what cannot be only reported": {
			head + "  - {status: reported, source: from memory, reported: {drain: [1s, 2s]}, loadBalancer: {drain: 1s}}\n",
			"in.yaml:6:56: presets[0].values[0].reported.drain: unknown field; valid here: registration, propagation, healthPropagation",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := readPresets([]manifest.File{{Name: "in.yaml", Data: []byte(tt.text)}})
			if !slices.ContainsFunc(problems, func(p manifest.Problem) bool { return strings.HasPrefix(p.Error(), tt.want) }) {
				t.Errorf("got %v, want %s", problems, tt.want)
			}
		})
	}
}

// A name is taken in all files.
func TestANameOfAPresetIsTakenInEveryFile(t *testing.T) {
	t.Parallel()
	file := func(name string) manifest.File {
		return manifest.File{Name: name, Data: []byte("presets:\n- {name: a, short: A, what: an A}\n")}
	}
	_, problems := readPresets([]manifest.File{file("one.yaml"), file("two.yaml")})
	const want = "two.yaml:2:10: presets[0].name: there is a preset a already, at one.yaml:2:10: want another name"
	if !slices.ContainsFunc(problems, func(p manifest.Problem) bool { return p.Error() == want }) {
		t.Errorf("got %v", problems)
	}
}

// What the caller does to a preset is not seen by the next one.
func TestAPresetIsTheCallers(t *testing.T) {
	t.Parallel()
	first, _ := presetFor("aws-alb-ip", "")
	first.Fields[0].Value, first.LoadBalancer.Layer7.Retries, first.LoadBalancer.Reported[0].Field = "racks", 9, "drain"
	again, _ := presetFor("aws-alb-ip", "")
	if again.Fields[0].Value != "pods" || again.LoadBalancer.Layer7.Retries != 0 || again.LoadBalancer.Reported[0].Field != "registration" {
		t.Errorf("%+v", again)
	}
}

// MetalLB's speakers hear of a change as every watch does. Reference: docs/model/load-balancers.md 1 MetalLB.
func TestMetalLBHasTheDelayOfAWatch(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"metallb-l2-local", "metallb-l2-cluster", "metallb-bgp-local", "metallb-bgp-cluster"} {
		if p, ok := presetFor(name, ""); !ok || p.LoadBalancer.Controller.String() != DefaultLatencies().Watch.String() {
			t.Errorf("%s: %s", name, p.LoadBalancer.Controller)
		}
	}
}

// FuzzPresets: no file makes the reader panic, and a preset that is read has every field, with a source.
func FuzzPresets(f *testing.F) {
	for _, file := range presets.Files() {
		f.Add(file.Text)
		for family := range strings.SplitSeq(file.Text, "\n\n- ") {
			f.Add("presets:\n- " + family)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, problems := readPresets([]manifest.File{{Name: "in.yaml", Data: []byte(text)}})
		if manifest.HasErrors(problems) {
			return
		}
		names := map[string]bool{}
		for _, p := range rows {
			if names[p.ID] || p.Short == "" || len(p.Fields) != len(fieldNames(&p.LoadBalancer)) {
				t.Fatalf("%+v", p)
			}
			names[p.ID] = true
			for _, field := range p.Fields {
				if field.Source == "" || field.Status == "" {
					t.Fatalf("%s: %+v", p.ID, field)
				}
			}
		}
	})
}
