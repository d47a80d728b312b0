package traffic

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// One client asks each 100 ms and resolves at 0.1 s; its answers last for 30 s. From 1.05 s on DNS
// says something else.
func TestWhatClientsKeepOfDNS(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		before  []int // addresses
		after   []int
		retries int
		failed  uint64 // of those from 0.1 to 40.0 s
		fault   ledger.Fault
	}{
		{"the only address has gone: until the answer is too old, at 30.1 s", []int{0}, []int{1}, 0, 290, ledger.FaultNoListener},
		{"the next attempt goes to the next address", []int{0, 1}, []int{1}, 1, 0, 0},
		{"a name without an address is asked for each time", nil, []int{1}, 0, 10, ledger.FaultUnresolved},
	} {
		old, next := up(), up()
		next.id = 2
		w := &naming{fakeWorld: fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{old, next}}, says: c.before}
		tr, led := calls(t, Spec{Kind: Named, Clients: 1, Timeout: sec, RTT: ms, Retries: c.retries}, w)
		tr.RunUntil(1050 * ms)
		old.accepts, w.says = false, c.after
		tr.Stop(40050 * ms)
		tr.RunUntil(engine.Never)
		if all := led.All(); all.Total != 400 || all.Failed != c.failed || c.retries > 0 && all.Rescued == 0 {
			t.Errorf("%s: %+v", c.name, all)
		}
		if c.failed > 0 && w.judged[0] != c.fault {
			t.Errorf("%s: %v", c.name, w.judged[0])
		}
	}
}

// naming is a world with a DNS that says some of its servers.
type naming struct {
	fakeWorld
	says []int
}

func (w *naming) Resolve(int) (list []*Target, ttl engine.Time) {
	all := w.Enter(0, 0).Targets
	for _, i := range w.says {
		list = append(list, all[i])
	}
	return list, 30 * sec
}
