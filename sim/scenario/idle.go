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

// WithProfile returns the Scenario with one workload's app doing at SIGTERM what a profile says, as if it were changed to.
func (s *Scenario) WithProfile(workload, profile string) *Scenario {
	out := s.clone()
	for i := range out.Workloads {
		if w := &out.Workloads[i]; w.Name() == workload {
			w.App = w.App.as(profile, w)
		}
	}
	return out
}
