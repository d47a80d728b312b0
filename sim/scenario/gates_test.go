package scenario

import (
	"strings"
	"testing"
)

// What sets a gate that nothing in the input sets is assumed, and tried otherwise, unless it is said.
func TestWhoSetsGates(t *testing.T) {
	t.Parallel()
	in := strings.Replace(`apiVersion: v1
kind: Pod
metadata: {name: db, labels: {app: db}}
spec:
  GATES
  containers: [{name: db, image: example.com/db, ports: [{containerPort: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: db}, ports: [{port: 80}]}
`, "GATES", "readinessGates: [{conditionType: example.com/warm}]", 1)
	const assumed = "example.com/warm is set uniform 0s-5s after a pod's containers are ready, by something not in the input"
	for _, c := range []struct {
		in   string
		set  []string
		want string // the assumption, its alternatives, and what is left out
	}{
		{in, nil, assumed + "; set after 1m, set by nothing; "},
		{in, []string{"readinessGates=9s"}, "; ; "},
		{in, []string{"readinessGates=never"}, "; ; nothing in this input sets readiness gate example.com/warm: pods that start during the run are never ready"},
		{strings.Replace(in, "readinessGates: [{conditionType: example.com/warm}]", "readinessGates: []", 1), nil, "; ; "},
	} {
		cases, problems := inferKept(t, objectsIn(c.in), Options{Set: c.set, Actions: []string{"evict"}})
		if len(cases) == 0 {
			t.Fatal(problems)
		}
		s := cases[0].Scenario
		var said, other, left string
		for _, a := range s.Assumptions {
			if a.ID == "keeper" {
				said = a.Value
			}
		}
		var values []string
		for _, a := range Alternatives(s) {
			if a.ID == "keeper" {
				values = append(values, a.Value)
				if (a.Scenario.Keeper.After == nil) != (a.Value == "set by nothing") || s.Keeper.After == nil {
					t.Errorf("%s: %+v", a.Value, a.Scenario.Keeper)
				}
			}
		}
		other = strings.Join(values, ", ")
		for _, n := range s.NotModelled {
			if n.ID == "readiness-gate" {
				left = n.What
			}
		}
		if got := said + "; " + other + "; " + left; got != c.want {
			t.Errorf("%v: %q, want %q", c.set, got, c.want)
		}
	}
}
