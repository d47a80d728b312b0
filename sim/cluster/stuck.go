package cluster

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// StuckRollout returns the first rollout, or change of size, that was begun and cannot end: the
// controllers have nothing to do, and what they wait for never comes. It is nil when there is none,
// and while something is under way that may change it.
func (w *World) StuckRollout() *control.Stuck {
	if w.store.Down() || w.store.AnyFrozen() {
		return nil
	}
	for i := range w.sc.Workloads {
		d, ok := w.asked(i)
		if !ok || !w.begun[i] || d.Paused || !w.waits(d) && !w.waitsForLost(d) {
			continue
		}
		if s := w.hindrance(d); s != nil {
			s.Workload = i
			return s
		}
	}
	return nil
}

// waits says that a workload's controllers have done what they can do: no ReplicaSet is to have
// another size, and there are as many pods as they ask for, none of them on its way out.
func (w *World) waits(d *api.Workload) bool {
	pods, ok := w.keeperOf(d.Workload).AtRest(d)
	if !ok {
		return false
	}
	c := w.census(d)
	return c.leaving == "" && c.active == pods
}

// waitsForLost says that a Deployment of strategy Recreate has nothing to do but wait for old pods that nobody stops.
func (w *World) waitsForLost(d *api.Workload) bool {
	return d.Kind == api.KindDeployment && w.heldName(d) != nil && w.census(d).leaving == ""
}

// hindrance finds what a workload waits for that never comes, nil for nothing.
func (w *World) hindrance(d *api.Workload) *control.Stuck {
	var homeless []*api.Pod
	keeper := w.keeperOf(d.Workload)
	for _, id := range w.sched.Pending() {
		if p, ok := w.store.Get(api.PodKey(id)).(*api.Pod); ok && p.Workload == d.Workload && p.Active() && p.Node < 0 && !w.pods[id].unwell {
			homeless = append(homeless, p)
		}
	}
	if len(homeless) > 0 {
		if w.anyLeaving() {
			return nil // a node may have room when it has gone
		}
		return w.sched.Unschedulable(d, homeless, keeper.Step(d))
	}
	for _, held := range []func(*api.Workload) *control.Stuck{w.heldName, w.forsaken, w.heldVolume} {
		if s := held(d); s != nil {
			return s
		}
	}
	if !keeper.UnderWay(d) {
		return w.successors(d) // it was complete: what happens later is no rollout
	}
	for _, id := range w.livePods {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || p.Workload != d.Workload || !p.Active() || p.Ready || p.Revision != d.Revision && !w.heedsAll(d) {
			continue
		}
		if s := w.neverReady(d, p, ", or "+w.wayBack(d, p)); s != nil {
			return s
		}
	}
	return keeper.Hindrance(d)
}

// successors finds a pod, made in the place of one that has left, that never gets ready: it waits for a readiness gate which nothing sets, or
// its server does not stay up; nil for none. One that was ready before waits for what closed its gate.
func (w *World) successors(d *api.Workload) *control.Stuck {
	for _, id := range w.livePods {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || p.Workload != d.Workload || !p.Active() || p.WasReady() {
			continue
		}
		if s := w.neverReady(d, p, ""); s != nil {
			return s
		}
	}
	return nil
}

// gated says for which readiness gate a pod waits in vain, nil for none.
func (w *World) gated(d *api.Workload, p *api.Pod) *control.Stuck {
	gates := p.ClosedGates()
	if !p.ContainersReady || len(gates) == 0 || w.kept(d.Workload, gates[0]) || w.foreign(d.Workload, gates[0]) {
		return nil
	}
	return &control.Stuck{
		Why:  fmt.Sprintf("%s waits for its readiness gate %s, which nothing sets", w.waitedFor(d, p), gates[0]),
		What: "the controller that sets it, or no such readiness gate", Path: "spec.template.spec.readinessGates",
	}
}

