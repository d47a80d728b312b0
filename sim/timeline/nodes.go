package timeline

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// node is what was heard of one.
type node struct {
	ways   [][]use // by stream
	health spans
	syncs  []Span
	began  engine.Time // of the sync that goes on
	waits  []Span
	marks  []Mark
	more   int // that were left out
}

// The marks between which a node's machine is not there.
const (
	nodeGone = "gone"
	nodeBack = "back"
)

// use is a time from which rules led somewhere. Pods is a set of places.
type use struct {
	at       engine.Time
	verdict  packet.Verdict
	fallback bool
	pods     uint64
	more     int
	event    int
}

// hearNode hears of a node, and of its service proxy.
func (r *Recorder) hearNode(e *event.Event, number int) {
	n := &r.nodes[e.Node]
	switch e.Kind {
	case event.Rules:
		r.ruled(n, e, number)
	case event.HealthPort:
		n.health.set(e.At, map[bool]string{true: "200", false: "503"}[e.OK])
	case event.Wait:
		n.waited(e)
	case event.SyncBegan:
		n.began = e.At
	case event.SyncEnded:
		n.synced(e)
	default:
		if len(n.marks) < mostMarks {
			n.marks = append(n.marks, Mark{e.At, nodeWords(e), e.OK, number})
		}
	}
}

// waited hears of a wait. News that comes meanwhile waits with what came before.
func (n *node) waited(e *event.Event) {
	if e.Others || len(n.waits) == mostSyncs || len(n.waits) > 0 && n.waits[len(n.waits)-1].To == e.Until {
		return
	}
	n.waits = append(n.waits, Span{e.At, e.Until, "minSyncPeriod"})
}

// synced hears of the end of a sync: those for other Services change nothing here.
func (n *node) synced(e *event.Event) {
	switch {
	case e.Others:
		return
	case len(n.syncs) == mostSyncs:
		n.more++
		return
	case n.began == 0:
		n.began = e.At
	}
	n.syncs = append(n.syncs, Span{n.began, e.At, "sync"})
	n.began = 0
}

func nodeWords(e *event.Event) string {
	switch e.Kind {
	case event.NodeGone:
		return nodeGone
	case event.NodeBack:
		return nodeBack
	case event.NodeReady:
		if !e.OK {
			return NotReady
		}
		return Ready
	case event.Cordoned:
		return "cordoned"
	case event.Joined:
		return "joined"
	case event.Untainted:
		return "untainted"
	default:
		return "tainted"
	}
}

// pastNodes says that the connections of a stream go to pods past the rules of all nodes: those of a load balancer whose targets are
// pods, and of clients that resolve the name of a headless Service.
func pastNodes(t *world.Traffic) bool {
	return t.Named || t.LB != nil && t.LB.Target == world.TargetPods
}

// ruled hears where a node's rules lead the connections of a stream.
func (r *Recorder) ruled(n *node, e *event.Event, number int) {
	if pastNodes(&r.sc.Traffic[e.Stream]) {
		return
	}
	u := use{at: e.At, verdict: e.Verdict, fallback: e.Fallback, event: number}
	for _, id := range e.Targets {
		if place := r.lane(id); place >= 0 {
			u.pods |= 1 << place
		} else {
			u.more++
		}
	}
	list := n.ways[e.Stream]
	if len(list) > 0 {
		last := &list[len(list)-1]
		if last.verdict == u.verdict && last.fallback == u.fallback && last.pods == u.pods && (last.more > 0) == (u.more > 0) {
			return
		}
	}
	if len(list) == mostSpans {
		n.more++
		return
	}
	n.ways[e.Stream] = append(list, u)
}

func (u *use) is() string {
	switch {
	case u.verdict == packet.Endpoints && u.fallback:
		return UsesFallback
	case u.verdict == packet.Endpoints:
		return UsesReady
	case u.verdict == packet.Reject:
		return UsesReject
	case u.verdict == packet.Drop:
		return UsesDrop
	default:
		return UsesUnknown
	}
}

// leads says whether the rules lead to a pod's place.
func (u *use) leads(place int) bool { return u.pods&(1<<place) != 0 }

// letGo is when a node's rules let go of a pod for the last time; ok false when they never led there.
func (n *node) letGo(place int) (at *engine.Time, u *use, ok bool) {
	for s := range n.ways {
		list := n.ways[s]
		for i := range list {
			if !list[i].leads(place) {
				continue
			}
			ok = true
			switch {
			case i+1 == len(list):
				return nil, &list[i], true
			case list[i+1].leads(place):
			case at == nil || list[i+1].at > *at:
				at, u = new(list[i+1].at), &list[i+1]
			}
		}
	}
	return at, u, ok
}

// lost is when the machine of the node is gone for good; nil where it is there at the end.
func (n *node) lost() *Mark {
	var gone *Mark
	for i := range n.marks {
		switch m := &n.marks[i]; {
		case m.Kind == nodeGone && gone == nil:
			gone = m
		case m.Kind == nodeBack:
			gone = nil
		}
	}
	return gone
}

