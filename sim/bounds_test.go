package sim

import (
	"errors"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// A rollout that would take hours is refused before anything is built, with where it is asked for
// and what would be possible.
func TestARolloutThatIsTooLargeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 20001
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web, ports: [{containerPort: 8080}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
`
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{})
	refused := 0
	for i := range cases {
		if cases[i].Scenario == nil {
			continue
		}
		_, err := Run(cases[i].Scenario, 1)
		var not NotSimulated
		if !errors.As(err, &not) || !strings.HasPrefix(err.Error(), "web.yaml:5:13: rolloutRestart of shop/web with 20001 pods on ") || !strings.Contains(err.Error(), "at most 20000 pods") {
			t.Fatalf("%v", err)
		}
		refused++
	}
	if refused == 0 {
		t.Fatal("no case")
	}
}

// The bounds are of pods that an action touches: those that are there beside it do not count, and on
// many nodes they are fewer.
func TestWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		replicas int32
		nodes    int
		action   scenario.Action
		refused  bool
	}{
		{20000, 3, scenario.Action{Verb: "rolloutRestart", Target: "default/web"}, false},
		{20001, 3, scenario.Action{Verb: "rolloutRestart", Target: "default/web"}, true},
		{20001, 3, scenario.Action{Verb: "rolloutRestart", Target: "default/other"}, false},
		{20000, 1000, scenario.Action{Verb: "rolloutRestart", Target: "default/web"}, false},
		{20000, 1001, scenario.Action{Verb: "rolloutRestart", Target: "default/web"}, true},
		{2, 3, scenario.Action{Verb: "scale", Target: "default/web", Value: "20001"}, true},
		{2, 3, scenario.Action{Verb: "scale", Target: "default/web", Value: "20000"}, false},
	} {
		sc := plainWorld(2, sec)
		name := sc.Workloads[0].Name()
		c.action.Target = strings.Replace(c.action.Target, "default/web", name, 1)
		sc.Workloads[0].Deployment.Spec.Replicas = &c.replicas
		sc.Nodes = make([]scenario.Node, c.nodes)
		sc.Actions = []scenario.Action{c.action}
		if err := tooLarge(sc); (err != nil) != c.refused {
			t.Errorf("%d replicas, %d nodes, %s %s: %v", c.replicas, c.nodes, c.action.Verb, c.action.Target, err)
		}
	}
}
