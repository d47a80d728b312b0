package fix

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// kindBudget is the kind of a disruption budget.
const kindBudget = "PodDisruptionBudget"

// selector finds the pods of the workload, nil for one of a kind without replicas.
func (t *target) selector() *metav1.LabelSelector {
	if _, nodes := t.w.Resource.(*appsv1.DaemonSet); nodes {
		return nil
	}
	return world.SelectorOf(t.w.Resource)
}

// emptied says that pods leave their nodes in the Scenario: then how many there are elsewhere decides what is lost.
func emptied(s *world.Scenario) bool {
	return slices.ContainsFunc(s.Actions, func(a world.Action) bool { return world.Empties(a.Operation) })
}

// evicted says that pods are evicted in the Scenario: then budgets decide, too.
func evicted(s *world.Scenario) bool {
	return slices.ContainsFunc(s.Actions, func(a world.Action) bool { return world.Evicts(a.Operation) })
}

// unblocked lists what can be changed where pods cannot leave their nodes, or find no other one, the smallest first.
func (t *target) unblocked() []*Change {
	return append(t.oneBudget(), t.second(), t.looser(), t.unwell(), t.roomier())
}

// single says why there must be no second pod of the workload, "" where there may be.
func (t *target) single() string {
	claims := slices.DeleteFunc(t.w.Exclusive(), func(c world.Claim) bool { return c.Each })
	switch {
	case len(claims) > 0 && claims[0].Assumed:
		return fmt.Sprintf("the volume claim %s may be of one node at a time, and nothing in the input says otherwise", claims[0].Name)
	case len(claims) > 0:
		return fmt.Sprintf("the volume claim %s is %s", claims[0].Name, claims[0].Access)
	case t.w.Kind() == world.StatefulSet:
		return "what a second pod of a StatefulSet is to the first, only the app knows"
	case t.w.Kind() != world.Deployment && t.w.Kind() != world.ReplicaSet:
		return "a " + t.w.Kind() + " has no replicas"
	case t.database():
		return "a second database, or cache, would not have the data of the first"
	default:
		return ""
	}
}

// oneNode says why all pods of the workload have to be on one node, "" where they need not.
func (t *target) oneNode() string {
	for _, c := range t.w.Exclusive() {
		if !c.Each && t.w.Replicas() > 1 {
			return fmt.Sprintf("they share the volume claim %s, which is %s: a volume that several nodes may have (ReadWriteMany) is what lets them", c.Name, c.Access)
		}
	}
	return ""
}

// database says that the app keeps data: by its image, or, where that says nothing of it, by its port.
func (t *target) database() bool {
	c := t.w.Container()
	if t.w.App.Profile == "database" || servers.IsDatabase(servers.EvidenceOf(c, nil)) {
		return true
	}
	return t.w.App.Basis != "inferred" && slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return servers.DatabasePort(int(p.ContainerPort)) })
}

// Untried is the change that a person would think of first, and why it was not tried; "" for none.
func Untried(s *world.Scenario, w *world.Workload) (title, why string) {
	t := target{sc: s, w: w, server: w.ServerIndex()}
	switch {
	case emptied(s) && w.Replicas() == 1 && t.single() != "":
		return "replicas: 2", t.single()
	case emptied(s) && t.oneNode() != "":
		return "pods on several nodes", t.oneNode()
	case abrupt(s):
		return "preStop", "no hook runs on a machine that is gone"
	default:
		return "", ""
	}
}

// second keeps one pod on another node while the other leaves its own. Where pods are evicted a budget has them go one after another;
// else both must not be on one node. Without a readiness probe each is taken for ready as soon as it runs, and the next one leaves before the
// app listens: so it has one, however long the app is taken to need. And a webhook that is asked of its own Pods would still keep them from being
// made once both are gone.
func (t *target) second() *Change {
	c := t.twoPods()
	if c == nil {
		return nil
	}
	if own := t.unasked(); own != nil {
		c.Title = own.Title + ", " + c.Title
		c.Edits, c.Has, c.Unasked = append(own.Edits, c.Edits...), append(c.Has, own.ID), true
		c.Cost = own.Cost + "; " + c.Cost
	}
	if probe := t.readiness(); probe != nil {
		c.Title += " and a " + probe.Title
		c.Edits, c.Has = append(c.Edits, probe.Edits...), append(c.Has, probe.ID)
		c.Cost += "; " + probe.Cost
	}
	return c
}

