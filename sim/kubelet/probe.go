package kubelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

type probeKind uint8

const (
	readinessProbe probeKind = iota
	livenessProbe
	startupProbe
)

// Prober is one probe of one container, with the worker algorithm of the kubelet (Kubernetes
// 1.36 pkg/kubelet/prober/worker.go; verified): a ticker that runs from the pod's admission,
// results that count in a row, thresholds, a hold until the next container, and a manual
// trigger that probes at once and restarts the ticker. It goes by the pod's status, which
// shows a container only after the kubelet has worked on the pod.
//
// The trigger comes while the kubelet computes the status that shows the container for the
// first time; the prober is taken to see that status already. (In the real kubelet that is a
// race; when it is lost the trigger is without effect but for the ticker.)
//
// Ticks that could change nothing are not executed: a prober sleeps while the app's answer is
// its result, and is armed when the app changes.
type Prober struct {
	c          *Container
	kind       probeKind
	spec       *corev1.Probe
	Phase      engine.Time // the ticker's origin
	generation int         // of the container that result belongs to
	result     bool
	last       bool // the last answer
	row        int  // how many times in a row; a new container does not begin a new row
	hold       bool
	off        bool
	unasked    bool        // it asks for a port, or runs a program, that its container does not have
	process    bool        // it passes as soon as the process runs
	ticked     engine.Time // the last tick that was executed, or slept through
	timer      engine.Handle
	armed      bool
	dozes      engine.Time // until when it does not begin: of a kubelet that was just started
}

func newProber(c *Container, kind probeKind, spec *corev1.Probe, now engine.Time) *Prober {
	missing, _ := MissingPort(c.spec, spec)
	p := &Prober{c: c, kind: kind, spec: spec, Phase: now, ticked: now, result: kind == livenessProbe,
		unasked: missing != "" || c.wk.k.d.Specs.Lacks(c.spec, spec.Exec), process: asksProcess(c, kind, spec)}
	if k := c.wk.k; now < k.since+p.period() { // not all at the same moment
		p.Phase += engine.Time(engine.Below(k.d.Engine.Stream(c.String(), fmt.Sprint("probe delay ", kind)).Draw(uint64(k.lives)), int(p.period())))
		p.dozes, p.ticked = p.Phase, p.Phase-1
	}
	return p
}

// asksProcess says that a probe of the server passes as soon as that runs.
func asksProcess(c *Container, kind probeKind, spec *corev1.Probe) bool {
	if kind == readinessProbe {
		return c.wk.Instance.App.PassesAtOnce(spec)
	}
	return world.AsksProcess(spec, kind == livenessProbe)
}

func (p *Prober) stop() {
	p.off = true
	p.c.wk.k.d.Engine.Cancel(p.timer)
	p.armed = false
}

func (p *Prober) period() engine.Time {
	return engine.Time(max(1, p.spec.PeriodSeconds)) * engine.Second
}

// arm makes the prober look at its next tick, unless nothing could come of it.
func (p *Prober) arm() {
	if p.off || p.armed || p.settled() {
		return
	}
	now := p.c.wk.k.d.Engine.Now()
	at := p.Phase + (now-p.Phase)/p.period()*p.period()
	if at <= p.ticked || at < now {
		at += p.period()
	}
	p.armed = true
	p.timer = p.c.wk.k.after(at-now, "probe", func() {
		p.armed, p.ticked = false, p.c.wk.k.d.Engine.Now()
		p.probe()
		p.arm()
	})
}

// settled says that further ticks give what there is already.
func (p *Prober) settled() bool {
	s := &p.c.shown
	switch {
	case s.generation == 0:
		return true
	case p.generation != s.generation:
		return false
	case p.hold, p.unasked:
		return true
	case !s.running:
		return p.kind != readinessProbe || !p.result
	case p.kind == startupProbe:
		return s.started
	case !s.started:
		return true // armed again when the startup probe has passed
	case p.waiting():
		return false
	}
	return p.answer() == p.result && (p.row == 0 || p.last == p.result)
}

// waiting says that initialDelaySeconds are not over: whole seconds since the start, of which
// the status keeps no more than the second.
func (p *Prober) waiting() bool {
	age := p.c.wk.k.d.Engine.Now() - p.c.shown.startAt
	return age.TruncateToSecond() < engine.Time(p.spec.InitialDelaySeconds)*engine.Second
}

func (p *Prober) answer() bool {
	c := p.c
	d, i := c.wk.k.d, c.wk.Instance
	switch {
	case p.kind == readinessProbe && c.unready && world.AsksForAbsence(p.spec): // the file is there now
		return false
	case c != c.wk.Main || i.App.NotAServer || p.process: // taken to be well while they run
		return c.Running && !(i.Forced && p.kind == readinessProbe && c == c.wk.Main)
	case p.kind == startupProbe:
		return i.Listening
	case p.kind == readinessProbe && c.unready:
		return false
	default:
		return d.Passes(i, p.kind == livenessProbe)
	}
}

// poke is the manual trigger: probe at once, and count the period from now. One that does not begin yet finds the trigger when it does.
func (p *Prober) poke() {
	d := p.c.wk.k.d
	if p.off || d.Engine.Now() < p.dozes {
		return
	}
	d.Engine.Cancel(p.timer)
	p.armed = false
	p.Phase, p.ticked = d.Engine.Now(), d.Engine.Now()
	p.probe()
}

// probe asks once and applies a result when the threshold is reached.
func (p *Prober) probe() {
	s := &p.c.shown
	if p.off {
		return
	}
	if p.generation != s.generation {
		p.meet(s.generation)
	}
	switch {
	case p.hold:
		return
	case !s.running:
		if p.kind == readinessProbe {
			p.set(false)
		}
		return
	case p.waiting() || s.started == (p.kind == startupProbe) || p.unasked:
		return
	}
	answer := p.answer()
	p.c.tell(event.Event{Kind: event.Probed, Probe: p.spec, OK: answer})
	if p.row > 0 && answer == p.last {
		p.row++
	} else {
		p.last, p.row = answer, 1
	}
	threshold := p.spec.FailureThreshold
	if answer {
		threshold = p.spec.SuccessThreshold
	}
	if p.row >= max(1, int(threshold)) {
		p.apply(answer)
	}
}

// meet begins with a new container: readiness with failure, liveness with success. Both that
// and a startup probe's beginning are news, for which the kubelet works on the pod.
func (p *Prober) meet(generation int) {
	p.generation, p.hold = generation, false
	p.result = p.kind == livenessProbe
	switch p.kind {
	case readinessProbe, startupProbe:
		p.c.wk.RequestSync()
	case livenessProbe: // success is what it began with: no news
	}
}

// passed has the probe know that a container passes it.
func (p *Prober) passed(generation int) {
	p.generation, p.result, p.hold = generation, true, p.kind == startupProbe
}

// apply acts on a result that has reached its threshold.
func (p *Prober) apply(answer bool) {
	switch {
	case p.kind == readinessProbe:
		p.set(answer)
	case p.kind == livenessProbe && answer:
		p.result = true
	default:
		p.hold, p.row, p.result = true, 0, answer
		if answer {
			p.c.shown.started = true
		} else {
			p.c.condemned = p.spec
		}
		p.c.wk.RequestSync()
	}
}

// set changes a readiness result. The status is written at once; the kubelet works on the pod,
// too.
func (p *Prober) set(result bool) {
	if p.result == result {
		return
	}
	p.result = result
	p.c.shown.ready = result
	p.c.wk.update()
	p.c.wk.RequestSync()
}
