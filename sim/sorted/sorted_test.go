package sorted

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// What equal elements come to is what slices makes of them, or what a run did would be another.
func TestListsAreSortedAsSlicesDoes(t *testing.T) {
	t.Parallel()
	type pair struct{ key, number int }
	order := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	draw := rand.New(rand.NewPCG(1, 2))
	for length := range 300 {
		for _, keys := range []int{1, 3, length + 1} {
			list := make([]pair, length)
			for i := range list {
				list[i] = pair{draw.IntN(keys), i}
			}
			slices.SortFunc(list[:length/3], order) // partly in order, as lists often are
			got, want := slices.Clone(list), slices.Clone(list)
			short := slices.Clone(list)
			if By(got, order); !slices.Equal(got, sorted(want, slices.SortFunc[[]pair], order)) {
				t.Fatalf("%d elements, %d keys: %v, want %v", length, keys, got, want)
			}
			if ShortBy(short, order); !slices.Equal(short, want) {
				t.Fatalf("%d elements, %d keys, short: %v, want %v", length, keys, short, want)
			}
			got, want = slices.Clone(list), slices.Clone(list)
			short = slices.Clone(list)
			if StableBy(got, order); !slices.Equal(got, sorted(want, slices.SortStableFunc[[]pair], order)) {
				t.Fatalf("%d elements, %d keys, stable: %v, want %v", length, keys, got, want)
			}
			if ShortStableBy(short, order); !slices.Equal(short, want) {
				t.Fatalf("%d elements, %d keys, short and stable: %v, want %v", length, keys, short, want)
			}
		}
	}
}

// sorted is a list after it was sorted in some way.
func sorted[T any](list []T, sort func([]T, func(a, b T) int), order func(a, b T) int) []T {
	sort(list, order)
	return list
}