// twoPods is second without a probe.
func (t *target) twoPods() *Change {
	if !emptied(t.sc) || t.w.Replicas() != 1 || t.single() != "" {
		return nil
	}
	c := &Change{ID: "replicas", Title: "replicas: 2", Cost: "one pod more, all the time", Around: Around{Replicas: 2}}
	if s := t.w.Scaler; s != nil {
		c.Title = fmt.Sprintf("%s: 2 of %s %s", s.Field[strings.LastIndexByte(s.Field, '.')+1:], s.Kind, s.Object.Name)
		c.Edits = t.scaled(s)
		if s.ToZero {
			c.Cost = "two pods, all the time: it no longer goes to 0"
		}
	} else {
		c.Edits = []edit.Edit{t.edit("spec.replicas", 2)}
	}
	if t.w.Recreate() {
		c.Destructive = "two pods at a time may be one too many where the strategy is Recreate"
	}
	switch b := t.covering(); {
	case !evicted(t.sc):
		if e := t.spreads(); e != nil {
			c.Title += ", spread over nodes"
			c.Edits = append(c.Edits, *e)
		}
	case b == nil:
		c.Title += " with a " + kindBudget + " (maxUnavailable: 1)"
		c.Edits, c.Budget = append(c.Edits, t.newBudget()), t.madeBudget()
	case t.blocks(b, 2):
		c.Title += " with maxUnavailable: 1 in its " + kindBudget
		c.Edits, c.Budget = append(c.Edits, budgetEdit(b)), loosened(b)
	}
	return c
}

// scaled are the edits of what scales the workload, so that it keeps two pods.
func (t *target) scaled(s *world.Scaler) []edit.Edit {
	edits := []edit.Edit{edit.New(s.Object, s.Object.Value, s.Field, edit.Value{YAML: "2"}, "")}
	if s.Most == 1 {
		edits = append(edits, edit.New(s.Object, s.Object.Value, s.MostField, edit.Value{YAML: "2"}, ""))
	}
	return edits
}

// covering is the budget of the workload's pods, nil for none.
func (t *target) covering() *world.Budget {
	if over := t.coverings(); len(over) > 0 {
		return over[0]
	}
	return nil
}

// coverings are all budgets of the workload's pods: the eviction API takes one.
func (t *target) coverings() []*world.Budget {
	var out []*world.Budget
	for i := range t.sc.Budgets {
		if b := &t.sc.Budgets[i]; b.Covers(t.w.Namespace(), t.w.Template().Labels) {
			out = append(out, b)
		}
	}
	return out
}

// oneBudget leaves one of the budgets that cover the same pods: each of them in turn, for what is left decides whether a pod may go. Where none
// of them lets one go, the one that is left has to be loosened, too.
func (t *target) oneBudget() []*Change {
	over := t.coverings()
	if !evicted(t.sc) || len(over) < 2 {
		return nil
	}
	all := !slices.ContainsFunc(over, func(b *world.Budget) bool { return !t.blocks(b, t.w.Replicas()) })
	var out []*Change
	for _, kept := range over {
		if !all && t.blocks(kept, t.w.Replicas()) {
			continue
		}
		c := &Change{ID: "oneBudget", Cost: kept.Words() + " stays"}
		var names, others []string
		for _, b := range over {
			if b == kept {
				continue
			}
			c.Gone, names = append(c.Gone, b.Value.Name), append(names, b.Words())
			c.Edits = append(c.Edits, edit.Delete(b.Object, kindBudget, b.Value.Name))
			others = append(others, t.alsoOf(b, kept)...)
		}
		c.Title = "delete " + strings.Join(names, " and ")
		if all {
			c.Title += ", maxUnavailable: 1 in " + kindBudget + " " + kept.Value.Name
			c.Edits, c.Budget, c.Cost = append(c.Edits, budgetEdit(kept)), loosened(kept), ""
			if t.w.Replicas() == 1 {
				c.Destructive = onlyPod
			}
		}
		if len(others) > 0 {
			c.Destructive = "it is the budget of " + strings.Join(others, " and ") + ", too: narrow its selector instead"
		}
		out = append(out, c)
	}
	return out
}

