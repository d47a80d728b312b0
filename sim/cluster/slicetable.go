package cluster

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// sliceTable is what the EndpointSlices in the API say, and the way of that to the nodes.
type sliceTable struct {
	slices      nodeproxy.SliceLog // what the nodes' proxies hear of, each in its own time
	churn       *nodeproxy.Churn
	cache       *endpoints.Cache
	views       nodeproxy.Views
	sliceState  []map[int][]endpointslice.Entry // what the slices say, by service and slice
	serviceNews *nodeproxy.SliceWrite           // of a Service whose write is being committed
	installs    uint64                          // counts the ends of the proxies' syncs
}

func newSliceTable(sc *world.Scenario) sliceTable {
	return sliceTable{cache: endpoints.NewCache(sc.Kubernetes.Options), sliceState: make([]map[int][]endpointslice.Entry, len(sc.Services))}
}

// SliceOf prepares the n-th slice of a Service for a write.
func (w *World) SliceOf(service, n, ports int, part []endpointslice.Entry) (commit func() api.Object) {
	built := w.buildSlice(service, n, ports, part)
	return func() api.Object {
		if w.serviceGone(service) {
			return nil
		}
		if c := w.services[service].changed; c != nil {
			c.written[n] = ports
		}
		out := &nodeproxy.SliceWrite{Service: service, View: w.publish(service, n, part, built)}
		if w.services[service].headless {
			out.Records = recordsOf(w.slicesInAPI(service))
		}
		return out
	}
}

// publish makes the next View from one slice. It is called when the write commits.
func (w *World) publish(service, n int, part []endpointslice.Entry, s *endpoints.Slice) *nodeproxy.View {
	w.setSlice(service, n, part, s)
	if w.services[service].headless {
		return nil // no proxy asks for these slices
	}
	return w.views.Add(w.cache.Snapshot(), w.eng.Now())
}

func (w *World) setSlice(service, n int, part []endpointslice.Entry, s *endpoints.Slice) {
	w.cache.PutSlice(s)
	w.noteSlice(service, w.sliceState[service][n], part)
	w.sliceState[service][n] = part
	w.changedSlices(service)
}

// endpointOf is a pod's endpoint in the slices of a Service, ok false when it has none: on a node whose object is deleted
// (docs/model/pod-lifecycle.md 6), and of pods that it does not select.
func (w *World) endpointOf(p *api.Pod, service int, selects *api.Service) (e endpointslice.State, ok bool) {
	s := &w.services[service]
	if selects != nil && selects.Gone {
		return endpointslice.State{}, false
	}
	if p != nil && p.Node >= 0 && w.missing[p.Node] && !s.publishAll || !w.chosenBy(p, service, selects) {
		return endpointslice.State{}, false
	}
	return endpointslice.Of(p, s.publishAll, &s.hints, w.sc.Nodes)
}

// EndpointsOf appends the endpoints of a Service that some pods, by workload, amount to. selects is the Service, nil for the one of the
// manifests.
func (w *World) EndpointsOf(out []endpointslice.Entry, service int, selects *api.Service, pods []api.PodList) []endpointslice.Entry {
	behind := w.podsBehind(service, pods)
	out = slices.Grow(out, len(behind))
	if len(behind) >= manyPods && !w.relabels {
		return w.services[service].derived.endpoints(out, w, service, selects, behind)
	}
	for _, p := range behind {
		if e, in := w.endpointOf(p, service, selects); in {
			out = append(out, endpointslice.Entry{ID: p.ID, Slice: endpointslice.NoSlice, State: e})
		}
	}
	return out
}

// Hinting is how the endpoints of a Service are hinted.
func (w *World) Hinting(service int) *endpointslice.Hinting { return &w.services[service].hints }
