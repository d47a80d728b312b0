// Package pace decides when a service proxy syncs its rules next: at once when it has been
// idle, a minimum interval after the end of the previous sync otherwise, after a retry
// interval when that sync failed, and in full now and then.
//
// It is a function of values: no timer, no clock. The proxy's loop asks it how long to sleep,
// the simulator when to schedule. The rules are those of kube-proxy 1.36
// (pkg/proxy/runner/bounded_frequency_runner.go; verified); what lameduck's own proxy does
// beyond them is off in the zero value of its fields.
package pace

import "time"

// Policy holds the intervals.
type Policy struct {
	// MinInterval passes between the end of a sync and the start of the next; changes in the
	// meantime are done together.
	MinInterval time.Duration
	// Burst, if it is not 0, is how many tokens a bucket holds that every sync takes one of; each
	// comes back MinInterval after the one before it. Then a change that finds a token is programmed
	// at once, whenever the last sync ended; one that finds none waits as without a bucket, unless
	// a later change finds one.
	Burst int
	// RetryInterval passes after a failed sync, unless a change asks for an earlier one.
	RetryInterval time.Duration
	// FullInterval passes between full syncs; 0 is never.
	FullInterval time.Duration

	// FirstRetry passes after the first of several failed syncs in a row, twice as long after
	// each further one, up to RetryInterval; a change does not have it retried earlier than
	// that. 0 is what kube-proxy does: RetryInterval after each, MinInterval if there is a change.
	FirstRetry time.Duration
	// CheckInterval passes between the end of a sync and a look at whether the rules are still
	// what it left; 0 is never. Where the last sync or look took long, more passes: checkShare
	// times as long as that.
	CheckInterval time.Duration
}

// checkShare keeps looks that cost as much as the rules are many (1.6 s for 10,000 Services x 5 on
// iptables-nft) to a fiftieth of the time.
const checkShare = 50

// EarlierBurst is the Burst of kube-proxy up to 1.33: burstSyncs in the constructors of its iptables,
// nftables and ipvs proxies (1.33.0; verified).
const EarlierBurst = 2

// BurstOf is the Burst of a kube-proxy that holds minSyncPeriod after every sync, or not yet.
func BurstOf(holdAfterSync bool) int {
	if holdAfterSync {
		return 0
	}
	return EarlierBurst
}

// Default is kube-proxy's policy in nftables and iptables mode: minSyncPeriod 1 s, retry after
// syncPeriod 30 s, a full sync each hour (defaults.go; verified).
func Default() Policy {
	return Policy{MinInterval: time.Second, RetryInterval: 30 * time.Second, FullInterval: time.Hour}
}

// Lameduck is what lameduck's own proxy does: Default, with a back-off that begins at a second,
// and a look at the rules as often as kube-proxy looks at its canary chain, which is each
// syncPeriod (pkg/proxy/iptables/proxier.go, ipt.Monitor; verified).
func Lameduck() Policy {
	p := Default()
	p.FirstRetry, p.CheckInterval = time.Second, p.RetryInterval
	return p
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
	case s.Pending && s.Failed:
		at = max(p.free(s), s.LastEnd+p.FirstRetry)
	case s.Pending:
		at = p.free(s)
	case s.Failed:
		at = max(earliest, s.LastEnd+p.retry(s.Failures))
	case hasFull && !p.checksBefore(s, fullAt):
		at = max(earliest, fullAt)
	case p.CheckInterval > 0:
		at = max(earliest, p.checkAt(s))
	default:
		return 0, false, true
	}
	// A failed sync has lost track of what is programmed: the next one writes everything.
	return at, s.Failed || hasFull && at >= fullAt, false
}

// free is when a change may be programmed. What came during a sync asks for a token at its end.
// Without one a timer runs until MinInterval after that end; by then one has come back.
func (p Policy) free(s State) time.Duration {
	earliest := s.LastEnd + p.MinInterval
	if p.Burst == 0 {
		return earliest
	}
	asked, token := max(s.Asked, s.LastEnd), s.Full-time.Duration(p.Burst-1)*p.MinInterval
	if asked >= token {
		return asked
	}
	return max(earliest, token)
}

// checksBefore says whether a look at the rules is due before a moment.
func (p Policy) checksBefore(s State, moment time.Duration) bool {
	return p.CheckInterval > 0 && p.checkAt(s) < moment
}

// checkAt is when a look at the rules is due, if nothing else is before.
func (p Policy) checkAt(s State) time.Duration {
	return s.LastEnd + max(p.CheckInterval, checkShare*s.Took)
}

// retry returns how long the next attempt waits after so many failures in a row.
func (p Policy) retry(failures int) time.Duration {
	wait := p.FirstRetry
	if wait <= 0 {
		return p.RetryInterval
	}
	for i := 1; i < failures && wait < p.RetryInterval; i++ {
		wait *= 2
	}
	return min(wait, p.RetryInterval)
}
