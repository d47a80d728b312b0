package oracle

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	proxyutil "k8s.io/kubernetes/pkg/proxy/util"
	netutils "k8s.io/utils/net"
)

// serviceProblems counts what in a Service kube-proxy passes over with a log line at most.
func serviceProblems(svc *corev1.Service) int {
	if unlisted(svc) || svc.Spec.ClusterIP == "" {
		return 0
	}
	n := 0
	for _, ip := range svc.Spec.ExternalIPs {
		if netutils.ParseIPSloppy(ip) == nil {
			n++
		}
	}
	for _, ing := range svc.Status.LoadBalancer.Ingress {
		if ing.IP != "" && proxyutil.IsVIPMode(ing) && netutils.ParseIPSloppy(ing.IP) == nil {
			n++
		}
	}
	for _, r := range svc.Spec.LoadBalancerSourceRanges {
		if _, _, err := netutils.ParseCIDRSloppy(strings.TrimSpace(r)); err != nil {
			n++
		}
	}
	return n
}

// sliceProblems counts the endpoints of a slice whose address is missing, unreadable or of
// the wrong family.
func sliceProblems(k *kubeProxy, s *discoveryv1.EndpointSlice) int {
	if _, headless := s.Labels[corev1.IsHeadlessService]; headless || serviceOf(s).Name == "" {
		return 0
	}
	n := 0
	for _, f := range k.families {
		if string(f.family) != string(s.AddressType) {
			continue
		}
		for i := range s.Endpoints {
			if f.address(&s.Endpoints[i]) == "" {
				n++
			}
		}
	}
	return n
}
