package nodeproxy

import (
	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// View is what the API server holds of Services and EndpointSlices at one moment: what a
// service proxy sees when its watch has caught up. Views are numbered from 1 and immutable.
type View struct {
	Number   uint64
	At       engine.Time
	Snapshot *endpoints.Snapshot

	of      *Views
	plans   []*plan.Plan // by class of nodes; nil where nobody asked yet
	answers []answer     // those that were asked for so far, a few at most
}

// answer is where a View's rules send new connections of one kind.
type answer struct {
	Question
	targets []plan.Target
}

// Question is all that an answer depends on, beside the View.
type Question struct {
	Class    int // of the node
	External bool
	Service  int
	Port     uint16
	Protocol endpoints.Protocol
}

// mostAnswers bounds those that a View remembers: they are looked through.
const mostAnswers = 8

// Views is a history of Views, of which each differs from the one before in few Services.
// Plans are made from each other: what one change costs does not depend on the cluster.
type Views struct {
	Classes []*plan.Node // of each class of nodes, one
	Last    *View
	changed [][]endpoints.ServiceName // by Number - 1: what differs from the View before
	newest  []*View                   // by class of nodes: the newest View that has a Plan
}

// Add makes the next View of a Snapshot.
func (vs *Views) Add(snap *endpoints.Snapshot, now engine.Time) *View {
	vs.changed = append(vs.changed, snap.Changed())
	vs.Last = &View{Number: uint64(len(vs.changed)), At: now, Snapshot: snap, of: vs}
	return vs.Last
}

// between names the Services that may differ between two Views.
func (vs *Views) between(a, b *View) []endpoints.ServiceName {
	low, high := min(a.Number, b.Number), max(a.Number, b.Number)
	if high == low+1 {
		return vs.changed[low]
	}
	var out []endpoints.ServiceName
	seen := map[endpoints.ServiceName]bool{}
	for _, names := range vs.changed[low:high] {
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out
}

// nodeClass is nodes that cannot differ: their Plans are equal for every View.
type nodeClass struct {
	zone          string // "" where it is of no importance
	dialect       plan.Dialect
	masqueradeAll bool
	node          int // -1: of no importance
}

// Classify says which proxies have equal Plans of equal Snapshots, and returns a node of each class: zonesDiffer where hints go
// by zone, nodesDiffer where they go by node.
func Classify(proxies []*Proxy, zonesDiffer, nodesDiffer bool) []*plan.Node {
	var classes []*plan.Node
	byClass := map[nodeClass]int{}
	for n, p := range proxies {
		c := nodeClass{dialect: p.planNode.Dialect, masqueradeAll: p.planNode.MasqueradeAll, node: -1}
		if zonesDiffer {
			c.zone = p.planNode.Zone
		}
		if nodesDiffer {
			c.node = n
		}
		i, known := byClass[c]
		if !known {
			i = len(byClass)
			byClass[c] = i
			classes = append(classes, p.planNode)
		}
		p.class = i
	}
	return classes
}

// Plan returns a View's Plan for a node, made from that of another View where there is one.
func (v *View) Plan(class int) *plan.Plan {
	vs := v.of
	if v.plans == nil {
		v.plans = make([]*plan.Plan, len(vs.Classes))
	}
	if p := v.plans[class]; p != nil {
		return p
	}
	if vs.newest == nil {
		vs.newest = make([]*View, len(vs.Classes))
	}
	newest := vs.newest[class]
	if newest == nil {
		v.plans[class] = plan.Build(v.Snapshot, vs.Classes[class])
	} else {
		v.plans[class] = plan.Next(newest.plans[class], v.Snapshot, vs.between(newest, v))
	}
	if newest == nil || newest.Number < v.Number {
		vs.newest[class] = v
	}
	return v.plans[class]
}

// Answered is where the View's rules send new connections of one kind, ok false where nobody has asked yet.
func (v *View) Answered(q Question) (targets []plan.Target, ok bool) {
	for i := range v.answers {
		if v.answers[i].Question == q {
			return v.answers[i].targets, true
		}
	}
	return nil, false
}

// Remember keeps an answer.
func (v *View) Remember(q Question, targets []plan.Target) {
	if len(v.answers) < mostAnswers {
		v.answers = append(v.answers, answer{q, targets})
	}
}
