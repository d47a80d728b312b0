package scenario

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// keptInputs has what comes of each input that tests of this package read, whatever else they ask of it: a row each, by the test and the input's sum.
const keptInputs = "testdata/kept/inputs.txt"

var shownInput = flag.String("input", "", "print what comes of the input of this name in "+keptInputs)

// kept are the rows of keptInputs, and those that tests have seen.
var kept = struct {
	sync.Mutex
	rows, seen map[string]string
}{rows: keptRows(keptInputs), seen: map[string]string{}}

func keptRows(path string) map[string]string {
	rows := map[string]string{}
	data, err := os.ReadFile(path)
	if err != nil {
		return rows // each input is new then
	}
	for line := range strings.Lines(string(data)) {
		name, came, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		rows[name] = came
	}
	return rows
}

// Where all tests have run, each row was of one of them; with -update there are no others.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	some := func(name string) bool { return flag.Lookup("test."+name).Value.String() != "" }
	if code == 0 && !some("run") && !some("skip") && !some("list") && !some("fuzz") {
		code = allSeen()
	}
	os.Exit(code)
}

func allSeen() int {
	var text strings.Builder
	for _, name := range sortedKeys(kept.seen) {
		fmt.Fprintf(&text, "%s: %s\n", name, kept.seen[name])
	}
	if *update {
		if err := os.WriteFile(keptInputs, []byte(text.String()), 0o644); err != nil {
			panic(err)
		}
		return 0
	}
	for _, name := range sortedKeys(kept.rows) {
		if kept.seen[name] == "" {
			fmt.Fprintf(os.Stderr, "%s: no test reads %s any more: go test ./sim/scenario -update\n", keptInputs, name)
			return 1
		}
	}
	return 0
}

// inferKept is Infer, and compares all that comes of it with what came of it before.
func inferKept(t *testing.T, objects *manifest.Objects, opts Options) ([]Case, []manifest.Problem) {
	t.Helper()
	cases, problems := Infer(objects, opts)
	var b strings.Builder
	writeProblems(&b, problems)
	for i := range cases {
		writeWhole(&b, &cases[i])
	}
	compareKept(t, objects, opts, b.String())
	return cases, problems
}

// parseKept is Parse, and does the same.
func parseKept(t *testing.T, objects *manifest.Objects, opts Options) ([]*world.Scenario, []manifest.Problem) {
	t.Helper()
	scenarios, problems := Parse(objects, opts)
	var b strings.Builder
	writeProblems(&b, problems)
	for _, s := range scenarios {
		writeSmall(&b, s)
	}
	compareKept(t, objects, opts, b.String())
	return scenarios, problems
}

// writeWhole writes every word of a case.
func writeWhole(b *strings.Builder, c *Case) {
	own := *c
	own.Scenario, own.Families, own.Object, own.Drain = nil, nil, nil, nil
	fmt.Fprintf(b, "%+v\n", own)
	if c.Object != nil {
		fmt.Fprintln(b, c.Object, c.Object.Position)
	}
	if c.Drain != nil {
		fmt.Fprintf(b, "%+v\n", *c.Drain)
	}
	for _, f := range c.Families {
		fmt.Fprintf(b, "--- %s %s\n%s", f.Preset, f.Name, Normal(f.Scenario))
	}
	if c.Scenario != nil {
		writeSmall(b, c.Scenario)
	}
}

// writeSmall writes a Scenario that is small.
func writeSmall(b *strings.Builder, s *world.Scenario) {
	large := func(w world.Workload) bool { return w.Replicas() > 300 }
	if len(s.Nodes) > 100 || slices.ContainsFunc(s.Workloads, large) {
		return // to write it down would take longer than its test
	}
	b.WriteString(Normal(s))
}

func compareKept(t *testing.T, objects *manifest.Objects, opts Options, text string) {
	t.Helper()
	h := fnv.New32a()
	for _, o := range objects.All {
		value, err := json.Marshal(o.Value)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%v %s %s\n", o, o.Position, value)
	}
	for _, o := range objects.Unusable {
		fmt.Fprintln(h, o, o.Position)
	}
	opts.Wording = Wording{}
	fmt.Fprintf(h, "%+v", opts)
	name, came := fmt.Sprintf("%s %08x", t.Name(), h.Sum32()), outcome(text)
	if *shownInput == name {
		t.Log(text)
	}
	kept.Lock()
	defer kept.Unlock()
	kept.seen[name] = came
	if was := kept.rows[name]; was != came && !*update {
		t.Errorf("%s: %q, was %q: see it with -input, in this version and in the one before", name, came, was)
	}
}
