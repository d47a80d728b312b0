package control

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// Deployments runs the rollouts of all Deployments, one sync at a time each
// (Kubernetes 1.36 pkg/controller/deployment; verified).
type Deployments struct {
	d      *Desk
	Owner  engine.Owner
	react  *Queue
	Client api.Limiter

	deployments map[int]*api.Workload
	replicaSets map[api.ReplicaSetID]*api.ReplicaSet
	pods        map[api.PodID]*api.Pod // for Recreate: old pods that are not done yet
	// busy holds the Deployments with a sync that waits for its writes: the next one waits
	// for it, as the controller's one worker per key does.
	busy     map[int]bool
	progress map[int]*progress
	wrote    map[int]deploymentStatus // the status last asked to be written
	events   recorder
	deadline func(uint64) // what a timer of a rollout's progress does, with the number of the workload
}

// deploymentStatus is what of a Deployment's status changes: the version of the spec that it is of,
// and the counts.
type deploymentStatus struct {
	of *api.Workload
	rolloutCounts
	terminating int
}

func statusOf(d *api.Workload, in rolloutInput) deploymentStatus {
	s := deploymentStatus{of: d, rolloutCounts: countsOf(in)}
	for rs := range in.all() {
		s.terminating += rs.Terminating
	}
	return s
}

// NewDeployments starts the Deployment controller.
func NewDeployments(d *Desk) *Deployments {
	c := &Deployments{
		d: d, Owner: d.Engine.Register("deployment-controller"),
		deployments: map[int]*api.Workload{}, replicaSets: map[api.ReplicaSetID]*api.ReplicaSet{},
		pods: map[api.PodID]*api.Pod{}, busy: map[int]bool{}, Client: NewClient(), progress: map[int]*progress{},
		wrote: map[int]deploymentStatus{},
	}
	c.events = newRecorder(d, c.Owner, "deployment-controller", &c.Client)
	watch := func(workload uint64) { c.watchDeadline(int(workload), c.progress[int(workload)]) }
	c.deadline = func(workload uint64) { d.API.AwakeWith(c.Owner, watch, workload) }
	c.react = NewQueue(d, c.Owner, "deployment-controller", d.Latencies.Controller, c.sync)
	d.API.Subscribe("deployment-controller", c.Owner, d.Latencies.Watch, c.deliver, api.KindDeployment, api.KindReplicaSet, api.KindPod)
	return c
}

func (c *Deployments) deliver(o api.Object) {
	switch o := o.(type) {
	case *api.Workload:
		c.deployments[o.Workload] = o
		c.react.Add(o.Workload)
	case *api.ReplicaSet:
		c.replicaSets[o.ID] = o
		if o.Gone {
			delete(c.replicaSets, o.ID)
		}
		c.react.Add(o.ID.Workload)
	case *api.Pod:
		// Only Recreate looks at pods: it waits until the old ones are done. It hears of that
		// from its ReplicaSets' status; from pods only when the last one has gone.
		if !o.Gone {
			c.pods[o.ID] = o
			return
		}
		delete(c.pods, o.ID)
		if c.recreates(o.Workload) && !c.anyPod(o.Workload) {
			c.react.Add(o.Workload)
		}
	}
}

func (c *Deployments) recreates(workload int) bool {
	return c.d.Workloads[workload].Recreate()
}

func (c *Deployments) anyPod(workload int) bool {
	for _, p := range c.pods { // order: any one decides
		if p.Workload == workload {
			return true
		}
	}
	return false
}

// sync does one step of one Deployment.
func (c *Deployments) sync(workload int) {
	d := c.deployments[workload]
	if d == nil || c.busy[workload] {
		return
	}
	in := c.input(d)
	c.follow(d, in)
	switch {
	case d.Paused || scaling(in):
		c.apply(d, in, rescale(in))
	case c.recreates(workload):
		c.recreate(d, in)
	case in.newRS == nil:
		// The same sync goes on with the ReplicaSet it has made.
		with := in
		c.create(d, in, func(created *api.ReplicaSet) {
			with.newRS = created
			c.apply(d, with, rollingUpdate(with))
		})
	default:
		c.apply(d, in, rollingUpdate(in))
	}
}

