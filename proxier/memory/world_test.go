package memory

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// world is a random cluster as one node sees it, with packets worth sending in it.
type world struct {
	rng   *rand.Rand
	node  *plan.Node
	cache *endpoints.Cache
	srcs  []netip.Addr
	dsts  []netip.AddrPort
}

func addr(a, b, c, d byte) netip.Addr { return netip.AddrFrom4([4]byte{a, b, c, d}) }

func one[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// newWorld makes a node of any configuration and up to four Services, which do not claim
// each other's addresses: who wins then is not kube-proxy's to say.
func newWorld(t testing.TB, seed uint64) *world {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	w := &world{rng: rng, node: randomNode(rng)}
	w.cache = endpoints.NewCache(w.node.Options)
	w.srcs = []netip.Addr{
		addr(203, 0, 113, 7), addr(10, 0, 1, 200), addr(10, 0, 2, 200), addr(127, 0, 0, 1), addr(10, 0, 1, 1), addr(10, 0, 2, 1),
	}
	w.srcs = append(w.srcs, w.node.Addresses...)
	w.dsts = []netip.AddrPort{netip.AddrPortFrom(addr(172, 16, 0, 99), 80), netip.AddrPortFrom(addr(8, 8, 8, 8), 80)}
	for i := range byte(1 + rng.IntN(4)) {
		svc, slice := w.service(i)
		problems := append(w.cache.SetService(svc), w.cache.SetSlice(slice)...)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	return w
}

func randomNode(rng *rand.Rand) *plan.Node {
	n := &plan.Node{
		Name: "n1", Zone: "z1", Dialect: plan.Dialect(rng.IntN(2)), MasqueradeAll: rng.IntN(4) == 0, LocalhostNodePorts: rng.IntN(2) == 0,
		Addresses: []netip.Addr{addr(192, 168, 0, 1), addr(192, 168, 1, 1), addr(198, 18, 0, 0), addr(172, 16, 0, 0)},
		Detector: plan.LocalDetector{
			Mode: plan.DetectLocalMode(rng.IntN(5)), Interface: "cbr0",
			CIDRs: []netip.Prefix{one(rng, netip.MustParsePrefix("10.0.0.0/16"), netip.MustParsePrefix("10.0.1.0/24"), netip.MustParsePrefix("192.168.1.0/24"))},
		},
		Options: endpoints.CurrentOptions(),
	}
	if n.Detector.Mode == plan.DetectInterfaceNamePrefix {
		n.Detector.Interface = "cbr"
	}
	switch rng.IntN(3) {
	case 0:
		n.NodePortAddresses = n.PrimaryNodePortAddresses()
	case 1:
		n.NodePortAddresses = []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24"), one(rng, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("198.18.0.0/24"))}
	}
	if rng.IntN(2) == 0 {
		n.ServiceCIDRs = []netip.Prefix{netip.MustParsePrefix("172.16.0.0/24")}
	}
	if rng.IntN(4) == 0 {
		n.Options.TerminatingFallback = endpoints.FallbackNone
	}
	return n
}

// service makes the i-th Service and notes where packets for it may go. The first one's
// ClusterIP and external IP are the node's own addresses, its port the second one's node port.
func (w *world) service(i byte) (*corev1.Service, *discoveryv1.EndpointSlice) {
	rng := w.rng
	port, nodePort := one(rng, int32(80), 30081), 30080+int32(i)
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = "default", fmt.Sprintf("s%d", i)
	svc.Spec.Type, svc.Spec.ClusterIP = corev1.ServiceTypeClusterIP, addr(172, 16, 0, i).String()
	protocol := one(rng, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	svc.Spec.Ports = []corev1.ServicePort{{Name: "p", Port: port, Protocol: protocol}}
	if rng.IntN(2) == 0 {
		svc.Spec.InternalTrafficPolicy = new(corev1.ServiceInternalTrafficPolicyLocal)
	}
	if rng.IntN(2) == 0 {
		svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	}
	if rng.IntN(2) == 0 {
		svc.Spec.ExternalIPs = []string{addr(198, 18, 0, i).String()}
	}
	if rng.IntN(3) > 0 {
		svc.Spec.Type = corev1.ServiceTypeLoadBalancer
		svc.Spec.Ports[0].NodePort = nodePort
		svc.Spec.HealthCheckNodePort = 31000 + int32(i)
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: addr(198, 18, 1, i).String()}}
		if rng.IntN(3) == 0 {
			svc.Spec.LoadBalancerSourceRanges = []string{one(rng, "203.0.113.0/24", "192.168.0.0/24", "10.0.1.0/24"), one(rng, "192.168.1.0/24", "10.0.2.0/24")}
		}
	}
	for _, a := range []netip.Addr{addr(172, 16, 0, i), addr(198, 18, 0, i), addr(198, 18, 1, i)} {
		w.dsts = append(w.dsts, netip.AddrPortFrom(a, uint16(port)), netip.AddrPortFrom(a, 81))
	}
	for _, a := range append(slices.Clone(w.node.Addresses), addr(127, 0, 0, 1), addr(192, 168, 0, 9)) {
		w.dsts = append(w.dsts, netip.AddrPortFrom(a, uint16(nodePort)), netip.AddrPortFrom(a, 31000+uint16(i)))
	}
	return svc, w.slice(svc.Name, protocol)
}

func (w *world) slice(service string, protocol corev1.Protocol) *discoveryv1.EndpointSlice {
	rng := w.rng
	s := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	s.Namespace, s.Name = "default", service
	s.Labels = map[string]string{discoveryv1.LabelServiceName: service}
	s.Ports = []discoveryv1.EndpointPort{{Name: new("p"), Port: new(int32(8080)), Protocol: &protocol}}
	for i := range byte(rng.IntN(4)) {
		ready := rng.IntN(3) == 0
		node := byte(1 + rng.IntN(2))
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{addr(10, 0, node, 1+i).String()}, NodeName: new(fmt.Sprintf("n%d", node)),
			Conditions: discoveryv1.EndpointConditions{Ready: new(ready), Serving: new(ready || rng.IntN(2) == 0), Terminating: new(!ready)},
		})
	}
	return s
}

