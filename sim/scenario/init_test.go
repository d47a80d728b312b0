package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// withInits is altWeb with an init container, or what stands for one.
func withInits(t *testing.T, container string, set ...string) *world.Scenario {
	t.Helper()
	text := strings.Replace(altWeb, "      containers:\n", "      initContainers: ["+container+"]\n      containers:\n", 1)
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, more := inferKept(t, objects, Options{Set: set, Actions: []string{"rollout"}})
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || len(cases) != 1 {
		t.Fatalf("%d cases, %v %v", len(cases), problems, more)
	}
	return cases[0].Scenario
}

// The time of init containers is an assumption of 5 s each, and 0 s and 60 s are tried, where a pod has
// some that are no sidecars and nobody said it. Reference: docs/model/simulator.md 9.
func TestHowLongInitContainersRunIsAssumedWherePodsHaveSome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, container string
		set             []string
		assumed         string
		init            engine.Time
	}{
		{"an init container", "{name: migrate, image: example.com/migrate}", nil, "5s each", 5 * engine.Second},
		{"a sidecar", "{name: logs, image: example.com/logs, restartPolicy: Always}", nil, "", 5 * engine.Second},
		{"none", "", nil, "", 5 * engine.Second},
		{"said of all", "{name: migrate, image: example.com/migrate}", []string{"init=2s"}, "", 2 * engine.Second},
		{"said of the app", "{name: migrate, image: example.com/migrate}", []string{"init=2s", "apps.web.init=3s"}, "", 3 * engine.Second},
	} {
		s := withInits(t, c.container, c.set...)
		if got := s.Workloads[0].App.Init; assumedValue(s, "init") != c.assumed || got.Min() != c.init || got.Max() != c.init {
			t.Errorf("%s: %q, %s", c.name, assumedValue(s, "init"), got)
		}
		var tried []engine.Time
		for _, a := range Alternatives(s) {
			if a.ID == "init" {
				tried = append(tried, a.Scenario.Workloads[0].App.Init.Max())
			}
		}
		if want := c.assumed != ""; want && (len(tried) != 2 || tried[0] != 0 || tried[1] != engine.Minute) || !want && tried != nil {
			t.Errorf("%s: tried %v", c.name, tried)
		}
		if s.Workloads[0].App.Init.Max() != c.init {
			t.Errorf("%s: trying changed the Scenario", c.name)
		}
	}
}
