package ledger

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
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

// group is a Group that grows. Failures come one like the other: how many of them in a row had the same
// node, and the same pod, is added when that changes.
type group struct {
	Group
	key     groupKey
	node    int
	onNode  uint64
	pod     string
	reached uint64 // requests that got to it
}

// flush adds what was counted in a row.
func (g *group) flush() {
	if g.onNode > 0 {
		g.Nodes[g.node] += g.onNode
		g.onNode = 0
	}
	if g.reached > 0 {
		g.Pods[g.pod] += g.reached
		g.reached = 0
	}
}

// Add puts one more request to those that are like it.
func (f *Grouped) Add(r *Request) {
	g := f.of(groupKey{r.Stream, r.Outcome, r.Blame}, r)
	g.Count++
	g.First, g.Last = min(g.First, r.Arrival), max(g.Last, r.Arrival)
	if r.Node != g.node || r.Pod != g.pod {
		g.flush()
		g.node, g.pod = r.Node, r.Pod
	}
	g.onNode++
	if r.Pod != "" {
		g.reached++
	}
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
	sorted := slices.Clone(failed)
	slices.SortFunc(sorted, func(a, b Request) int { return cmp.Compare(a.Number, b.Number) })
	if len(sorted) == 0 {
		return 0
	}
	var rows outages
	for i := range sorted {
		rows.add(sorted[i].Number, sorted[i].Arrival, sorted[i].Blame.Elsewhere)
	}
	first := make([]int, len(rows)) // by row: of its requests
	for i := range rows[1:] {
		first[i+1] = first[i] + int(rows[i].requests()) //nolint:gosec // not more than there are in a list
	}
	var longest engine.Time
	for i := range rows.unlikely() {
		longest = max(longest, blamedFor(sorted[first[i]:][:rows[i].requests()], blamed))
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
