package endpointslice

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Hinting is how the EndpointSlice controller hints the endpoints of a Service.
type Hinting struct {
	Mode world.HintMode
	// shares is the CPU of each zone's nodes, by zone name; nil is not enough information.
	shares []share
}

// share is one zone's part of a cluster's CPU.
type share struct {
	zone string
	cpu  int64
}

// HintingOf is how a Service's endpoints are hinted by a version of Kubernetes, on these nodes.
func HintingOf(svc *corev1.Service, version endpoints.Profile, nodes []world.Node) Hinting {
	h := Hinting{Mode: world.HintModeOf(svc, version)}
	if h.Mode == world.HintsProportional {
		h.shares = shares(nodes)
	}
	return h
}

// own is the hint of a ready endpoint where that depends on nothing but itself: its own zone,
// its own node (k8s.io/endpointslice 0.36.3 trafficdist; verified). An endpoint without a zone
// has no zone hint.
func (h Hinting) own(node int, nodes []world.Node) Hint {
	switch h.Mode {
	case world.HintsSameZone:
		return Hint{Zone: nodes[node].Zone}
	case world.HintsSameNode:
		return Hint{Zone: nodes[node].Zone, Node: true}
	default:
		return Hint{}
	}
}

// shares adds up the allocatable CPU of each zone's nodes; control-plane nodes and nodes that
// are not ready do not count. It is nil when a node has no zone or no CPU, and when there are
// not two zones (k8s.io/endpointslice 0.36.3 topologycache.go, SetNodes; verified). Nodes that
// say nothing of their CPU, as made-up ones, are all given the same.
func shares(nodes []world.Node) []share {
	cpu := map[string]int64{}
	for i := range nodes {
		n := &nodes[i]
		if !n.CountsForHints() {
			continue
		}
		milli, _ := n.AllocatableCPU()
		if n.Zone == "" || milli == 0 {
			return nil
		}
		cpu[n.Zone] += milli
	}
	if len(cpu) < 2 {
		return nil
	}
	var out []share
	for _, zone := range slices.Sorted(maps.Keys(cpu)) {
		out = append(out, share{zone, cpu[zone]})
	}
	return out
}

// allocation is how many hints a zone is to have. Wanted and what is compared with it count
// in parts of an endpoint: one endpoint is as many parts as the cluster has CPU.
type allocation struct {
	least, most int
	wanted      int64
}

// allocate shares a number of ready endpoints among the zones, by CPU. A zone's least number
// is what keeps its endpoints from more than 20 % overload, rounded up. ok is false when the
// endpoints do not suffice (topologycache.go, getAllocations; verified). The arithmetic is
// exact, where Kubernetes's is in floating point: it may ask for one more where a zone's least
// number comes out as a whole number.
func (h Hinting) allocate(ready int) (zones []allocation, endpoint int64, ok bool) {
	if len(h.shares) == 0 || ready < len(h.shares) {
		return nil, 0, false
	}
	for _, s := range h.shares {
		endpoint += s.cpu
	}
	left := ready
	for _, s := range h.shares {
		exact := s.cpu * int64(ready)
		least := int((exact*10 + endpoint*12 - 1) / (endpoint * 12))
		zones = append(zones, allocation{least: least, wanted: max(exact, int64(least)*endpoint)})
		left -= least
	}
	for i := range zones {
		zones[i].most = zones[i].least + left
	}
	return zones, endpoint, left >= 0
}

func (h Hinting) zone(name string) int {
	return slices.IndexFunc(h.shares, func(s share) bool { return s.zone == name })
}

// Proportional hints the endpoints of want, which Pack has placed, for the zones in proportion
// to their CPU: slices that are not written anyway keep their hints, unless these make the
// shares impossible. It returns the slices to write. Where a cluster or a Service does not
// allow for shares, nobody is hinted (topologycache.go, AddHints; verified). Ties between zones
// are decided by name, in Kubernetes by chance.
func (h Hinting) Proportional(have, want []Entry, touched []int, nodes []world.Node) []int {
	ready := 0
	for i := range want {
		if want[i].Conditions.Ready() {
			ready++
			if nodes[want[i].Node].Zone == "" {
				return clearHints(have, want, touched)
			}
		}
	}
	zones, endpoint, ok := h.allocate(ready)
	if !ok {
		return clearHints(have, want, touched)
	}
	counts := make([]int, len(zones))
	touched = h.keep(have, want, touched, zones, counts)
	moving := h.placed(want, touched)
	for _, e := range moving { // its own zone is what each begins with
		e.Hint = Hint{Zone: nodes[e.Node].Zone}
		if z := h.zone(e.Hint.Zone); z >= 0 {
			counts[z]++
		}
	}
	give, take := exchange(zones, counts, endpoint)
	for _, e := range moving {
		from, to := h.zone(nodes[e.Node].Zone), slices.IndexFunc(take, func(n int) bool { return n > 0 })
		if to < 0 {
			break
		}
		if from >= 0 && give[from] > 0 {
			e.Hint.Zone = h.shares[to].zone
			give[from]--
			take[to]--
		}
	}
	return touched
}

