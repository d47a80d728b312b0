package explain

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// remarks says what would change the answer for one port. Each what-if is computed by
// planning the changed port, not by reasoning about it here.
func (b *builder) remarks(i int) []string {
	out := []string{}
	for _, s := range []string{b.firewall(i), b.withoutFallback(i), b.ifLastStops(i), b.shortCircuit(i), b.kubectl(i)} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// view is what traffic from outside and from the cluster meets.
type view struct {
	outside, cluster *Traffic // outside is nil without external addresses
}

func viewOf(port []plan.Frontend) view {
	var v view
	if f := frontendOf(port, true); f != nil {
		t := trafficOf(f, plan.FromOutside, "external")
		v.outside = &t
	}
	if f := frontendOf(port, false); f != nil {
		t := trafficOf(f, plan.FromNode, "clusterIP") // any source: ClusterIP lists do not depend on it
		v.cluster = &t
	}
	return v
}

// differences words what of now becomes something else in then.
func differences(now, then view, node string) string {
	var words []string
	if now.outside != nil && !sameOutcome(now.outside, then.outside) {
		words = append(words, outcome("from outside "+node, then.outside))
	}
	if !sameOutcome(now.cluster, then.cluster) {
		words = append(words, outcome("from the cluster "+node, then.cluster))
	}
	return strings.Join(words, "; ")
}

func sameOutcome(a, b *Traffic) bool {
	return a.Action == b.Action && slices.Equal(a.Endpoints, b.Endpoints)
}

func outcome(subject string, t *Traffic) string {
	switch t.Action {
	case "drop":
		return subject + " DROPS, and the client waits"
	case "reject":
		return subject + " REJECTS, and the client is refused at once"
	default:
		return subject + " uses " + strings.Join(t.Endpoints, ", ")
	}
}

// withoutFallback says what the node would do without KEP-1669, if that is something else.
func (b *builder) withoutFallback(i int) string {
	if b.node.Options.TerminatingFallback == endpoints.FallbackNone {
		return b.withFallback(i)
	}
	sp := &b.svc.Ports[i]
	d := differences(viewOf(b.plan), viewOf(b.planWith(sp, endpoints.FallbackNone)), "this node")
	if d == "" {
		return ""
	}
	return fmt.Sprintf("Without KEP-1669 (before 1.26): %s (feature gate ProxyTerminatingEndpoints=false).", d)
}

func (b *builder) withFallback(i int) string {
	sp := &b.svc.Ports[i]
	d := differences(viewOf(b.plan), viewOf(b.planWith(sp, endpoints.FallbackAll)), "this node")
	if d == "" {
		return ""
	}
	return fmt.Sprintf("With KEP-1669 (1.26 and later): %s.", d)
}

func (b *builder) planWith(sp *endpoints.ServicePort, scope endpoints.FallbackScope) []plan.Frontend {
	node := *b.node
	node.Options.TerminatingFallback = scope
	return plan.ForPort(sp, &node)
}

// ifLastStops says what happens when the last endpoint of a list stops serving.
func (b *builder) ifLastStops(i int) string {
	sp := &b.svc.Ports[i]
	now := viewOf(b.plan)
	last, many := lastOf(now)
	if !last.IsValid() {
		return ""
	}
	endpointsAfter := slices.Clone(sp.Endpoints)
	for j := range endpointsAfter {
		if endpointsAfter[j].Addr == last {
			endpointsAfter[j].Conditions &^= endpoints.Ready | endpoints.Serving
		}
	}
	changed := *sp
	changed.Endpoints = endpointsAfter
	after := plan.ForPort(&endpoints.NewService(b.svc.Name, changed).Ports[0], b.node)
	d := differences(now, viewOf(after), "this node")
	if d == "" || many {
		return ""
	}
	s := fmt.Sprintf("If %s stops serving: %s", last, d)
	if strings.Contains(d, "DROPS") {
		s += ", since usable endpoints exist elsewhere; it would REJECT only if none existed anywhere"
	}
	return s + "."
}

// lastOf returns the one endpoint that a kind of traffic depends on. many says that the two
// kinds depend on different ones: then there is no single remark to make.
func lastOf(v view) (last netip.AddrPort, many bool) {
	for _, t := range []*Traffic{v.outside, v.cluster} {
		if t == nil || len(t.Endpoints) != 1 {
			continue
		}
		a := netip.MustParseAddrPort(t.Endpoints[0])
		if last.IsValid() && last != a {
			return last, true
		}
		last = a
	}
	return last, false
}

// firewall names who may call the load balancer's addresses at all: that is asked before any policy, and of pods and nodes, too.
func (b *builder) firewall(i int) string {
	sp := &b.svc.Ports[i]
	ranges := b.ranges(sp)
	if len(ranges) == 0 {
		return ""
	}
	ways := "the ClusterIP"
	if sp.NodePort != 0 {
		ways += fmt.Sprintf(" and node port %d", sp.NodePort)
	}
	return fmt.Sprintf("Only callers in %s reach %s (loadBalancerSourceRanges): all others, pods and nodes too, are dropped before anything else is looked at. They do not bind %s.",
		strings.Join(prefixes(ranges), ", "), strings.Join(addrs(sp.LoadBalancerIPs), ", "), ways)
}

// shortCircuit reminds that externalTrafficPolicy Local does not bind the cluster's own traffic.
func (b *builder) shortCircuit(i int) string {
	sp := &b.svc.Ports[i]
	if sp.ExternalPolicy != endpoints.PolicyLocal || !sp.ExternallyAccessible() {
		return ""
	}
	address := fmt.Sprintf("node port %d", sp.NodePort)
	if ips := slices.Concat(sp.LoadBalancerIPs, sp.ExternalIPs); len(ips) > 0 {
		address = ips[0].String()
	}
	if len(b.ranges(sp)) > 0 {
		address += ", if loadBalancerSourceRanges admit it,"
	}
	if !b.node.Detector.Implemented(sp.Family) {
		return fmt.Sprintf("A process on this node calling %s is short-circuited to the Cluster list; a pod too, if kube-proxy can tell it is one (clusterCIDR).", address)
	}
	return fmt.Sprintf("A pod on this node calling %s is short-circuited to the Cluster list, not to Local's.", address)
}

// kubectl warns of the older API, which shows something else.
func (b *builder) kubectl(i int) string {
	sp := &b.svc.Ports[i]
	var shown []string
	terminating := false
	for j := range sp.Endpoints {
		e := &sp.Endpoints[j]
		if e.Conditions.Terminating() && !e.Conditions.Ready() { // with publishNotReadyAddresses it is ready, and listed
			terminating = true
		}
		if e.Conditions.Ready() {
			shown = append(shown, e.Addr.Addr().String())
		}
	}
	if !terminating {
		return ""
	}
	if len(shown) == 0 {
		shown = []string{"<none>"}
	}
	return fmt.Sprintf("kubectl get endpoints %s shows %s: terminating pods are not in it.", b.svc.Name.Name, strings.Join(slices.Compact(shown), ", "))
}
