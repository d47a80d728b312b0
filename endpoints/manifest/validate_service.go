package manifest

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

const (
	nodePortFirst, nodePortLast = 30000, 32767 // the API server's default range
	maxAffinitySeconds          = 86400
)

// validateService checks a defaulted Service. It is left out when its type is
// unknown, or when it is to be served but no port of it can be.
func validateService(o *Object, s *corev1.Service) ([]Problem, bool) {
	c := &checker{o: o}
	types := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeExternalName}
	if !slices.Contains(types, s.Spec.Type) {
		c.replaced("spec.type", "this Service is skipped", "unknown value %s", quoteNear(s.Spec.Type, types))
		return c.problems, false
	}
	given := len(s.Spec.Ports)
	c.servicePorts(&s.Spec)
	c.clusterIPs(&s.Spec)
	c.families(&s.Spec)
	c.externalIPs(&s.Spec)
	c.affinity(&s.Spec)
	c.policies(&s.Spec)
	c.loadBalancer(s)
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		c.externalName(&s.Spec)
		return c.problems, true
	}
	if len(s.Spec.Ports) > 0 || s.Spec.ClusterIP == corev1.ClusterIPNone {
		return c.problems, true
	}
	if given == 0 {
		c.replaced("spec.ports", "this Service is skipped", "no usable port, at least one is needed")
	} else { // what is wrong with each has been said
		c.warn("spec.ports", "no usable port, at least one is needed; this Service is skipped")
	}
	return c.problems, false
}

// servicePorts removes the ports that cannot be served or told apart.
func (c *checker) servicePorts(spec *corev1.ServiceSpec) {
	type portKey struct {
		protocol corev1.Protocol
		port     int32
	}
	names := map[string]int{}
	ports := map[portKey]int{}
	nodePorts := map[portKey]int{}
	drop := make([]bool, len(spec.Ports))
	for i := range spec.Ports {
		p := &spec.Ports[i]
		path := fmt.Sprintf("spec.ports[%d]", i)
		drop[i] = c.badServicePort(p, path)
		if drop[i] {
			continue
		}
		first, again := names[p.Name]
		switch {
		case again && p.Name == "":
			c.replaced(path+".name", "this port is skipped", "missing, and ports[%d] has no name either", first)
			drop[i] = true
			continue
		case again:
			c.replaced(path+".name", "this port is skipped", "%q is also the name of ports[%d], names must differ", p.Name, first)
			drop[i] = true
			continue
		case p.Name == "" && len(spec.Ports) > 1:
			c.replaced(path+".name", "this port is used with the empty name", "missing, every port of a Service with several needs a name")
		}
		key := portKey{p.Protocol, p.Port}
		if first, again := ports[key]; again {
			c.replaced(path+".port", "this port is skipped", "%d/%s is also ports[%d], each port and protocol can be given once", p.Port, p.Protocol, first)
			drop[i] = true
			continue
		}
		names[p.Name], ports[key] = i, i
		c.nodePort(p, path, spec.Type)
		if p.NodePort == 0 {
			continue
		}
		key.port = p.NodePort
		if first, again := nodePorts[key]; again {
			c.replaced(path+".nodePort", "this node port is ignored", "%d/%s is also the node port of ports[%d]", p.NodePort, p.Protocol, first)
			p.NodePort = 0
			continue
		}
		nodePorts[key] = i
	}
	spec.Ports = filter(c, "spec.ports", spec.Ports, drop)
}

// badServicePort checks a port by itself.
func (c *checker) badServicePort(p *corev1.ServicePort, path string) bool {
	switch {
	case p.Port == 0 && !c.o.Has(path+".port"):
		c.replaced(path+".port", "this port is skipped", "missing, %s", portRange)
	case !validPort(p.Port):
		c.replaced(path+".port", "this port is skipped", "%d %s", p.Port, portRange)
	case badProtocol(p.Protocol) != "":
		c.replaced(path+".protocol", "this port is skipped", "%s", badProtocol(p.Protocol))
	case p.Name != "" && !isDNSLabel(p.Name):
		c.replaced(path+".name", "this port is skipped", "%q must be at most 63 lower-case letters, digits and '-', starting and ending with a letter or digit", p.Name)
	case badPortReference(p.TargetPort) != "":
		c.replaced(path+".targetPort", "this port is skipped", "%s", badPortReference(p.TargetPort))
	default:
		return false
	}
	return true
}

