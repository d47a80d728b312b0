package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Requests come each 100 ms and take 1 ms and a round trip of 2 ms: the client is idle for 97 ms.
// A load balancer that forgets what was idle for less has a reset for each second one, which
// opens a connection again with the next; one that closes it has told the client a round trip
// before, unless the two cross.
func TestALoadBalancersIdleLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		limit      engine.Time
		forgets    bool
		ok, failed uint64
	}{
		{"longer than the pause: kept", 97 * ms, true, 10, 0},
		{"shorter, and it says nothing", 96 * ms, true, 5, 5},
		{"shorter, and it closes both sides", 95 * ms, false, 10, 0},
		{"it closes both sides while the request is on its way", 98 * ms, false, 5, 5},
	} {
		w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}
		tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: 2 * ms, IdleLimit: c.limit, IdleForgets: c.forgets}, w)
		tr.RunUntil(1050 * ms)
		if all := led.All(); all.OK != c.ok || all.Failed != c.failed {
			t.Errorf("%s: %+v", c.name, all)
		}
		for _, f := range w.judged {
			if want := map[bool]ledger.Fault{true: ledger.FaultForgotten, false: ledger.FaultIdleRace}[c.forgets]; f != want {
				t.Errorf("%s: fault %d, want %d", c.name, f, want)
			}
		}
	}
}

// The same of a connection that a client's calls share, which is asked each 100 ms.
func TestALoadBalancersIdleLimitOfSharedConnections(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{HTTP2, Session} {
		for _, c := range []struct {
			name       string
			limit      engine.Time
			forgets    bool
			ok, failed uint64
		}{
			{"kept", 100 * ms, true, 10, 0},
			{"forgotten", 99 * ms, true, 5, 5},
			{"closed", 99 * ms, false, 10, 0},
		} {
			w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}
			tr, led := calls(t, Spec{Clients: 1, Kind: kind, Timeout: sec, RTT: 2 * ms, IdleLimit: c.limit, IdleForgets: c.forgets}, w)
			tr.RunUntil(1050 * ms)
			if all := led.All(); all.OK != c.ok || all.Failed != c.failed {
				t.Errorf("%s, kind %d: %+v", c.name, kind, all)
			}
		}
	}
}

// A proxy's own connections are no business of a load balancer in front of it.
func TestTheIdleLimitEndsAtAProxy(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}
	tr, led := pool(t, Spec{Clients: 1, Timeout: sec, RTT: 2 * ms, IdleLimit: 10 * ms, IdleForgets: true, Proxy: &Proxy{RTT: ms}}, w)
	tr.RunUntil(1050 * ms)
	if all := led.All(); all.OK != 10 || all.Failed != 0 {
		t.Errorf("%+v", all)
	}
}
