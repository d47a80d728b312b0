//go:build linux

package fault

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

const (
	nodeName   = "node-1"
	otherNode  = "node-2"
	port       = 80
	targetPort = 8080
)

// cluster is what the API has, and the Plan that follows from it.
type cluster struct {
	rng   *rand.Rand
	node  *plan.Node
	cache *endpoints.Cache
	snap  *endpoints.Snapshot
	plan  *plan.Plan
}

func newCluster(dialect plan.Dialect, seed uint64) *cluster {
	node := &plan.Node{
		Name: nodeName, Zone: "zone-a", Dialect: dialect, Options: endpoints.CurrentOptions(),
		Addresses: both("192.168.10.1", "fd00:168:10::1"),
		Detector: plan.LocalDetector{Mode: plan.DetectClusterCIDR, CIDRs: []netip.Prefix{
			netip.MustParsePrefix("10.244.0.0/16"), netip.MustParsePrefix("fd00:244::/32"),
		}},
	}
	return &cluster{
		rng: rand.New(rand.NewPCG(seed, 1)), node: node, cache: endpoints.NewCache(node.Options), plan: plan.Empty(node),
	}
}

// step returns the Plan of what has become of the cluster, and what differs.
func (c *cluster) step() (*plan.Plan, plan.Delta) {
	c.snap = c.cache.Snapshot()
	next, d := plan.Update(c.plan, c.snap, c.snap.Changed())
	c.plan = next
	return next, d
}

// service is a Service with an address of every kind in both families and a port of every
// protocol.
type service struct {
	number   int
	local    bool // externalTrafficPolicy
	affinity bool
}

func (s service) name() string { return fmt.Sprintf("svc-%d", s.number) }

// addrs are those a site may call: ClusterIP, load balancer, node.
func (s service) clusterIPs() []netip.Addr {
	return both(fmt.Sprintf("10.96.0.%d", s.number), fmt.Sprintf("fd00:96::%x", s.number))
}

func (s service) vips() []netip.Addr {
	return both(fmt.Sprintf("192.0.2.%d", s.number), fmt.Sprintf("2001:db8:2::%x", s.number))
}

// protocols are those of its ports, with a node port for each.
func protocols() []corev1.Protocol {
	return []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}
}

func (s service) nodePort() uint16 { return uint16(30000 + s.number) } // a small number

func (s service) object() *corev1.Service {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = "default", s.name()
	svc.Spec.Type = corev1.ServiceTypeLoadBalancer
	svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	for _, a := range s.clusterIPs() {
		svc.Spec.ClusterIPs = append(svc.Spec.ClusterIPs, a.String())
	}
	svc.Spec.ClusterIP = svc.Spec.ClusterIPs[0]
	for _, a := range s.vips() {
		svc.Status.LoadBalancer.Ingress = append(svc.Status.LoadBalancer.Ingress, corev1.LoadBalancerIngress{IP: a.String()})
	}
	for _, p := range protocols() {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{
			Name: string(p), Protocol: p, Port: port, NodePort: int32(s.nodePort()),
		})
	}
	if s.local {
		svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
		svc.Spec.HealthCheckNodePort = int32(s.nodePort()) + 1000
	}
	if s.affinity {
		svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	}
	return svc
}

// pod is an endpoint.
type pod struct {
	number                      int
	local                       bool
	unready, terminating, ended bool // ended: no longer serving
}

// slices returns the EndpointSlices of the Service, one for each family.
func (s service) slices(pods []pod) []*discoveryv1.EndpointSlice {
	var out []*discoveryv1.EndpointSlice
	for _, f := range endpoints.Families() {
		slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressType(f.String())}
		slice.Namespace, slice.Name = "default", s.name()+"-"+f.String()
		slice.Labels = map[string]string{discoveryv1.LabelServiceName: s.name()}
		for _, p := range protocols() {
			name, number := string(p), int32(targetPort)
			slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &name, Protocol: &p, Port: &number})
		}
		for _, p := range pods {
			node := otherNode
			if p.local {
				node = nodeName
			}
			ready, serving, terminating := !p.unready && !p.terminating && !p.ended, !p.unready && !p.ended, p.terminating
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
				Addresses: []string{podAddr(f, p.number, p.local).String()}, NodeName: &node,
				Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating},
			})
		}
		out = append(out, slice)
	}
	return out
}

// set puts a Service into the cluster with these endpoints.
func (c *cluster) set(s service, pods []pod) error {
	problems := c.cache.SetService(s.object())
	return c.report(append(problems, c.setPods(s, pods)...))
}

func (c *cluster) setPods(s service, pods []pod) []endpoints.Problem {
	var problems []endpoints.Problem
	for _, slice := range s.slices(pods) {
		problems = append(problems, c.cache.SetSlice(slice)...)
	}
	return problems
}

func (c *cluster) report(problems []endpoints.Problem) error {
	if len(problems) > 0 {
		return fmt.Errorf("not a valid Service: %v", problems)
	}
	return nil
}

func (c *cluster) remove(s service) {
	c.cache.DeleteService(endpoints.ServiceName{Namespace: "default", Name: s.name()})
	for _, f := range endpoints.Families() {
		c.cache.DeleteSlice("default", s.name()+"-"+f.String())
	}
}

// call is a way to a Service: from a site, to one of its addresses.
type call struct {
	site     string
	family   endpoints.IPFamily
	protocol lab.Protocol
	dst      netip.AddrPort
}

// calls lists every way to a Service.
func (r *rig) calls(s service) []call {
	var out []call
	for _, site := range []string{client, caller, lab.NodeName} {
		for i, f := range endpoints.Families() {
			for _, p := range []lab.Protocol{lab.TCP, lab.UDP, lab.SCTP} {
				for _, dst := range []netip.AddrPort{
					netip.AddrPortFrom(s.clusterIPs()[i], port), netip.AddrPortFrom(s.vips()[i], port),
					netip.AddrPortFrom(r.node.Addresses[i], s.nodePort()),
				} {
					out = append(out, call{site, f, p, dst})
				}
			}
		}
	}
	return out
}

// dial is a call as a flow from a port.
func (r *rig) dial(c call, from uint16) lab.Dial {
	return lab.Dial{From: c.site, Protocol: c.protocol, Src: netip.AddrPortFrom(r.source(c.site, c.family), from), Dst: c.dst}
}
