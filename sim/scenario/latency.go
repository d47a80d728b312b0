package scenario

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// DefaultLatencies are the delays of a small, lightly loaded cluster (docs/model/simulator.md 5.3,
// docs/model/propagation.md 1 and docs/model/measured.md 2).
func DefaultLatencies() world.Latencies {
	ms := func(a, b engine.Time) engine.Dist {
		return engine.Must(engine.Uniform(a*engine.Millisecond, b*engine.Millisecond))
	}
	return world.Latencies{
		APIWrite:        ms(5, 20),
		Watch:           ms(5, 30),
		SliceController: ms(5, 20),
		Controller:      ms(5, 20),
		StatusWrite:     ms(10, 50),
		ProxySync:       ms(20, 200),
		Schedule:        ms(5, 50),
		Sandbox:         ms(300, 1000),
		ContainerStart:  ms(100, 500),
	}
}

// latencyField is one delay of the grammar.
type latencyField struct {
	name string
	in   func(*world.Latencies) *engine.Dist // nil: readyToRules, which may be absent
	// metric is the kube-proxy histogram that may fill it, "" when there is none.
	metric string
}

// latencyFields lists the delays in the order in which they are documented and printed.
func latencyFields() []latencyField {
	return []latencyField{
		{name: "apiWrite", in: func(l *world.Latencies) *engine.Dist { return &l.APIWrite }},
		{name: "watch", in: func(l *world.Latencies) *engine.Dist { return &l.Watch }},
		{name: "controller", in: func(l *world.Latencies) *engine.Dist { return &l.Controller }},
		{name: "sliceController", in: func(l *world.Latencies) *engine.Dist { return &l.SliceController }},
		{name: "statusWrite", in: func(l *world.Latencies) *engine.Dist { return &l.StatusWrite }},
		{name: "proxySync", in: func(l *world.Latencies) *engine.Dist { return &l.ProxySync }, metric: syncMetric},
		{name: "schedule", in: func(l *world.Latencies) *engine.Dist { return &l.Schedule }},
		{name: "sandbox", in: func(l *world.Latencies) *engine.Dist { return &l.Sandbox }},
		{name: "containerStart", in: func(l *world.Latencies) *engine.Dist { return &l.ContainerStart }},
		{name: "readyToRules", metric: programmingMetric},
	}
}

func (w *printer) latency(l world.Latencies) {
	for _, f := range latencyFields() {
		switch {
		case f.in != nil:
			w.dist(f.name, *f.in(&l))
		case l.ReadyToRules != nil:
			w.dist(f.name, *l.ReadyToRules)
		}
	}
}
