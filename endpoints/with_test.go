package endpoints

import (
	"fmt"
	"math/rand/v2"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
)

// Slices that are made from each other, with most entries in common, are to a Cache what their API objects are,
// whether entries come, go, change or move within the slice.
func TestASliceMadeFromAnotherIsLikeOneThatWasRead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		made, read := currentCache(), currentCache()
		made.SetService(apiService("web"))
		read.SetService(apiService("web"))
		head, problems := ReadSlice(apiSlice("web", "head"))
		if head == nil || len(problems) > 0 {
			t.Fatal(problems)
		}
		lists := make([][]madeEntry, 3)
		for step := range 200 {
			i := r.IntN(len(lists))
			lists[i] = changedEntries(r, i, lists[i])
			object, entries := apiSlice("web", fmt.Sprint("s", i)), []SliceEndpoint(nil)
			for _, e := range lists[i] {
				object.Endpoints, entries = append(object.Endpoints, e.object), append(entries, e.entry)
			}
			read.SetSlice(object)
			made.PutSlice(head.With(object.Name, entries))
			wantSameContents(t, fmt.Sprintf("seed %d, step %d", seed, step), read.Snapshot(), made.Snapshot())
		}
	}
}

// madeEntry is an endpoint in both forms.
type madeEntry struct {
	object discoveryv1.Endpoint
	entry  SliceEndpoint
}

// changedEntries is a list with one entry more, less, changed, or in another place; the others are the same.
func changedEntries(r *rand.Rand, slice int, list []madeEntry) []madeEntry {
	next := append([]madeEntry(nil), list...)
	n := len(next)
	switch what := r.IntN(4); {
	case n < 5 || what == 0:
		return append(next, newEntry(r, slice))
	case what == 1:
		at := r.IntN(n)
		return append(next[:at], next[at+1:]...)
	case what == 2:
		next[r.IntN(n)] = newEntry(r, slice)
	default:
		a, b := r.IntN(n), r.IntN(n)
		next[a], next[b] = next[b], next[a]
	}
	return next
}

// newEntry draws an endpoint of a slice; its address may be in another entry, too, of this slice or another.
func newEntry(r *rand.Rand, slice int) madeEntry {
	e := ep{n: 70*slice + 1 + r.IntN(80), cond: allConditions[r.IntN(8)], node: anywhere[r.IntN(3)]}
	object := e.api()
	s := apiSlice("web", fmt.Sprint("s", slice))
	s.Endpoints = []discoveryv1.Endpoint{object}
	one, _ := ReadSlice(s)
	return madeEntry{object, one.entries[0]}
}

// Of two Slices that have all entries in common but one, that one is the difference.
func TestOnlyWhatDiffersIsEdited(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var list []SliceEndpoint
	for range 10 {
		list = append(list, newEntry(r, 0).entry)
	}
	head, _ := ReadSlice(apiSlice("web", "s0"))
	other := append([]SliceEndpoint(nil), list...)
	other[4] = newEntry(r, 1).entry
	gone, come := edit{head.With("s0", list), head.With("s0", other)}.differing()
	if len(gone) != 1 || len(come) != 1 || gone[0] != list[4] || come[0] != other[4] {
		t.Errorf("%v became %v", gone, come)
	}
	gone, come = edit{head.With("s0", list), head.With("s0", list[:9])}.differing()
	if len(gone) != 1 || len(come) != 0 || gone[0] != list[9] {
		t.Errorf("%v became %v", gone, come)
	}
}
