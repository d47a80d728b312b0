package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// disrupts is what has pods leave their nodes.
type disrupts struct {
	budgets *control.Disruption // nil where nobody asks for evictions: nothing else heeds budgets
	evict   *control.Evictions
	drains  *control.Drains
	refused []control.Blockade // evictions of single pods that were asked for once: nobody asks again
	takers  *control.Takers
}

// openDisrupts starts kubectl, and what answers it, where they are called.
func (w *World) openDisrupts() {
	w.disrupts.evict = control.NewEvictions(w.control, w.sc.Kubernetes.Version.Minor)
	w.disrupts.drains = new(control.Drains)
	w.disrupts.takers = control.NewTakers(w.control, w.disrupts.evict, w.sched, machines{w})
	asks, takes := false, false
	for i := range w.sc.Actions {
		_, ok := w.sc.TakingOf(&w.sc.Actions[i])
		asks, takes = asks || world.Disrupts(w.sc.Actions[i].Operation), takes || ok
	}
	if asks {
		w.disrupts.drains = control.NewDrains(w.control, w.disrupts.evict)
		w.disrupts.drains.Lost = w.stranded
	}
	if (asks || takes) && len(w.sc.Budgets) > 0 {
		w.disrupts.budgets = control.NewDisruption(w.control)
		w.enroll("disruption-controller", w.disrupts.budgets.Owner)
	}
}

// beginDisrupts has the budgets' statuses be what they have long been.
func (w *World) beginDisrupts() {
	if w.disrupts.budgets == nil {
		return
	}
	var pods []*api.Pod
	var scales []int
	for i := range w.live {
		pods = append(pods, w.live[i]...)
		scales = append(scales, w.scale(i))
	}
	w.disrupts.budgets.Begin(pods, scales)
}

// scale is how many pods the controller of a workload is to keep: none where there is no controller, so that budgets that go by it expect
// none (Kubernetes 1.36 pkg/controller/disruption/disruption.go, getExpectedScale; verified).
func (w *World) scale(workload int) int {
	if w.kindOf(workload) == api.KindPod {
		return 0
	}
	return w.replicas(workload)
}

// setBudget changes a budget. Where nobody asks for evictions nothing heeds it.
func (w *World) setBudget(o *world.SetBudget) {
	if w.disrupts.budgets == nil {
		return
	}
	w.control.SetBudget(w.owner, slices.IndexFunc(w.sc.Budgets, func(b world.Budget) bool { return b.Value.Namespace+"/"+b.Value.Name == o.Budget }), o)
}

// budgetNow is a budget as actions have left it.
func (w *World) budgetNow(n int) *world.Budget {
	if b, ok := w.store.Get(api.BudgetKey(n)).(*api.Budget); ok {
		return w.control.BudgetOf(b)
	}
	return &w.sc.Budgets[n]
}

// machines are what runs under the nodes.
type machines struct{ w *World }

// Leave ends a machine and has its object deleted.
func (m machines) Leave(node int) {
	if m.w.dead[node] {
		return
	}
	if len(m.w.PodsOn(node)) > 0 && m.w.lapses.gc == nil { // it looks for pods of nodes that are missing
		m.w.lapses.gc = control.NewPodGC(m.w.control)
	}
	m.w.closing[node] = "" // a machine that is taken back is given back before
	m.w.upset(node)
	m.w.die(node)
	m.w.writeNode(node, "delete node", func(n *api.Node) { n.Gone = true })
}

// Join has a node join.
func (m machines) Join(node int, joined func()) { m.w.join(node, joined) }

// take has somebody take nodes away. The pods on them are to find another node.
func (w *World) take(a *world.Action) {
	t, _ := w.sc.TakingOf(a)
	var nodes, joins []int
	for _, name := range t.Nodes {
		n := w.numberOf(name)
		nodes = append(nodes, n)
		w.upset(n)
	}
	for _, name := range t.Joins {
		joins = append(joins, w.numberOf(name))
	}
	w.disrupts.takers.Start(t, nodes, joins)
}

// FullestNode is the name of the node with most pods of a workload, "ns/name", of several the first, and of these nodes only; nil is any.
func (w *World) FullestNode(workload string, among []string) string {
	best, most := 0, -1
	for n := range w.sc.Nodes {
		if among != nil && !slices.Contains(among, w.sc.Nodes[n].Name) {
			continue
		}
		pods := 0
		for _, p := range w.PodsOn(n) {
			if w.isCalled(p.Workload, workload) && p.Active() {
				pods++
			}
		}
		if pods > most {
			best, most = n, pods
		}
	}
	return w.sc.Nodes[best].Name
}

// drain calls kubectl drain. The pods that it has leave are to find another node.
func (w *World) drain(o world.Drain) {
	var nodes []int
	for _, name := range o.Nodes {
		nodes = append(nodes, w.numberOf(name))
		for _, p := range w.PodsOn(w.numberOf(name)) {
			w.begun[p.Workload] = true
		}
	}
	w.disrupts.drains.Start(o, nodes)
}

