package scenario

import "github.com/lameduck-proxy/lameduck/sim/world"

// WithProfile returns the Scenario with one workload's app doing at SIGTERM what a profile says, as if it were changed to.
func WithProfile(s *world.Scenario, workload, profile string) *world.Scenario {
	out := s.Clone()
	for i := range out.Workloads {
		if w := &out.Workloads[i]; w.Name() == workload {
			w.App = asProfile(w.App, profile, w)
		}
	}
	return out
}
