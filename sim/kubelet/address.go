package kubelet

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/sim/api"
)

// PodRange holds all pod addresses.
var PodRange = netip.MustParsePrefix("10.128.0.0/9")

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
