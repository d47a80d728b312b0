package cluster

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
)

// AuditKind says what an AuditEvent is about.
type AuditKind uint8

// The kinds of events.
const (
	Wrote     AuditKind = iota // a version of an object is in the API: Object, and View for EndpointSlices
	Delivered                  // a watch brought it: Name of the watch, Object, View
	SyncBegan                  // a service proxy begins a sync: Node
	SyncEnded                  // and ends it: Node, View in force
	Started                    // a container's process began: Pod, Container
	Stopping                   // the kubelet begins to stop a container, its preStop hook first: Pod, Container, Grace
	Signalled                  // SIGTERM: Pod, Container
	Ended                      // the process ended: Pod, Container, How
	Probed                     // a probe was answered: Pod, Container, Probe, Yes
	Decided                    // the kubelet decided on a pod's status: Pod, Yes for ready
	NodeDied                   // a machine is gone: Node
	Listens                    // a server accepts connections from now on, or does not any more: Pod, Yes
)

// AuditEvent is something that happened in the world, for whoever judges it by rules of its own.
type AuditEvent struct {
	// At is when, Kind what happened.
	At   engine.Time
	Kind AuditKind

	// Object is a *Pod, a *ReplicaSet, a *Deployment, a *Node, or what stands for a slice: to be compared
	// by identity. View is what the slices say then.
	Object any
	View   *nodeproxy.View
	// Name is the watch's, Node the proxy's.
	Name string
	Node int
	// Others says that a sync is for other Services than the Scenario's alone: the rules of these stay as
	// they are. Such syncs are told of later than they were, each proxy's in order, and before what the
	// proxy does next.
	Others bool

	// Pod and Container are whom it happened to; Sidecar and Main say what the container is:
	// Main is the one that traffic goes to.
	Pod       api.PodID
	Container *corev1.Container
	Sidecar   bool
	Main      bool
	// Grace is the grace period of a Stopping, and with a Signalled how long after it SIGKILL
	// comes; How is the end of an Ended, Probe whose answer a Probed is, Yes the answer.
	Grace engine.Time
	How   Ending
	Probe *corev1.Probe
	Yes   bool
}

// Audit has somebody hear of every AuditEvent from now on, first of the pods and ReplicaSets that
// there are. Hearing changes nothing.
func (w *World) Audit(hear func(AuditEvent)) {
	w.hear = hear
	w.store.Wrote = func(o api.Object) { w.tellObject(AuditEvent{Kind: Wrote}, o) }
	w.store.Delivered = func(watch string, o api.Object) { w.tellObject(AuditEvent{Kind: Delivered, Name: watch}, o) }
	for _, id := range w.livePods {
		w.tellObject(AuditEvent{Kind: Wrote}, w.store.Get(api.PodKey(id)))
		if i := w.PodInstance(id); i != nil {
			w.tell(AuditEvent{Kind: Listens, Pod: id, Yes: i.Accepts()})
		}
	}
	for i := range w.sc.Workloads {
		w.tellObject(AuditEvent{Kind: Wrote}, w.store.Get(api.ReplicaSetKey(api.ReplicaSetID{Workload: i, Revision: 0})))
	}
}

func (w *World) tell(e AuditEvent) {
	if w.hear != nil {
		e.At = w.eng.Now()
		w.hear(e)
	}
}

func (w *World) tellObject(e AuditEvent, o api.Object) {
	if w.hear == nil {
		return
	}
	e.At, e.Object = w.eng.Now(), o
	if slice, ok := o.(*nodeproxy.SliceWrite); ok {
		e.View = slice.View
	}
	w.hear(e)
}

// tell tells of a container.
func (c *container) tell(e AuditEvent) {
	if w := c.wk.k.w; w.hear != nil {
		e.Pod, e.Container, e.Sidecar, e.Main = c.wk.id, c.spec, c.sidecar, c == c.wk.main
		w.tell(e)
	}
}
