package traffic

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Behind a load balancer that is late, thousands of requests send their SYNs to where nothing answers,
// again and again, until their clients give up. What is kept of such a request is one entry of a list in
// the order of the first SYNs. The second SYNs have the same order, so have the third ones and so has the
// giving up: a place in the list for each of these steps says whose turn it is. As long as nobody says
// that connections may go elsewhere, a SYN that is sent again changes nothing but that place. As soon as
// something is different the request is followed as any other, from that moment on and with the same draws.
//
// Where SYNs go to an address at which nothing is, not even who is to blame changes meanwhile. These repeats are
// passed over: the places are ahead of time, and are taken back to the moment at which connections may go elsewhere.
//
//	list:   a b c d e f g h <- the next arrival whose SYN has no answer
//	        |     |   |
//	        |     |   whose second SYN is next
//	        |     whose third SYN is next
//	        who gives up next

// unheard is a request at its first attempt, whose SYNs have met no answer: over a connection of its own, or over one that a
// provider's proxy opens for it. It holds no pointers, as plain: there are many of them.
type unheard struct {
	number, flow uint64
	sent         engine.Time // the first SYN, at its arrival
	seq          uint64      // of its next step, among what is pending
	news         uint64      // of the stream, when it was last looked where the SYNs go
	target       int32       // in silence.targets
	member, node int32
	drawn        uint16
	fault        ledger.Fault
	blame        ledger.Blame
	followed     bool // it is no longer kept here
}

// manySYNs is how often a SYN is sent at most, and the giving up.
const manySYNs = 8 + MostLinearSYNs

// silence are the requests of a stream that are unheard.
type silence struct {
	list    []unheard             // in order of the first SYN
	targets []*Target             // that they went to; nil where the rules, or the load balancer, have none
	after   [manySYNs]engine.Time // by step: when it is due, from the first SYN; step 0 is that
	turns   [manySYNs]turn        // by step
	last    int                   // the step that is the giving up, 0 where requests are not kept like that
	due     int                   // steps before that for which it is somebody's turn
	passed  bool                  // some turns are ahead of time
}

// turn is whose turn a step is.
type turn struct {
	at  int         // the first in the list that has still to do it; it may have to do others before
	due engine.Time // when that one does it, Never while it is not its next step
	seq uint64      // of it
}

// newSilence returns the steps of a stream whose requests may be unheard.
func newSilence(s *stream) silence {
	spec := &s.spec
	own := spec.Proxy == nil && !spec.KeepAlive
	if !own && !s.proxied || spec.Kind != PerRequest || spec.Arrivals == ClosedLoop {
		return silence{}
	}
	one := attempt{req: request{stream: s}, proxy: s.first()}
	limit, q := one.connectLimit(), silence{last: 1}
	for ; spec.retransmission(q.last) < limit; q.last++ {
		q.after[q.last] = spec.retransmission(q.last)
	}
	q.after[q.last] = limit
	for step := range q.turns {
		q.turns[step].due = engine.Never
	}
	return q
}

// nobodyTells has streams whose World does not say when connections go elsewhere look for themselves.
func (t *Traffic) nobodyTells() {
	for _, s := range t.streams {
		if !s.tells {
			s.news++
		}
	}
}

// under says how many requests are unheard, at most.
func (q *silence) under() int { return len(q.list) - q.turns[q.last].at }

// keepsQuiet keeps a request whose first SYN has met no answer, ok false if it is to be followed.
func (t *Traffic) keepsQuiet(a *attempt, fault ledger.Fault) (ok bool) {
	s := a.req.stream
	q := &s.silence
	if t.drawAll || q.last == 0 || a.tries > 1 || a.req.attempts > 1 || a.req.proxied > 0 {
		return false
	}
	t.keepUnheard(s, unheard{
		number: a.req.number, flow: a.flow, sent: a.sent, seq: t.nextSeq(), news: s.news, target: q.known(a.target), member: int32(a.member), node: int32(a.node),
		drawn: uint16(a.req.drawn), fault: fault, blame: a.blame,
	})
	return true
}

// keepUnheard keeps a request.
func (t *Traffic) keepUnheard(s *stream, u unheard) {
	q := &s.silence
	q.makeRoom()
	q.list = append(q.list, u)
	if q.turns[1].due == engine.Never && !q.passBy(s) {
		s.call(1)
		t.quietNext = quiet{}
	}
}

