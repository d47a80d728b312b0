package pace

import "time"

// State is what decides, as times on one clock of the caller's. Its methods are the transitions: who
// runs a proxy tells it of each change, and of each sync's beginning and end.
type State struct {
	Synced   bool          // at least one sync has ended
	LastEnd  time.Duration // when the last sync ended; meaningless unless Synced
	LastFull time.Duration // when the last full sync ended; meaningless unless Synced
	Failed   bool          // the last sync failed
	Failures int           // how many have in a row; one if Failed and it is left out
	Pending  bool          // a change waits to be programmed
	Took     time.Duration // the last sync; 0 is not known, and no time

	// Of a token bucket (Policy.Burst): Asked is when the last change came, and Full when the bucket
	// has all its tokens again.
	Asked, Full time.Duration

	began time.Duration // the sync under way, or the last one
}

// Change notes a change, which waits to be programmed.
func (s *State) Change(now time.Duration) { s.Pending, s.Asked = true, now }

// Begin notes that a sync begins, which takes up all changes so far, and a token: where there is no bucket
// nobody asks for one.
func (s *State) Begin(p Policy, now time.Duration) {
	s.Pending, s.began, s.Full = false, now, max(s.Full, now)+p.MinInterval
}

// End notes that the sync under way has ended: whether it was a full one, and whether it failed.
func (s *State) End(now time.Duration, full, failed bool) {
	s.Synced, s.LastEnd, s.Failed, s.Took = true, now, failed, now-s.began
	switch {
	case failed:
		s.Failures++
		return
	case full:
		s.LastFull = now
	}
	s.Failures = 0
}

// Rest notes the end of work that is no sync and that the next sync waits for.
func (s *State) Rest(now time.Duration) { s.LastEnd = now }
