package record

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// lostNumbers are failed requests of stream 0 with these numbers, one each 10 ms.
func lostNumbers(cause ledger.Cause, numbers ...uint64) []ledger.Request {
	var out []ledger.Request
	for _, n := range numbers {
		out = append(out, ledger.Request{
			Number: n, Arrival: engine.Time(n) * 10 * engine.Millisecond, Outcome: ledger.Timeout, Blame: ledger.Blame{Cause: cause}, Node: 1,
		})
	}
	return out
}

// between are the numbers from one to before another, each step of them.
func between(from, to, step uint64) (out []uint64) {
	for n := from; n < to; n += step {
		out = append(out, n)
	}
	return out
}

// pairedRun is a run of 1,000 requests of which these failed.
func pairedRun(failed []ledger.Request) *Run {
	n := uint64(len(failed))
	r := &Run{Seed: 1, Settled: true, Streams: []Stream{{
		Totals:   ledger.Totals{Total: 1000, OK: 1000 - n, Failed: n},
		Outcomes: [ledger.NumOutcomes]uint64{ledger.OK: 1000 - n, ledger.Timeout: n}, LostSeconds: engine.Time(n) * 10 * engine.Millisecond,
		LongestOutage: ledger.LongestOutage(failed, func(*ledger.Request) bool { return true }),
	}}}
	r.group(failed)
	return r
}

func pairUp(failed, before []ledger.Request) *Run {
	r := pairedRun(failed)
	r.Pair(pairedRun(before), nil, failed, before)
	return r
}

// One node of four never answers, and the action makes everything fail for two seconds.
func TestWhatFailsWithoutTheActionIsNotItsLoss(t *testing.T) {
	t.Parallel()
	dead := between(0, 1000, 4)
	failed := lostNumbers(ledger.NoLocalEndpoint, dead...)
	for n := uint64(400); n < 600; n++ {
		if n%4 != 0 {
			failed = append(failed, lostNumbers(ledger.StaleLB, n)...)
		}
	}
	r := pairUp(failed, lostNumbers(ledger.NoLocalEndpoint, dead...))
	s := r.Streams[0]
	if s.Failed != 150 || s.Before != 250 || s.OK != 600 || s.OK+s.Failed+s.Before != s.Total || s.LostSeconds != 1500*engine.Millisecond {
		t.Errorf("%+v", s)
	}
	if s.Outcomes[ledger.OK] != 600 || s.Outcomes[ledger.Timeout] != 150 {
		t.Errorf("outcomes %v", s.Outcomes)
	}
	if len(r.Groups) != 1 || r.Groups[0].Blame.Cause != ledger.StaleLB || r.Groups[0].Count != 150 || r.Groups[0].Example.Number != 401 {
		t.Errorf("groups %+v", r.Groups)
	}
	// 401 to 599: from the first to the last request that the action is to blame for.
	if want := 1980 * engine.Millisecond; s.LongestOutage != want {
		t.Errorf("nothing answered for %s, want %s", s.LongestOutage.Seconds(), want.Seconds())
	}
	if len(r.Without) != 1 || r.Without[0].Failed != 250 || len(r.WithoutGroups) != 1 {
		t.Errorf("without: %+v", r.Without)
	}
}

func TestWhatNeverAnswersIsNoOutageOfTheAction(t *testing.T) {
	t.Parallel()
	all := between(0, 1000, 1)
	r := pairUp(lostNumbers(ledger.ListenerClosed, all...), lostNumbers(ledger.NoEndpoint, all...))
	if s := r.Streams[0]; s.Failed != 0 || s.LostSeconds != 0 || s.LongestOutage != 0 || s.Before != 1000 || len(r.Groups) != 0 {
		t.Errorf("%+v, %+v", s, r.Groups)
	}
}

// A time in which clients wait is the action's where there is none without it.
func TestAWaitThatIsThereAnywayIsNotTheActions(t *testing.T) {
	t.Parallel()
	for _, anyway := range []engine.Time{0, engine.Second} {
		r, without := pairedRun(nil), pairedRun(nil)
		r.Streams[0].LongestWait, without.Streams[0].LongestWait = 5*engine.Second, anyway
		r.Pair(without, nil, nil, nil)
		if got := r.Streams[0].LongestWait; (got == 5*engine.Second) != (anyway == 0) {
			t.Errorf("%s s without the action: %s s", anyway.Seconds(), got.Seconds())
		}
	}
}

