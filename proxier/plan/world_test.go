package plan_test

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// worldService is a Service as the tests of this package need it.
type worldService struct {
	namespace, name              string
	clusterIP                    netip.Addr
	exposed                      bool // external IP, load-balancer IP and node port
	external                     netip.Addr
	nodePort                     int32
	internalLocal, externalLocal bool
	ranges                       []string
	affinity                     bool
	ports                        []int32 // nil is 80
	protocol                     corev1.Protocol
	healthPort                   int32
}

// vip returns the load-balancer IP: the address after the external IP.
func (w worldService) vip() netip.Addr { return w.external.Next() }

func (w worldService) object() *corev1.Service {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = w.namespace, w.name
	svc.Spec.Type, svc.Spec.ClusterIP = corev1.ServiceTypeClusterIP, w.clusterIP.String()
	ports := w.ports
	if ports == nil {
		ports = []int32{80}
	}
	for i, n := range ports {
		p := corev1.ServicePort{Name: portName(i), Port: n, Protocol: w.protocol}
		if w.exposed {
			p.NodePort = w.nodePort + int32(i)
		}
		svc.Spec.Ports = append(svc.Spec.Ports, p)
	}
	if w.exposed {
		svc.Spec.Type = corev1.ServiceTypeLoadBalancer
		svc.Spec.ExternalIPs = []string{w.external.String()}
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: w.vip().String()}}
	}
	if w.internalLocal {
		local := corev1.ServiceInternalTrafficPolicyLocal
		svc.Spec.InternalTrafficPolicy = &local
	}
	if w.externalLocal {
		svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
		svc.Spec.HealthCheckNodePort = w.healthPort
	}
	if w.affinity {
		svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	}
	svc.Spec.LoadBalancerSourceRanges = w.ranges
	return svc
}

func portName(i int) string { return string(rune('a' + i)) }

// worldEndpoint is one address of a Service; not ready means terminating, and then still
// serving or not.
type worldEndpoint struct {
	addr           netip.Addr
	node           string
	ready, serving bool
}

// sliceObject returns the EndpointSlice of a Service, with three ports to choose from.
func sliceObject(namespace, name string, list []worldEndpoint) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	s.Namespace, s.Name = namespace, name
	s.Labels = map[string]string{discoveryv1.LabelServiceName: name}
	protocols := []corev1.Protocol{corev1.ProtocolTCP}
	for i := range 3 {
		name, target := portName(i), int32(8080+i)
		s.Ports = append(s.Ports, discoveryv1.EndpointPort{Name: &name, Port: &target, Protocol: &protocols[0]})
	}
	for _, e := range list {
		ready, serving, terminating := e.ready, e.ready || e.serving, !e.ready
		ep := discoveryv1.Endpoint{
			Addresses:  []string{e.addr.String()},
			Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating},
		}
		if e.node != "" {
			ep.NodeName = &e.node
		}
		s.Endpoints = append(s.Endpoints, ep)
	}
	return s
}
