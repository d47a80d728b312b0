package world

import (
	corev1 "k8s.io/api/core/v1"
)

// madeUpRegion is where all nodes are that the input does not have.
const madeUpRegion = "region"

// Label is one of a node's labels, ok false where it has none of that key. Each kubelet sets some that are often left out of Nodes
// written by hand. A made-up node is in its zone and in one region with the others; a label that nothing is known of, such as one
// of its rack, differs where the zone does.
func (n *Node) Label(key string) (value string, ok bool) {
	if n.Object != nil {
		if value, ok = n.Object.Labels[key]; ok && key != corev1.LabelTopologyZone {
			return value, true
		}
	}
	switch key {
	case corev1.LabelHostname:
		return n.Name, true
	case corev1.LabelOSStable:
		return "linux", true
	case corev1.LabelArchStable:
		return "amd64", true
	case corev1.LabelTopologyZone:
		return n.Zone, n.Zone != ""
	}
	switch {
	case n.Object != nil:
		return "", false
	case key == corev1.LabelTopologyRegion || key == corev1.LabelFailureDomainBetaRegion:
		return madeUpRegion, true
	default:
		return n.Zone, n.Zone != ""
	}
}
