package control

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Machines are what runs under the nodes.
type Machines interface {
	// Leave ends the machine of a node and has its object deleted. Join has a node join, and calls joined when the API server has it.
	Leave(node int)
	Join(node int, joined func())
}

// Takers are those who take nodes away from the cluster: Cluster Autoscaler, Karpenter, whoever upgrades a managed pool. How each
// of them does it is a world.Taking.
type Takers struct {
	d        *Desk
	evict    *Evictions
	machines Machines
	sched    *Scheduler
	owners   map[string]engine.Owner // by component
	list     []*taking
	inVain   uint64 // looks and refusals that changed nothing
}

// NewTakers are those who have not been told to do anything yet.
func NewTakers(d *Desk, evict *Evictions, sched *Scheduler, machines Machines) *Takers {
	return &Takers{d: d, evict: evict, sched: sched, machines: machines, owners: map[string]engine.Owner{}}
}

// Owner is a component's, by its name.
func (c *Takers) Owner(component string) engine.Owner {
	owner, ok := c.owners[component]
	if !ok {
		owner = c.d.Engine.Register(component)
		c.owners[component] = owner
	}
	return owner
}

// taking is one go of somebody.
type taking struct {
	*Takers
	of           world.Taking
	owner        engine.Owner
	nodes, joins []int
	next         int // of nodes: the first that it is not nobody's turn
	asked        int // of joins: so many were asked for
	joined       []bool
	awaiting     []awaiting
	marked       map[int]engine.Time // when, by node
	busy         []*emptying
	fails        []failure
	kept         []Blockade
	overrule     []Overruled
	stopped      bool // nobody goes on
	workers      int  // that are not through
}

// awaiting is what goes on when a node has joined.
type awaiting struct {
	join int
	then func()
}

// emptying is a node whose pods are to leave.
type emptying struct {
	*taking
	node  int
	since engine.Time // of the first eviction; with Rules.AllFirst of the last, Never before it
	pods  []*leaving
	ended func(ok bool)
	over  bool
	late  bool // what is there is deleted, and the machine goes
}

// Start has somebody take nodes away, by their numbers.
func (c *Takers) Start(of world.Taking, nodes, joins []int) {
	t := &taking{Takers: c, of: of, owner: c.Owner(of.Component), nodes: nodes, joins: joins, joined: make([]bool, len(joins)), marked: map[int]engine.Time{}}
	c.list = append(c.list, t)
	t.nodes = slices.DeleteFunc(slices.Clone(nodes), func(node int) bool {
		k := t.keeps(node)
		if k != nil {
			t.kept = append(t.kept, *k)
		}
		return k != nil
	})
	if of.Component == world.PoolAKS && len(t.kept) > 0 { // it does not begin at all
		t.kept, t.nodes = t.kept[:1], nil
	}
	if k := t.noPlace(); k != nil {
		t.kept, t.nodes = append(t.kept, *k), nil
	}
	t.workers = min(t.of.AtOnce, len(t.nodes))
	if t.workers == 0 {
		return
	}
	if t.of.Forced {
		t.need(len(t.joins)-1, func() {})
	}
	if t.of.Marking == world.MarkFirst {
		t.mark(t.nodes[:t.workers], t.ahead)
	} else {
		t.ahead()
	}
}

// ahead waits for the nodes that have to be there first, then sets the workers to their work.
func (t *taking) ahead() {
	t.need(t.of.Ahead-1, func() {
		work := func() {
			for k := range t.workers {
				t.work(k)
			}
		}
		if t.of.Marking == world.MarkJoined {
			t.mark(t.nodes, work)
		} else {
			work()
		}
	})
}

// work has a worker empty the next node, and those after it.
func (t *taking) work(worker int) {
	if t.stopped || t.next == len(t.nodes) {
		t.workers--
		return
	}
	i := t.next
	t.next++
	empty := func() {
		t.begin(t.nodes[i], func(ok bool) {
			t.stopped = t.stopped || !ok && (t.of.AtLimit == world.Fails || t.of.AtLimit == world.Reopens)
			if !ok {
				t.work(worker)
			} else {
				t.need(i, func() { t.work(worker) }) // that of a surge has joined before
			}
		})
	}
	if worker < t.of.Surges {
		t.need(i, empty)
	} else {
		empty()
	}
}

// need goes on when the nodes up to a number have joined that join in the place of others; they are asked for where they were not.
func (t *taking) need(join int, then func()) {
	join = min(join, len(t.joins)-1)
	for ; t.asked <= join; t.asked++ {
		n := t.asked
		t.d.Engine.After(t.of.Provision, engine.ClassTimer, t.owner, "node joins", func() {
			t.machines.Join(t.joins[n], func() {
				t.joined[n] = true
				t.proceed()
			})
		})
	}
	t.awaiting = append(t.awaiting, awaiting{join, then})
	t.proceed()
}

// proceed goes on with what waited for nodes that have joined, in its order.
func (t *taking) proceed() {
	var ready []awaiting
	t.awaiting = slices.DeleteFunc(t.awaiting, func(a awaiting) bool {
		joined := !slices.Contains(t.joined[:a.join+1], false)
		if joined {
			ready = append(ready, a)
		}
		return joined
	})
	for _, a := range ready {
		a.then()
	}
}

