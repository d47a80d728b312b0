package cluster

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Rules of a node that has not heard of a Service, or of its port, let nobody in, and match nothing.
func TestRulesWithoutAServiceMatchNothing(t *testing.T) {
	t.Parallel()
	w := newBuild(2).start(t, 1)
	known, ok := w.Entry(scenario.Traffic{Service: "default/web", Port: 80})
	if !ok {
		t.Fatal("no entry")
	}
	service, port := known, known
	service.name.Name = "unheard"
	port.port++
	for e, want := range map[*Entry]packet.Verdict{&known: packet.Endpoints, &service: packet.None, &port: packet.None} {
		if d := w.Enter(*e, 0); d.Verdict != want || (len(d.Targets) > 0) != (want == packet.Endpoints) {
			t.Errorf("%+v: %v with %d targets, want %v", *e, d.Verdict, len(d.Targets), want)
		}
	}
}
