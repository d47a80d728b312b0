package kubelet

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
)

// PodRange holds all pod addresses.
var PodRange = netip.MustParsePrefix("10.128.0.0/9")

// hostRange holds what stands for the addresses of nodes where pods have them.
var hostRange = netip.MustParsePrefix("240.0.0.0/4")

// AddressOf is the address of a pod with a spec: with hostNetwork that of its node, else one of its own, which no other pod ever has.
//
// A node's address is here one for each workload, since those have different ports there: whoever asks a port meets the last pod of the
// workload that was on the node.
func AddressOf(p *api.Pod, spec *corev1.PodSpec) netip.Addr {
	if !spec.HostNetwork {
		return Address(p.ID)
	}
	const nodes = 14 // bits
	n := uint32(p.Workload)<<nodes | uint32(p.Node)
	base := hostRange.Addr().As4()
	return netip.AddrFrom4([4]byte{base[0] + byte(n>>24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// Address gives a pod an address of its own, which no other pod ever has.
func Address(id api.PodID) netip.Addr {
	n := uint32(id) + 1
	return netip.AddrFrom4([4]byte{10, 128 + byte(n>>16), byte(n >> 8), byte(n)})
}

// PodAt returns the pod that an address was given to; ok is false when it is no pod's.
func PodAt(ip netip.Addr) (id api.PodID, ok bool) {
	if !PodRange.Contains(ip) {
		return 0, false
	}
	a := ip.As4()
	return api.PodID(uint32(a[1]-128)<<16|uint32(a[2])<<8|uint32(a[3])) - 1, true
}
