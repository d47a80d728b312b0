package sim

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What a rollout costs grows with its pods times the endpoints of their Service (each write of a slice is a
// new list of all), and with its pods times the nodes (each proxy syncs again and again while it lasts).
// Within these bounds a run takes some minutes and less than 2 GiB; beyond them hours, or more memory than
// most machines have, or it would come to maxEvents.
const (
	mostPods      = 20_000     // that an action replaces
	mostPodsNodes = 20_000_000 // times nodes
)

// What is there beside what an action touches costs memory and the beginning of a run: 60,000 pods take 1.4 GiB and 5 s, 20,000 pods
// behind 20 ports as much. Kubernetes itself is made for 150,000 pods (its documentation, Considerations for large clusters).
const (
	mostStanding  = 100_000 // pods of all workloads of a case together
	mostEndpoints = 500_000 // pods times ports of the Services that select them
)

// largest is the action of a scenario that replaces, removes or adds most pods, with how many and of which
// workload; nil for none.
func largest(sc *world.Scenario) (a *world.Action, w *world.Workload, pods int) {
	for i := range sc.Actions {
		of := workloadOf(sc, sc.Actions[i].Target())
		if of == nil {
			continue
		}
		if n := podsOf(of, sc.Actions[i].Operation); n > pods {
			a, w, pods = &sc.Actions[i], of, n
		}
	}
	return a, w, pods
}

// Replaced is how many pods the largest action of a scenario replaces, removes or adds, 0 without one.
func Replaced(sc *world.Scenario) int {
	_, _, pods := largest(sc)
	return pods
}

// TooLarge is the error for a scenario that is not simulated with its largest action: why, and with how
// many pods or in what other way it would be.
func TooLarge(sc *world.Scenario, why string) error {
	a, w, pods := largest(sc)
	return NotSimulated{fmt.Errorf("%s%s of %s with %d pods on %d nodes is too large to be simulated: %s",
		where(w), a.Verb(), w.Name(), pods, len(sc.Nodes), why)}
}

// crowded says why the world of a scenario is too large, whatever is done in it; nil when it is not.
func crowded(sc *world.Scenario) error {
	pods, most, largest := 0, 0, 0
	for i := range sc.Workloads {
		n := podsOf(&sc.Workloads[i], nil)
		if pods += n; n > most {
			most, largest = n, i
		}
	}
	if pods > mostStanding {
		w := &sc.Workloads[largest]
		return NotSimulated{fmt.Errorf("%sthe workloads of one case have %d pods together, %s most of them: too many to be simulated; at most %d in all",
			where(w), pods, w.Name(), mostStanding)}
	}
	endpoints := 0
	for i := range sc.Services {
		v := &sc.Services[i]
		behind := 0
		for k := range sc.Workloads {
			if w := &sc.Workloads[k]; sc.Serves(v.Service.Namespace+"/"+v.Service.Name, w.Name()) {
				behind += podsOf(w, nil)
			}
		}
		if endpoints += behind * len(v.Service.Spec.Ports); endpoints > mostEndpoints {
			from := ""
			if v.Object != nil {
				from = v.Object.ValueAt("spec.ports").String() + ": "
			}
			return NotSimulated{fmt.Errorf("%sService %s/%s has %d ports and %d pods, so that there are %d endpoints or more: too many to be simulated; at most %d in all",
				from, v.Service.Namespace, v.Service.Name, len(v.Service.Spec.Ports), behind, endpoints, mostEndpoints)}
		}
	}
	return nil
}

// where a workload's replicas stand, as the beginning of a message; "" for what no file has.
func where(w *world.Workload) string {
	if w.Object == nil {
		return ""
	}
	return w.Object.ValueAt("spec.replicas").String() + ": "
}

// tooLarge says why a run of a scenario is not simulated, before anything of it is built; nil when it is.
func tooLarge(sc *world.Scenario) error {
	if err := crowded(sc); err != nil {
		return err
	}
	_, _, pods := largest(sc)
	nodes := len(sc.Nodes)
	if pods <= mostPods && pods*nodes <= mostPodsNodes {
		return nil
	}
	most := min(mostPods, mostPodsNodes/max(nodes, 1))
	return TooLarge(sc, fmt.Sprintf("one run would take hours, or several GiB of memory; at most %d pods there", most))
}

// workloadOf is the workload of an action's target, nil for none.
func workloadOf(sc *world.Scenario, target string) *world.Workload {
	for i := range sc.Workloads {
		if sc.Workloads[i].Name() == target {
			return &sc.Workloads[i]
		}
	}
	return nil
}

// podsOf is how many pods an operation, nil for none, may replace, remove or add.
func podsOf(w *world.Workload, o world.Operation) int {
	pods := w.Replicas()
	if o, ok := o.(world.Scale); ok {
		pods = max(pods, o.Replicas)
	}
	if r := world.Applied(o); r != nil {
		pods = max(pods, int(world.ReplicasOf(r)))
	}
	return pods
}
