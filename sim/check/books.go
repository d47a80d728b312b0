package check

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Books are a second account of the requests of one run, beside the Ledger and kept in another
// way: two bits for each request that began. They hear what the Ledger is told, and notice the
// entry that cannot be true when it is made: an outcome too many or too few, a moment before
// the one it follows. They have one owner.
type Books struct {
	streams []account
	err     error // the first thing that was wrong
}

var _ ledger.Listener = (*Books)(nil)

// Promise is what the clients of one stream hold themselves to.
type Promise struct {
	Name     string
	Attempts int         // that a request makes at most
	Within   engine.Time // from a request's arrival to its outcome; 0 is no limit
}

// The states of a request, two bits each. What has not begun has no bits yet.
const (
	open uint64 = iota
	answered
	lost
)

const (
	perWord = 32                 // requests in a word of states
	lower   = 0x5555555555555555 // the lower bit of each
)

// account is what the books know of one stream.
type account struct {
	promise Promise
	states  []uint64
	begun   uint64
	last    engine.Time // arrival of the newest request
	running bool        // the newest request is under way, as it has been since it began
	waiting []arrived   // those that were not over when the next began, by number; some are over now
	ended   int         // as many of waiting are over, from the first on

	sums     ledger.Totals
	outcomes [ledger.NumOutcomes]uint64
}

// arrived is when a request did.
type arrived struct {
	number uint64
	at     engine.Time // over once that is so
}

const over = -1

// waits keeps when the newest request has arrived.
func (a *account) waits() {
	if n := len(a.waiting); n == cap(a.waiting) && a.ended > n/2 { // those that are over make room
		a.waiting, a.ended = a.waiting[:copy(a.waiting, a.waiting[a.ended:])], 0
	}
	a.waiting = append(a.waiting, arrived{number: a.begun - 1, at: a.last})
}

// ends returns when a request that waited has arrived, and forgets it.
func (a *account) ends(number uint64) (at engine.Time, known bool) {
	list := a.waiting[a.ended:]
	if len(list) > 0 && list[0].number == number { // the one that has waited longest is never over
		a.ended++
		at, list = list[0].at, list[1:]
		for len(list) > 0 && list[0].at == over {
			a.ended, list = a.ended+1, list[1:]
		}
		return at, true
	}
	i, known := 0, false
	if len(list) > 0 && number >= list[0].number { // mostly it is the one that has waited longest, or all that came after that wait
		i = int(min(number-list[0].number, uint64(len(list)-1)))
		known = list[i].number == number
	}
	if !known {
		i, known = slices.BinarySearchFunc(list, number, func(w arrived, n uint64) int { return cmp.Compare(w.number, n) })
	}
	if !known || list[i].at == over {
		return 0, false
	}
	at, list[i].at = list[i].at, over
	for a.ended < len(a.waiting) && a.waiting[a.ended].at == over {
		a.ended++
	}
	return at, true
}

// NewBooks returns the books of some streams.
func NewBooks(promises []Promise) *Books {
	b := &Books{}
	b.Open(promises)
	return b
}

// Open begins the books of some streams again, in the memory of those before.
func (b *Books) Open(promises []Promise) {
	old := b.streams
	*b = Books{streams: make([]account, len(promises))}
	for i, p := range promises {
		b.streams[i] = account{promise: p}
		if i < len(old) {
			b.streams[i].states, b.streams[i].waiting = old[i].states[:0], old[i].waiting[:0]
		}
	}
}

// Err returns the first entry that could not be true, nil if there was none.
func (b *Books) Err() error { return b.err }

// wrong keeps the first complaint.
func (b *Books) wrong(stream int, number uint64, format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("stream %s, request %d: %s", b.streams[stream].promise.Name, number, fmt.Sprintf(format, args...))
	}
}

func (a *account) state(number uint64) uint64 {
	return a.states[number/perWord] >> (2 * (number % perWord)) & 3
}

func (a *account) set(number, state uint64) {
	word, shift := &a.states[number/perWord], 2*(number%perWord)
	*word = *word&^(3<<shift) | state<<shift
}

