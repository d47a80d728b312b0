package backendtest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Ports that rows do not choose themselves.
const (
	servicePort = 80
	targetPort  = 8080
	nodePort    = 30080
	healthPort  = 31234
)

// state is an endpoint's conditions, by what the pod does.
type state uint8

const (
	isReady        state = iota
	isUnset              // no condition is set at all, as a foreign controller may write it
	isDraining           // terminating, still serving
	isGone               // terminating, no longer serving
	isNotReady           // started, readiness fails
	isOddlyServing       // serving, but neither ready nor terminating
)

func (s state) conditions() discoveryv1.EndpointConditions {
	if s == isUnset {
		return discoveryv1.EndpointConditions{}
	}
	ready := s == isReady
	serving := s == isReady || s == isDraining || s == isOddlyServing
	terminating := s == isDraining || s == isGone
	return discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating}
}

// endpoint is one address of a Service.
type endpoint struct {
	at    Place
	state state
	zones []string // hints
	nodes []string
}

func ready(p Place) endpoint        { return endpoint{at: p} }
func unset(p Place) endpoint        { return endpoint{at: p, state: isUnset} }
func draining(p Place) endpoint     { return endpoint{at: p, state: isDraining} }
func gone(p Place) endpoint         { return endpoint{at: p, state: isGone} }
func notReady(p Place) endpoint     { return endpoint{at: p, state: isNotReady} }
func oddlyServing(p Place) endpoint { return endpoint{at: p, state: isOddlyServing} }

func (e endpoint) forZones(zones ...string) endpoint { e.zones = zones; return e }
func (e endpoint) forNodes(nodes ...string) endpoint { e.nodes = nodes; return e }

// port is one port of a Service. Its zero protocol is the one the case runs with.
type port struct {
	name             string
	protocol         corev1.Protocol
	port, to, onNode int32
}

// sourceRange is one of loadBalancerSourceRanges.
type sourceRange struct {
	of          Place // its address alone
	everyone    bool  // all addresses instead
	otherFamily bool  // in the family the case does not run in
}

// service describes a Service and its endpoints in a case's own family. The methods return
// changed copies, so that a row reads like a sentence.
type service struct {
	name            string
	kind            corev1.ServiceType
	clusterIP       Place
	ports           []port
	internal        corev1.ServiceInternalTrafficPolicy
	external        corev1.ServiceExternalTrafficPolicy
	externalIPs     []Place
	ingress         []Place
	ingressMode     corev1.LoadBalancerIPMode
	ingressHostname string
	ranges          []sourceRange
	healthPort      int32
	affinity        time.Duration
	endpoints       []endpoint
	dual            bool // a second ClusterIP in the other family
	otherEndpoints  bool // its endpoints are in the other family only
}

// web is a ClusterIP Service "web" at ClusterIP A, port 80.
func web(list ...endpoint) service {
	return service{
		name: "web", kind: corev1.ServiceTypeClusterIP, clusterIP: ClusterIPA, endpoints: list,
		ports: []port{{name: "http", port: servicePort, to: targetPort}},
	}
}

// exposed gives the Service one external address of each kind.
func (s service) exposed() service {
	s.externalIPs = []Place{ExternalIP}
	return s.nodePort(nodePort).loadBalancer(VIPA)
}

func (s service) nodePort(n int32) service {
	s.kind = corev1.ServiceTypeNodePort
	s.ports = append([]port(nil), s.ports...)
	s.ports[0].onNode = n
	return s
}

func (s service) loadBalancer(vips ...Place) service {
	s.kind = corev1.ServiceTypeLoadBalancer
	s.ingress = vips
	return s
}

func (s service) externalIP(p Place) service { s.externalIPs = []Place{p}; return s }
func (s service) named(name string) service  { s.name = name; return s }
func (s service) atClusterIPB() service      { s.clusterIP = ClusterIPB; return s }
func (s service) with(p ...port) service     { s.ports = p; return s }
func (s service) dualStack() service         { s.dual = true; return s }

func (s service) internalLocal() service {
	s.internal = corev1.ServiceInternalTrafficPolicyLocal
	return s
}

func (s service) externalLocal() service {
	s.external = corev1.ServiceExternalTrafficPolicyLocal
	return s
}

func (s service) from(ranges ...sourceRange) service { s.ranges = ranges; return s }
func (s service) sticky() service                    { s.affinity = stay; return s }

func (s service) healthChecked() service {
	s.healthPort = healthPort
	return s.externalLocal()
}

func (s service) ingressOf(mode corev1.LoadBalancerIPMode) service { s.ingressMode = mode; return s }
func (s service) hostname(name string) service                     { s.ingressHostname = name; return s }

