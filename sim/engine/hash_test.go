package engine

import (
	"fmt"
	"testing"
)

// More names than there are places are hashed as each by itself.
func TestTheHashOfANameDoesNotDependOnTheOthers(t *testing.T) {
	t.Parallel()
	h := newTraceHash(1)
	for round := range 3 {
		for i := range 4 * len(h.names) {
			for _, name := range []string{fmt.Sprint("sync ", i), fmt.Sprint(i, " ends"), ""} {
				if got, want := h.nameHash(name), hashString(name); got != want {
					t.Fatalf("round %d, %q: %x, want %x", round, name, got, want)
				}
			}
		}
	}
}

// Who watches is handed each step as it was hashed, and may keep it.
func TestWatchersAreHandedEachStep(t *testing.T) {
	t.Parallel()
	h, alone := newTraceHash(1), newTraceHash(1)
	var steps []Step
	h.Watch(func(s Step) { steps = append(steps, s) })
	words := []uint64{7, 8}
	h.Event(3, 2, 5, "sync")
	h.Record("request", words...)
	words[0] = 9
	alone.Event(3, 2, 5, "sync")
	first := alone.Sum()
	alone.Record("request", 7, 8)
	want := []Step{{At: 3, Class: 2, Owner: 5, Name: "sync", Hash: first}, {Name: "request", Words: []uint64{7, 8}, Hash: alone.Sum()}}
	if fmt.Sprint(steps) != fmt.Sprint(want) || h.Sum() != alone.Sum() {
		t.Errorf("%v, want %v", steps, want)
	}
}
