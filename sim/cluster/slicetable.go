package cluster

import (
	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// sliceTable is what the EndpointSlices in the API say, and the way of that to the nodes.
type sliceTable struct {
	slices     nodeproxy.SliceLog // what the nodes' proxies hear of, each in its own time
	churn      *nodeproxy.Churn
	cache      *endpoints.Cache
	views      nodeproxy.Views
	sliceState []map[int][]entry // what the slices say, by service and slice
	installs   uint64            // counts the ends of the proxies' syncs
}

func newSliceTable(sc *world.Scenario) sliceTable {
	return sliceTable{cache: endpoints.NewCache(sc.Kubernetes.Options), sliceState: make([]map[int][]entry, len(sc.Services))}
}

// publish makes the next View from one slice. It is called when the write commits.
func (w *World) publish(service, n int, part []entry, s *endpoints.Slice) *nodeproxy.View {
	w.setSlice(service, n, part, s)
	if w.services[service].headless {
		return nil // no proxy asks for these slices
	}
	return w.views.Add(w.cache.Snapshot(), w.eng.Now())
}

func (w *World) setSlice(service, n int, part []entry, s *endpoints.Slice) {
	w.cache.PutSlice(s)
	w.noteSlice(service, w.sliceState[service][n], part)
	w.sliceState[service][n] = part
	w.changedSlices(service)
}
