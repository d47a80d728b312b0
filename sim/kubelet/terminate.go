package kubelet

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// terminate runs a pod's termination: liveness and startup probes stop, every container gets
// its preStop hook and then SIGTERM, sidecars after the others; when all have ended the
// sandbox goes and the pod's last status is written.
//
// It begins when the news arrives if the kubelet has looked at the containers since it last
// worked on the pod, else at the next relist (Kubernetes 1.36 pod_workers.go, the wait for a
// newer runtime cache; verified).
func (wk *Worker) terminate(p *api.Pod) {
	wk.terminating = true
	now := wk.k.d.Engine.Now()
	wk.k.after(wk.cacheNewer()-now, "terminate pod", func() {
		wk.killAll(max(p.Grace, engine.Second))
	})
}

// killAll stops all containers of a pod in parallel within a grace period.
func (wk *Worker) killAll(grace engine.Time) {
	for _, c := range wk.All {
		for _, p := range []*Prober{c.Liveness, c.startup} {
			if p != nil {
				p.stop()
			}
		}
	}
	wk.k.d.Engine.Cancel(wk.init.timer) // an init container is taken to end when told
	t := &termination{wk: wk, failed: !wk.initialized() || wk.failed}
	var running []*Container
	for _, c := range wk.All {
		if c.Running {
			running = append(running, c)
			c.stopped = t.ended
		}
	}
	if t.left = len(running); t.left == 0 {
		t.failed = true // it never ran, or was waiting to be restarted
		t.finish()
		return
	}
	for _, c := range running {
		t.stop(c, grace)
	}
}

// termination is a pod on its way out.
type termination struct {
	wk      *Worker
	left    int        // containers that have not ended
	waiting []*sidecar // past their preStop hook, waiting for their turn
	failed  bool       // some container was killed
}

// sidecar is one that waits for its turn to be signalled.
type sidecar struct {
	c     *Container
	since engine.Time
	left  engine.Time // of the grace period, when it began to wait
	timer engine.Handle
}

// stop runs a container's preStop hook and then signals it, when it is its turn.
func (t *termination) stop(c *Container, grace engine.Time) {
	c.runHook(grace, func(left engine.Time) {
		switch {
		case !c.Running:
		case c.sidecar && left > 0 && !t.turn(c):
			t.wait(c, left)
		default:
			t.signal(c, left)
		}
	})
}

func (t *termination) signal(c *Container, left engine.Time) {
	c.signal(max(minimumGrace, left), event.Killed)
}

// turn says whether a sidecar may be signalled: all main containers and all sidecars declared
// after it have ended.
func (t *termination) turn(c *Container) bool {
	for _, other := range t.wk.All {
		if other != c && other.Running && (!other.sidecar || other.index > c.index) {
			return false
		}
	}
	return true
}

// wait keeps a sidecar until its turn, or until what its preStop hook left of the grace period
// is over.
func (t *termination) wait(c *Container, left engine.Time) {
	s := &sidecar{c: c, since: t.wk.k.d.Engine.Now(), left: left}
	s.timer = t.wk.k.after(left, "grace over for sidecar", func() {
		if c.Running {
			t.signal(c, 0)
		}
	})
	t.waiting = append(t.waiting, s)
}

// ended hears that one container has ended.
func (t *termination) ended() {
	t.left--
	if t.left == 0 {
		t.finish()
		return
	}
	d := t.wk.k.d
	for _, s := range t.waiting {
		if s.c.Running && t.turn(s.c) && d.Engine.Cancel(s.timer) {
			// The wait counts in whole seconds, too.
			t.signal(s.c, s.left-(d.Engine.Now()-s.since).TruncateToSecond())
		}
	}
}

// finish tears the sandbox down and reports the pod's end. The object goes when the worker has
// seen the end in a newer cache and cleaned up, and the end is written.
func (t *termination) finish() {
	wk := t.wk
	d := wk.k.d
	wk.stopProbes()
	if wk.Instance.Sandbox {
		d.sandboxGone(wk.Instance)
	}
	phase := api.PhaseSucceeded
	for _, c := range wk.All {
		if t.failed || c.killed {
			phase = api.PhaseFailed
		}
	}
	now := d.Engine.Now()
	wk.cleanedUp = wk.k.NextRelist(now) + cleanupPoll
	s := wk.status
	s.phase, s.containersReady, s.ready = phase, false, false
	wk.k.setStatus(wk, s)
	if gone := wk.gone; gone != nil {
		wk.gone = nil
		gone()
	}
}

