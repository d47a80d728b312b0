package control

import (
	"testing"
)

// Events are written one after the other, 25 of an object and then one each five minutes, and each
// one takes a token of the controller's client. Reference: client-go tools/record.
func TestEventsTakeTokensOfTheirController(t *testing.T) {
	t.Parallel()
	w := newDesk(t, 0)
	limit := NewClient()
	r := newRecorder(&w.Desk, w.eng.Register("controller"), "test", &limit)
	written := func() uint64 { return r.count - uint64(min(r.waiting, 1)) }
	w.at(10*sec, func() {
		for range 40 {
			r.record(1)
		}
		r.record(2)
	})
	w.run(10*sec + 95*ms)
	if got := written(); got != 9 || r.waiting != 17 {
		t.Errorf("%d Events in 95 ms and %d that wait, want 9 of 10 ms each and 17", got, r.waiting)
	}
	w.run(12 * sec)
	// Of 30 tokens 26 are taken, and those of 1.74 s have come since the last Event was written.
	if got := written(); got != 26 || r.waiting != 0 || limit.Take(w.eng.Now()) != w.eng.Now() {
		t.Errorf("%d Events and %d that wait, want 26 and none", got, r.waiting)
	}
	w.at(309*sec, func() { r.record(1) })
	w.run(309500 * ms)
	if got := written(); got != 26 {
		t.Errorf("%d Events, want no further one before five minutes have passed", got)
	}
	w.at(311*sec, func() { r.record(1); r.record(1) })
	w.run(312 * sec)
	if got := written(); got != 27 {
		t.Errorf("%d Events, want one more after five minutes", got)
	}
	w.at(320*sec, func() {
		for range 30 {
			limit.Take(w.eng.Now())
		}
		r.record(3)
	})
	w.run(320*sec + 55*ms)
	if got := written(); got != 27 {
		t.Errorf("%d Events: the burst is used up, and the next token comes 50 ms later", got)
	}
	w.run(321 * sec)
	if got := written(); got != 28 {
		t.Errorf("%d Events", got)
	}
}
