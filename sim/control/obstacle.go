package control

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// obstacle is what keeps a pod off a node, in the order in which the real scheduler looks
// (Kubernetes 1.36 pkg/scheduler/apis/config/v1/default_plugins.go; recalled).
type obstacle uint8

// The obstacles.
const (
	unobstructed obstacle = iota
	nodeLeaves            // the node is going away
	nodeCordoned          // kubectl cordon, and the pod does not tolerate that
	nodeTainted           // a taint that the pod does not tolerate
	nodeUnlike            // the pod's nodeSelector or node affinity asks for another node
	portTaken             // a pod on the node has one of its host ports
	podRepels             // required anti-affinity to a pod on the node, from either side
	nodeAbsent            // it has not joined
	nodeApart             // it is of another pool
	numObstacles
)

// unschedulable is the taint that a pod has to tolerate to be bound to a node that is cordoned (Kubernetes 1.36
// pkg/scheduler/framework/plugins/nodeunschedulable; verified).
var unschedulable = [1]corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}

// needs is what the pods of one revision ask of a node.
type needs struct {
	tolerations []corev1.Toleration
	ports       []world.HostPort
	paths       []string // the field behind each port
	unlike      []bool   // by node; nil when each will do
	apart       []int    // workloads whose pods are kept apart from it
	apartInSet  bool     // so are its own pods, of the same revision
}

// needsOf returns what the pods of a revision ask of a node.
func (s *Scheduler) needsOf(id api.ReplicaSetID) *needs {
	if n := s.needs[id]; n != nil {
		return n
	}
	spec, nodes := &world.TemplateOf(s.d.Specs.ResourceOf(id)).Spec, s.d.Nodes
	n := &needs{tolerations: spec.Tolerations}
	n.ports, n.paths = world.HostPorts(spec)
	for i := range nodes {
		if world.Admits(spec, nodes[i].Object) {
			continue
		}
		if n.unlike == nil {
			n.unlike = make([]bool, len(nodes))
		}
		n.unlike[i] = true
	}
	own := &s.d.Workloads[id.Workload]
	for i := range s.d.Workloads {
		other := &s.d.Workloads[i]
		mine, revision := own.Apart(other)
		its, itsRevision := other.Apart(own)
		switch {
		case mine && !revision, its && !itsRevision:
			n.apart = append(n.apart, i)
		case mine:
			n.apartInSet = true
		}
	}
	s.needs[id] = n
	return n
}

// obstacle says what keeps a pod off a node.
func (s *Scheduler) obstacle(n int, p *api.Pod) obstacle {
	id := setOf(p)
	need := s.needsOf(id)
	switch {
	case s.absent[n]:
		return nodeAbsent
	case s.d.Nodes[n].Apart:
		return nodeApart
	case s.left[n], s.leaving[n]:
		return nodeLeaves
	case s.cordoned[n] && !world.Tolerates(need.tolerations, unschedulable[:]):
		return nodeCordoned
	case len(s.taints[n]) > 0 && !world.Tolerates(need.tolerations, s.taints[n]):
		return nodeTainted
	case need.unlike != nil && need.unlike[n]:
		return nodeUnlike
	case s.clash(n, need) >= 0:
		return portTaken
	case s.repels(n, id, need):
		return podRepels
	default:
		return unobstructed
	}
}

// clash is the first of a pod's host ports that is taken on a node, -1 for none.
func (s *Scheduler) clash(n int, need *needs) int {
	for i, port := range need.ports {
		for other := range s.ports[n] { // order: any one decides
			if port.Clashes(other) {
				return i
			}
		}
	}
	return -1
}

// repels says whether a pod on a node and a pod of a revision are kept apart.
func (s *Scheduler) repels(n int, id api.ReplicaSetID, need *needs) bool {
	for _, other := range need.apart {
		if s.same[other][n] > 0 {
			return true
		}
	}
	return need.apartInSet && s.sets[id] != nil && s.sets[id][n] > 0
}
