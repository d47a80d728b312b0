package world

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Clone copies what alternatives and fixes change: everything but the objects themselves.
func (s *Scenario) Clone() *Scenario {
	out := *s
	out.Nodes, out.Workloads = slices.Clone(s.Nodes), slices.Clone(s.Workloads)
	out.Traffic, out.Actions = slices.Clone(s.Traffic), slices.Clone(s.Actions)
	return &out
}

// Quiet returns the Scenario with clients that hardly ask: for what happens in the cluster without regard to clients.
func (s *Scenario) Quiet() *Scenario {
	out := s.Clone()
	for i := range out.Traffic {
		out.Traffic[i].Arrivals, out.Traffic[i].Rate = ArrivalsPoisson, 1
	}
	return out
}

// Idle returns a Scenario that goes on until a moment and in which none of the actions comes before it: the same world,
// and nothing is done to it.
func (s *Scenario) Idle(until engine.Time) *Scenario {
	out := s.Clone()
	out.Until = until
	for i := range out.Actions {
		out.Actions[i].At = until + engine.Second
	}
	return out
}