// keep carries the hints of slices over that are not written, and counts them by zone. A slice
// with hints that do not fit is written, too (sliceinfo.go, getAllocatedHintsByZone; verified).
func (h Hinting) keep(have, want []Entry, touched []int, zones []allocation, counts []int) []int {
	carryOver(have, want, touched)
	out := slices.Clone(touched)
	for _, n := range slicesOf(want) {
		if slices.Contains(touched, n) {
			continue
		}
		of := make([]int, len(zones))
		fits := true
		for _, e := range h.placed(want, []int{n}) {
			z := h.zone(e.Hint.Zone)
			if z < 0 {
				fits = false
				break
			}
			of[z]++
		}
		for z := range of {
			fits = fits && (of[z] == 0 || counts[z]+of[z] <= zones[z].most)
		}
		if !fits {
			out = append(out, n)
			continue
		}
		for z := range of {
			counts[z] += of[z]
		}
	}
	slices.Sort(out)
	return out
}

// placed lists the ready endpoints in some slices, slice by slice.
func (h Hinting) placed(want []Entry, in []int) []*Entry {
	var out []*Entry
	for _, n := range in {
		for i := range want {
			if want[i].Slice == n && want[i].Conditions.Ready() {
				out = append(out, &want[i])
			}
		}
	}
	return out
}

// slicesOf lists the slices that have entries.
func slicesOf(list []Entry) []int {
	var out []int
	for i := range list {
		if at, found := slices.BinarySearch(out, list[i].Slice); !found {
			out = slices.Insert(out, at, list[i].Slice)
		}
	}
	return out
}

// carryOver gives the entries in slices that are not written the hints they had.
func carryOver(have, want []Entry, touched []int) {
	Merge(have, want, func(a, b *Entry) {
		if a != nil && b != nil && !slices.Contains(touched, b.Slice) {
			b.Hint = a.Hint
		}
	})
}

// clearHints writes the slices that have hints without them.
func clearHints(have, want []Entry, touched []int) []int {
	carryOver(have, want, touched)
	out := slices.Clone(touched)
	for i := range want {
		if want[i].Hint == (Hint{}) {
			continue
		}
		want[i].Hint = Hint{}
		if at, found := slices.BinarySearch(out, want[i].Slice); !found {
			out = slices.Insert(out, at, want[i].Slice)
		}
	}
	return out
}

// exchange says how many endpoints each zone gives to others and takes from them: always from
// the one that has most too much to the one that lacks most, while both are half an endpoint
// off at least, and one of them a whole one (topologycache utils.go,
// getGivingAndReceivingZones; verified).
func exchange(zones []allocation, counts []int, endpoint int64) (give, take []int) {
	give, take = make([]int, len(zones)), make([]int, len(zones))
	over, lack := make([]int64, len(zones)), make([]int64, len(zones))
	for z := range zones {
		off := int64(counts[z])*endpoint - zones[z].wanted
		over[z], lack[z] = max(0, off), max(0, -off)
	}
	for {
		from, to := largest(over), largest(lack)
		if 2*over[from] < endpoint || 2*lack[to] < endpoint || over[from] < endpoint && lack[to] < endpoint {
			return give, take
		}
		give[from]++
		over[from] -= endpoint
		take[to]++
		lack[to] -= endpoint
	}
}

// largest returns the position of the largest number, of equals the first.
func largest(list []int64) int {
	at := 0
	for i, n := range list {
		if n > list[at] {
			at = i
		}
	}
	return at
}

// NodesDiffer says whether what a Service's endpoints are for a node depends on the node
// itself, not on its zone alone.
func NodesDiffer(svc *corev1.Service, h Hinting) bool {
	internal := svc.Spec.InternalTrafficPolicy
	return svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal ||
		internal != nil && *internal == corev1.ServiceInternalTrafficPolicyLocal || h.Mode == world.HintsSameNode
}
