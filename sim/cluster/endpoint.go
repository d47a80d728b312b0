package cluster

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// endpointState is what the controller writes of one pod.
type endpointState struct {
	ip         netip.Addr
	node       int
	conditions endpoints.Conditions
	hint       hint
}

// hint is a topology hint; the zero hint is none.
type hint struct {
	zone string // hints.forZones has it, and no other
	node bool   // hints.forNodes has the endpoint's own node
}

// unhinted is an endpoint without its hint.
type unhinted struct {
	ip         netip.Addr
	node       int
	conditions endpoints.Conditions
}

func (e *endpointState) unhinted() unhinted { return unhinted{e.ip, e.node, e.conditions} }

// entry is a pod's endpoint with the number of the slice that it is in.
type entry struct {
	id    api.PodID
	slice int
	endpointState
}

// same compares what slices say, in whichever slice.
func (e entry) same(o entry) bool { return e.id == o.id && e.endpointState == o.endpointState }

// partsOf returns the entries of some slices, of each in order of ID.
func partsOf(list []entry, numbers []int) [][]entry {
	if len(numbers) == 0 {
		return nil
	}
	at := make([]int, slices.Max(numbers)+1) // in out + 1, by slice
	for i, n := range numbers {
		at[n] = i + 1
	}
	among := func(n int) bool { return n >= 0 && n < len(at) && at[n] > 0 }
	sizes := make([]int, len(numbers))
	for i := range list {
		if n := list[i].slice; among(n) {
			sizes[at[n]-1]++
		}
	}
	out := make([][]entry, len(numbers))
	for i, n := range sizes {
		out[i] = make([]entry, 0, n)
	}
	for i := range list {
		if n := list[i].slice; among(n) {
			out[at[n]-1] = append(out[at[n]-1], list[i])
		}
	}
	return out
}

// endpointOf is a pod's endpoint in the slices of a Service, ok false when it has none: no
// address yet, or done. publishAll is the Service's publishNotReadyAddresses. Proportional hints are not in it: they depend on all pods.
func endpointOf(p *api.Pod, publishAll bool, hints *hinting, nodes []world.Node) (e endpointState, ok bool) {
	if p == nil || p.Gone || !p.IP.IsValid() || p.Phase.Terminal() {
		return endpointState{}, false
	}
	e = endpointState{ip: p.IP, node: p.Node, conditions: conditionsOf(p, publishAll)}
	if e.conditions.Ready() {
		e.hint = hints.own(p.Node, nodes)
	}
	return e, true
}

// conditionsOf follows k8s.io/endpointslice 0.36.3 utils.go, podToEndpoint (verified).
func conditionsOf(p *api.Pod, publishNotReady bool) endpoints.Conditions {
	var c endpoints.Conditions
	if p.Ready {
		c |= endpoints.Serving
	}
	if p.Deleting() {
		c |= endpoints.Terminating
	}
	if publishNotReady || p.Ready && !p.Deleting() {
		c |= endpoints.Ready
	}
	return c
}

// noSlice is the slice of an entry that was not placed yet.
const noSlice = -1

// merge walks two lists of entries, both in order of ID, and hands over those of one pod
// together, nil for the side that has none.
func merge(a, b []entry, visit func(a, b *entry)) {
	for i, k := 0, 0; i < len(a) || k < len(b); {
		switch {
		case k == len(b) || i < len(a) && a[i].id < b[k].id:
			visit(&a[i], nil)
			i++
		case i == len(a) || b[k].id < a[i].id:
			visit(nil, &b[k])
			k++
		default:
			visit(&a[i], &b[k])
			i, k = i+1, k+1
		}
	}
}