func (c *Deployments) input(d *api.Workload) rolloutInput {
	surge, unavailable := c.d.Fenceposts(d)
	in := rolloutInput{replicas: d.Replicas, surge: surge, unavailable: unavailable, rolling: !c.recreates(d.Workload)}
	in.oldRSs = sortedReplicaSets(c.replicaSets, d.Workload)
	for i, rs := range in.oldRSs {
		if rs.ID.Revision == d.Revision {
			in.newRS, in.oldRSs = rs, slices.Delete(in.oldRSs, i, i+1)
			break
		}
	}
	return in
}

// sortedReplicaSets lists a workload's ReplicaSets, oldest first.
func sortedReplicaSets(all map[api.ReplicaSetID]*api.ReplicaSet, workload int) []*api.ReplicaSet {
	out := make([]*api.ReplicaSet, 0, len(all))
	for _, rs := range all { // order: sorted below
		if rs.ID.Workload == workload {
			out = append(out, rs)
		}
	}
	sorted.ShortBy(out, compareSetAges)
	return out
}

// scaling says that spec.replicas changed: some active ReplicaSet was last scaled for another
// size. A rollout waits until that is done.
func scaling(in rolloutInput) bool {
	for rs := range in.all() {
		if rs.Replicas != 0 && rs.Desired != in.replicas {
			return true
		}
	}
	return false
}

// create makes the ReplicaSet of a new template, already with the size that the first step
// gives it: what surge leaves room for, everything with Recreate.
func (c *Deployments) create(d *api.Workload, in rolloutInput, then func(*api.ReplicaSet)) {
	rs := &api.ReplicaSet{
		ID: api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision}, Desired: d.Replicas, MaxReplicas: d.Replicas + in.surge,
	}
	in.newRS = rs
	rs.Replicas = d.Replicas
	if in.rolling {
		rs.Replicas = 0
		rs.Replicas = newSize(in)
	}
	c.busy[d.Workload] = true
	c.d.API.Limited(&c.Client, c.Owner, "create replicaset", api.ReplicaSetKey(api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision}), func(o api.Object) api.Object {
		if existing, ok := o.(*api.ReplicaSet); ok && !existing.Gone {
			rs = existing // the cache did not have it yet
			return nil
		}
		created := *rs
		created.Created = c.d.Engine.Now()
		rs = &created
		return rs
	}, func() {
		if rs.Replicas > 0 {
			c.events.record(d.Workload) // ScalingReplicaSet
		}
		// The revision and the Progressing condition are written before anything else.
		c.d.API.Limited(&c.Client, c.Owner, "deployment status", api.DeploymentKey(d.Workload), func(api.Object) api.Object { return nil },
			func() { then(rs) })
	})
}

// recreate scales all old ReplicaSets to nothing, waits until no old pod is left that is not
// done, terminating ones included, and then makes the new ones at once.
func (c *Deployments) recreate(d *api.Workload, in rolloutInput) {
	var down []scale
	for _, rs := range in.oldRSs {
		if rs.Replicas > 0 {
			down = append(down, scale{rs: rs})
		}
	}
	switch {
	case len(down) > 0:
		c.apply(d, in, down)
	case c.oldPodsRunning(d, in):
		c.conclude(d, in)
	case in.newRS == nil:
		c.create(d, in, func(*api.ReplicaSet) { c.conclude(d, in) })
	default:
		c.apply(d, in, []scale{{rs: in.newRS, size: d.Replicas}})
	}
}

// oldPodsRunning says whether old pods run, by the ReplicaSets' status and by the pods.
func (c *Deployments) oldPodsRunning(d *api.Workload, in rolloutInput) bool {
	for _, rs := range in.oldRSs {
		if rs.Pods > 0 {
			return true
		}
	}
	for _, p := range c.pods { // order: any one of them decides
		if p.Workload == d.Workload && p.ReplicaSet != nil && p.Revision != d.Revision && !p.Phase.Terminal() {
			return true
		}
	}
	return false
}

