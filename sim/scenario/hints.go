package scenario

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// HintMode is how the EndpointSlice controller hints the ready endpoints of a Service
// (docs/model/controllers.md 9.4).
type HintMode uint8

// The modes.
const (
	HintsNone         HintMode = iota
	HintsSameZone              // for their own zone: trafficDistribution PreferSameZone, PreferClose
	HintsSameNode              // for their own node and zone: PreferSameNode
	HintsProportional          // for zones in proportion to their CPU: annotation topology-mode: Auto
)

// preferCloseFrom is the version from which trafficDistribution is on by default (recalled).
func preferCloseFrom() endpoints.Version { return endpoints.Version{Major: 1, Minor: 31} }

// HintModeOf returns the mode of a Service in a Kubernetes version. The annotation, in its
// older or its newer name, goes before trafficDistribution (k8s.io/endpointslice 0.36.3
// reconciler.go, utils.go; verified).
func HintModeOf(svc *corev1.Service, k endpoints.Profile) HintMode {
	mode, set := svc.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	if !set {
		mode = svc.Annotations[corev1.AnnotationTopologyMode]
	}
	switch {
	case mode == "Auto" || mode == "auto":
		if k.Options.ZoneHints {
			return HintsProportional
		}
		return HintsNone
	case svc.Spec.TrafficDistribution == nil || k.Version.Before(preferCloseFrom()):
		return HintsNone
	}
	switch d := *svc.Spec.TrafficDistribution; {
	case d == corev1.ServiceTrafficDistributionPreferClose:
		return HintsSameZone
	case d == corev1.ServiceTrafficDistributionPreferSameZone && k.Options.NodeHints:
		return HintsSameZone
	case d == corev1.ServiceTrafficDistributionPreferSameNode && k.Options.NodeHints:
		return HintsSameNode
	default:
		return HintsNone
	}
}

// CountsForHints says whether a node's CPU counts for proportional hints: it is not of the
// control plane and it is ready (k8s.io/endpointslice 0.36.3 topologycache.go; verified). A
// node that says nothing of its state is taken to be ready.
func (n *Node) CountsForHints() bool {
	if n.Object == nil {
		return true
	}
	for _, label := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"} {
		if _, ok := n.Object.Labels[label]; ok {
			return false
		}
	}
	for _, c := range n.Object.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}

// assumedCPU is what nodes are given that do not say how much they have, in 1/1000.
const assumedCPU = 4000

// AllocatableCPU returns a node's allocatable CPU in 1/1000; said is false when the node does
// not say it and has as much as every other such node.
func (n *Node) AllocatableCPU() (milli int64, said bool) {
	if n.Object == nil {
		return assumedCPU, false
	}
	q, ok := n.Object.Status.Allocatable[corev1.ResourceCPU]
	if !ok {
		return assumedCPU, false
	}
	return q.MilliValue(), true
}

// hintsLeftOut names what of proportional hints is not as in a cluster.
func (b *builder) hintsLeftOut(s *Service) {
	if HintModeOf(s.Service, b.out.Kubernetes) != HintsProportional {
		return
	}
	object := "Service " + s.Service.Namespace + "/" + s.Service.Name
	b.notModelled("hints-ties", "topology-mode Auto: which of zones that lack equally much gets an endpoint is by name, in Kubernetes by chance", object, "unknown")
	for i := range b.out.Nodes {
		if _, said := b.out.Nodes[i].AllocatableCPU(); !said {
			b.notModelled("hints-cpu", "topology-mode Auto: nodes that do not say their allocatable CPU are taken to have equally much", object, "unknown")
			return
		}
	}
}