// Begin hears that a request arrived.
func (b *Books) Begin(stream int, number uint64, arrival engine.Time) {
	a := &b.streams[stream]
	switch {
	case number != a.begun:
		b.wrong(stream, number, "began after request %d", a.begun)
		return
	case arrival < a.last:
		b.wrong(stream, number, "arrived at %s s, before the one before it, at %s s", arrival.Seconds(), a.last.Seconds())
	}
	if number%perWord == 0 {
		a.states = append(a.states, 0)
	}
	if a.running {
		a.waits()
	}
	a.begun, a.last, a.running = number+1, arrival, true
}

// Counted hears of requests that were answered at their first attempt. When each of them arrived
// is not said: those that arrived before them are over, or wait.
func (b *Books) Counted(stream int, first, n uint64) {
	a := &b.streams[stream]
	if first != a.begun {
		b.wrong(stream, first, "was counted after request %d", a.begun)
		return
	}
	if n == 0 {
		return
	}
	if a.running {
		a.waits()
	}
	a.begun, a.running = first+n, false
	for len(a.states) < int((a.begun+perWord-1)/perWord) {
		a.states = append(a.states, 0)
	}
	for number := first; number < a.begun; {
		in := min(perWord-number%perWord, a.begun-number) // requests of the same word
		bits := lower & (^uint64(0) >> (64 - 2*in))
		a.states[number/perWord] |= bits << (2 * (number % perWord))
		number += in
	}
	a.sums.OK += n
	a.outcomes[ledger.OK] += n
}

// AttemptFailed hears of a try that came to nothing.
func (b *Books) AttemptFailed(stream int) { b.streams[stream].sums.FailedAttempts++ }

// Succeed hears that a request was answered.
func (b *Books) Succeed(stream int, number, _ uint64, end engine.Time, rescued, late bool) {
	a := &b.streams[stream]
	// Nearly every request is answered before the next one begins: that is all they cost.
	if within := a.promise.Within; number+1 == a.begun && a.running && end >= a.last && (within == 0 || end <= a.last+within) {
		a.states[number/perWord] |= answered << (2 * (number % perWord))
		a.running = false
	} else if !b.over(stream, number, end, answered) {
		return
	}
	a.sums.OK++
	a.outcomes[ledger.OK]++
	if rescued {
		a.sums.Rescued++
	}
	if late {
		a.sums.Slow++
	}
}

// over ends a request, if it may end then.
func (b *Books) over(stream int, number uint64, end engine.Time, state uint64) bool {
	a := &b.streams[stream]
	if number >= a.begun {
		b.wrong(stream, number, "ended and had not begun")
		return false
	}
	if was := a.state(number); was != open {
		b.wrong(stream, number, "%s, and it had been %s already", stateName(state), stateName(was))
		return false
	}
	a.set(number, state)
	arrival := a.last
	if number+1 == a.begun && a.running {
		a.running = false
	} else {
		known := false
		if arrival, known = a.ends(number); !known {
			return true // revoked: its arrival is not kept
		}
	}
	if end < arrival {
		b.wrong(stream, number, "over at %s s, before it arrived, at %s s", end.Seconds(), arrival.Seconds())
	}
	if within := a.promise.Within; within > 0 && end > arrival+within {
		b.wrong(stream, number, "over at %s s, more than %s s after it arrived, at %s s", end.Seconds(), within.Seconds(), arrival.Seconds())
	}
	return true
}

// Revoke hears that an answer did not come after all.
func (b *Books) Revoke(stream int, number uint64, rescued, late bool) {
	a := &b.streams[stream]
	if number >= a.begun || a.state(number) != answered {
		b.wrong(stream, number, "its answer was revoked, and it had none")
		return
	}
	a.set(number, open)
	a.sums.OK--
	a.outcomes[ledger.OK]--
	if rescued {
		a.sums.Rescued--
	}
	if late {
		a.sums.Slow--
	}
}

