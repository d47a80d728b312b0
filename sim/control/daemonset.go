package control

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// burstDaemons is how many pods one sync of the DaemonSet controller creates or deletes at most (Kubernetes 1.36
// pkg/controller/daemon/daemon_controller.go, BurstReplicas; verified).
const burstDaemons = 250

// DaemonSets keeps a pod of each DaemonSet on each node that it is for, and replaces those of an older template (Kubernetes 1.36
// pkg/controller/daemon; verified). It makes each pod for one node, by required node affinity, and the scheduler binds it there.
//
// A sync begins only when the controller's watches have shown it all that it has written itself (the gate
// StaleControllerConsistencyDaemonSet, on by default in 1.36).
type DaemonSets struct {
	d      *Desk
	Owner  engine.Owner
	react  *Queue
	limit  api.Limiter
	work   map[int]*daemonWork // by workload
	nodes  []*api.Node         // as the watch has shown them
	events recorder
}

// daemonWork is what the controller knows of one DaemonSet, and is at with it.
type daemonWork struct {
	expectations
	set     *api.Workload // as the watch has shown it
	pods    api.PodList   // the same
	of      *api.Workload // what the sync under way has found
	status  api.DaemonStatus
	written int  // the revision that the newest ControllerRevision is of
	done    int  // the revision whose rollout was complete last
	busy    bool // its sync waits for its writes
	again   bool // there was news since

	backOff map[int]failedBackOff // by node
}

// failedBackOff has the controller leave failed pods of a node alone for a while.
type failedBackOff struct{ last, span engine.Time }

// The bounds of that while (Kubernetes 1.36 cmd/kube-controller-manager/app/apps.go; verified).
const (
	shortestBackOff = engine.Second
	longestBackOff  = 15 * engine.Minute
)

// NewDaemonSets starts the DaemonSet controller.
func NewDaemonSets(d *Desk) *DaemonSets {
	c := &DaemonSets{
		d: d, Owner: d.Engine.Register("daemonset-controller"), limit: NewClient(), work: map[int]*daemonWork{}, nodes: make([]*api.Node, len(d.Nodes)),
	}
	c.events = newRecorder(d, c.Owner, "daemonset-controller", &c.limit)
	c.react = NewQueue(d, c.Owner, "daemonset-controller", d.Latencies.Controller, c.sync)
	for n := range c.nodes {
		c.nodes[n], _ = d.API.Get(api.NodeKey(n)).(*api.Node)
	}
	d.API.Subscribe("daemonset-controller", c.Owner, d.Latencies.Watch, c.deliver, api.KindDaemonSet, api.KindPod, api.KindNode)
	return c
}

func (c *DaemonSets) deliver(o api.Object) {
	switch o := o.(type) {
	case *api.Workload:
		if s := c.work[o.Workload]; s != nil {
			s.set = o
			c.react.Add(o.Workload)
		}
	case *api.Pod:
		c.deliverPod(o)
	case *api.Node:
		c.nodes[o.Number] = o
		for _, workload := range c.sets() {
			if c.concerned(c.work[workload], o.Number) {
				c.react.Add(workload)
			}
		}
	}
}

// sets lists the DaemonSets, in order.
func (c *DaemonSets) sets() []int {
	out := make([]int, 0, len(c.work))
	for workload := range c.work { // order: sorted below
		out = append(out, workload)
	}
	slices.Sort(out)
	return out
}

func (c *DaemonSets) deliverPod(p *api.Pod) {
	s := c.work[p.Workload]
	if s == nil {
		return
	}
	was := s.pods.Set(p)
	if was == nil && !p.Gone && s.creating > 0 {
		s.creating--
	}
	if minReady := c.d.Specs.MinReady(p.Workload); minReady > 0 && was != nil && !was.Ready && p.Ready { // and a second more, against skew
		c.react.AddAt(c.d.Engine.Now()+minReady+engine.Second, p.Workload)
	}
	if p.Deleting() || p.Gone {
		delete(s.deleting, p.ID)
	}
	c.react.Add(p.Workload)
}

// concerned says whether news of a node is any to a DaemonSet: it is to have a pod there and has none, has one that may not stay, or
// has some where none are to be (Kubernetes 1.36 pkg/controller/daemon/daemon_controller.go, syncNodeUpdate; verified).
func (c *DaemonSets) concerned(s *daemonWork, node int) bool {
	if c.nodes[node].Gone {
		return false
	}
	scheduled := slices.ContainsFunc(s.pods, func(p *api.Pod) bool { return p.Node == node && c.d.counts(p) })
	runs, stays := c.runs(s.set, node)
	return runs && !scheduled || scheduled && (!stays || s.status.Misscheduled > 0)
}

