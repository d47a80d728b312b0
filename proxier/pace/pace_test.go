package pace

import (
	"math/rand/v2"
	"testing"
	"time"
)

const s = time.Second

// Reference: kube-proxy 1.36 runner semantics: at once when idle, minSyncPeriod after the
// previous sync ended under churn, syncPeriod after a failure, a full sync each hour.
func TestNext(t *testing.T) {
	t.Parallel()
	p := Policy{MinInterval: s, RetryInterval: 30 * s, FullInterval: 3600 * s}
	for _, c := range []struct {
		name   string
		policy Policy
		state  State
		at     time.Duration
		full   bool
		never  bool
	}{
		{"nothing to do before the first change", p, State{}, 0, true, true},
		{"the first sync is full and at once", p, State{Pending: true}, 0, true, false},
		{"a change after a long pause: the earliest time has passed", p, State{Synced: true, LastEnd: 10 * s, LastFull: 10 * s, Pending: true}, 11 * s, false, false},
		{"a change just after a sync waits for the minimum interval after its end", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s, Pending: true}, 101 * s, false, false},
		{"a failure is retried in full", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s, Failed: true}, 130 * s, true, false},
		{"a change does not wait for the retry", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s, Failed: true, Pending: true}, 101 * s, true, false},
		{"idle: the next full sync", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s}, 3610 * s, true, false},
		{"a change when a full sync is due makes it full", p, State{Synced: true, LastEnd: 3700 * s, LastFull: 10 * s, Pending: true}, 3701 * s, true, false},
		{"idle without full syncs", Policy{MinInterval: s}, State{Synced: true, LastEnd: 100 * s}, 0, false, true},
		{"no minimum interval: at once", Policy{}, State{Synced: true, LastEnd: 100 * s, Pending: true}, 100 * s, false, false},
	} {
		at, full, never := c.policy.Next(c.state)
		if never != c.never || !never && (at != c.at || full != c.full) {
			t.Errorf("%s: %v full %v never %v, want %v full %v never %v", c.name, at, full, never, c.at, c.full, c.never)
		}
	}
}

// Reference: kube-proxy 1.36 pkg/proxy/apis/config/v1alpha1/defaults.go, both modes.
func TestDefault(t *testing.T) {
	t.Parallel()
	if want := (Policy{MinInterval: s, RetryInterval: 30 * s, FullInterval: 3600 * s}); Default() != want {
		t.Errorf("got %+v, want %+v", Default(), want)
	}
}

// Until 1.33 kube-proxy has a bucket of tokens, and does not hold minSyncPeriod after every sync.
func TestTheBurstOfAVersion(t *testing.T) {
	t.Parallel()
	if hold, earlier := BurstOf(true), BurstOf(false); hold != 0 || earlier != 2 {
		t.Errorf("a burst of %d and of %d, want 0 and 2", hold, earlier)
	}
}

// TestBackOffAndChecks is what goes beyond kube-proxy.
func TestBackOffAndChecks(t *testing.T) {
	t.Parallel()
	p := Policy{MinInterval: s, RetryInterval: 30 * s, FullInterval: 3600 * s, FirstRetry: 2 * s, CheckInterval: 60 * s}
	failed := func(n int, pending bool) State {
		return State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s, Failed: true, Failures: n, Pending: pending}
	}
	slow := p
	slow.MinInterval = 10 * s
	for _, c := range []struct {
		name   string
		policy Policy
		state  State
		at     time.Duration
		full   bool
	}{
		{"the first retry", p, failed(1, false), 102 * s, true},
		{"failures that nobody counted are one", p, failed(0, false), 102 * s, true},
		{"the second waits twice as long", p, failed(2, false), 104 * s, true},
		{"the fourth, eight times", p, failed(4, false), 116 * s, true},
		{"none waits longer than the retry interval", p, failed(5, false), 130 * s, true},
		{"however many there were", p, failed(1<<40, false), 130 * s, true},
		{"a change waits no longer than the first retry does", p, failed(9, true), 102 * s, true},
		{"nor does any overtake the minimum interval", slow, failed(1, true), 110 * s, true},
		{"idle: a look at the rules", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s}, 160 * s, false},
		{"a full sync that comes before", p, State{Synced: true, LastEnd: 3600 * s, LastFull: 10 * s}, 3610 * s, true},
		{"a look at the moment of a full sync is the full sync", p, State{Synced: true, LastEnd: 3550 * s, LastFull: 10 * s}, 3610 * s, true},
		{"after one that took long, a look at fifty times that", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s, Took: 2 * s}, 200 * s, false},
		{"one that took a second is no reason to wait", p, State{Synced: true, LastEnd: 100 * s, LastFull: 10 * s, Took: s}, 160 * s, false},
		{"a full sync does not wait for it", p, State{Synced: true, LastEnd: 3500 * s, LastFull: 10 * s, Took: 5 * s}, 3610 * s, true},
		{"no more often than syncs", Policy{MinInterval: 9 * s, CheckInterval: s}, State{Synced: true, LastEnd: 100 * s}, 109 * s, false},
	} {
		at, full, never := c.policy.Next(c.state)
		if never || at != c.at || full != c.full {
			t.Errorf("%s: %v full %v never %v, want %v full %v", c.name, at, full, never, c.at, c.full)
		}
	}
}

