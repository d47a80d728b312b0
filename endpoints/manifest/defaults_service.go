package manifest

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// DefaultService fills in what the API server would, in place: the fields it
// defaults when decoding, and those its create strategy derives from others
// (clusterIP and clusterIPs, ipFamilyPolicy, ipFamilies). What it would allocate
// (a cluster IP, node ports) stays empty, and so do the ipFamilies of a Service
// that has no cluster IP yet, as they depend on the cluster.
//
// Read in kubernetes v1.36.3, pkg/apis/core/v1/defaults.go and
// pkg/registry/core/service/storage/alloc.go.
func DefaultService(s *corev1.Service) {
	spec := &s.Spec
	setDefault(&spec.Type, corev1.ServiceTypeClusterIP)
	defaultAffinity(spec)
	for i := range spec.Ports {
		p := &spec.Ports[i]
		setDefault(&p.Protocol, corev1.ProtocolTCP)
		if p.TargetPort == intstr.FromInt32(0) || p.TargetPort == intstr.FromString("") {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
	if externallyAccessible(spec) {
		setDefault(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	switch spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer:
		setPointer(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	default:
	}
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		setPointer(&spec.AllocateLoadBalancerNodePorts, true)
		for i := range s.Status.LoadBalancer.Ingress {
			if in := &s.Status.LoadBalancer.Ingress[i]; in.IP != "" {
				setPointer(&in.IPMode, corev1.LoadBalancerIPModeVIP)
			}
		}
	}
	if spec.Type != corev1.ServiceTypeExternalName {
		defaultClusterIPs(spec)
		defaultFamilies(spec)
	}
}

// externallyAccessible is what decides whether externalTrafficPolicy applies.
func externallyAccessible(spec *corev1.ServiceSpec) bool {
	switch spec.Type {
	case corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer:
		return true
	case corev1.ServiceTypeClusterIP:
		return len(spec.ExternalIPs) > 0
	default:
		return false
	}
}

func defaultAffinity(spec *corev1.ServiceSpec) {
	setDefault(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	switch spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		c := spec.SessionAffinityConfig
		if c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
			timeout := corev1.DefaultClientIPServiceAffinitySeconds
			spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &timeout}}
		}
	}
}

// defaultClusterIPs makes clusterIP the first of clusterIPs, whichever of the
// two is given.
func defaultClusterIPs(spec *corev1.ServiceSpec) {
	switch {
	case spec.ClusterIP != "" && len(spec.ClusterIPs) == 0:
		spec.ClusterIPs = []string{spec.ClusterIP}
	case spec.ClusterIP == "" && len(spec.ClusterIPs) > 0:
		spec.ClusterIP = spec.ClusterIPs[0]
	}
}

func defaultFamilies(spec *corev1.ServiceSpec) {
	headless := spec.ClusterIP == corev1.ClusterIPNone
	dual := len(spec.ClusterIPs) > 1 || len(spec.IPFamilies) > 1
	switch {
	case headless && len(spec.Selector) == 0, dual:
		setPointer(&spec.IPFamilyPolicy, corev1.IPFamilyPolicyRequireDualStack)
	default:
		setPointer(&spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	}
	if headless || len(spec.IPFamilies) > 0 {
		return
	}
	for _, ip := range spec.ClusterIPs {
		if family := familyOf(ip); family != "" {
			spec.IPFamilies = append(spec.IPFamilies, family)
		}
	}
}

// familyOf returns the family of an IP address, "" when it is none.
func familyOf(ip string) corev1.IPFamily {
	a, err := netip.ParseAddr(ip)
	switch {
	case err != nil:
		return ""
	case a.Is4():
		return corev1.IPv4Protocol
	}
	return corev1.IPv6Protocol
}

// DefaultEndpointSlice fills in, in place, what the API server would: port name
// "" and protocol TCP. Conditions stay nil where they are, for nil has a meaning
// of its own (ready: nil is ready).
//
// Read in kubernetes v1.36.3, pkg/apis/discovery/v1/defaults.go.
func DefaultEndpointSlice(s *discoveryv1.EndpointSlice) {
	for i := range s.Ports {
		setPointer(&s.Ports[i].Name, "")
		setPointer(&s.Ports[i].Protocol, corev1.ProtocolTCP)
	}
}

// DefaultNode fills in, in place, what the API server would: allocatable from
// capacity.
func DefaultNode(n *corev1.Node) {
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	}
}

// setDefault sets a field that is still at its zero value.
func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// setPointer sets a field that is nil. Each gets its own copy.
func setPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
