package endpoints

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ServiceProxyNameLabel takes a Service away from the default service proxy.
const ServiceProxyNameLabel = "service.kubernetes.io/service-proxy-name"

// defaultAffinityTimeout applies where API defaulting did not (core/v1 defaults; verified).
const defaultAffinityTimeout = 10800 * time.Second

// Unproxied says why a service proxy leaves the Service alone, in words, or returns ""
// when it handles it (kube-proxy 1.36 util.ShouldSkipService and cmd/kube-proxy's
// informer selectors; verified).
func Unproxied(svc *corev1.Service) string {
	switch {
	case svc.Labels[ServiceProxyNameLabel] != "":
		return fmt.Sprintf("it belongs to another service proxy (label %s=%s)", ServiceProxyNameLabel, svc.Labels[ServiceProxyNameLabel])
	case hasLabel(svc.Labels, ServiceProxyNameLabel):
		return fmt.Sprintf("it belongs to another service proxy (label %s)", ServiceProxyNameLabel)
	case svc.Spec.Type == corev1.ServiceTypeExternalName:
		return "type ExternalName is a DNS alias"
	case svc.Spec.ClusterIP == corev1.ClusterIPNone:
		return "it is headless: DNS gives clients the pod addresses"
	case svc.Spec.ClusterIP == "":
		return "it has no clusterIP yet: the API server allocates one when the Service is created"
	default:
		return ""
	}
}

func hasLabel(labels map[string]string, key string) bool {
	_, ok := labels[key]
	return ok
}

// servicePorts converts a Service into its ports in one family, without endpoints. It
// returns nil when the service proxy has nothing to do for it there.
func servicePorts(svc *corev1.Service, family IPFamily, o Options, p *problems) []ServicePort {
	if Unproxied(svc) != "" {
		return nil
	}
	field, ip := clusterIPOf(svc, family)
	if ip == "" {
		return nil
	}
	clusterIP, err := parseAddr(ip)
	if err != nil || FamilyOf(clusterIP) != family {
		p.add(field, "%q is not an %s address; the Service is skipped for %s", ip, family, family)
		return nil
	}
	if what := Unusable(clusterIP, AsClusterIP); what != "" {
		p.add(field, "%s is %s; the Service is skipped for %s", ip, what, family)
		return nil
	}
	base := ServicePort{
		Name:            ServicePortName{ServiceName: ServiceName{svc.Namespace, svc.Name}},
		Family:          family,
		Type:            string(svc.Spec.Type),
		ClusterIP:       clusterIP,
		ExternalIPs:     externalIPs(svc, family, p),
		LoadBalancerIPs: loadBalancerIPs(svc, family, o, p),
		SourceRanges:    sourceRanges(svc, family, p),
		AffinityTimeout: affinityTimeout(svc),
	}
	if o.InternalTrafficPolicy && svc.Spec.InternalTrafficPolicy != nil && *svc.Spec.InternalTrafficPolicy == corev1.ServiceInternalTrafficPolicyLocal {
		base.InternalPolicy = PolicyLocal
	}
	if externallyAccessible(svc) && svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		base.ExternalPolicy = PolicyLocal
		if svc.Spec.Type == corev1.ServiceTypeLoadBalancer {
			base.HealthCheckNodePort, _ = portNumber(svc.Spec.HealthCheckNodePort, true, path{outer: "spec.healthCheckNodePort"}, p)
		}
	}
	// One port per name and protocol is kept, the last one, as kube-proxy's map does. API validation forbids the case.
	var ports []ServicePort
	var at places[portKey]
	for i := range svc.Spec.Ports {
		sp, ok := servicePort(base, &svc.Spec.Ports[i], i, p)
		if !ok {
			continue
		}
		key := portKey{sp.Name.Port, sp.Name.Protocol, family}
		if known := at.of(key); known >= 0 {
			ports[known] = sp
			continue
		}
		at.add(key)
		ports = append(ports, sp)
	}
	return ports
}

// servicePort reads the i-th port of a Service.
func servicePort(sp ServicePort, port *corev1.ServicePort, i int, p *problems) (ServicePort, bool) {
	var ok bool
	if sp.Name.Protocol, ok = protocolOf(&port.Protocol); !ok {
		p.add(path{"spec.ports", i, "protocol"}.String(), "%q is not TCP, UDP or SCTP; the port is skipped", port.Protocol)
		return sp, false
	}
	if sp.Port, ok = portNumber(port.Port, false, path{"spec.ports", i, "port"}, p); !ok {
		return sp, false
	}
	if sp.NodePort, ok = portNumber(port.NodePort, true, path{"spec.ports", i, "nodePort"}, p); !ok {
		return sp, false
	}
	sp.Name.Port = port.Name
	return sp, true
}

