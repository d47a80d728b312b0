package pace

import (
	"testing"
	"time"
)

const s = time.Second

// Reference: kube-proxy 1.36 runner semantics: at once when idle, minSyncPeriod after the
// previous sync ended under churn, syncPeriod after a failure, a full sync each hour.
func TestNext(t *testing.T) {
	t.Parallel()
	p := Policy{MinInterval: s, RetryInterval: 30 * s, FullInterval: 3600 * s}
	for _, c := range []struct {
		name   string
		policy Policy
		state  State
		at     time.Duration
		full   bool
		never  bool
	}{
		{"nothing to do before the first change", p, State{}, 0, true, true},
		{"the first sync is full and at once", p, State{Pending: true}, 0, true, false},
		{"a change after a long pause: the earliest time has passed", p, State{Synced: true, LastEnd: 10 * s, LastFull: 10 * s, Pending: true}, 11 * s, false, false},
		{"a change just after a sync waits for the minimum interval after its end", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s, Pending: true}, 101 * s, false, false},
		{"a failure is retried in full", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s, Failed: true}, 130 * s, true, false},
		{"a change does not wait for the retry", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s, Failed: true, Pending: true}, 101 * s, true, false},
		{"idle: the next full sync", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s}, 3610 * s, true, false},
		{"a change when a full sync is due makes it full", p, State{Synced: true, LastEnd: 3700 * s, LastFull: 10 * s, Pending: true}, 3701 * s, true, false},
		{"idle without full syncs", Policy{MinInterval: s}, State{Synced: true, LastEnd: 100 * s}, 0, false, true},
		{"no minimum interval: at once", Policy{}, State{Synced: true, LastEnd: 100 * s, Pending: true}, 100 * s, false, false},
	} {
		at, full, never := c.policy.Next(c.state)
		if never != c.never || !never && (at != c.at || full != c.full) {
			t.Errorf("%s: %v full %v never %v, want %v full %v never %v", c.name, at, full, never, c.at, c.full, c.never)
		}
	}
}

// Reference: kube-proxy 1.36 pkg/proxy/apis/config/v1alpha1/defaults.go, both modes.
func TestDefault(t *testing.T) {
	t.Parallel()
	if want := (Policy{MinInterval: s, RetryInterval: 30 * s, FullInterval: 3600 * s}); Default() != want {
		t.Errorf("got %+v, want %+v", Default(), want)
	}
}