// A client that meets another pod after the action fails as often as before, for other requests.
func TestAsManyOtherFailuresAreChance(t *testing.T) {
	t.Parallel()
	odd, even := between(1, 1000, 4), between(0, 1000, 4)
	if s := pairUp(lostNumbers(ledger.AppError, odd...), lostNumbers(ledger.AppError, even...)).Streams[0]; s.Failed != 0 || s.Before != 250 {
		t.Errorf("as many: %+v", s)
	}
	// One that fails without the action alone is enough for four with it alone to be chance: 3 x sqrt(2 x 1) is more than 3.
	if s := pairUp(lostNumbers(ledger.AppError, 1, 2, 3, 4), lostNumbers(ledger.AppError, 5)).Streams[0]; s.Failed != 0 {
		t.Errorf("four for one: %+v", s)
	}
	if s := pairUp(lostNumbers(ledger.AppError, 1, 2, 3, 4), nil).Streams[0]; s.Failed != 4 {
		t.Errorf("four for none: %+v", s)
	}
	// 60 more: less than three standard deviations, 3 x sqrt(2 x 250) = 67.
	failed := append(lostNumbers(ledger.AppError, odd...), lostNumbers(ledger.AppError, between(2, 242, 4)...)...)
	if s := pairUp(failed, lostNumbers(ledger.AppError, even...)).Streams[0]; s.Failed != 0 {
		t.Errorf("60 more: %+v", s)
	}
	failed = append(lostNumbers(ledger.AppError, odd...), lostNumbers(ledger.AppError, between(2, 322, 4)...)...)
	if s := pairUp(failed, lostNumbers(ledger.AppError, even...)).Streams[0]; s.Failed != 80 || s.Before != 250 {
		t.Errorf("80 more: %+v", s)
	}
	// What fails for a reason that nothing fails for without the action is the action's, be it little.
	failed = append(lostNumbers(ledger.AppError, odd...), lostNumbers(ledger.StaleRules, 2, 6, 10)...)
	r := pairUp(failed, lostNumbers(ledger.AppError, even...))
	if s := r.Streams[0]; s.Failed != 3 || s.Before != 250 || len(r.Groups) != 1 || r.Groups[0].Blame.Cause != ledger.StaleRules {
		t.Errorf("3 of another cause: %+v, %+v", s, r.Groups)
	}
}

// A client whose node has no pod any more is not helped by another node that has one now. That is not said of a node that is asked only with the
// action: it joins, or an ingress controller's pod has moved there, and it may stand for one that did not answer either.
func TestANodeThatComesAlightDoesNotMakeUpForAnother(t *testing.T) {
	t.Parallel()
	nodes := []world.Node{{Name: "a"}, {Name: "b"}, {Name: "c", Joins: true}}
	at := func(node int, ingress string, numbers ...uint64) []ledger.Request {
		list := lostNumbers(ledger.NoLocalEndpoint, numbers...)
		for i := range list {
			list[i].Node, list[i].Ingress = node, ingress
		}
		return list
	}
	even, odd, early := between(0, 1000, 2), between(401, 1000, 2), between(0, 400, 2)
	for name, c := range map[string]struct {
		failed []ledger.Request
		want   uint64
	}{
		"another node":      {append(at(0, "", early...), at(1, "", odd...)...), 300},
		"the same node":     {append(at(0, "", early...), at(0, "", odd...)...), 0},
		"a node that joins": {append(at(0, "", early...), at(2, "", odd...)...), 0},
		"by an ingress":     {append(at(0, "", early...), at(1, "proxy", odd...)...), 0},
		"a node unknown":    {append(at(0, "", early...), at(7, "", odd...)...), 300},
	} {
		before := at(0, "", even...)
		r := pairedRun(c.failed)
		r.Pair(pairedRun(before), nodes, c.failed, before)
		if s := r.Streams[0]; s.Failed != c.want || s.Before != 500-c.want {
			t.Errorf("%s: %+v", name, s)
		}
		if rest := Anyway(1, nodes, c.failed, before); uint64(len(rest)) != 500-c.want {
			t.Errorf("%s: %d fail anyway", name, len(rest))
		}
	}
}

// A world is calm in which, without the action, no client had a request that failed, was slow or had to be repeated, and none a connection that was
// cut: one such thing is enough. Nothing is known of it where the run without the action was not done.
func TestACalmWorldIsOneInWhichNothingHappensToAnybody(t *testing.T) {
	t.Parallel()
	well := Stream{Totals: ledger.Totals{Total: 1000, OK: 1000}}
	for name, c := range map[string]struct {
		happens func(*Stream)
		calm    bool
	}{
		"nothing":             {func(*Stream) {}, true},
		"a failure":           {func(s *Stream) { s.Failed = 1 }, false},
		"a slow answer":       {func(s *Stream) { s.Slow = 1 }, false},
		"a second attempt":    {func(s *Stream) { s.Rescued = 1 }, false},
		"a connection is cut": {func(s *Stream) { s.Cuts = 1 }, false},
	} {
		for client := range 2 {
			r := Run{Without: []Stream{well, well}}
			if c.happens(&r.Without[client]); r.Calm() != c.calm {
				t.Errorf("%s to client %d: calm is %v", name, client, !c.calm)
			}
		}
	}
	if (&Run{}).Calm() {
		t.Error("a run that was not done is calm")
	}
}
