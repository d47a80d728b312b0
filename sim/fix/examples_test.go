package fix

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "rewrite what can be changed in the examples")

// keptFixes has what can be changed in each example, and what else its assumptions may be.
const keptFixes = "testdata/examples.txt"

// What can be changed in the examples, what it costs and what the Scenario is then, stays as it was; so does what else is assumed.
func TestChangesOfExamples(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, pattern := range []string{"../../examples/*.yaml", "../../examples/*/*.yaml", "../report/testdata/*.yaml", "../scenario/testdata/manifests/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths {
			lines = append(lines, linesOf(t, path)...)
		}
	}
	golden.Compare(t, keptFixes, strings.Join(lines, "\n")+"\n", *update)
}

// linesOf are those of an input's first cases: no two with the same line.
func linesOf(t *testing.T, path string) (lines []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: data}}, manifest.Options{})
	if manifest.HasErrors(problems) {
		return nil
	}
	var scenarios []*world.Scenario
	if len(objects.Scenarios) > 0 {
		scenarios, _ = scenario.Parse(objects, scenario.Options{})
	}
	cases, _ := scenario.Infer(objects, scenario.Options{})
	for i := range cases {
		scenarios = append(scenarios, cases[i].Scenario)
	}
	scenarios = slices.DeleteFunc(scenarios, func(s *world.Scenario) bool { return s == nil })
	for k, s := range scenarios[:min(2, len(scenarios))] {
		if k == 0 {
			lines = append(lines, filepath.Base(path)+": assumed"+otherwise(s))
		}
		for i := range s.Workloads {
			lines = append(lines, filepath.Base(path)+": "+ofWorkload(s, &s.Workloads[i]))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// otherwise are the other values of what is assumed, with one sum of the Scenarios with them.
func otherwise(s *world.Scenario) string {
	out, all := "", ""
	for i, a := range scenario.Alternatives(s) {
		out += fmt.Sprintf(" %s=%s", a.ID, a.Value)
		if i%3 == 0 { // for the time that it takes
			all += scenario.Normal(a.Scenario)
		}
	}
	return out + " " + sumOf(all)
}

// ofWorkload is what can be changed in a workload: the titles, each with a sum of all that is said of it and of the Scenario with it.
func ofWorkload(s *world.Scenario, w *world.Workload) string {
	out := w.Name()
	add := func(kind string, changes []Change) {
		for i := range changes {
			c := &changes[i]
			said := fmt.Sprintln(c.ID, c.Destructive, c.Cost, c.Makeshift, c.Sleep, c.Profile, c.Gate, c.Drain, c.Nodes, c.Replicas, c.Spread)
			for _, e := range c.Edits {
				said += fmt.Sprintln(e, e.YAML())
			}
			out += fmt.Sprintf("; %s %s (%s)", kind, c.Title, sumOf(said+scenario.Normal(Apply(s, w.Name(), changes[i:i+1]))))
		}
	}
	add("change", Changes(s, w, 3*engine.Second))
	add("unblock", Unblock(s, w))
	if title, why := Untried(s, w); title != "" {
		out += "; untried " + title + ", " + why
	}
	return out
}

func sumOf(text string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return fmt.Sprintf("%08x", h.Sum32())
}
