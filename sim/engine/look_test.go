package engine

import (
	"slices"
	"testing"
)

// Who looks is in order with the events, can be cancelled, and is none of them: a run with looks has the
// events, the limit and the trace of one without.
func TestALookIsNoEvent(t *testing.T) {
	t.Parallel()
	run := func(looks bool) (order []string, events uint64, hash string) {
		e := New(1, Limits{Events: 2})
		owner := e.Register("somebody")
		at := func(words string) func() { return func() { order = append(order, words) } }
		e.At(2, ClassTimer, owner, "second", at("second"))
		if looks {
			e.Look(1, ClassTimer, owner, at("look at 1"))
			e.Look(2, ClassDelivery, owner, at("look at 2"))
			e.Cancel(e.Look(2, ClassDelivery, owner, at("cancelled")))
			e.Look(3, ClassTimer, owner, at("look at 3"))
		}
		e.At(1, ClassDelivery, owner, "first", at("first"))
		if err := e.RunUntil(5); err != nil {
			t.Fatal(err)
		}
		return order, e.Events(), e.Hash().String()
	}
	order, events, hash := run(true)
	if want := []string{"first", "look at 1", "look at 2", "second", "look at 3"}; !slices.Equal(order, want) {
		t.Errorf("got %v, want %v", order, want)
	}
	if _, n, h := run(false); events != n || hash != h {
		t.Errorf("%d events, trace %s; without looks %d, %s", events, hash, n, h)
	}
}