// remove deletes the pod's object, whose end is written, as soon as all is cleaned up.
func (wk *Worker) remove() {
	d := wk.k.d
	wk.k.after(max(0, wk.cleanedUp-d.Engine.Now()), "pod cleaned up", func() {
		d.API.Write(wk.k.Owner, "remove pod", api.PodKey(wk.ID), api.Gone, nil)
	})
}

// runHook starts the container's preStop hook and tells done, when the kubelet goes on, how
// much of the grace period is left: the hook's time counts in whole seconds. A hook that
// overruns the grace period is not waited for, and goes on.
func (c *Container) runHook(grace engine.Time, done func(left engine.Time)) {
	d, k := c.wk.k.d, c.wk.k
	c.tell(event.Event{Kind: event.Stopping, Grace: grace})
	switch c.hook.Kind {
	case "": // none
		done(grace)
		return
	case "missing", "tcpSocket": // it fails at once: an event, and no delay
		c.tell(event.Event{Kind: event.PreStopFailed, Hook: &c.hook})
		done(grace)
		return
	}
	c.tell(event.Event{Kind: event.PreStop, Hook: &c.hook})
	draws := d.Engine.Stream(c.String(), "preStop")
	begun := d.Engine.Now()
	n := 2 * uint64(c.Generation)
	if c.hook.ClosesListener || c.hook.SignalsServer || c.hook.FailsReadiness {
		if after := c.hook.ActsAfter.Sample(draws.Draw(n + 1)); after > 0 {
			c.acts = k.inPod(after, "preStop acts", c.hookActs)
		} else {
			c.hookActs()
		}
	}
	var over func()
	over = func() {
		now := d.Engine.Now()
		if c.hook.WaitsForRequests && c == c.wk.Main && c.Running && now < begun+grace {
			if until := d.Observer.InFlightUntil(c.wk.Instance); until > now {
				k.after(min(until, begun+grace)-now, "preStop over", over)
				return
			}
		}
		done(grace - (now - begun).TruncateToSecond())
	}
	k.after(min(c.hook.Duration.Sample(draws.Draw(n)), grace), "preStop over", over)
}

// hookActs is what a preStop hook does to the server, which runs.
func (c *Container) hookActs() {
	if c != c.wk.Main {
		return
	}
	if c.hook.FailsReadiness {
		c.unready = true
	}
	if c.hook.ClosesListener {
		c.closeListener(ClosedOnTerm)
	}
	if c.hook.SignalsServer {
		c.told(event.ByItself)
	}
	c.wk.Wake()
}

func (c *Container) closeListener(why Closed) {
	c.wk.k.d.Engine.Cancel(c.listen)
	c.wk.k.d.setListening(c.wk.Instance, false, why)
	c.wk.Wake()
}

// signal sends SIGTERM, and SIGKILL after the time that is left.
func (c *Container) signal(left engine.Time, killed event.Ending) {
	k := c.wk.k
	c.tell(event.Event{Kind: event.Signalled, Grace: left})
	k.d.Engine.Cancel(c.kill)
	c.kill = k.inPod(left, "SIGKILL", func() {
		c.killed = true
		if c == c.wk.Main {
			k.d.Log.OfPod(event.Kill, c.wk.ID)
		}
		c.end(killed)
	})
	if c != c.wk.Main {
		c.end(event.ByItself) // other containers are taken to stop when told
		return
	}
	own := event.ByItself
	if killed == event.Liveness {
		own = event.Liveness
	}
	c.told(own)
}

