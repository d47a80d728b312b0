package pace

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// syncs returns when a proxy begins its syncs, each of which takes so long, if changes come at these
// times; nothing fails.
func syncs(p Policy, changes []time.Duration, took time.Duration) []time.Duration {
	state := State{Synced: true, LastEnd: -time.Hour, LastFull: -time.Hour}
	var began []time.Duration
	end := time.Duration(-1) // of the sync under way
	for {
		at, _, never := p.Next(state)
		switch {
		case len(changes) > 0 && (end < 0 || changes[0] < end) && (end >= 0 || never || changes[0] < at):
			state.Change(changes[0])
			changes = changes[1:]
		case end >= 0:
			state.End(end, false, false)
			end = -1
		case never:
			return began
		default:
			now := max(at, state.Asked)
			state.Begin(p, now)
			began, end = append(began, now), now+took
		}
	}
}

// Reference: docs/model/kube-proxy.md 6, both runners. The changes are those of a pod that is
// replaced: the new one becomes ready, the old one is taken out 100 ms later; each sync takes 50
// ms.
func TestWhatTheRunnersMakeOfTwoChangesInARow(t *testing.T) {
	t.Parallel()
	hold, bucket := Policy{MinInterval: s}, Policy{MinInterval: s, Burst: EarlierBurst}
	for _, c := range []struct {
		name    string
		policy  Policy
		changes []time.Duration
		want    []time.Duration
	}{
		{"from 1.34 on the second waits until a second after the first sync's end", hold, []time.Duration{10 * s, 10*s + 100*ms}, []time.Duration{10 * s, 11*s + 50*ms}},
		{"up to 1.33 it finds the second token", bucket, []time.Duration{10 * s, 10*s + 100*ms}, []time.Duration{10 * s, 10*s + 100*ms}},
		{"what comes during a sync asks at its end", bucket, []time.Duration{10 * s, 10*s + 20*ms}, []time.Duration{10 * s, 10*s + 50*ms}},
		{"a third in a row waits until a second after the last end", bucket, []time.Duration{10 * s, 10*s + 100*ms, 10*s + 200*ms}, []time.Duration{10 * s, 10*s + 100*ms, 11*s + 150*ms}},
		{"unless a later change finds the token that has come back", bucket, []time.Duration{10 * s, 10*s + 100*ms, 10*s + 200*ms, 11 * s}, []time.Duration{10 * s, 10*s + 100*ms, 11 * s}},
		{"one that comes a moment before does not", bucket, []time.Duration{10 * s, 10*s + 100*ms, 11*s - 1}, []time.Duration{10 * s, 10*s + 100*ms, 11*s + 150*ms}},
		{"tokens come back one after the other", bucket, []time.Duration{10 * s, 10*s + 100*ms, 11*s + 500*ms, 11*s + 600*ms}, []time.Duration{10 * s, 10*s + 100*ms, 11*s + 500*ms, 12*s + 550*ms}},
		{"after two seconds both are back", bucket, []time.Duration{10 * s, 10*s + 100*ms, 12*s + 100*ms, 12*s + 200*ms}, []time.Duration{10 * s, 10*s + 100*ms, 12*s + 100*ms, 12*s + 200*ms}},
		{"without a minimum interval there are always some", Policy{Burst: EarlierBurst}, []time.Duration{10 * s, 10*s + 60*ms, 10*s + 120*ms}, []time.Duration{10 * s, 10*s + 60*ms, 10*s + 120*ms}},
	} {
		if got := syncs(c.policy, c.changes, 50*ms); !slices.Equal(got, c.want) {
			t.Errorf("%s: syncs at %v, want %v", c.name, got, c.want)
		}
	}
}

