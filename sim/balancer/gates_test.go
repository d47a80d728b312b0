package balancer

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// gatekeeper is a load balancer that sends to pods and sets their readiness gates.
func gatekeeper() world.LoadBalancer {
	return world.LoadBalancer{
		Target: world.TargetPods, Members: world.MembersReadyPods, ReadinessGate: "example.com/one", GateRecheck: 15 * sec,
		Registration: engine.Constant(20 * sec), Check: world.HealthCheck{Probe: world.ProbePod, Interval: 10 * sec, Timeout: sec, Healthy: 2, Unhealthy: 2},
	}
}

// waiting is a pod whose gate is closed.
func waiting(pod int, containersReady bool, created engine.Time) Endpoint {
	return Endpoint{Pod: pod, Node: pod, Gated: true, Closed: true, ContainersReady: containersReady, Created: created}
}

// A pod that waits is seen at 100 s, and its containers are ready at 112 s: at the next tick, 115 s,
// it is registered; from 136 s on it is checked each 10 s, and healthy at 156 s; its gate opens at
// the tick after that, 160 s. With ticks 10 % further apart it is registered at 116.5 s and healthy
// at 157.5 s, and the tick after that is at 166 s.
func TestAGateOpensAtTheTickAfterItsPodIsHealthy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		recheck engine.Time
		want    string
	}{{15 * sec, "160"}, {16500 * sec / 1000, "166"}, {60 * sec, "220"}} {
		spec := gatekeeper()
		spec.Registration = engine.Constant(21 * sec)
		spec.GateRecheck = c.recheck
		f, b := build(t, spec)
		f.ok[3] = true
		f.run(100 * sec)
		f.endpoints = append(ready(0, 1, 2), waiting(3, false, 90*sec))
		b.Hear()
		f.run(112 * sec)
		f.endpoints[3].ContainersReady = true
		b.HearPod()
		f.run(400 * sec)
		if want := c.want + " open 3"; !slices.Equal(f.cuts, []string{want}) {
			t.Errorf("each %s s: %v, want %s", c.recheck.Seconds(), f.cuts, want)
		}
	}
}

// The ticks follow from the pod that waited first: another one that comes to wait between two of them does not move them.
func TestTheTicksStayWhenAnotherPodWaits(t *testing.T) {
	t.Parallel()
	spec := gatekeeper()
	spec.Registration = engine.Constant(21 * sec)
	f, b := build(t, spec)
	f.ok[3] = true
	f.run(100 * sec)
	f.endpoints = append(ready(0, 1, 2), waiting(3, false, 90*sec))
	b.Hear()
	f.run(107 * sec)
	f.endpoints = append(f.endpoints, waiting(4, false, 106*sec))
	b.Hear()
	f.run(112 * sec)
	f.endpoints[3].ContainersReady = true
	b.HearPod()
	f.run(400 * sec)
	if want := "160 open 3"; !slices.Equal(f.cuts, []string{want}) {
		t.Errorf("%v, want %s", f.cuts, want)
	}
}

// Nothing is looked at while nothing changes, and a gate is asked for once: until somebody closes
// it again.
func TestGatesSleep(t *testing.T) {
	t.Parallel()
	f, b := build(t, gatekeeper())
	f.ok[3] = false
	f.run(100 * sec)
	f.endpoints = append(ready(0, 1, 2), waiting(3, true, 0))
	b.Hear()
	f.run(1000 * sec)
	if next := f.eng.Next(); next != engine.Never {
		t.Errorf("a pod that is never healthy has something happen at %s s", next.Seconds())
	}
	f.ok[3] = true
	b.Wake()
	f.run(2000 * sec)
	b.Hear()
	f.run(2100 * sec)
	if len(f.cuts) != 1 || !strings.HasSuffix(f.cuts[0], "open 3") {
		t.Fatalf("%v", f.cuts)
	}
	f.endpoints = ready(0, 1, 2, 3)
	f.endpoints[3].Gated = true
	b.Hear()
	f.run(2200 * sec)
	f.endpoints[3] = waiting(3, true, 0)
	b.Hear()
	f.run(2300 * sec)
	if len(f.cuts) != 2 {
		t.Errorf("%v", f.cuts)
	}
}

// A pod that is not healthy waits no longer than the timeout from its creation, where there is
// one; a pod that terminates waits for nothing.
func TestGateTimeout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		timeout     engine.Time
		terminating bool
		want        string
	}{{600 * sec, false, "700 open 3"}, {660 * sec, false, "760 open 3"}, {0, false, ""}, {600 * sec, true, ""}} {
		spec := gatekeeper()
		spec.GateTimeout, spec.GateRecheck = c.timeout, 5*sec
		f, b := build(t, spec)
		f.ok[3] = false
		f.run(150 * sec)
		f.endpoints = append(ready(0, 1, 2), waiting(3, true, 97*sec))
		f.endpoints[3].Terminating = c.terminating
		b.Hear()
		f.run(2000 * sec)
		if got := strings.Join(f.cuts, " "); got != c.want {
			t.Errorf("timeout %s s: %q, want %q", c.timeout.Seconds(), got, c.want)
		}
	}
}

