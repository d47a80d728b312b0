package control

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
)

// progress is what the Deployment controller remembers of a rollout to tell whether it goes on:
// the condition Progressing, and the counts of the status that it compares (Kubernetes 1.36
// pkg/controller/deployment/progress.go and util/deployment_util.go; verified in
// docs/model/controllers.md 2 Progress timeout; the order of the steps is recalled).
type progress struct {
	revision int
	done     bool        // the rollout was complete once: what happens later is none of its business
	exceeded bool        // ProgressDeadlineExceeded
	last     engine.Time // of the last progress; the API keeps whole seconds
	paused   bool
	counts   rolloutCounts
	timer    engine.Handle
}

// rolloutCounts are the numbers in a Deployment's status.
type rolloutCounts struct{ updated, old, ready, available int }

// timerSlack is what the controller adds to the time at which it comes back to look, so that the
// deadline has passed by then (progress.go, requeueStuckDeployment; recalled).
const timerSlack = engine.Second

func countsOf(in rolloutInput) rolloutCounts {
	var c rolloutCounts
	for rs := range in.all() {
		c.old += rs.Pods
		c.ready += rs.ReadyPods
		c.available += rs.Available
	}
	if in.newRS != nil {
		c.updated = in.newRS.Pods
		c.old -= c.updated
	}
	return c
}

// advanced says whether the status shows progress: more new pods, fewer old ones, more that are
// ready or available (DeploymentProgressing).
func (c rolloutCounts) advanced(before rolloutCounts) bool {
	return c.updated > before.updated || c.old < before.old || c.ready > before.ready || c.available > before.available
}

// complete says whether all there is to be is there, and nothing else (DeploymentComplete).
func (c rolloutCounts) complete(replicas int) bool {
	return c.updated == replicas && c.old == 0 && c.available == replicas
}

// follow looks at a Deployment's progress at the beginning of a sync.
func (c *Deployments) follow(d *api.Workload, in rolloutInput) {
	p := c.progress[d.Workload]
	if p == nil { // at the beginning everything is as it should be
		p = &progress{done: true}
		c.progress[d.Workload] = p
	}
	now, counts := c.d.Engine.Now(), countsOf(in)
	before := p.counts
	p.counts = counts
	switch {
	case d.Revision != p.revision:
		p.revision, p.done, p.exceeded, p.last = d.Revision, false, false, now
	case p.done:
		return
	case p.paused && !d.Paused, counts.advanced(before): // resuming starts the time again
		p.exceeded, p.last = false, now
	}
	p.paused = d.Paused
	p.done = counts.complete(d.Replicas)
	c.watchDeadline(d.Workload, p)
}

// watchDeadline sets the timer at which the rollout will have made no progress for too long, or
// finds that so it is.
func (c *Deployments) watchDeadline(workload int, p *progress) {
	c.d.Engine.Cancel(p.timer)
	seconds := c.d.deploymentOf(api.ReplicaSetID{Workload: workload, Revision: p.revision}).Spec.ProgressDeadlineSeconds
	if p.done || p.paused || p.exceeded || seconds == nil {
		return
	}
	at := p.last.TruncateToSecond() + engine.Time(*seconds)*engine.Second + timerSlack
	if at > c.d.Engine.Now() {
		p.timer = c.d.Engine.AtWith(at, engine.ClassTimer, c.Owner, "progress deadline", c.deadline, uint64(workload))
		return
	}
	p.exceeded = true
	c.d.Log.Tell(event.Event{Kind: event.Deadline, Pod: -1, Node: -1, Stream: -1, Workload: workload, Seconds: *seconds})
}

// DeadlineWords says that a rollout has made no progress for too long, and what follows.
func DeadlineWords(name string, seconds int32) string {
	return fmt.Sprintf("the rollout of %s made no progress for %d s (ProgressDeadlineExceeded): Kubernetes does not roll back by itself", name, seconds)
}

// Deadline is progressDeadlineSeconds of a revision that has one.
func (c *Deployments) Deadline(workload, revision int) int32 {
	return *c.d.deploymentOf(api.ReplicaSetID{Workload: workload, Revision: revision}).Spec.ProgressDeadlineSeconds
}

// UnderWay says whether the rollout of a Deployment's present revision has begun and was not complete yet.
func (c *Deployments) UnderWay(d *api.Workload) bool {
	p := c.progress[d.Workload]
	return p != nil && !p.done && p.revision == d.Revision
}

// Exceeded says whether a workload's rollout has made no progress within its deadline, and of which revision it is.
func (c *Deployments) Exceeded(workload int) (revision int, ok bool) {
	p := c.progress[workload]
	if p == nil || !p.exceeded {
		return 0, false
	}
	return p.revision, true
}
