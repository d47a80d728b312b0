package cluster

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The settled state is what the same functions give on the API server's objects at this
// instant with every delay zero. Only failures ask for it, so it is computed when asked, and
// again only for the Services whose endpoints have changed meanwhile.

// settledState is the settled state as far as it was asked for.
type settledState struct {
	settledCache *endpoints.Cache
	settledViews nodeproxy.Views
	settled      *nodeproxy.View // nil when it has to be computed
	settledOf    []settledService
	unchecked    []int // Services whose slices are to be compared with their pods
	differing    int   // Services whose slices differ, of those that were
}

func newSettledState(sc *world.Scenario) settledState {
	return settledState{settledCache: endpoints.NewTransientCache(sc.Kubernetes.Options), settledOf: make([]settledService, len(sc.Services))}
}

// settledService is one Service in the settled state.
type settledService struct {
	endpoints []endpointslice.Entry // what the pods in the API amount to
	outdated  bool                  // endpoints is; it is computed when asked for
	changed   []int                 // chunks of the settled view that are out of date
	all       bool                  // all of them are
	chunks    int                   // how many the settled view has
	unchecked bool                  // differs is out of date
	differs   bool                  // the slices in the API say something else
}

// changedPod notes that a pod in the API has become another; either may be nil.
func (w *World) changedPod(old, p *api.Pod) {
	for _, service := range w.ServicesOf(p.Workload) {
		selects := w.serviceInAPI(service)
		was, wasIn := w.endpointOf(old, service, selects)
		is, in := w.endpointOf(p, service, selects)
		if is == was && in == wasIn {
			continue
		}
		s := &w.settledOf[service]
		w.settled = nil
		w.uncheck(service)
		if w.services[service].hints.Mode == world.HintsProportional || s.outdated {
			s.outdate()
			continue
		}
		s.change(p.ID, is, in)
	}
}

// outdate has all endpoints computed again.
func (s *settledService) outdate() { s.outdated, s.all = true, true }

// change puts one endpoint into the list, or takes it off.
func (s *settledService) change(id api.PodID, e endpointslice.State, in bool) {
	i, found := slices.BinarySearchFunc(s.endpoints, id, func(e endpointslice.Entry, id api.PodID) int { return cmp.Compare(e.ID, id) })
	switch {
	case in && found:
		s.endpoints[i].State = e
	case in:
		s.endpoints = slices.Insert(s.endpoints, i, endpointslice.Entry{ID: id, Slice: endpointslice.NoSlice, State: e})
	case found:
		s.endpoints = slices.Delete(s.endpoints, i, i+1)
	}
	if c := chunkOf(id); !slices.Contains(s.changed, c) {
		s.changed = append(s.changed, c)
	}
}

// chunkOf says in which slice of the settled view a pod is: they go by ID, so that few slices
// change.
func chunkOf(id api.PodID) int { return int(id) / endpointslice.MaxEndpoints }

// changedSlices notes that a Service's slices in the API have changed.
func (w *World) changedSlices(service int) {
	if w.services[service].hints.Mode == world.HintsProportional {
		w.settled = nil
		w.settledOf[service].outdate() // the shares start from the hints there are
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
func (w *World) settledEndpoints(service int) []endpointslice.Entry {
	s := &w.settledOf[service]
	if !s.outdated {
		return s.endpoints
	}
	s.outdated = false
	s.endpoints = w.EndpointsOf(nil, service, w.serviceInAPI(service), w.live)
	if h := &w.services[service].hints; h.Mode == world.HintsProportional {
		have := w.slicesInAPI(service)
		h.Proportional(have, s.endpoints, endpointslice.Pack(have, s.endpoints), w.sc.Nodes)
	}
	return s.endpoints
}

// slicesInAPI lists the endpoints of a Service's slices by ID.
func (w *World) slicesInAPI(service int) []endpointslice.Entry {
	var out []endpointslice.Entry
	for _, part := range w.sliceState[service] { // order: sorted below
		out = append(out, part...)
	}
	sorted.ShortBy(out, func(a, b endpointslice.Entry) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// settledView is what nodes would have if every delay were zero: it brings a second cache up to what
// the pods in the API amount to. How endpoints are packed into slices does not matter there.
func (w *World) settledView() *nodeproxy.View {
	if w.settled != nil {
		return w.settled
	}
	for service := range w.settledOf {
		if s := &w.settledOf[service]; s.all || len(s.changed) > 0 {
			w.showSettled(service)
		}
	}
	w.settled = w.settledViews.Add(w.settledCache.Snapshot(), w.eng.Now())
	return w.settled
}

// showSettled sets the slices of the settled cache that have changed.
func (w *World) showSettled(service int) {
	s, list := &w.settledOf[service], w.settledEndpoints(service)
	if n := len(list); n > 0 {
		s.chunks = max(s.chunks, chunkOf(list[n-1].ID)+1)
	}
	if s.all {
		s.changed = s.changed[:0]
		for c := range s.chunks {
			s.changed = append(s.changed, c)
		}
	}
	for _, c := range s.changed {
		from, _ := slices.BinarySearchFunc(list, c, func(e endpointslice.Entry, c int) int { return cmp.Compare(chunkOf(e.ID), c) })
		to, _ := slices.BinarySearchFunc(list, c+1, func(e endpointslice.Entry, c int) int { return cmp.Compare(chunkOf(e.ID), c) })
		w.settledCache.PutSlice(w.buildSlice(service, c, w.portsInAPI(service), list[from:to]))
	}
	s.all, s.changed = false, s.changed[:0]
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
	for number, part := range w.sliceState[service] { // order: only counts, and any difference decides
		n += len(part)
		if len(part) > 0 && !w.portsWritten(service, number) {
			return false
		}
		for i := range part {
			at, found := slices.BinarySearchFunc(want, part[i].ID, func(e endpointslice.Entry, id api.PodID) int { return cmp.Compare(e.ID, id) })
			if !found || !want[at].Same(part[i]) {
				return false
			}
		}
	}
	return n == len(want)
}