// A controller that is paused hears, and acts when it runs again: on what it has heard by then,
// and no more than once.
func TestPausedController(t *testing.T) {
	t.Parallel()
	spec := gatekeeper()
	spec.Controller, spec.Propagation = engine.Constant(2*sec), engine.Constant(5*sec)
	f, b := build(t, spec)
	f.run(100 * sec)
	b.Pause()
	f.endpoints = ready(0, 1)
	b.Hear()
	f.run(150 * sec)
	f.endpoints = ready(0)
	b.Hear()
	f.run(200 * sec)
	if !slices.Equal(b.Active(), []int{0, 1, 2}) {
		t.Errorf("paused, and sends to %v", b.Active())
	}
	f.ok[0] = false // its load balancer goes on by itself
	b.Wake()
	f.run(300 * sec)
	if !slices.Equal(b.Active(), []int{1, 2}) {
		t.Errorf("the health checks are paused, too: %v", b.Active())
	}
	f.ok[0] = true
	b.Wake()
	f.run(400 * sec)
	b.Resume()
	if at := f.when(b, 500*sec, 0); at != 405*sec {
		t.Errorf("after the pause only 0 at %s s", at.Seconds())
	}
	b.Resume() // nothing is left to do
	if !slices.Equal(b.wanted, []int{0}) {
		t.Errorf("wanted %v", b.wanted)
	}
}

// Before its gate is open a pod is a member if its containers are ready and the gate is this
// controller's; a pod without the gate, or one that terminates, is none.
func TestMembersWithAGate(t *testing.T) {
	t.Parallel()
	_, b := build(t, gatekeeper())
	terminating, other := waiting(5, true, 0), waiting(6, true, 0)
	terminating.Terminating, other.Gated = true, false
	if got := b.choose(append(ready(0), waiting(3, true, 0), waiting(4, false, 0), terminating, other), false); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("members %v", got)
	}
}

// A gate that could not be set, since the pod has not been heard of, is set when it has been.
func TestAGateOfAPodThatIsNotKnownYet(t *testing.T) {
	t.Parallel()
	spec := gatekeeper()
	spec.Members, spec.Registration = world.MembersLivePods, engine.Dist{}
	f, b := build(t, spec)
	f.ok[3], f.unheard = true, true
	f.run(100 * sec)
	f.endpoints = append(ready(0, 1, 2), waiting(3, false, 100*sec))
	b.Hear()
	f.run(200 * sec)
	if len(f.cuts) > 0 {
		t.Errorf("%v", f.cuts)
	}
	f.unheard = false
	b.HearPod()
	f.run(300 * sec)
	if !slices.Equal(f.cuts, []string{"205 open 3"}) {
		t.Errorf("%v", f.cuts)
	}
}

// Whatever is on its way is unrest, by name, and nothing else is.
func TestUnrest(t *testing.T) {
	t.Parallel()
	spec := gatekeeper()
	spec.Controller, spec.Propagation, spec.HealthPropagation = engine.Constant(2*sec), engine.Constant(5*sec), engine.Constant(30*sec)
	f, b := build(t, spec)
	want := func(at engine.Time, words string) {
		t.Helper()
		f.run(at)
		if got := b.Unrest(); got != words {
			t.Errorf("at %s s %q, want %q", at.Seconds(), got, words)
		}
	}
	want(100*sec, "")
	f.endpoints, f.ok[3], f.would[3] = ready(0, 1, 3), true, true
	b.Hear()
	want(101*sec, "the load balancer's controller has news to act on")
	want(103*sec, "the load balancer has not registered pod 3") // for 20 s
	want(123*sec, "the load balancer has not found out how pod 3 is")
	want(145*sec, "the load balancer does not know everywhere how pod 3 is")
	want(200*sec, "")
	f.endpoints = ready(0, 1)
	b.Hear()
	want(203*sec, "the load balancer has not removed pod 3")
	want(210*sec, "")
	f.ok[1], f.would[1] = false, false
	b.Wake()
	want(211*sec, "the load balancer has not found out how pod 1 is")
	want(300*sec, "")
	b.Pause()
	f.endpoints = ready(0)
	b.Hear()
	want(301*sec, "") // its cluster says that it is paused
}

// A member that is a node is named by its address.
func TestUnrestNamesNodesByAddress(t *testing.T) {
	t.Parallel()
	f, b := build(t, world.LoadBalancer{Target: world.TargetNodes, Check: world.HealthCheck{Probe: world.ProbeProxyHealth, Interval: 10 * sec, Timeout: sec, Healthy: 2, Unhealthy: 2}})
	f.run(100 * sec)
	f.ok[1], f.would[1] = false, false
	b.Wake()
	f.run(101 * sec)
	if got := b.Unrest(); got != "the load balancer has not found out how 10.0.0.1 is" {
		t.Errorf("%q", got)
	}
}
