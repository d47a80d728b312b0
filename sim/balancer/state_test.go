package balancer

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A target that goes is failing while it gets new connections still, then draining, then removed. One that comes is initial until its
// checks succeed, and one that fails in between and recovers is healthy at once.
func TestStatesOfTargets(t *testing.T) {
	t.Parallel()
	f, b := build(t, world.LoadBalancer{
		Target: world.TargetPods, Members: world.MembersReadyPods, Drain: 10 * sec, HealthPropagation: engine.Constant(sec),
		Check: world.HealthCheck{Probe: world.ProbePod, Interval: 2 * sec, Healthy: 2, Unhealthy: 3},
	})
	of := func(until engine.Time, ok bool, members ...int) []string {
		f.states = nil
		f.ok[1] = ok
		f.endpoints = ready(members...)
		b.Hear()
		b.Wake()
		f.run(until)
		var out []string
		for _, s := range f.states {
			if _, state, ok := strings.Cut(s, " 1 "); ok {
				out = append(out, state)
			}
		}
		return out
	}
	b.Introduce()
	first := f.states
	for _, c := range []struct {
		name  string
		got   []string
		wants string
	}{
		{"at the beginning", first, "0 0 healthy,0 1 healthy,0 2 healthy"},
		{"one failed check", of(2*sec, false, 0, 1, 2), "failing"},
		{"that recovers", of(10*sec, true, 0, 1, 2), "healthy"},
		{"three failed checks", of(20*sec, false, 0, 1, 2), "failing,unhealthy"},
		{"deregistered", of(25*sec, false, 0, 2), "draining"},
		{"wanted again before the end of draining", of(28*sec, false, 0, 1, 2), "unhealthy"},
		{"and gone", of(50*sec, false, 0, 2), "draining,removed"},
		{"registered", of(70*sec, true, 0, 1, 2), "initial,healthy"},
	} {
		if !slices.Equal(c.got, strings.Split(c.wants, ",")) {
			t.Errorf("%s: %q, want %s", c.name, c.got, c.wants)
		}
	}
}

// What has failed its checks from the beginning is unhealthy, and not one that has to prove itself first.
func TestATargetThatWasNeverWell(t *testing.T) {
	t.Parallel()
	f, b := build(t, world.LoadBalancer{Check: world.HealthCheck{Probe: world.ProbePod, Interval: sec, Healthy: 1, Unhealthy: 1}})
	f.would[2] = false
	b = New("another", b.spec, f.eng, f.eng.Register("another"), f, f)
	b.Introduce()
	if want := []string{"0 0 healthy", "0 1 healthy", "0 2 unhealthy"}; !slices.Equal(f.states, want) {
		t.Errorf("%q, want %q", f.states, want)
	}
}
