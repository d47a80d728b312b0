package ledger

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// stretch is consecutive requests of a stream that all failed.
type stretch struct {
	first, last    uint64 // request numbers
	begin, end     engine.Time
	othersAccepted bool // for at least one of them another pod would have answered
}

// outages are the stretches of one stream. Requests are numbered in order of arrival, and
// mostly fail in that order: a long outage is one stretch or a few, whatever its length.
type outages []stretch

func (o *outages) add(number uint64, arrival engine.Time, elsewhere bool) {
	s := stretch{first: number, last: number, begin: arrival, end: arrival, othersAccepted: elsewhere}
	if n := len(*o); n > 0 && (*o)[n-1].last+1 == number {
		(*o)[n-1].join(s)
		return
	}
	*o = append(*o, s)
}

func (s *stretch) join(next stretch) {
	s.last, s.end = next.last, next.end
	s.othersAccepted = s.othersAccepted || next.othersAccepted
}

// byChance is how many requests in a row may fail although some could have succeeded.
const byChance = 10

// longest returns the time from the first to the last arrival of the longest stretch. Fewer
// than byChance failures in a row count only where nobody could have answered any of them.
func (o outages) longest() engine.Time {
	sorted, order := o, func(a, b stretch) int { return cmp.Compare(a.first, b.first) }
	if !slices.IsSortedFunc(o, order) {
		sorted = slices.Clone(o)
		slices.SortFunc(sorted, order)
	}
	var longest engine.Time
	for i := 0; i < len(sorted); {
		s := sorted[i]
		for i++; i < len(sorted) && sorted[i].first == s.last+1; i++ {
			s.join(sorted[i])
		}
		if s.last-s.first+1 >= byChance || !s.othersAccepted {
			longest = max(longest, s.end-s.begin)
		}
	}
	return longest
}

// LongestOutage returns the longest time in which no new request of a stream succeeded: from
// the arrival of the first to the arrival of the last of consecutive requests that all failed.
func (l *Ledger) LongestOutage(stream int) engine.Time { return l.outages[stream].longest() }