// nodePort clears a node port that cannot be.
func (c *checker) nodePort(p *corev1.ServicePort, path string, serviceType corev1.ServiceType) {
	switch {
	case p.NodePort == 0:
		return
	case serviceType != corev1.ServiceTypeNodePort && serviceType != corev1.ServiceTypeLoadBalancer:
		c.replaced(path+".nodePort", "it is ignored", "a Service of type %s has none, the type must be NodePort or LoadBalancer", serviceType)
	case !validPort(p.NodePort):
		c.replaced(path+".nodePort", "it is ignored", "%d %s, by default from %d to %d", p.NodePort, portRange, nodePortFirst, nodePortLast)
	default:
		if (p.NodePort < nodePortFirst || p.NodePort > nodePortLast) && !c.live() {
			c.warn(path+".nodePort", "%d is outside %d-%d, so the API server takes it only with --service-node-port-range; it is used", p.NodePort, nodePortFirst, nodePortLast)
		}
		return
	}
	p.NodePort = 0
}

// clusterIPs makes clusterIP and clusterIPs agree: valid addresses, one a
// family at most, the first being clusterIP.
func (c *checker) clusterIPs(spec *corev1.ServiceSpec) {
	if spec.Type == corev1.ServiceTypeExternalName {
		if len(spec.ClusterIPs) > 0 || spec.ClusterIP != "" {
			c.replaced("spec.clusterIP", "it is ignored", "a Service of type ExternalName has none")
			spec.ClusterIP, spec.ClusterIPs = "", nil
		}
		return
	}
	if len(spec.ClusterIPs) == 0 {
		return
	}
	if spec.ClusterIP != spec.ClusterIPs[0] {
		c.replaced("spec.clusterIPs[0]", "only clusterIP is used", "%q must be the same as clusterIP, %q", spec.ClusterIPs[0], spec.ClusterIP)
		c.o.removeItems("spec.clusterIPs", slices.Repeat([]bool{true}, len(spec.ClusterIPs)))
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
	if spec.ClusterIP == corev1.ClusterIPNone {
		c.headless(spec)
		return
	}
	fromList := c.o.Has("spec.clusterIPs[0]")
	seen := map[corev1.IPFamily]bool{}
	drop := make([]bool, len(spec.ClusterIPs))
	for i, ip := range spec.ClusterIPs {
		path := fmt.Sprintf("spec.clusterIPs[%d]", i)
		if !fromList {
			path = "spec.clusterIP"
		}
		switch family := familyOf(ip); {
		case badAddress(ip) != "":
			c.warn(path, "%q %s; it must be one or None, it is ignored", ip, badAddress(ip))
			drop[i] = true
		case badAddressFor(ip, endpoints.AsClusterIP) != "":
			c.warn(path, "%q %s; it is ignored", ip, badAddressFor(ip, endpoints.AsClusterIP))
			drop[i] = true
		case seen[family]:
			c.warn(path, "a second %s address, there is one of each family at most; it is ignored", family)
			drop[i] = true
		default:
			seen[family] = true
		}
	}
	spec.ClusterIPs = filter(c, "spec.clusterIPs", spec.ClusterIPs, drop)
	spec.ClusterIP = ""
	if len(spec.ClusterIPs) > 0 {
		spec.ClusterIP = spec.ClusterIPs[0]
	}
}

func (c *checker) headless(spec *corev1.ServiceSpec) {
	if len(spec.ClusterIPs) > 1 {
		c.replaced("spec.clusterIPs", "the others are ignored", "None must be the only value")
		drop := slices.Repeat([]bool{true}, len(spec.ClusterIPs))
		drop[0] = false
		spec.ClusterIPs = filter(c, "spec.clusterIPs", spec.ClusterIPs, drop)
	}
	if spec.Type != corev1.ServiceTypeClusterIP {
		c.replaced("spec.clusterIP", "it is kept, and no proxy serves it", "a Service of type %s cannot be None", spec.Type)
	}
}

// families makes ipFamilies a list of known families that clusterIPs agrees
// with, and ipFamilyPolicy allow as many.
func (c *checker) families(spec *corev1.ServiceSpec) {
	if spec.Type == corev1.ServiceTypeExternalName {
		if len(spec.IPFamilies) > 0 || spec.IPFamilyPolicy != nil {
			c.warn("spec.ipFamilies", "a Service of type ExternalName has no ipFamilies and no ipFamilyPolicy; they are ignored")
			spec.IPFamilies, spec.IPFamilyPolicy = nil, nil
		}
		return
	}
	// Those that were derived from clusterIPs are derived again from what is
	// left of them.
	if !c.o.Has("spec.ipFamilies") {
		spec.IPFamilies = nil
	}
	if !c.o.Has("spec.ipFamilyPolicy") {
		spec.IPFamilyPolicy = nil
	}
	drop := make([]bool, len(spec.IPFamilies))
	for i, f := range spec.IPFamilies {
		path := fmt.Sprintf("spec.ipFamilies[%d]", i)
		switch {
		case f != corev1.IPv4Protocol && f != corev1.IPv6Protocol:
			c.warn(path, "unknown family %s; it is ignored", quoteNear(f, []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}))
			drop[i] = true
		case slices.Contains(spec.IPFamilies[:i], f):
			c.warn(path, "%s is there twice; it is ignored", f)
			drop[i] = true
		}
	}
	spec.IPFamilies = filter(c, "spec.ipFamilies", spec.IPFamilies, drop)
	c.familiesOfIPs(spec)
	defaultFamilies(spec)
	enum(c, "spec.ipFamilyPolicy", spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack,
		corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack)
	dual := len(spec.IPFamilies) > 1
	switch {
	case dual && *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack:
		c.warn("spec.ipFamilyPolicy", "SingleStack with two IP families, it must be PreferDualStack or RequireDualStack; RequireDualStack is used instead")
		*spec.IPFamilyPolicy = corev1.IPFamilyPolicyRequireDualStack
	case dual && spec.ClusterIP != corev1.ClusterIPNone && !c.o.Has("spec.ipFamilyPolicy"):
		c.warn("spec.ipFamilyPolicy", "missing with two IP families, it must be PreferDualStack or RequireDualStack; RequireDualStack is used")
	}
}