// runs says whether a DaemonSet is to have a pod on a node, and whether one may stay.
func (c *DaemonSets) runs(of *api.Workload, node int) (runs, stays bool) {
	spec := &world.TemplateOf(c.d.Specs.ResourceOf(revisionOf(of))).Spec
	return world.DaemonRuns(spec, &c.d.Nodes[node], nodeTaints(&c.d.Nodes[node], c.nodes[node]))
}

func revisionOf(w *api.Workload) api.ReplicaSetID {
	return api.ReplicaSetID{Workload: w.Workload, Revision: w.Revision}
}

// sync does one step of one DaemonSet: what is missing or too much, and if that is nothing, what an update replaces. Then it writes
// the status.
func (c *DaemonSets) sync(workload int) {
	s := c.work[workload]
	switch {
	case s.busy:
		s.again = true
		return
	case !s.met() || s.status != s.set.Daemon:
		return // the news that it waits for has it look again
	}
	s.busy, s.of = true, s.set
	c.revise(s, func() {
		c.d.claim(&c.limit, c.Owner, c.d.toClaim(s.pods), func() {
			step := manage(c.input(s, s.of))
			c.backOff(s, step)
			c.carryOut(s, step, func() { c.update(s) })
		})
	})
}

// revise writes the ControllerRevision of a template that is not the present one yet.
func (c *DaemonSets) revise(s *daemonWork, then func()) {
	if s.written == s.of.Revision {
		then()
		return
	}
	s.written = s.of.Revision
	c.d.API.Limited(&c.limit, c.Owner, "write controllerrevision", s.of.Key(), func(api.Object) api.Object { return nil }, then)
}

// update goes on with a rolling update, where the watches have shown all that was done before.
func (c *DaemonSets) update(s *daemonWork) {
	if !s.met() || !c.rolling(s.of) {
		c.writeStatus(s)
		return
	}
	c.carryOut(s, rollDaemons(c.input(s, s.of)), func() { c.writeStatus(s) })
}

// rolling says whether the strategy is RollingUpdate: with OnDelete nobody replaces anything.
func (c *DaemonSets) rolling(of *api.Workload) bool {
	return c.strategy(of).Type != appsv1.OnDeleteDaemonSetStrategyType
}

func (c *DaemonSets) strategy(of *api.Workload) *appsv1.DaemonSetUpdateStrategy {
	d, ok := c.d.Specs.ResourceOf(revisionOf(of)).(*appsv1.DaemonSet)
	if !ok {
		panic("control: not a DaemonSet: " + c.d.Workloads[of.Workload].Name())
	}
	return &d.Spec.UpdateStrategy
}

// input is what a sync sees.
func (c *DaemonSets) input(s *daemonWork, of *api.Workload) *daemonInput {
	in := &daemonInput{revision: of.Revision, now: c.d.Engine.Now(), minReady: c.d.Specs.MinReady(of.Workload)}
	for n := range c.nodes {
		node := daemonNode{number: n, gone: c.nodes[n] == nil || c.nodes[n].Gone}
		if !node.gone {
			node.runs, node.stays = c.runs(of, n)
			node.waits = s.backOff[n].in(in.now)
		}
		if node.runs {
			in.desired++
		}
		in.nodes = append(in.nodes, node)
	}
	for _, p := range s.pods {
		if n := p.Place(); n >= 0 && !(p.Phase.Terminal() && p.Deleting()) && c.d.counts(p) {
			in.nodes[n].pods = append(in.nodes[n].pods, p)
		}
	}
	c.shuffle(of, in.nodes)
	if u := c.strategy(of).RollingUpdate; u != nil && c.rolling(of) {
		in.surge, in.unavailable = world.DaemonFenceposts(in.desired, *u.MaxSurge, *u.MaxUnavailable)
		one, _ := world.DaemonFenceposts(1, *u.MaxSurge, *u.MaxUnavailable)
		in.surges = one > 0
	}
	return in
}

// shuffle puts nodes in an order of chance, another one for each revision: the controller takes them as it happens to find them
// (docs/model/measured.md 1 DaemonSet order).
func (c *DaemonSets) shuffle(of *api.Workload, nodes []daemonNode) {
	draws := make([]uint64, len(nodes))
	for n := range nodes {
		name := c.d.Workloads[of.Workload].Name() + " on " + c.d.Nodes[n].Name
		draws[n] = c.d.Engine.Stream(name, "turn").Draw(uint64(of.Revision))
	}
	sorted.ShortStableBy(nodes, func(a, b daemonNode) int { return cmp.Compare(draws[a.number], draws[b.number]) })
}

