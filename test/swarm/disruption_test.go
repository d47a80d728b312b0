package swarm

import (
	"fmt"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Drains, evictions and cordons, with disruption budgets. They are drawn from a stream of their own, so that
// the rest of a seed's world is what it would be without them.

// disrupt has pods of some worlds leave their nodes.
func (w *swarmWorld) disrupt(seed uint64) {
	d := newDraws(seed, "disruption")
	if !d.chance(30) {
		return
	}
	for i := range d.pick(3) {
		w.Budgets = append(w.Budgets, budget(d, i))
	}
	if d.chance(50) { // nothing else is done: the rules about evictions are sharp then
		w.Actions = nil
	}
	at := w.Warmup
	for range d.pick(2) + 1 {
		at += d.span(0, 8*sec)
		w.Actions = append(w.Actions, w.disruption(d, at))
	}
	if !w.endless {
		w.Until += 3600 * sec // one pod after another may have to wait for a budget
	}
}

// budget is one that covers the pods of all workloads, or of one.
func budget(d *draws, i int) world.Budget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("budget-", i)}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: of(d, map[string]string{"app": "web"}, map[string]string{"name": "web"}, map[string]string{"name": "api"}, map[string]string{"name": "web"})}
	bound := intstr.Parse(of(d, "0", "1", "1", "2", "25%", "50%", "100%"))
	switch d.pick(5) {
	case 0, 1:
		b.Spec.MinAvailable = &bound
	case 2, 3:
		b.Spec.MaxUnavailable = &bound
	}
	if d.chance(30) {
		always := policyv1.AlwaysAllow
		b.Spec.UnhealthyPodEvictionPolicy = &always
	}
	return world.Budget{Value: b}
}

func (w *swarmWorld) disruption(d *draws, at engine.Time) world.Action {
	if d.chance(20) {
		return world.Action{At: at, Operation: world.Evict{Pods: world.Pods{Workload: w.Workloads[d.pick(len(w.Workloads))].Name(), Number: of(d, world.AllPods, 0, 1)}}}
	}
	first := d.pick(len(w.Nodes))
	if d.chance(20) {
		return world.Action{At: at, For: d.span(0, 20*sec), Operation: world.Cordon{Node: w.Nodes[first].Name}}
	}
	o := world.Drain{DrainOptions: world.DrainOptions{GracePeriod: of(d, world.OwnGrace, world.OwnGrace, world.OwnGrace, 0, sec, 5*sec), DisableEviction: d.chance(15)}}
	if d.chance(25) {
		o.Timeout = d.span(5*sec, 60*sec)
	}
	for i := range d.pick(min(3, len(w.Nodes))) + 1 {
		o.Nodes = append(o.Nodes, w.Nodes[(first+i)%len(w.Nodes)].Name)
	}
	return world.Action{At: at, Operation: o}
}

// disruptions is what is known of nodes and budgets.
type disruptions struct {
	cordoned []engine.Time // by node: since when, api.Never for not at all
	opened   []engine.Time // when it last became schedulable again
	budgets  []*api.Budget
	refused  map[api.PodID]engine.Time // by drains
	drained  []bool                    // by node: kubectl is done with it
}

func newDisruptions(w *swarmWorld) disruptions {
	d := disruptions{budgets: make([]*api.Budget, len(w.Budgets)), refused: map[api.PodID]engine.Time{}, drained: make([]bool, len(w.Nodes))}
	for range w.Nodes {
		d.cordoned, d.opened = append(d.cordoned, api.Never), append(d.opened, 0)
	}
	return d
}

// drains lists those that are done in this world.
func (j *judge) drains() []world.Drain {
	var out []world.Drain
	for _, a := range j.w.Actions {
		if o, ok := a.Operation.(world.Drain); ok {
			out = append(out, o)
		}
	}
	return out
}

// undisturbed says that pods go by nothing but evictions in this world, and are not ready only before their first readiness
// and after their deletion.
func (j *judge) undisturbed() bool {
	for _, a := range j.w.Actions {
		switch o := a.Operation.(type) {
		case world.Evict, world.Cordon:
		case world.Drain:
			if o.DisableEviction {
				return false
			}
		default:
			return false
		}
	}
	return !j.w.endless && !j.w.faults.crash && !j.w.faults.dependency && !j.closes()
}

func (j *judge) hearDisruption(e event.Event) {
	switch e.Kind {
	case event.Wrote:
		switch o := e.Object.(type) {
		case *api.Node:
			j.hearNode(e.At, o)
		case *api.Budget:
			j.hearBudget(e.At, o)
		}
	case event.EvictionRefused:
		j.hearRefusal(e)
	case event.Drained:
		j.hearDrained(e)
	default:
	}
}

