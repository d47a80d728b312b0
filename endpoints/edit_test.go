package endpoints

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
)

// wide is one Service with many slices, each of some endpoints of its own.
type wide struct {
	cache  *Cache
	slices []*discoveryv1.EndpointSlice
}

func newWide(n int, transient bool) *wide {
	w := &wide{cache: currentCache(), slices: make([]*discoveryv1.EndpointSlice, n)}
	w.cache.transient = transient
	w.cache.SetService(apiService("web"))
	for i := range w.slices {
		w.set(i, ready(5*i+1, "a"), ready(5*i+3, "b"), draining(5*i+2, "a"))
	}
	return w
}

func (w *wide) set(i int, list ...ep) {
	s := apiSlice("web", fmt.Sprintf("s%02d", i))
	for _, e := range list {
		s.Endpoints = append(s.Endpoints, e.api())
	}
	w.slices[i] = s
	w.cache.SetSlice(s)
}

// change sets one slice or two to something that is drawn.
func (w *wide) change(r *rand.Rand) {
	for range 1 + r.IntN(2) {
		i := r.IntN(len(w.slices))
		var list []ep
		for n := range 5 {
			e := ep{n: 5*i + n + 1, cond: allConditions[r.IntN(8)], node: anywhere[r.IntN(3)]}
			switch r.IntN(40) {
			case 0:
				e.n = 1 + r.IntN(60) // it may be in another slice, too
			case 1:
				e.zones = hinted[r.IntN(len(hinted))].zones
			}
			if r.IntN(3) > 0 {
				list = append(list, e)
			}
		}
		w.set(i, list...)
	}
}

// rebuilt is what a new Cache makes of the slices.
func (w *wide) rebuilt() *Snapshot {
	c := currentCache()
	c.SetService(apiService("web"))
	for _, s := range w.slices {
		c.SetSlice(s)
	}
	return c.Snapshot()
}

// A Service of many slices of which some change is what all its slices amount to, whether addresses
// come, go, change, move to another slice or are in two.
func TestAnEditedServiceEqualsOneBuiltFromAllItsSlices(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		w, r := newWide(12, seed%2 == 1), rand.New(rand.NewPCG(seed, 100))
		w.cache.Snapshot()
		for step := range 300 {
			w.change(r)
			got, want := w.cache.Snapshot(), w.rebuilt()
			wantSameContents(t, fmt.Sprintf("seed %d, step %d", seed, step), want, got)
			a, b := got.Service(shop("web")).groups, want.Service(shop("web")).groups
			for i := range b {
				if a[i].counts != b[i].counts || a[i].traits != b[i].traits || len(a[i].all) != len(b[i].all) {
					t.Fatalf("seed %d, step %d: %+v, want %+v", seed, step, a[i].counts, b[i].counts)
				}
			}
		}
	}
}

// What does not change in a Service of many slices is copied and not sorted again.
func TestOneSliceOfManyIsAnEdit(t *testing.T) {
	t.Parallel()
	w := newWide(12, false)
	before := w.cache.Snapshot().Service(shop("web")).groups
	w.set(3, notReady(16, "a"), ready(20, "b"))
	m := w.cache.dirty[shop("web")]
	if m.whole || len(m.edits) != 1 {
		t.Fatalf("%+v", m)
	}
	after, ok := editGroups(before, m.edits, false)
	if !ok || len(after[0].endpoints) != len(before[0].endpoints)-1 || &after[0].all[0] != &before[0].all[0] {
		t.Errorf("edited %v, %d endpoints after %d", ok, len(after[0].endpoints), len(before[0].endpoints))
	}
	w.set(3, ready(16, "a"))
	if m := w.cache.dirty[shop("web")]; len(m.edits) != 1 || len(m.edits[0].before.entries) != 3 || len(m.edits[0].after.entries) != 1 {
		t.Errorf("two changes of a slice are %+v", m)
	}
	w.set(4, ready(16, "a"))
	if _, ok := editGroups(before, w.cache.dirty[shop("web")].edits, false); ok {
		t.Error("an address that is in two slices by now is no edit")
	}
}

// An edit in the memory of a list comes to the same as one that leaves the list as it was, and can do as much: only all slices together tell
// where an address is in two.
func TestAnEditInPlaceIsAsGood(t *testing.T) {
	t.Parallel()
	edited, refused := 0, 0
	for seed := range uint64(4) {
		w, r := newWide(12, false), rand.New(rand.NewPCG(seed, 101))
		for step := range 300 {
			before := w.cache.Snapshot().Service(shop("web")).groups
			w.change(r)
			m := w.cache.dirty[shop("web")]
			if m.whole {
				continue
			}
			own := slices.Clone(before)
			for i := range own {
				own[i].endpoints = slices.Clone(own[i].endpoints)
			}
			got, ok := editGroups(own, m.edits, true)
			want, well := editGroups(before, m.edits, false)
			if ok != well {
				t.Fatalf("seed %d, step %d: done in place %v, else %v", seed, step, ok, well)
			}
			if !ok {
				refused++
				continue
			}
			edited++
			for i := range want {
				if !slices.EqualFunc(got[i].endpoints, want[i].endpoints, func(a, b Endpoint) bool { return reflect.DeepEqual(a, b) }) ||
					got[i].counts != want[i].counts || got[i].traits != want[i].traits {
					t.Fatalf("seed %d, step %d: in place\n%+v\nelse\n%+v", seed, step, got[i], want[i])
				}
			}
		}
	}
	if edited < 300 || refused < 30 {
		t.Errorf("%d edits, %d refused: the test tests little", edited, refused)
	}
}

// BenchmarkCacheOneSliceOfManyChanges measures one endpoint of a Service of 20,000 changing its readiness.
func BenchmarkCacheOneSliceOfManyChanges(b *testing.B) {
	c := currentCache()
	c.SetService(apiService("web"))
	slice := func(i int, first bool) *discoveryv1.EndpointSlice {
		s := apiSlice("web", fmt.Sprintf("s%03d", i))
		for n := range 100 {
			e := ready(1, "a").api()
			e.Addresses[0] = fmt.Sprintf("10.%d.%d.%d", n%10, i, n)
			e.Conditions.Ready = ptr(n > 0 || first)
			s.Endpoints = append(s.Endpoints, e)
		}
		return s
	}
	for i := range 200 {
		c.SetSlice(slice(i, true))
	}
	c.Snapshot()
	states := [2]*discoveryv1.EndpointSlice{slice(100, false), slice(100, true)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.SetSlice(states[i%2])
		if len(c.Snapshot().Changed()) != 1 {
			b.Fatal("no change")
		}
	}
}
