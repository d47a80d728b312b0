package balancer

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Endpoint is one endpoint of the balanced Service, as an EndpointSlice has it.
type Endpoint struct {
	Pod, Node                   int
	Ready, Serving, Terminating bool
	// ContainersReady is the pod's condition, Gated says that it has a readiness gate that this
	// load balancer's controller sets, Closed that such a gate is not open. Created is the pod's.
	ContainersReady, Gated, Closed bool
	Created                        engine.Time
}

// Cluster is what a load balancer sees of the cluster. Members are node or pod numbers.
type Cluster interface {
	// Nodes is how many there were at the beginning, numbered from 0. Left says whether one of them
	// is no target any more, as the controller has heard or by what the API says now.
	Nodes() int
	Left(node int, settled bool) bool
	// Heard are the endpoints as the load balancer's controller last heard of them, Settled those
	// that the pods in the API amount to at this instant.
	Heard() []Endpoint
	Settled() []Endpoint
	// Answer is what a probe of a member is answered now. draw chooses where the rules leave a
	// choice.
	Answer(p world.Probe, member int, draw uint64) Answer
	// WouldAnswer is Answer if every delay were zero.
	WouldAnswer(p world.Probe, member int) bool
	// Reaches says whether a new connection to a member reaches a pod that accepts, as things
	// are downstream of the load balancer.
	Reaches(member int) bool
	// Missing is what keeps pods from being there where there are none to send to: ledger.Spec where the manifest does.
	Missing() ledger.Actor
	// Address is a node's address, for those who hash it.
	Address(node int) string
}

// Answer is what becomes of one probe.
type Answer struct {
	OK   bool
	Late bool // nobody answers: the probe's timeout passes
	Sure bool // it would be the same with any other draw
}

// Observer hears what a load balancer does to connections.
type Observer interface {
	// Sends: new connections go to these members from now on, in order.
	Sends(members []int)
	// Cut: the load balancer ends all connections through it to a member.
	Cut(member int)
	// Moved: routers spread flows again, or another node answers ARP: the connections for which gone
	// says so lead to nodes that do not know them.
	Moved(gone func(flow uint64, member int) bool)
	// Target: a member is in another State than it was.
	Target(member int, state State)
	// Open: the controller sets the readiness gates of a pod. It is false when it cannot, since it
	// has not heard of the pod itself: then it tries again.
	Open(pod int) bool
}

// member is one node or pod behind a load balancer.
type member struct {
	id      int
	healthy bool // as its checks say
	serves  bool // as it is known where connections are sent
	row     int  // answers in a row that say otherwise
	// initial says that its first checks are not finished, of a load balancer for which that matters;
	// failed is how many of them in a row have failed.
	initial bool
	failed  int
	flips   uint64
	removed bool
	told    State         // of the observer
	leaving engine.Handle // of its removal becoming known
	leaves  engine.Time   // when that is
	known   engine.Time   // when what its checks say now is known where connections are sent
	drained engine.Handle // of the end of draining
	first   engine.Time   // of its probes
	ticked  uint64        // number of the last one
	counted uint64        // number of the last one whose answer counted
	armed   bool
	timer   engine.Handle
}

// Balancer is one load balancer. It has one owner, the goroutine of its engine.
type Balancer struct {
	spec     *world.LoadBalancer
	eng      *engine.Engine
	owner    engine.Owner
	cluster  Cluster
	observer Observer
	name     string

	members []*member // in order of id
	wanted  []int     // what the controller last asked for
	waiting bool      // the controller's reaction is due
	due     engine.Time
	reacted uint64
	acted   engine.Time // when the controller last did
	applied engine.Time // when all that it has told a proxy in the cluster is in force
	active  []int       // that get new connections, in order; recomputed when stale
	stale   bool
	opens   bool // active are all that are there, for none is healthy

	gates   gates
	paused  bool // the controller
	pending bool // the controller has something to do when it is back
}

// New returns a load balancer at rest: its members are registered, and as healthy as they say.
// Its draws go by its name.
func New(name string, spec *world.LoadBalancer, eng *engine.Engine, owner engine.Owner, cluster Cluster, observer Observer) *Balancer {
	b := &Balancer{spec: spec, eng: eng, owner: owner, cluster: cluster, observer: observer, name: name, stale: true, acted: -spec.ControllerHold, gates: newGates()}
	b.wanted = b.chosen()
	for _, id := range b.wanted {
		m := &member{id: id, healthy: spec.Check.Probe == world.ProbeNone || cluster.WouldAnswer(spec.Check.Probe, id)}
		m.serves = m.healthy
		b.members = append(b.members, m)
		b.start(m, -engine.Time(engine.Below(b.draw(id, "phase", 0), max(1, int(spec.Check.Interval)))))
	}
	return b
}

func (b *Balancer) draw(member int, purpose string, n uint64) uint64 {
	return b.eng.Stream(fmt.Sprint(b.name, " ", member), purpose).Draw(n)
}

// chosen applies the rule of membership to what the controller has heard, choose to any endpoints:
// settled says that the nodes are to be as the API has them.
func (b *Balancer) chosen() []int { return b.choose(b.cluster.Heard(), false) }

