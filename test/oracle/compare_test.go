package oracle

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/proxy"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// difference is what a run found: where, and what each side says there.
type difference struct {
	kind         string // what was compared: shrinking keeps it
	where        string
	theirs, ours string
}

func (d *difference) Error() string {
	return fmt.Sprintf("difference in %s: %s\n--- kube-proxy\n%s\n--- lameduck\n%s", d.kind, d.where, d.theirs, d.ours)
}

func compareText(kind, theirs, ours, format string, args ...any) error {
	if theirs == ours {
		return nil
	}
	return &difference{kind: kind, where: fmt.Sprintf(format, args...), theirs: theirs, ours: ours}
}

// upstreamName is the key under which kube-proxy holds the port.
func upstreamName(n endpoints.ServicePortName) proxy.ServicePortName {
	return proxy.ServicePortName{
		NamespacedName: types.NamespacedName{Namespace: n.Namespace, Name: n.Name},
		Port:           n.Port, Protocol: corev1.Protocol(n.Protocol.String()),
	}
}

// The two renderings of a service port, field by field.

func theirPort(sp proxy.ServicePort) string {
	affinity := 0
	if sp.SessionAffinityType() == corev1.ServiceAffinityClientIP {
		affinity = sp.StickyMaxAgeSeconds()
	}
	var ranges []netip.Prefix
	for _, r := range sp.LoadBalancerSourceRanges() {
		ranges = append(ranges, netip.MustParsePrefix(r.String()))
	}
	// kube-proxy drops ranges that hold everyone, but takes ::ffff:0.0.0.0/96 for a
	// restriction, to 0.0.0.0/0: the traffic admitted is the same.
	if slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		ranges = nil
	}
	return portText(string(sp.Protocol()), ipText(sp.ClusterIP()), sp.Port(), sp.NodePort(), ipTexts(sp.ExternalIPs()), ipTexts(sp.LoadBalancerVIPs()),
		ranges, affinity, sp.HealthCheckNodePort(), sp.InternalPolicyLocal(), sp.ExternalPolicyLocal(),
		sp.ExternallyAccessible(), sp.UsesClusterEndpoints(), sp.UsesLocalEndpoints())
}

func ourPort(sp *endpoints.ServicePort) string {
	return portText(sp.Name.Protocol.String(), sp.ClusterIP.String(), int(sp.Port), int(sp.NodePort), addrTexts(sp.ExternalIPs), addrTexts(sp.LoadBalancerIPs),
		sp.SourceRanges, int(sp.AffinityTimeout.Seconds()), int(sp.HealthCheckNodePort),
		sp.InternalPolicy == endpoints.PolicyLocal, sp.ExternalPolicy == endpoints.PolicyLocal,
		sp.ExternallyAccessible(), sp.UsesCluster(), sp.UsesLocal())
}

func portText(protocol, clusterIP string, port, nodePort int, externalIPs, vips string, ranges []netip.Prefix, affinity, healthCheck int,
	internalLocal, externalLocal, accessible, usesCluster, usesLocal bool) string {
	admits := "everyone"
	if len(ranges) > 0 {
		admits = fmt.Sprint(ranges)
	}
	return fmt.Sprintf("%s, clusterIP %s, port %d, nodePort %d, externalIPs %s, load-balancer VIPs %s, admits %s, affinity %d s,\n"+
		"    healthCheckNodePort %d, internal Local %t, external Local %t, accessible %t, uses Cluster %t, uses Local %t",
		protocol, clusterIP, port, nodePort, externalIPs, vips, admits, affinity,
		healthCheck, internalLocal, externalLocal, accessible, usesCluster, usesLocal)
}

func ipText(ip net.IP) string {
	a, ok := netip.AddrFromSlice(ip)
	if !ok {
		return "none"
	}
	return a.Unmap().String()
}

func ipTexts(ips []net.IP) string {
	var out []string
	for _, ip := range ips {
		out = append(out, ipText(ip))
	}
	return strings.Join(out, " ")
}

func addrTexts(addrs []netip.Addr) string {
	var out []string
	for _, a := range addrs {
		out = append(out, a.String())
	}
	return strings.Join(out, " ")
}

// The two renderings of an endpoint.

func theirEntry(ep proxy.Endpoint) string {
	return string(appendEntry(nil, parseEndpoint(ep), ep.IsReady(), ep.IsServing(), ep.IsTerminating(), ep.IsLocal(),
		ep.ZoneHints().UnsortedList(), ep.NodeHints().UnsortedList()))
}

func parseEndpoint(ep proxy.Endpoint) netip.AddrPort {
	a, err := netip.ParseAddr(ep.IP())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a, uint16(ep.Port()))
}

func appendEntry(b []byte, a netip.AddrPort, ready, serving, terminating, local bool, zones, nodes []string) []byte {
	b = a.AppendTo(b)
	for _, c := range []bool{ready, serving, terminating} {
		b = append(b, ' ')
		b = strconv.AppendBool(b, c)
	}
	if local {
		b = append(b, " local"...)
	}
	b = appendHints(b, " zones", zones)
	return appendHints(b, " nodes", nodes)
}

