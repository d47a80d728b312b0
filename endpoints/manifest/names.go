package manifest

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// badName says what is wrong with an object's name, "" when nothing is.
func badName(kind, name string) string {
	if kind == "Service" || kind == "Namespace" {
		if !isDNSLabel(name) {
			return "must be at most 63 lower-case letters, digits and '-', starting and ending with a letter or digit"
		}
		return ""
	}
	if !isDNSSubdomain(name) {
		return "must be at most 253 lower-case letters, digits, '-' and '.', each part starting and ending with a letter or digit"
	}
	return ""
}

// isDNSLabel is RFC 1123: 1-63 of [a-z0-9-], no '-' at either end.
func isDNSLabel(s string) bool {
	if s == "" || len(s) > 63 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case c == '-' && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return true
}

// isDNSSubdomain is RFC 1123 as Kubernetes reads it: parts like labels, but of
// any length, joined by '.', 1-253 in all.
func isDNSSubdomain(s string) bool {
	if len(s) > 253 {
		return false
	}
	previous := byte('.')
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case c == '-' && previous != '.':
		case c == '.' && previous != '.' && previous != '-':
		default:
			return false
		}
		previous = c
	}
	return previous != '.' && previous != '-'
}

func schemaKind(apiVersion, kind string) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind)
}

// convertOld turns an object of an older version that is still served into the
// version that is kept.
func convertOld(v apiObject) apiObject {
	old, ok := v.(*autoscalingv1.HorizontalPodAutoscaler)
	if !ok {
		return v
	}
	out := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: old.ObjectMeta}
	out.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference(old.Spec.ScaleTargetRef)
	out.Spec.MinReplicas, out.Spec.MaxReplicas = old.Spec.MinReplicas, old.Spec.MaxReplicas
	if target := old.Spec.TargetCPUUtilizationPercentage; target != nil {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{cpuUtilization(*target)}
	}
	out.Status.CurrentReplicas, out.Status.DesiredReplicas = old.Status.CurrentReplicas, old.Status.DesiredReplicas
	out.Status.ObservedGeneration, out.Status.LastScaleTime = old.Status.ObservedGeneration, old.Status.LastScaleTime
	return out
}

func cpuUtilization(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent},
		},
	}
}
