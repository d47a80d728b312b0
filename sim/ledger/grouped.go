package ledger

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// Grouped is failed requests put together with those that are like them. The zero value is empty.
type Grouped struct {
	groups map[groupKey]*group
	order  []*group // in order of first occurrence
	list   []*Group // the same for others
	last   []*group // that something was added to, by stream: the failures of two streams come in turns
}

type groupKey struct {
	stream  int
	outcome Outcome
	blame   Blame
}

// group is a Group that grows. Mostly its failures are at a few nodes and pods, in turns: how many were at which
// is added up when they are asked for, or become many.
type group struct {
	Group
	key     groupKey
	tallies []tally
	last    int // of tallies, that something was added to
}

// tally is how many failures had the same node and the same pod, "" for none.
type tally struct {
	node   int
	pod    string
	failed uint64
}

const fewTallies = 8

// count adds a failure.
func (g *group) count(node int, pod string) {
	if g.last >= len(g.tallies) || g.tallies[g.last].node != node || g.tallies[g.last].pod != pod {
		g.last = g.tallyOf(node, pod)
	}
	g.tallies[g.last].failed++
}

// tallyOf is the tally of a node and a pod, a new one if there is none.
func (g *group) tallyOf(node int, pod string) int {
	for i := range g.tallies {
		if t := &g.tallies[i]; t.node == node && t.pod == pod {
			return i
		}
	}
	if len(g.tallies) == fewTallies {
		g.flush()
	}
	g.tallies = append(g.tallies, tally{node: node, pod: pod})
	return len(g.tallies) - 1
}

// flush adds up what was counted.
func (g *group) flush() {
	for i := range g.tallies {
		t := &g.tallies[i]
		g.Nodes[t.node] += t.failed
		if t.pod != "" {
			g.Pods[t.pod] += t.failed
		}
	}
	g.tallies = g.tallies[:0]
}

// Add puts one more request to those that are like it.
func (f *Grouped) Add(r *Request) {
	g := f.of(groupKey{r.Stream, r.Outcome, r.Blame}, r)
	g.Count++
	g.First, g.Last = min(g.First, r.Arrival), max(g.Last, r.Arrival)
	g.count(r.Node, r.Pod)
}

// of returns the group of a request, which is the first of it if there is none.
func (f *Grouped) of(k groupKey, r *Request) *group {
	for k.stream >= len(f.last) {
		f.last = append(f.last, nil)
	}
	if last := f.last[k.stream]; last != nil && last.key == k {
		return last
	}
	g := f.groups[k]
	if g == nil {
		if f.groups == nil {
			f.groups = map[groupKey]*group{}
		}
		g = &group{key: k, Group: Group{
			Stream: r.Stream, Outcome: r.Outcome, Blame: r.Blame, First: r.Arrival, Last: r.Arrival,
			Nodes: map[int]uint64{}, Pods: map[string]uint64{}, Example: *r,
		}}
		f.groups[k] = g
		f.order, f.list = append(f.order, g), append(f.list, &g.Group)
	}
	f.last[k.stream] = g
	return g
}

// List lists the groups in order of first occurrence.
func (f *Grouped) List() []*Group {
	for _, g := range f.order {
		g.flush()
	}
	return f.list
}

// LongestOutage is the longest time in which every new request of one stream failed, as that of a Ledger, of those outages
// that some requests are to blame for: it is from the first to the last of these. failed are all that failed, in any order.
func LongestOutage(failed []Request, blamed func(*Request) bool) engine.Time {
	inOrder := slices.Clone(failed)
	sorted.ShortBy(inOrder, func(a, b Request) int { return cmp.Compare(a.Number, b.Number) })
	if len(inOrder) == 0 {
		return 0
	}
	var rows outages
	for i := range inOrder {
		rows.add(inOrder[i].Number, inOrder[i].Arrival, inOrder[i].Blame.Elsewhere)
	}
	first := make([]int, len(rows)) // by row: of its requests
	for i := range rows[1:] {
		first[i+1] = first[i] + int(rows[i].requests()) //nolint:gosec // not more than there are in a list
	}
	var longest engine.Time
	for i := range rows.unlikely() {
		longest = max(longest, blamedFor(inOrder[first[i]:][:rows[i].requests()], blamed))
	}
	return longest
}

// blamedFor is the time from the first to the last of some requests that others are to blame for.
func blamedFor(list []Request, blamed func(*Request) bool) engine.Time {
	first := slices.IndexFunc(list, func(r Request) bool { return blamed(&r) })
	if first < 0 {
		return 0
	}
	last := first
	for i := range list {
		if blamed(&list[i]) {
			last = i
		}
	}
	return list[last].Arrival - list[first].Arrival
}
