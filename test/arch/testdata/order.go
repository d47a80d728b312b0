// Package order iterates over maps; the tests of package arch expect every marked line to be caught.
package order

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
)

type index map[string][]int

func loops(m map[string]int, named index, s []int) (sum int) {
	for k := range m { // want "range over a map"
		_ = k
	}
	for range m {
		sum++
	}
	for _, v := range named { // want "range over a map"
		sum += len(v)
	}
	// order: a sum does not depend on it
	for _, v := range m {
		sum += v
	}
	for _, v := range m { // order: a sum does not depend on it
		sum += v
	}
	// Both maps are summed.
	// order: a sum does not depend on it
	// and integers do not overflow here
	for _, v := range m {
		sum += v
	}
	// order: too far away // want "stale order note"

	for _, v := range m { // want "range over a map"
		sum += v
	}
	// order:
	for _, v := range m { // want "range over a map"
		sum += v
	}
	// This comment mentions order: but is no note.
	for _, v := range m { // want "range over a map"
		sum += v
	}
	for i, v := range s {
		sum += i + v
	}
	return sum
}

func generic[M ~map[K]V, K comparable, V any](m M) (all []K) {
	for k := range m { // want "range over a map"
		all = append(all, k)
	}
	return all
}

func genericSlice[S ~[]E, E any](s S) (all []E) {
	for _, e := range s {
		all = append(all, e)
	}
	return all
}

func iterators(m map[string]int) []string {
	for k := range maps.Keys(m) { // want "maps.Keys"
		_ = k
	}
	_ = slices.Collect(maps.Values(m)) // want "maps.Values"
	for k, v := range maps.All(m) {    // want "maps.All"
		_, _ = k, v
	}
	_ = reflect.ValueOf(m).MapKeys()  // want "reflect.MapKeys"
	_ = reflect.ValueOf(m).MapRange() // want "reflect.MapRange"
	_ = slices.SortedFunc(maps.Keys(m), cmp.Compare[string])
	other := maps.Collect(maps.All(m))
	maps.Insert(other, maps.All(m))
	return slices.Sorted(maps.Keys(m))
}