// carryOut creates pods, then deletes pods, and waits for the answers.
func (c *DaemonSets) carryOut(s *daemonWork, step daemonStep, done func()) {
	create, remove := step.create[:min(len(step.create), burstDaemons)], step.remove[:min(len(step.remove), burstDaemons)]
	s.creating = len(create)
	for _, p := range remove {
		s.deleting[p.ID] = true
	}
	c.create(s, create, 1, func() { c.remove(s, remove, done) })
}

// create makes pods for nodes by slow start: one, then two, four, eight ..., each batch after the answers to the one before.
func (c *DaemonSets) create(s *daemonWork, nodes []int, size int, done func()) {
	if len(nodes) == 0 {
		done()
		return
	}
	batch, rest := nodes[:min(size, len(nodes))], nodes[min(size, len(nodes)):]
	answered := 0
	for _, n := range batch {
		pod := c.podFor(revisionOf(s.of), n)
		c.d.API.Limited(&c.limit, c.Owner, "create pod", api.PodKey(pod.ID), func(api.Object) api.Object {
			created := *pod
			created.Created = c.d.Engine.Now()
			return &created
		}, func() {
			c.events.record(s.of.Workload) // SuccessfulCreate
			if answered++; answered == len(batch) {
				c.create(s, rest, 2*size, done)
			}
		})
	}
}

// podFor makes a pod that the scheduler can bind to one node only.
func (c *DaemonSets) podFor(id api.ReplicaSetID, node int) *api.Pod {
	p := c.d.Specs.NewNamed(id, fmt.Sprintf("%s on %s", c.d.Workloads[id.Workload].Name(), c.d.Nodes[node].Name), node)
	p.Only = node + 1
	return p
}

// remove deletes pods, all at once.
func (c *DaemonSets) remove(s *daemonWork, pods []*api.Pod, done func()) {
	left := len(pods)
	if left == 0 {
		done()
	}
	for _, p := range pods {
		c.d.API.Limited(&c.limit, c.Owner, "delete pod", api.PodKey(p.ID), c.d.Specs.Deletion(p.ID, world.OwnGrace), func() {
			c.events.record(s.of.Workload) // SuccessfulDelete
			if left--; left == 0 {
				done()
			}
		})
	}
}

// writeStatus ends a sync: it writes the status, if that is another one now, and comes back after minReadySeconds where a pod
// is ready and not available. That is counted from here and not from when the pod became ready.
func (c *DaemonSets) writeStatus(s *daemonWork) {
	now, minReady := c.d.Engine.Now(), c.d.Specs.MinReady(s.of.Workload)
	status := c.input(s, s.of).status()
	if minReady > 0 && status.Ready != status.Available {
		c.react.AddAt(now+minReady, s.of.Workload)
	}
	if status == s.status {
		c.finish(s)
		return
	}
	s.status = status
	s.note()
	c.d.API.Limited(&c.limit, c.Owner, "daemonset status", s.of.Key(), func(o api.Object) api.Object {
		cur, ok := o.(*api.Workload)
		if !ok {
			return nil
		}
		next := *cur
		next.Daemon = status
		return &next
	}, func() { c.finish(s) })
}

// note notes that a rollout is complete.
func (s *daemonWork) note() {
	if s.status.Updated == s.status.Desired && s.status.Available == s.status.Desired {
		s.done = s.of.Revision
	}
}

// finish ends a sync; what came meanwhile is looked at now.
func (c *DaemonSets) finish(s *daemonWork) {
	s.busy = false
	if s.again {
		s.again = false
		c.react.Add(s.of.Workload)
	}
}

// in says whether failed pods are left alone at a moment. Where none has failed yet, there is no span.
func (b failedBackOff) in(now engine.Time) bool { return now-b.last < b.span }

// backOff notes from which nodes failed pods are deleted, and looks again when others that are left alone for now may be.
func (c *DaemonSets) backOff(s *daemonWork, step daemonStep) {
	now := c.d.Engine.Now()
	for _, n := range step.waiting {
		c.react.AddAt(now+s.backOff[n].span, s.of.Workload)
	}
	for _, n := range step.failed {
		b := s.backOff[n]
		if b.span == 0 || now-b.last > 2*longestBackOff {
			b.span = shortestBackOff
		} else {
			b.span = min(2*b.span, longestBackOff)
		}
		b.last = now
		s.backOff[n] = b
	}
}

// First makes the pods that a DaemonSet has at the beginning, one for each of its nodes.
func (c *DaemonSets) First(of *api.Workload) []*api.Pod {
	c.work[of.Workload] = &daemonWork{
		expectations: expectations{deleting: map[api.PodID]bool{}}, set: of, of: of, written: of.Revision, done: of.Revision, backOff: map[int]failedBackOff{},
	}
	var pods []*api.Pod
	for n := range c.nodes {
		if runs, _ := c.runs(of, n); runs && c.nodes[n] != nil && !c.nodes[n].Gone {
			pods = append(pods, c.podFor(revisionOf(of), n))
		}
	}
	return pods
}