func appendHints(b []byte, label string, hints []string) []byte {
	if len(hints) == 0 {
		return b
	}
	sorted := slices.Clone(hints)
	slices.Sort(sorted)
	return fmt.Appendf(b, "%s %q", label, slices.Compact(sorted))
}

// answer is what both sides say about one case, in comparable form.
type answer struct {
	entries        [][]byte
	cluster, local list
	reachable      []netip.AddrPort
	hasAny         bool
	topology       endpoints.TopologyMode
	localReady     int // what the health-check node port counts
}

type list struct {
	used, fallback bool
	addrs          []netip.AddrPort
}

func (a *answer) String() string {
	b := []byte("endpoints:\n")
	slices.SortFunc(a.entries, slices.Compare[[]byte])
	for _, e := range a.entries {
		b = append(append(append(b, "    "...), e...), '\n')
	}
	b = a.cluster.append(b, "Cluster: ")
	b = a.local.append(b, "Local: ")
	b = appendAddrs(append(b, "reachable: "...), a.reachable)
	b = append(b, "\nhas any: "...)
	b = strconv.AppendBool(b, a.hasAny)
	b = append(b, "\ntopology: "...)
	b = append(b, a.topology.String()...)
	b = append(b, "\nlocal ready endpoints: "...)
	return string(strconv.AppendInt(b, int64(a.localReady), 10))
}

func (l *list) append(b []byte, label string) []byte {
	b = append(b, label...)
	if !l.used {
		return append(b, "unused\n"...)
	}
	if l.fallback {
		b = append(b, "fallback "...)
	}
	return append(appendAddrs(b, l.addrs), '\n')
}

func appendAddrs(b []byte, addrs []netip.AddrPort) []byte {
	sorted := slices.Clone(addrs) // kube-proxy sorts by string, and not all its lists
	slices.SortFunc(sorted, netip.AddrPort.Compare)
	for _, a := range sorted {
		b = append(a.AppendTo(b), ' ')
	}
	return b
}

// theirAnswer asks kube-proxy about a service port whose endpoints are all.
func theirAnswer(all []proxy.Endpoint, sp proxy.ServicePort, n endpoints.NodeInfo, localReady int) (*answer, error) {
	cluster, local, reachable, hasAny := proxy.CategorizeEndpoints(all, sp, n.Name, topologyLabels(n))
	a := &answer{
		cluster: theirList(cluster, sp.UsesClusterEndpoints()), local: theirList(local, sp.UsesLocalEndpoints()),
		reachable: addrsOf(reachable), hasAny: hasAny, topology: topologyMode(all, sp, n), localReady: localReady,
	}
	for _, ep := range all {
		a.entries = append(a.entries, []byte(theirEntry(ep)))
	}
	// The comparison rests on these: a list that is not used is nil and not just empty.
	if cluster != nil && !a.cluster.used || local != nil && !a.local.used {
		return nil, fmt.Errorf("kube-proxy fills a list it does not use: cluster %v, local %v", cluster, local)
	}
	return a, nil
}

func theirList(eps []proxy.Endpoint, used bool) list {
	return list{used: used, fallback: len(eps) > 0 && !eps[0].IsReady(), addrs: addrsOf(eps)}
}

func addrsOf(eps []proxy.Endpoint) []netip.AddrPort {
	var out []netip.AddrPort
	for _, ep := range eps {
		out = append(out, parseEndpoint(ep))
	}
	return out
}

// ourAnswer asks lameduck.
func ourAnswer(sp *endpoints.ServicePort, n endpoints.NodeInfo, o endpoints.Options, localReady int) (*answer, []endpoints.Decision) {
	s, decisions := endpoints.Decide(sp, n, o, nil)
	a := &answer{
		cluster: ourList(sp, s.Cluster), local: ourList(sp, s.Local), reachable: addrsAt(sp, s.Reachable),
		hasAny: s.HasAny, topology: s.Topology, localReady: localReady,
	}
	for i := range sp.Endpoints {
		if d := decisionAt(decisions, i); d.Cluster == endpoints.ReasonDuplicate || d.Local == endpoints.ReasonDuplicate {
			continue
		}
		e := &sp.Endpoints[i]
		a.entries = append(a.entries, appendEntry(nil, e.Addr, e.Conditions.Ready(), e.Conditions.Serving(), e.Conditions.Terminating(),
			e.IsLocal(n.Name), e.Meta.ForZones, e.Meta.ForNodes))
	}
	return a, decisions
}

// decisionAt forgives a missing decision: checkDecisions does not.
func decisionAt(decisions []endpoints.Decision, i int) endpoints.Decision {
	if i >= len(decisions) {
		return endpoints.Decision{}
	}
	return decisions[i]
}

func ourList(sp *endpoints.ServicePort, l endpoints.List) list {
	return list{used: l.Used, fallback: l.Fallback, addrs: addrsAt(sp, l.Index)}
}

func addrsAt(sp *endpoints.ServicePort, index []int32) []netip.AddrPort {
	var out []netip.AddrPort
	for _, i := range index {
		out = append(out, sp.Endpoints[i].Addr)
	}
	return out
}
