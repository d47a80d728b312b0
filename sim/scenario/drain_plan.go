package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// DrainPlan is what kubectl drain finds on nodes, as the input has it.
type DrainPlan struct {
	Nodes []NodePlan
	// Unwell says which pods of the workloads there are not ready or Pending before anything is done, wherever they are.
	Unwell []string
	// Guessed names the workloads of whose pods the input has none: where they are is the scheduler's guess.
	Guessed []string
	// Back names the workloads that tolerate the cordon: their next pods may be on the nodes again.
	Back []string
}

// NodePlan is what is on one node.
type NodePlan struct {
	Name     string
	Cordoned bool
	NotReady bool     // its kubelet says so, by its object
	Silent   bool     // its kubelet says nothing, by its object: there is none to stop the pods
	Leave    []OnNode // their pods are evicted, and simulated
	Beyond   []OnNode // evicted, too, and not simulated
	Stay     []OnNode // kubectl drain leaves them where they are
	// Refused are the flags without which kubectl would do nothing at all.
	Refused []Refused
}

// OnNode is pods of one owner on one node.
type OnNode struct {
	Kind, Name string // of the owner: "Deployment", "ns/name"; kind "Pod" for those without, "static Pod" for mirror pods
	Pods       int
	Why        string // more to say, "" for nothing
	Kept       bool   // Why is what keeps the drain from its end, as things are
	Later      bool   // Why is what the drain waits for
}

// Refused is a flag of kubectl drain, and the pods for which it is needed: "ns/name".
type Refused struct {
	Flag string
	Pods []string
}

// kindMirror is what pods are called that a kubelet has from a file: the API shows a mirror of them.
const kindMirror = "static Pod"

// plan lists what is on the nodes that are drained.
func (b *builder) plan(base *world.Scenario, d *nodeDrain, with []int) *DrainPlan {
	out := &DrainPlan{}
	for _, name := range d.nodes {
		out.Nodes = append(out.Nodes, b.nodePlan(base, name))
	}
	for _, i := range with {
		o := &b.census.owners[i]
		if !o.simulated() {
			continue
		}
		w := &base.Workloads[i]
		if len(w.Placed) == 0 {
			out.Guessed = append(out.Guessed, o.id())
			out.Nodes[0].refuses(o)
		}
		if returns(w) {
			out.Back = append(out.Back, o.id())
		}
		for k := range b.world.pods {
			if p := &b.world.pods[k]; o.keeps(p) && !p.over() && !p.unsaid() && !p.ready() {
				out.Unwell = append(out.Unwell, p.words()+" "+unwellWords(p))
			}
		}
	}
	return out
}

// refuses notes the flags without which kubectl refuses pods of a workload that may be on the node.
func (n *NodePlan) refuses(o *owner) {
	note := func(flag string) {
		at := slices.IndexFunc(n.Refused, func(r Refused) bool { return r.Flag == flag })
		if at < 0 {
			at, n.Refused = len(n.Refused), append(n.Refused, Refused{Flag: flag})
		}
		n.Refused[at].Pods = append(n.Refused[at].Pods, o.id())
	}
	if hasEmptyDir(&o.template.Spec) {
		note("--delete-emptydir-data")
	}
	if o.kind == world.Pod {
		note("--force")
	}
}

// returns says that the next pod of a workload may be put on a node that is cordoned: it tolerates that.
func returns(w *world.Workload) bool {
	cordon := []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	return w.Kind() != world.DaemonSet && world.Tolerates(world.TolerationsOf(w.Resource), cordon)
}

// unwellWords say what is wrong with a pod that is not ready.
func unwellWords(p *homed) string {
	if p.node() == "" {
		return "is Pending"
	}
	for _, s := range p.Value.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Reason != "" {
			return "is not Ready (" + w.Reason + ")"
		}
	}
	return "is not Ready"
}

func (b *builder) nodePlan(base *world.Scenario, name string) NodePlan {
	n := NodePlan{Name: name}
	if i := slices.IndexFunc(base.Nodes, func(n world.Node) bool { return n.Name == name }); i >= 0 && base.Nodes[i].Object != nil {
		n.Cordoned, n.Silent = base.Nodes[i].Object.Spec.Unschedulable, base.Nodes[i].Silent()
		n.NotReady = !n.Silent && notReady(base.Nodes[i].Object)
	}
	var daemons, local, bare []string
	for i := range b.world.pods {
		p := &b.world.pods[i]
		if p.node() != name {
			continue
		}
		_, mirror := p.Value.Annotations[corev1.MirrorPodAnnotationKey]
		finished := p.finished()
		switch { // the filters of kubectl, in its order (k8s.io/kubectl v0.36.3 pkg/drain/filters.go; verified)
		case p.kind == world.DaemonSet && !finished:
			n.Stay = add(n.Stay, OnNode{Kind: p.kind, Name: p.Namespace + "/" + p.name})
			daemons = append(daemons, p.words())
			continue
		case mirror:
			n.Stay = add(n.Stay, OnNode{Kind: kindMirror, Name: p.words()})
			continue
		case !finished && hasEmptyDir(&p.Value.Spec):
			local = append(local, p.words())
		}
		if p.kind == world.Pod && !finished {
			bare = append(bare, p.words())
		}
		b.leaves(&n, p)
	}
	for _, r := range []Refused{{"--ignore-daemonsets", daemons}, {"--delete-emptydir-data", local}, {"--force", bare}} {
		if len(r.Pods) > 0 {
			n.Refused = append(n.Refused, r)
		}
	}
	return n
}

