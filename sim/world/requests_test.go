package world

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// list reads "cpu=1 memory=2Gi".
func list(text string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for field := range strings.FieldsSeq(text) {
		name, amount, _ := strings.Cut(field, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return out
}

func asking(text string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(text)}}
}

func sidecar(text string) corev1.Container {
	c, always := asking(text), corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

// What a pod asks of its node. Reference: docs/model/controllers.md 5 Requests.
func TestWhatAPodAsksFor(t *testing.T) {
	t.Parallel()
	const at = "spec.template.spec."
	for _, c := range []struct {
		name string
		pod  corev1.PodSpec
		want string
		path string // of the first
	}{
		{"nothing", corev1.PodSpec{Containers: []corev1.Container{asking("")}}, "", ""},
		{"the sum of containers", corev1.PodSpec{Containers: []corev1.Container{asking("cpu=100m memory=1Gi"), asking("cpu=1.5")}}, "cpu=1600 memory=1073741824", at + "containers[1].resources.requests.cpu"},
		{"a limit without a request", corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: list("nvidia.com/gpu=2")}}}}, "nvidia.com/gpu=2", at + `containers[0].resources.limits["nvidia.com/gpu"]`},
		{"a request below its limit", corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: list("cpu=2"), Requests: list("cpu=1")}}}}, "cpu=1000", at + "containers[0].resources.requests.cpu"},
		{"init containers, one after another, need less", corev1.PodSpec{Containers: []corev1.Container{asking("cpu=2")}, InitContainers: []corev1.Container{asking("cpu=1"), asking("cpu=1500m")}}, "cpu=2000", at + "containers[0].resources.requests.cpu"},
		{"one init container needs more", corev1.PodSpec{Containers: []corev1.Container{asking("cpu=2")}, InitContainers: []corev1.Container{asking("cpu=1"), asking("cpu=3")}}, "cpu=3000", at + "initContainers[1].resources.requests.cpu"},
		{"a sidecar is added", corev1.PodSpec{Containers: []corev1.Container{asking("cpu=2")}, InitContainers: []corev1.Container{sidecar("cpu=1")}}, "cpu=3000", at + "containers[0].resources.requests.cpu"},
		{"an init container beside the sidecars before it", corev1.PodSpec{Containers: []corev1.Container{asking("cpu=1")}, InitContainers: []corev1.Container{sidecar("cpu=1"), asking("cpu=3"), sidecar("cpu=1")}}, "cpu=4000", at + "initContainers[1].resources.requests.cpu"},
		{"the overhead of a runtime class", corev1.PodSpec{Containers: []corev1.Container{asking("cpu=1")}, Overhead: list("cpu=250m memory=120Mi")}, "cpu=1250 memory=125829120", at + "containers[0].resources.requests.cpu"},
		{"what the pod as a whole asks for", corev1.PodSpec{Containers: []corev1.Container{asking("cpu=1 memory=1Gi")}, Resources: &corev1.ResourceRequirements{Requests: list("cpu=4")}}, "cpu=4000 memory=1073741824", at + "resources.requests.cpu"},
		{"a limit of the pod where containers say what they ask for", corev1.PodSpec{Containers: []corev1.Container{asking("cpu=1")}, Resources: &corev1.ResourceRequirements{Limits: list("cpu=4 memory=1Gi")}}, "cpu=1000 memory=1073741824", at + "containers[0].resources.requests.cpu"},
	} {
		var got []string
		path := ""
		for i, r := range RequestsOf(&c.pod) {
			got = append(got, fmt.Sprintf("%s=%d", r.Name, r.Amount))
			if i == 0 {
				path = r.Path
			}
		}
		if strings.Join(got, " ") != c.want || path != c.path {
			t.Errorf("%s: %v by %s, want %s by %s", c.name, got, path, c.want, c.path)
		}
	}
}

// A container that does not say what it asks for counts as 100m of CPU and 200 Mi of memory for scores, each on its own.
func TestWhatAPodCountsAsForScores(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pod         corev1.PodSpec
		cpu, memory int64
	}{
		{corev1.PodSpec{Containers: []corev1.Container{asking("")}}, 100, 200 << 20},
		{corev1.PodSpec{Containers: []corev1.Container{asking("cpu=1"), asking("memory=1Gi")}}, 1100, 1<<30 + 200<<20},
	} {
		if cpu, memory := RequestsForScores(&c.pod); cpu != c.cpu || memory != c.memory {
			t.Errorf("%d, %d, want %d, %d", cpu, memory, c.cpu, c.memory)
		}
	}
}

// What a node has for pods. One that is made up, or a Node without a status, does not say.
func TestWhatANodeHas(t *testing.T) {
	t.Parallel()
	full := &Node{Object: &corev1.Node{Status: corev1.NodeStatus{Allocatable: list("cpu=3920m memory=4Gi"), Capacity: list("cpu=4")}}}
	for _, c := range []struct {
		node *Node
		name corev1.ResourceName
		want int64
		said bool
	}{
		{&Node{}, corev1.ResourceCPU, 0, false},
		{&Node{}, "nvidia.com/gpu", 0, false},
		{&Node{Object: &corev1.Node{}}, corev1.ResourcePods, 0, false},
		{full, corev1.ResourceCPU, 3920, true},
		{full, corev1.ResourceMemory, 4 << 30, true},
		{full, corev1.ResourceEphemeralStorage, 0, false},
		{full, "nvidia.com/gpu", 0, true},
		{full, corev1.ResourcePods, 110, true},
		{&Node{Object: &corev1.Node{Status: corev1.NodeStatus{Capacity: list("pods=17")}}}, corev1.ResourcePods, 17, true},
	} {
		if got, said := c.node.Allocatable(c.name); got != c.want || said != c.said {
			t.Errorf("%s: %d, %v, want %d, %v", c.name, got, said, c.want, c.said)
		}
	}
}

// The labels of nodes: a made-up one is in its zone, and in one region with all others.
func TestLabelsOfNodes(t *testing.T) {
	t.Parallel()
	made := &Node{Name: "node-1", Zone: "a"}
	input := &Node{Name: "gpu-1", Zone: "z", Object: &corev1.Node{}}
	input.Object.Labels = map[string]string{"rack": "r7", corev1.LabelTopologyZone: "before", corev1.LabelArchStable: "arm64"}
	for _, c := range []struct {
		node *Node
		key  string
		want string
		ok   bool
	}{
		{made, corev1.LabelHostname, "node-1", true}, {made, corev1.LabelTopologyZone, "a", true}, {made, corev1.LabelOSStable, "linux", true},
		{made, corev1.LabelTopologyRegion, "region", true}, {made, "rack", "a", true}, {&Node{Name: "node-1"}, corev1.LabelTopologyZone, "", false},
		{input, corev1.LabelHostname, "gpu-1", true}, {input, corev1.LabelTopologyZone, "z", true}, {input, "rack", "r7", true},
		{input, corev1.LabelArchStable, "arm64", true}, {input, corev1.LabelTopologyRegion, "", false}, {input, "row", "", false},
	} {
		if got, ok := c.node.Label(c.key); got != c.want || ok != c.ok {
			t.Errorf("%s of %s: %q, %v, want %q, %v", c.key, c.node.Name, got, ok, c.want, c.ok)
		}
	}
}
