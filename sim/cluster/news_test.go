package cluster

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
)

// busyProxies is 250 pods in three slices, of which one is deleted every 70 ms for ten seconds, and nodes
// whose proxies wait and sync most of that time.
func busyProxies(t *testing.T, burst int) *testWorld {
	t.Helper()
	b := newBuild(250).nodes(4)
	latency, err := engine.Uniform(5*ms, 300*ms)
	if err != nil {
		t.Fatal(err)
	}
	b.Latency.Watch, b.Latency.ProxySync = latency, engine.Constant(200*ms)
	w := b.start(t, 1)
	for _, p := range w.Proxies {
		p.Pace.Burst = burst
	}
	for i := range 140 {
		w.at(10*sec+engine.Time(i)*70*ms, func() { w.deletePod(w.owner, api.PodID(i)) })
	}
	return w
}

// What a proxy hears while it waits or syncs is no event of the run. Whoever looks at the proxy finds
// that it knows what had arrived by then, and whoever is told of everything is told when it arrives.
func TestNewsThatStartsNoSyncIsNoEvent(t *testing.T) {
	t.Parallel()
	for name, burst := range map[string]int{"from 1.34 on": 0, "up to 1.33": pace.EarlierBurst} {
		told := busyProxies(t, burst)
		heard, writes, knows := make([][]*nodeproxy.View, 4), []*nodeproxy.View(nil), make([]uint64, 4)
		var at [][]uint64 // what the proxies know, every 20 ms
		told.hears(func(e event.Event) {
			if _, write := e.Object.(*nodeproxy.SliceWrite); write && e.Kind == event.Wrote {
				writes = append(writes, e.View)
			}
			for n, p := range told.Proxies {
				if e.Kind == event.Delivered && e.Name == p.Name() {
					heard[n] = append(heard[n], e.View)
					knows[n] = e.View.Number
				}
			}
		})
		for now := 10 * sec; now < 25*sec; now += 20 * ms {
			told.run(now)
			at = append(at, slices.Clone(knows))
		}
		alone := busyProxies(t, burst)
		for i, now := 0, 10*sec; now < 25*sec; i, now = i+1, now+20*ms {
			alone.run(now)
			for n := range alone.Proxies {
				if got := alone.Heard(n, now); at[i][n] > 0 && got != at[i][n] {
					t.Fatalf("%s: at %s s node %d knows of View %d, want %d", name, now.Seconds(), n, got, at[i][n])
				}
			}
		}
		if a, b := told.eng.Hash().String(), alone.eng.Hash().String(); a != b || told.eng.Events() != alone.eng.Events() {
			t.Errorf("%s: %s after %d events with somebody who is told, %s after %d without", name, a, told.eng.Events(), b, alone.eng.Events())
		}
		if len(writes) < 50 {
			t.Errorf("%s: only %d writes", name, len(writes))
		}
		for n := range heard {
			if !slices.Equal(heard[n], writes) {
				t.Errorf("%s: node %d heard of %d writes, of %d, or not in order", name, n, len(heard[n]), len(writes))
			}
		}
		if left := alone.slices.Len(); left > 10 {
			t.Errorf("%s: %d writes are kept of which everybody has heard", name, left)
		}
	}
}

// A proxy that waits hears without an event; one with a bucket of tokens may have to sync at once.
func TestOnlyNewsThatMayStartASyncIsAnEvent(t *testing.T) {
	t.Parallel()
	events := func(burst int) uint64 {
		w := busyProxies(t, burst)
		w.run(25 * sec)
		return w.eng.Events()
	}
	writes := uint64(busyWrites(t))
	if waiting, bucket := events(0), events(pace.EarlierBurst); bucket < waiting+writes {
		t.Errorf("%d events where proxies only wait, %d where each piece of news may find a token, with %d writes for 4 nodes", waiting, bucket, writes)
	}
}

// busyWrites counts the writes of busyProxies.
func busyWrites(t *testing.T) int {
	t.Helper()
	w := busyProxies(t, 0)
	w.run(25 * sec)
	return int(w.views.Last.Number) - 1
}
