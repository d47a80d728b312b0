package control

import "github.com/lameduck-proxy/lameduck/sim/api"

// The turns in which Karpenter evicts the pods of a node: the next one comes when all pods of the one before are being deleted
// (kubernetes-sigs/karpenter pkg/controllers/node/termination/terminator/terminator.go, Evict; verified).
const (
	turnOfMost = iota
	turnOfDaemons
	turnOfCritical
	turnOfCriticalDaemons
)

// turnOf is that of a pod: it is critical by the name of its class, not by its priority.
func (t *taking) turnOf(p *api.Pod) int {
	class := t.template(p).Spec.PriorityClassName
	critical := class == "system-cluster-critical" || class == "system-node-critical"
	switch daemon := !t.d.moves(p); {
	case critical && daemon:
		return turnOfCriticalDaemons
	case critical:
		return turnOfCritical
	case daemon:
		return turnOfDaemons
	default:
		return turnOfMost
	}
}

// foremost are the pods whose turn it is, of those that were not asked to leave, and those that nobody asks. A pod that says
// do-not-disrupt is never evicted: it has to end by itself, or by the node's time (pkg/utils/pod/scheduling.go, IsEvictable; verified).
func (e *emptying) foremost(fresh []*leaving) []*leaving {
	turn := turnOfCriticalDaemons
	for _, l := range e.pods {
		if !l.over && !l.spared {
			turn = min(turn, e.turnOf(l.pod))
		}
	}
	for _, l := range fresh {
		if l.spared = e.template(l.pod).Annotations[doNotDisrupt] == "true"; !l.spared {
			turn = min(turn, e.turnOf(l.pod))
		}
	}
	var out []*leaving
	for _, l := range fresh {
		if l.spared || e.turnOf(l.pod) == turn {
			out = append(out, l)
		}
	}
	return out
}

// eventual says whether Karpenter disrupts a node whatever its pods and their budgets say: one that has drifted, where its time is limited
// (pkg/controllers/disruption/types.go, EventualDisruptionClass; verified).
func (t *taking) eventual() bool { return t.of.Drifted && t.of.Limit > 0 }
