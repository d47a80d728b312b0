package endpointslice

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// MaxEndpoints of a slice is the EndpointSlice controller's default.
const MaxEndpoints = 100

// Pack decides which slices change when a service's endpoints become want, in what order they
// are written, and places those of want (k8s.io/endpointslice 0.36.3 reconciler.go,
// reconcileByPortMapping; verified). An empty slice counts as one that does not exist. Hints
// are not compared: they do not differ where nothing else does, or follow later.
func Pack(have, want []Entry) []int {
	most := -1
	for i := range have {
		most = max(most, have[i].Slice)
	}
	counts, touched := make([]int, most+1), make([]bool, most+1)
	var added []*Entry
	Merge(have, want, func(a, b *Entry) {
		switch {
		case a == nil:
			added = append(added, b)
		case b == nil:
			touched[a.Slice] = true
		default:
			b.Slice = a.Slice
			counts[b.Slice]++
			if a.unhinted() != b.unhinted() {
				touched[b.Slice] = true
			}
		}
	})
	fill := func(n int) {
		if n == len(counts) {
			counts, touched = append(counts, 0), append(touched, false)
		}
		for len(added) > 0 && counts[n] < MaxEndpoints {
			added[0].Slice = n
			counts[n]++
			touched[n] = true
			added = added[1:]
		}
	}
	// Slices that change anyway are filled first, the fullest before the others.
	changing := slices.DeleteFunc(numbersOf(touched), func(n int) bool { return counts[n] == 0 })
	sorted.ShortStableBy(changing, func(a, b int) int { return counts[b] - counts[a] })
	for _, n := range changing {
		fill(n)
	}
	for len(added) > 0 {
		fill(sliceToFill(counts, touched, len(added)))
	}
	return numbersOf(touched)
}

// numbersOf lists the slices that are touched.
func numbersOf(touched []bool) []int {
	var out []int
	for n, is := range touched {
		if is {
			out = append(out, n)
		}
	}
	return out
}

// sliceToFill returns the unchanged slice that is closest to full with so many more endpoints,
// or the first that is empty when none has the room: a new one if all exist.
func sliceToFill(counts []int, touched []bool, more int) int {
	best, closest := -1, MaxEndpoints
	for n, count := range counts {
		room := MaxEndpoints - count - more
		if count > 0 && !touched[n] && room >= 0 && room < closest {
			best, closest = n, room
		}
	}
	for n := 0; best < 0; n++ {
		if n == len(counts) || counts[n] == 0 {
			best = n
		}
	}
	return best
}
