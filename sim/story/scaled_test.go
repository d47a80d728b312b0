package story

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The last of what scales a workload decides whether it is left without pods.
func TestScaledToNothing(t *testing.T) {
	t.Parallel()
	s := &world.Scenario{Workloads: []world.Workload{*server(func(*world.Workload) {})}}
	w := &s.Workloads[0]
	scale := func(of string, replicas, line int) world.Action {
		return world.Action{Operation: world.Scale{Workload: of, Replicas: replicas}, Pos: manifest.Position{File: "s.yaml", Line: line}}
	}
	for name, c := range map[string]struct {
		actions []world.Action
		line    int
	}{
		"nothing scales it":     {nil, 0},
		"to 0":                  {[]world.Action{scale(w.Name(), 2, 3), scale(w.Name(), 0, 4)}, 4},
		"to 0 and back":         {[]world.Action{scale(w.Name(), 0, 3), scale(w.Name(), 2, 4)}, 0},
		"another one goes to 0": {[]world.Action{scale("shop/other", 0, 3)}, 0},
	} {
		s.Actions = c.actions
		got, ok := ScaledToNothing(s, w)
		if ok != (c.line > 0) || got.Line != c.line {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