// passBy has all steps before the giving up pass over the newest request, as call would, where that is all there is to do: others
// give up before it, and it is nobody's turn yet. ok is false where more is to be found out.
func (q *silence) passBy(s *stream) (ok bool) {
	if newest := &q.list[len(q.list)-1]; !newest.rests(s) {
		return false
	}
	if q.due > 0 || q.turns[q.last].due == engine.Never {
		return false
	}
	for step := 1; step < q.last; step++ {
		q.turns[step].at = len(q.list)
	}
	q.passed = true
	return true
}

// countSilent keeps the next request of a stream if it goes past the nodes to where nothing is: see start, connect,
// reach and repeat. It may be ahead of what others do.
func (t *Traffic) countSilent(s *stream) (ok bool) {
	f, flow := s.nowhere()
	if f == nil || s.proxied && t.idleOf(s.first(), f.Member, s.next) != nil {
		return false
	}
	clock := t.clock
	t.clock = s.next
	blame := t.world.Judge(Leg{s.index, NoProxy}, f.Member, f.Node, f.Target.Addr, ledger.FaultNoAnswer)
	t.clock = clock
	t.led.Begin(s.index, s.count, s.next)
	t.keepUnheard(s, unheard{
		number: s.count, flow: flow, sent: s.next, seq: uint64(s.next) << seqBits, news: s.news, target: s.silence.known(f.Target), member: int32(f.Member), node: int32(f.Node),
		drawn: 1, fault: ledger.FaultNoAnswer, blame: blame,
	})
	return true
}

// nowhere is where the next request of a stream goes, past the nodes, if nothing is there, with its first draw; nil where that is not
// so, or not known.
func (s *stream) nowhere() (f *Hop, flow uint64) {
	if s.silence.last == 0 || len(s.sure.hops) == 0 || s.spec.Arrivals != Poisson || s.spec.Unreachable {
		return nil, 0
	}
	flow = s.requests.Sub(s.count).Draw(1)
	f = &s.sure.hops[engine.Below(flow, len(s.sure.hops))]
	if f.Target == nil || f.Target.Server != nil && f.Target.Server.Answers() {
		return nil, 0
	}
	return f, flow
}

// known returns the number of a target: there are few of them, and mostly it is the last one.
func (q *silence) known(target *Target) int32 {
	for i := len(q.targets) - 1; i >= 0; i-- {
		if q.targets[i] == target {
			return int32(i)
		}
	}
	q.targets = append(q.targets, target)
	return int32(len(q.targets) - 1)
}

// makeRoom forgets those that have given up, when the list is about to grow.
func (q *silence) makeRoom() {
	done := q.turns[q.last].at
	if n := len(q.list); n < cap(q.list) || done <= n/4 {
		return
	}
	q.list = q.list[:copy(q.list, q.list[done:])]
	for step := 1; step <= q.last; step++ {
		q.turns[step].at -= done
	}
}

// rests says whether nothing comes of a request's SYNs until the world says that connections may go elsewhere. Where
// requests come at regular intervals SYNs of many of them are sent at one moment, in an order that only those who follow
// each know; drawn moments do not coincide.
func (u *unheard) rests(s *stream) bool {
	return u.fault == ledger.FaultNoAnswer && u.news == s.news && s.tells && s.spec.Arrivals == Poisson
}

// call finds whose turn a step is, and the steps after it that wait for that.
func (s *stream) call(step int) {
	q := &s.silence
	for q.turn(s, step); step < q.last && q.turns[step+1].due == engine.Never; step++ {
		q.turn(s, step+1)
	}
}

// turn finds whose turn one step is.
func (q *silence) turn(s *stream, step int) {
	t, end := &q.turns[step], len(q.list)
	if step > 1 {
		end = q.turns[step-1].at
	}
	was := t.due
	for t.due = engine.Never; t.at < end; t.at++ {
		u := &q.list[t.at]
		if u.followed {
			continue
		}
		if step == q.last || !u.rests(s) {
			t.due, t.seq = u.sent+q.after[step], u.seqOf(u.sent+q.after[step-1])
			break
		}
		q.passed = true
	}
	switch {
	case step == q.last || (was == engine.Never) == (t.due == engine.Never):
	case was == engine.Never:
		q.due++
	default:
		q.due--
	}
}

// seqOf is the seq of a step that was put down at a moment: where the step before was passed over, it is what
// nextSeq would have made of it then.
func (u *unheard) seqOf(put engine.Time) uint64 {
	if u.seq>>seqBits >= uint64(put) {
		return u.seq
	}
	return uint64(put)<<seqBits | u.seq&(1<<seqBits-1)
}

