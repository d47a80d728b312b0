package manifest

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// validateNode checks the addresses and pod networks of a Node.
func validateNode(o *Object, n *corev1.Node) ([]Problem, bool) {
	c := &checker{o: o}
	drop := make([]bool, len(n.Status.Addresses))
	for i, a := range n.Status.Addresses {
		if a.Type != corev1.NodeInternalIP && a.Type != corev1.NodeExternalIP {
			continue
		}
		if bad := badAddress(a.Address); bad != "" {
			c.warn(fmt.Sprintf("status.addresses[%d].address", i), "%q %s; this address is ignored", a.Address, bad)
			drop[i] = true
		}
	}
	n.Status.Addresses = filter(c, "status.addresses", n.Status.Addresses, drop)
	c.podCIDRs(&n.Spec)
	usable := true
	for i := range n.Spec.Taints {
		usable = c.effect(fmt.Sprintf("spec.taints[%d].effect", i), n.Spec.Taints[i].Effect) && usable
	}
	return c.problems, usable
}

// effect refuses one that no taint has (pkg/apis/core/validation/validation.go, validateTaintEffect).
func (c *checker) effect(path string, e corev1.TaintEffect) bool {
	valid := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	if slices.Contains(valid, e) {
		return true
	}
	c.refuse(path, "unknown value %s: the API server refuses it", quoteNear(e, valid))
	return false
}

func (c *checker) podCIDRs(spec *corev1.NodeSpec) {
	if spec.PodCIDR != "" && badCIDR(spec.PodCIDR) != "" {
		c.warn("spec.podCIDR", "%q %s; it is ignored", spec.PodCIDR, badCIDR(spec.PodCIDR))
		spec.PodCIDR = ""
	}
	spec.PodCIDRs = c.networks("spec.podCIDRs", spec.PodCIDRs)
	switch {
	case len(spec.PodCIDRs) == 0 && spec.PodCIDR != "":
		spec.PodCIDRs = []string{spec.PodCIDR}
	case len(spec.PodCIDRs) > 0 && spec.PodCIDR == "":
		spec.PodCIDR = spec.PodCIDRs[0]
	case len(spec.PodCIDRs) > 0 && spec.PodCIDR != spec.PodCIDRs[0]:
		c.warn("spec.podCIDRs[0]", "%s must be the same as podCIDR, %s; podCIDRs is used", spec.PodCIDRs[0], spec.PodCIDR)
		spec.PodCIDR = spec.PodCIDRs[0]
	}
}

// networks checks a list of at most one CIDR of each family.
func (c *checker) networks(path string, cidrs []string) []string {
	seen := map[bool]bool{}
	drop := make([]bool, len(cidrs))
	for i, cidr := range cidrs {
		at := fmt.Sprintf("%s[%d]", path, i)
		if bad := badCIDR(cidr); bad != "" {
			c.warn(at, "%q %s; it is ignored", cidr, bad)
			drop[i] = true
			continue
		}
		is4 := netip.MustParsePrefix(cidr).Addr().Is4()
		if seen[is4] {
			c.warn(at, "%s is a second network of its family, there is one of each at most; it is ignored", cidr)
			drop[i] = true
		}
		seen[is4] = true
	}
	return filter(c, path, cidrs, drop)
}

// validateServiceCIDR checks a ServiceCIDR; without a usable network it is left
// out.
func validateServiceCIDR(o *Object, s *networkingv1.ServiceCIDR) ([]Problem, bool) {
	c := &checker{o: o}
	s.Spec.CIDRs = c.networks("spec.cidrs", s.Spec.CIDRs)
	if len(s.Spec.CIDRs) == 0 {
		c.warn("spec.cidrs", "no usable network, one such as 10.96.0.0/12 is needed; this ServiceCIDR is skipped")
		return c.problems, false
	}
	return c.problems, true
}
