package timeline

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// fold says which lanes are alike: those that went through the same in the same order, at whatever moments, and that no failed request
// met. One of them stands for the others: the one whose moments matter most. No lane goes: what is folded can be opened.
func (b *builder) fold(t *Timeline) {
	met := map[[2]int]bool{} // pods and nodes of failures, -1 for any
	for i := range t.Failures {
		f := &t.Failures[i]
		met[[2]int{f.Pod, -1}], met[[2]int{-1, f.Node}], met[[2]int{f.Pod, f.Node}] = true, true, true
	}
	foldPods(t, met)
	foldNodes(t, met, b.lastLetGo)
	for i := range t.Bands {
		foldBand(&t.Bands[i], met)
	}
}

// fewestAlike is how many lanes have to be alike to be folded: of fewer, one wants to see each.
const fewestAlike = 4

// folded says of each of n lanes which one stands for it, -1 for itself, and how many others each stands for. Lanes with one key are
// alike where there are enough of them, unless it is empty; the first of those that weigh most stands for them.
func folded(n int, key func(int) string, weight func(int) engine.Time) (like, alike []int) {
	like, alike = make([]int, n), make([]int, n)
	stands, many := map[string]int{}, map[string]int{}
	for i := range n {
		if k := key(i); k != "" {
			many[k]++
			if at, known := stands[k]; !known || weight(i) > weight(at) {
				stands[k] = i
			}
		}
	}
	for i := range n {
		like[i] = -1
		if at, known := stands[key(i)]; known && at != i && many[key(i)] >= fewestAlike {
			like[i] = at
			alike[at]++
		}
	}
	return like, alike
}

func foldPods(t *Timeline, met map[[2]int]bool) {
	bands := map[int]*Band{}
	for i := range t.Bands {
		bands[t.Bands[i].Pod] = &t.Bands[i]
	}
	like, alike := folded(len(t.Pods), func(i int) string {
		p := &t.Pods[i]
		if x := bands[p.ID]; met[[2]int{p.ID, -1}] || x != nil && x.Lost > 0 {
			return ""
		}
		return p.steps()
	}, func(i int) engine.Time {
		switch x := bands[t.Pods[i].ID]; {
		case t.Pods[i].ID == t.Zero.Pod:
			return engine.Never // all times count from it
		case x == nil || x.From == nil:
			return 0
		default:
			return late(x.To) - *x.From // the least room that was left; what never lets go is last
		}
	})
	for i := range t.Pods {
		t.Pods[i].Alike, t.Pods[i].Like = alike[i], -1
		if like[i] >= 0 {
			t.Pods[i].Like = t.Pods[like[i]].ID
		}
	}
}

func foldNodes(t *Timeline, met map[[2]int]bool, last func(int) engine.Time) {
	like, alike := folded(len(t.Nodes), func(i int) string {
		if n := &t.Nodes[i]; n.Lost == 0 && !met[[2]int{-1, n.Index}] {
			return n.steps()
		}
		return ""
	}, func(i int) engine.Time { return last(t.Nodes[i].Index) })
	for i := range t.Nodes {
		t.Nodes[i].Alike, t.Nodes[i].Like = alike[i], -1
		if like[i] >= 0 {
			t.Nodes[i].Like = t.Nodes[like[i]].Index
		}
	}
}

// foldBand folds the nodes that let go of one pod: in time, after it had closed, or never.
func foldBand(x *Band, met map[[2]int]bool) {
	like, alike := folded(len(x.Nodes), func(i int) string {
		n := &x.Nodes[i]
		if n.Node < 0 || n.Lost > 0 || met[[2]int{x.Pod, n.Node}] {
			return ""
		}
		return fmt.Sprint(n.LetGo == nil, x.From != nil && late(n.LetGo) > *x.From, n.Fallback, n.Gone)
	}, func(i int) engine.Time { return late(x.Nodes[i].LetGo) })
	for i := range x.Nodes {
		x.Nodes[i].Alike, x.Nodes[i].Like = alike[i], -1
		if like[i] >= 0 {
			x.Nodes[i].Like = x.Nodes[like[i]].Node
		}
	}
}

// steps are what a pod went through.
func (p *PodLane) steps() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%q %v %v phases%s", p.Workload, p.Deleted != nil, p.Gone != nil, stepsOf(p.Phases))
	for _, s := range p.Slices {
		fmt.Fprintf(&out, " slices of %q%s", s.Service, stepsOf(s.Spans))
	}
	out.WriteString(" listens" + stepsOf(p.Listens) + marksOf(p.Marks))
	return out.String()
}

// steps are what a node's rules and its health port went through. When its proxy wrote them is not among that.
func (n *NodeLane) steps() string {
	var out strings.Builder
	for _, w := range n.Ways {
		fmt.Fprintf(&out, "%v", w.Clients)
		for _, u := range w.Uses {
			fmt.Fprintf(&out, " %s %v %d", u.Is, u.Pods, u.More)
		}
	}
	return out.String() + " health" + stepsOf(n.Health) + marksOf(n.Marks)
}

func stepsOf(spans []Span) string {
	var out strings.Builder
	for _, s := range spans {
		out.WriteString(" " + s.Is)
	}
	return out.String()
}

// marksOf are the marks of a lane. Probes that go on succeeding, or failing, are one: how many there were is a matter of when the first was.
func marksOf(marks []Mark) string {
	out, last := " marks", ""
	for _, m := range marks {
		if words := fmt.Sprint(" ", m.Kind, m.OK); words != last {
			out, last = out+words, words
		}
	}
	return out
}
