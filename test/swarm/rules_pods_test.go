package swarm

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The kubelet's constants (docs/model/pod-lifecycle.md 2.1 and 4.1).
const (
	leastGrace   = 2 * sec
	firstBackoff = 10 * sec
)

// container is what is known of a container of a pod.
type container struct {
	running   bool
	since     engine.Time // when the process began; before the world for the first pods
	restarts  int
	stopping  engine.Time // when the kubelet began to stop it for good, with that grace period
	grace     engine.Time
	stopped   bool
	disturbed bool // a probe had it stopped before
	signalled engine.Time
	told      bool // it got SIGTERM since it began
	ended     engine.Time
	crashes   int // in a row, with nothing else in between
	probes    map[*corev1.Probe]*streak
	startup   bool // its startup probe has passed, or it began before the world
}

// streak counts the answers to a probe: in a row, and in a row of this process.
type streak struct {
	last    bool
	n, mine int
}

// container returns what is known of a container; those of the first pods run already.
func (p *pod) container(c *corev1.Container) *container {
	have := p.containers[c.Name]
	if have == nil {
		have = &container{probes: map[*corev1.Probe]*streak{}}
		if p.api.Created < 0 {
			have.running, have.startup, have.since = true, true, p.api.Created
		}
		p.containers[c.Name] = have
	}
	return have
}

func (j *judge) hearContainer(e event.Event) {
	p := j.pods[e.Pod]
	c := p.container(e.Container)
	if j.unsteady(p.api) {
		c.running = (c.running || e.Kind == event.Started) && e.Kind != event.Ended
		return
	}
	switch e.Kind {
	case event.Started:
		j.started(e, p, c)
	case event.Stopping:
		j.stopping(e, p, c)
	case event.Signalled:
		j.signalled(e, p, c)
	default:
		j.ended(e, p, c)
	}
}

// A container that crashed waits, from the second time on, 10 s at least.
func (j *judge) started(e event.Event, p *pod, c *container) {
	if c.crashes > 1 && e.At < c.ended+firstBackoff {
		j.fail("back-off", "%s began again at %s s, %d crashes in a row, the last at %s s", p.api.Name, e.At.Seconds(), c.crashes, c.ended.Seconds())
	}
	if c.since != 0 {
		c.restarts++
	} else {
		j.initialized(e, p)
	}
	c.running, c.since, c.startup, c.told, c.disturbed = true, e.At, false, false, false
	for _, r := range c.probes {
		r.mine = 0
	}
}

// A container begins when all the sidecars before it have, and the init containers before it have run.
func (j *judge) initialized(e event.Event, p *pod) {
	spec, least := j.spec(p.api), p.api.Created
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		switch {
		case c.Name == e.Container.Name:
			return
		case !world.Sidecar(c):
			least += j.app(p.api).Init.Min()
		case p.container(c).since == 0:
			j.fail("init", "%s: %s began at %s s, before the sidecar %s", p.api.Name, e.Container.Name, e.At.Seconds(), c.Name)
		}
		if e.At < least {
			j.fail("init", "%s: %s began at %s s, before its init containers can have ended at %s s", p.api.Name, e.Container.Name, e.At.Seconds(), least.Seconds())
		}
	}
}

// Only a probe that failed as often as its threshold says has a container stopped whose pod is
// not being deleted.
func (j *judge) stopping(e event.Event, p *pod, c *container) {
	if p.api.Deleting() {
		c.stopping, c.grace, c.stopped = e.At, e.Grace, true
		return
	}
	failed := false
	for _, probe := range []*corev1.Probe{e.Container.LivenessProbe, e.Container.StartupProbe} {
		if r := c.probes[probe]; probe != nil && r != nil && !r.last && r.n >= int(probe.FailureThreshold) {
			failed = true
			*r = streak{}
		}
	}
	if !failed {
		j.fail("threshold", "%s/%s is stopped at %s s, and no probe failed often enough", p.api.Name, e.Container.Name, e.At.Seconds())
	}
	c.disturbed = true
}

