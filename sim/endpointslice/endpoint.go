package endpointslice

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// State is what the controller writes of one pod.
type State struct {
	IP         netip.Addr
	Node       int
	Conditions endpoints.Conditions
	Hint       Hint
}

// Hint is a topology hint; the zero hint is none.
type Hint struct {
	Zone string // hints.forZones has it, and no other
	Node bool   // hints.forNodes has the endpoint's own node
}

// unhinted is an endpoint without its hint.
type unhinted struct {
	ip         netip.Addr
	node       int
	conditions endpoints.Conditions
}

func (e *State) unhinted() unhinted { return unhinted{e.IP, e.Node, e.Conditions} }

// Entry is a pod's endpoint with the number of the slice that it is in.
type Entry struct {
	ID    api.PodID
	Slice int
	State
}

// Same compares what slices say, in whichever slice.
func (e Entry) Same(o Entry) bool { return e.ID == o.ID && e.State == o.State }

// PartsOf returns the entries of some slices, of each in order of ID.
func PartsOf(list []Entry, numbers []int) [][]Entry {
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
		if n := list[i].Slice; among(n) {
			sizes[at[n]-1]++
		}
	}
	out := make([][]Entry, len(numbers))
	for i, n := range sizes {
		out[i] = make([]Entry, 0, n)
	}
	for i := range list {
		if n := list[i].Slice; among(n) {
			out[at[n]-1] = append(out[at[n]-1], list[i])
		}
	}
	return out
}

// Of is a pod's endpoint in the slices of a Service, ok false when it has none: no
// address yet, or done. publishAll is the Service's publishNotReadyAddresses. Proportional hints are not in it: they depend on all pods.
func Of(p *api.Pod, publishAll bool, hints *Hinting, nodes []world.Node) (e State, ok bool) {
	if p == nil || p.Gone || !p.IP.IsValid() || p.Phase.Terminal() {
		return State{}, false
	}
	e = State{IP: p.IP, Node: p.Node, Conditions: ConditionsOf(p, publishAll)}
	if e.Conditions.Ready() {
		e.Hint = hints.own(p.Node, nodes)
	}
	return e, true
}

// ConditionsOf follows k8s.io/endpointslice 0.36.3 utils.go, podToEndpoint (verified).
func ConditionsOf(p *api.Pod, publishNotReady bool) endpoints.Conditions {
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

// NoSlice is the slice of an entry that was not placed yet.
const NoSlice = -1

// Merge walks two lists of entries, both in order of ID, and hands over those of one pod
// together, nil for the side that has none.
func Merge(a, b []Entry, visit func(a, b *Entry)) {
	for i, k := 0, 0; i < len(a) || k < len(b); {
		switch {
		case k == len(b) || i < len(a) && a[i].ID < b[k].ID:
			visit(&a[i], nil)
			i++
		case i == len(a) || b[k].ID < a[i].ID:
			visit(nil, &b[k])
			k++
		default:
			visit(&a[i], &b[k])
			i, k = i+1, k+1
		}
	}
}
