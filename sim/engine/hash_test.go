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
