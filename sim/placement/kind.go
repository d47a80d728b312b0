package placement

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Pods say what all pods of a Kind are.
type Pods struct {
	Namespace string
	Labels    map[string]string
	Spec      *corev1.PodSpec
	Group     int // such as the number of their workload: where nothing else decides, pods of a group go to different nodes
	// Owner selects the pods of what made them, with those of its Services: the default topology spread counts them. nil for none.
	Owner labels.Selector
	// Drawn has chance decide between nodes that nothing tells apart, as the scheduler does, where it matters which one is taken: a
	// volume is on one of them.
	Drawn bool
}

// Kind is pods that do not differ in what matters to the scheduler, and where they are.
type Kind struct {
	Pods
	spec   *corev1.PodSpec
	labels labels.Set

	on, leaving []int // pods by node, and those of them that terminate

	unlike []bool // by node: the pod asks for another one
	ports  []world.HostPort
	paths  []string // the field behind each port

	hard, soft          []constraint
	near, apart, prefer []term // required affinity and anti-affinity, preferred ones of either
	requests            []request
	cpu, memory         int64 // as scores count them
	nodes               []corev1.PreferredSchedulingTerm
}

// request is a resource that a pod asks for, by its number in the Cluster.
type request struct {
	resource int
	world.Request
}

// Add makes a Kind known, without any pods.
func (c *Cluster) Add(p Pods) *Kind {
	k := &Kind{Pods: p, spec: p.Spec, labels: p.Labels, on: make([]int, len(c.nodes)), leaving: make([]int, len(c.nodes))}
	k.ports, k.paths = world.HostPorts(p.Spec)
	k.hard = constraintsOf(p.Spec, corev1.DoNotSchedule, k.labels)
	k.soft = constraintsOf(p.Spec, corev1.ScheduleAnyway, k.labels)
	if len(p.Spec.TopologySpreadConstraints) == 0 {
		k.soft = defaultConstraints(p.Owner)
	}
	k.readAffinity(p.Spec.Affinity)
	for _, r := range world.RequestsOf(p.Spec) {
		k.requests = append(k.requests, request{c.resource(r.Name), r})
		c.asked = c.asked || r.Name == corev1.ResourceCPU || r.Name == corev1.ResourceMemory
	}
	k.cpu, k.memory = world.RequestsForScores(p.Spec)
	for n := range c.nodes {
		k.unlike = append(k.unlike, !world.Admits(p.Spec, c.nodes[n].Object))
	}
	for p.Group >= len(c.groups) {
		c.groups = append(c.groups, make([]int, len(c.nodes)))
	}
	c.kinds = append(c.kinds, k)
	return k
}

func (k *Kind) readAffinity(a *corev1.Affinity) {
	if a == nil {
		return
	}
	if a.NodeAffinity != nil {
		k.nodes = a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	}
	if p := a.PodAffinity; p != nil {
		k.near = requiredTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, k.Namespace, k.labels)
		k.prefer = preferredTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, 1, k.Namespace, k.labels)
	}
	if p := a.PodAntiAffinity; p != nil {
		k.apart = requiredTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, k.Namespace, k.labels)
		k.prefer = append(k.prefer, preferredTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, -1, k.Namespace, k.labels)...)
	}
}

// Waits says that pods of a Kind may find a node because others have come to one.
func (k *Kind) Waits() bool { return len(k.hard)+len(k.near) > 0 }

// Selects says whether a Service's selector, say, matches the pods' labels.
func (k *Kind) Selects(s labels.Selector) bool { return s.Matches(k.labels) }