func TestLameduck(t *testing.T) {
	t.Parallel()
	want := Policy{MinInterval: s, RetryInterval: 30 * s, FullInterval: 3600 * s, FirstRetry: s, CheckInterval: 30 * s}
	if Lameduck() != want {
		t.Errorf("got %+v, want %+v", Lameduck(), want)
	}
}

// due says in other words whether a proxy that is idle may sync at a moment, and whether it has to write everything.
func due(p Policy, x State, now time.Duration) (yes, full bool) {
	full = !x.Synced || x.Failed || p.FullInterval > 0 && now >= x.LastFull+p.FullInterval
	rested := now >= x.LastEnd+p.MinInterval
	switch {
	case !x.Synced:
		return x.Pending, full
	case x.Pending && p.Burst > 0:
		asked := max(x.Asked, x.LastEnd)
		taken := (x.Full - asked + p.MinInterval - 1) / max(p.MinInterval, 1) // tokens that have not come back when it asks
		token := int(max(taken, 0)) < p.Burst
		back := x.Full-time.Duration(p.Burst-1)*p.MinInterval <= now
		yes = now >= asked && (token || rested && back)
	case x.Pending:
		yes = rested
	case x.Failed:
		return rested && now >= x.LastEnd+waits(p, x.Failures), full
	default:
		look := p.CheckInterval > 0 && now >= x.LastEnd+max(p.CheckInterval, 50*x.Took)
		return rested && (look || p.FullInterval > 0 && full), full
	}
	return yes && (!x.Failed || now >= x.LastEnd+p.FirstRetry), full
}

// waits says in other words how long a proxy waits after so many failures.
func waits(p Policy, failures int) time.Duration {
	if p.FirstRetry == 0 {
		return p.RetryInterval
	}
	wait := p.FirstRetry
	for range failures - 1 {
		wait = min(2*wait, max(p.RetryInterval, p.FirstRetry))
	}
	return min(wait, p.RetryInterval)
}

// The next sync is at the first moment at which it is due, tried one by one.
func TestNextIsTheFirstMomentAtWhichASyncIsDue(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(3, 4))
	upTo := func(n int64) time.Duration { return time.Duration(draw.Int64N(n + 1)) }
	or0 := func(d time.Duration) time.Duration { return d * time.Duration(draw.Int64N(2)) }
	const horizon = 400
	for range 30_000 {
		p := Policy{
			MinInterval: upTo(6), Burst: draw.IntN(2) * EarlierBurst, RetryInterval: upTo(12), FullInterval: or0(upTo(30)),
			FirstRetry: or0(upTo(4)), CheckInterval: or0(upTo(20)),
		}
		x := State{
			Synced: draw.IntN(20) > 0, LastEnd: 50 + upTo(10), LastFull: 30 + upTo(30), Failed: draw.IntN(3) == 0, Pending: draw.IntN(2) == 0,
			Took: or0(upTo(1)), Asked: 45 + upTo(20), Full: 45 + upTo(20),
		}
		x.LastFull = min(x.LastFull, x.LastEnd)
		if p.MinInterval == 0 { // then tokens are back at once
			x.Full = min(x.Full, x.LastEnd)
		}
		if x.Failed {
			x.Failures = 1 + draw.IntN(5)
		}
		at, full, never := p.Next(x)
		from := time.Duration(0)
		if x.Synced {
			from = x.LastEnd
		}
		want, wantFull, wantNever := time.Duration(0), false, true
		for now := from; now < horizon && wantNever; now++ {
			if yes, all := due(p, x, now); yes {
				want, wantFull, wantNever = now, all, false
			}
		}
		if never != wantNever || !never && (at != want || full != wantFull) {
			t.Fatalf("%+v\n%+v\nat %d full %v never %v, want %d %v %v", p, x, at, full, never, want, wantFull, wantNever)
		}
	}
}
