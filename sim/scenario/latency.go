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
	in   func(*world.Latencies) *engine.Dist // nil for one that may be absent, which optional has
	// optional is where one is that may be absent: what is said of it instead is absent, and what it is about.
	optional      func(*world.Latencies) **engine.Dist
	absent, about string
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
		{name: "imagePull", optional: func(l *world.Latencies) **engine.Dist { return &l.ImagePull }, absent: "nodes have all images",
			about: "how long a node takes to pull an image of a pod that is made: each node pulls each image once, and one after another"},
		{name: "readyToRules", metric: programmingMetric, optional: func(l *world.Latencies) **engine.Dist { return &l.ReadyToRules }, absent: "what the single delays add up to",
			about: "from a pod's Ready condition to the rules of a node, as measured by kube-proxy's network_programming_duration_seconds"},
	}
}

func (w *printer) latency(l world.Latencies) {
	for _, f := range latencyFields() {
		if f.in != nil {
			w.dist(f.name, *f.in(&l))
		} else if d := *f.optional(&l); d != nil {
			w.dist(f.name, *d)
		}
	}
}
