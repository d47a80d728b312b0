package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// A SYN without an answer is repeated 1, 3, 7, 15 s after the first, and by Linux since 6.5 each second at first,
// which tcp_syn_retries does not count. Reference: docs/model/simulator.md 1; Linux' defaults; docs/model/kube-proxy.md 3.
func TestRetransmissionTimes(t *testing.T) {
	t.Parallel()
	for linear, all := range map[int][]engine.Time{ // order: each for itself
		0: {0, 1, 3, 7, 15, 31, 63, 127},
		4: {0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131},
	} {
		s := Spec{LinearSYNs: linear}
		for n, want := range all {
			if got := s.retransmission(n); got != want*engine.Second {
				t.Errorf("%d linear: the %d. repetition comes after %s s, want %d", linear, n, got.Seconds(), want)
			}
		}
		if got, want := s.gaveUp(), all[len(all)-1]*engine.Second; got != want {
			t.Errorf("%d linear: the kernel gives up after %s s, want %s", linear, got.Seconds(), want.Seconds())
		}
	}
}