// apply writes new sizes, one after the other. The next sync waits for the answers.
func (c *Deployments) apply(d *api.Workload, in rolloutInput, scales []scale) {
	desired, most := in.replicas, in.replicas+in.surge
	scales = slices.DeleteFunc(scales, func(s scale) bool {
		return s.size == s.rs.Replicas && !(s.annotate && (s.rs.Desired != desired || s.rs.MaxReplicas != most))
	})
	if len(scales) == 0 {
		c.tidy(d, in)
		return
	}
	c.busy[d.Workload] = true
	size, id, resized := scales[0].size, scales[0].rs.ID, scales[0].size != scales[0].rs.Replicas
	c.d.API.Limited(&c.Client, c.Owner, "scale replicaset", api.ReplicaSetKey(id), func(o api.Object) api.Object {
		rs, ok := o.(*api.ReplicaSet)
		if !ok {
			return nil
		}
		next := *rs
		next.Replicas, next.Desired, next.MaxReplicas = size, desired, most
		return &next
	}, func() {
		if resized {
			c.events.record(d.Workload) // ScalingReplicaSet
		}
		c.apply(d, in, scales[1:])
	})
}

// conclude ends a sync. If the status is another than the one last written, by what the sync saw at
// its beginning, it is written first, and the worker waits for the answer (Kubernetes 1.36
// pkg/controller/deployment/progress.go, syncRolloutStatus, and sync.go, syncDeploymentStatus;
// recalled).
func (c *Deployments) conclude(d *api.Workload, in rolloutInput) {
	s := statusOf(d, in)
	if c.wrote[d.Workload] == s {
		if c.busy[d.Workload] {
			c.done(d.Workload)
		}
		return
	}
	c.wrote[d.Workload], c.busy[d.Workload] = s, true
	c.d.API.Limited(&c.Client, c.Owner, "deployment status", api.DeploymentKey(d.Workload), func(api.Object) api.Object { return nil },
		func() { c.done(d.Workload) })
}

// done ends a sync that wrote something: what came meanwhile is looked at now.
func (c *Deployments) done(workload int) {
	c.busy[workload] = false
	c.react.Add(workload)
}

// Begin takes over a Deployment whose pods run, and whose status says so.
func (c *Deployments) Begin(d *api.Workload, rs *api.ReplicaSet, pods []*api.Pod) {
	c.deployments[d.Workload], c.replicaSets[rs.ID] = d, rs
	for _, p := range pods {
		c.pods[p.ID] = p
	}
	c.wrote[d.Workload] = statusOf(d, c.input(d))
}

// AtRest says whether a Deployment's ReplicaSets have the sizes that they are to have for the moment, and
// how many pods they ask for.
func (c *Deployments) AtRest(d *api.Workload) (pods int, ok bool) {
	in := c.input(d)
	switch {
	case in.newRS == nil:
		return 0, false
	case c.ScalesForEver(d):
	case scaling(in) || c.recreates(d.Workload) && (in.total() > in.newRS.Replicas || in.newRS.Replicas != d.Replicas):
		return 0, false
	case in.rolling && len(rollingUpdate(in)) > 0:
		return 0, false
	}
	return in.total(), true
}

// ScalesForEver says that a Deployment is stuck as the real controller gets stuck: its only
// ReplicaSet with pods has the right size and an annotation of another one, so that each sync
// takes the size to have changed, finds nothing to scale and stops (Kubernetes 1.36
// pkg/controller/deployment/sync.go, scale and isScalingEvent; verified; kubernetes#138036).
func (c *Deployments) ScalesForEver(d *api.Workload) bool {
	in := c.input(d)
	active := in.active()
	return len(active) == 1 && active[0].Replicas == d.Replicas && active[0].Desired != d.Replicas
}
