package cluster

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
)

// podList is pods in order of ID.
type podList []*api.Pod

func (l podList) find(id api.PodID) (int, bool) {
	if n := len(l); n == 0 || l[n-1].ID < id {
		return n, false
	}
	return slices.BinarySearchFunc(l, id, func(p *api.Pod, id api.PodID) int { return cmp.Compare(p.ID, id) })
}

// set puts a version of a pod in the place of the one before, which it returns; nil is none.
// The last version takes the pod off the list.
func (l *podList) set(p *api.Pod) (old *api.Pod) {
	i, found := l.find(p.ID)
	if found {
		old = (*l)[i]
	}
	switch {
	case p.Gone && found:
		*l = slices.Delete(*l, i, i+1)
	case p.Gone:
	case found:
		(*l)[i] = p
	default:
		*l = slices.Insert(*l, i, p)
	}
	return old
}

// podsBehind returns the pods, given by workload, that a Service selects, in order of ID. Nobody changes
// the list.
func (w *World) podsBehind(service int, pods []podList) podList {
	members := w.services[service].members
	if len(members) == 1 {
		return pods[members[0]]
	}
	var all podList
	for _, wl := range members {
		all = append(all, pods[wl]...)
	}
	slices.SortFunc(all, func(a, b *api.Pod) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
