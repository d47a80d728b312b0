package fix

import (
	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// gate has the load balancer know a new pod before the rollout goes on; nil where it has no such gate, or has it already.
func (t *target) gate() *Change {
	name := t.w.Name()
	r, ok := scenario.WithReadinessGate(t.sc, name)
	if !ok {
		return nil
	}
	return &Change{
		ID: "readinessGate", Title: r.Title, Edits: []check.Edit{remedyEdit(&r)},
		Cost: "a rollout waits until the load balancer has found each new pod healthy",
		world: func(s *scenario.Scenario) *scenario.Scenario {
			if r, ok := scenario.WithReadinessGate(s, name); ok {
				return r.Scenario
			}
			return s
		},
	}
}

// remedyEdit is the edit of an object that is not the workload.
func remedyEdit(r *scenario.Remedy) check.Edit {
	e := check.Edit{Path: r.Path, From: r.From, To: r.To, YAML: r.YAML}
	if r.Object != nil {
		p := r.Object.At(r.Path)
		e.File, e.Line = p.File, p.Line
	}
	return e
}
