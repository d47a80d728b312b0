// Package sorted sorts lists with one copy of the algorithm: package slices brings some seven kilobytes for each type of element, half a megabyte
// of them in the module of lameduck play, which has to be small (docs/play.md).
package sorted

import "sort"

// By sorts a list as slices.SortFunc does, to the last element: of those that compare as equal, too.
func By[T any](list []T, compare func(a, b T) int) {
	if !few(list, compare) {
		sort.Sort(&sortable[T]{list, compare})
	}
}

// StableBy sorts a list and keeps the order of elements that compare as equal.
func StableBy[T any](list []T, compare func(a, b T) int) {
	if !few(list, compare) {
		sort.Stable(&sortable[T]{list, compare})
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

// sortable is a list with its order, as package sort asks for one.
type sortable[T any] struct {
	list    []T
	compare func(a, b T) int
}

func (s *sortable[T]) Len() int           { return len(s.list) }
func (s *sortable[T]) Less(i, j int) bool { return s.compare(s.list[i], s.list[j]) < 0 }
func (s *sortable[T]) Swap(i, j int)      { s.list[i], s.list[j] = s.list[j], s.list[i] }
