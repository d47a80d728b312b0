package ledger

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Grouped is failed requests put together with those that are like them. The zero value is empty.
type Grouped struct {
	groups map[groupKey]*Group
	order  []*Group // in order of first occurrence
}

type groupKey struct {
	stream  int
	outcome Outcome
	blame   Blame
}

// Add puts one more request to those that are like it.
func (f *Grouped) Add(r *Request) {
	if f.groups == nil {
		f.groups = map[groupKey]*Group{}
	}
	k := groupKey{r.Stream, r.Outcome, r.Blame}
	g := f.groups[k]
	if g == nil {
		g = &Group{Stream: r.Stream, Outcome: r.Outcome, Blame: r.Blame, First: r.Arrival, Last: r.Arrival, Nodes: map[int]uint64{}, Pods: map[string]uint64{}, Example: *r}
		f.groups[k] = g
		f.order = append(f.order, g)
	}
	g.Count++
	g.First, g.Last = min(g.First, r.Arrival), max(g.Last, r.Arrival)
	g.Nodes[r.Node]++
	if r.Pod != "" {
		g.Pods[r.Pod]++
	}
}

// List lists the groups in order of first occurrence.
func (f *Grouped) List() []*Group { return f.order }

// LongestOutage is the longest time in which every new request of one stream failed, as that of a Ledger, of those outages
// that some requests are to blame for: it is from the first to the last of these. failed are all that failed, in any order.
func LongestOutage(failed []Request, blamed func(*Request) bool) engine.Time {
	sorted := slices.Clone(failed)
	slices.SortFunc(sorted, func(a, b Request) int { return cmp.Compare(a.Number, b.Number) })
	var longest engine.Time
	for i := 0; i < len(sorted); {
		first := i
		for i++; i < len(sorted) && sorted[i].Number == sorted[i-1].Number+1; i++ {
		}
		s := sorted[first:i]
		chance := len(s) < byChance && slices.ContainsFunc(s, func(r Request) bool { return r.Blame.Elsewhere })
		from := slices.IndexFunc(s, func(r Request) bool { return blamed(&r) })
		if chance || from < 0 {
			continue
		}
		last := s[from]
		for k := range s {
			if blamed(&s[k]) {
				last = s[k]
			}
		}
		longest = max(longest, last.Arrival-s[from].Arrival)
	}
	return longest
}
