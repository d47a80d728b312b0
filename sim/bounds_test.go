package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
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
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
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
		action   world.Action
		refused  bool
	}{
		{20000, 3, world.Action{Operation: world.RolloutRestart{Workload: "default/web"}}, false},
		{20001, 3, world.Action{Operation: world.RolloutRestart{Workload: "default/web"}}, true},
		{20001, 3, world.Action{Operation: world.RolloutRestart{Workload: "default/other"}}, false},
		{20000, 1000, world.Action{Operation: world.RolloutRestart{Workload: "default/web"}}, false},
		{20000, 1001, world.Action{Operation: world.RolloutRestart{Workload: "default/web"}}, true},
		{2, 3, world.Action{Operation: world.Scale{Workload: "default/web", Replicas: 20001}}, true},
		{2, 3, world.Action{Operation: world.Scale{Workload: "default/web", Replicas: 20000}}, false},
	} {
		sc := plainWorld(2, sec)
		name := sc.Workloads[0].Name()
		switch o := c.action.Operation.(type) {
		case world.RolloutRestart:
			o.Workload = strings.Replace(o.Workload, "default/web", name, 1)
			c.action.Operation = o
		case world.Scale:
			o.Workload = name
			c.action.Operation = o
		}
		sc.Workloads[0].Deployment().Spec.Replicas = &c.replicas
		sc.Nodes = make([]world.Node, c.nodes)
		sc.Actions = []world.Action{c.action}
		if err := tooLarge(sc); (err != nil) != c.refused {
			t.Errorf("%d replicas, %d nodes, %s %s: %v", c.replicas, c.nodes, c.action.Verb(), c.action.Target(), err)
		}
	}
}

// What is there beside the action counts, too: all pods of a case, and the endpoints that they are for Services of many ports.
func TestAWorldThatIsTooLargeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	const deployment = `---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME, namespace: shop}, spec: {replicas: COUNT, selector: {matchLabels: {app: NAME}},
  template: {metadata: {labels: {app: NAME, all: together}}, spec: {containers: [{name: a, image: example.com/a, ports: [{containerPort: 80}]}]}}}}
`
	ports := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf("{name: p%d, port: %d, targetPort: 80}", i, 80+i))
		}
		return "---\n{apiVersion: v1, kind: Service, metadata: {name: all, namespace: shop}, spec: {selector: {all: together}, ports: [" + strings.Join(out, ", ") + "]}}\n"
	}
	for _, c := range []struct {
		replicas, ports int
		want            string // "" where it is simulated
	}{
		{99_997, 1, ""},
		{99_998, 1, "web.yaml:2:98: the workloads of one case have 100001 pods together, shop/big most of them: too many to be simulated; at most 100000 in all"},
		{9_997, 50, ""},
		{9_998, 50, "web.yaml:8:107: Service shop/all has 50 ports and 10001 pods, so that there are 500050 endpoints or more: too many to be simulated; at most 500000 in all"},
	} {
		text := strings.NewReplacer("NAME", "big", "COUNT", fmt.Sprint(c.replicas)).Replace(deployment) + strings.NewReplacer("NAME", "small", "COUNT", "3").Replace(deployment) + ports(c.ports)
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
		cases, _ := scenario.Infer(objects, scenario.Options{Target: "small", Actions: []string{"rollout"}})
		at := slices.IndexFunc(cases, func(x scenario.Case) bool { return x.Scenario != nil })
		if at < 0 {
			t.Fatal("no case")
		}
		err := tooLarge(cases[at].Scenario)
		if got := fmt.Sprint(err); got != cmp.Or(c.want, "<nil>") {
			t.Errorf("%d pods, %d ports: %s, want %s", c.replicas, c.ports, got, c.want)
		}
	}
}