// heldName says which pod of a StatefulSet, a DaemonSet or a Deployment of strategy Recreate stays Terminating on a node that is gone, or which
// one a StatefulSet has released, and so keeps the one of its name, the one of its node, or all new ones from being made; nil for none.
func (w *World) heldName(d *api.Workload) *control.Stuck {
	so := ""
	switch d.Kind {
	case api.KindStatefulSet:
		so = "A StatefulSet makes no other pod of that name meanwhile"
	case api.KindDaemonSet:
		so = "Its place is no other pod's, and the update counts it as unavailable"
	case api.KindDeployment:
		so = "Strategy Recreate makes no new pod meanwhile"
		if !w.sc.Workloads[d.Workload].Recreate() || w.census(d).active > 0 { // a ReplicaSet makes another pod beside one that is leaving
			return nil
		}
	default:
		return nil
	}
	for _, id := range w.livePods {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || p.Workload != d.Workload {
			continue
		}
		s := w.heldBy(p)
		if s == nil && d.Kind == api.KindStatefulSet {
			s = w.heldReleased(d, p)
		}
		if s != nil {
			s.Why += ". " + so
			return s
		}
	}
	return nil
}

// heldReleased is that a pod which its StatefulSet has released keeps its name from another, nil for one that does not.
func (w *World) heldReleased(d *api.Workload, p *api.Pod) *control.Stuck {
	if !p.Released || p.Deleting() || w.claimed(p) || !w.stateful.Wants(d, p.Ordinal) {
		return nil
	}
	name := w.pods[p.ID].called
	return &control.Stuck{
		Why:  fmt.Sprintf("%s is released, for its labels do not match the selector, and keeps its name", name),
		What: fmt.Sprintf("kubectl delete pod %s, or the labels that it had", name),
	}
}

// forsaken says that a pod stays on a machine that is gone, since it tolerates that for ever, or since no node is ready: the control plane
// then takes itself to be cut off and drives no pod away (docs/model/pod-lifecycle.md 6), and there is no node to go to. nil for none.
func (w *World) forsaken(d *api.Workload) *control.Stuck {
	if w.lapses.lifecycle == nil {
		return nil
	}
	allSilent := w.lapses.lifecycle.AllSilent()
	for _, id := range w.livePods {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || p.Workload != d.Workload || !p.Active() || p.Node < 0 || !w.dead[p.Node] {
			continue
		}
		node := w.sc.Nodes[p.Node].Name
		if !allSilent {
			if s := w.clings(d, p); s != nil {
				return s
			}
			continue
		}
		return &control.Stuck{
			Why:  fmt.Sprintf("%s stays on %s, which is gone: while no node is ready the control plane drives no pod away, and there is none to go to", p.Called(), node),
			What: "another node, or " + node + " again",
		}
	}
	return nil
}

// clings says that a pod stays on a machine that is gone since it tolerates that for ever, nil for one that does not. One of a DaemonSet
// is to: there is no other node for it.
func (w *World) clings(d *api.Workload, p *api.Pod) *control.Stuck {
	if d.Kind == api.KindDaemonSet || d.Kind == api.KindPod || !w.control.Clings(p) {
		return nil
	}
	node := w.sc.Nodes[p.Node].Name
	return &control.Stuck{
		Why: fmt.Sprintf("%s stays on %s, which is gone: it tolerates the taints of a node that is not ready for ever, so that nobody deletes it and none is made in its place",
			p.Called(), node),
		What: fmt.Sprintf("tolerationSeconds for not-ready and unreachable, or kubectl delete node %s, once its machine is off for good", node),
		Path: "spec.template.spec.tolerations",
	}
}

// heldBy is that a pod stays Terminating on a node that is gone, nil for one that does not.
func (w *World) heldBy(p *api.Pod) *control.Stuck {
	if !w.stranded(p) {
		return nil
	}
	node := w.sc.Nodes[p.Node].Name
	if !w.dead[p.Node] {
		return &control.Stuck{
			Why:  fmt.Sprintf("%s stays Terminating: the kubelet of %s is silent, by its Node object", p.Called(), node),
			What: fmt.Sprintf("that kubelet again; or kubectl delete node %s, once its machine is off for good", node),
		}
	}
	return &control.Stuck{
		Why:  fmt.Sprintf("%s stays Terminating: %s is gone, and its Node object is there", p.Called(), node),
		What: fmt.Sprintf("kubectl delete node %s, once its machine is off for good", node) + w.homeless(p),
	}
}

