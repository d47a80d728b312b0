package memory

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Trace follows the first packet of a new flow through the rules in force and lists
// everything that can become of it. It changes nothing.
func (d *Dataplane) Trace(p packet.Packet) packet.Trace {
	e := evaluate(d.plan, p)
	t := packet.Trace{Verdict: e.verdict, Hops: e.hops(d.plan)}
	if e.frontend != nil {
		t.Service = e.frontend.Service.String()
	}
	if e.verdict == packet.Endpoints {
		for _, target := range e.targets() {
			t.Targets = append(t.Targets, packet.Target{Addr: target.Addr, Masquerade: e.masquerades(d.plan, target)})
		}
	}
	return t
}

var _ packet.Tracer = (*Dataplane)(nil)

func (e *evaluation) hops(p *plan.Plan) []packet.Hop {
	hops := []packet.Hop{{Stage: "source", Detail: e.sourceText(p.Node())}}
	add := func(stage, format string, args ...any) {
		hops = append(hops, packet.Hop{Stage: stage, Detail: fmt.Sprintf(format, args...)})
	}
	if f := e.frontend; f != nil {
		add("frontend", "%s", frontendText(f, e.packet.Dst))
	}
	switch e.stage {
	case stageFirewall:
		add("source ranges", "%s is in none of %s: drop, before anything else is looked at", e.packet.Src.Addr(), prefixes(e.frontend.Allowed))
	case stageFrontend, stageHooks:
		if e.frontend.Allowed != nil {
			add("source ranges", "%s is admitted by %s", e.packet.Src.Addr(), prefixes(e.frontend.Allowed))
		}
		add("policy", "%s", e.policyText())
	case stageHealthCheck:
		add("health check", "port %d is the health-check node port of %s: accepted, kube-proxy answers it itself", e.packet.Dst.Port(), e.health)
	case stageClusterIPs:
		add("cluster IPs", "%s is a ClusterIP, but no Service has %s there: reject", e.packet.Dst.Addr(), e.portText())
	case stageServiceCIDR:
		add("service CIDR", "%s is in a service CIDR, but no Service has it: drop", e.packet.Dst.Addr())
	case stageLocalnet:
		add("localnet", "127.0.0.0/8 is closed to anybody but this host: drop")
	case stageNone:
		add("services", "%s", e.unmetText(p))
	}
	if e.stage == stageHooks {
		add("services", "that rule is not attached where this packet passes: it goes on untouched, towards the host that has %s", e.packet.Dst.Addr())
	}
	if e.verdict == packet.Endpoints {
		if text := e.fallbackText(); text != "" {
			add("fallback", "%s", text)
		}
		add("endpoints", "%s", e.targetsText())
		add("masquerade", "%s", e.masqueradeText(p))
	}
	return hops
}

func (e *evaluation) sourceText(n *plan.Node) string {
	src := e.packet.Src.Addr()
	where := "comes in"
	switch {
	case e.sent:
		where = "is sent by the node itself"
	case e.packet.InInterface != "":
		where = "comes in by " + e.packet.InInterface
	}
	d := n.Detector
	switch e.source {
	case plan.FromPod:
		if cidr, ok := d.CIDR(endpoints.FamilyOf(src)); ok {
			return fmt.Sprintf("%s counts as a pod: it is in %s (%s)", src, cidr, d.Mode)
		}
		return fmt.Sprintf("%s counts as a pod: it %s (%s %s)", src, where, d.Mode, d.Interface)
	case plan.FromNode:
		return fmt.Sprintf("%s is this node's own address", src)
	default:
		if !d.Implemented(endpoints.FamilyOf(src)) {
			return fmt.Sprintf("%s counts as outside: this node cannot tell its pods' traffic (no clusterCIDR)", src)
		}
		return fmt.Sprintf("%s %s from outside: neither a pod's address nor this node's", src, where)
	}
}

func frontendText(f *plan.Frontend, dst netip.AddrPort) string {
	if f.Kind == plan.NodePort {
		return fmt.Sprintf("%s is this node, port %d a node port of %s", dst.Addr(), f.Key.Port, f.Service)
	}
	article := "the"
	if f.Kind == plan.ExternalIP {
		article = "an"
	}
	return fmt.Sprintf("%s is %s %s of %s", f.Key, article, f.Kind, f.Service)
}

