package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// account is all that a run says of its requests.
func account(r *sim.Result) string {
	var groups []ledger.Group
	for _, g := range r.Ledger.Groups() {
		groups = append(groups, *g)
	}
	return fmt.Sprintf("%s\n%+v\n%+v\n%+v\n%+v\n%v %s %v", r.TraceHash, r.Streams, groups, r.Ledger.Failures(), r.Ledger.Rescued(), r.Events, r.Unrest, r.End)
}

// sameDrawn runs a scenario with its plain requests counted, and with all drawn.
func sameDrawn(t *testing.T, name string, sc *world.Scenario, seed uint64) {
	t.Helper()
	counted, err := sim.Run(sc, seed)
	if err != nil {
		t.Fatalf("%s, seed %d: %v", name, seed, err)
	}
	drawn, err := sim.RunWith(sc, seed, sim.Options{DrawAll: true})
	if err != nil {
		t.Fatalf("%s, seed %d, drawn: %v", name, seed, err)
	}
	if a, b := account(counted), account(drawn); a != b {
		t.Errorf("%s, seed %d: counted\n%s\ndrawn\n%s", name, seed, a, b)
	}
	for i := range sc.Traffic {
		if a, b := counted.Ledger.Outcomes(i), drawn.Ledger.Outcomes(i); !reflect.DeepEqual(a, b) {
			t.Errorf("%s, seed %d, stream %d: counted %v, drawn %v", name, seed, i, a, b)
		}
	}
}

// Requests that are counted and requests that are drawn come to the same, byte by byte, in every
// scenario of the examples.
func TestCountedRequestsComeToTheSameInEveryExample(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../examples/scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			sc := readScenario(t, f)
			for seed := range uint64(2) {
				sameDrawn(t, f, sc, seed+1)
			}
		})
	}
}

// The same for what is made of plain manifests: the examples and others, and the corpus where it is there.
func TestCountedRequestsComeToTheSameInEveryManifest(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("../../shared/corpus/*.yaml")
	if len(files) == 0 {
		t.Log("no corpus beside the checkout: the repository's own only")
	}
	for _, f := range append(files, "scenario/testdata/manifests/ingress.yaml", "scenario/testdata/manifests/sessions.yaml", "../examples/web-app.yaml", "../examples/web-app-recommended.yaml", "../examples/web.yaml") {
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			objects, _ := manifest.Load([]manifest.File{{Name: f, Data: data}}, manifest.Options{})
			cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
			for i := range cases {
				if cases[i].Scenario != nil {
					sameDrawn(t, cases[i].ID, cases[i].Scenario, 1)
				}
			}
		})
	}
}
