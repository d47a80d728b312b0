package cluster

import (
	"net/netip"
	"slices"
	"time"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
)

// told is what was last said of the nodes' rules for the entries whose ways are followed.
type told struct {
	entries []Entry
	rules   map[[2]int]event.Event // by node and entry: the last Rules
	healthy map[[2]int]bool
}

// Tell has the log told what happens from now on, and what there is. entries are the streams whose ways through
// the nodes' rules it follows. Nothing is computed for events that nobody hears of.
func (w *World) Tell(entries []Entry) {
	w.log.Begin(w.eng.Now)
	w.told = told{entries: entries, rules: map[[2]int]event.Event{}, healthy: map[[2]int]bool{}}
	if w.log.Hears(event.Wrote) {
		w.store.Wrote = func(o api.Object) { w.tellObject(event.Event{Kind: event.Wrote}, o) }
	}
	if w.log.Hears(event.Delivered) {
		w.store.Delivered = func(watch string, o api.Object) {
			w.tellObject(event.Event{Kind: event.Delivered, Name: watch}, o)
		}
	}
	w.tellKnown()
	for n := range w.Proxies {
		w.noteRules(n)
	}
}

// tellKnown tells of the pods and ReplicaSets that there are.
func (w *World) tellKnown() {
	if !w.log.Hears(event.Known) {
		return
	}
	for _, id := range w.livePods {
		i := w.PodInstance(id)
		w.tellObject(event.Event{Kind: event.Known, Pod: id, OK: i != nil && i.Accepts()}, w.store.Get(api.PodKey(id)))
	}
	for i := range w.sc.Workloads {
		if rs := w.store.Get(api.ReplicaSetKey(api.ReplicaSetID{Workload: i, Revision: 0})); rs != nil {
			w.tellObject(event.Event{Kind: event.Known}, rs)
		}
	}
}

func (w *World) tellObject(e event.Event, o api.Object) {
	e.Object = o
	if slice, ok := o.(*nodeproxy.SliceWrite); ok {
		e.View = slice.View
	}
	w.log.Tell(e)
}

// notePod tells what a write of a pod changes.
func (w *World) notePod(old, p *api.Pod) {
	if old != nil {
		w.noteGates(old, p)
	}
	switch {
	case p.Gone:
		w.log.OfPod(event.Gone, p.ID)
	case old == nil:
		w.log.OfPod(event.Created, p.ID)
	case p.Deleting() && !old.Deleting():
		w.log.OfPod(event.Deleted, p.ID)
	case p.Ready && !old.Ready:
		w.log.OfPod(event.Ready, p.ID)
	case !p.Ready && old.Ready:
		w.log.OfPod(event.NotReady, p.ID)
	}
}

// noteSlice tells what a new version of one slice changes. Both are in order of ID.
func (w *World) noteSlice(service int, before, after []endpointslice.Entry) {
	if !w.log.Hears(event.Endpoint) && !w.log.Hears(event.EndpointGone) {
		return
	}
	endpointslice.Merge(before, after, func(a, b *endpointslice.Entry) {
		switch {
		case b == nil:
			w.log.Tell(event.Event{Kind: event.EndpointGone, Pod: a.ID, Node: -1, Stream: -1, Service: service})
		case a == nil || a.Conditions != b.Conditions:
			w.log.Tell(event.Event{Kind: event.Endpoint, Pod: b.ID, Node: -1, Stream: -1, Service: service, Conditions: b.Conditions})
		}
	})
}

// noteWait tells that a node's proxy has heard of a change, and waits with it until a moment.
func (w *World) noteWait(node int, until time.Duration, others bool) {
	if w.log.Follows(event.Wait, node) {
		w.log.Tell(event.Event{Kind: event.Wait, Pod: -1, Node: node, Stream: -1, Until: engine.FromDuration(until), Others: others})
	}
}

// noteRules tells where a node's rules lead each entry, and what its health ports answer, if that changed.
func (w *World) noteRules(node int) {
	if w.sc.Nodes[node].Joins && w.dead[node] { // nobody sends to it yet
		return
	}
	rules, health := w.log.Follows(event.Rules, node), w.log.Follows(event.HealthPort, node)
	for i, e := range w.told.entries {
		k := [2]int{node, i}
		if rules {
			w.noteWay(k, e)
		}
		if !health || !e.asked {
			continue
		}
		ok := w.NodeHealthy(e, node)
		if was, known := w.told.healthy[k]; !known || was != ok {
			w.told.healthy[k] = ok
			w.log.Tell(event.Event{Kind: event.HealthPort, Pod: -1, Node: node, Stream: i, OK: ok})
		}
	}
}

// noteWay tells where a node's rules lead one entry, if that changed.
func (w *World) noteWay(k [2]int, e Entry) {
	node := k[0]
	d := w.Enter(e, node)
	next := event.Event{Kind: event.Rules, Pod: -1, Node: node, Stream: k[1], Verdict: d.Verdict, Targets: make([]api.PodID, 0, len(d.Targets))}
	for _, t := range d.Targets {
		if pod, ok := w.podAt(t.Addr.Addr()); ok {
			next.Targets = append(next.Targets, pod)
		}
	}
	slices.Sort(next.Targets)
	next.Fallback = len(d.Targets) > 0 && w.fellBack(e, node, d.Targets)
	if last, ok := w.told.rules[k]; !ok || last.Verdict != next.Verdict || last.Fallback != next.Fallback || !slices.Equal(last.Targets, next.Targets) {
		w.told.rules[k] = next
		w.log.Tell(next)
	}
}

// fellBack says whether all targets of a node's rules are terminating in the view that the rules were made of.
func (w *World) fellBack(e Entry, node int, targets []plan.Target) bool {
	for _, p := range e.Endpoints(w.Proxies[node].Installed()) {
		if !p.Conditions.Terminating() && slices.ContainsFunc(targets, func(t plan.Target) bool { return t.Addr == p.Addr }) {
			return false
		}
	}
	return true
}

// podAt returns the pod that has an address, ok false when none ever had.
func (w *World) podAt(ip netip.Addr) (api.PodID, bool) {
	if i := w.Instance(ip); i != nil {
		return i.Pod, true
	}
	return 0, false
}

// PodRef is what a pod is called.
type PodRef struct {
	ID       api.PodID
	Name     string // of its workload, revision and ordinal
	Called   string // the name of its object where that stays the same, as that of a StatefulSet's pod; "" where it is generated
	Workload int
	Revision int
	Ordinal  int // that of its StatefulSet, else among the pods of its revision
}

// PodRefs describes every pod that exists or existed, by PodID.
func (w *World) PodRefs() []PodRef {
	var out []PodRef
	for id, info := range w.pods {
		out = append(out, PodRef{api.PodID(id), info.name, info.called, info.id.Workload, info.id.Revision, info.ordinal})
	}
	return out
}
