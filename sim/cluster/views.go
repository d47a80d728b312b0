package cluster

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

	of      *views
	plans   []*plan.Plan // by class of nodes; nil where nobody asked yet
	answers []answer     // those that were asked for so far, a few at most
}

// answer is where a View's rules send new connections of one kind.
type answer struct {
	question
	targets []plan.Target
}

// question is all that an answer depends on, beside the View.
type question struct {
	class    int // of the node
	external bool
	service  int
	port     uint16
	protocol endpoints.Protocol
}

// mostAnswers bounds those that a View remembers: they are looked through.
const mostAnswers = 8

// views is a history of Views, of which each differs from the one before in few Services.
// Plans are made from each other: what one change costs does not depend on the cluster.
type views struct {
	last    *View
	changed [][]endpoints.ServiceName // by Number - 1: what differs from the View before
	newest  []*View                   // by class of nodes: the newest View that has a Plan
}

func (vs *views) add(snap *endpoints.Snapshot, now engine.Time) *View {
	vs.changed = append(vs.changed, snap.Changed())
	vs.last = &View{Number: uint64(len(vs.changed)), At: now, Snapshot: snap, of: vs}
	return vs.last
}

// between names the Services that may differ between two Views.
func (vs *views) between(a, b *View) []endpoints.ServiceName {
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

// classify finds the nodes' classes. Without hints all nodes have the same Cluster lists, with
// hints those of a zone. Local lists, hints for nodes, and hairpin, depend on the node itself.
func (w *World) classify() {
	byClass := map[nodeClass]int{}
	for n, p := range w.Proxies {
		c := nodeClass{dialect: p.node4plan.Dialect, masqueradeAll: p.node4plan.MasqueradeAll, node: -1}
		if w.zonesDiffer {
			c.zone = p.node4plan.Zone
		}
		if w.nodesDiffer {
			c.node = n
		}
		i, known := byClass[c]
		if !known {
			i = len(byClass)
			byClass[c] = i
			w.classNode = append(w.classNode, p.node4plan)
		}
		p.class = i
	}
}

// Rules returns the Plan in force on a node. Nodes that cannot differ share one.
func (w *World) Rules(node int) *plan.Plan { return w.planOf(w.Proxies[node].installed, node) }

// planOf returns a View's Plan for a node, made from that of another View where there is one.
func (w *World) planOf(v *View, node int) *plan.Plan {
	class, vs := w.Proxies[node].class, v.of
	if v.plans == nil {
		v.plans = make([]*plan.Plan, len(w.classNode))
	}
	if p := v.plans[class]; p != nil {
		return p
	}
	if vs.newest == nil {
		vs.newest = make([]*View, len(w.classNode))
	}
	newest := vs.newest[class]
	if newest == nil {
		v.plans[class] = plan.Build(v.Snapshot, w.classNode[class])
	} else {
		v.plans[class] = plan.Next(newest.plans[class], v.Snapshot, vs.between(newest, v))
	}
	if newest == nil || newest.Number < v.Number {
		vs.newest[class] = v
	}
	return v.plans[class]
}

// targetsOf returns where a View's rules on a node send a new connection, in order of addresses. Who is to
// blame for failures asks the same again and again.
func (w *World) targetsOf(v *View, node int, e Entry) []plan.Target {
	q := question{w.Proxies[node].class, e.External, e.service, e.port, e.protocol}
	for i := range v.answers {
		if v.answers[i].question == q {
			return v.answers[i].targets
		}
	}
	targets := decide(w.planOf(v, node), e).Targets
	if len(v.answers) < mostAnswers {
		v.answers = append(v.answers, answer{q, targets})
	}
	return targets
}
