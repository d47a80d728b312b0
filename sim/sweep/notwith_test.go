package sweep

import (
	"slices"
	"testing"
)

// Of the values with which a change is not enough the one that leaves most in a run is named first, whatever number of runs it was tried in.
func TestTheWorstOfOtherValuesComesFirst(t *testing.T) {
	t.Parallel()
	tried := func(runs int) otherwise { return otherwise{seeds: make([]uint64, runs)} }
	others := []otherwise{tried(20), tried(5), tried(20), tried(5), tried(10)}
	if got, want := worstFirst(others, []uint64{100, 50, 400, 25, 0}), []int{2, 1, 0, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
