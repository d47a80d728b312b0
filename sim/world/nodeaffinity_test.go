package world

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"testing"
)

// Terms of a node affinity are alternatives, what stands in one of them holds together, and an empty one admits no node (Kubernetes 1.36
// k8s.io/component-helpers/scheduling/corev1/nodeaffinity, nodeSelectorTerm.match).
func TestWhichNodesAPodAsksFor(t *testing.T) {
	t.Parallel()
	in := func(key string, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	label := func(r ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: r}
	}
	name := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{in("metadata.name", "node-1")}}
	ssd, zone := in("disk", "ssd"), in("zone", "a", "b")
	both := label(ssd)
	both.MatchFields = name.MatchFields
	for _, c := range []struct {
		name     string
		selector map[string]string
		terms    []corev1.NodeSelectorTerm
		node     string
		labels   map[string]string
		want     bool
	}{
		{"nothing is asked for", nil, nil, "node-1", nil, true},
		{"a label", map[string]string{"disk": "ssd"}, nil, "node-1", map[string]string{"disk": "ssd"}, true},
		{"a label that is not there", map[string]string{"disk": "ssd"}, nil, "node-1", nil, false},
		{"what every node has", map[string]string{corev1.LabelHostname: "node-1", corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}, nil, "node-1", nil, true},
		{"another architecture", map[string]string{corev1.LabelArchStable: "amd64"}, nil, "node-1", map[string]string{corev1.LabelArchStable: "arm64"}, false},
		{"an expression", nil, []corev1.NodeSelectorTerm{label(ssd)}, "node-1", map[string]string{"disk": "ssd"}, true},
		{"one of two expressions", nil, []corev1.NodeSelectorTerm{label(ssd, zone)}, "node-1", map[string]string{"disk": "ssd"}, false},
		{"two expressions", nil, []corev1.NodeSelectorTerm{label(ssd, zone)}, "node-1", map[string]string{"disk": "ssd", "zone": "b"}, true},
		{"one of two terms", nil, []corev1.NodeSelectorTerm{label(zone), label(ssd)}, "node-1", map[string]string{"disk": "ssd"}, true},
		{"a name", nil, []corev1.NodeSelectorTerm{name}, "node-1", nil, true},
		{"another name", nil, []corev1.NodeSelectorTerm{name}, "node-2", nil, false},
		{"an expression and a name", nil, []corev1.NodeSelectorTerm{both}, "node-1", map[string]string{"disk": "ssd"}, true},
		{"an expression and another name", nil, []corev1.NodeSelectorTerm{both}, "node-2", map[string]string{"disk": "ssd"}, false},
		{"a name without the expression", nil, []corev1.NodeSelectorTerm{both}, "node-1", nil, false},
		{"an empty term", nil, []corev1.NodeSelectorTerm{{}}, "node-1", nil, false},
		{"a term, and a label that is not there", map[string]string{"zone": "a"}, []corev1.NodeSelectorTerm{label(ssd)}, "node-1", map[string]string{"disk": "ssd"}, false},
	} {
		pod := &corev1.PodSpec{NodeSelector: c.selector}
		if c.terms != nil {
			pod.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: c.terms}}}
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.node, Labels: c.labels}}
		if got := Admits(pod, node); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if !Admits(pod, nil) {
			t.Errorf("%s: a made-up node is refused", c.name)
		}
	}
}
