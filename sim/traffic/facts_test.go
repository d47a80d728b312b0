package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// A SYN without an answer is repeated 1, 3, 7, 15 s after the first. Reference:
// docs/model/simulator.md 1; Linux' defaults; docs/model/kube-proxy.md 3.
func TestRetransmissionTimes(t *testing.T) {
	t.Parallel()
	for n, want := range []engine.Time{0, 1, 3, 7, 15, 31, 63, 127} {
		if got := retransmission(n); got != want*engine.Second {
			t.Errorf("the %d. repetition comes after %s s, want %d", n, got.Seconds(), want)
		}
	}
}
