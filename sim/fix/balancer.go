package fix

import (
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// gate has the load balancer know a new pod before the rollout goes on; nil where it has no such gate, or has it already.
func (t *target) gate() *Change {
	r, ok := scenario.WithReadinessGate(t.sc, t.w.Name())
	if !ok {
		return nil
	}
	return &Change{
		ID: "readinessGate", Title: r.Title, Edits: []edit.Edit{r.Edit}, Around: Around{Gate: true},
		Cost: "a rollout waits until the load balancer has found each new pod healthy",
	}
}

// draining has Google's HTTP load balancer let what was begun on its connections to a removed pod or node come to its end; nil
// where it is another one, or drains for as long already.
func (t *target) draining() *Change {
	d := max(t.w.App.FinishWithin, spare)
	_, remedies := drained(t.sc, t.w.Name(), d)
	if len(remedies) == 0 {
		return nil
	}
	c := &Change{ID: "connectionDraining", Title: remedies[0].Title, Around: Around{Drain: d}}
	for i := range remedies {
		c.Edits = append(c.Edits, remedies[i].Edit)
	}
	return c
}

// drained is a Scenario in which the load balancers before a workload's Services drain for so long, with what that takes.
func drained(s *world.Scenario, workload string, d engine.Time) (*world.Scenario, []scenario.Remedy) {
	var remedies []scenario.Remedy
	for i := range s.Traffic {
		service := s.Traffic[i].Service // draining twice is no remedy
		if !s.Serves(service, workload) {
			continue
		}
		if r, ok := scenario.WithConnectionDraining(s, service, d); ok {
			remedies, s = append(remedies, r), r.Scenario
		}
	}
	return s, remedies
}