// Begin takes over a DaemonSet whose pods run, and whose status says so.
func (c *DaemonSets) Begin(of *api.Workload, pods []*api.Pod) {
	s := c.work[of.Workload]
	for _, p := range pods {
		s.pods.Set(p)
	}
	s.status = c.input(s, s.of).status()
	begun := *of
	begun.Daemon = s.status
	s.set = &begun
	c.d.API.Put(of.Key(), &begun)
}

// Most is how many pods there may be that are not on their way out: one on each node of the DaemonSet and one on each that
// has one and is none of its any more, and those of a surge.
func (c *DaemonSets) Most(of *api.Workload) int {
	in := c.inputOf(of)
	most := in.surge
	for i := range in.nodes {
		if n := &in.nodes[i]; n.runs || len(n.pods) > 0 {
			most++
		}
	}
	return most
}

// inputOf is what a sync would see now, of a DaemonSet's newest version.
func (c *DaemonSets) inputOf(of *api.Workload) *daemonInput { return c.input(c.work[of.Workload], of) }

// Outdated says that a pod is to be replaced by one of another revision.
func (c *DaemonSets) Outdated(of *api.Workload, p *api.Pod) bool {
	return p.Revision != of.Revision && c.rolling(of)
}

// AtRest says whether the controller has nothing to do for the moment but wait, and for how many pods it has seen to.
func (c *DaemonSets) AtRest(of *api.Workload) (pods int, ok bool) {
	s := c.work[of.Workload]
	if s.busy || !s.met() || s.set.Revision != of.Revision || s.written != of.Revision {
		return 0, false
	}
	in := c.inputOf(of)
	if step := manage(in); !step.nothing() {
		return 0, false
	}
	if c.rolling(of) {
		if step := rollDaemons(in); !step.nothing() {
			return 0, false
		}
	}
	for i := range in.nodes {
		pods += len(staying(in.nodes[i].pods))
	}
	return pods, true
}

// UnderWay says whether a rollout of the present revision has begun and was not complete yet.
func (c *DaemonSets) UnderWay(of *api.Workload) bool {
	return c.rolling(of) && c.work[of.Workload].done != of.Revision
}

// Sized is a DaemonSet that says of how many pods it consists: one on each of its nodes, and on each other node that has one which may
// stay.
func (c *DaemonSets) Sized(of *api.Workload) *api.Workload {
	out := *of
	out.Replicas = 0
	in := c.inputOf(of)
	for i := range in.nodes {
		if n := &in.nodes[i]; n.runs || n.stays && len(staying(n.pods)) > 0 {
			out.Replicas++
		}
	}
	return &out
}

// Step is how a rolling update goes on.
func (c *DaemonSets) Step(of *api.Workload) Step {
	in := c.inputOf(of)
	return Step{Rolling: c.UnderWay(of), Surge: in.surge, Unavailable: in.unavailable}
}

// Keeps says whether there is a revision to roll back to: the ControllerRevisions of the last ones are kept, as many as
// revisionHistoryLimit says (Kubernetes 1.36 pkg/controller/daemon/update.go, cleanupHistory; verified).
func (c *DaemonSets) Keeps(of *api.Workload, revision int) bool {
	d, ok := c.d.Specs.ResourceOf(revisionOf(of)).(*appsv1.DaemonSet)
	old := of.History[:len(of.History)-1]
	if ok && d.Spec.RevisionHistoryLimit != nil {
		old = old[max(0, len(old)-int(*d.Spec.RevisionHistoryLimit)):]
	}
	return slices.Contains(old, revision)
}

// Hindrance is why the controller itself will never go on with a rollout: nothing is.
func (c *DaemonSets) Hindrance(*api.Workload) *Stuck { return nil }

// nodeTaints lists what of a node keeps pods off it, or drives them away: what its object says at the beginning, and what a watch has
// shown since. A DaemonSet's pods tolerate that a node is cordoned.
func nodeTaints(n *world.Node, seen *api.Node) []corev1.Taint {
	taints := world.TaintsOf(n.Object)
	if seen.Tainted {
		taints = append(taints, corev1.Taint{Key: healthcheck.ToBeDeletedTaint, Effect: corev1.TaintEffectNoSchedule})
	}
	if seen.Disrupted {
		taints = append(taints, corev1.Taint{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule})
	}
	if seen.Barred != api.NoTaint {
		taints = append(taints, taintOf(seen.Barred, corev1.TaintEffectNoSchedule))
	}
	if seen.Drives != api.NoTaint {
		taints = append(taints, taintOf(seen.Drives, corev1.TaintEffectNoExecute))
	}
	return taints
}
