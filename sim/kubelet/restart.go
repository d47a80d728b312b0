package kubelet

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Crash-loop back-off (Kubernetes 1.36 kuberuntime_manager.go, doBackOff, and client-go
// flowcontrol.Backoff; verified).
const (
	firstBackoff   = 10 * engine.Second
	maximumBackoff = 300 * engine.Second
	forgetBackoff  = 2 * maximumBackoff // a container that ran that long starts afresh
	longestRetry   = 60 * engine.Second // the kubelet's resync period
)

// backoff is a container's entry in the back-off table; pause 0 is none.
type backoff struct {
	pause   engine.Time
	updated engine.Time
}

// left returns how long a container that ended at a moment has to wait yet.
func (b backoff) left(ended, now engine.Time) engine.Time {
	if b.pause == 0 || ended-b.updated > forgetBackoff {
		return 0
	}
	return max(0, ended+b.pause-now)
}

// next doubles the pause for the time after a restart.
func (b backoff) next(ended, now engine.Time) backoff {
	if b.pause == 0 || ended-b.updated > forgetBackoff {
		return backoff{firstBackoff, now}
	}
	return backoff{min(maximumBackoff, 2*b.pause), now}
}

// restartContainers kills the containers that failed their liveness or startup probe and starts
// again what has ended. The pod's worker is busy meanwhile.
func (wk *Worker) restartContainers() {
	for _, c := range wk.All {
		switch {
		case c.Generation == 0 || c.starting:
		case c.Running && c.condemned != nil:
			c.killForProbe()
		case !c.Running:
			c.restart(c.Finished)
		}
	}
}

// killForProbe is a probe killing its container: preStop, SIGTERM and SIGKILL as at a
// termination, with the probe's own grace period if it has one, and a new container at once.
// The back-off counts from the end of the container before this one.
func (c *Container) killForProbe() {
	wk := c.wk
	grace := world.GraceOf(wk.spec)
	if s := c.condemned.TerminationGracePeriodSeconds; s != nil {
		grace = engine.Time(*s) * engine.Second
	}
	c.condemned = nil
	before := c.Finished
	wk.busy++
	c.stopped = func() {
		wk.busy--
		if !wk.terminating {
			wk.lastSync = wk.k.d.Engine.Now()
			wk.noticed()
			c.restart(before)
		}
	}
	c.runHook(grace, func(left engine.Time) {
		if c.Running && !wk.terminating {
			c.signal(max(minimumGrace, left), event.Liveness)
		}
	})
}

// restart starts a container again: at once, or when the back-off since the end of an earlier
// one is over. Waiting does not keep the kubelet from working on the pod.
func (c *Container) restart(ended engine.Time) {
	d, wk := c.wk.k.d, c.wk
	now := d.Engine.Now()
	c.starting = true
	n := c.number()
	if ended != api.Never {
		if left := min(longestRetry, c.backoff.left(ended, now)); left > 0 {
			// The kubelet comes back when it is over, or up to half as long again later.
			extra := engine.Time(engine.Below(d.Engine.Stream(c.String(), "back-off").Draw(n), int(left/2)+1))
			wk.k.after(left+extra, "back-off over", func() {
				if !wk.terminating {
					c.restart(ended)
				}
			})
			return
		}
		c.backoff = c.backoff.next(ended, now)
	}
	wk.busy++
	begin := d.Latencies.ContainerStart.Sample(d.Engine.Stream(c.String(), "container start").Draw(n))
	wk.k.after(begin, "container restarted", func() {
		if wk.terminating {
			return
		}
		c.starting = false
		c.beginAlone()
	})
}
