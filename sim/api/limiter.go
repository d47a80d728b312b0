package api

import "github.com/lameduck-proxy/lameduck/sim/engine"

// Limiter is a client's token bucket. Each controller has one of its own (measured on a real
// control plane: 20 requests a second, a burst of 30).
type Limiter struct {
	interval engine.Time // between tokens
	burst    int
	Full     engine.Time // when the bucket will be full again
}

// NewLimiter is a bucket that is full: a token each interval, and burst of them at most.
func NewLimiter(interval engine.Time, burst int) Limiter {
	return Limiter{interval: interval, burst: burst}
}

// Take reserves a token and returns when it may be used.
func (l *Limiter) Take(now engine.Time) engine.Time {
	l.Full = max(l.Full, now) + l.interval
	return max(now, l.Full-engine.Time(l.burst)*l.interval)
}

// Spare takes a token if there is one now, and says whether there was.
func (l *Limiter) Spare(now engine.Time) bool {
	full := max(l.Full, now) + l.interval
	if full-engine.Time(l.burst)*l.interval > now {
		return false
	}
	l.Full = full
	return true
}
