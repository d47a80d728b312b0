//go:build linux

package conformance

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/memory"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// churn is a cluster of two Services that change at random, in everything that rules depend on,
// over the places of backendtest. What the kernel does with packets after many changes is held
// against proxier/memory, which has but the Plan of the moment.
type churn struct {
	*subject
	rng   *rand.Rand
	cache *endpoints.Cache
	plan  *plan.Plan
	port  uint16
}

// Ports of the Services, of all protocols.
const (
	churnPort     = 80
	churnTarget   = 8080
	churnNodePort = 30080 // and the one after it
)

func (c *churn) chance(oneIn int) bool { return c.rng.IntN(oneIn) == 0 }

// pick draws some of a list, in its order.
func pick[T any](c *churn, oneIn int, list ...T) []T {
	var out []T
	for _, x := range list {
		if c.chance(oneIn) {
			out = append(out, x)
		}
	}
	return out
}

func inBothFamilies(places ...backendtest.Place) []string {
	var out []string
	for _, p := range places {
		for _, f := range endpoints.Families() {
			out = append(out, p.Addr(f).String())
		}
	}
	return out
}

func churnProtocols() []corev1.Protocol {
	return []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}
}

// service draws one of the two.
func (c *churn) service(i int) *corev1.Service {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = "default", fmt.Sprintf("svc-%d", i)
	svc.Spec.Type = corev1.ServiceTypeLoadBalancer
	svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	svc.Spec.ClusterIPs = inBothFamilies([]backendtest.Place{backendtest.ClusterIPA, backendtest.ClusterIPB}[i])
	svc.Spec.ClusterIP = svc.Spec.ClusterIPs[0]
	for _, p := range churnProtocols() {
		if c.chance(5) {
			continue
		}
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{
			Name: string(p), Protocol: p, Port: churnPort, NodePort: churnNodePort + int32(i), // 0 or 1
		})
	}
	for _, ip := range inBothFamilies(pick(c, 2, []backendtest.Place{backendtest.VIPA, backendtest.VIPB}[i])...) {
		svc.Status.LoadBalancer.Ingress = append(svc.Status.LoadBalancer.Ingress, corev1.LoadBalancerIngress{IP: ip})
	}
	svc.Spec.ExternalIPs = inBothFamilies(pick(c, 2, backendtest.ExternalIP)...) // claimed by both, at times
	for _, p := range pick(c, 4, backendtest.Client, backendtest.NodePrimary, backendtest.PodA) {
		for _, f := range endpoints.Families() {
			a := p.Addr(f)
			svc.Spec.LoadBalancerSourceRanges = append(svc.Spec.LoadBalancerSourceRanges, netip.PrefixFrom(a, a.BitLen()).String())
		}
	}
	if c.chance(3) {
		local := corev1.ServiceInternalTrafficPolicyLocal
		svc.Spec.InternalTrafficPolicy = &local
	}
	if c.chance(2) {
		svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	}
	if c.chance(4) {
		svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	}
	return svc
}

// slices draws the Service's endpoints.
func (c *churn) slices(name string) []*discoveryv1.EndpointSlice {
	var out []*discoveryv1.EndpointSlice
	for _, f := range endpoints.Families() {
		slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressType(f.String())}
		slice.Namespace, slice.Name = "default", name+"-"+f.String()
		slice.Labels = map[string]string{discoveryv1.LabelServiceName: name}
		for _, p := range churnProtocols() {
			portName, target := string(p), int32(churnTarget)
			slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &portName, Protocol: &p, Port: &target})
		}
		for _, p := range pick(c, 2, backendtest.PodA, backendtest.PodB, backendtest.RemoteA, backendtest.RemoteB) {
			node, kind := p.Node(), c.rng.IntN(6)
			ready, serving, terminating := kind > 2, kind > 0, kind == 1 || kind == 2
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
				Addresses: []string{p.Addr(f).String()}, NodeName: &node,
				Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating},
			})
		}
		out = append(out, slice)
	}
	return out
}

