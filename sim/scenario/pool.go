package scenario

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// slowPool bounds the pools of clients of a slow app: beyond it they ask less often instead, unless it is said how often they ask.
const slowPool = 100

// mostConnections bounds them where that is said: Envoy's max_connections.
const mostConnections = 1024

// grow gives a pool of clients, if most of it would be busy, the connections that it needs for what it asks of an app whose answers take so
// long, twice over: clients open another connection where all that they have are busy (docs/model/simulator.md 5.1 Pools).
func grow(t *world.Traffic, answer engine.Time, rateSaid bool) {
	if !t.KeepAlive || t.Arrivals == world.ArrivalsClosedLoop || answer <= 0 {
		return
	}
	busy := int(engine.Time(t.Rate) * answer / (1000 * engine.Second))
	if 4*busy <= 3*t.Clients {
		return
	}
	if rateSaid {
		t.Clients = max(t.Clients, min(2*busy, mostConnections))
		return
	}
	t.Clients = max(t.Clients, min(2*busy, slowPool))
	t.Rate = min(t.Rate, int(engine.Time(t.Clients)*1000*engine.Second/(2*answer)))
}

// growPool does that with how long the slowest of the workloads behind a stream's Service takes to answer.
func (b *builder) growPool(t *world.Traffic, rateSaid bool) {
	svc := b.out.ServiceNamed(t.Service)
	if svc == nil {
		return
	}
	var answer engine.Time
	for i := range b.out.Workloads {
		if w := &b.out.Workloads[i]; w.SelectedBy(svc) {
			answer = max(answer, w.App.Serve.Mean())
		}
	}
	grow(t, answer, rateSaid || b.opts.Rate != "")
}
