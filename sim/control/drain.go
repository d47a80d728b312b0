package control

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// kubectl drain asks again so long after a refusal, and looks so often whether a pod is gone (k8s.io/kubectl v0.36.3
// pkg/drain/drain.go; verified).
const (
	evictAgain = 5 * engine.Second
	goneAgain  = engine.Second
)

// Drains are the runs of kubectl drain.
type Drains struct {
	d      *Desk
	Owner  engine.Owner
	evict  *Evictions
	list   []*drain
	ends   []Drained
	inVain uint64 // refusals that changed nothing, and looks
	// Lost says that nobody is there to stop a pod that is being deleted.
	Lost func(p *api.Pod) bool
}

// Drained is a node with which kubectl drain is through.
type Drained struct {
	Node         int
	Began, Ended engine.Time // from when its first pod was looked at
	Why          string      // kubectl gave it up for that, "" when it is empty
}

// drain is one run of kubectl drain.
type drain struct {
	*Drains
	of    world.Drain
	nodes []int
	at    int         // index of the node that is emptied; len(nodes): it is over
	began engine.Time // with that node
	until engine.Time
	pods  []*leaving // of that node
	fails []failure
}

// failure is a node that kubectl gives up on.
type failure struct {
	node   int
	why    string
	budget int // that refused until the end, -1 for none
	pod    *api.Pod
	late   *Late
}

// Late is a pod that was to stop, and has not in time.
type Late struct {
	Pod  *api.Pod
	Time engine.Time
}

// leaving is a pod that a drain waits for.
type leaving struct {
	pod    *api.Pod
	over   bool
	refuse *Answer // the last refusal; nil: not refused, or evicted since
	never  *Answer // nil, or that its eviction is impossible

	besides bool // nobody waits for it
	spared  bool // nobody asks for its eviction
}

// NewDrains is kubectl, which has not been called yet.
func NewDrains(d *Desk, evict *Evictions) *Drains {
	return &Drains{d: d, Lost: func(*api.Pod) bool { return false }, Owner: d.Engine.Register("kubectl"), evict: evict}
}

// Start begins a drain of nodes, by their numbers: it cordons all of them first.
func (c *Drains) Start(of world.Drain, nodes []int) {
	r := &drain{Drains: c, of: of, nodes: nodes}
	c.list = append(c.list, r)
	for i, n := range nodes {
		if o, ok := c.d.API.Get(api.NodeKey(n)).(*api.Node); ok && o.Gone || !ok && c.d.Nodes[n].Joins {
			r.at = i
			r.notFound()
			return
		}
	}
	r.cordon(0)
}

// notFound has kubectl end before it does anything: it asks for all nodes first (k8s.io/kubectl v0.36.3 pkg/cmd/drain/drain.go Complete;
// verified).
func (r *drain) notFound() {
	node := r.nodes[r.at]
	why := fmt.Sprintf("nodes %q not found", r.d.Nodes[node].Name)
	r.fails = append(r.fails, failure{node: node, why: why, budget: -1})
	r.ends = append(r.ends, Drained{Node: node, Began: r.d.Engine.Now(), Ended: r.d.Engine.Now(), Why: why})
	r.d.Log.Tell(event.Event{Kind: event.Drained, Pod: -1, Node: node, Stream: -1, Refusal: why})
	r.at = len(r.nodes)
}

// Cordon makes a node unschedulable, or schedulable again, and goes on then.
func (c *Drains) Cordon(node int, cordoned bool, then func()) {
	wrote := false
	c.d.API.Write(c.Owner, "cordon", api.NodeKey(node), func(o api.Object) api.Object {
		n, ok := o.(*api.Node)
		if wrote = ok && !n.Gone && n.Cordoned != cordoned; !wrote {
			return nil
		}
		next := *n
		next.Cordoned = cordoned
		return &next
	}, func() {
		if wrote {
			c.d.Log.Tell(event.Event{Kind: event.Cordoned, Pod: -1, Node: node, Stream: -1, OK: cordoned})
		}
		then()
	})
}

// cordon cordons the i-th node and those after it, then empties the first.
func (r *drain) cordon(i int) {
	if i == len(r.nodes) {
		r.empty()
		return
	}
	r.Cordon(r.nodes[i], true, func() { r.cordon(i + 1) })
}