// SIGTERM follows the preStop hook, within the grace period; to a sidecar it comes when the
// main containers have ended, or the grace period has.
func (j *judge) signalled(e event.Event, p *pod, c *container) {
	first := !c.told
	c.signalled, c.told = e.At, true
	if !c.stopped || c.disturbed || !first || j.kubeletPaused(p) {
		return
	}
	if e.Sidecar {
		j.turn(e, p, c)
		return
	}
	hook := j.workload(p.api).Hooks[e.Container.Name]
	least := min(hook.Duration.Min(), c.grace)
	switch hook.Kind {
	case "", "missing", "tcpSocket":
		least = 0
	}
	if j.applied {
		least = 0
	}
	if e.At < c.stopping+least || e.At > c.stopping+c.grace {
		j.fail("preStop", "%s/%s: SIGTERM at %s s, stopped from %s s on, its hook takes %s s at least, its grace period is %s s",
			p.api.Name, e.Container.Name, e.At.Seconds(), c.stopping.Seconds(), least.Seconds(), c.grace.Seconds())
	}
}

func (j *judge) turn(e event.Event, p *pod, c *container) {
	if e.At >= c.stopping+c.grace {
		return
	}
	spec := j.spec(p.api)
	for i := range spec.Containers {
		if p.container(&spec.Containers[i]).running {
			j.fail("sidecars", "%s: %s got SIGTERM at %s s, before %s had ended", p.api.Name, e.Container.Name, e.At.Seconds(), spec.Containers[i].Name)
		}
	}
}

// SIGKILL comes when the grace period is over that the hook, in whole seconds, has left, and
// 2 s after SIGTERM at least (docs/model/pod-lifecycle.md 2.1).
func (j *judge) ended(e event.Event, p *pod, c *container) {
	c.running, c.ended = false, e.At
	switch e.Ending {
	case event.Crashed:
		if c.crashes++; c.disturbed {
			c.crashes = 0 // it was about to be restarted anyway
		}
	case event.Killed:
		left := max(leastGrace, c.grace-(c.signalled-c.stopping).TruncateToSecond())
		if !e.Sidecar && c.stopped && !c.disturbed && e.At != c.signalled+left {
			j.fail("grace", "%s/%s: SIGKILL at %s s, SIGTERM was at %s s, stopped from %s s on with a grace period of %s s",
				p.api.Name, e.Container.Name, e.At.Seconds(), c.signalled.Seconds(), c.stopping.Seconds(), c.grace.Seconds())
		}
	default:
		c.crashes = 0
	}
	if j.kubeletPaused(p) {
		return
	}
	if c.stopped && e.At > c.stopping+c.grace+leastGrace {
		j.fail("grace", "%s/%s: ended at %s s, stopped from %s s on with a grace period of %s s", p.api.Name, e.Container.Name, e.At.Seconds(), c.stopping.Seconds(), c.grace.Seconds())
	}
	if e.Main && c.told && !c.disturbed {
		j.readinessGoesOn(e, p, c)
	}
}

// Readiness probes go on while a pod terminates: one that fails from SIGTERM on is noticed
// (docs/model/pod-lifecycle.md 2d).
func (j *judge) readinessGoesOn(e event.Event, p *pod, c *container) {
	probe := e.Container.ReadinessProbe
	if probe == nil || probe.InitialDelaySeconds > 0 || !j.app(p.api).ReadinessFails || !p.ready {
		return
	}
	if noticed := engine.Time((probe.FailureThreshold+1)*probe.PeriodSeconds) * sec; e.At > c.signalled+noticed+sec {
		j.fail("readiness", "%s has failed since SIGTERM at %s s, ended at %s s, and was ready all the time", p.api.Name, c.signalled.Seconds(), e.At.Seconds())
	}
}

