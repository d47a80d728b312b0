package cluster

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// synced is what a proxy's syncs were by the world's own account.
type synced struct {
	began, alone []engine.Time // of them, those for other Services alone
	heard        []engine.Time // news of the Scenario
}

// syncs follows the syncs of the first node from now on.
func (w *testWorld) syncs() *synced {
	out := &synced{}
	w.hears(func(e event.Event) {
		switch {
		case e.Kind == event.Delivered && e.Name == "proxy node-1":
			out.heard = append(out.heard, e.At)
		case e.Kind == event.SyncBegan && e.Node == 0:
			out.began = append(out.began, e.At)
			if e.Others {
				out.alone = append(out.alone, e.At)
			}
		default:
		}
	})
	return out
}

// oneByOne is when a proxy begins its syncs if everything is an event: changes of other Services and of the
// Scenario, each sync of the same length.
func oneByOne(p pace.Policy, changes []engine.Time, took engine.Time) []engine.Time {
	slices.Sort(changes)
	state := pace.State{Synced: true, LastEnd: -24 * time.Hour}
	var began []engine.Time
	end := engine.Never
	for {
		at, _, never := p.Next(state)
		due := max(engine.FromDuration(at), engine.FromDuration(state.Asked))
		switch {
		case len(changes) > 0 && changes[0] <= end && (end != engine.Never || never || changes[0] <= due):
			state.Change(changes[0].Duration())
			changes = changes[1:]
		case end != engine.Never:
			state.End(end.Duration(), true, false)
			end = engine.Never
		case never:
			return began
		default:
			state.Begin(p, due.Duration())
			began, end = append(began, due), due+took
		}
	}
}

// Syncs for other Services alone are no events, and they are those that events would have been.
func TestAProxySyncsForOtherServicesAsForItsOwn(t *testing.T) {
	t.Parallel()
	for _, minor := range []int{36, 33} {
		for seed := range uint64(20) {
			b := newBuild(8).hook("app", sleepHook(60*sec)).grace(90)
			b.version(minor).Churn = 700 + int(seed)*100
			b.Latency.ProxySync, b.Latency.Watch = engine.Constant(130*ms), engine.Constant(20*ms)
			w := b.start(t, seed)
			got := w.syncs()
			for i := range 6 {
				w.at(10*sec+engine.Time(i)*(engine.Time(i)*700*ms+90*ms), func() { w.deletePod(w.owner, api.PodID(i)) })
			}
			w.run(60 * sec)
			w.Proxies[0].CatchUp()
			w.run(61 * sec) // a sync that was under way is told of
			w.Proxies[0].CatchUp()
			changes := slices.Clone(got.heard)
			for k := 0; w.churn.Change(k) < 59*sec; k++ {
				changes = append(changes, w.churn.Change(k)+20*ms)
			}
			want := oneByOne(w.Proxies[0].Pace, changes, 130*ms)
			want = slices.DeleteFunc(want, func(at engine.Time) bool { return at >= 59*sec })
			have := slices.DeleteFunc(slices.Clone(got.began), func(at engine.Time) bool { return at >= 59*sec })
			if len(got.heard) < 8 || len(got.alone) < 10 || !slices.Equal(have, want) {
				t.Fatalf("1.%d, seed %d: %d pieces of news, %d syncs for others, syncs at\n%v, want\n%v", minor, seed, len(got.heard), len(got.alone), have, want)
			}
		}
	}
}

// A change of the Scenario's is not in force at once where a sync for another Service was shortly before. A
// proxy is at it, or holds, for a part x/(1+x) of the time, x = rate x T x exp(rate x T) with T the length of a
// sync and of the hold after it: after each such time comes another one, if a change came in it.
func TestASingleDeletionWaitsWhereOtherServicesChange(t *testing.T) {
	t.Parallel()
	const seeds = 400
	for _, rate := range []float64{0, 0.2, 2} {
		waited := 0
		for seed := range uint64(seeds) {
			b := newBuild(2)
			b.Churn = int(rate * 1000)
			b.Latency.ProxySync = engine.Constant(100 * ms)
			w := b.startOne(t, seed)
			got := w.syncs()
			w.at(30*sec, func() { w.deletePod(w.owner, 0) })
			w.run(40 * sec)
			for _, at := range got.began {
				if at >= 30*sec && !slices.Contains(got.alone, at) {
					if at > got.heard[0] {
						waited++
					}
					break
				}
			}
		}
		x := rate * 1.1 * math.Exp(rate*1.1)
		p := x / (1 + x)
		if off := math.Abs(float64(waited) - seeds*p); off > 4*math.Sqrt(seeds*p*(1-p)) {
			t.Errorf("%g changes a second: %d of %d wait, want %.0f", rate, waited, seeds, seeds*p)
		}
	}
}