// empty begins with the present node, if there is one.
func (r *drain) empty() {
	r.pods, r.until, r.began = nil, engine.Never, r.d.Engine.Now()
	if r.at == len(r.nodes) {
		return
	}
	if r.of.Timeout > 0 {
		r.until = r.d.Engine.Now() + r.of.Timeout
	}
	pods := slices.DeleteFunc(r.d.Specs.PodsOn(r.nodes[r.at]), func(p *api.Pod) bool { return !r.selects(p) || r.d.mirrors(p) || r.skips(p) })
	if why := r.refuses(pods); why != "" {
		r.giveUp(why)
		return
	}
	pods = slices.DeleteFunc(pods, r.isDaemon)
	for _, p := range pods {
		r.pods = append(r.pods, &leaving{pod: p})
	}
	switch {
	case len(pods) == 0:
		r.next()
	case r.of.DisableEviction:
		r.remove(0)
	default:
		for _, l := range slices.Clone(r.pods) {
			r.ask(l)
		}
	}
}

// selects says whether a pod is one that --pod-selector asks for.
func (r *drain) selects(p *api.Pod) bool {
	selector, err := labels.Parse(r.of.PodSelector)
	if err != nil {
		panic("control: " + err.Error()) // it was read before
	}
	have := p.Labels
	if have == nil {
		have = world.TemplateOf(r.d.Specs.ResourceOf(setOf(p))).Labels
	}
	return selector.Matches(labels.Set(have))
}

// skips says whether the time by which a pod should have gone is past for longer than anybody waits for. kubectl looks at
// deletionTimestamp, which is the end of the grace period, in whole seconds.
func (r *drain) skips(p *api.Pod) bool {
	return r.of.SkipDeleted > 0 && p.Deleting() && (r.d.Engine.Now()-(p.DeletedAt+p.Grace).TruncateToSecond()).TruncateToSecond() > r.of.SkipDeleted
}

// isDaemon says that a pod is a DaemonSet's and stays where it is. One that is finished goes, and one that it has released is nobody's.
func (r *drain) isDaemon(p *api.Pod) bool {
	return !r.d.Unmanaged(p) && world.KindOf(r.d.Specs.ResourceOf(setOf(p))) == world.DaemonSet && !p.Phase.Terminal()
}

// refuses says which pods keep kubectl from emptying a node at all, "" for none: each for the first reason that there is.
func (r *drain) refuses(pods []*api.Pod) string {
	var daemons, local, bare []string
	for _, p := range pods {
		switch {
		case r.isDaemon(p):
			if r.of.MindDaemons {
				daemons = append(daemons, p.Called())
			}
		case r.local(p):
			local = append(local, p.Called())
		case !r.of.Force && r.d.Unmanaged(p) && !p.Phase.Terminal():
			bare = append(bare, r.d.calledInFull(p))
		}
	}
	var out []string
	if daemons != nil {
		out = append(out, "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): "+strings.Join(daemons, ", "))
	}
	if local != nil {
		out = append(out, "cannot delete Pods with local storage (use --delete-emptydir-data to override): "+strings.Join(local, ", "))
	}
	if bare != nil {
		out = append(out, "cannot delete Pods that declare no controller (use --force to override): "+strings.Join(bare, ", "))
	}
	return strings.Join(out, "; ")
}

// local says whether a pod has an emptyDir, where that is not to be deleted. One that is finished does not matter.
func (r *drain) local(p *api.Pod) bool {
	if !r.of.KeepEmptyDir || p.Phase.Terminal() {
		return false
	}
	volumes := world.TemplateOf(r.d.Specs.ResourceOf(setOf(p))).Spec.Volumes
	return slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.EmptyDir != nil })
}

// ask asks for the eviction of a pod, again and again while a budget does not allow it.
func (r *drain) ask(l *leaving) {
	if r.late() {
		r.over(l, "timeout reached")
		return
	}
	r.evict.Evict(r.Owner, l.pod.ID, r.of.GracePeriod, func(a Answer) {
		l.refuse = nil
		r.evict.tell(l.pod.ID, a)
		switch a.Code {
		case Absent:
			r.over(l, "")
		case Evicted:
			r.look(l)
		case NotNow:
			l.refuse = &a
			r.inVain++
			if a.Again {
				return
			}
			r.d.Engine.After(evictAgain, engine.ClassTimer, r.Owner, "evict after 5 s", func() { r.ask(l) })
		case Impossible:
			l.never = &a
			r.over(l, a.Why)
		default:
			r.over(l, a.Why)
		}
	})
}

// remove deletes the pods from the i-th on, one after another, then waits for all of them.
func (r *drain) remove(i int) {
	if i == len(r.pods) {
		for _, l := range slices.Clone(r.pods) {
			r.look(l)
		}
		return
	}
	id := r.pods[i].pod.ID
	r.d.API.Write(r.Owner, "drain: delete pod", api.PodKey(id), r.d.Specs.Deletion(id, r.of.GracePeriod), func() { r.remove(i + 1) })
}