// Fail hears that a request failed for good.
func (b *Books) Fail(r *ledger.Request) {
	if !b.over(r.Stream, r.Number, r.End, lost) {
		return
	}
	a := &b.streams[r.Stream]
	a.sums.Failed++
	a.outcomes[r.Outcome]++
	switch {
	case r.End < r.Arrival:
		b.wrong(r.Stream, r.Number, "failed at %s s, before it arrived, at %s s", r.End.Seconds(), r.Arrival.Seconds())
	case r.Outcome == ledger.OK || r.Blame.Cause == ledger.NoCause:
		b.wrong(r.Stream, r.Number, "failed with outcome %s and cause %q", r.Outcome, r.Blame.Cause)
	case r.Attempts > a.promise.Attempts:
		b.wrong(r.Stream, r.Number, "failed after %d attempts, %d are allowed", r.Attempts, a.promise.Attempts)
	}
}

// Close compares with the Ledger of the same requests when the run is over, and returns the
// first thing that was wrong in all of it.
func (b *Books) Close(led *ledger.Ledger) error {
	for i := range b.streams {
		b.closeStream(i, led)
	}
	var failed ledger.Totals
	for _, g := range led.Groups() {
		failed.Failed += g.Count
	}
	var rescued uint64
	for _, n := range led.Rescued() { // order: a sum
		rescued += n
	}
	all := led.All()
	switch {
	case b.err != nil:
	case failed.Failed != all.Failed:
		b.err = fmt.Errorf("%d requests failed, the groups hold %d", all.Failed, failed.Failed)
	case rescued != all.Rescued:
		b.err = fmt.Errorf("%d requests were rescued, %d by what they escaped", all.Rescued, rescued)
	case uint64(led.Kept()) > all.Failed:
		b.err = fmt.Errorf("%d failed requests are kept, %d failed", led.Kept(), all.Failed)
	}
	return b.err
}

func (b *Books) closeStream(i int, led *ledger.Ledger) {
	a := &b.streams[i]
	a.sums.Total, a.sums.Attempts = a.begun, a.sums.OK+a.sums.FailedAttempts // each answer is one good attempt
	for w, word := range a.states {
		if (word|word>>1)&lower == lower {
			continue // all of them are over
		}
		first := uint64(w) * perWord
		for n := first; n < min(a.begun, first+perWord); n++ {
			if a.state(n) == open {
				b.wrong(i, n, "never ended")
			}
		}
	}
	have, s := led.Totals(i), a.sums
	var complaint string
	switch {
	case b.err != nil:
		return
	case have != s:
		complaint = fmt.Sprintf("the ledger says %+v, the books say %+v", have, s)
	case led.Outcomes(i) != a.outcomes:
		complaint = fmt.Sprintf("the ledger's outcomes are %v, the books' %v", led.Outcomes(i), a.outcomes)
	case s.OK+s.Failed != s.Total || a.count(answered) != s.OK || a.count(lost) != s.Failed:
		complaint = fmt.Sprintf("%d ok and %d failed of %d", s.OK, s.Failed, s.Total)
	case s.FailedAttempts < s.Failed || s.Attempts > s.Total*uint64(a.promise.Attempts):
		complaint = fmt.Sprintf("%d attempts, %d failed, for %d requests of at most %d", s.Attempts, s.FailedAttempts, s.Total, a.promise.Attempts)
	case s.Rescued > s.OK || s.Slow > s.OK || s.Rescued > s.FailedAttempts-s.Failed:
		complaint = fmt.Sprintf("%d rescued and %d slow of %d ok", s.Rescued, s.Slow, s.OK)
	default:
		return
	}
	b.err = fmt.Errorf("stream %s: %s", a.promise.Name, complaint)
}

// count counts the requests in a state.
func (a *account) count(state uint64) (n uint64) {
	for _, w := range a.states {
		switch state {
		case answered:
			n += uint64(bits.OnesCount64(w & lower))
		case lost:
			n += uint64(bits.OnesCount64(w >> 1 & lower))
		}
	}
	return n
}

func stateName(s uint64) string {
	switch s {
	case answered:
		return "answered"
	case lost:
		return "lost"
	default:
		return "under way"
	}
}
