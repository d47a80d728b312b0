package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// drained has a server drain from 1.02 s on, which rules lead to until 1.5 s, and end at 2 s: each connection is closed with the next answer
// over it, also one that is opened meanwhile, so that nobody loses anything at the end.
func drained(t *testing.T, spec Spec, closes, drawAll bool) (ok, failed, cuts uint64) {
	t.Helper()
	w, old, next := two()
	eng := engine.New(1, engine.Limits{})
	led := ledger.New(1, 1000, eng.Hash())
	spec.Timeout, spec.RTT, spec.Interval, spec.Arrivals = engine.Second, ms, 100*ms, Constant
	tr := newKept(t, w, led, eng, []Spec{spec})
	if drawAll {
		tr.DrawAll()
	}
	at := 1020 * ms
	tr.RunUntil(at)
	if old.closes = closes; closes {
		tr.CloseAnswered(1, at)
	}
	tr.GoAway(1, at)
	at = 1500 * ms
	tr.RunUntil(at)
	w.servers, old.accepts = []*fakeServer{next}, false
	tr.Changed(at)
	at = 2020 * ms
	tr.RunUntil(at)
	tr.Cut(1, at, ledger.FaultExited)
	tr.CloseIdle(1, at, true)
	tr.Stop(2550 * ms)
	tr.RunUntil(2550 * ms)
	all := led.All()
	return all.OK, all.Failed, tr.Cuts(0)
}

// A server that answers with errors from 1.02 s on has answered what it had begun.
func TestAServerThatErrsFromNowOn(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]Spec{ // order: each for itself
		"HTTP/2":          {Kind: HTTP2, Clients: 1},
		"a pool":          {Kind: PerRequest, KeepAlive: true, Clients: 1},
		"new connections": {Kind: PerRequest},
	} {
		for _, drawAll := range []bool{false, true} {
			w, old, _ := two()
			eng := engine.New(1, engine.Limits{})
			led := ledger.New(1, 1000, eng.Hash())
			spec.Timeout, spec.RTT, spec.Interval, spec.Arrivals = engine.Second, ms, 100*ms, Constant
			tr := newKept(t, w, led, eng, []Spec{spec})
			if drawAll {
				tr.DrawAll()
			}
			tr.RunUntil(1020 * ms)
			tr.Errs(1, 1020*ms)
			old.errs = true
			tr.Stop(2020 * ms)
			tr.RunUntil(2500 * ms)
			if all := led.All(); all.OK == 0 || all.Failed != 10 || all.OK+all.Failed != all.Total {
				t.Errorf("%s, drawn %t: %d answered, %d failed of %d", name, drawAll, all.OK, all.Failed, all.Total)
			}
		}
	}
}

func TestADrainingServerClosesConnectionsWithTheirNextAnswer(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]Spec{ // order: each for itself
		"HTTP/2":   {Kind: HTTP2, Clients: 1},
		"HTTP/1.1": {Kind: PerRequest, KeepAlive: true, Clients: 1},
	} {
		for _, drawAll := range []bool{false, true} {
			if ok, failed, cuts := drained(t, spec, true, drawAll); ok != 25 || failed > 0 || cuts > 0 {
				t.Errorf("%s, drawn %t: %d answered, %d failed, %d connections cut", name, drawAll, ok, failed, cuts)
			}
			if _, failed, _ := drained(t, spec, false, drawAll); failed != 1 {
				t.Errorf("%s, drawn %t, with connections that stay: %d failed", name, drawAll, failed)
			}
		}
	}
}
