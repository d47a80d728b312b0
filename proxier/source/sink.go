package source

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Sink takes the objects of a cluster as a source finds them, from several goroutines at once.
// What is set again replaces what was there; what is deleted may never have been set. A Sink
// may keep the objects, nobody changes them any more.
type Sink interface {
	SetService(*corev1.Service)
	DeleteService(endpoints.ServiceName)
	SetSlice(*discoveryv1.EndpointSlice)
	DeleteSlice(namespace, name string)
	// SetNode takes the node that the proxy runs on. It is not told of its deletion: a node
	// stays as it was last seen (kube-proxy 1.36 node.go; verified).
	SetNode(*corev1.Node)
	// SetServiceCIDRs takes all ranges that ClusterIPs come from.
	SetServiceCIDRs([]netip.Prefix)
	// Synced is called once: all that was there when the source began has been delivered.
	Synced()
}
