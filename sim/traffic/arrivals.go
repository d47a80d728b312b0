package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// Requests arrive in slots, so that they can be counted without looking at each. A slot is
// slotMean mean intervals long. How many requests come in it is one draw from the Poisson
// distribution, and when each of them comes is a draw of its own, uniform over the slot: that is a
// Poisson process, whose gaps are exponential. The moments in a slot are drawn only when one of
// its requests is looked at.
//
//	slot 0        slot 1        slot 2
//	|..x.xx..x.x.|x...x.......x|  7: only their number  |

// arrivals is the process of one stream. Requests are numbered in their order.
type arrivals struct {
	process  Arrivals
	interval engine.Time
	draws    engine.Stream
	count    uint64      // requests that have arrived: the number of the next one
	next     engine.Time // when that arrives, Never for none
	slot     uint64      // that next is in
	at       int         // of next, in times
	times    []engine.Time
	room     [mostInSlot]engine.Time // for times
}

// begin finds the first arrival.
func (p *arrivals) begin() {
	switch {
	case p.interval <= 0 || p.process == ClosedLoop:
		p.next = engine.Never
	case p.process == Constant:
		p.next = p.interval
	default:
		p.open(0)
	}
}

// pass goes on to the arrival after the next.
func (p *arrivals) pass() {
	p.count++
	if p.process == Constant {
		p.next = p.next.Add(p.interval)
		return
	}
	if p.at++; p.at < len(p.times) {
		p.next = p.times[p.at]
		return
	}
	p.open(p.slot + 1)
}

// upcoming are the next arrivals before a moment, at most those of one slot; there is one at least. They are
// overwritten when the arrivals go on.
func (p *arrivals) upcoming(limit engine.Time) []engine.Time {
	if p.process == Constant {
		n := 0
		for at := p.next; at < limit && n < mostInSlot; at = at.Add(p.interval) {
			p.room[n] = at
			n++
		}
		return p.room[:n]
	}
	n := len(p.times)
	for p.times[n-1] >= limit {
		n--
	}
	return p.times[p.at:n]
}

// passed passes the first n of those that upcoming has returned.
func (p *arrivals) passed(n int) {
	p.count += uint64(n)
	if p.process == Constant {
		p.next = p.next.Add(engine.Time(n) * p.interval)
		return
	}
	if p.at += n; p.at < len(p.times) {
		p.next = p.times[p.at]
		return
	}
	p.open(p.slot + 1)
}

// passUntil passes all arrivals before a moment and returns how many there were.
func (p *arrivals) passUntil(limit engine.Time) uint64 {
	if p.next >= limit {
		return 0
	}
	from := p.count
	if p.process == Constant {
		n := uint64((limit - p.next + p.interval - 1) / p.interval)
		p.count += n
		p.next = p.next.Add(engine.Time(n) * p.interval)
		return n
	}
	if last := uint64(limit / p.length()); p.slot < last {
		p.count += uint64(len(p.times) - p.at)
		for p.slot++; p.slot < last; p.slot++ {
			p.count += uint64(p.number(p.slot))
		}
		p.open(last)
	}
	for p.next < limit {
		p.pass()
	}
	return p.count - from
}

// length is that of a slot.
func (p *arrivals) length() engine.Time { return slotMean * p.interval }

// slotDraws is how many draws a slot has: the number of its requests, and a moment for each.
const slotDraws = 64

// number is how many requests come in a slot.
func (p *arrivals) number(slot uint64) int {
	draw := p.draws.Draw(slot * slotDraws)
	n := int(poissonFrom[draw>>60])
	for n < mostInSlot && poissonTable[n] <= draw {
		n++
	}
	return n
}

// open draws the moments of the first slot from one on that has any, in order.
func (p *arrivals) open(slot uint64) {
	n := p.number(slot)
	for n == 0 {
		slot++
		n = p.number(slot)
	}
	length := p.length()
	begin := engine.Time(slot) * length
	list := p.room[:n]
	for i := range list {
		list[i] = begin + engine.Time(engine.Below(p.draws.Draw(slot*slotDraws+1+uint64(i)), int(length)))
	}
	sortFew(list)
	p.slot, p.times, p.at, p.next = slot, list, 0, list[0]
}

// sortFew sorts a few moments. It puts two at a time in among those before, and without branches: of moments in random
// order a processor guesses half of them wrong.
func sortFew(list []engine.Time) {
	for i := len(list) % 2; i+1 < len(list); i += 2 {
		a, b := min(list[i], list[i+1]), max(list[i], list[i+1])
		sorted := list[:i]
		for k, other := range sorted {
			sorted[k] = min(other, a)
			a = max(other, a)
			a, b = min(a, b), max(a, b)
		}
		list[i], list[i+1] = a, b
	}
}
