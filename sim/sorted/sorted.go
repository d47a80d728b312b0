// Package sorted sorts lists with one copy of the algorithm: package slices brings some seven kilobytes for each type of element, half a megabyte
// of them in the module of lameduck play, which has to be small (docs/play.md).
package sorted

import "sort"

// By sorts a list as slices.SortFunc does, to the last element: of those that compare as equal, too.
func By[T any](list []T, compare func(a, b T) int) { arrange(list, compare, sort.Sort) }

// StableBy sorts a list and keeps the order of elements that compare as equal.
func StableBy[T any](list []T, compare func(a, b T) int) { arrange(list, compare, sort.Stable) }

// ShortBy is By where most lists are short and a run sorts many: those it sorts without memory, with more code for each type.
func ShortBy[T any](list []T, compare func(a, b T) int) {
	if !few(list, compare) {
		By(list, compare)
	}
}

// ShortStableBy is StableBy for such lists.
func ShortStableBy[T any](list []T, compare func(a, b T) int) {
	if !few(list, compare) {
		StableBy(list, compare)
	}
}

// few sorts a list that is short by insertion, as packages sort and slices do, and without memory; ok is false for a longer one.
func few[T any](list []T, compare func(a, b T) int) (ok bool) {
	if len(list) > 12 {
		return false
	}
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && compare(list[j], list[j-1]) < 0; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return true
}

// order is where the elements of a sorted list were before: package sort moves their numbers, which is the same code for all types, as it
// would move them.
func order(n int, less func(i, j int) bool, by func(sort.Interface)) []int {
	x := numbers{make([]int, n), less}
	for i := range x.at {
		x.at[i] = i
	}
	by(&x)
	return x.at
}

// arrange moves elements to where they belong.
func arrange[T any](list []T, compare func(a, b T) int, by func(sort.Interface)) {
	if len(list) < 2 {
		return
	}
	from := order(len(list), func(i, j int) bool { return compare(list[i], list[j]) < 0 }, by)
	out := make([]T, len(list))
	for i, k := range from {
		out[i] = list[k]
	}
	copy(list, out)
}

// numbers are those of elements, with the order of these, as package sort asks for one.
type numbers struct {
	at   []int
	less func(i, j int) bool
}

func (x *numbers) Len() int           { return len(x.at) }
func (x *numbers) Less(i, j int) bool { return x.less(x.at[i], x.at[j]) }
func (x *numbers) Swap(i, j int)      { x.at[i], x.at[j] = x.at[j], x.at[i] }