// portNumber narrows an API port. Zero means "none" where that is allowed.
func portNumber(n int32, zeroOK bool, field path, p *problems) (uint16, bool) {
	if n == 0 && zeroOK {
		return 0, true
	}
	if n < 1 || n > 65535 {
		p.add(field.String(), "%d is not a port number, 1 to 65535; the port is skipped", n)
		return 0, false
	}
	return uint16(n), true
}

// protocolOf reads a protocol; a missing one is TCP, as API defaulting makes it.
func protocolOf(p *corev1.Protocol) (Protocol, bool) {
	if p == nil {
		return TCP, true
	}
	switch *p {
	case corev1.ProtocolTCP, "":
		return TCP, true
	case corev1.ProtocolUDP:
		return UDP, true
	case corev1.ProtocolSCTP:
		return SCTP, true
	default:
		return TCP, false
	}
}

// clusterIPOf returns the Service's ClusterIP of a family and where it stands, "" when it
// has none. Objects written before dual stack have no ipFamilies (kube-proxy 1.36
// util.GetClusterIPByFamily; verified).
func clusterIPOf(svc *corev1.Service, family IPFamily) (field, ip string) {
	if len(svc.Spec.IPFamilies) == 0 {
		a, err := parseAddr(svc.Spec.ClusterIP)
		if err != nil || FamilyOf(a) == family {
			return "spec.clusterIP", svc.Spec.ClusterIP
		}
		return "", ""
	}
	for i, f := range svc.Spec.IPFamilies {
		if string(f) == family.String() && i < len(svc.Spec.ClusterIPs) {
			return fmt.Sprintf("spec.clusterIPs[%d]", i), svc.Spec.ClusterIPs[i]
		}
	}
	return "", ""
}

// externallyAccessible is the API's notion, by type; ServicePort.ExternallyAccessible is
// the proxy's, by what is really there.
func externallyAccessible(svc *corev1.Service) bool {
	return svc.Spec.Type == corev1.ServiceTypeLoadBalancer || svc.Spec.Type == corev1.ServiceTypeNodePort ||
		svc.Spec.Type == corev1.ServiceTypeClusterIP && len(svc.Spec.ExternalIPs) > 0
}

func externalIPs(svc *corev1.Service, family IPFamily, p *problems) []netip.Addr {
	var ips []netip.Addr
	for i, s := range svc.Spec.ExternalIPs {
		a, err := parseAddr(s)
		switch {
		case err != nil:
			p.add(fmt.Sprintf("spec.externalIPs[%d]", i), "%v; it is skipped", err)
		case Unusable(a, AsExternalIP) != "":
			p.add(fmt.Sprintf("spec.externalIPs[%d]", i), "%s is %s; it is skipped", a, Unusable(a, AsExternalIP))
		case FamilyOf(a) == family:
			ips = append(ips, a)
		}
	}
	return ips
}

func loadBalancerIPs(svc *corev1.Service, family IPFamily, o Options, p *problems) []netip.Addr {
	var ips []netip.Addr
	for i, ing := range svc.Status.LoadBalancer.Ingress {
		proxied := ing.IPMode != nil && *ing.IPMode != corev1.LoadBalancerIPModeVIP
		if ing.IP == "" || proxied && o.LoadBalancerIPMode {
			continue
		}
		a, err := parseAddr(ing.IP)
		switch {
		case err != nil:
			p.add(fmt.Sprintf("status.loadBalancer.ingress[%d].ip", i), "%v; it is skipped", err)
		case Unusable(a, AsLoadBalancerIP) != "":
			p.add(fmt.Sprintf("status.loadBalancer.ingress[%d].ip", i), "%s is %s; it is skipped", a, Unusable(a, AsLoadBalancerIP))
		case FamilyOf(a) == family:
			ips = append(ips, a)
		}
	}
	return ips
}

// sourceRanges returns nil for "everyone": when no range of the family is given, or one of
// them has a zero mask.
func sourceRanges(svc *corev1.Service, family IPFamily, p *problems) []netip.Prefix {
	var ranges []netip.Prefix
	for i, s := range svc.Spec.LoadBalancerSourceRanges {
		prefix, err := parsePrefix(s)
		switch {
		case err != nil:
			p.add(fmt.Sprintf("spec.loadBalancerSourceRanges[%d]", i), "%v; it is skipped", err)
		case FamilyOf(prefix.Addr()) == family:
			ranges = append(ranges, prefix)
		}
	}
	if slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return r.Bits() == 0 }) {
		return nil
	}
	return ranges
}

func affinityTimeout(svc *corev1.Service) time.Duration {
	if svc.Spec.SessionAffinity != corev1.ServiceAffinityClientIP {
		return 0
	}
	c := svc.Spec.SessionAffinityConfig
	if c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
		return defaultAffinityTimeout
	}
	return time.Duration(*c.ClientIP.TimeoutSeconds) * time.Second
}