// policyText says which policy sent the packet where.
func (e *evaluation) policyText() string {
	f, r := e.frontend, e.route
	switch r.Why {
	case plan.NoEndpoints:
		return "no usable endpoint anywhere: reject"
	case plan.NoLocalEndpoints:
		return fmt.Sprintf("%s Local: no usable endpoint on this node, though there are some elsewhere: drop", policyName(f.Kind))
	case plan.NoClusterEndpoints:
		return "only serving terminating endpoints are left, which this list does not fall back to: drop"
	case plan.ShortCircuit:
		return fmt.Sprintf("externalTrafficPolicy Local does not bind a %s of this cluster: short-circuited to the Cluster list", e.source)
	default:
		return fmt.Sprintf("%s %s", policyName(f.Kind), r.List)
	}
}

func policyName(k plan.Kind) string {
	if k.External() {
		return "externalTrafficPolicy"
	}
	return "internalTrafficPolicy"
}

// fallbackText says that a list is held up by endpoints that are on their way out.
func (e *evaluation) fallbackText() string {
	list := e.route.List
	if !e.frontend.Lists.Fallback(list) {
		return ""
	}
	scope := "anywhere"
	if list == endpoints.LocalList {
		scope = "on this node"
	}
	return "no ready endpoint " + scope + ": those still serving though terminating stand in (KEP-1669)"
}

func (e *evaluation) targetsText() string {
	n := len(e.targets())
	s := "one of " + fmt.Sprint(n) + ", each with the same chance"
	if n == 1 {
		s = "the only one"
	}
	if e.frontend.Affinity > 0 {
		s += fmt.Sprintf("; a client stays with its first one for %s after its last new connection", e.frontend.Affinity)
	}
	return s
}

func (e *evaluation) masqueradeText(p *plan.Plan) string {
	route := e.route
	switch {
	case route.Masquerade && p.Node().MasqueradeAll && e.frontend.Kind == plan.ClusterIP:
		return "yes, masqueradeAll: the endpoint sees the node's address"
	case route.Masquerade && e.frontend.Kind == plan.ClusterIP:
		return "yes, the source is no pod's: the endpoint sees the node's address, so that the reply comes back this way"
	case route.Masquerade:
		return "yes: the endpoint sees the node's address, so that the reply comes back this way"
	}
	for _, t := range e.targets() {
		if e.masquerades(p, t) {
			return fmt.Sprintf("only when %s is sent back to itself (hairpin); else the endpoint sees %s", t.Addr, e.packet.Src.Addr())
		}
	}
	return fmt.Sprintf("no: the endpoint sees %s", e.packet.Src.Addr())
}

// unmetText says why no rule met the packet, as far as that may surprise.
func (e *evaluation) unmetText(p *plan.Plan) string {
	n, dst := p.Node(), e.packet.Dst
	family := endpoints.FamilyOf(dst.Addr())
	_, isHealth := p.HealthCheckNodePort(family, dst.Port())
	_, nodePort := e.frontends(p)
	switch {
	case e.dstOwned && isHealth && e.packet.Protocol == packet.TCP:
		return fmt.Sprintf("port %d is a health-check node port: no rule needed, kube-proxy answers it itself", dst.Port())
	case e.dstOwned && nodePort != nil && dst.Addr().IsLoopback():
		return fmt.Sprintf("%d is a node port, but node ports do not answer on %s here", dst.Port(), dst.Addr())
	case e.dstOwned && nodePort != nil:
		return fmt.Sprintf("%d is a node port, but not on %s: nodePortAddresses leave it out", dst.Port(), dst.Addr())
	case p.IsClusterIP(dst.Addr()):
		return fmt.Sprintf("%s is a ClusterIP without this port; %s mode has no rule for that: it is routed like any address, and usually times out", dst.Addr(), n.Dialect)
	default:
		return fmt.Sprintf("no Service has %s: it goes on as if there were no service proxy", dst)
	}
}

// portText names what the packet was for, at its destination.
func (e *evaluation) portText() string {
	if _, ok := protocolOf(e.packet.Protocol); !ok {
		return "anything but TCP, UDP and SCTP ports"
	}
	return fmt.Sprintf("%s port %d", strings.ToUpper(e.packet.Protocol.String()), e.packet.Dst.Port())
}

func prefixes(list []netip.Prefix) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = p.String()
	}
	return strings.Join(words, ", ")
}
