package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// A SYN at 1 s to an address where nothing is. The round trip takes 1 ms.
func TestWhatAnAddressAnswersWhereNothingIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		spec    Spec
		outcome ledger.Outcome
		end     engine.Time
	}{
		{"silence: the client's timeout", Spec{}, ledger.Timeout, 6 * sec},
		{"ICMP unreachable at once: after a round trip", Spec{Unreachable: true}, ledger.Unreachable, sec + ms},
		{"after 3 s: the SYN was repeated twice", Spec{Unreachable: true, UnreachableAfter: 3 * sec}, ledger.Unreachable, 4*sec + ms},
		{"after 3 s, and the client connects for 2 s", Spec{Unreachable: true, UnreachableAfter: 3 * sec, ConnectTimeout: 2 * sec}, ledger.Timeout, 3 * sec},
		{"a load balancer lets no ICMP through", Spec{Unreachable: true, ICMPFiltered: true}, ledger.Timeout, 6 * sec},
		{"a question over UDP takes no notice of it", Spec{Unreachable: true, Kind: Datagram}, ledger.Timeout, 6 * sec},
	} {
		c.spec.Timeout, c.spec.RTT = 5*sec, ms
		tr, led := one(t, c.spec, &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 1}}})
		tr.RunUntil(engine.Never)
		if r := last(t, led); r.Outcome != c.outcome || r.End != c.end {
			t.Errorf("%s: %s at %s s, want %s at %s s", c.name, r.Outcome, r.End.Seconds(), c.outcome, c.end.Seconds())
		}
	}
}

// The 3 s count from the first SYN that came there: what the rules drop at 1 and 2 s leads, at 4 s, to
// an address where nothing is.
func TestUnreachableCountsFromTheFirstQuestionForTheAddress(t *testing.T) {
	t.Parallel()
	w := &fakeWorld{verdict: packet.Drop, servers: []*fakeServer{{id: 1}}}
	tr, led := one(t, Spec{Timeout: 20 * sec, RTT: ms, Unreachable: true, UnreachableAfter: 3 * sec}, w)
	tr.RunUntil(3 * sec)
	w.verdict = packet.Endpoints
	tr.RunUntil(engine.Never)
	if r := last(t, led); r.Outcome != ledger.Unreachable || r.End != 7*sec+ms {
		t.Errorf("%s at %s s", r.Outcome, r.End.Seconds())
	}
}

// A proxy is inside the cluster: what a load balancer in front of it filters is no matter to it, and
// it asks another pod at once.
func TestAProxyHearsOfAnAddressWhereNothingIs(t *testing.T) {
	t.Parallel()
	w := newServedWorld()
	w.silence(true)
	tr, led := one(t, Spec{Timeout: 6 * sec, RTT: ms, Unreachable: true, ICMPFiltered: true, Proxy: &Proxy{Served: true, RTT: ms, Retries: 1}}, w)
	tr.RunUntil(20 * sec)
	if r := last(t, led); r.Outcome != ledger.HTTP5xx || r.End != sec+3*ms || led.All().Attempts != 2 {
		t.Errorf("%+v %+v", r, led.All())
	}
}

// A dial of gRPC that meets silence lasts for 20 s, whatever becomes of the calls; where somebody
// answers for the address it is over at once, and the next one, a second after its beginning, finds
// the new pod.
func TestADialHearsOfAnAddressWhereNothingIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		spec Spec
		up   engine.Time // the dial begins at 0.1 s
	}{
		{"silence", Spec{}, 20100 * ms},
		{"a connect timeout of 5 s", Spec{ConnectTimeout: 5 * sec}, 5100 * ms},
		{"at once", Spec{Unreachable: true}, 1100 * ms},
		{"after 3 s", Spec{Unreachable: true, UnreachableAfter: 3 * sec}, 3101 * ms},
	} {
		w := &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{{id: 2}}}
		c.spec.Clients, c.spec.Timeout, c.spec.RTT = 1, 10*sec, ms
		tr, _ := calls(t, c.spec, w)
		tr.RunUntil(500 * ms)
		w.servers = []*fakeServer{up()}
		tr.RunUntil(c.up)
		l := tr.streams[0].links[0]
		before := l.state
		if tr.RunUntil(c.up + 1); before == linkUp || l.state != linkUp {
			t.Errorf("%s: state %d before %s s, %d after", c.name, before, c.up.Seconds(), l.state)
		}
	}
}