// familiesOfIPs lets clusterIPs win over ipFamilies where they differ.
func (c *checker) familiesOfIPs(spec *corev1.ServiceSpec) {
	for i, ip := range spec.ClusterIPs {
		actual := familyOf(ip)
		if actual == "" {
			return // None
		}
		if i >= len(spec.IPFamilies) {
			spec.IPFamilies = append(spec.IPFamilies, actual)
			continue
		}
		if spec.IPFamilies[i] == actual {
			continue
		}
		c.warn(fmt.Sprintf("spec.ipFamilies[%d]", i), "%s, but the cluster IP %s is %s; the families of the cluster IPs are used", spec.IPFamilies[i], ip, actual)
		spec.IPFamilies = nil
		for _, ip := range spec.ClusterIPs {
			spec.IPFamilies = append(spec.IPFamilies, familyOf(ip))
		}
		return
	}
}

func (c *checker) externalIPs(spec *corev1.ServiceSpec) {
	seen := map[string]bool{}
	drop := make([]bool, len(spec.ExternalIPs))
	for i, ip := range spec.ExternalIPs {
		path := fmt.Sprintf("spec.externalIPs[%d]", i)
		switch {
		case badAddressFor(ip, endpoints.AsExternalIP) != "":
			c.warn(path, "%q %s; it is ignored", ip, badAddressFor(ip, endpoints.AsExternalIP))
			drop[i] = true
		case seen[ip]:
			c.warn(path, "%s is there twice; it is ignored", ip)
			drop[i] = true
		default:
			seen[ip] = true
		}
	}
	spec.ExternalIPs = filter(c, "spec.externalIPs", spec.ExternalIPs, drop)
}

func (c *checker) affinity(spec *corev1.ServiceSpec) {
	enum(c, "spec.sessionAffinity", &spec.SessionAffinity, corev1.ServiceAffinityNone, corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP)
	if spec.SessionAffinity == corev1.ServiceAffinityNone {
		if c.o.Has("spec.sessionAffinityConfig.clientIP") {
			c.replaced("spec.sessionAffinityConfig", "it is ignored", "has no effect with sessionAffinity None, ClientIP would be valid")
		}
		spec.SessionAffinityConfig = nil
		return
	}
	timeout := spec.SessionAffinityConfig.ClientIP.TimeoutSeconds
	if *timeout < 1 || *timeout > maxAffinitySeconds {
		c.replaced("spec.sessionAffinityConfig.clientIP.timeoutSeconds", fmt.Sprintf("%d is used instead", corev1.DefaultClientIPServiceAffinitySeconds), "%d must be from 1 to %d", *timeout, maxAffinitySeconds)
		*timeout = corev1.DefaultClientIPServiceAffinitySeconds
	}
}

func (c *checker) policies(spec *corev1.ServiceSpec) {
	if externallyAccessible(spec) {
		enum(c, "spec.externalTrafficPolicy", &spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster,
			corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)
	} else if spec.ExternalTrafficPolicy != "" {
		if c.o.Has("spec.externalTrafficPolicy") {
			c.replaced("spec.externalTrafficPolicy", "it is ignored", "a Service of type %s that has no externalIPs gets no traffic from outside, the type must be NodePort or LoadBalancer", spec.Type)
		}
		spec.ExternalTrafficPolicy = ""
	}
	if p := spec.InternalTrafficPolicy; p != nil {
		enum(c, "spec.internalTrafficPolicy", p, corev1.ServiceInternalTrafficPolicyCluster,
			corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)
	}
	if p := spec.TrafficDistribution; p != nil {
		valid := []string{corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode, corev1.ServiceTrafficDistributionPreferClose}
		if !slices.Contains(valid, *p) {
			c.replaced("spec.trafficDistribution", "it is ignored", "unknown value %s", quoteNear(*p, valid))
			spec.TrafficDistribution = nil
		}
	}
	c.healthCheckNodePort(spec)
}

