package proxier

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// sliceName is an EndpointSlice's namespace and name.
type sliceName struct{ namespace, name string }

// batch is what was delivered since the last look, the last word on each object. Which
// came first of a Service and its slices makes no difference to the Cache.
type batch struct {
	services map[endpoints.ServiceName]*corev1.Service // nil for one that is gone
	slices   map[sliceName]*discoveryv1.EndpointSlice  // nil for one that is gone
	node     *plan.Node
	state    *healthcheck.NodeState
	pace     *pace.Policy
	synced   bool
	// serviceWrites and sliceWrites count deliveries, also those that a later one replaced.
	serviceWrites, sliceWrites int
}

// inbox is where deliveries wait for the owner. It is safe for concurrent use.
type inbox struct {
	mu    sync.Mutex
	batch batch
	// wake has room for one signal: more would say the same.
	wake chan struct{}
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// put changes the waiting batch and wakes the owner.
func (i *inbox) put(change func(b *batch)) {
	i.mu.Lock()
	change(&i.batch)
	i.mu.Unlock()
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// take empties the inbox.
func (i *inbox) take() batch {
	i.mu.Lock()
	defer i.mu.Unlock()
	b := i.batch
	i.batch = batch{}
	return b
}

func (b *batch) setService(name endpoints.ServiceName, svc *corev1.Service) {
	if b.services == nil {
		b.services = map[endpoints.ServiceName]*corev1.Service{}
	}
	b.services[name] = svc
	b.serviceWrites++
}

func (b *batch) setSlice(name sliceName, s *discoveryv1.EndpointSlice) {
	if b.slices == nil {
		b.slices = map[sliceName]*discoveryv1.EndpointSlice{}
	}
	b.slices[name] = s
	b.sliceWrites++
}

// SetService delivers a Service, new or changed. The Proxier keeps nothing of it, but reads it
// later: leave it alone.
func (p *Proxier) SetService(svc *corev1.Service) {
	name := endpoints.ServiceName{Namespace: svc.Namespace, Name: svc.Name}
	p.inbox.put(func(b *batch) { b.setService(name, svc) })
}

// DeleteService delivers that a Service is gone.
func (p *Proxier) DeleteService(name endpoints.ServiceName) {
	p.inbox.put(func(b *batch) { b.setService(name, nil) })
}

// SetSlice delivers an EndpointSlice, new or changed, to be left alone as a Service is.
func (p *Proxier) SetSlice(s *discoveryv1.EndpointSlice) {
	p.inbox.put(func(b *batch) { b.setSlice(sliceName{s.Namespace, s.Name}, s) })
}

// DeleteSlice delivers that an EndpointSlice is gone.
func (p *Proxier) DeleteSlice(namespace, name string) {
	p.inbox.put(func(b *batch) { b.setSlice(sliceName{namespace, name}, nil) })
}

// SetNode delivers what is particular to the node. One that differs from the last in anything has
// all rules made again; its Options are the Proxier's, whatever they say. Nil is ignored: a node
// that is no longer there stays as it was last seen.
func (p *Proxier) SetNode(node *plan.Node) {
	if node != nil {
		p.inbox.put(func(b *batch) { b.node = node })
	}
}

// SetNodeState delivers what /healthz follows from beside the proxy itself. It is published at
// once: no rule depends on it.
func (p *Proxier) SetNodeState(s healthcheck.NodeState) {
	p.inbox.put(func(b *batch) { b.state = &s })
}

// SetPace delivers when to sync from now on, in the place of Options.Pace.
func (p *Proxier) SetPace(policy pace.Policy) {
	policy = paceOf(policy)
	p.inbox.put(func(b *batch) { b.pace = &policy })
}

// Synced says that all that existed when the deliveries began has been delivered.
func (p *Proxier) Synced() {
	p.inbox.put(func(b *batch) { b.synced = true })
}