// While the API server is away nothing of other Services is written, and a proxy that is paused, restarted or
// gone hears of nothing; then it syncs once for all it has missed.
func TestOtherServicesAndFaults(t *testing.T) {
	t.Parallel()
	between := func(s *synced, from, to engine.Time) (n int) {
		for _, at := range s.began {
			if at >= from && at < to {
				n++
			}
		}
		return n
	}
	start := func() *testWorld {
		b := newBuild(2)
		b.Churn = 20_000
		b.Nodes[0].Proxy.MinSyncPeriod = 0
		b.Latency.ProxySync = engine.Constant(10 * ms)
		return b.start(t, 1)
	}
	for name, fault := range map[string][2]func(*testWorld){ // order: each for itself
		"the API server is away": {func(w *testWorld) { w.setDown(true) }, func(w *testWorld) { w.setDown(false) }},
		"the proxy is paused": {
			func(w *testWorld) { w.component("kube-proxy/node-1", world.ComponentPause) },
			func(w *testWorld) { w.component("kube-proxy/node-1", world.ComponentResume) },
		},
	} {
		w := start()
		got := w.syncs()
		w.at(10*sec, func() { fault[0](w) })
		w.at(20*sec, func() { fault[1](w) })
		w.run(30 * sec)
		w.Proxies[0].CatchUp()
		if n := between(got, 10*sec, 20*sec); n != 0 {
			t.Errorf("%s: %d syncs meanwhile", name, n)
		}
		if before, after := between(got, 0, 10*sec), between(got, 20*sec, 30*sec); before < 100 || after < 100 {
			t.Errorf("%s: %d syncs before, %d afterwards", name, before, after)
		}
	}
	w := start()
	got := w.syncs()
	w.at(10*sec, func() { w.deletePod(w.owner, 0) })
	w.at(10*sec+5*ms, func() { w.setDown(true) }) // in the middle of the sync for it
	w.run(20 * sec)
	w.Proxies[0].CatchUp()
	if n := between(got, 10*sec+5*ms, 20*sec); n > 1 {
		t.Errorf("%d syncs while the API server is away", n)
	}
	w = start()
	got = w.syncs()
	w.at(10*sec, func() { w.Proxies[0].CatchUp(); w.die(0) })
	w.run(20 * sec)
	w.Proxies[0].CatchUp()
	if n := between(got, 10*sec, 20*sec); n != 0 {
		t.Errorf("%d syncs of a proxy that is gone", n)
	}
}

// The health of a proxy that other Services keep busy: a change that waits longer than twice syncPeriod makes it
// unhealthy (docs/model/kube-proxy.md 5.2), whoever's it is.
func TestAProxyThatDoesNotKeepUpWithOtherServicesIsUnhealthy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took     engine.Time
		ok, sure bool
	}{{30 * sec, true, false}, {29 * sec, true, true}, {80 * sec, false, false}} {
		b := newBuild(2)
		b.Churn, b.Nodes[0].Proxy.SyncPeriod = 5000, 30*sec
		b.Latency.ProxySync = engine.Constant(c.took)
		w := b.start(t, 1)
		w.run(95 * sec)
		if a := w.ProbeProxy(0); a.OK != c.ok || a.Sure != c.sure {
			t.Errorf("syncs of %s: %+v, want ok %v, sure %v", c.took.Duration(), a, c.ok, c.sure)
		}
	}
}

// Where a change waits because of another Service's, the log says so.
func TestTheJournalSaysForWhomTheLastSyncWas(t *testing.T) {
	t.Parallel()
	others := map[bool]int{}
	for seed := range uint64(30) {
		b := newBuild(3)
		b.Churn = 2000
		b.Latency.ProxySync = engine.Constant(100 * ms)
		w := b.start(t, seed)
		var j journal
		w.hears(j.Record, event.Stories()...)
		got := w.syncs()
		w.at(30*sec, func() { w.deletePod(w.owner, 0) })
		w.at(30*sec+300*ms, func() { w.deletePod(w.owner, 1) })
		w.run(40 * sec)
		for _, e := range j {
			if e.Kind != event.Wait {
				continue
			}
			last := -1
			for i, at := range got.began {
				if at < e.At {
					last = i
				}
			}
			if want := slices.Contains(got.alone, got.began[last]); e.Others != want {
				t.Errorf("seed %d, at %s s: for others %v, want %v", seed, e.At.Seconds(), e.Others, want)
			}
			others[e.Others]++
		}
	}
	if others[true] < 10 || others[false] < 10 {
		t.Errorf("waits for others, and not: %v", others)
	}
}

// journal keeps all that it hears.
type journal []event.Event

func (j *journal) Record(e event.Event) { *j = append(*j, e) }