// onlyOtherFamily moves all endpoints to the family the case does not run in.
func (s service) onlyOtherFamily() service {
	s.dual, s.otherEndpoints = true, true
	return s
}

// object returns the Service as the API has it.
func (s service) object(family endpoints.IPFamily, protocol corev1.Protocol) *corev1.Service {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = "default", s.name
	svc.Spec = corev1.ServiceSpec{
		Type: s.kind, ExternalTrafficPolicy: s.external, HealthCheckNodePort: s.healthPort,
	}
	if s.internal != "" {
		svc.Spec.InternalTrafficPolicy = &s.internal
	}
	families := []endpoints.IPFamily{family}
	if s.dual {
		families = append(families, other(family))
	}
	for _, f := range families {
		svc.Spec.IPFamilies = append(svc.Spec.IPFamilies, corev1.IPFamily(f.String()))
		svc.Spec.ClusterIPs = append(svc.Spec.ClusterIPs, s.clusterIP.Addr(f).String())
		for _, p := range s.externalIPs {
			svc.Spec.ExternalIPs = append(svc.Spec.ExternalIPs, p.Addr(f).String())
		}
		s.addIngress(svc, f)
	}
	svc.Spec.ClusterIP = svc.Spec.ClusterIPs[0]
	for _, r := range s.ranges {
		svc.Spec.LoadBalancerSourceRanges = append(svc.Spec.LoadBalancerSourceRanges, r.cidr(family))
	}
	for _, p := range s.ports {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{
			Name: p.name, Protocol: p.protocolOr(protocol), Port: p.port, NodePort: p.onNode,
		})
	}
	if s.affinity > 0 {
		seconds := int32(s.affinity / time.Second)
		svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
		svc.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
	}
	return svc
}

func (s service) addIngress(svc *corev1.Service, f endpoints.IPFamily) {
	for _, p := range s.ingress {
		ing := corev1.LoadBalancerIngress{IP: p.Addr(f).String()}
		if s.ingressMode != "" {
			ing.IPMode = &s.ingressMode
		}
		if s.ingressHostname != "" {
			ing = corev1.LoadBalancerIngress{Hostname: s.ingressHostname}
		}
		svc.Status.LoadBalancer.Ingress = append(svc.Status.LoadBalancer.Ingress, ing)
	}
}

// slices returns the Service's EndpointSlices, one for each family it has, empty ones too, so
// that a change to fewer endpoints replaces what was there.
func (s service) slices(family endpoints.IPFamily, protocol corev1.Protocol) []*discoveryv1.EndpointSlice {
	var out []*discoveryv1.EndpointSlice
	for _, f := range endpoints.Families() {
		if f != family && !s.dual {
			continue
		}
		slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressType(f.String())}
		slice.Namespace, slice.Name = "default", s.name+"-"+f.String()
		slice.Labels = map[string]string{discoveryv1.LabelServiceName: s.name}
		for _, p := range s.ports {
			proto := p.protocolOr(protocol)
			slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &p.name, Protocol: &proto, Port: &p.to})
		}
		if f == family != s.otherEndpoints {
			for _, e := range s.endpoints {
				slice.Endpoints = append(slice.Endpoints, e.object(f))
			}
		}
		out = append(out, slice)
	}
	return out
}

func (e endpoint) object(f endpoints.IPFamily) discoveryv1.Endpoint {
	out := discoveryv1.Endpoint{Addresses: []string{e.at.Addr(f).String()}, Conditions: e.state.conditions()}
	if node := e.at.Node(); node != "" {
		out.NodeName = &node
	}
	if len(e.zones)+len(e.nodes) > 0 {
		out.Hints = &discoveryv1.EndpointHints{}
		for _, z := range e.zones {
			out.Hints.ForZones = append(out.Hints.ForZones, discoveryv1.ForZone{Name: z})
		}
		for _, n := range e.nodes {
			out.Hints.ForNodes = append(out.Hints.ForNodes, discoveryv1.ForNode{Name: n})
		}
	}
	return out
}

func (p port) protocolOr(protocol corev1.Protocol) corev1.Protocol {
	if p.protocol != "" {
		return p.protocol
	}
	return protocol
}

func (r sourceRange) cidr(f endpoints.IPFamily) string {
	if r.otherFamily {
		f = other(f)
	}
	p := r.of.only(f)
	if r.everyone {
		p, _ = p.Addr().Prefix(0) // cannot fail: zero fits every family
	}
	return p.String()
}

func other(f endpoints.IPFamily) endpoints.IPFamily {
	if f == endpoints.IPv4 {
		return endpoints.IPv6
	}
	return endpoints.IPv4
}