// told is what the app does when it is told to end, by its profile. Being told again changes
// nothing but whose order it is: that of a termination counts before that of a probe.
func (c *Container) told(how event.Ending) {
	d, i := c.wk.k.d, c.wk.Instance
	if c.signalled {
		c.orders = min(c.orders, how)
		if !i.Listening {
			d.setListening(i, false, closedBy(c.orders))
		}
		return
	}
	c.signalled, c.orders = true, how
	i.Term = d.Engine.Now()
	d.Log.OfPod(event.Term, i.Pod)
	if i.App.IgnoresSIGTERM {
		if i.App.Reloads() && i.Listening {
			d.Observer.Reloading(i)
			i.Back = i.Term + i.App.Start.Sample(d.Engine.Stream(c.wk.name, "reload").Draw(c.number()))
		}
		d.Observer.Terminated(i)
		c.wk.Wake() // its readiness may fail all the same
		return
	}
	drain := engine.Time(0)
	switch i.App.Listener {
	case world.ListenerCloses:
		c.closeListener(closedBy(how))
	case world.ListenerDrains:
		drain = i.App.DrainFor
	case world.ListenerStays: // until the process ends
	}
	d.Observer.Terminated(i)
	c.wk.Wake()
	c.exit = c.wk.k.inPod(drain, "app stops accepting", func() {
		if i.Listening && i.App.Listener != world.ListenerStays {
			c.closeListener(closedBy(c.orders))
		}
		c.finishRequests(d.Engine.Now())
	})
}

// finishRequests lets the app end when its requests in flight are done, or cuts them.
func (c *Container) finishRequests(since engine.Time) {
	d, i := c.wk.k.d, c.wk.Instance
	now := d.Engine.Now()
	until := now
	if i.App.InFlight == world.InFlightFinish {
		until = max(now, d.Observer.InFlightUntil(i))
	}
	if limit := since + i.App.FinishWithin; i.App.FinishWithin > 0 && until > limit {
		c.exit = c.wk.k.inPod(limit-now, "app exits", func() { c.end(c.orders) })
		return
	}
	if until > now { // more may have come by then, over connections that are open
		c.exit = c.wk.k.inPod(until-now, "requests finished", func() { c.finishRequests(since) })
		return
	}
	c.exit = c.wk.k.inPod(i.App.Linger, "app exits", func() { c.end(c.orders) })
}

// closedBy is why a listener is closed, or a process gone, that ended in a way.
func closedBy(how event.Ending) Closed {
	switch how {
	case event.Liveness:
		return ClosedLiveness
	case event.Crashed:
		return ClosedCrash
	case event.WithNode:
		return ClosedWithNode
	default: // after SIGTERM
		return ClosedOnTerm
	}
}

// end is the end of the container's process. A crash of one that was told to end is its own way
// to end.
func (c *Container) end(how event.Ending) {
	if !c.Running {
		return
	}
	if how == event.Crashed && c.signalled {
		how = c.orders
	}
	d := c.wk.k.d
	c.forgetTimers()
	c.Running, c.Finished = false, d.Engine.Now()
	c.tell(event.Event{Kind: event.Ended, Ending: how})
	if c == c.wk.Main {
		c.endInstance(how)
	} else if c.wk.terminating {
		c.leaveAlone()
	}
	stopped := c.stopped
	c.stopped = nil
	switch {
	case stopped != nil:
		d.API.Awake(c.wk.k.Owner, c.wk.k.whileRunning(stopped))
	case !c.wk.terminating:
		c.wk.noticed() // the kubelet restarts it when it has seen it
	}
	c.wk.Wake()
}

// leaveAlone tells of a server that runs on without the container, which it passes its requests on to: a proxy does not end with what is
// behind it (docs/model/pod-lifecycle.md 2.1 Behind a proxy). Where what is behind it was killed before the pod was told to end, the kubelet starts it again.
func (c *Container) leaveAlone() {
	i := c.wk.Instance
	if i.Alone || !i.Running || !slices.Contains(c.wk.k.d.Specs.PassesTo(i.Workload), c.spec.Name) {
		return
	}
	c.wk.k.d.Observer.LeftAlone(i)
	i.Alone = true
}

func (c *Container) endInstance(how event.Ending) {
	d, i := c.wk.k.d, c.wk.Instance
	i.Running = false
	d.setListening(i, false, closedBy(how))
	d.Observer.Ended(i, how)
}
