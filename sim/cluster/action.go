package cluster

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// deeds is what actions have done that the API does not show.
type deeds struct {
	dead    []bool   // nodes whose machine is gone, or not there yet
	mute    []bool   // nodes whose kubelet is silent from the beginning
	missing []bool   // nodes whose object is deleted
	missed  int      // how many these are
	closing []string // what is about to happen to a node, "" for nothing
	boots   []bool   // nodes that come back as soon as they are off
	emptied []bool   // nodes that Cluster Autoscaler has pods leave before it ends the machine
	begun   []bool   // by workload: an action asked for another template or size, or had pods of it leave
	forced  map[forcing][]*kubelet.Worker
	applied map[api.ReplicaSetID]world.Resource // what "apply" made of a workload, by the revision it began

	conditions []api.NodeTaint // what goes with the condition Ready of each node

	settings map[int]world.Resource // the last that "apply" made of a workload
}

func newDeeds(sc *world.Scenario) deeds {
	return deeds{
		dead: make([]bool, len(sc.Nodes)), mute: make([]bool, len(sc.Nodes)), missing: make([]bool, len(sc.Nodes)), closing: make([]string, len(sc.Nodes)), boots: make([]bool, len(sc.Nodes)), conditions: make([]api.NodeTaint, len(sc.Nodes)),
		emptied: make([]bool, len(sc.Nodes)), begun: make([]bool, len(sc.Workloads)),
		forced: map[forcing][]*kubelet.Worker{}, applied: map[api.ReplicaSetID]world.Resource{},
		settings: map[int]world.Resource{},
	}
}

// Do carries out an action of the scenario. What the scenario package lets through is known
// here.
func (w *World) Do(a world.Action) {
	w.log.Tell(event.Event{Kind: event.Action, Pod: -1, Node: -1, Stream: -1, Action: &a})
	switch o := a.Operation.(type) {
	case world.RolloutRestart, world.SetImage:
		w.change(a.Target(), func(d *api.Workload) { d.Become(w.nextRevision(d.Workload)) })
	case world.Apply:
		w.change(o.Workload, func(d *api.Workload) { w.apply(d, o.Resource) })
	case world.Rollback:
		w.change(o.Workload, func(d *api.Workload) { w.undo(d, &a) })
	case world.Scale:
		w.change(o.Workload, func(d *api.Workload) { d.Replicas = o.Replicas })
	case world.Pause:
		w.change(o.Workload, func(d *api.Workload) { d.Paused = true })
	case world.Resume:
		w.change(o.Workload, func(d *api.Workload) { d.Paused = false })
	default:
		w.doToPods(a)
	}
}

// doToPods carries out an action on pods, or on the Service before them.
func (w *World) doToPods(a world.Action) {
	switch o := a.Operation.(type) {
	case world.CreatePod:
		w.createPod(o)
	case world.SetReady:
		w.force(a.At, o)
	case world.Relabel:
		w.relabel(o)
	case world.SetSelector:
		w.setSelector(o)
	case world.SetPort:
		w.setPort(o)
	case world.SetBudget:
		w.setBudget(&o)
	case world.DeleteService:
		w.removeService(o.Service, true)
	case world.SetGate:
		w.eachOf(o.Pods, true, func(wk *kubelet.Worker) { w.SetGate(w.owner, wk.ID, o.Gate, o.Open) })
	case world.Evict:
		w.evictPods(o.Pods)
	case world.CrashPod:
		w.eachOf(o.Pods, false, func(wk *kubelet.Worker) { wk.Crash() })
	case world.Delete:
		w.eachPod(o.Pods, func(p *api.Pod) {
			w.begun[p.Workload] = true
			w.deletePod(w.owner, p.ID)
		})
	default:
		w.doToMachines(a)
	}
}

// doToMachines carries out an action on nodes, and on what all pods depend on.
func (w *World) doToMachines(a world.Action) {
	switch o := a.Operation.(type) {
	case world.Dependency:
		w.setDependency(o.Name, o.Down)
	case world.APIServer:
		w.setDown(o.Down)
	case world.Component:
		w.component(o.Name, o.What)
	case world.CrashNode:
		w.crashNode(w.numberOf(o.Node))
	case world.ShutdownNode:
		w.shutdownNode(w.numberOf(o.Node), func() {})
	case world.SpotNotice:
		w.spotNotice(o)
	case world.DeleteNode:
		w.removeNode(o)
	case world.CreateNode:
		w.join(w.numberOf(o.Node), func() {})
	case world.ScaleDownNode:
		w.scaleDown(w.numberOf(o.Node), &a)
	case world.Consolidate, world.UpgradePool:
		w.take(&a)
	case world.Cordon:
		w.disrupts.drains.Cordon(w.numberOf(o.Node), true, func() {})
	case world.Drain:
		w.drain(o)
	default:
		panic("cluster: unknown action " + a.Verb()) // a type that was added to world and not here
	}
}

// Undo ends an action that lasts.
func (w *World) Undo(a world.Action) {
	switch o := a.Operation.(type) {
	case world.Dependency:
		w.setDependency(o.Name, !o.Down)
	case world.APIServer:
		w.setDown(!o.Down)
	case world.SetReady:
		w.unforce(a.At, o)
	case world.Component:
		w.component(o.Name, world.ComponentResume)
		w.log.Tell(event.Event{Kind: event.Resumed, Pod: -1, Node: -1, Stream: -1, Action: &a})
	case world.Pause:
		w.change(o.Workload, func(d *api.Workload) { d.Paused = false })
	case world.DeleteService:
		w.removeService(o.Service, false)
		w.log.Tell(event.Event{Kind: event.Resumed, Pod: -1, Node: -1, Stream: -1, Action: &a})
	case world.Cordon:
		w.disrupts.drains.Cordon(w.numberOf(o.Node), false, func() {})
	case world.CrashNode:
		w.bootNode(w.numberOf(o.Node))
	case world.ShutdownNode:
		w.bootNode(w.numberOf(o.Node))
	case world.ScaleDownNode: // what it ends with
		w.deleteNode(w.numberOf(o.Node))
	}
}

