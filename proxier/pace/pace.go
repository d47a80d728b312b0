// Package pace decides when a service proxy syncs its rules next: at once when it has been
// idle, a minimum interval after the end of the previous sync otherwise, after a retry
// interval when that sync failed, and in full now and then.
//
// It is a function of values: no timer, no clock. The proxy's loop asks it how long to sleep,
// the simulator when to schedule. The rules are those of kube-proxy 1.36
// (pkg/proxy/runner/bounded_frequency_runner.go; verified).
package pace

import "time"

// Policy holds the intervals.
type Policy struct {
	// MinInterval passes between the end of a sync and the start of the next; changes in the
	// meantime are done together.
	MinInterval time.Duration
	// RetryInterval passes after a failed sync, unless a change asks for an earlier one.
	RetryInterval time.Duration
	// FullInterval passes between full syncs; 0 is never.
	FullInterval time.Duration
}

// Default is kube-proxy's policy in nftables and iptables mode: minSyncPeriod 1 s, retry after
// syncPeriod 30 s, a full sync each hour (defaults.go; verified).
func Default() Policy {
	return Policy{MinInterval: time.Second, RetryInterval: 30 * time.Second, FullInterval: time.Hour}
}

// State is what decides, as times on one clock of the caller's.
type State struct {
	Synced   bool          // at least one sync has ended
	LastEnd  time.Duration // when the last sync ended; meaningless unless Synced
	LastFull time.Duration // when the last full sync ended; meaningless unless Synced
	Failed   bool          // the last sync failed
	Pending  bool          // a change waits to be programmed
}

// Next returns when the next sync starts; never is true when nothing asks for one. A time
// that has passed means at once. The sync has to be a full one when full is true.
func (p Policy) Next(s State) (at time.Duration, full, never bool) {
	if !s.Synced {
		return 0, true, !s.Pending
	}
	earliest := s.LastEnd + p.MinInterval
	fullAt, hasFull := s.LastFull+p.FullInterval, p.FullInterval > 0
	switch {
	case s.Pending:
		at = earliest
	case s.Failed:
		at = max(earliest, s.LastEnd+p.RetryInterval)
	case hasFull:
		at = max(earliest, fullAt)
	default:
		return 0, false, true
	}
	// A failed sync has lost track of what is programmed: the next one writes everything.
	return at, s.Failed || hasFull && at >= fullAt, false
}