// homeless says of a pod whose node is to be deleted that no other node takes the next one, "" where one does.
func (w *World) homeless(p *api.Pod) string {
	if p.Workload < 0 || w.sched.Elsewhere(p) {
		return ""
	}
	return ", and another node in its place: no other one takes the pod"
}

// heedsAll says that an update waits for every pod, old ones, too: that of a StatefulSet whose policy is OrderedReady.
func (w *World) heedsAll(d *api.Workload) bool {
	s, ok := w.SettingsOf(d.Workload).(*appsv1.StatefulSet)
	return ok && s.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
}

// anyLeaving says whether a pod of any workload is on its way out.
func (w *World) anyLeaving() bool {
	return slices.ContainsFunc(w.livePods, func(id api.PodID) bool {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		return ok && p.Deleting() && !w.stranded(p)
	})
}

// neverReady says why a pod that is not ready will not be, nil when it may be yet; orBack is what else ends that.
func (w *World) neverReady(d *api.Workload, p *api.Pod, orBack string) *control.Stuck {
	server, who := w.serverPath(p), w.waitedFor(d, p)
	if s := w.gated(d, p); s != nil {
		return s
	}
	if s := neverAsked(w.PodSpec(setOf(p))); s != nil {
		return s
	}
	i := w.PodInstance(p.ID)
	switch {
	case p.Restarts >= crashLoop && i != nil && w.killedByProbe(p):
		by, _ := killing(w.server(p))
		slow, after := w.slowStart(p)
		return &control.Stuck{
			Why: fmt.Sprintf("%s has been restarted %d times by its %s and has not stayed ready%s", who, p.Restarts, by, slow), TakenToListen: after,
			What: "a startupProbe with time enough" + enough(w.server(p), i.App) + orBack, Path: cmp.Or(probePath(w, p, server), server),
		}
	case p.Restarts >= crashLoop:
		return &control.Stuck{Why: fmt.Sprintf("%s has crashed %d times and never stays ready", who, p.Restarts), What: "an image that does" + orBack, Path: server}
	case !w.outOfPatience(d, p):
		return nil
	case i == nil || !i.Listening:
		return &control.Stuck{Why: who + " does not listen, " + w.patience(d), What: "an image that does" + orBack, Path: server}
	default:
		return &control.Stuck{Why: who + " is not ready, " + w.patience(d), What: "a pod that becomes ready" + orBack, Path: server + ".readinessProbe"}
	}
}

// enough is the failureThreshold of a startup probe that is there and does not wait long enough, "" for others.
func enough(c *corev1.Container, app *world.App) string {
	if c.StartupProbe == nil {
		return ""
	}
	failures, seconds := world.FailuresFor(c.StartupProbe, app.Start.Max())
	if failures == 0 {
		return ""
	}
	return fmt.Sprintf(" (failureThreshold: %d, which is %d s)", failures, seconds)
}

// waitedFor is what a pod is called that an update waits for: by its name where it keeps that.
func (w *World) waitedFor(d *api.Workload, p *api.Pod) string {
	name := w.pods[p.ID].called
	switch {
	case name == "":
		return "the new pod"
	case p.Revision != d.Revision:
		return "pod " + name + ", which has another template,"
	default:
		return "the new pod " + name
	}
}