// alsoOf names the other workloads that a budget covers and a second one does not.
func (t *target) alsoOf(b, second *world.Budget) []string {
	var out []string
	for i := range t.sc.Workloads {
		w := &t.sc.Workloads[i]
		if labels := w.Template().Labels; w != t.w && b.Covers(w.Namespace(), labels) && !second.Covers(w.Namespace(), labels) {
			out = append(out, w.Name())
		}
	}
	return out
}

// blocks says that a budget lets no pod go, of so many of the workload and those of others that it covers, where all are well.
func (t *target) blocks(b *world.Budget, pods int) bool {
	for i := range t.sc.Workloads {
		if w := &t.sc.Workloads[i]; w != t.w && b.Covers(w.Namespace(), w.Template().Labels) {
			pods += w.Replicas()
		}
	}
	_, desired := b.Desired(pods, pods)
	return desired >= pods
}

// Unevictable says which budget lets none of a workload's pods go even when all are well, or that two cover them, or that a spot notice is too short
// for their hook; "" where one may go, and in time.
func Unevictable(s *world.Scenario, w *world.Workload) string {
	t := &target{sc: s, w: w}
	over := t.coverings()
	switch {
	case len(over) > 1:
		return "two PodDisruptionBudgets cover the pods, and the eviction API refuses these"
	case len(over) == 1 && t.blocks(over[0], w.Replicas()):
		return over[0].Words() + " lets no pod go"
	}
	hook := w.Hooks[t.container().Name].Duration.Min()
	for i := range s.Actions {
		if o, spot := s.Actions[i].Operation.(world.SpotNotice); spot && hook >= o.Notice {
			return fmt.Sprintf("the preStop hook takes %s, and the notice is %s", hook.Duration(), o.Notice.Duration())
		}
	}
	return ""
}

// budget has pods that are evicted together go one after another, each when the successor of the one before is ready.
func (t *target) budget() *Change {
	if !t.together() || t.w.Replicas() < 2 || t.covering() != nil || t.selector() == nil {
		return nil
	}
	title := "a " + kindBudget + " (maxUnavailable: 1)"
	if !t.surelyTogether() { // beside what helps in a rollout nobody would know what it is for
		title += " for a drain with all pods on one node"
	}
	return &Change{
		ID: "budget", Title: title, Cost: "a drain takes longer: pods go one after another",
		Edits: []edit.Edit{t.newBudget()}, Around: Around{Budget: t.madeBudget()}, Otherwise: t.guessed(),
	}
}

// together says that several pods of the workload may be evicted at a time: from one node, or from nodes that follow each other.
func (t *target) together() bool {
	if !evicted(t.sc) {
		return false
	}
	return t.guessed() || t.surelyTogether()
}

// surelyTogether says that they may be wherever the pods of the workload are, of which the input need not say it.
func (t *target) surelyTogether() bool {
	return shared(t.w.Placed) || t.w.Replicas() > len(t.sc.Nodes) || slices.ContainsFunc(t.sc.Actions, func(a world.Action) bool {
		drain, ok := a.Operation.(world.Drain)
		return !ok && world.Disrupts(a.Operation) || len(drain.Nodes) > 1
	})
}

// guessed says that nothing in the input says where the pods of the workload are: several may be on one node.
func (t *target) guessed() bool {
	return slices.ContainsFunc(t.sc.Assumptions, func(a world.Assumption) bool { return a.ID == scenario.Places })
}

// heeded has a budget let one pod go at a time that lets none go, where it only puts off what happens: whoever takes the node away
// deletes the pods after a while, whatever the budget says.
func (t *target) heeded() *Change {
	overruled := slices.ContainsFunc(t.sc.Actions, func(a world.Action) bool {
		taking, ok := t.sc.TakingOf(&a)
		return ok && taking.Limit > 0 && taking.AtLimit == world.DeletesAll
	})
	if !overruled || t.w.Replicas() < 2 {
		return nil
	}
	return t.looser()
}

