package world

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A node more is like the one that it is made after, with a name of its own and room for pods; the one before stays what it is.
func TestANodeMoreHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, labels := range []map[string]string{nil, {corev1.LabelHostname: "a", "zone": "z"}} {
		before := Node{Name: "a", Zone: "z", Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: labels}, Spec: corev1.NodeSpec{Unschedulable: true}}}
		n := before.another("b")
		if n.Name != "b" || !n.Joins || n.Zone != "z" || n.Object.Name != "b" || n.Object.Spec.Unschedulable || len(n.Object.Labels) != len(labels) {
			t.Errorf("%+v, %+v", n, n.Object)
		}
		if labels != nil && (n.Object.Labels[corev1.LabelHostname] != "b" || n.Object.Labels["zone"] != "z") {
			t.Errorf("%v", n.Object.Labels)
		}
		if before.Name != "a" || before.Joins || before.Object.Name != "a" || labels != nil && labels[corev1.LabelHostname] != "a" {
			t.Errorf("the node before: %+v, %+v", before, before.Object)
		}
	}
	if n := (Node{Name: "a"}).another("b"); n.Name != "b" || n.Object != nil {
		t.Errorf("%+v", n)
	}
}