// mark has nodes take no further pods, one after another, and goes on then.
func (t *taking) mark(nodes []int, then func()) {
	if len(nodes) == 0 {
		then()
		return
	}
	n := nodes[0]
	t.write(n, "mark node", func(o *api.Node) {
		o.Disrupted, o.Cordoned, o.Tainted = t.of.Disrupted, !t.of.Disrupted, t.of.Taint
		o.Excluded = t.of.Excludes && !t.of.Disrupted
	}, func() {
		t.marked[n] = t.d.Engine.Now()
		t.d.Log.Tell(event.Event{Kind: event.Cordoned, Pod: -1, Node: n, Stream: -1, OK: true, Name: t.of.Words})
		t.mark(nodes[1:], then)
	})
}

// unmark makes a node one as before.
func (t *taking) unmark(node int, then func()) {
	t.write(node, "unmark node", func(o *api.Node) { o.Disrupted, o.Cordoned, o.Tainted, o.Excluded = false, false, false, false }, func() {
		t.d.Log.Tell(event.Event{Kind: event.Cordoned, Pod: -1, Node: node, Stream: -1, Name: t.of.Words})
		then()
	})
}

func (t *taking) write(node int, name string, edit func(*api.Node), then func()) {
	t.d.API.Write(t.owner, name, api.NodeKey(node), func(o api.Object) api.Object {
		n, ok := o.(*api.Node)
		if !ok || n.Gone {
			return nil
		}
		next := *n
		edit(&next)
		return &next
	}, then)
}

// begin begins with a node, of which ended hears how it ends.
func (t *taking) begin(node int, ended func(ok bool)) {
	e := &emptying{taking: t, node: node, ended: ended, since: engine.Never}
	t.busy = append(t.busy, e)
	empty := e.empty
	if t.of.Disrupted { // Karpenter deletes its NodeClaim, and the Node has a deletionTimestamp until its finalizer goes
		empty = func() {
			t.write(node, "delete node", func(o *api.Node) { o.Tainted, o.Excluded = true, t.of.Excludes }, e.empty)
		}
	}
	after := func() { t.d.Engine.After(t.of.Delay, engine.ClassTimer, t.owner, "empty node", empty) }
	if _, marked := t.marked[node]; marked {
		after()
		return
	}
	t.mark([]int{node}, after)
}

// empty asks for the eviction of all pods of a node at the same time.
func (e *emptying) empty() {
	if !e.of.AllFirst {
		e.since = e.d.Engine.Now()
	}
	e.add()
	if len(e.pods) == 0 {
		e.empties()
		return
	}
	if !e.of.AllFirst {
		e.lookAgain()
	}
}

// add asks for the eviction of the pods that it has not asked for, and says whether there are any.
func (e *emptying) add() bool {
	var fresh, daemons []*leaving
	for _, p := range e.d.Specs.PodsOn(e.node) {
		switch l := (&leaving{pod: p}); {
		case !e.moves(p) || slices.ContainsFunc(e.pods, func(l *leaving) bool { return l.pod.ID == p.ID }):
		case e.d.moves(p):
			fresh = append(fresh, l)
		default:
			l.besides = e.of.Daemons == world.DaemonsToo
			daemons = append(daemons, l)
		}
	}
	switch {
	case e.of.Daemons == world.DaemonsLast:
		fresh = e.foremost(append(fresh, daemons...))
	case e.of.Daemons == world.DaemonsToo && len(fresh) > 0:
		fresh = append(fresh, daemons...)
	}
	e.pods = append(e.pods, fresh...)
	for _, l := range fresh {
		if !l.spared {
			e.ask(l, 0, e.d.Engine.Now())
		}
	}
	return len(fresh) > 0
}

// ask asks for the eviction of a pod, again and again.
func (e *emptying) ask(l *leaving, tries int, began engine.Time) {
	if e.over || l.over {
		return
	}
	if tries > 0 && e.of.Asks > 0 && e.d.Engine.Now() >= began+e.of.Asks {
		l.over = true
		e.accepted()
		return
	}
	e.evict.Evict(e.owner, l.pod.ID, e.grace(l.pod), func(a Answer) {
		l.refuse = nil
		e.evict.tell(l.pod.ID, a)
		switch a.Code {
		case Evicted, Absent:
			l.over = true
			e.accepted()
		default:
			l.refuse = &a
			e.inVain++
			if a.Again {
				return
			}
			again := min(e.of.Again<<min(tries, 20), e.of.AgainMost)
			e.d.Engine.After(again, engine.ClassTimer, e.owner, "evict again", func() { e.ask(l, tries+1, began) })
		}
	})
}

// moves says whether a pod is one that is to leave.
func (t *taking) moves(p *api.Pod) bool {
	if t.d.mirrors(p) {
		return false
	}
	if t.of.Disrupted && world.Tolerates(t.template(p).Spec.Tolerations, disrupted[:]) {
		return false
	}
	return t.of.Daemons != world.DaemonsStay || t.d.moves(p)
}