func (j *judge) hearNode(at engine.Time, n *api.Node) {
	d := &j.disruptions
	switch was := d.cordoned[n.Number]; {
	case n.Cordoned && was == api.Never:
		d.cordoned[n.Number] = at
	case !n.Cordoned && was != api.Never:
		d.cordoned[n.Number], d.opened[n.Number] = api.Never, at
		j.freed[n.Number] = at
	}
}

// No pod is bound to a node that has been cordoned for longer than the scheduler is late.
func (j *judge) boundToCordoned(at engine.Time, before, now *api.Pod) {
	if before == nil || before.Node >= 0 || now.Node < 0 || j.does("apiserver") || j.touched("scheduler") || j.workload(now).Kind() == world.DaemonSet {
		return
	}
	l := &j.w.Latency
	late := l.Watch.Max() + l.Schedule.Max() + l.APIWrite.Max() + 100*ms
	if since := j.disruptions.cordoned[now.Node]; since != api.Never && since+late < at {
		j.fail("cordon", "%s is bound to node %d at %s s, cordoned since %s s", now.Name, now.Node, at.Seconds(), since.Seconds())
	}
}

// covered lists the pods of a budget that the API has, and how many their workloads are to have.
func (j *judge) covered(b *world.Budget) (pods []*api.Pod, scale int) {
	for i := range j.w.Workloads {
		wl, match, some := &j.w.Workloads[i], j.covers(b, i), false
		for _, id := range j.order {
			if p := j.pods[id].api; match && p.Workload == i && !p.Gone {
				pods, some = append(pods, p), true
			}
		}
		if some {
			scale += wl.Replicas()
		}
	}
	return pods, scale
}

// covers says whether a budget covers the pods of a workload.
func (j *judge) covers(b *world.Budget, workload int) bool {
	labels := j.w.Workloads[workload].Template().Labels
	for k, v := range b.Value.Spec.Selector.MatchLabels { // order: all have to match
		if labels[k] != v {
			return false
		}
	}
	return true
}

// desired is how many pods of a budget have to be ready (docs/model/controllers.md 6.1).
func desired(b *world.Budget, scale int) int {
	switch spec := &b.Value.Spec; {
	case spec.MaxUnavailable != nil:
		return max(0, scale-part(*spec.MaxUnavailable, scale, true))
	case spec.MinAvailable != nil:
		return part(*spec.MinAvailable, scale, true)
	default:
		return 0
	}
}

// Evictions leave as many pods ready as a budget asks for. A pod that is not ready may go when that many are, or always where
// the budget says so (docs/model/controllers.md 6.2); one that several budgets cover is not evicted at all.
func (j *judge) evicted(at engine.Time, before, now *api.Pod) {
	if before == nil || before.Deleting() || !now.Deleting() || !j.undisturbed() || before.Phase == api.PhasePending {
		return
	}
	var of []*world.Budget
	for i := range j.w.Budgets {
		pods, _ := j.covered(&j.w.Budgets[i])
		if slices.ContainsFunc(pods, func(p *api.Pod) bool { return p.ID == now.ID }) {
			of = append(of, &j.w.Budgets[i])
		}
	}
	switch {
	case len(of) > 1:
		j.fail("eviction", "%s is deleted at %s s, though %d budgets cover it", now.Name, at.Seconds(), len(of))
	case len(of) == 1 && before.Ready:
		pods, scale := j.covered(of[0])
		left := 0
		for _, p := range pods {
			if p.ID != now.ID && p.Ready && !p.Deleting() {
				left++
			}
		}
		if want := desired(of[0], scale); left < want {
			j.fail("eviction", "%s is deleted at %s s and leaves %d ready pods, %s asks for %d", now.Name, at.Seconds(), left, of[0].Value.Name, want)
		}
	}
}

// What a budget allows is never more than the pods that are ready beyond those that have to be, and never negative. Pods that are
// ready are counted as the controller's watch has shown them: not those that are being deleted, nor those that are noted to be so soon.
func (j *judge) hearBudget(at engine.Time, b *api.Budget) {
	before := j.disruptions.budgets[b.Number]
	j.disruptions.budgets[b.Number] = b
	if l := &j.w.Latency; before != nil && before.Healthy != b.Healthy && !j.does("apiserver") && !j.does("component") {
		late, most := l.Watch.Max()+l.Controller.Max()+l.APIWrite.Max()+2*sec, 0
		for _, id := range j.order {
			p := j.pods[id]
			_, noted := b.Records(id)
			if j.covers(&j.w.Budgets[b.Number], p.api.Workload) && !noted && (p.api.Ready && p.api.Active() || p.changed+late > at) {
				most++
			}
		}
		if b.Healthy > most {
			j.fail("budget", "%s counts %d ready pods at %s s, of %d", j.w.Budgets[b.Number].Value.Name, b.Healthy, at.Seconds(), most)
		}
	}
	if b.Allowed < 0 || b.Allowed > max(0, b.Healthy-b.Desired) {
		j.fail("budget", "%s allows %d at %s s, with %d ready of %d", j.w.Budgets[b.Number].Value.Name, b.Allowed, at.Seconds(), b.Healthy, b.Desired)
	}
}

