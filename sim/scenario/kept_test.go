package scenario

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptInputs has what comes of each input that tests of this package read, whatever else they ask of it: a row each, by the test and the input's sum.
const keptInputs = "testdata/kept/inputs.txt"

var shownInput = flag.String("input", "", "print what comes of the input of this name in "+keptInputs)

var kept = golden.NewRows(keptInputs, update)

func TestMain(m *testing.M) { os.Exit(kept.Main(m)) }

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
	kept.Compare(t, name, came, ": see it with -input, in this version and in the one before")
}
