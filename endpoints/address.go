package endpoints

import (
	"fmt"
	"net/netip"
	"strings"
)

// AddressUse is what an address is given for.
type AddressUse uint8

// The uses.
const (
	AsClusterIP AddressUse = iota
	AsExternalIP
	AsLoadBalancerIP
	AsEndpoint
)

// Unusable says what an address is that no Service or endpoint can have, such as "a loopback address"; "" if it can. A package that reads
// addresses, from files or from an API server, leaves those out with a warning.
//
// External IPs and endpoints are judged as the API server does (1.36 pkg/apis/core/validation, ValidateEndpointIP; verified), which
// does not refuse multicast beyond the link, nor broadcast: no connection can be made to those either. ClusterIPs come from ranges of
// the cluster's own, which may be link-local ones. What a load balancer writes the API server does not judge, and a tunnel may end
// on the node itself. The node's own addresses can be all of these: a pod of the host's network has one, and an external IP may be one.
func Unusable(a netip.Addr, use AddressUse) string {
	switch {
	case a.IsUnspecified(): // it stands for node ports, and no packet goes to it
		return "the unspecified address"
	case use == AsLoadBalancerIP:
		return ""
	case a.IsLoopback():
		return "a loopback address"
	case a.IsLinkLocalUnicast() && use == AsClusterIP:
		return ""
	case a.IsLinkLocalUnicast(), a.IsLinkLocalMulticast():
		return "a link-local address"
	case a.IsMulticast():
		return "a multicast address"
	case a == broadcast():
		return "the broadcast address"
	default:
		return ""
	}
}

// broadcast is that of IPv4; IPv6 has none.
func broadcast() netip.Addr { return netip.AddrFrom4([4]byte{255, 255, 255, 255}) }

// parseAddr reads an IP address the way the API has always accepted it: leading zeros mean
// nothing, and an IPv4-mapped IPv6 address is the IPv4 address (k8s.io/utils/net,
// ParseIPSloppy; verified). Scoped addresses (fe80::1%eth0) are not addresses to the API.
func parseAddr(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		a, err = netip.ParseAddr(withoutLeadingZeros(s))
	}
	if err != nil || a.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("%q is not an IP address", s)
	}
	return a.Unmap(), nil
}

// parsePrefix reads a CIDR with the same leniency, and clears its host bits. Surrounding
// blanks are allowed: API validation lets them through in loadBalancerSourceRanges.
func parsePrefix(s string) (netip.Prefix, error) {
	s = strings.TrimSpace(s)
	p, err := netip.ParsePrefix(s)
	if err != nil {
		p, err = netip.ParsePrefix(withoutLeadingZeros(s))
	}
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not a CIDR such as 10.0.0.0/8 or fd00::/64", s)
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

// withoutLeadingZeros strips the zeros before every number of an address or CIDR, decimal
// or hexadecimal, and leaves one digit.
func withoutLeadingZeros(s string) string {
	var b strings.Builder
	start := true // at the first digit of a number
	for i := 0; i < len(s); i++ {
		separator := strings.IndexByte(".:/", s[i]) >= 0
		more := i+1 < len(s) && strings.IndexByte(".:/", s[i+1]) < 0
		if start && s[i] == '0' && more {
			continue
		}
		start = separator
		b.WriteByte(s[i])
	}
	return b.String()
}
