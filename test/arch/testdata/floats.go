// Package floats lets floats decide; inside the simulator, the tests of package arch expect every marked line to be caught.
package floats

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

type seconds float64

func draw(x float64, xs []float64, ys []seconds, ns []int) int {
	_ = math.Exp(x) + math.Log(x)     // want "math.Exp" "math.Log"
	_ = math.Pow(x, 2) + math.Sqrt(x) // want "math.Pow" "math.Sqrt"
	_ = math.Floor(x) + math.MaxFloat64
	_ = uint64(math.MaxUint64)
	sort.Float64s(xs) // want "sort.Float64s"
	slices.Sort(xs)   // want "slices.Sort on floats"
	slices.Sort(ys)   // want "slices.Sort on floats"
	slices.Sort(ns)
	slices.SortFunc(ns, cmp.Compare[int])
	_ = slices.Sorted(slices.Values(xs)) // want "slices.Sorted on floats"
	return cmp.Compare(x, 1)             // want "cmp.Compare on floats"
}
