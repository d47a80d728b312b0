package cluster

import (
	"cmp"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// podsBehind returns the pods, given by workload, that a Service selects, in order of ID. Nobody changes
// the list.
func (w *World) podsBehind(service int, pods []api.PodList) api.PodList {
	members := w.services[service].members
	if len(members) == 1 {
		return pods[members[0]]
	}
	var all api.PodList
	for _, wl := range members {
		all = append(all, pods[wl]...)
	}
	sorted.ShortBy(all, func(a, b *api.Pod) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
