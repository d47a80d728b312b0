package cluster

import (
	"net/netip"
	"slices"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Kind is what happened, in the words of the field.
type Kind uint8

// The kinds of events a Journal hears of.
const (
	EventAction        Kind = iota // the scenario did something: Action
	EventCreated                   // a pod object was created
	EventDeleted                   // a pod got its deletionTimestamp
	EventReady                     // a pod's Ready condition became true in the API
	EventNotReady                  // ... or false
	EventGone                      // a pod's object is gone
	EventEndpoint                  // an EndpointSlice shows a pod in Conditions
	EventEndpointGone              // ... or not any more
	EventPreStop                   // a preStop hook began: Hook
	EventPreStopFailed             // it could not: Hook
	EventTerm                      // SIGTERM was sent to the server
	EventKill                      // SIGKILL
	EventListening                 // the server accepts connections
	EventClosed                    // it does not any more
	EventExited                    // its process ended: Ending
	EventWait                      // a node's proxy heard of a change and waits until Until: Others if its last sync was for other Services alone
	EventRules                     // a node's new rules lead the connections of an entry to Targets, by Verdict
	EventHealthPort                // a node's healthCheckNodePort answers differently: OK
	EventIngress                   // a pod of an ingress controller sends the requests of an entry to Targets from now on
	EventBalancer                  // a load balancer sends new connections to a node or pod from now on, or not any more: OK
	EventGate                      // a readiness gate of a pod opened, or closed: Gate, OK
	EventDeadline                  // a rollout has made no progress for Seconds: Workload
	EventTainted                   // a node's proxy has seen Cluster Autoscaler's taint: OK as its port 10256 says now
	EventNodeGone                  // a node's machine is gone
	EventResumed                   // a component that was paused runs again: Action
	EventNoHistory                 // a rollback found no earlier revision to go back to: Workload, Action
)

// Event is one entry of a Journal. Fields that do not belong to its Kind are zero; Pod, Node
// and Entry are -1 then.
type Event struct {
	At    engine.Time
	Kind  Kind
	Pod   api.PodID
	Node  int
	Entry int // number of the stream of requests

	Service int // of an endpoint, number in the scenario

	// What the Kind's comment says.
	Action     *world.Action
	Conditions endpoints.Conditions
	Hook       *world.Hook
	Container  string // that has the Hook
	Ending     Ending
	Until      engine.Time
	Others     bool
	Verdict    packet.Verdict
	Targets    []api.PodID // ascending
	Fallback   bool        // all Targets are terminating, and used because none is ready in scope (KEP-1669)
	OK         bool
	Gate       string
	Workload   int
	Seconds    int32
}

// Journal hears of everything that a story may tell, in order. It must not change the world.
type Journal interface {
	Record(Event)
}

// journalist fills a Journal. Without one nothing is computed.
type journalist struct {
	journal Journal
	entries []Entry
	nodes   map[int]bool     // whose rules are followed; nil for all
	rules   map[[2]int]Event // by node and entry: the last EventRules
	healthy map[[2]int]bool
}

// Chronicle has a journal told what happens from now on. entries are the streams whose ways
// through the nodes' rules it follows, nodes those on which it does so, nil for all of them: each list of rules names
// every pod that they lead to, and each proxy waits with every change.
func (w *World) Chronicle(j Journal, entries []Entry, nodes []int) {
	w.chronicle = journalist{journal: j, entries: entries, rules: map[[2]int]Event{}, healthy: map[[2]int]bool{}}
	if nodes != nil {
		w.chronicle.nodes = map[int]bool{}
		for _, n := range nodes {
			w.chronicle.nodes[n] = true
		}
	}
	for n := range w.Proxies {
		w.noteRules(n)
	}
}

// follows says whether somebody wants to hear of a node's proxy.
func (j *journalist) follows(node int) bool {
	return j.journal != nil && (j.nodes == nil || j.nodes[node])
}

// note records an event about a pod.
func (w *World) note(kind Kind, pod api.PodID) { w.record(Event{Kind: kind, Pod: pod, Node: -1}) }

func (w *World) record(e Event) {
	if w.chronicle.journal == nil {
		return
	}
	e.At = w.eng.Now()
	if e.Kind != EventRules && e.Kind != EventHealthPort {
		e.Entry = -1
	}
	w.chronicle.journal.Record(e)
}

// notePod records what a write of a pod changes.
func (w *World) notePod(old, p *api.Pod) {
	if w.chronicle.journal == nil {
		return
	}
	if old != nil {
		w.noteGates(old, p)
	}
	switch {
	case p.Gone:
		w.note(EventGone, p.ID)
	case old == nil:
		w.note(EventCreated, p.ID)
	case p.Deleting() && !old.Deleting():
		w.note(EventDeleted, p.ID)
	case p.Ready && !old.Ready:
		w.note(EventReady, p.ID)
	case !p.Ready && old.Ready:
		w.note(EventNotReady, p.ID)
	}
}

// noteSlice records what a new version of one slice changes. Both are in order of ID.
func (w *World) noteSlice(service int, before, after []entry) {
	if w.chronicle.journal == nil {
		return
	}
	merge(before, after, func(a, b *entry) {
		switch {
		case b == nil:
			w.record(Event{Kind: EventEndpointGone, Pod: a.id, Node: -1, Service: service})
		case a == nil || a.conditions != b.conditions:
			w.record(Event{Kind: EventEndpoint, Pod: b.id, Node: -1, Service: service, Conditions: b.conditions})
		}
	})
}

// noteWait records that a node's proxy has heard of a change, and waits with it until a moment.
func (w *World) noteWait(node int, until time.Duration, others bool) {
	if w.chronicle.follows(node) {
		w.record(Event{Kind: EventWait, Pod: -1, Node: node, Until: engine.FromDuration(until), Others: others})
	}
}

// noteRules records where a node's rules lead each entry, if that changed.
func (w *World) noteRules(node int) {
	if !w.chronicle.follows(node) {
		return
	}
	for i, e := range w.chronicle.entries {
		k := [2]int{node, i}
		d := w.Enter(e, node)
		next := Event{Kind: EventRules, Pod: -1, Node: node, Entry: i, Verdict: d.Verdict, Targets: make([]api.PodID, 0, len(d.Targets))}
		for _, t := range d.Targets {
			if pod, ok := w.podAt(t.Addr.Addr()); ok {
				next.Targets = append(next.Targets, pod)
			}
		}
		slices.Sort(next.Targets)
		next.Fallback = len(d.Targets) > 0 && w.fellBack(e, node, d.Targets)
		if last, ok := w.chronicle.rules[k]; !ok || last.Verdict != next.Verdict || last.Fallback != next.Fallback || !slices.Equal(last.Targets, next.Targets) {
			w.chronicle.rules[k] = next
			w.record(next)
		}
		if !e.healthy {
			continue
		}
		ok := w.NodeHealthy(e, node)
		if was, known := w.chronicle.healthy[k]; !known || was != ok {
			w.chronicle.healthy[k] = ok
			w.record(Event{Kind: EventHealthPort, Pod: -1, Node: node, Entry: i, OK: ok})
		}
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
	Workload int
	Revision int
	Ordinal  int // among the pods of its revision
}

// PodRefs describes every pod that exists or existed, by PodID.
func (w *World) PodRefs() []PodRef {
	var out []PodRef
	for id, info := range w.pods {
		out = append(out, PodRef{api.PodID(id), info.name, info.id.Workload, info.id.Revision, info.ordinal})
	}
	return out
}