// evictPods asks once for the eviction of pods.
func (w *World) evictPods(pods world.Pods) {
	w.eachPod(pods, func(p *api.Pod) {
		w.begun[p.Workload] = true
		w.disrupts.evict.Once(w.disrupts.drains.Owner, p.ID, func(a control.Answer) {
			if (a.Code == control.NotNow || a.Code == control.Impossible) && pods.Number != world.AllPods { // of all of them some may be refused: that is what a budget is for
				w.disrupts.refused = append(w.disrupts.refused, control.Blockade{Pod: p, Budget: a.Budget, Why: a.Why})
			}
		})
	})
}

// InVain counts what was asked of the API and refused, without any change.
func (w *World) InVain() uint64 { return w.disrupts.drains.InVain() + w.disrupts.takers.InVain() }

// CannotEnd is what was begun and cannot end, nil for nothing: a drain that is refused for ever, or that has failed, or a rollout.
// A drain that waits for a workload whose own pods find no node cannot end for that reason. Of several drains that of a workload
// comes first which is not a bystander.
func (w *World) CannotEnd() *control.Stuck {
	list := w.AllThatCannotEnd()
	for i := range list {
		if !w.sc.Workloads[list[i].Workload].Bystander {
			return &list[i]
		}
	}
	if len(list) > 0 {
		return &list[0]
	}
	return nil
}

// AllThatCannotEnd lists what was begun and cannot end, each workload with each reason once. While a node is about to go, or is gone and
// nobody has noticed, there is nothing: with its pods goes what a drain waits for, or others of its budget.
func (w *World) AllThatCannotEnd() []control.Stuck {
	if w.store.Down() || w.store.AnyFrozen() || w.disrupts.takers.Joining() || w.closingNode()+w.unnoticedNode() != "" {
		return nil
	}
	rollout := w.StuckRollout()
	var out []control.Stuck
	for _, b := range slices.Concat(w.disrupts.drains.Blockades(), w.disrupts.takers.Blockades()) {
		s := w.blocked(&b, rollout)
		if s != nil && !slices.Contains(out, *s) {
			out = append(out, *s)
		}
	}
	for _, b := range slices.Concat(w.disrupts.drains.Awaited(), w.disrupts.takers.Awaited()) {
		p, ok := w.store.Get(api.PodKey(b.Pod.ID)).(*api.Pod)
		if !ok || !w.stranded(p) {
			continue
		}
		s := w.heldBy(p)
		s.Drain, s.Workload = true, p.Workload
		s.Why = waits(b.By, w.sc.Nodes[b.Node].Name) + s.Why
		out = append(out, *s)
	}
	for i := range w.disrupts.refused {
		b := &w.disrupts.refused[i]
		out = append(out, *w.byBudget(b, &control.Stuck{Drain: true, Workload: b.Pod.Workload, Why: fmt.Sprintf("the eviction of %s is refused: %s", b.Pod.Called(), b.Why)}))
	}
	if rollout == nil {
		rollout = w.vetoed()
	}
	if rollout != nil && !slices.ContainsFunc(out, func(s control.Stuck) bool { return s.Workload == rollout.Workload }) {
		out = append(out, *rollout)
	}
	return out
}

// Drained lists the nodes with which kubectl drain is through.
func (w *World) Drained() []control.Drained { return w.disrupts.drains.Ends() }

// Overruled lists the nodes whose pods somebody deletes in the end, whatever budgets say.
func (w *World) Overruled() []control.Overruled { return w.disrupts.takers.Overruled() }

// blocked says why a drain cannot end, nil when it may yet.
func (w *World) blocked(b *control.Blockade, rollout *control.Stuck) *control.Stuck {
	node := w.sc.Nodes[b.Node].Name
	by := cmp.Or(b.By, "kubectl drain")
	if b.Kept != nil {
		return w.byBudget(b, &control.Stuck{
			Drain: true, Workload: b.Pod.Workload, Why: fmt.Sprintf("%s keeps %s: %s", by, node, b.Why),
			What: b.Kept.What, Path: b.Kept.Path,
		})
	}
	if b.Late != nil {
		what, path := w.sooner(b.Late)
		return &control.Stuck{
			Drain: true, Workload: b.Late.Pod.Workload, Why: fmt.Sprintf("%s gives up on %s: %s", by, node, b.Why),
			What: what, Path: path,
		}
	}
	if b.GivenUp {
		workload := 0
		if b.Pod != nil {
			workload = b.Pod.Workload
		}
		s := &control.Stuck{Drain: true, Workload: workload, Why: fmt.Sprintf("%s gives up on %s: %s", by, node, b.Why)}
		if strings.Contains(b.Why, "(use --force") {
			s.What = w.controllerFor(b.Node) + "; or kubectl drain --force, which deletes it, and nothing makes it again"
		}
		return w.byBudget(b, s)
	}
	s := &control.Stuck{Drain: true, Workload: b.Pod.Workload, Why: waits(b.By, node) + b.Why}
	switch {
	case rollout != nil && (b.Budget < 0 || w.coversWorkload(b.Budget, rollout.Workload)):
		s.Workload, s.Why, s.What, s.Path = rollout.Workload, s.Why+"; "+rollout.Why, rollout.What, rollout.Path
		return s
	case w.steady(b.Budget):
		return w.byBudget(b, s)
	default:
		return nil // what the budget counts may be another number soon
	}
}

