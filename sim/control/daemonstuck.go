package control

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/placement"
)

// noRoomOnOwn says why pods of a DaemonSet, each of which is made for one node, cannot be bound there; nil where one is about to be.
func (s *Scheduler) noRoomOnOwn(pods []*api.Pod, of Step) *Stuck {
	pods = slices.SortedFunc(slices.Values(pods), func(a, b *api.Pod) int { return cmp.Compare(a.Place(), b.Place()) })
	var names []string
	var first []placement.Obstacle
	for _, p := range pods {
		found := s.nodes.Try(s.kindOf(p)).Obstacles(p.Place())
		if len(found) == 0 {
			return nil
		}
		if first == nil {
			first = found
		}
		names = append(names, s.d.Nodes[p.Place()].Name)
	}
	who := "the new pod is for " + names[0] + " alone: "
	if len(pods) > 1 {
		who = fmt.Sprintf("%d new pods are for one node each, %s: ", len(pods), few(names))
	}
	what, field := roomOnOwn(&first[0], of)
	return &Stuck{Why: who + first[0].Details(), What: what, Path: cmp.Or(first[0].Path, field)}
}

// roomOnOwn says what would let a pod of a DaemonSet be bound to its node, and which field is behind it.
func roomOnOwn(o *placement.Obstacle, of Step) (what, field string) {
	const template, inPlace = "spec.template.spec.", "maxSurge 0 and maxUnavailable 1"
	switch o.Why {
	case placement.PortTaken:
		what = "another port, or no other pod with that one on the node"
	case placement.Repels, placement.Repelled:
		what, field = "no other pod on the node that is kept apart from it", template+"affinity.podAntiAffinity"
	case placement.Insufficient, placement.TooManyPods:
		what = "fewer or smaller pods on the node"
	case placement.Tainted:
		return "a toleration of the taints, or a node without them", template + "tolerations"
	default:
		return "a node that lets it run", ""
	}
	if of.Surge > 0 {
		what = inPlace
	}
	return what, field
}

// few lists the first of several names.
func few(names []string) string {
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
