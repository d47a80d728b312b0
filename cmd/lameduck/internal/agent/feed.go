package agent

import (
	"net/netip"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Known is what is known of a node.
type Known struct {
	Object       *corev1.Node // nil while there is none
	ServiceCIDRs []netip.Prefix
	Host         []netip.Addr // of the machine's interfaces
}

// NodeBuilder returns the node that is known, as the proxy's settings make it.
type NodeBuilder func(Known) (*plan.Node, error)

// feed is a Proxier as a source meets it: what arrives of a node in parts goes on as a whole.
type feed struct {
	*proxier.Proxier
	build NodeBuilder
	log   logr.Logger

	mu     sync.Mutex
	known  Known
	synced bool
}

// change takes one part. Before all has been delivered nothing goes on: each part would have all
// rules written again.
func (f *feed) change(part func(*Known)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	part(&f.known)
	if f.synced {
		f.deliver()
	}
}

// deliver passes the node on, or keeps to the last one that could be used.
func (f *feed) deliver() {
	node, err := f.build(f.known)
	if err != nil {
		f.log.Error(err, "The node cannot be used as it is now, its last state stays in use")
		return
	}
	f.Proxier.SetNode(node)
}

// SetNode takes the Node object.
func (f *feed) SetNode(object *corev1.Node) {
	state := healthcheck.NodeState{Known: true, Deleting: object.DeletionTimestamp != nil}
	for _, t := range object.Spec.Taints {
		state.Taints = append(state.Taints, t.Key)
	}
	f.SetNodeState(state)
	f.change(func(k *Known) { k.Object = object })
}

// SetServiceCIDRs takes the ranges of ClusterIPs.
func (f *feed) SetServiceCIDRs(ranges []netip.Prefix) {
	f.change(func(k *Known) { k.ServiceCIDRs = ranges })
}

// setHost takes the machine's addresses.
func (f *feed) setHost(addrs []netip.Addr) {
	f.change(func(k *Known) { k.Host = addrs })
}

// setSettings takes other settings.
func (f *feed) setSettings(s Settings) {
	f.SetPace(s.Pace)
	f.change(func(*Known) { f.build = s.Node })
}

// Synced passes on what is known of the node, then that this is all.
func (f *feed) Synced() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced = true
	if f.known.Object == nil {
		f.log.Info("There is no Node of this name; its zone is unknown, its addresses are the machine's")
	}
	f.deliver()
	f.Proxier.Synced()
}