// fellBack says whether a node's rules led to a pod, at the last, because none was ready in scope.
func (n *node) fellBack(place int) bool {
	fell := false
	for s := range n.ways {
		for i := range n.ways[s] {
			if u := &n.ways[s][i]; u.leads(place) {
				fell = u.fallback
			}
		}
	}
	return fell
}

// nodeLanes are the lanes of nodes, in the order of the input. Of those that did the same one has a lane.
func (b *builder) nodeLanes() []NodeLane {
	order := make([]int, len(b.r.nodes))
	for n := range order {
		order[n] = n
	}
	// Those that lost most first, then those that let go of a pod last.
	sorted.StableBy(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(b.r.metNodes[y], b.r.metNodes[x]), cmp.Compare(b.lastLetGo(y), b.lastLetGo(x)))
	})
	if len(order) > mostNodes {
		b.nodesLeft = len(order) - mostNodes
		order = order[:mostNodes]
	}
	slices.Sort(order)
	out := []NodeLane{}
	for _, n := range order {
		out = append(out, b.nodeLane(n))
	}
	return out
}

// lastLetGo is when a node let go of a pod for the last time, 0 when of none.
func (b *builder) lastLetGo(n int) engine.Time {
	var last engine.Time
	for s := range b.r.nodes[n].ways {
		list := b.r.nodes[n].ways[s]
		for i := 1; i < len(list); i++ {
			if list[i-1].pods&^list[i].pods != 0 {
				last = max(last, list[i].at)
			}
		}
	}
	return last
}

func (b *builder) nodeLane(n int) NodeLane {
	x := &b.r.nodes[n]
	b.spansLeft += x.more
	return NodeLane{
		Index: n, Name: b.r.sc.Nodes[n].Name, Lost: b.r.metNodes[n], Ways: b.waysOf(n), Health: x.standing(x.health.until(b.end)),
		Syncs: append([]Span{}, x.syncs...), Waits: x.standing(b.cut(x.waits)), Marks: append([]Mark{}, x.marks...),
	}
}

// standing are the parts of some times in which the machine of the node is there: nothing is done on one that is gone.
func (n *node) standing(list []Span) []Span {
	for i, m := range n.marks {
		if m.Kind != nodeGone {
			continue
		}
		back := engine.Time(math.MaxInt64)
		if k := slices.IndexFunc(n.marks[i:], func(m Mark) bool { return m.Kind == nodeBack }); k >= 0 {
			back = n.marks[i+k].At
		}
		parts := []Span{}
		for _, s := range list {
			for _, part := range []Span{{s.From, min(s.To, m.At), s.Is}, {max(s.From, back), s.To, s.Is}} {
				if part.From < part.To {
					parts = append(parts, part)
				}
			}
		}
		list = parts
	}
	return list
}

// cut ends spans at the end of the run.
func (b *builder) cut(list []Span) []Span {
	out := []Span{}
	for _, s := range list {
		s.To = min(s.To, b.end)
		out = append(out, s)
	}
	return out
}

// waysOf are what a node's rules do; streams with the same rules are together.
func (b *builder) waysOf(n int) []Way {
	out := []Way{}
	var seen [][]use
	for s, list := range b.r.nodes[n].ways {
		if len(list) == 0 {
			continue
		}
		same := func(o []use) bool {
			return slices.EqualFunc(o, list, func(x, y use) bool {
				x.event, y.event = 0, 0
				return x == y
			})
		}
		if i := slices.IndexFunc(seen, same); i >= 0 {
			out[i].Clients = append(out[i].Clients, s)
			continue
		}
		seen = append(seen, list)
		out = append(out, Way{Clients: []int{s}, Uses: b.usesOf(&b.r.nodes[n], list)})
	}
	return out
}

// usesOf are the times of a list, but for those in which the node's machine is gone.
func (b *builder) usesOf(n *node, list []use) []Use {
	out := []Use{}
	for i := range list {
		u := &list[i]
		to := b.end
		if i+1 < len(list) {
			to = list[i+1].at
		}
		if to > u.at || to == b.end {
			for _, s := range n.standing([]Span{{From: u.at, To: to}}) {
				out = append(out, Use{From: s.From, To: s.To, Is: u.is(), Pods: b.podsOf(u.pods), More: u.more, Event: u.event})
			}
		}
	}
	return out
}

// podsOf are the pods of a set of places, ascending.
func (b *builder) podsOf(set uint64) []int {
	out := []int{}
	for ; set != 0; set &= set - 1 {
		out = append(out, b.r.idOf(bits.TrailingZeros64(set)))
	}
	slices.Sort(out)
	return out
}

// placeOf is the place of a pod by its number.
func (b *builder) placeOf(id int) int { return b.r.lane(api.PodID(id)) }