// disrupted is Karpenter's taint: a pod that tolerates it stays until the machine goes.
var disrupted = [1]corev1.Taint{{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule}}

// grace is what is sent with the eviction of a pod.
func (e *emptying) grace(p *api.Pod) engine.Time {
	if e.of.MostGrace > 0 && e.d.graceOf(p) > e.of.MostGrace {
		return e.of.MostGrace
	}
	return world.OwnGrace
}

// accepted looks, where that waits for it, whether all evictions were accepted, or have failed.
func (e *emptying) accepted() {
	if !e.of.AllFirst || slices.ContainsFunc(e.pods, func(l *leaving) bool { return !l.over }) {
		return
	}
	for _, l := range e.pods {
		if l.refuse != nil && !l.besides {
			e.giveUp(l, "its eviction was refused for "+words(e.of.Asks))
			return
		}
	}
	e.since = e.d.Engine.Now()
	e.look()
}

func (e *emptying) lookAgain() {
	e.d.Engine.After(e.of.Look, engine.ClassTimer, e.owner, "are the pods gone?", e.look)
}

// look looks whether the pods have gone.
func (e *emptying) look() {
	e.inVain++
	if e.over {
		return
	}
	i := slices.IndexFunc(e.pods, func(l *leaving) bool { return !l.besides && e.there(l) != nil })
	switch {
	case e.late, i < 0 && e.of.AllFirst, i < 0 && !e.add():
		e.inVain--
		e.empties()
	case e.of.Limit > 0 && e.d.Engine.Now() >= e.since+e.of.Limit:
		e.inVain--
		e.outOfTime(e.pods[max(0, i)])
	default:
		e.deleteEarly()
		if e.of.Daemons == world.DaemonsLast {
			e.add()
		}
		e.lookAgain()
	}
}

// there is the present version of a pod, nil when it has gone.
func (e *emptying) there(l *leaving) *api.Pod {
	p, ok := e.d.API.Get(api.PodKey(l.pod.ID)).(*api.Pod)
	if !ok {
		return nil
	}
	return p
}

// deleteEarly deletes the pods that need the rest of the time to stop, with what is left of it.
func (e *emptying) deleteEarly() {
	if !e.of.Early || e.of.Limit == 0 {
		return
	}
	end := e.since + e.of.Limit
	for _, l := range e.pods {
		if p := e.there(l); p != nil && !p.Deleting() && e.d.Engine.Now() > end-e.d.graceOf(p) {
			e.overrules(e.of.Limit)
			left := (end - e.d.Engine.Now()).TruncateToSecond()
			l.over, l.refuse = true, nil
			e.inVain--
			e.d.API.Write(e.owner, "delete pod", api.PodKey(p.ID), e.d.Specs.Deletion(p.ID, left), nil)
		}
	}
}

// outOfTime is the end of a node's time, with a pod that is still there.
func (e *emptying) outOfTime(l *leaving) {
	if e.of.AtLimit != world.DeletesAll {
		e.giveUp(l, "not gone after "+words(e.of.Limit))
		return
	}
	e.late = true
	e.overrules(e.of.Limit)
	for _, l := range e.pods {
		if p := e.there(l); p != nil {
			l.over, l.refuse = true, nil
			e.d.API.Write(e.owner, "force delete pod", api.PodKey(p.ID), e.d.Specs.Deletion(p.ID, 0), nil)
		}
	}
	e.lookAgain()
}

// empties ends the machine of a node that is empty.
func (e *emptying) empties() {
	e.over = true
	at := max(e.d.Engine.Now()+e.of.Rest, e.marked[e.node]+e.of.Least) + e.of.Stop
	e.d.Log.Tell(event.Event{Kind: event.Drained, Pod: -1, Node: e.node, Stream: -1, OK: true, Name: e.of.Words})
	e.d.Engine.At(at, engine.ClassTimer, e.owner, "end machine", func() {
		e.machines.Leave(e.node)
		e.end(true)
	})
}

// giveUp has the node stay, for a pod.
func (e *emptying) giveUp(l *leaving, why string) {
	e.over = true
	f := failure{node: e.node, why: l.pod.Called() + ": " + why, budget: -1}
	if e.of.Error != "" {
		f.why = e.of.Error + ": " + f.why
	}
	if l.refuse != nil {
		f.why, f.budget = f.why+": "+l.refuse.Why, l.refuse.Budget
	} else {
		f.late = &Late{l.pod, e.of.Limit}
	}
	e.fails = append(e.fails, f)
	e.d.Log.Tell(event.Event{Kind: event.Drained, Pod: -1, Node: e.node, Stream: -1, Refusal: f.why, Name: e.of.Words})
	if e.of.AtLimit == world.GivesBack || e.of.AtLimit == world.Reopens {
		e.unmark(e.node, func() { e.end(false) })
		return
	}
	e.end(false)
}

func (e *emptying) end(ok bool) {
	e.busy = slices.DeleteFunc(e.busy, func(o *emptying) bool { return o == e })
	e.ended(ok)
}
