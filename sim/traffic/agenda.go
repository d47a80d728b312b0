package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// agenda is what is pending, first of all the next. Nearly everything is put down for one of a few
// spans from now (a retransmission, a timeout), so that there are a few lanes in order of time, and
// only what fits into none of them needs a heap.
type agenda struct {
	lanes [6]lane
	rest  heap[pending]
	count int
	first int // the lane whose head is the next of all; len(lanes) for the rest
}

// lane is a queue in order of time.
type lane struct {
	list []pending
	head int
}

func (l *lane) empty() bool { return l.head == len(l.list) }

// add appends what does not come before the lane's last, ok false for anything else.
func (l *lane) add(p pending) (ok bool) {
	switch n := len(l.list); {
	case l.head == n:
		l.list, l.head = l.list[:0], 0
	case l.list[n-1].at > p.at:
		return false
	case l.head > n/2 && n == cap(l.list): // what is done makes room
		l.list, l.head = l.list[:copy(l.list, l.list[l.head:])], 0
	}
	l.list = append(l.list, p)
	return true
}

// empty returns the memory of an agenda without what is pending.
func (a *agenda) empty() (out agenda) {
	for i := range a.lanes {
		out.lanes[i].list = emptied(a.lanes[i].list)
	}
	out.rest = emptied(a.rest)
	return out
}

// next is when what is next is due, Never when nothing is pending.
func (a *agenda) next() engine.Time {
	if a.count == 0 {
		return engine.Never
	}
	return a.head(a.first).at
}

// after says whether all that is pending comes after a step that was put down with a seq.
func (a *agenda) after(at engine.Time, seq uint64) bool {
	if a.count == 0 {
		return true
	}
	p := a.head(a.first)
	return p.at > at || p.at == at && p.seq >= seq
}

// head is the next of a lane that is not empty, or of the rest.
func (a *agenda) head(lane int) *pending {
	if lane == len(a.lanes) {
		return &a.rest[0]
	}
	l := &a.lanes[lane]
	return &l.list[l.head]
}

// push puts something down. Of two at the same moment the one with the lower seq is next.
func (a *agenda) push(p pending) {
	at := 0
	for at < len(a.lanes) && !a.lanes[at].add(p) {
		at++
	}
	if at == len(a.lanes) {
		a.rest.push(p)
	}
	if a.count == 0 || p.Before(*a.head(a.first)) {
		a.first = at
	}
	a.count++
}

// pop takes what is next.
func (a *agenda) pop() pending {
	p := *a.head(a.first)
	if a.first == len(a.lanes) {
		a.rest.pop()
	} else {
		a.lanes[a.first].head++
	}
	a.count--
	var next *pending
	for i := range a.lanes {
		if l := &a.lanes[i]; !l.empty() && (next == nil || l.list[l.head].Before(*next)) {
			next, a.first = &l.list[l.head], i
		}
	}
	if len(a.rest) > 0 && (next == nil || a.rest[0].Before(*next)) {
		a.first = len(a.lanes)
	}
	return p
}
