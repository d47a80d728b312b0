package kubelet

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
)

// Die is the end of the machine: its kubelet, and all processes there, are gone without a word. Nobody is sent anything, so
// that connections to them stand for all that their other ends know.
func (k *Kubelet) Die() {
	k.dead = true
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

// die ends the processes of a pod, and what was to become of them.
func (wk *Worker) die() {
	wk.stopProbes()
	wk.k.d.Engine.Cancel(wk.init.timer)
	for _, c := range wk.All {
		c.forgetTimers()
		if c.Running {
			c.Running, c.Finished = false, wk.k.d.Engine.Now()
			c.tell(event.Event{Kind: event.Ended, Ending: event.WithNode})
		}
		c.stopped = nil
	}
}

// forgetTimers has nothing come of what the container was to do, or was to be done to it.
func (c *Container) forgetTimers() {
	for _, h := range []*engine.Handle{&c.kill, &c.exit, &c.listen, &c.crash, &c.acts} {
		c.wk.k.d.Engine.Cancel(*h)
		*h = engine.Handle{}
	}
}
