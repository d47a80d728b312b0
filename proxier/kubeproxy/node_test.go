package kubeproxy

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// A node of both families has two ranges for its pods, the first of which the old field repeats: where there is the list, it counts.
// Reference: Kubernetes 1.36 staging/src/k8s.io/api/core/v1/types.go, NodeSpec.
func TestTheRangesOfANodesPods(t *testing.T) {
	t.Parallel()
	c, problems := Read(object(t, "detectLocalMode: NodeCIDR"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, tt := range []struct {
		one  string
		all  []string
		want string
	}{
		{"10.244.1.0/24", []string{"10.244.1.0/24", "fd00:1::/64"}, "[10.244.1.0/24 fd00:1::/64]"},
		{"10.244.1.0/24", nil, "[10.244.1.0/24]"},
		{"", []string{"fd00:1::/64"}, "[fd00:1::/64]"},
		{"", nil, "[]"},
	} {
		n, err := c.Node(Machine{Name: "node-1", Object: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Spec: corev1.NodeSpec{PodCIDR: tt.one, PodCIDRs: tt.all},
		}})
		if err != nil || fmt.Sprint(n.Detector.CIDRs) != tt.want {
			t.Errorf("podCIDR %q, podCIDRs %q: %v, %v, want %s", tt.one, tt.all, n, err, tt.want)
		}
	}
	if n, err := c.Node(Machine{Name: "node-1"}); err != nil || n.Detector.CIDRs != nil {
		t.Errorf("without a Node: %v, %v", n, err)
	}
}

// The rules are those of the mode that the configuration names; without one, of lameduck's own.
func TestTheDialectIsTheModes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]plan.Dialect{"mode: iptables": plan.IPTables, "mode: nftables": plan.NFTables} { // order: each by itself
		c, problems := Read(object(t, text))
		if len(problems) > 0 || c.Dialect() != want {
			t.Errorf("%s: %v, %v, want %v", text, c.Dialect(), problems, want)
		}
	}
}