// hearProbe follows the probes of a pod (docs/model/pod-lifecycle.md 3.2).
func (j *judge) hearProbe(e event.Event) {
	p := j.pods[e.Pod]
	if e.Kind == event.Decided {
		j.decided(e, p)
		return
	}
	c := p.container(e.Container)
	r := c.probes[e.Probe]
	if r == nil {
		if r = (&streak{}); p.api.Created < 0 {
			*r = streak{last: true, n: 1} // it has succeeded all the time
		}
		c.probes[e.Probe] = r
	}
	if r.n == 0 || r.last != e.OK {
		*r = streak{last: e.OK}
	}
	r.n++
	r.mine++
	j.mayProbe(e, p, c)
	if e.Probe == e.Container.ReadinessProbe {
		j.answered(e, p, r)
	}
}

// mayProbe says whether a probe may be asked now: only readiness while the pod terminates, only
// the startup probe before it has passed, none during initialDelaySeconds.
func (j *judge) mayProbe(e event.Event, p *pod, c *container) {
	kind := e.Container
	switch {
	case c.stopped && e.Probe != kind.ReadinessProbe:
		j.fail("probes", "%s is asked for more than its readiness at %s s, while it terminates", p.api.Name, e.At.Seconds())
	case e.Probe == kind.StartupProbe:
		c.startup = c.startup || e.OK
	case kind.StartupProbe != nil && !c.startup && c.restarts > 0:
		// For a while the kubelet goes by the status of the container before.
	case kind.StartupProbe != nil && !c.startup:
		j.fail("startup", "%s is probed at %s s, before its startup probe has passed", p.api.Name, e.At.Seconds())
	case c.restarts == 0 && (e.At-c.since.TruncateToSecond()).TruncateToSecond() < engine.Time(e.Probe.InitialDelaySeconds)*sec:
		j.fail("delay", "%s is probed at %s s, started at %s s, initialDelaySeconds are %d", p.api.Name, e.At.Seconds(), c.since.Seconds(), e.Probe.InitialDelaySeconds)
	}
}

// answered looks at an answer of a readiness probe: one more than its threshold comes too late
// to change anything.
func (j *judge) answered(e event.Event, p *pod, r *streak) {
	switch {
	case !e.OK && r.mine > int(e.Probe.FailureThreshold) && p.ready:
		j.fail("threshold", "%s failed %d times in a row by %s s, and is ready", p.api.Name, r.mine, e.At.Seconds())
	case e.OK && r.mine > int(e.Probe.SuccessThreshold) && !p.ready && j.alone(p):
		j.fail("threshold", "%s succeeded %d times in a row by %s s, and is not ready", p.api.Name, r.mine, e.At.Seconds())
	}
}

// alone says that one container decides on a pod's readiness, and no gate.
func (j *judge) alone(p *pod) bool {
	s := j.spec(p.api)
	return len(s.Containers)+len(s.InitContainers) == 1 && len(p.api.Gates) == 0
}

// A pod becomes ready, or ceases to be, when its probe has said so as often as it has to, or when
// its gates open and close.
func (j *judge) decided(e event.Event, p *pod) {
	was, since := p.ready, p.decided
	p.ready, p.decided = e.OK, e.At
	main := &j.spec(p.api).Containers[0]
	c := p.container(main)
	probe := main.ReadinessProbe
	if was == e.OK || probe == nil || !c.running || len(p.api.Gates) > 0 {
		return
	}
	r := c.probes[probe]
	switch {
	case e.OK && (r == nil || !r.last || r.n < int(probe.SuccessThreshold)) && c.since > 0:
		j.fail("threshold", "%s is ready at %s s after %d good answers, successThreshold is %d", p.api.Name, e.At.Seconds(), count(r), probe.SuccessThreshold)
	case !e.OK && (r == nil || r.last || r.n < int(probe.FailureThreshold)) && j.alone(p) && c.since < since: // a new container is not ready
		j.fail("threshold", "%s is not ready at %s s after %d bad answers, failureThreshold is %d", p.api.Name, e.At.Seconds(), count(r), probe.FailureThreshold)
	}
}

func count(r *streak) int {
	if r == nil {
		return 0
	}
	return r.n
}