// onlyPod is what it means that a drain may end the only pod.
const onlyPod = "the budget keeps the only pod where it is: with this a drain ends it, and nobody answers where it stops to serve before the next one is ready"

// looser has a budget let one pod go at a time that lets none go.
func (t *target) looser() *Change {
	b := t.covering()
	if !evicted(t.sc) || b == nil || !t.blocks(b, t.w.Replicas()) || len(t.coverings()) > 1 {
		return nil // of two oneBudget leaves one
	}
	c := &Change{ID: "budget", Title: "maxUnavailable: 1 in its " + kindBudget, Edits: []edit.Edit{budgetEdit(b)}, Around: Around{Budget: loosened(b)}}
	if t.w.Replicas() == 1 {
		c.Destructive = onlyPod
	}
	return c
}

// unwell has a budget let pods go that are not ready.
func (t *target) unwell() *Change {
	b := t.covering()
	sick := slices.ContainsFunc(t.w.Placed, func(p world.Placed) bool { return !p.Ready })
	if !evicted(t.sc) || b == nil || !sick {
		return nil
	}
	if p := b.Value.Spec.UnhealthyPodEvictionPolicy; p != nil && *p == policyv1.AlwaysAllow {
		return nil
	}
	policy := policyv1.AlwaysAllow
	changed := &world.Budget{Value: b.Value.DeepCopy(), Object: b.Object}
	changed.Value.Spec.UnhealthyPodEvictionPolicy = &policy
	e := edit.New(b.Object, b.Value, "spec.unhealthyPodEvictionPolicy", edit.Value{YAML: string(policy)}, "")
	e.Kind = kindBudget
	return &Change{ID: "unhealthyPodEvictionPolicy", Title: "unhealthyPodEvictionPolicy: AlwaysAllow", Edits: []edit.Edit{e}, Around: Around{Budget: changed}}
}

// spread has the scheduler put pods on nodes of their own, where they share one now.
func (t *target) spread() *Change {
	if !emptied(t.sc) || !shared(t.w.Placed) {
		return nil
	}
	e := t.spreads()
	if e == nil {
		return nil
	}
	return &Change{
		ID: "spread", Title: "topologySpreadConstraints over nodes", Edits: []edit.Edit{*e},
		Cost: "it is a rollout; the scheduler prefers other nodes, and does not insist", Around: Around{Spread: true},
	}
}

// spreads is the edit that has the scheduler put pods on nodes of their own, nil where something says already where they go.
func (t *target) spreads() *edit.Edit {
	selector := t.selector()
	if selector == nil || t.apart() || len(t.w.Template().Spec.TopologySpreadConstraints) > 0 {
		return nil
	}
	to := fmt.Sprintf("[{maxSkew: 1, topologyKey: %s, whenUnsatisfiable: ScheduleAnyway, labelSelector: %s}]", corev1.LabelHostname, selectorYAML(selector))
	e := t.edit("spec.template.spec.topologySpreadConstraints", to)
	return &e
}

// shared says that two pods are on one node.
func shared(pods []world.Placed) bool {
	seen := map[string]bool{}
	for _, p := range pods {
		if p.Node != "" && seen[p.Node] {
			return true
		}
		seen[p.Node] = true
	}
	return false
}

// madeBudget is a budget for the workload that lets one pod go at a time: of two pods or more it never blocks for ever.
func (t *target) madeBudget() *world.Budget {
	one := intstr.FromInt32(1)
	return &world.Budget{Value: &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: t.w.Namespace(), Name: t.budgetName()},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: t.selector()},
	}}
}

// budgetName is the workload's, unless a budget has it.
func (t *target) budgetName() string {
	name := t.w.ObjectName()
	for slices.ContainsFunc(t.sc.Budgets, func(b world.Budget) bool {
		return b.Value.Name == name && b.Value.Namespace == t.w.Namespace()
	}) {
		name += "-pdb"
	}
	return name
}

// newBudget is the object of madeBudget, to be pasted beside the workload's.
func (t *target) newBudget() edit.Edit {
	e := edit.Edit{Kind: kindBudget, To: edit.Value{Words: kindBudget + " " + t.budgetName()}, With: edit.Value{YAML: fmt.Sprintf(
		"{apiVersion: policy/v1, kind: %s, metadata: {name: %s, namespace: %s}, spec: {maxUnavailable: 1, selector: %s}}",
		kindBudget, edit.Word(t.budgetName()), edit.Word(t.w.Namespace()), selectorYAML(t.selector()))}}
	if t.w.Object != nil {
		e.File = t.w.Object.File
	}
	return e
}

