package endpointslice

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
)

// Reference: k8s.io/endpointslice 0.36.3 reconciler.go, reconcileByPortMapping, getSliceToFill.
func TestPacking(t *testing.T) {
	t.Parallel()
	const some = endpoints.Ready
	for _, c := range []struct {
		name    string
		have    []int // endpoints in each slice
		gone    []int // how many go, by slice
		changed []int // how many change, by slice
		added   int
		want    []int
		touched []int
	}{
		{name: "the first ones", added: 250, want: []int{100, 100, 50}, touched: []int{0, 1, 2}},
		{name: "nothing changes", have: []int{100, 20}, want: []int{100, 20}},
		{name: "in place", have: []int{100, 20}, changed: []int{1, 0}, want: []int{100, 20}, touched: []int{0}},
		{name: "an addition goes where it fits tightest", have: []int{100, 20, 60}, added: 1, want: []int{100, 20, 61}, touched: []int{2}},
		{name: "several go to one slice that has room for all", have: []int{95, 60, 20}, added: 30, want: []int{95, 90, 20}, touched: []int{1}},
		{name: "none has room for all: a new one", have: []int{95, 80}, added: 30, want: []int{95, 80, 30}, touched: []int{2}},
		{name: "a slice that changes anyway is filled first", have: []int{60, 90}, gone: []int{1, 0}, added: 1, want: []int{60, 90}, touched: []int{0}},
		{name: "the fullest of them before the others", have: []int{60, 90, 99}, gone: []int{1, 1, 0}, added: 12, want: []int{60, 100, 99}, touched: []int{0, 1}},
		{name: "no slice is merged into another", have: []int{100, 100}, gone: []int{90, 95}, want: []int{10, 5}, touched: []int{0, 1}},
		{name: "an emptied slice is used for what is new", have: []int{3, 100}, gone: []int{3}, added: 2, want: []int{2, 100}, touched: []int{0}},
	} {
		var have, want []Entry
		id := api.PodID(0)
		part := func(list []int, i int) int {
			if i < len(list) {
				return list[i]
			}
			return 0
		}
		for n, size := range c.have {
			for i := range size {
				have = append(have, Entry{ID: id, Slice: n, State: State{Conditions: some}})
				switch {
				case i < part(c.gone, n):
				case i < part(c.changed, n):
					want = append(want, Entry{ID: id, Slice: NoSlice})
				default:
					want = append(want, Entry{ID: id, Slice: NoSlice, State: State{Conditions: some}})
				}
				id++
			}
		}
		for range c.added {
			want = append(want, Entry{ID: id, Slice: NoSlice, State: State{Conditions: some}})
			id++
		}
		touched := Pack(have, want)
		counts := make([]int, len(c.want))
		for _, e := range want {
			counts[e.Slice]++
		}
		if !slices.Equal(counts, c.want) || !slices.Equal(touched, c.touched) {
			t.Errorf("%s: %v, written %v; want %v, written %v", c.name, counts, touched, c.want, c.touched)
		}
	}
}