// waits says that kubectl drain, or who else wants a node to be empty, waits for ever.
func waits(by, node string) string {
	if by == "" {
		return "kubectl drain of " + node + " waits for ever: "
	}
	return by + " waits for ever for " + node + " to be empty: "
}

// sooner is what has to be shorter for a pod to be gone in time, and where it is said: the longest preStop hook that is no shorter itself, for
// the API refuses a grace period of less than such a sleep (docs/model/pod-lifecycle.md 2.2), else the grace period.
func (w *World) sooner(late *control.Late) (what, path string) {
	set, longest := setOf(late.Pod), late.Time
	what, path = "a terminationGracePeriodSeconds of less than "+late.Time.Seconds(), "spec.template.spec.terminationGracePeriodSeconds"
	containers := w.PodSpec(set).Containers
	for i := range containers {
		if h := w.Hook(set, &containers[i]); h.Duration.Min() >= longest {
			what, path, longest = "a preStop hook of less than "+late.Time.Seconds()+" s", fmt.Sprintf("spec.template.spec.containers[%d].lifecycle.preStop", i), h.Duration.Min()
		}
	}
	return what, path
}

// controllerFor says how the first pod on a node that has no controller comes to one: it is a Pod of its own, or one that was released.
func (w *World) controllerFor(node int) string {
	for _, p := range w.PodsOn(node) {
		if w.control.Unmanaged(p) && w.sc.Workloads[p.Workload].Kind() != world.Pod {
			return "the labels back by which the controller of " + p.Called() + " selects it"
		}
	}
	return "a controller for the Pod, such as a Deployment"
}

// byBudget adds which field of a budget is behind a drain that cannot end, and what would let it.
func (w *World) byBudget(b *control.Blockade, s *control.Stuck) *control.Stuck {
	switch {
	case b.Budget < 0:
	case w.coveredTwice(s.Workload, b.Pod):
		s.Budget, s.Path = &w.sc.Budgets[b.Budget], "spec.selector"
		s.What = "one PodDisruptionBudget for a pod: delete one of the two, or narrow its selector"
	case w.coveredAsLabelled(b):
		s.Budget, s.Path = w.budgetNow(b.Budget), "spec.selector"
		s.What = "another pod labelled in its place, which its operator does in a switchover (not simulated)"
	default:
		s.Budget, s.What = w.budgetNow(b.Budget), w.enough(b.Budget, b.Pod)
		_, path := s.Budget.Bound()
		s.Path = cmp.Or(path, "spec")
	}
	return s
}

// coveredAsLabelled says that a budget covers a pod by a label of its own, which another pod of the workload may have a moment later.
func (w *World) coveredAsLabelled(b *control.Blockade) bool {
	if b.Pod == nil || b.Pod.Labels == nil || w.replicas(b.Pod.Workload) < 2 {
		return false
	}
	r := w.ResourceOf(setOf(b.Pod))
	return !w.sc.Budgets[b.Budget].Covers(r.GetNamespace(), world.TemplateOf(r).Labels)
}

// coveredTwice says that two budgets cover a workload, or the pod of it that is blocked: the eviction API refuses it when it is ready.
func (w *World) coveredTwice(workload int, blocked *api.Pod) bool {
	n := 0
	for i := range w.sc.Budgets {
		if blocked != nil && blocked.Labels != nil && !w.sc.Budgets[i].Covers(w.sc.Workloads[workload].Namespace(), blocked.Labels) {
			continue
		}
		if w.coversWorkload(i, workload) {
			n++
		}
	}
	return n > 1
}

// steady says whether nothing is under way that could change what a budget counts: all pods of the workloads that it covers are
// there, and ready or held at not ready, and none is leaving.
func (w *World) steady(budget int) bool {
	for i := range w.sc.Workloads {
		if !w.coversWorkload(budget, i) {
			continue
		}
		if w.unrestOf(i, true) != "" && w.overdue(i) == "" && !w.CrashLooping() && !w.heldUnready(i) {
			return false
		}
	}
	return true
}

