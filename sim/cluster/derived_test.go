package cluster

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
)

// What pods amount to is found out anew for the versions that are new alone, and for all where a node is gone or the Service is another.
func TestEndpointsAreDerivedOncePerVersionOfAPod(t *testing.T) {
	t.Parallel()
	w := newBuild(1).start(t, 1)
	var pods api.PodList
	for i := range 2 * manyPods {
		ip := netip.AddrFrom4([4]byte{10, 9, byte(i >> 8), byte(i)})
		pods = append(pods, &api.Pod{ID: api.PodID(i), IP: ip, Ready: true, DeletedAt: api.Never, Phase: api.PhaseRunning})
	}
	selects := (*api.Service)(nil)
	check := func(what string) {
		t.Helper()
		var want []endpointslice.Entry
		for _, p := range pods {
			if e, in := w.endpointOf(p, 0, selects); in {
				want = append(want, endpointslice.Entry{ID: p.ID, Slice: endpointslice.NoSlice, State: e})
			}
		}
		if got := w.EndpointsOf(nil, 0, selects, []api.PodList{pods}); !slices.Equal(got, want) {
			t.Errorf("%s: %d endpoints, want %d:\n%v\n%v", what, len(got), len(want), got, want)
		}
	}
	next := func(i int, change func(*api.Pod)) {
		p := *pods[i]
		change(&p)
		pods[i] = &p
	}
	check("at first")
	next(3, func(p *api.Pod) { p.Ready = false })
	next(4, func(p *api.Pod) { p.IP = netip.Addr{} })
	check("two changed")
	pods = slices.Delete(pods, 10, 13)
	next(10, func(p *api.Pod) { p.DeletedAt = sec })
	pods = append(pods, &api.Pod{ID: 1000, IP: netip.MustParseAddr("10.9.9.9"), DeletedAt: api.Never, Phase: api.PhaseRunning})
	check("three gone, one that is deleted after them, one that is new")
	next(4, func(p *api.Pod) { p.IP = netip.MustParseAddr("10.9.9.8") })
	check("an address where none was")
	w.missing[0], w.missed = true, 1
	check("the node is gone, and all its pods with it")
	w.missing[0], w.missed = false, 2
	selects = &api.Service{Gone: true}
	check("the Service is gone")
	selects = &api.Service{}
	check("another Service")
	pods[5].Ready = false // no version does that: it shows whether it was looked at
	if got := w.EndpointsOf(nil, 0, selects, []api.PodList{pods}); !got[5].Conditions.Ready() {
		t.Error("a version that was known is looked at again")
	}
}