func (b *Balancer) choose(endpoints []Endpoint, settled bool) []int {
	var out []int
	if b.spec.Members == world.MembersAllNodes {
		for n := range b.cluster.Nodes() {
			if !b.cluster.Left(n, settled) {
				out = append(out, n)
			}
		}
		return out
	}
	for _, e := range endpoints {
		in := map[world.LBMembers]bool{
			world.MembersLocalNodes: !e.Terminating, world.MembersReadyPods: (e.Ready || e.Gated && e.ContainersReady) && !e.Terminating,
			world.MembersLivePods: !e.Terminating, world.MembersServing: e.Ready || e.Serving,
			world.MembersServingPods: e.Serving && !e.Terminating,
		}[b.spec.Members]
		id := e.Node
		if b.spec.Target == world.TargetPods {
			id = e.Pod
		} else {
			in = in && !b.cluster.Left(id, settled)
		}
		if in && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Hear has the controller act, some time from now, on news that it has heard.
func (b *Balancer) Hear() {
	if b.spec.Members != world.MembersAllNodes {
		b.HearNode()
	}
}

// HearNode has the controller act, some time from now, on news of a node that makes it look.
func (b *Balancer) HearNode() {
	if b.waiting {
		return
	}
	b.waiting = true
	delay := b.spec.Controller.Sample(b.draw(-1, "controller", b.reacted))
	b.reacted++
	at := max(b.eng.Now()+delay, b.acted+b.spec.ControllerHold)
	b.due = at
	b.eng.At(at, engine.ClassTimer, b.owner, "load balancer's controller", func() {
		b.waiting, b.acted = false, at
		b.act()
	})
}

// act makes the members and the readiness gates what they have to be by what was heard, unless
// the controller is paused.
func (b *Balancer) act() {
	if b.paused {
		b.pending = true
		return
	}
	b.reconcile(b.chosen())
	b.keepGates()
}

// Pause stops the controller: nothing follows from news until Resume. What the load balancer does
// by itself goes on, health checks first of all, and so do the calls that were made.
func (b *Balancer) Pause() { b.paused = true }

// Resume has the controller do at once what it would have done meanwhile.
func (b *Balancer) Resume() {
	b.paused = false
	if b.pending {
		b.pending = false
		b.act()
	}
}

// reconcile registers and removes members until they are as wanted.
func (b *Balancer) reconcile(wanted []int) {
	old := b.wanted
	b.wanted = wanted
	added := slices.DeleteFunc(slices.Clone(wanted), func(id int) bool { return slices.Contains(old, id) })
	gone := slices.DeleteFunc(slices.Clone(old), func(id int) bool { return slices.Contains(wanted, id) })
	at, whole := b.whole(added, gone)
	for _, id := range added {
		if !whole {
			at = b.eng.Now() + b.spec.Registration.Sample(b.draw(id, "registration", b.reacted))
		}
		b.register(id, at)
	}
	for _, id := range gone {
		if !whole {
			at = b.eng.Now() + b.spec.Propagation.Sample(b.draw(id, "propagation", b.reacted))
		}
		b.remove(id, at)
	}
}

// whole is when a change of the members takes effect where a proxy is told whole lists of them, one after another: all of it
// at one moment, and nothing before what it was told earlier. ok is false for a load balancer that is told of each member by itself.
func (b *Balancer) whole(added, gone []int) (at engine.Time, ok bool) {
	if b.spec.Layer7 == nil || !b.spec.Layer7.WholeLists {
		return 0, false
	}
	draw := b.draw(-1, "list", b.reacted)
	if len(added) > 0 {
		b.applied = max(b.applied, b.eng.Now()+b.spec.Registration.Sample(draw))
	}
	if len(gone) > 0 {
		b.applied = max(b.applied, b.eng.Now()+b.spec.Propagation.Sample(draw))
	}
	return b.applied, true
}

// register begins to check a new member at a moment. It is not healthy before it has answered
// often enough. One whose removal is on its way stays.
func (b *Balancer) register(id int, at engine.Time) {
	if m := b.member(id); m != nil {
		b.eng.Cancel(m.leaving)
	}
	b.eng.At(at, engine.ClassTimer, b.owner, "registered", func() {
		if !slices.Contains(b.wanted, id) {
			return
		}
		if m := b.member(id); m != nil {
			before := b.actives()
			m.removed = false // it is wanted again before it was gone
			b.tell(m)
			b.eng.Cancel(m.drained)
			b.changed(before)
			return
		}
		before := b.actives()
		m := &member{id: id, healthy: b.spec.Check.Probe == world.ProbeNone}
		m.serves, m.initial = m.healthy, b.spec.InitialWaits && !m.healthy
		at, _ := slices.BinarySearchFunc(b.members, id, func(m *member, id int) int { return m.id - id })
		b.members = slices.Insert(b.members, at, m)
		b.tell(m)
		b.changed(before)
		b.start(m, b.eng.Now())
		b.recheck()
	})
}

// remove takes a member away: from new connections at a moment, when that is known everywhere, and from the
// connections it has at the end of draining. One that is removed already goes on draining.
func (b *Balancer) remove(id int, at engine.Time) {
	m := b.member(id)
	if m == nil {
		return
	}
	m.leaves = at
	m.leaving = b.eng.At(at, engine.ClassTimer, b.owner, "removed", func() {
		if m.removed {
			return
		}
		before := b.actives()
		m.removed = true
		b.tell(m)
		b.changed(before)
		if b.spec.Drain == engine.Never {
			b.drop(m)
			return
		}
		m.drained = b.eng.After(b.spec.Drain, engine.ClassTimer, b.owner, "drained", func() {
			b.drop(m)
			b.observer.Cut(id)
		})
	})
}

func (b *Balancer) drop(m *member) {
	b.eng.Cancel(m.timer)
	b.observer.Target(m.id, StateRemoved)
	b.members = slices.DeleteFunc(b.members, func(o *member) bool { return o == m })
}

// CutsUnhealthy says that a member has failed its health checks and has had its connections cut for that.
func (b *Balancer) CutsUnhealthy(id int) bool {
	m := b.member(id)
	return m != nil && !m.serves && b.spec.CutUnhealthy
}

func (b *Balancer) member(id int) *member {
	for _, m := range b.members {
		if m.id == id {
			return m
		}
	}
	return nil
}
