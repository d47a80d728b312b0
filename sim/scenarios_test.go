package sim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// readScenario parses a scenario file with the manifests it names.
func readScenario(t *testing.T, path string) *scenario.Scenario {
	t.Helper()
	read := func(path string) manifest.File {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return manifest.File{Name: path, Data: data}
	}
	objects, problems := manifest.Load([]manifest.File{read(path)}, manifest.Options{})
	opts := scenario.Options{Files: map[string]scenario.Content{}}
	for _, s := range objects.Scenarios {
		for _, ref := range scenario.References(s, opts) {
			opts.Files[ref.Path] = scenario.Content{Files: []manifest.File{read(ref.Path)}}
		}
	}
	list, more := scenario.Parse(objects, opts)
	for _, p := range append(problems, more...) {
		t.Error(p)
	}
	if len(list) != 1 {
		t.Fatalf("%s: %d scenarios", path, len(list))
	}
	return list[0]
}

// The causes that each story of examples/scenarios is about come up in it, over five seeds.
func TestExampleScenariosTellTheirStory(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../examples/scenarios/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d scenarios: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			sc := readScenario(t, file)
			seen := map[string]uint64{}
			for seed := range uint64(5) {
				r, err := Run(sc, seed+1)
				if err != nil {
					t.Fatal(err)
				}
				if !r.Settled && sc.Until >= engine.Hour { // some stories have no end, and say when to stop
					t.Errorf("seed %d did not settle by %s s", seed+1, r.End.Seconds())
				}
				for _, g := range r.Ledger.Groups() {
					seen[g.Blame.Cause.String()] += g.Count
				}
				if sc.Expect.FailedMax != nil && r.Ledger.All().Failed > uint64(*sc.Expect.FailedMax) {
					t.Errorf("seed %d: %d failed", seed+1, r.Ledger.All().Failed)
				}
			}
			for _, want := range sc.Expect.CausesSome {
				if seen[want] == 0 {
					t.Errorf("no %s in %v", want, seen)
				}
			}
			for _, no := range sc.Expect.CausesNone {
				if seen[no] > 0 {
					t.Errorf("%d %s", seen[no], no)
				}
			}
			t.Log(seen)
		})
	}
}
