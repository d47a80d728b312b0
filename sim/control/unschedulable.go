package control

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Stuck is a rollout, or a drain, that was begun and cannot end.
type Stuck struct {
	Workload int           // of the scenario
	Drain    bool          // it is a drain
	Budget   *world.Budget // whose field Path is; nil: it is the workload's
	// Why says what it waits for, and What would let it go on, in words.
	Why, What string
	// Path is the field of the manifest behind it, "" when there is none.
	Path string
}

// Step is how a rolling update goes on: rolling says that one is under way.
type Step struct {
	Rolling            bool
	Surge, Unavailable int
}

// phrases are what is said of one node with an obstacle, and of several; %s is the port's.
var phrases = [numObstacles]struct{ one, many string }{
	nodeLeaves:   {"is going away", "are going away"},
	nodeCordoned: {"is cordoned", "are cordoned"},
	nodeTainted:  {"has a taint that the pod does not tolerate", "have taints that the pod does not tolerate"},
	nodeUnlike:   {"is not one that its nodeSelector or node affinity asks for", "are not what its nodeSelector or node affinity asks for"},
	portTaken:    {"already has a pod with %s", "already have a pod with %s"},
	podRepels:    {"already has a pod that podAntiAffinity keeps it apart from", "already have a pod that podAntiAffinity keeps it apart from"},
}

// Unschedulable says why pods find no node.
func (s *Scheduler) Unschedulable(d *api.Workload, pods []*api.Pod, of Step) *Stuck {
	p := pods[0]
	need := s.needsOf(setOf(p))
	var count [numObstacles]int
	port, path, total := "", "", 0
	for n := range s.d.Nodes {
		o := s.obstacle(n, p)
		if o == nodeAbsent || o == nodeApart {
			continue // it is none of the pod's nodes
		}
		total++
		if o == unobstructed {
			return nil // it is about to be bound
		}
		if count[o]++; o == portTaken && port == "" {
			i := s.clash(n, need)
			port, path = portWords(need.ports[i], need.paths[i]), need.paths[i]
		}
	}
	var parts []string
	for o, n := range count {
		one, many := phrases[o].one, phrases[o].many
		if obstacle(o) == portTaken {
			one, many = fmt.Sprintf(one, port), fmt.Sprintf(many, port)
		}
		switch {
		case n == 0:
		case n == total && total == 1:
			parts = append(parts, "the only node "+one)
		case n == total:
			parts = append(parts, fmt.Sprintf("each of the %d nodes %s", n, one))
		case n == 1:
			parts = append(parts, fmt.Sprintf("1 of %d nodes %s", total, one))
		default:
			parts = append(parts, fmt.Sprintf("%d of %d nodes %s", n, total, many))
		}
	}
	who := "the new pod finds no node: "
	if len(pods) > 1 {
		who = fmt.Sprintf("%d new pods find no node: ", len(pods))
	}
	what, field := s.room(d, count, of)
	return &Stuck{Why: who + strings.Join(parts, ", "), What: what, Path: cmp.Or(path, field)}
}

// portWords name a host port as the manifest does.
func portWords(p world.HostPort, path string) string {
	if strings.HasSuffix(path, "hostNetwork") {
		return fmt.Sprintf("port %d of the node (hostNetwork)", p.Port)
	}
	return fmt.Sprintf("hostPort %d", p.Port)
}

// room says what would let pods be scheduled, by the obstacle that a change of the workload can do
// most about, and which field is behind it.
func (s *Scheduler) room(d *api.Workload, count [numObstacles]int, of Step) (what, field string) {
	blocked := count[portTaken] + count[podRepels]
	if blocked == 0 {
		switch {
		case count[nodeCordoned] > 0:
			return "kubectl uncordon, or one node more", ""
		case count[nodeTainted] > 0:
			return "a toleration of the taints, or a node without them", "spec.template.spec.tolerations"
		case count[nodeUnlike] > 0:
			return "a node with the labels that it asks for", "spec.template.spec.nodeSelector"
		default:
			return "a node that stays", ""
		}
	}
	usable := 0 // nodes that have a pod of the workload and may keep it
	for n := range s.d.Nodes {
		if s.same[d.Workload][n] > 0 && !s.cordoned[n] {
			usable++
		}
	}
	field = "spec.template.spec.affinity.podAntiAffinity"
	missing := d.Replicas - usable
	if of.Rolling && of.Unavailable == 0 && of.Surge > 0 {
		if missing <= 0 {
			return "maxSurge 0 and maxUnavailable 1, or one node more", field
		}
		missing++ // for the surge
	}
	switch {
	case missing <= 1:
		return "one node more", field
	default:
		return fmt.Sprintf("%d nodes more", missing), field
	}
}