// news notes that connections of a stream may go elsewhere from now on: SYNs that were passed over and would be sent
// from now on have to be looked at.
func (t *Traffic) news(s *stream, now engine.Time) {
	s.news++
	q := &s.silence
	if !q.passed {
		return
	}
	q.passed = false
	done := q.turns[q.last].at
	for step := 1; step < q.last; step++ {
		first, _ := slices.BinarySearchFunc(q.list[done:], now-q.after[step], func(u unheard, at engine.Time) int { return cmp.Compare(u.sent, at) })
		q.turns[step].at = min(q.turns[step].at, done+first)
	}
	for step := 1; step <= q.last; step++ {
		q.turn(s, step)
	}
	t.quietNext = quiet{}
}

// whole makes of an unheard request what would have been made of it if it had been followed.
func (u *unheard) whole(s *stream, tries int) attempt {
	return attempt{
		req:    request{stream: s, number: u.number, arrival: u.sent, draws: s.requests.Sub(u.number), drawn: uint32(u.drawn), attempts: 1},
		member: int(u.member), flow: u.flow, node: int(u.node), began: u.sent, sent: u.sent, target: s.silence.targets[u.target], tries: int32(tries), blame: u.blame,
		proxy: s.first(),
	}
}

// quiet is the next step of all requests that are unheard.
type quiet struct {
	stream *stream // nil: it is to be found out
	step   int     // 0: there is none
	at     engine.Time
	seq    uint64
}

// nextQuiet finds it.
func (t *Traffic) nextQuiet() *quiet {
	next := &t.quietNext
	if next.stream != nil {
		return next
	}
	*next = quiet{at: engine.Never}
	if len(t.streams) > 0 { // else nobody asks
		next.stream = t.streams[0]
	}
	for _, s := range t.streams {
		q := &s.silence
		step := 1
		if q.due == 0 {
			step = max(1, q.last)
		}
		for ; step <= q.last; step++ {
			if w := &q.turns[step]; w.due < next.at || w.due == next.at && w.seq < next.seq && w.due != engine.Never {
				*next = quiet{s, step, w.due, w.seq}
			}
		}
	}
	return next
}

// stayQuiet takes the steps of unheard requests that come before a moment and before what is pending, and not after
// the moment at which a request that waits for a connection goes on. ok is true when something else may have
// changed by that.
func (t *Traffic) stayQuiet(before, wakes engine.Time) (ok bool, next engine.Time) {
	for {
		q := t.nextQuiet()
		if q.at >= before || q.at > wakes || !t.pending.after(q.at, q.seq) {
			return false, q.at
		}
		t.clock = q.at
		this := *q
		*q = quiet{}
		if t.quietStep(&this) {
			return true, this.at
		}
	}
}

// quietStep takes one step, ok true when something else may have changed by that.
func (t *Traffic) quietStep(q *quiet) (ok bool) {
	s := q.stream
	list := &s.silence
	u := &list.list[list.turns[q.step].at]
	list.turns[q.step].at++
	if q.step == list.last {
		s.call(q.step)
		a := u.whole(s, q.step)
		t.finish(&a, q.at, u.fault, u.blame, nil)
		return s.spec.Retries > 0 || s.proxied && s.spec.Proxy.Retries > 0
	}
	if u.news != s.news && !t.stillSilent(s, u) {
		u.followed = true
		s.call(q.step)
		a := u.whole(s, q.step)
		t.settleProxied(s, q.at)
		t.connect(&a, q.at, s.first().opens(s))
		return true
	}
	if u.fault != ledger.FaultNoAnswer { // see repeat
		u.blame = t.world.Judge(Leg{s.index, NoProxy}, int(u.member), int(u.node), list.targets[u.target].addr(), u.fault)
	}
	u.news, u.seq = s.news, t.nextSeq()
	s.call(q.step)
	return false
}

// stillSilent says whether a SYN that is sent again goes where the last one went, and has no answer
// there for the same reason: see aim and reach.
func (t *Traffic) stillSilent(s *stream, u *unheard) bool {
	f, target := t.world.FirstHop(Leg{s.index, NoProxy}, u.flow, int(u.member)), s.silence.targets[u.target]
	switch {
	case f.Member != int(u.member) || f.Node != int(u.node) || f.Target != nil && f.Target != target:
		return false
	case f.Member < 0:
		return f.Fault == u.fault
	case t.through(f.Node):
		return u.fault == ledger.FaultNodeDead
	case target != nil:
		return u.fault == ledger.FaultNoAnswer && (target.Server == nil || !target.Server.Answers())
	}
	way := t.world.Enter(s.index, f.Node)
	if way.Verdict == packet.Endpoints {
		return false
	}
	t.world.Began(s.index, f.Node, 0, nil)
	return s.noWay(way) == u.fault
}
