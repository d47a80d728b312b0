package kubelet

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// A back-off doubles up to 5 minutes, and is forgotten when a container has run for 10 minutes since it was set.
// Reference: docs/model/pod-lifecycle.md 7.
func TestBackoff(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	var pauses [7]engine.Time
	b := backoff{}
	for i := range pauses {
		b = b.next(0, 0)
		pauses[i] = b.pause / sec
	}
	if want := [7]engine.Time{10, 20, 40, 80, 160, 300, 300}; pauses != want {
		t.Errorf("pauses of %v s, want %v", pauses, want)
	}
	b = backoff{300 * sec, 1000 * sec}
	for _, tt := range []struct{ ended, now, left, next engine.Time }{
		{1500 * sec, 1500 * sec, 300 * sec, 300 * sec},
		{1500 * sec, 1600 * sec, 200 * sec, 300 * sec},
		{1500 * sec, 1900 * sec, 0, 300 * sec},
		{1600 * sec, 1600 * sec, 300 * sec, 300 * sec}, // exactly 10 minutes are not more
		{1700 * sec, 1700 * sec, 0, 10 * sec},
	} {
		if left, next := b.left(tt.ended, tt.now), b.next(tt.ended, tt.now); left != tt.left || next != (backoff{tt.next, tt.now}) {
			t.Errorf("ended at %s s, at %s s: %s s left, then %s s", tt.ended.Seconds(), tt.now.Seconds(), left.Seconds(), next.pause.Seconds())
		}
	}
	if (backoff{}).left(5*sec, 5*sec) != 0 {
		t.Error("a container that ends for the first time waits")
	}
}
