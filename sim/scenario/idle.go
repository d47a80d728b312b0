package scenario

import "github.com/lameduck-proxy/lameduck/sim/engine"

// Idle returns a Scenario that goes on until a moment and in which none of the actions comes before it: the same world,
// and nothing is done to it.
func (s *Scenario) Idle(until engine.Time) *Scenario {
	out := s.clone()
	out.Until = until
	for i := range out.Actions {
		out.Actions[i].At = until + engine.Second
	}
	return out
}
