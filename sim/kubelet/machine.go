package kubelet

import (
	"maps"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
)

// process is that of a kubelet: it ends with its machine, or by itself, and begins again.
type process struct {
	watch *api.Watch
	down  bool        // it does not run
	mute  bool        // it is silent from the beginning
	since engine.Time // when it was started
	boots int         // counts the ends of the machine

	shutting bool // its machine shuts down
	lives    int  // counts the ends of the process
}

// startTime is how long a kubelet that is started takes until it has read its pods (recalled).
const startTime = engine.Second

// whileUp has something done unless the machine has ended meanwhile.
func (p *process) whileUp(run func()) func() {
	boot := p.boots
	return func() {
		if p.boots == boot {
			run()
		}
	}
}

// whileRunning has something done unless the process has ended meanwhile.
func (p *process) whileRunning(run func()) func() {
	life := p.lives
	return func() {
		if p.lives == life {
			run()
		}
	}
}

// Die is the end of the machine: its kubelet, and all processes there, are gone without a word. Nobody is sent anything, so
// that connections to them stand for all that their other ends know.
func (k *Kubelet) Die() {
	k.end()
	k.boots++
	for _, i := range k.d.Instances.On(k.node) {
		if wk := k.Worker(i.Pod); wk != nil {
			wk.die()
		}
		i.Running, i.Host = false, false
		if i.Listening {
			k.d.setListening(i, false, ClosedWithNode)
		}
		if i.Sandbox {
			k.d.sandboxGone(i)
		}
	}
}

// Mute has the kubelet do nothing from the beginning. The pods that it has are not its work.
func (k *Kubelet) Mute() { k.down, k.mute = true, true }

// end is the end of the process, and of all that it had in mind.
func (k *Kubelet) end() {
	k.down = true
	k.lives++
	k.dirty, k.writing, k.planned = nil, false, false
}

// die ends the processes of a pod, and what was to become of them.
func (wk *Worker) die() {
	wk.stopProbes()
	wk.k.d.Engine.Cancel(wk.init.timer)
	wk.init = initialization{}
	for _, c := range wk.All {
		c.forgetTimers()
		if c.Running {
			c.Running, c.Finished = false, wk.k.d.Engine.Now()
			c.tell(event.Event{Kind: event.Ended, Ending: event.WithNode})
		}
		c.made, c.Generation, c.shown = c.made+c.Generation, 0, shown{}
	}
}

// forgetTimers has nothing come of what the container was to do, or was to be done to it.
func (c *Container) forgetTimers() {
	for _, h := range []*engine.Handle{&c.kill, &c.exit, &c.listen, &c.crash, &c.acts} {
		c.wk.k.d.Engine.Cancel(*h)
		*h = engine.Handle{}
	}
}

// Restart is the process ending and being started again. Containers run on. What the kubelet had the container runtime do ends with its
// call: a SIGKILL that was to come does not, and a preStop hook is over (containerd; recalled).
func (k *Kubelet) Restart(pods func() []*api.Pod) {
	k.end()
	for _, i := range k.d.Instances.On(k.node) {
		wk := k.Worker(i.Pod)
		if wk == nil {
			continue
		}
		wk.stopProbes()
		for _, c := range wk.All {
			for _, h := range []*engine.Handle{&c.kill, &c.acts} {
				k.d.Engine.Cancel(*h)
				*h = engine.Handle{}
			}
		}
	}
	k.after(startTime, "kubelet started", func() { k.Start(pods()) })
}

// Boot is the machine being back, with its kernel and its kubelet.
func (k *Kubelet) Boot(pods []*api.Pod) {
	for _, i := range k.d.Instances.On(k.node) {
		i.Host = k.d.Specs.PodSpec(i.set()).HostNetwork
	}
	k.Start(pods)
}

// Start is the kubelet beginning to run, with the pods that the API says are its own: it goes on with what it finds of them.
func (k *Kubelet) Start(pods []*api.Pod) {
	k.lives++ // what came while it was down is found now
	k.down, k.mute, k.shutting, k.since = false, false, false, k.d.Engine.Now()
	k.watch.Forget()
	known := k.pods
	k.pods = map[api.PodID]*Worker{}
	for _, p := range pods {
		wk := known[p.ID]
		delete(known, p.ID)
		k.takeUp(p, wk)
	}
	for _, id := range slices.Sorted(maps.Keys(known)) { // the API knows of no such pods: they are to stop
		wk := known[id]
		wk.stopped()
		k.pods[id] = wk
		wk.terminating = true
		wk.killAll(engine.Second)
	}
}

// takeUp begins the work on a pod, of which it may be at any point.
func (k *Kubelet) takeUp(p *api.Pod, wk *Worker) {
	if wk == nil {
		k.deliver(p)
		return
	}
	wk.stopped()
	wk.open, wk.status = p.Open, podStatus{
		phase: p.Phase, containersReady: p.ContainersReady, ready: p.Ready, since: p.ReadySince, ip: p.IP, restarts: p.Restarts,
	}
	k.pods[p.ID], wk.seenReady = wk, p.Ready
	switch {
	case p.Phase.Terminal() && p.Deleting():
		wk.terminating = true
		wk.cleanedUp = k.NextRelist(k.d.Engine.Now()) + cleanupPoll
		wk.remove()
	case p.Phase.Terminal():
		wk.terminating = true
	case p.Deleting():
		wk.terminate(p)
	case !wk.Instance.Sandbox:
		wk.made++
		wk.update()
		wk.startUp(p)
	case !wk.initialized() && !wk.initBegun():
		wk.startNext(0)
	case wk.unbegun() >= 0: // the kubelet ended while a postStart hook was under way, which nobody runs again
		wk.busy++
		wk.beginFrom(wk.unbegun())
	default:
		wk.noticed()
	}
}

// initBegun says whether the init container whose turn it is has been started; false where the containers come next.
func (wk *Worker) initBegun() bool {
	if wk.init.at >= len(wk.spec.InitContainers) {
		return false
	}
	if c := wk.sidecar(&wk.spec.InitContainers[wk.init.at]); c != nil {
		return c.Generation > 0
	}
	return wk.init.timer != (engine.Handle{})
}

// unbegun is the first container that was never started though one before it was, -1 for none.
func (wk *Worker) unbegun() int {
	if !wk.initialized() {
		return -1
	}
	return slices.IndexFunc(wk.All, func(c *Container) bool { return !c.sidecar && c.Generation == 0 })
}

// stopped is what is left of the work on a pod when the kubelet that was at it is gone: the containers, as they are.
func (wk *Worker) stopped() {
	wk.terminating, wk.syncPending, wk.dirty, wk.sending, wk.busy = false, false, false, false, 0
	wk.lastSync, wk.cleanedUp = wk.k.d.Engine.Now(), api.Never
	wk.failed, wk.kept, wk.gone = false, false, nil
	for _, c := range wk.All {
		c.stopped, c.condemned, c.starting, c.backoff = nil, nil, false, backoff{}
		c.meetAgain()
	}
}

// meetAgain has the probes of a container begin. Since Kubernetes 1.35 they know what the pod's status said: that it has started, that it is
// ready. Before, it had first to pass them again (ChangeContainerStatusOnKubeletRestart; verified). That a probe has failed, and what condemned a
// container, is asked anew.
func (c *Container) meetAgain() {
	c.addProbers()
	if !c.wk.k.d.KeepsStatus {
		return
	}
	for _, p := range c.probers {
		passes := c.shown.started
		if p.kind == readinessProbe {
			passes = c.shown.ready
		}
		if passes {
			p.passed(c.shown.generation)
		}
	}
}
