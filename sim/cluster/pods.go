package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// podTable is the pods that are and were.
type podTable struct {
	pods     []*podInfo // by PodID
	ordinals map[api.ReplicaSetID]int
	livePods []api.PodID   // objects that exist, in ID order
	live     []api.PodList // their present versions, by workload

	bare  map[int]api.PodID // of the workloads that are a Pod: which it is
	named map[string]int    // pods of a name that was given
}

func newPodTable(workloads int) podTable {
	return podTable{ordinals: map[api.ReplicaSetID]int{}, live: make([]api.PodList, workloads), bare: map[int]api.PodID{}, named: map[string]int{}}
}

// podInfo is what of a pod never changes.
type podInfo struct {
	name    string
	called  string // the name of its object where that stays the same, "" where it is generated
	ordinal int    // see api.Pod
	id      api.ReplicaSetID
	pod     *api.Pod // as created

	written *writtenPod // nil until it is in a slice
	unwell  bool        // the input has it Pending or not ready: nobody waits for it
	asked   bool        // what is not in the input is about to set its readiness gates, or has
}

// NewPod numbers and names a pod of a ReplicaSet. Its UID is a draw.
func (w *World) NewPod(id api.ReplicaSetID) *api.Pod {
	n := w.ordinals[id]
	w.ordinals[id]++
	p := w.newPod(id, fmt.Sprintf("%s r%d %d", w.sc.Workloads[id.Workload].Name(), id.Revision, n), n)
	p.ReplicaSet = &id
	return p
}

// NewNamed numbers a pod of a revision that no ReplicaSet makes, and whose name is given: one after the other may have it. For its
// draws, and where that matters, it is told apart by its revision, and by how many of that there were before.
func (w *World) NewNamed(id api.ReplicaSetID, name string, ordinal int) *api.Pod {
	_, called, _ := strings.Cut(name, "/")
	name = fmt.Sprintf("%s r%d", name, id.Revision)
	if w.named[name]++; w.named[name] > 1 {
		name = fmt.Sprintf("%s #%d", name, w.named[name])
	}
	p := w.newPod(id, name, ordinal)
	w.pods[p.ID].called = called
	return p
}

func (w *World) newPod(id api.ReplicaSetID, name string, ordinal int) *api.Pod {
	p := &api.Pod{
		ID: api.PodID(len(w.pods)), Name: name, UID: w.eng.Stream(name, "uid").Draw(0), Ordinal: ordinal,
		Workload: id.Workload, Revision: id.Revision, Node: -1, DeletedAt: api.Never, Created: w.eng.Now(),
		Gates: w.gatesOf(id),
	}
	w.pods = append(w.pods, &podInfo{name: name, ordinal: ordinal, id: id, pod: p})
	return p
}

func (w *World) podName(id api.PodID) string { return w.pods[id].name }

// setOf identifies the revision of a pod.
func setOf(p *api.Pod) api.ReplicaSetID {
	return api.ReplicaSetID{Workload: p.Workload, Revision: p.Revision}
}

// calledPod is the name of a pod's object where that stays the same, else "".
func (w *World) calledPod(id api.PodID) string {
	if int(id) >= len(w.pods) {
		return ""
	}
	return w.pods[id].called
}

// PodName returns a pod's name: its workload, revision and ordinal.
func (w *World) PodName(id api.PodID) string { return w.podName(id) }

// deletePod asks the API to delete a pod with its own grace period.
func (w *World) deletePod(owner engine.Owner, id api.PodID) {
	w.store.Write(owner, "delete pod", api.PodKey(id), w.Deletion(id, world.OwnGrace), nil)
}

// PodsOn lists the pods in the API that are bound to a node, in order of ID.
func (w *World) PodsOn(node int) []*api.Pod {
	var out []*api.Pod
	for _, id := range w.livePods {
		if p, ok := w.store.Get(api.PodKey(id)).(*api.Pod); ok && p.Node == node {
			out = append(out, p)
		}
	}
	return out
}

// Deletion is what a delete request does to a pod, with a grace period or world.OwnGrace.
func (w *World) Deletion(id api.PodID, grace engine.Time) func(api.Object) api.Object {
	if grace == world.OwnGrace {
		grace = w.grace(w.pods[id].id)
	}
	return func(o api.Object) api.Object {
		p, ok := o.(*api.Pod)
		if !ok || p.Deleting() && (grace > 0 || p.Grace == 0) {
			return nil
		}
		if p.Deleting() { // with grace 0 it goes at once, whatever it was given before
			w.forceOff(p.ID)
			return nil
		}
		next := *p
		next.DeletedAt, next.Grace = w.eng.Now(), grace
		if p.Node < 0 || p.Phase.Terminal() {
			next.Grace, next.Gone = 0, true // nobody has to be waited for
		} else if grace == 0 {
			w.forceOff(id)
		}
		return &next
	}
}

// A pod that is deleted with grace 0 gets its deletionTimestamp and is deleted in two steps of the
// storage, so far apart (docs/model/pod-lifecycle.md 1.6; docs/model/measured.md 1).
const (
	shortestForce = engine.Millisecond
	longestForce  = 4 * engine.Millisecond
)

// forceOff takes the object of a pod away without waiting for its kubelet, which ends the processes
// when it hears of it.
func (w *World) forceOff(id api.PodID) {
	span, err := engine.Uniform(shortestForce, longestForce)
	if err != nil {
		panic(err) // constants in order
	}
	delay := span.Sample(w.eng.Stream(w.podName(id), "forced deletion").Draw(0))
	w.store.CommitAfter(delay, "remove pod", api.PodKey(id), api.Gone)
}

// noteWrite keeps what the store's readers need besides the objects. It hears of every version
// of a pod, with the one before, nil for none.
func (w *World) noteWrite(old, p *api.Pod) {
	w.live[p.Workload].Set(p)
	w.changedPod(old, p)
	w.notePod(old, p)
	w.podWritten(p)
	w.noteVolumes(old, p)
	w.askKeeper(p)
	i, found := slices.BinarySearch(w.livePods, p.ID)
	switch {
	case p.Gone && found:
		w.livePods = slices.Delete(w.livePods, i, i+1)
	case !p.Gone && !found:
		w.livePods = slices.Insert(w.livePods, i, p.ID)
	}
}