func (c *checker) healthCheckNodePort(spec *corev1.ServiceSpec) {
	const path = "spec.healthCheckNodePort"
	applies := spec.Type == corev1.ServiceTypeLoadBalancer && spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
	switch port := spec.HealthCheckNodePort; {
	case port == 0:
		return
	case !applies:
		c.replaced(path, "it is ignored", "only a Service of type LoadBalancer with externalTrafficPolicy Local has one")
	case !validPort(port):
		c.replaced(path, "it is ignored", "%d %s", port, portRange)
	case slices.ContainsFunc(spec.Ports, func(p corev1.ServicePort) bool { return p.NodePort == port && p.Protocol == corev1.ProtocolTCP }):
		c.replaced(path, "it is ignored", "%d is also a nodePort of this Service", port)
	default:
		return
	}
	spec.HealthCheckNodePort = 0
}

// loadBalancer checks what only type LoadBalancer has.
func (c *checker) loadBalancer(s *corev1.Service) {
	spec := &s.Spec
	isLoadBalancer := spec.Type == corev1.ServiceTypeLoadBalancer
	if !isLoadBalancer && len(spec.LoadBalancerSourceRanges) > 0 {
		c.replaced("spec.loadBalancerSourceRanges", "they are ignored", "a Service of type %s has none, the type must be LoadBalancer", spec.Type)
		spec.LoadBalancerSourceRanges = nil
	}
	if !isLoadBalancer && spec.AllocateLoadBalancerNodePorts != nil {
		c.replaced("spec.allocateLoadBalancerNodePorts", "it is ignored", "a Service of type %s has none, the type must be LoadBalancer", spec.Type)
		spec.AllocateLoadBalancerNodePorts = nil
	}
	if !isLoadBalancer && spec.LoadBalancerClass != nil {
		c.replaced("spec.loadBalancerClass", "it is ignored", "a Service of type %s has none, the type must be LoadBalancer", spec.Type)
		spec.LoadBalancerClass = nil
	}
	drop := make([]bool, len(spec.LoadBalancerSourceRanges))
	for i, cidr := range spec.LoadBalancerSourceRanges {
		// Space around them has always been tolerated.
		cidr = strings.TrimSpace(cidr)
		spec.LoadBalancerSourceRanges[i] = cidr
		if bad := badCIDR(cidr); bad != "" {
			c.warn(fmt.Sprintf("spec.loadBalancerSourceRanges[%d]", i), "%q %s; it is ignored", cidr, bad)
			drop[i] = true
		}
	}
	spec.LoadBalancerSourceRanges = filter(c, "spec.loadBalancerSourceRanges", spec.LoadBalancerSourceRanges, drop)
	c.ingressIPs(s)
}

func (c *checker) ingressIPs(s *corev1.Service) {
	ingress := s.Status.LoadBalancer.Ingress
	drop := make([]bool, len(ingress))
	for i := range ingress {
		path := fmt.Sprintf("status.loadBalancer.ingress[%d]", i)
		if bad := badAddressFor(ingress[i].IP, endpoints.AsLoadBalancerIP); ingress[i].IP != "" && bad != "" {
			c.warn(path+".ip", "%q %s; it is ignored", ingress[i].IP, bad)
			drop[i] = true
			continue
		}
		if mode := ingress[i].IPMode; mode != nil {
			enum(c, path+".ipMode", mode, corev1.LoadBalancerIPModeVIP, corev1.LoadBalancerIPModeVIP, corev1.LoadBalancerIPModeProxy)
		}
	}
	s.Status.LoadBalancer.Ingress = filter(c, "status.loadBalancer.ingress", ingress, drop)
}

func (c *checker) externalName(spec *corev1.ServiceSpec) {
	name := strings.TrimSuffix(spec.ExternalName, ".")
	switch {
	case name == "":
		c.warn("spec.externalName", "missing, it is the DNS name that a Service of type ExternalName stands for; no proxy serves it either way")
	case !isDNSSubdomain(name):
		c.warn("spec.externalName", "%q is not a DNS name such as db.example.com; no proxy serves it either way", spec.ExternalName)
	}
}
