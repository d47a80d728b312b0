package cluster

import (
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Do carries out an action of the scenario. What the scenario package lets through is known
// here.
func (w *World) Do(a world.Action) {
	w.record(Event{Kind: EventAction, Pod: -1, Node: -1, Action: &a})
	switch a.Verb {
	case "rolloutRestart", "setImage":
		w.change(a.Target, func(d *Deployment) { d.become(w.nextRevision(d.Workload)) })
	case "apply":
		w.change(a.Target, func(d *Deployment) {
			d.become(w.nextRevision(d.Workload))
			w.applied[ReplicaSetID{d.Workload, d.Revision}] = a.Deployment
			if r := a.Deployment.Spec.Replicas; r != nil {
				d.Replicas = int(*r)
			}
		})
	case "rollback":
		w.change(a.Target, func(d *Deployment) { w.undo(d, &a) })
	case "scale":
		n, err := strconv.Atoi(a.Value)
		if err != nil {
			panic("cluster: scale to " + a.Value) // the scenario was validated
		}
		w.change(a.Target, func(d *Deployment) { d.Replicas = n })
	case "pause":
		w.change(a.Target, func(d *Deployment) { d.Paused = true })
	case "resume":
		w.change(a.Target, func(d *Deployment) { d.Paused = false })
	case "dependency":
		w.setDependency(a.Target, a.Value == "down")
	case "apiserver":
		w.setDown(a.Value == "down")
	case "setReady":
		w.force(a)
	case "setGate":
		gate, status, _ := strings.Cut(a.Value, "=")
		w.eachOf(a.Target, true, func(wk *worker) { w.SetGate(w.owner, wk.id, gate, status == "true") })
	case "component":
		w.component(a.Target, a.Value)
	case "crashNode":
		w.crashNode(w.numberOf(a.Target), &a)
	case "scaleDownNode":
		w.taintNode(w.numberOf(a.Target), &a)
	case "crashPod":
		w.eachPod(a.Target, func(wk *worker) { wk.main.end(EndedCrashed) })
	case "delete":
		w.eachPod(a.Target, func(wk *worker) { w.deletePod(w.owner, wk.id) })
	default:
		panic("cluster: unknown action " + a.Verb) // the scenario was validated
	}
}

// Undo ends an action that lasts.
func (w *World) Undo(a world.Action) {
	switch a.Verb {
	case "dependency":
		w.setDependency(a.Target, a.Value != "down")
	case "apiserver":
		w.setDown(a.Value != "down")
	case "setReady":
		w.unforce(a)
	case "component":
		w.component(a.Target, world.ComponentResume)
		w.record(Event{Kind: EventResumed, Pod: -1, Node: -1, Action: &a})
	case "pause":
		w.change(a.Target, func(d *Deployment) { d.Paused = false })
	case "scaleDownNode": // what it ends with
		w.deleteNode(w.numberOf(a.Target))
	}
}

// change edits a Deployment through the API, as kubectl does.
func (w *World) change(target string, edit func(*Deployment)) {
	for i := range w.sc.Workloads {
		if !w.named(i, target) {
			continue
		}
		w.store.write(w.owner, "edit deployment", key{kindDeployment, i, 0}, func(o object) object {
			d, ok := o.(*Deployment)
			if !ok {
				return nil
			}
			next := *d
			edit(&next)
			w.begun[i] = w.begun[i] || next.Revision != d.Revision || next.Replicas != d.Replicas
			if next.Revision != d.Revision {
				w.usable[i].dark.rollOut(w.eng.Now())
			}
			return &next
		}, nil)
	}
}

func (w *World) named(workload int, target string) bool {
	target = strings.TrimPrefix(target, "deployment/")
	d := w.sc.Workloads[workload].Deployment
	return target == w.sc.Workloads[workload].Name() || target == d.Name
}

// nextRevision is a template no ReplicaSet has yet.
func (w *World) nextRevision(workload int) int {
	last := 0
	if d, ok := w.store.get(key{kindDeployment, workload, 0}).(*Deployment); ok {
		for _, r := range d.History {
			last = max(last, r)
		}
	}
	return last + 1
}

func (w *World) setDependency(name string, down bool) {
	w.dependencyDown[name] = down
	w.eachWorker(func(wk *worker) { wk.wake() })
}

// force holds the readiness of a workload's pods, or of one pod, at false, or lets go of it.
// Pods that terminate count, too: their readiness matters while nothing else is ready.
func (w *World) force(a world.Action) {
	var pods []*worker
	w.eachOf(a.Target, true, func(wk *worker) { pods = append(pods, wk) })
	for _, wk := range pods {
		wk.instance.Forced = a.Value == "false"
		wk.wake()
	}
	w.forced[forcing{a.At, a.Target, a.Value}] = pods
}

// forcing is a setReady that may end.
type forcing struct {
	at            engine.Time
	target, value string
}

// unforce ends a setReady for the pods it began with, whoever has come since.
func (w *World) unforce(a world.Action) {
	for _, wk := range w.forced[forcing{a.At, a.Target, a.Value}] {
		wk.instance.Forced = a.Value != "false"
		wk.wake()
	}
}

// eachWorker visits every pod that a kubelet runs, in ID order on each node.
func (w *World) eachWorker(visit func(*worker)) {
	for id := range w.pods {
		for _, k := range w.kubelets {
			if wk := k.worker(PodID(id)); wk != nil {
				visit(wk)
			}
		}
	}
}

// eachPod visits the pods of a workload ("web", "ns/web"), or its n-th one ("web#0"), of those
// that do not terminate.
func (w *World) eachPod(target string, visit func(*worker)) { w.eachOf(target, false, visit) }

func (w *World) eachOf(target string, terminating bool, visit func(*worker)) {
	name, ordinal, one := strings.Cut(target, "#")
	n := 0
	w.eachWorker(func(wk *worker) {
		if !w.named(wk.instance.Workload, name) || wk.terminating && !terminating {
			return
		}
		if !one || strconv.Itoa(n) == ordinal {
			visit(wk)
		}
		n++
	})
}

// anyAnswers says whether any pod of some workloads, of those that would do, could answer a new
// connection now: it accepts, its app is ready, and does not answer everything with an error.
func (w *World) anyAnswers(workloads []int, would func(*Instance) bool) bool {
	for _, wl := range workloads {
		for _, i := range w.running[wl] {
			if would(i) && i.Accepts() && w.answersProbe(i, false) && i.App.Errors < everyRequest {
				return true
			}
		}
	}
	return false
}

// everyRequest is what scenario.App.Errors is out of.
const everyRequest = 1000

// NodePort returns the node port of a Service's port, 0 for none.
func (w *World) NodePort(service int, port uint16, protocol endpoints.Protocol) uint16 {
	for _, p := range w.sc.Services[service].Service.Spec.Ports {
		if p.Port == int32(port) && string(p.Protocol) == protocol.String() {
			return uint16(p.NodePort)
		}
	}
	return 0
}
