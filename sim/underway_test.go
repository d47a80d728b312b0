package sim

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Clients that wait after attempts which failed have connected again when a run ends: what they lost meanwhile is over.
func TestARunGoesOnUntilClientsHaveConnectedAgain(t *testing.T) {
	t.Parallel()
	sc := awayPod(world.ConnectionSession)
	sc.Traffic[0].Clients = 10
	sc.Workloads[0].App.Start = engine.Constant(4 * 60 * sec)
	r, err := begin(sc, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if settled, err := r.loop(); !settled || err != nil {
		t.Fatal(settled, err)
	}
	if at := r.traffic.Redial(); at > r.eng.Now() || r.eng.Now() <= r.lastNews+settleTime {
		t.Errorf("some client connects at %s s, and the run ends at %s s", at.Seconds(), r.eng.Now().Seconds())
	}
	sc.Until = 5 * 60 * sec
	if res, err := Run(sc, 1); err != nil || res.End > sc.Until {
		t.Errorf("%v: ends at %s s", err, res.End.Seconds())
	}
}
