package control

import (
	"slices"
	"testing"
)

// Every one of the counts is progress, and only in its own direction.
func TestWhatIsProgress(t *testing.T) {
	t.Parallel()
	at := rolloutCounts{updated: 2, old: 3, ready: 4, available: 4}
	var got []bool
	for _, c := range []rolloutCounts{
		at, {3, 3, 4, 4}, {1, 3, 4, 4}, {2, 2, 4, 4}, {2, 4, 4, 4}, {2, 3, 5, 4}, {2, 3, 3, 4}, {2, 3, 4, 5}, {2, 3, 4, 3}, {1, 4, 3, 5},
	} {
		got = append(got, c.advanced(at))
	}
	if want := []bool{false, true, false, true, false, true, false, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, c := range []struct {
		counts rolloutCounts
		want   bool
	}{{rolloutCounts{2, 0, 2, 2}, true}, {rolloutCounts{2, 1, 3, 2}, false}, {rolloutCounts{1, 0, 2, 2}, false}, {rolloutCounts{2, 0, 2, 1}, false}} {
		if got := c.counts.complete(2); got != c.want {
			t.Errorf("%+v: complete %v", c.counts, got)
		}
	}
}