// kubectl drain asks again 5 s after a refusal at the earliest, and the eviction API itself takes half a second for each conflict.
func (j *judge) hearRefusal(e event.Event) {
	last, again := j.disruptions.refused[e.Pod]
	j.disruptions.refused[e.Pod] = e.At
	if again && len(j.drains()) == 1 && !j.does("evict") && !j.w.goes && e.At < last+5*sec {
		j.fail("drain", "%s is refused at %s s, and was at %s s", j.pods[e.Pod].api.Name, e.At.Seconds(), last.Seconds())
	}
}

// kubectl drain is done with a node when all pods are gone that were there as it was cordoned.
func (j *judge) hearDrained(e event.Event) {
	j.disruptions.drained[e.Node] = true
	if !e.OK || e.Name != "" || j.does("cordon") || len(j.drains()) != 1 {
		return
	}
	since := j.disruptions.cordoned[e.Node]
	for _, id := range j.order {
		if p := j.pods[id]; j.workload(p.api).Kind() != world.DaemonSet && p.api.Node == e.Node && !p.api.Gone && p.bound < since {
			j.fail("drain", "node %d is drained at %s s, and %s is there since %s s", e.Node, e.At.Seconds(), p.api.Name, p.bound.Seconds())
		}
	}
}

// kubectl drain goes on to the next node when it is done with the one before.
func (j *judge) inTurn(at engine.Time, before, now *api.Pod) {
	drains := j.drains()
	if before == nil || before.Deleting() || !now.Deleting() || now.Node < 0 || len(drains) != 1 || len(j.w.Actions) != 1 {
		return
	}
	for _, name := range drains[0].Nodes {
		n := slices.IndexFunc(j.w.Nodes, func(n world.Node) bool { return n.Name == name })
		if n == now.Node {
			return
		}
		if !j.disruptions.drained[n] {
			j.fail("drain", "%s of node %d is deleted at %s s, and node %d is not drained yet", now.Name, now.Node, at.Seconds(), n)
		}
	}
}

// A drain that waits for ever waits for a budget whose pods are all as ready as they will be: none is on its way out, and none
// on its way in.
func (j *judge) closeDrains(res *sim.Result) {
	if res.Stuck == nil || !res.Stuck.Drain || res.Stuck.Budget == nil || !strings.Contains(res.Stuck.Why, "waits for ever") || j.w.endless {
		return
	}
	pods, _ := j.covered(res.Stuck.Budget)
	for _, p := range pods {
		if p.Deleting() || p.Node >= 0 && !p.Ready && closedGates(p) == 0 && !j.does("setReady") {
			j.fail("drain", "it is said to wait for ever, and %s is on its way", p.Name)
		}
	}
}

// closeBudgets looks at the budgets of a world that has settled: their statuses are what the pods amount to, but for those
// budgets that share pods with another, of which the disruption controller refreshes one alone (docs/model/measured.md 1).
func (j *judge) closeBudgets(res *sim.Result) {
	if !res.Settled || len(j.w.Budgets) != 1 || j.does("component") {
		return
	}
	b, has := &j.w.Budgets[0], j.disruptions.budgets[0]
	if has == nil {
		return // nobody asks for evictions in this world
	}
	if j.does("scale") || j.does("apply") {
		return // the scale is another one
	}
	pods, scale := j.covered(b)
	ready := 0
	for _, p := range pods {
		if _, noted := has.Records(p.ID); p.Ready && !p.Deleting() && !noted {
			ready++
		}
	}
	want := desired(b, scale)
	if b.Value.Spec.MinAvailable != nil && b.Value.Spec.MinAvailable.Type == intstr.Int {
		scale = len(pods)
	}
	allowed := max(0, ready-want)
	if b.Value.Spec.MinAvailable == nil && b.Value.Spec.MaxUnavailable == nil || scale == 0 {
		allowed = 0
	}
	if has.Healthy != ready || has.Desired != want || has.Allowed != allowed {
		j.fail("budget", "%s says %d ready, %d wanted, %d allowed at the end, want %d, %d, %d", b.Value.Name, has.Healthy, has.Desired, has.Allowed, ready, want, allowed)
	}
}