// change is one random delta.
func (c *churn) change() error {
	i := c.rng.IntN(2)
	name := fmt.Sprintf("svc-%d", i)
	var problems []endpoints.Problem
	switch svc := c.service(i); {
	case c.chance(12) || len(svc.Spec.Ports) == 0:
		c.cache.DeleteService(endpoints.ServiceName{Namespace: "default", Name: name})
	case c.chance(2):
		problems = c.cache.SetService(svc)
		fallthrough
	default:
		for _, slice := range c.slices(name) {
			problems = append(problems, c.cache.SetSlice(slice)...)
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("not a valid Service: %v", problems)
	}
	snap := c.cache.Snapshot()
	next, d := plan.Update(c.plan, snap, snap.Changed())
	c.plan = next
	return c.Apply(next, d)
}

// packet draws the first packet of a flow to an address of a Service, or to one that only may be.
func (c *churn) packet() packet.Packet {
	f := endpoints.Families()[c.rng.IntN(2)]
	sources := []backendtest.Place{backendtest.Client, backendtest.PodA, backendtest.PodC, backendtest.NodePrimary, backendtest.OtherNode}
	src := sources[c.rng.IntN(len(sources))]
	dsts := []backendtest.Place{
		backendtest.ClusterIPA, backendtest.ClusterIPB, backendtest.VIPA, backendtest.VIPB, backendtest.ExternalIP, backendtest.NodePrimary,
	}
	dst, port := dsts[c.rng.IntN(len(dsts))], uint16(churnPort)
	if dst == backendtest.NodePrimary {
		port = churnNodePort + uint16(c.rng.IntN(2)) // 0 or 1
	}
	if c.port++; c.port < lastDraw {
		c.port = lastDraw + 1
	}
	return packet.Packet{
		Src: netip.AddrPortFrom(src.Addr(f), c.port), Dst: netip.AddrPortFrom(dst.Addr(f), port),
		Protocol: []packet.Protocol{packet.TCP, packet.UDP, packet.SCTP}[c.rng.IntN(3)], InInterface: src.Interface(),
	}
}

// probe sends a packet and compares.
func (c *churn) probe(p packet.Packet) error {
	decided := memory.Decide(c.plan, p)
	want := memory.New(c.plan).Trace(p)
	got, err := c.Probe(p)
	if err != nil {
		return fmt.Errorf("%s from %s to %s: %w\nwant %v", p.Protocol, p.Src, p.Dst, err, want)
	}
	slices.SortFunc(got.Targets, func(a, b packet.Target) int { return a.Addr.Compare(b.Addr) })
	same := got.Verdict == want.Verdict
	if decided.Frontend != nil && decided.Frontend.Affinity > 0 { // a client keeps to one
		for _, t := range got.Targets {
			same = same && slices.Contains(want.Targets, t)
		}
	} else {
		same = same && slices.Equal(got.Targets, want.Targets)
	}
	if !same {
		return fmt.Errorf("%s from %s to %s:\ngot  %v\nwant %v", p.Protocol, p.Src, p.Dst, got, want)
	}
	return nil
}

// randomChanges holds a dataplane to the Plan after each few of many changes.
func randomChanges(t *testing.T, k kernel, dialect plan.Dialect) {
	t.Helper()
	node := backendtest.Cases()[0].Node()
	node.Dialect = dialect
	s, err := k.newSubject(t, newLabs(t), node)
	if err != nil {
		t.Fatal(err)
	}
	c := &churn{subject: s, rng: rand.New(rand.NewPCG(1, 2)), cache: endpoints.NewCache(node.Options), plan: plan.Empty(node)}
	if err := c.Apply(c.plan, plan.Delta{}); err != nil {
		t.Fatal(err)
	}
	changes, verdicts := 96, map[packet.Verdict]int{}
	if os.Getenv("LAMEDUCK_KERNEL") != "" {
		changes = 1000
	}
	for i := range changes {
		if err := c.change(); err != nil {
			t.Fatalf("change %d: %v", i, err)
		}
		if i%8 != 7 {
			continue
		}
		p := c.packet()
		if err := c.probe(p); err != nil {
			t.Errorf("after %d changes: %v", i+1, err)
		}
		verdicts[memory.Decide(c.plan, p).Verdict]++
	}
	t.Logf("%d changes, probes by verdict: %v", changes, verdicts)
	for _, v := range []packet.Verdict{packet.None, packet.Endpoints, packet.Reject, packet.Drop} {
		if verdicts[v] == 0 && changes == 1000 {
			t.Errorf("no probe met verdict %s", v)
		}
	}
}
