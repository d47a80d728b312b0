package explain

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Flow is what becomes of new connections of one kind, as people are told of it. Programs find
// all kinds in Service.Traffic.
type Flow struct {
	From      string // "outside" or "the cluster"
	Policy    string // "Cluster" or "Local"
	Action    string // "forward", "reject" or "drop"
	Endpoints []string
	Fallback  bool   // they are terminating and still serve (KEP-1669)
	Why       string // one sentence, without a full stop
}

// Flows are those from outside, where anything but the ClusterIP leads to the port, and those
// from the cluster.
func (s *Service) Flows() []Flow {
	var out []Flow
	if f := s.find("outside", "external"); f != nil {
		outside := s.flow("outside", s.ExternalTrafficPolicy, f)
		if len(s.LoadBalancerSourceRanges) > 0 {
			outside.Why += "; at " + strings.Join(s.LoadBalancerIPs, ", ") + " only for callers in its source ranges"
		}
		out = append(out, outside)
	}
	if f := s.find("node", "clusterIP"); f != nil {
		out = append(out, s.flow("the cluster", s.InternalTrafficPolicy, f))
	}
	return out
}

func (s *Service) find(from, to string) *Traffic {
	for i := range s.Traffic {
		if s.Traffic[i].From == from && s.Traffic[i].To == to {
			return &s.Traffic[i]
		}
	}
	return nil
}

func (s *Service) flow(from, policy string, f *Traffic) Flow {
	out := Flow{From: from, Policy: policy, Action: f.Action, Endpoints: f.Endpoints}
	switch f.Action {
	case plan.Reject.String():
		out.Why = "no usable endpoint anywhere: clients are refused at once"
	case plan.Drop.String():
		out.Why = "no usable endpoint on this node, though there are some elsewhere: clients wait"
		if f.Why == "no-cluster-endpoints" {
			out.Why = "nothing ready, and this list does not fall back: clients wait"
		}
	default:
		out.Fallback, out.Why = s.fellBack(f), s.flowWhy(f)
	}
	return out
}

func (s *Service) fellBack(f *Traffic) bool {
	if f.List == endpoints.LocalList.String() {
		return s.UsesTerminating.Local
	}
	return s.UsesTerminating.Cluster
}

func (s *Service) flowWhy(f *Traffic) string {
	share := ""
	if n := len(f.Endpoints); n > 1 {
		share = fmt.Sprintf(", each 1 in %d", n)
	}
	local := f.List == endpoints.LocalList.String()
	switch {
	case s.fellBack(f) && local:
		return "still serving though terminating: no ready endpoint on this node (KEP-1669)" + share
	case s.fellBack(f):
		return "still serving though terminating: no ready endpoint anywhere (KEP-1669)" + share
	case local:
		return "ready on this node" + share
	case s.TopologyMode != "":
		return "ready, by topology hints (" + s.TopologyMode + ")" + share
	default:
		return "ready" + share
	}
}

// HealthWords say what the health-check node port counts, and what load balancers make of it;
// "" where there is no such port.
func (s *Service) HealthWords() string {
	h := s.HealthCheckNodePort
	if h == nil {
		return ""
	}
	verb := "load balancers may send to this node"
	if h.LocalEndpoints == 0 {
		verb = "load balancers are told to leave"
		if outside := s.find("outside", "external"); outside != nil && outside.Action == plan.Forward.String() && s.UsesTerminating.Local {
			verb += " while " + strings.Join(outside.Endpoints, ", ") + " still serves"
		}
	}
	noun := "endpoints"
	if h.LocalEndpoints == 1 {
		noun = "endpoint"
	}
	return fmt.Sprintf("%d ready %s here: %s", h.LocalEndpoints, noun, verb)
}

// Of is what the list of a policy, "Cluster" or "Local", makes of the endpoint.
func (d *Decision) Of(policy string) Reasoned {
	if policy == endpoints.PolicyLocal.String() {
		return d.Local
	}
	return d.Cluster
}

// Use is a word for the decision: "used", "fallback" or "-".
func (r Reasoned) Use() string {
	switch {
	case r.Reason == endpoints.ReasonFallback.String():
		return "fallback"
	case r.Used:
		return "used"
	default:
		return "-"
	}
}

// State is the endpoint's conditions in words: "ready", "terminating" and so on.
func (c Conditions) State() string {
	switch {
	case c.Ready && c.Terminating:
		return "ready, though terminating"
	case c.Ready:
		return "ready"
	case c.Terminating && c.Serving:
		return "terminating, still serves"
	case c.Terminating:
		return "terminating, not serving"
	case c.Serving:
		return "serving, not ready"
	default:
		return "not ready"
	}
}

// Whose says whose behaviour this is: of which kube-proxy on which node.
func (x *Explanation) Whose() string {
	zone := "zone unknown"
	if x.Zone != "" {
		zone = "zone " + x.Zone
	}
	return fmt.Sprintf("as kube-proxy %s does it on %s (%s), terminating fallback %s", x.KubernetesVersion, x.NodeWords(), zone, x.TerminatingFallback)
}

// NodeWords name the node.
func (x *Explanation) NodeWords() string {
	if x.Node == "" {
		return "a node without a name"
	}
	return x.Node
}
