package manifest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

const (
	maxSliceEndpoints    = 1000
	maxEndpointAddresses = 100
)

// validateEndpointSlice checks a defaulted EndpointSlice. It is left out when
// its address type is unknown, for then none of its addresses means anything.
func validateEndpointSlice(o *Object, s *discoveryv1.EndpointSlice) ([]Problem, bool) {
	c := &checker{o: o}
	types := []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6, discoveryv1.AddressTypeFQDN}
	switch s.AddressType {
	case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6, discoveryv1.AddressTypeFQDN:
	case "":
		c.warn("addressType", "missing, it must be IPv4, IPv6 or FQDN; this EndpointSlice is skipped")
		return c.problems, false
	default:
		c.warn("addressType", "unknown value %s; this EndpointSlice is skipped", quoteNear(s.AddressType, types))
		return c.problems, false
	}
	if s.Labels[discoveryv1.LabelServiceName] == "" {
		c.warn("metadata.labels", "no label %s, which names the Service; this EndpointSlice belongs to none and is never used", discoveryv1.LabelServiceName)
	}
	c.slicePorts(s)
	if n := len(s.Endpoints); n > maxSliceEndpoints {
		c.warn("endpoints", "%d endpoints, the API server takes at most %d; all are used", n, maxSliceEndpoints)
	}
	drop := make([]bool, len(s.Endpoints))
	for i := range s.Endpoints {
		drop[i] = c.badEndpoint(&s.Endpoints[i], i, s.AddressType)
	}
	s.Endpoints = filter(c, "endpoints", s.Endpoints, drop)
	return c.problems, true
}

// slicePorts removes ports that cannot be used or told apart. No ports at all
// is valid, and so is a port without a number: both mean none that a proxy
// could use.
func (c *checker) slicePorts(s *discoveryv1.EndpointSlice) {
	names := map[string]int{}
	drop := make([]bool, len(s.Ports))
	for i := range s.Ports {
		p := &s.Ports[i]
		path := fmt.Sprintf("ports[%d]", i)
		first, again := names[*p.Name]
		switch {
		case p.Port != nil && !validPort(*p.Port):
			c.warn(path+".port", "%d %s; this port is skipped", *p.Port, portRange)
		case badProtocol(*p.Protocol) != "":
			c.warn(path+".protocol", "%s; this port is skipped", badProtocol(*p.Protocol))
		case *p.Name != "" && !isDNSLabel(*p.Name):
			c.warn(path+".name", "%q must be at most 63 lower-case letters, digits and '-', starting and ending with a letter or digit; this port is skipped", *p.Name)
		case again:
			c.warn(path+".name", "%q is also the name of ports[%d], names must differ; this port is skipped", *p.Name, first)
		default:
			names[*p.Name] = i
			continue
		}
		drop[i] = true
	}
	s.Ports = filter(c, "ports", s.Ports, drop)
}

// badEndpoint removes an endpoint's bad addresses. The first is the one that
// traffic goes to, so without it the endpoint is of no use.
func (c *checker) badEndpoint(e *discoveryv1.Endpoint, index int, addressType discoveryv1.AddressType) bool {
	if len(e.Addresses) == 0 {
		c.warn(fmt.Sprintf("endpoints[%d].addresses", index), "no address, at least one is needed; this endpoint is skipped")
		return true
	}
	if n := len(e.Addresses); n > maxEndpointAddresses {
		c.warn(fmt.Sprintf("endpoints[%d].addresses", index), "%d addresses, the API server takes at most %d; only the first is used anyway", n, maxEndpointAddresses)
	}
	var drop []bool
	for i, a := range e.Addresses {
		bad := badSliceAddress(a, addressType)
		if bad == "" {
			continue
		}
		path := fmt.Sprintf("endpoints[%d].addresses[%d]", index, i)
		if i == 0 {
			c.warn(path, "%q %s; this endpoint is skipped", a, bad)
			return true
		}
		c.warn(path, "%q %s; it is ignored", a, bad)
		if drop == nil {
			drop = make([]bool, len(e.Addresses))
		}
		drop[i] = true
	}
	if drop != nil {
		e.Addresses = filter(c, fmt.Sprintf("endpoints[%d].addresses", index), e.Addresses, drop)
	}
	if e.NodeName != nil && !isDNSSubdomain(*e.NodeName) {
		c.warn(fmt.Sprintf("endpoints[%d].nodeName", index), "%q is not the name of a Node; it is ignored, this endpoint is local to no node", *e.NodeName)
		e.NodeName = nil
	}
	return false
}

func badSliceAddress(a string, addressType discoveryv1.AddressType) string {
	if addressType == discoveryv1.AddressTypeFQDN {
		if name := strings.TrimSuffix(a, "."); !isDNSSubdomain(name) || !strings.Contains(name, ".") {
			return "is not a full DNS name such as web.example.com"
		}
		return ""
	}
	if bad := badAddressFor(a, endpoints.AsEndpoint); bad != "" {
		return bad
	}
	if family := familyOf(a); family != corev1.IPFamily(addressType) {
		return "is an " + string(family) + " address in an EndpointSlice of addressType " + string(addressType)
	}
	return ""
}