// apply makes a workload's object another version of itself: of another revision, unless that of a StatefulSet has the template that
// it had.
func (w *World) apply(d *api.Workload, applied world.Resource) {
	before := w.ResourceOf(api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision})
	same := d.Kind == api.KindStatefulSet && equality.Semantic.DeepEqual(world.TemplateOf(before), world.TemplateOf(applied))
	if !same {
		d.Become(w.nextRevision(d.Workload))
		w.applied[api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision}] = applied
	}
	w.settings[d.Workload], w.begun[d.Workload] = applied, true
	w.usable[d.Workload].dark.rollOut(w.eng.Now())
	d.Replicas = int(world.ReplicasOf(applied))
}

// change edits the object of a workload through the API, as kubectl does.
func (w *World) change(target string, edit func(*api.Workload)) {
	for i := range w.sc.Workloads {
		if !w.isCalled(i, target) {
			continue
		}
		w.store.Write(w.owner, "edit "+strings.ToLower(w.sc.Workloads[i].Kind()), w.keyOf(i), func(o api.Object) api.Object {
			d, ok := w.asked(i)
			if !ok {
				return nil
			}
			next := *d
			edit(&next)
			w.begun[i] = w.begun[i] || next.Revision != d.Revision || next.Replicas != d.Replicas
			if next.Revision != d.Revision {
				w.usable[i].dark.rollOut(w.eng.Now())
			}
			return edited(o, &next)
		}, nil)
	}
}

// edited is an object with what it is to say.
func edited(o api.Object, next *api.Workload) api.Object {
	rs, ok := o.(*api.ReplicaSet) // a bare one, of which only the size can be changed
	if !ok {
		return next
	}
	out := *rs
	out.Replicas = next.Replicas
	return &out
}

func (w *World) isCalled(workload int, target string) bool {
	target = strings.TrimPrefix(target, "deployment/")
	wl := &w.sc.Workloads[workload]
	return target == wl.Name() || target == wl.ObjectName()
}

// nextRevision is a template no ReplicaSet has yet.
func (w *World) nextRevision(workload int) int {
	last := 0
	if d, ok := w.asked(workload); ok {
		for _, r := range d.History {
			last = max(last, r)
		}
	}
	return last + 1
}

func (w *World) setDependency(name string, down bool) {
	w.down[name] = down
	w.eachWorker(func(wk *kubelet.Worker) { wk.Wake() })
}

// force holds the readiness of a workload's pods, or of one pod, at false, or lets go of it.
// Pods that terminate count, too: their readiness matters while nothing else is ready.
func (w *World) force(at engine.Time, o world.SetReady) {
	var pods []*kubelet.Worker
	w.eachOf(o.Pods, true, func(wk *kubelet.Worker) { pods = append(pods, wk) })
	for _, wk := range pods {
		wk.Force(!o.Ready)
	}
	w.forced[forcing{at, o}] = pods
}

// forcing is a SetReady that may end.
type forcing struct {
	at engine.Time
	world.SetReady
}

// unforce ends a SetReady for the pods it began with, not for later ones.
func (w *World) unforce(at engine.Time, o world.SetReady) {
	for _, wk := range w.forced[forcing{at, o}] {
		wk.Force(o.Ready)
	}
}

// eachWorker visits every pod that a kubelet runs, in ID order on each node.
func (w *World) eachWorker(visit func(*kubelet.Worker)) {
	for id := range w.pods {
		for _, k := range w.kubelets {
			if wk := k.Worker(api.PodID(id)); wk != nil {
				visit(wk)
			}
		}
	}
}

// eachOf visits the pods of a workload, or one of them; those that terminate only where they are asked for. The number of a StatefulSet's
// pod is its ordinal.
func (w *World) eachOf(pods world.Pods, terminating bool, visit func(*kubelet.Worker)) {
	n := 0
	w.eachWorker(func(wk *kubelet.Worker) {
		if !w.isCalled(wk.Instance.Workload, pods.Workload) || wk.Terminating() && !terminating {
			return
		}
		number := n
		if w.kindOf(wk.Instance.Workload) == api.KindStatefulSet {
			number = w.pods[wk.ID].ordinal
		}
		if pods.Number == world.AllPods || pods.Number == number {
			visit(wk)
		}
		n++
	})
}

// eachPod visits the pods of a workload in the API, or one of them, but those that are being deleted: also those that no kubelet has.
// The number of a StatefulSet's pod is its ordinal.
func (w *World) eachPod(pods world.Pods, visit func(*api.Pod)) {
	n := 0
	for _, id := range slices.Clone(w.livePods) {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || !w.isCalled(p.Workload, pods.Workload) || p.Deleting() {
			continue
		}
		number := n
		if w.kindOf(p.Workload) == api.KindStatefulSet {
			number = w.pods[id].ordinal
		}
		if pods.Number == world.AllPods || pods.Number == number {
			visit(p)
		}
		n++
	}
}

// anyAnswers says whether any pod of some workloads, of those that would do, could answer a new
// connection now: it accepts, its app is ready, and does not answer everything with an error.
func (w *World) anyAnswers(workloads []int, would func(*kubelet.Instance) bool) bool {
	for _, wl := range workloads {
		for _, i := range w.instances.Running(wl) {
			if would(i) && i.Accepts() && w.desk.Passes(i, false) && i.App.Errors < everyRequest {
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