// heldUnready says that a workload has its pods, none on its way out, and that those which are not ready are so because an action
// holds their readiness at false.
func (w *World) heldUnready(workload int) bool {
	d, ok := w.asked(workload)
	if !ok {
		return false
	}
	if c := w.census(d); c.leaving != "" || c.active != d.Replicas {
		return false
	}
	return !slices.ContainsFunc(w.livePods, func(id api.PodID) bool {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || p.Workload != workload || p.Ready || !p.Active() {
			return false
		}
		i := w.PodInstance(id)
		return i == nil || !i.Forced
	})
}

func (w *World) coversWorkload(budget, workload int) bool {
	r := w.ResourceOf(w.latest(workload))
	b := &w.sc.Budgets[budget]
	return b.Covers(r.GetNamespace(), world.TemplateOf(r).Labels) || w.sc.Workloads[workload].CoveredBy(b)
}

// leeway says what of a budget lets a pod go although others are not ready: one that is itself ready goes by the number alone.
func (w *World) leeway(refused *api.Pod, path string) string {
	if refused != nil && !refused.Ready && w.sc.Kubernetes.Version.Minor >= control.PolicySince {
		return "unhealthyPodEvictionPolicy AlwaysAllow for those that never do"
	}
	if path == "spec.minAvailable" {
		return "a smaller minAvailable"
	}
	return "a greater maxUnavailable"
}

// enough says which change lets a budget allow the eviction of a pod that it blocks; nil: of any.
func (w *World) enough(budget int, blocked *api.Pod) string {
	b, ok := w.store.Get(api.BudgetKey(budget)).(*api.Budget)
	v, path := w.budgetNow(budget).Bound()
	if !ok || v == nil {
		return "a budget with maxUnavailable 1"
	}
	scale, stateful := 0, false
	var scaler *world.Scaler
	for i := range w.sc.Workloads {
		if d, is := w.asked(i); is && w.coversWorkload(budget, i) {
			if d.Kind == api.KindPod && (v.Type == intstr.String || path == "spec.maxUnavailable") {
				return fmt.Sprintf("minAvailable %d: only a number for it counts Pods without a controller", max(0, b.Healthy-1))
			}
			if s := w.sc.Workloads[i].Scaler; s != nil {
				scaler = s
			}
			stateful = stateful || d.Kind == api.KindStatefulSet || len(w.sc.Workloads[i].Exclusive()) > 0
			scale += d.Replicas
		}
	}
	switch {
	case b.Desired < scale:
		return "pods that become ready, or " + w.leeway(blocked, path)
	case scale == 1 && stateful:
		return "maxUnavailable 1, at a time when an outage until the next one is ready is acceptable: whether a second pod can be the same to clients, only the app knows"
	case scale == 1:
		with := " and maxUnavailable 1 in the PodDisruptionBudget"
		if _, desired := w.budgetNow(budget).Desired(2, 2); desired < 2 {
			with = ""
		}
		return keptAt(scaler, 2) + with + ": with one pod every eviction is an outage until the next one is ready"
	}
	unready := max(0, scale-b.Healthy)
	words := fmt.Sprintf("maxUnavailable %d in place of %s %s", 1+unready, path[len("spec."):], v)
	if unready > 0 {
		words += " (1 once all are ready)"
	}
	if v.Type == intstr.Int && path == "spec.minAvailable" {
		words += ", or " + moreReplicas(b.Desired+1-scale+unready, scaler)
	}
	return words
}

// keptAt is a number of pods that a workload, or what scales it, has to keep, and where the scaler says how many: it takes away what the workload
// has of its own.
func keptAt(s *world.Scaler, pods int) string {
	if s == nil {
		return fmt.Sprintf("replicas %d", pods)
	}
	words := fmt.Sprintf("%s: %d of %s %s", strings.TrimPrefix(s.Field, "spec."), pods, s.Kind, s.Object.Name)
	if p := s.Object.At(s.Field); p.Line > 0 && p.File != "" && !strings.Contains(p.File, " ") {
		words += fmt.Sprintf(" (%s:%d)", p.File, p.Line)
	}
	if s.Most > 0 && s.Most < pods {
		words += fmt.Sprintf(" and its %s", strings.TrimPrefix(s.MostField, "spec."))
	}
	return words
}

// moreReplicas are those that let a budget with a number allow an eviction; scaler takes pods away again that it is not told to keep, nil for none.
func moreReplicas(more int, scaler *world.Scaler) string {
	if scaler == nil {
		return replicas(more)
	}
	return fmt.Sprintf("%s, which %s of %s %s has to say", replicas(more), strings.TrimPrefix(scaler.Field, "spec."), scaler.Kind, scaler.Object.Name)
}

// replicas is how many of them more.
func replicas(more int) string {
	if more == 1 {
		return "one replica more"
	}
	return fmt.Sprintf("%d replicas more", more)
}