// look looks whether a pod that is being deleted has gone, and again a second later.
func (r *drain) look(l *leaving) {
	p, there := r.d.API.Get(api.PodKey(l.pod.ID)).(*api.Pod)
	switch {
	case r.d.API.Down():
		r.over(l, "the API server does not answer")
	case !there, r.skips(p):
		r.over(l, "")
	case r.late():
		r.over(l, "timeout reached")
	default:
		if r.Lost(p) {
			r.inVain++
		}
		at := r.d.Engine.Now() + goneAgain
		if r.until != engine.Never {
			at = min(at, r.until)
		}
		r.d.Engine.At(at, engine.ClassTimer, r.Owner, "is the pod gone?", func() { r.look(l) })
	}
}

// late says that the drain of the present node has no time left.
func (r *drain) late() bool { return r.until != engine.Never && r.d.Engine.Now() >= r.until }

// over notes that nothing more is done about a pod, "" where it is gone. What becomes of the others does not depend on it.
func (r *drain) over(l *leaving, why string) {
	l.over = true
	if why != "" {
		f := failure{node: r.nodes[r.at], why: l.pod.Called() + ": " + why, budget: -1, pod: l.pod}
		if l.refuse != nil {
			f.why, f.budget = f.why+": "+l.refuse.Why, l.refuse.Budget
		}
		if l.never != nil {
			f.budget = l.never.Budget
		}
		r.fails = append(r.fails, f)
	}
	if slices.ContainsFunc(r.pods, func(l *leaving) bool { return !l.over }) {
		return
	}
	r.next()
}

// giveUp has kubectl fail with the present node, and go on with the next.
func (r *drain) giveUp(why string) {
	r.fails = append(r.fails, failure{node: r.nodes[r.at], why: why, budget: -1})
	r.next()
}

// next tells what became of the present node and goes on with the next.
func (r *drain) next() {
	node, why := r.nodes[r.at], ""
	for _, f := range r.fails {
		if f.node == node && why == "" {
			why = f.why
		}
	}
	r.ends = append(r.ends, Drained{Node: node, Began: r.began, Ended: r.d.Engine.Now(), Why: why})
	r.d.Log.Tell(event.Event{Kind: event.Drained, Pod: -1, Node: node, Stream: -1, OK: why == "", Refusal: why})
	r.at++
	r.empty()
}

// Ends lists the nodes with which kubectl is through, in order.
func (c *Drains) Ends() []Drained { return c.ends }

// Awaited lists the pods that drains without a timeout wait for, which nobody refuses to evict.
func (c *Drains) Awaited() []Blockade {
	var out []Blockade
	for _, r := range c.list {
		for _, l := range r.pods {
			if !l.over && l.refuse == nil && r.until == engine.Never {
				out = append(out, Blockade{Node: r.nodes[r.at], Pod: l.pod, Budget: -1})
			}
		}
	}
	return out
}

// InVain counts the requests of drains that were refused, and looks for pods that are lost: nothing has changed by them.
func (c *Drains) InVain() uint64 { return c.inVain }

// Waiting says what a drain that is under way waits for, "" for none.
func (c *Drains) Waiting() string {
	for _, r := range c.list {
		for _, l := range r.pods {
			if !l.over {
				return fmt.Sprintf("kubectl drain of %s waits for %s", c.d.Nodes[r.nodes[r.at]].Name, l.pod.Called())
			}
		}
		if r.at < len(r.nodes) {
			return "kubectl drain of " + c.d.Nodes[r.nodes[r.at]].Name + " has only begun"
		}
	}
	return ""
}

// Blockade is a drain that a budget, or something else, keeps from its end.
type Blockade struct {
	Node    int
	Pod     *api.Pod // that is refused, nil for a node that kubectl does not begin with
	Budget  int      // that refuses, -1 for none
	Why     string   // in words
	GivenUp bool     // kubectl has ended with an error; else it goes on asking
	By      string   // who it is instead of kubectl drain, for people
	Kept    *Kept    // it has not even begun with the node
	Late    *Late    // it was given up for this pod, which no budget kept
}

// Blockades lists the nodes whose drain has failed, or is refused at the moment and has no timeout, in order.
func (c *Drains) Blockades() []Blockade {
	var out []Blockade
	for _, r := range c.list {
		for _, f := range r.fails {
			out = append(out, Blockade{Node: f.node, Pod: f.pod, Budget: f.budget, Why: f.why, GivenUp: true})
		}
		for _, l := range r.pods {
			if !l.over && l.refuse != nil && !l.refuse.Again && r.until == engine.Never {
				out = append(out, Blockade{Node: r.nodes[r.at], Pod: l.pod, Budget: l.refuse.Budget, Why: l.refuse.Why})
			}
		}
	}
	return out
}
