package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// histogram counts how often each class of situation was compared.
type histogram map[string]int

func (h histogram) add(o histogram) {
	for class, n := range o {
		h[class] += n
	}
}

// notApplicable are the reasons that no case can have, and why.
var notApplicable = map[string]string{
	"reason Cluster remote":        "the Cluster list knows no remote endpoints",
	"reason Local other-zone":      "the Local list ignores hints",
	"reason Local other-node":      "the Local list ignores hints",
	"reason Cluster fallback-off":  "before 1.26 only: no counterpart in this kube-proxy",
	"reason Local fallback-off":    "before 1.26 only: no counterpart in this kube-proxy",
	"reason Cluster not-in-slices": "before 1.22 only: no counterpart in this kube-proxy",
	"reason Local not-in-slices":   "before 1.22 only: no counterpart in this kube-proxy",
}

// classes lists all that a full run must meet often enough, in print order.
func classes() []string {
	var all []string
	for _, list := range []endpoints.ListKind{endpoints.ClusterList, endpoints.LocalList} {
		for _, r := range endpoints.Reasons() {
			all = append(all, fmt.Sprintf("reason %s %s", list, r))
		}
	}
	for _, m := range []endpoints.TopologyMode{endpoints.TopologyNone, endpoints.PreferSameZone, endpoints.PreferSameNode} {
		all = append(all, topologyClass(m))
	}
	return append(all, []string{
		"topology hints there, none followed", "topology PreferSameZone, more than 64 zones hinted",
		"fallback none", "fallback Cluster only", "fallback Local only", "fallback both",
		"nil ready", "nil serving", "nil terminating", "nil node name",
		"conditions F/F/F", "conditions F/F/T", "conditions F/T/F", "conditions F/T/T",
		"conditions T/F/F", "conditions T/F/T", "conditions T/T/F", "conditions T/T/T",
		"duplicate in one slice", "duplicate across slices", "duplicate terminating and not",
		"duplicate all terminating", "duplicate none terminating", "duplicate, one local",
		"has any, and a used list is empty", "has any, and both lists are empty", "has none, with endpoints", "has none, no endpoints",
		"lists: Cluster only", "lists: Local only", "lists: both",
		"reachable: own list of both",
		eventAddAfterSlices, eventReAddKept, eventServiceDeleted, eventServiceUpdated, eventTypeChanged, eventPolicyChanged,
		eventServiceUnlisted, eventServiceListed, eventSliceAdded, eventSliceFirst, eventSliceUpdated, eventSliceDeleted,
		eventSliceReAdded, eventSliceMoved, eventSliceUnlabelled, eventSliceHeadless, eventFamilyChanged,
		eventNoOp, eventUnknownDeleted, eventSeveral, eventUndone,
		"family IPv4", "family IPv6", "family both of one Service",
		"protocol TCP", "protocol UDP", "protocol SCTP", "port unnamed", "port named",
		"type ClusterIP", "type NodePort", "type LoadBalancer",
		"policy internal Local", "policy external Local", "policy external Local, not accessible",
		"service field ipFamilies missing", "service field external IPs", "service field load-balancer VIPs",
		"service field ipMode Proxy", "service field source ranges", "service field zero source range",
		"service field affinity", "service field healthCheckNodePort",
		"slice address oddly spelled", "slice port without name or number", "slice port no Service port matches",
		"slice ports with different targets", "node without a name", "node without a zone",
		"local ready endpoints 0", "local ready endpoints 1", "local ready endpoints 2 or more",
		arguedAddress, arguedDuplicate,
	}...)
}

func topologyClass(m endpoints.TopologyMode) string {
	if m == endpoints.TopologyNone {
		return "topology none"
	}
	return "topology " + m.String()
}

// The classes that docs/limits-of-the-proxy.md argues: kube-proxy does something else there, or
// something undefined, and the comparison is with what it says it should have done.
const (
	arguedAddress   = "argued: endpoint with an unusable address skipped"
	arguedDuplicate = "argued: duplicate undefined upstream, defined here"
)

// table renders the counts and returns the classes that occurred less often than floor.
func (h histogram) table(floor int) (text string, rare []string) {
	var w strings.Builder
	known := classes()
	for _, class := range known {
		if why, ok := notApplicable[class]; ok {
			fmt.Fprintf(&w, "%12s  %-60s %s\n", "n/a", class, why)
			if h[class] > 0 {
				rare = append(rare, class+": cannot occur, and did")
			}
			continue
		}
		mark := ""
		if h[class] < floor {
			mark = "<-- too rare"
			rare = append(rare, fmt.Sprintf("%s: %d", class, h[class]))
		}
		fmt.Fprintf(&w, "%12d  %s\n", h[class], strings.TrimSpace(fmt.Sprintf("%-60s %s", class, mark)))
	}
	for _, class := range slices.Sorted(maps.Keys(h)) {
		if !slices.Contains(known, class) {
			rare = append(rare, class+": not in the list of classes")
		}
	}
	return w.String(), rare
}
