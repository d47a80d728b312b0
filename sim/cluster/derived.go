package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
)

// manyPods is from how many pods of a Service on it is kept what their versions amount to: the controller goes through all of them with each
// sync, and nearly all are the versions of the sync before.
const manyPods = 64

// derived is what the versions of pods were found to amount to, for one version of their Service.
type derived struct {
	list, spare []derivedPod // in order of ID; spare is a list of before, to be written over
	selects     *api.Service
	missed      int
}

// derivedPod is what one version of a pod amounts to; in is false where it has no endpoint.
type derivedPod struct {
	pod   *api.Pod
	id    api.PodID // of the pod, which need not be looked at for it
	in    bool
	state endpointslice.State
}

// endpoints appends those that pods amount to, in order of ID. A version of a pod never changes, so that what is known of it is so still, but for
// whether its node is there.
func (d *derived) endpoints(out []endpointslice.Entry, w *World, service int, selects *api.Service, pods api.PodList) []endpointslice.Entry {
	if d.selects != selects || d.missed != w.missed {
		d.list, d.selects, d.missed = d.list[:0], selects, w.missed
	}
	known, next := d.list, d.spare[:0]
	for _, p := range pods {
		if len(known) > 0 && known[0].pod != p {
			for len(known) > 0 && known[0].id < p.ID { // gone
				known = known[1:]
			}
		}
		x := derivedPod{pod: p}
		switch {
		case len(known) > 0 && known[0].pod == p:
			x, known = known[0], known[1:]
		default:
			x.id = p.ID
			x.state, x.in = w.endpointOf(p, service, selects)
		}
		next = append(next, x)
		if x.in {
			out = append(out, endpointslice.Entry{ID: x.id, Slice: endpointslice.NoSlice, State: x.state})
		}
	}
	d.list, d.spare = next, d.list
	return out
}