// earlier is the runner of kube-proxy 1.33 in other words: a limiter that counts what it has in time, up to
// two intervals, and a timer that asks it again an interval after the last sync's end.
func earlier(interval time.Duration, changes []time.Duration, took time.Duration) []time.Duration {
	var began []time.Duration
	credit, counted := 2*interval, time.Duration(0)
	lastEnd, timer := -time.Hour, time.Duration(-1)
	for len(changes) > 0 || timer >= 0 {
		var now time.Duration
		if timer >= 0 && (len(changes) == 0 || timer <= changes[0]) {
			now = timer
		} else {
			now, changes = changes[0], changes[1:]
		}
		now = max(now, lastEnd) // nobody listens while a sync runs
		for len(changes) > 0 && changes[0] <= now {
			changes = changes[1:] // one request waits, whatever it stands for
		}
		credit, counted = min(2*interval, credit+now-counted), now
		if credit < interval {
			timer = max(now, lastEnd+interval)
			continue
		}
		credit, timer = credit-interval, -1
		began, lastEnd = append(began, now), now+took
	}
	return began
}

// Two descriptions of the earlier runner agree on everything that may come.
func TestTheTokenBucketIsThatOfTheEarlierRunner(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		interval, took := time.Duration(1+draw.IntN(20))*100*ms, time.Duration(1+draw.IntN(300))*ms
		var changes []time.Duration
		at := 10 * s
		for range 1 + draw.IntN(30) {
			at += time.Duration(1 + draw.Int64N(int64(interval)))
			changes = append(changes, at)
		}
		got := syncs(Policy{MinInterval: interval, Burst: EarlierBurst}, changes, took)
		if want := earlier(interval, changes, took); !slices.Equal(got, want) {
			t.Fatalf("interval %v, syncs of %v, changes at %v: syncs at %v, want %v", interval, took, changes, got, want)
		}
	}
}

func TestTheTransitionsOfAState(t *testing.T) {
	t.Parallel()
	p := Policy{MinInterval: s, Burst: EarlierBurst}
	var state State
	state.Change(10 * s)
	if want := (State{Pending: true, Asked: 10 * s}); state != want {
		t.Errorf("a change: %+v, want %+v", state, want)
	}
	state.Begin(p, 11*s)
	if want := (State{Asked: 10 * s, Full: 12 * s, began: 11 * s}); state != want {
		t.Errorf("a sync begins: %+v, want %+v", state, want)
	}
	state.End(11*s+300*ms, true, false)
	if want := (State{Synced: true, LastEnd: 11*s + 300*ms, LastFull: 11*s + 300*ms, Took: 300 * ms, Asked: 10 * s, Full: 12 * s, began: 11 * s}); state != want {
		t.Errorf("it ends: %+v, want %+v", state, want)
	}
	state.Rest(11*s + 400*ms)
	if state.LastEnd != 11*s+400*ms || state.Took != 300*ms {
		t.Errorf("what follows it ends: %+v", state)
	}
	for n := 1; n <= 2; n++ {
		state.Begin(p, 11*s+500*ms)
		state.End(11*s+600*ms, true, true)
		if !state.Failed || state.Failures != n || state.LastFull != 11*s+300*ms {
			t.Errorf("it fails: %+v", state)
		}
	}
	if state.Full != 14*s {
		t.Errorf("three tokens are taken: the bucket is full at %v, want 14 s", state.Full)
	}
	state.Begin(p, 20*s)
	state.End(20*s+100*ms, false, false)
	if state.Failed || state.Failures != 0 || state.Full != 21*s {
		t.Errorf("it does not fail any more: %+v", state)
	}
}

// A failed sync is retried after the retry interval by both runners, unless a change comes before: then the
// earlier one does it at once if there is a token (RetryAfter of 1.33.0, retryInterval of 1.34.0; verified).
func TestAChangeAfterAFailureWithTheTokenBucket(t *testing.T) {
	t.Parallel()
	p := Policy{MinInterval: s, RetryInterval: 30 * s, Burst: EarlierBurst}
	state := State{Synced: true, LastEnd: -time.Hour, Pending: true, Asked: 10 * s}
	state.Begin(p, 10*s)
	state.End(10*s+100*ms, false, true)
	if at, full, never := p.Next(state); at != 40*s+100*ms || !full || never {
		t.Errorf("retried at %v, full %v, never %v", at, full, never)
	}
	state.Change(10*s + 200*ms)
	if at, full, never := p.Next(state); at != 10*s+200*ms || !full || never {
		t.Errorf("with a change at %v, full %v, never %v", at, full, never)
	}
}
