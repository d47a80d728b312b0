package ledger

import (
	"cmp"
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

// longest returns the time from the first to the last arrival of the longest stretch. What may be chance counts only where nobody
// could have answered any of its requests.
func (o outages) longest() engine.Time {
	sorted, order := slices.Clone(o), func(a, b stretch) int { return cmp.Compare(a.first, b.first) }
	slices.SortFunc(sorted, order)
	whole := sorted[:0]
	for _, s := range sorted {
		if n := len(whole); n > 0 && whole[n-1].last+1 == s.first {
			whole[n-1].join(s)
		} else {
			whole = append(whole, s)
		}
	}
	var longest engine.Time
	for i := range whole.unlikely() {
		longest = max(longest, whole[i].end-whole[i].begin)
	}
	return longest
}

// unlikely are those of stretches in order, none of which follows another at once, that are no mere chance.
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
