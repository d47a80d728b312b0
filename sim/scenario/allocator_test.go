package scenario

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Where no node port is left, neither a port nor a health check gets one, and that is an error.
func TestNoNodePortIsLeft(t *testing.T) {
	t.Parallel()
	for left, want := range map[int]bool{0: false, 1: false, 2: true} { // of a Service that needs one for its port and one for the health check
		a := &allocator{ips: map[netip.Addr]bool{}, ports: map[int32]bool{}}
		for p := int32(firstNodePort); p <= lastNodePort-int32(left); p++ {
			a.ports[p] = true
		}
		s := &corev1.Service{Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, Ports: []corev1.ServicePort{{Port: 80}},
		}}
		if err := a.give(s); (err == nil) != want || want && (s.Spec.Ports[0].NodePort != lastNodePort-1 || s.Spec.HealthCheckNodePort != lastNodePort) {
			t.Errorf("%d left: %v, %d and %d", left, err, s.Spec.Ports[0].NodePort, s.Spec.HealthCheckNodePort)
		}
	}
}
