package world

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
