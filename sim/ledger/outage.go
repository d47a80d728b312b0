package ledger

import (
	"iter"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// stretch is consecutive requests of a stream that all failed.
type stretch struct {
	first, last    uint64 // request numbers
	begin, end     engine.Time
	othersAccepted bool // for at least one of them another pod would have answered
}

// outages are the stretches of one stream, in order, none of which follows another at once. Requests are numbered in order of
// arrival, and mostly fail in about that order: a long outage is one stretch or a few, whatever its length.
type outages []stretch

// add puts a request that failed to the stretches next to it. One that is in a stretch stays there.
func (o *outages) add(number uint64, arrival engine.Time, elsewhere bool) {
	at := o.after(number)
	if at > 0 && (*o)[at-1].last >= number {
		return
	}
	s := stretch{first: number, last: number, begin: arrival, end: arrival, othersAccepted: elsewhere}
	follows, precedes := at > 0 && (*o)[at-1].last+1 == number, at < len(*o) && number+1 == (*o)[at].first
	switch {
	case follows:
		(*o)[at-1].join(&s)
		if precedes {
			(*o)[at-1].join(&(*o)[at])
			*o = slices.Delete(*o, at, at+1)
		}
	case precedes:
		s.join(&(*o)[at])
		(*o)[at] = s
	default:
		*o = slices.Insert(*o, at, s)
	}
}

// after is the first stretch that begins after a request.
func (o outages) after(number uint64) int {
	at, end := len(o), len(o)
	if end > 0 && o[end-1].first > number { // else it failed in its turn, as most do
		at = 0
	}
	for at < end {
		if middle := (at + end) / 2; o[middle].first <= number {
			at = middle + 1
		} else {
			end = middle
		}
	}
	return at
}

func (s *stretch) join(next *stretch) {
	s.last, s.end = next.last, next.end
	s.othersAccepted = s.othersAccepted || next.othersAccepted
}

// longest returns the time from the first to the last arrival of the longest stretch. What may be chance counts only where nobody
// could have answered any of its requests.
func (o outages) longest() engine.Time {
	var longest engine.Time
	for i := range o.unlikely() {
		longest = max(longest, o[i].end-o[i].begin)
	}
	return longest
}

// unlikely are those that are no mere chance.
func (o outages) unlikely() iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; at < len(o); {
			e := episodeOf(o[at:])
			for end := at + e.stretches; at < end; at++ {
				if s := &o[at]; (!s.othersAccepted || !e.chance(s.requests())) && !yield(at) {
					return
				}
			}
		}
	}
}

// requests is how many there are.
func (s *stretch) requests() uint64 { return s.last - s.first + 1 }

// LongestOutage returns the longest time in which no new request of a stream succeeded: from
// the arrival of the first to the arrival of the last of consecutive requests that all failed. Rows that may be chance where others
// were answered all the time count for nothing: see episode.chance.
func (l *Ledger) LongestOutage(stream int) engine.Time { return l.outages[stream].longest() }

// LongestWait returns the longest time in which no server took a request of a stream within a second of its arrival: they failed,
// or were answered after a wait. Rows that may be chance count for nothing here, either.
func (l *Ledger) LongestWait(stream int) engine.Time { return l.waits[stream].longest() }