// packet makes a packet that makes sense on this node: what it sends came in nowhere, pods
// of the node come in by the bridge.
func (w *world) packet() packet.Packet {
	src := one(w.rng, w.srcs...)
	in := "eth0"
	switch {
	case w.node.Owns(src):
		in = ""
	case netip.MustParsePrefix("10.0.1.0/24").Contains(src):
		in = "cbr0"
	}
	return packet.Packet{
		Src: netip.AddrPortFrom(src, uint16(40000+w.rng.IntN(20000))), Dst: one(w.rng, w.dsts...),
		Protocol: one(w.rng, packet.TCP, packet.TCP, packet.UDP, packet.SCTP), InInterface: in,
	}
}

// compare holds trace against the second evaluator in one world, and counts the verdicts.
func compare(t *testing.T, seed uint64, verdicts map[packet.Verdict]int) {
	t.Helper()
	w := newWorld(t, seed)
	snap := w.cache.Snapshot()
	dp := New(plan.Build(snap, w.node))
	for range 20 {
		p := w.packet()
		got := dp.Trace(p)
		k := kubeProxy{snap: snap, node: w.node, pkt: p}
		verdict, targets := k.verdict()
		verdicts[verdict]++
		if got.Verdict != verdict || !slices.Equal(got.Targets, targets) {
			t.Fatalf("world %d, %s mode, %v\ntrace says %s %v, kube-proxy's chains %s %v\n%v", seed, w.node.Dialect, p, got.Verdict, got.Targets, verdict, targets, got.Hops)
		}
	}
}

func TestTraceAgreesWithASecondEvaluator(t *testing.T) {
	t.Parallel()
	verdicts := map[packet.Verdict]int{}
	for seed := range uint64(800) {
		compare(t, seed, verdicts)
	}
	for v := packet.None; v <= packet.Accept; v++ {
		if verdicts[v] < 20 {
			t.Errorf("only %d packets with verdict %s: the worlds are too dull", verdicts[v], v)
		}
	}
}

func FuzzTrace(f *testing.F) {
	f.Add(uint64(0))
	f.Add(uint64(2278)) // two refusals of one packet, and the order of the chains decides
	f.Fuzz(func(t *testing.T, seed uint64) { compare(t, seed, map[packet.Verdict]int{}) })
}