// leaves notes a pod that is evicted.
func (b *builder) leaves(n *NodePlan, p *homed) {
	on := OnNode{Kind: p.kind, Name: p.Namespace + "/" + p.name}
	switch {
	case p.finished():
		on.Why = "finished"
	case p.over():
		on.Why = "on its way out already"
		if on.Kept = n.Silent; n.Silent {
			on.Why += ", and nobody stops it"
		}
	case slices.ContainsFunc(b.census.owners, func(o owner) bool { return o.simulated() && o.keeps(p) }):
		n.Leave = add(n.Leave, on)
		return
	default:
		on.Why, on.Kept = b.refusedNow(p)
		on.Later = on.Why != "" && !on.Kept
	}
	n.Beyond = add(n.Beyond, on)
}

// refusedNow says which budget does not let a pod go at the moment, "" for none, and whether that keeps it: not where another pod of its operator's
// may come in its place. One that is Pending may go whatever budgets say.
func (b *builder) refusedNow(p *homed) (why string, kept bool) {
	var over []string
	refuses, moves := false, false
	for i := range b.world.budgets {
		if x := &b.world.budgets[i]; x.Covers(p.Namespace, p.Value.Labels) {
			over = append(over, x.Words())
			refuses = refuses || !b.allows(x, p.ready())
			moves = b.mayMove(x, p)
		}
	}
	switch {
	case len(over) == 0 || p.Value.Status.Phase == corev1.PodPending:
		return "", false
	case len(over) > 1:
		return over[0] + " and " + over[1] + " both cover it, which the eviction API does not support", true
	case refuses && moves:
		return over[0] + " lets it go once its operator has switched over to another pod, which is not simulated", false
	case refuses:
		return over[0] + " allows no eviction now", true
	default:
		return "", false
	}
}

// mayMove says whether an operator has another pod that is ready, and that a budget would cover if it were labelled as this one.
func (b *builder) mayMove(x *world.Budget, p *homed) bool {
	return !Simulates(p.kind) && p.kind != kindJob && slices.ContainsFunc(b.world.pods, func(other homed) bool {
		return other.owned(p.kind, p.Namespace, p.name) && other.ready() && !other.over() && !x.Covers(other.Namespace, other.Value.Labels)
	})
}

// allows says whether a budget lets one of its pods go at the moment: by its status, and where it has none by the pods of the input, as far as
// its number is one that needs no controller's.
func (b *builder) allows(x *world.Budget, ready bool) bool {
	s := x.Value.Status
	if s.ObservedGeneration == 0 {
		s = policyv1.PodDisruptionBudgetStatus{}
		if least := x.Value.Spec.MinAvailable; least == nil || least.Type != intstr.Int {
			return true
		}
		for i := range b.world.pods {
			if p := &b.world.pods[i]; p.ready() && !p.over() && x.Covers(p.Namespace, p.Value.Labels) {
				s.CurrentHealthy++
			}
		}
		_, desired := x.Desired(0, 0)
		s.DesiredHealthy = int32(desired)
		s.DisruptionsAllowed = s.CurrentHealthy - s.DesiredHealthy
	}
	if policy := x.Value.Spec.UnhealthyPodEvictionPolicy; !ready {
		return policy != nil && *policy == policyv1.AlwaysAllow || s.DesiredHealthy > 0 && s.CurrentHealthy >= s.DesiredHealthy || s.DisruptionsAllowed > 0
	}
	return s.DisruptionsAllowed > 0
}

// KeptBy is the first pods on the nodes that are not simulated and do not go, as things are, and their node; nil for none.
func (d *DrainPlan) KeptBy() (*OnNode, *NodePlan) {
	if d == nil {
		return nil, nil
	}
	for i := range d.Nodes {
		if on := d.Nodes[i].KeptBy(); on != nil {
			return on, &d.Nodes[i]
		}
	}
	return nil, nil
}

// waits is the first pods on the nodes that are not simulated and that a budget lets go in time, nil for none.
func (d *DrainPlan) waits() *OnNode {
	for i := range d.Nodes {
		list := d.Nodes[i].Beyond
		if at := slices.IndexFunc(list, func(on OnNode) bool { return on.Later }); at >= 0 {
			return &list[at]
		}
	}
	return nil
}

// LetsGo says what would have such pods go.
func (n *NodePlan) LetsGo() string {
	if n.Silent {
		return "that kubelet again; or kubectl delete node " + n.Name + ", once its machine is off for good"
	}
	return "more of its pods ready, or another budget"
}

// KeptBy is the first pods on the node that are not simulated and do not go, as things are; nil for none.
func (n *NodePlan) KeptBy() *OnNode {
	at := slices.IndexFunc(n.Beyond, func(on OnNode) bool { return on.Kept })
	if at < 0 {
		return nil
	}
	return &n.Beyond[at]
}

// Words name what is on the node, and what is to be said of it: "Redis data/redis (on its way out already)".
func (on *OnNode) Words() string {
	words := on.Kind + " " + on.Name
	if on.Why != "" {
		words += " (" + on.Why + ")"
	}
	return words
}

// notReady says whether a Node object has the condition Ready, and it is not True.
func notReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue
	})
}

// add counts a pod of an owner.
func add(list []OnNode, on OnNode) []OnNode {
	at := slices.IndexFunc(list, func(x OnNode) bool { return x.Kind == on.Kind && x.Name == on.Name && x.Why == on.Why })
	if at < 0 {
		at, list = len(list), append(list, on)
	}
	list[at].Pods++
	return list
}

func hasEmptyDir(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.EmptyDir != nil })
}