// loosened is a budget that lets one pod go at a time instead of none.
func loosened(b *world.Budget) *world.Budget {
	one := intstr.FromInt32(1)
	out := &world.Budget{Value: b.Value.DeepCopy(), Object: b.Object}
	out.Value.Spec.MinAvailable, out.Value.Spec.MaxUnavailable = nil, &one
	return out
}

// budgetEdit is the edit of a budget's spec that loosens it.
func budgetEdit(b *world.Budget) edit.Edit {
	v, path := b.Bound()
	was := ""
	if v != nil {
		was = fmt.Sprintf("%s: %s", path[len("spec."):], v)
	}
	to := "{maxUnavailable: 1"
	if b.Value.Spec.Selector != nil {
		to += ", selector: " + selectorYAML(b.Value.Spec.Selector)
	}
	if p := b.Value.Spec.UnhealthyPodEvictionPolicy; p != nil {
		to += ", unhealthyPodEvictionPolicy: " + string(*p)
	}
	e := edit.New(b.Object, b.Value, "spec", edit.Value{YAML: to + "}", Words: "maxUnavailable: 1"}, was)
	e.Kind = kindBudget
	return e
}

// selectorYAML is a selector in one line.
func selectorYAML(s *metav1.LabelSelector) string {
	var parts []string
	var labels []string
	for _, key := range sortedKeys(s.MatchLabels) {
		labels = append(labels, edit.Word(key)+": "+edit.Word(s.MatchLabels[key]))
	}
	if len(labels) > 0 {
		parts = append(parts, "matchLabels: {"+strings.Join(labels, ", ")+"}")
	}
	var expressions []string
	for _, e := range s.MatchExpressions {
		words := fmt.Sprintf("key: %s, operator: %s", edit.Word(e.Key), e.Operator)
		if len(e.Values) > 0 {
			var values []string
			for _, v := range e.Values {
				values = append(values, edit.Word(v))
			}
			words += ", values: [" + strings.Join(values, ", ") + "]"
		}
		expressions = append(expressions, "{"+words+"}")
	}
	if len(expressions) > 0 {
		parts = append(parts, "matchExpressions: ["+strings.Join(expressions, ", ")+"]")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	var out []K
	for k := range m { // order: sorted below
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// makeshift says why a preStop hook is a poor answer, "" where it is not: it lasts until the successors are ready, of the only pod, or of all
// that may go at once. Then it is none with the change of the second ID.
func (t *target) makeshift(sleep engine.Time) (why, unless string) {
	one := t.w.Replicas() == 1
	switch {
	case sleep == 0:
		return "", ""
	case one && t.unasked() != nil:
		return "it only has the one pod wait for its successor: one that dies at once never has any", ""
	case t.accompanied():
		return "", ""
	case one && emptied(t.sc):
		return "it only has the one pod wait for its successor: one that dies at once has none", ""
	case t.sc.Updates() && t.allAtOnce():
		return "it only has the old pods wait for their successors: none answers where these take longer", unavailableChange
	default:
		return "", ""
	}
}

// allAtOnce says that a rollout may take all pods away before it has others.
func (t *target) allAtOnce() bool {
	_, unavailable := t.w.Fenceposts()
	return t.w.Kind() == world.Deployment && !t.w.Recreate() && unavailable > 0 && unavailable >= t.w.Replicas()
}

// accompanied says that each Service which leads to the workload leads to pods of another one, too, as to those of a canary.
func (t *target) accompanied() bool {
	led, alone := false, false
	for i := range t.sc.Services {
		svc := t.sc.Services[i].Service
		if !t.sc.Endpoints(svc, t.w) {
			continue
		}
		led = true
		alone = alone || !slices.ContainsFunc(t.sc.Workloads, func(w world.Workload) bool {
			return w.Name() != t.w.Name() && w.Replicas() > 0 && t.sc.Endpoints(svc, &w)
		})
	}
	return led && !alone
}
