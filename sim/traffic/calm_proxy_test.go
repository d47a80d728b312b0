package traffic

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// members is a world whose load balancer sends to pods, past all nodes, or to nodes, each with all pods.
type members struct {
	telling
	nodes bool
	hops  []Hop
}

func (w *members) FirstHops(int) []Hop { return w.hops }

func (w *members) FirstHop(_ Leg, flow uint64, last int) Hop {
	if last >= 0 { // the proxy's kernel repeats a SYN to one address
		return w.hop(last)
	}
	return w.hops[engine.Below(flow, len(w.hops))]
}

// hop is that of a pod, or of the node with its number.
func (w *members) hop(i int) Hop {
	if w.nodes {
		return Hop{Member: i, Node: i}
	}
	return Hop{Member: i, Node: -1, Target: w.Enter(0, 0).Targets[i]}
}

// sendsTo has new connections go to some members.
func (w *members) sendsTo(list ...int) {
	w.hops = nil
	for _, i := range list {
		w.hops = append(w.hops, w.hop(i))
	}
}

// proxiedRun is a stream through a provider's proxy to three pods. One closes its idle connections at 10 s, the proxy cuts a third of all at 15, 16
// and 17 s. Another pod ends at 20 s and nothing answers for it any more, the proxy leaves it at 26 s and sends to it again at 31 s, when it
// answers; from 36 s to 37 s a node is gone.
func proxiedRun(t *testing.T, spec Spec, nodes, drawn bool) (account string, calm []bool, heard listens) {
	t.Helper()
	eng := engine.New(1, engine.Limits{})
	led := ledger.New(1, 10000, eng.Hash())
	led.Listen(&heard)
	w := &members{telling: telling{fakeWorld: &fakeWorld{verdict: packet.Endpoints}}, nodes: nodes}
	for i := range 3 {
		w.servers = append(w.servers, &fakeServer{id: uint64(i), accepts: true, answers: true, takes: engine.Time(20+10*i) * ms, idle: 3 * sec})
	}
	w.sendsTo(0, 1, 2)
	tr := newKept(t, w, led, eng, []Spec{spec})
	if drawn {
		tr.DrawAll()
	}
	var until []engine.Time
	at := func(now engine.Time) {
		tr.RunUntil(now)
		calm = append(calm, tr.streams[0].calm.on)
		for i := range w.servers {
			until = append(until, tr.Until(uint64(i), now))
		}
	}
	at(5 * sec)
	at(10 * sec)
	tr.CloseIdle(0, 10*sec, false)
	at(15 * sec)
	for k := range uint64(3) {
		now := engine.Time(15+k) * sec
		tr.RunUntil(now)
		tr.CutVia(Leg{0, NoProxy}, now, func(flow uint64, _ int) bool { return flow%3 == k })
	}
	at(20 * sec)
	w.servers[1].accepts, w.servers[1].answers = false, false
	tr.Changed(20 * sec)
	tr.Cut(1, 20*sec, ledger.FaultKilled)
	tr.CloseIdle(1, 20*sec, true)
	tr.RunUntil(26 * sec)
	w.sendsTo(0, 2)
	tr.Redirected(0, 26*sec)
	at(31 * sec)
	w.servers[1].accepts, w.servers[1].answers = true, true
	tr.Changed(31 * sec)
	w.sendsTo(0, 1, 2)
	tr.Redirected(0, 31*sec)
	at(36 * sec)
	tr.NodeGone(2, []uint64{2}, 36*sec)
	tr.RunUntil(37 * sec)
	tr.NodeBack(2, []uint64{2}, 37*sec)
	at(39 * sec)
	tr.Stop(60 * sec)
	tr.RunUntil(engine.Never)
	led.Seal()
	return fmt.Sprintf("%s %+v %v %+v", eng.Hash(), led.All(), until, led.Failures()), calm, heard
}

// Requests through a provider's proxy are counted while nothing can happen to them, and the same are under way and are lost as where each is
// followed: SYNs to where nothing answers, and connections that it opens meanwhile, too.
func TestAProxyThatIsCalmIsAsOneThatIsFollowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Spec)
		calm   bool
	}{
		{"the proxy closes idle connections", func(*Spec) {}, true},
		{"for ever", func(s *Spec) { s.Proxy.Idle = 0 }, false}, // its pods close them
		{"it tries another pod", func(s *Spec) { s.Proxy.Retries, s.Proxy.RetryReset = 2, true }, true},
		{"clients retry", func(s *Spec) { s.Retries, s.RetryDelay = 2, sec }, true},
		{"constant arrivals", func(s *Spec) { s.Arrivals = Constant }, true},
		{"no limit of its own for a connection", func(s *Spec) { s.Proxy.ConnectTimeout = 0 }, true},
		{"clients keep theirs", func(s *Spec) { s.KeepAlive, s.Clients = true, 10 }, true},
		{"clients do not wait so long", func(s *Spec) { s.Timeout = 45 * ms }, false},
	} {
		for _, nodes := range []bool{false, true} {
			spec := Spec{Interval: 5 * ms, Timeout: 4 * sec, RTT: 10 * ms, Proxy: &Proxy{RTT: 2 * ms, Idle: sec, ConnectTimeout: 3 * sec}}
			c.change(&spec)
			name := fmt.Sprintf("%s, nodes %t", c.name, nodes)
			calm := alike(t, name, mostly(c.calm, 5), func(drawn bool) (string, []bool, listens) { return proxiedRun(t, spec, nodes, drawn) })
			if slices.Contains(calm[:3], !c.calm) {
				t.Errorf("%s: calm: %v, want %v", name, calm, c.calm)
			}
		}
	}
}

// A request that waits in vain over a connection does not bring back the one that was answered over it before.
func TestAConnectionWhoseRequestHangsCarriesNoOther(t *testing.T) {
	t.Parallel()
	var texts [2]string
	for i := range texts {
		eng := engine.New(1, engine.Limits{})
		led := ledger.New(1, 100, eng.Hash())
		w := &members{telling: telling{fakeWorld: &fakeWorld{verdict: packet.Endpoints, servers: []*fakeServer{up()}}}}
		w.sendsTo(0)
		tr := newKept(t, w, led, eng, []Spec{{Interval: 100 * ms, Arrivals: Constant, RTT: ms, Proxy: &Proxy{RTT: ms}}})
		if i == 1 {
			tr.DrawAll()
		}
		tr.RunUntil(5 * sec)
		tr.NodeGone(7, []uint64{1}, 5*sec)
		tr.RunUntil(6 * sec)
		tr.CutVia(Leg{0, NoProxy}, 6*sec, func(uint64, int) bool { return true })
		tr.Stop(6 * sec)
		tr.RunUntil(engine.Never)
		led.Seal()
		texts[i] = fmt.Sprintf("%s %+v", eng.Hash(), led.All())
	}
	if texts[0] != texts[1] {
		t.Errorf("counted %s, followed %s", texts[0], texts[1])
	}
}
