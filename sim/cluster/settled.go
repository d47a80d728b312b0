package cluster

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// The settled state is what the same functions give on the API server's objects at this
// instant with every delay zero. Only failures ask for it, so it is computed when asked, and
// again only for the Services whose endpoints have changed meanwhile.

// settledService is one Service in the settled state.
type settledService struct {
	endpoints []entry // what the pods in the API amount to
	outdated  bool    // endpoints is; it is computed when asked for
	unseen    bool    // the settled view has other endpoints
	unchecked bool    // differs is out of date
	differs   bool    // the slices in the API say something else
	shown     []entry // what the settled view has
}

// Settled returns the Plan a node would have if every delay were zero.
func (w *World) Settled(node int) *plan.Plan {
	return w.planOf(w.settledView(), node)
}

// changedPod notes that a pod in the API has become another; either may be nil.
func (w *World) changedPod(old, p *Pod) {
	for _, service := range w.servicesOf(p.Workload) {
		was, wasIn := w.endpointOf(old, service)
		if is, in := w.endpointOf(p, service); is != was || in != wasIn {
			w.outdate(service)
		}
	}
}

// outdate notes that a Service's pods amount to other endpoints.
func (w *World) outdate(service int) {
	s := &w.settledOf[service]
	s.outdated, s.unseen = true, true
	w.settled = nil
	w.uncheck(service)
}

// changedSlices notes that a Service's slices in the API have changed.
func (w *World) changedSlices(service int) {
	if w.services[service].hints.mode == scenario.HintsProportional {
		w.outdate(service) // the shares start from the hints there are
		return
	}
	w.uncheck(service)
}

func (w *World) uncheck(service int) {
	if s := &w.settledOf[service]; !s.unchecked {
		s.unchecked = true
		w.unchecked = append(w.unchecked, service)
	}
}

// settledEndpoints lists what the pods in the API amount to, as the EndpointSlice controller
// would write it now.
func (w *World) settledEndpoints(service int) []entry {
	s := &w.settledOf[service]
	if !s.outdated {
		return s.endpoints
	}
	s.outdated = false
	s.endpoints = w.endpointsOf(service, w.podsBehind(service, w.live))
	if h := w.services[service].hints; h.mode == scenario.HintsProportional {
		have := w.slicesInAPI(service)
		h.proportional(have, s.endpoints, pack(have, s.endpoints), w.sc.Nodes)
	}
	return s.endpoints
}

// slicesInAPI lists the endpoints of a Service's slices by ID.
func (w *World) slicesInAPI(service int) []entry {
	var out []entry
	for _, part := range w.sliceState[service] { // order: sorted below
		out = append(out, part...)
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	return out
}

// settledView brings a second cache up to what the pods in the API amount to. How endpoints
// are packed into slices does not matter there: they go by ID, so that few slices change.
func (w *World) settledView() *View {
	if w.settled != nil {
		return w.settled
	}
	for service := range w.settledOf {
		s := &w.settledOf[service]
		if !s.unseen {
			continue
		}
		s.unseen = false
		before := s.shown
		s.shown = w.settledEndpoints(service)
		w.showSettled(service, before, s.shown)
	}
	w.settled = w.settledViews.add(w.settledCache.Snapshot(), w.eng.Now())
	return w.settled
}

// showSettled sets the slices of the settled cache that differ.
func (w *World) showSettled(service int, before, now []entry) {
	chunk := func(list *[]entry, n int) []entry {
		i := 0
		for i < len(*list) && int((*list)[i].id)/maxEndpointsPerSlice == n {
			i++
		}
		out := (*list)[:i]
		*list = (*list)[i:]
		return out
	}
	for first := true; first || len(before) > 0 || len(now) > 0; first = false {
		n := 0
		switch {
		case len(before) > 0 && len(now) > 0:
			n = int(min(before[0].id, now[0].id)) / maxEndpointsPerSlice
		case len(before) > 0:
			n = int(before[0].id) / maxEndpointsPerSlice
		case len(now) > 0:
			n = int(now[0].id) / maxEndpointsPerSlice
		}
		was, is := chunk(&before, n), chunk(&now, n)
		if !slices.EqualFunc(was, is, entry.same) {
			w.settledCache.SetSlice(w.buildSlice(service, n, is))
		}
	}
}

// slicesSettled says whether the slices in the API say what the pods in the API amount to.
func (w *World) slicesSettled() bool {
	for _, service := range w.unchecked {
		s := &w.settledOf[service]
		s.unchecked = false
		if s.differs {
			w.differing--
		}
		if s.differs = !w.agree(service); s.differs {
			w.differing++
		}
	}
	w.unchecked = w.unchecked[:0]
	return w.differing == 0
}

// agree compares a Service's slices in the API with what its pods amount to.
func (w *World) agree(service int) bool {
	want := w.settledEndpoints(service)
	n := 0
	for _, part := range w.sliceState[service] { // order: only counts, and any difference decides
		n += len(part)
		for i := range part {
			at, found := slices.BinarySearchFunc(want, part[i].id, func(e entry, id PodID) int { return cmp.Compare(e.id, id) })
			if !found || !want[at].same(part[i]) {
				return false
			}
		}
	}
	return n == len(want)
}