// wayBack is how a rollout is taken back. A StatefulSet of policy OrderedReady waits for its broken pod to be ready even then: it has to
// be deleted by hand (kubernetes#67250).
func (w *World) wayBack(d *api.Workload, p *api.Pod) string {
	name := w.pods[p.ID].called
	switch {
	case !w.heedsAll(d):
		return "kubectl rollout undo"
	case p.Revision != d.Revision:
		return "kubectl delete pod " + name + ", which comes back with the present template"
	default:
		return "kubectl rollout undo and then kubectl delete pod " + name + ", for which an OrderedReady StatefulSet waits even then"
	}
}

// endless is how long a pod that no deadline waits for is given to become ready: what a Deployment gives it by default.
const endless = 600 * engine.Second

// outOfPatience says whether nothing has come of a rollout for so long that nobody waits for more.
func (w *World) outOfPatience(d *api.Workload, p *api.Pod) bool {
	if d.Kind == api.KindDeployment {
		return w.overdue(d.Workload) != ""
	}
	return w.eng.Now()-max(p.Created, w.usable[d.Workload].dark.begun) >= endless
}

// patience says how long a rollout has waited.
func (w *World) patience(d *api.Workload) string {
	if d.Kind != api.KindDeployment {
		return fmt.Sprintf("%d s after it was made, and no deadline ends the rollout", endless/engine.Second)
	}
	return fmt.Sprintf("%d s after the last progress (progressDeadlineSeconds)", w.deploy.Deadline(d.Workload, d.Revision))
}

// killedByProbe says that the kubelet restarted the server of a pod for a probe.
func (w *World) killedByProbe(p *api.Pod) bool {
	wk := w.kubelets[p.Node].Worker(p.ID)
	return wk != nil && wk.KilledByProbe()
}

// probePath is where the probe stands that has a server killed while it starts, "" for none.
func probePath(w *World, p *api.Pod, server string) string {
	if name, probe := killing(w.server(p)); probe != nil {
		return server + "." + name
	}
	return ""
}

// killing is the probe that has a server killed while it starts, nil for none.
func killing(c *corev1.Container) (name string, probe *corev1.Probe) {
	switch {
	case c.StartupProbe != nil:
		return "startupProbe", c.StartupProbe
	case c.LivenessProbe != nil:
		return "livenessProbe", c.LivenessProbe
	default:
		return "liveness or startup probe", nil
	}
}

// slowStart says when that probe has the server killed, where its server does not listen before: between the first tick at which the last of
// so many failures may be, and the next one (docs/model/pod-lifecycle.md 3.2.3, 3.2.4): up to 1 s sooner where it waits first, for a start is
// noted in whole seconds. When within that is another one for each start, by where it lies between two ticks: what is killed once may come up
// after a restart, and it is stuck only if it is killed each time. No figure in between is the limit. How long it takes to listen is hardly ever
// said, and pods that run did come up: taken is what is assumed of that, "" where it is said. "" where it is not that, or a postStart hook is in
// between.
func (w *World) slowStart(p *api.Pod) (words, taken string) {
	c, i := w.server(p), w.PodInstance(p.ID)
	_, probe := killing(c)
	if probe == nil || i == nil || c.Lifecycle != nil && c.Lifecycle.PostStart != nil {
		return "", ""
	}
	limit := probe.InitialDelaySeconds + (probe.FailureThreshold-1)*probe.PeriodSeconds
	soonest := limit
	if probe.InitialDelaySeconds > 0 {
		soonest--
	}
	start := i.App.Start
	if start.Max() <= engine.Time(soonest)*engine.Second {
		return "", ""
	}
	after := start.Min().Seconds()
	if start.Max() > start.Min() {
		after += "-" + start.Max().Seconds()
	}
	after += " s"
	listens := "listens"
	if !i.App.StartSaid {
		listens, taken = "is taken to listen", after
	}
	latest := limit + probe.PeriodSeconds
	less := "with less by chance"
	if soonest > 0 {
		less = fmt.Sprintf("never with less than %d s, by chance in between", soonest)
	}
	return fmt.Sprintf(": it kills what does not listen %d-%d s after its start, by chance, and the server %s after %s; it is always stuck if that takes more than %d s, %s",
		soonest, latest, listens, after, latest, less), taken
}
