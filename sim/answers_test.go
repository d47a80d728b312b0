package sim

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/balancer"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A probe of a node port ends at once where the rules refuse it, and with its timeout where they drop it: policy Local without a pod on the
// node, as kube-proxy has it (KEP-1669).
func TestWhatTheRulesAnswerAProbeOfANodePort(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		policy   corev1.ServiceExternalTrafficPolicy
		replicas int32
		want     [2]balancer.Answer // of each node
	}{
		{"Local, a pod on each node", corev1.ServiceExternalTrafficPolicyLocal, 2, [2]balancer.Answer{{OK: true, Sure: true}, {OK: true, Sure: true}}},
		{"Local, one pod", corev1.ServiceExternalTrafficPolicyLocal, 1, [2]balancer.Answer{{OK: true, Sure: true}, {Late: true, Sure: true}}},
		{"Cluster, one pod", corev1.ServiceExternalTrafficPolicyCluster, 1, [2]balancer.Answer{{OK: true, Sure: true}, {OK: true, Sure: true}}},
		{"Cluster, no pod", corev1.ServiceExternalTrafficPolicyCluster, 0, [2]balancer.Answer{{Sure: true}, {Sure: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sc := balanced(tt.policy, world.LoadBalancer{Check: world.HealthCheck{Probe: world.ProbeNodePort, Interval: 3 * sec, Timeout: sec, Healthy: 1, Unhealthy: 2}})
			*sc.Workloads[0].Deployment().Spec.Replicas = tt.replicas
			sc.Actions = nil
			r, err := begin(sc, 1, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for node, want := range tt.want {
				if got := r.forwarders[0].Answer(world.ProbeNodePort, node, 0); got != want {
					t.Errorf("node %d: %+v, want %+v", node, got, want)
				}
			}
		})
	}
}
