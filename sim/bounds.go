package sim

import (
	"fmt"
	"strconv"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// What a rollout costs grows with its pods times the endpoints of their Service (each change of a
// slice is a new state of all nodes' rules), and with its pods times the nodes (each node hears of
// each change). Beyond these bounds a run would take hours, or come to maxEvents after minutes.
const (
	mostPods      = 5000       // that an action replaces
	mostPodsNodes = 10_000_000 // times nodes: 4.5 events for each pod and node
)

// tooLarge says why a scenario is not simulated, before anything of it is built; nil when it is.
func tooLarge(sc *scenario.Scenario) error {
	for i := range sc.Actions {
		a := &sc.Actions[i]
		w := workloadOf(sc, a.Target)
		if w == nil {
			continue
		}
		pods, nodes := podsOf(w, a), len(sc.Nodes)
		if pods <= mostPods && pods*nodes <= mostPodsNodes {
			continue
		}
		where := ""
		if w.Object != nil {
			where = w.Object.ValueAt("spec.replicas").String() + ": "
		}
		most := min(mostPods, mostPodsNodes/max(nodes, 1))
		return NotSimulated{fmt.Errorf("%s%s of %s with %d pods on %d nodes is too large to be simulated: at most %d pods there",
			where, a.Verb, w.Name(), pods, nodes, most)}
	}
	return nil
}

// workloadOf is the workload of an action's target, nil for none.
func workloadOf(sc *scenario.Scenario, target string) *scenario.Workload {
	for i := range sc.Workloads {
		if sc.Workloads[i].Name() == target {
			return &sc.Workloads[i]
		}
	}
	return nil
}

// podsOf is how many pods an action may replace, remove or add.
func podsOf(w *scenario.Workload, a *scenario.Action) int {
	pods := 1
	if r := w.Deployment.Spec.Replicas; r != nil {
		pods = int(*r)
	}
	if a.Verb == "scale" {
		if to, err := strconv.Atoi(a.Value); err == nil {
			pods = max(pods, to)
		}
	}
	if d := a.Deployment; d != nil && d.Spec.Replicas != nil {
		pods = max(pods, int(*d.Spec.Replicas))
	}
	return pods
}
