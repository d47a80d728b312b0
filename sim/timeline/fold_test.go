package timeline

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Of lanes with one key the one that weighs most stands for the others, of two that weigh the same the first; three are not enough.
func TestFolded(t *testing.T) {
	t.Parallel()
	keys, weights := []string{"a", "", "a", "b", "", "a", "c", "c", "c", "a"}, []engine.Time{1, 9, 3, 0, 9, 3, 0, 0, 0, 2}
	like, alike := folded(len(keys), func(i int) string { return keys[i] }, func(i int) engine.Time { return weights[i] })
	if d := cmp.Diff([]int{2, -1, -1, -1, -1, 2, -1, -1, -1, 2}, like); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{0, 0, 3, 0, 0, 0, 0, 0, 0, 0}, alike); d != "" {
		t.Error(d)
	}
}

// manyNodes is a pod that goes on a cluster of many nodes, each of which lets go of it at a moment of its own, and a failed request on
// some of these.
func manyNodes(t *testing.T, nodes int, failing ...int) *Timeline {
	t.Helper()
	s := newScript(t)
	s.sc = s.sc.Clone()
	for n := len(s.sc.Nodes); n < nodes; n++ {
		extra := s.sc.Nodes[0]
		extra.Name = fmt.Sprintf("node-%d", n+1)
		s.sc.Nodes = append(s.sc.Nodes, extra)
		s.nodes = append(s.nodes, node{ways: make([][]use, len(s.sc.Traffic))})
	}
	s.at(0, event.Event{Kind: event.Known, Object: object(func(*api.Pod) {}), OK: true})
	s.at(0, event.Event{Kind: event.Known, Object: object(func(p *api.Pod) { p.ID, p.Name, p.Revision = 1, "default/web r1 0", 1 }), OK: true})
	rules := func(at engine.Time, n int, pods ...api.PodID) {
		s.at(at, event.Event{Kind: event.Rules, Pod: -1, Node: n, Stream: 0, Verdict: packet.Endpoints, Targets: pods})
	}
	for n := range nodes {
		rules(0, n, 0, 1)
	}
	of := func(at engine.Time, kind event.Kind) { s.at(at, event.Event{Kind: kind, Pod: 0, Node: -1, Stream: -1}) }
	of(10*sec, event.Deleted)
	of(10*sec+100*ms, event.Closed)
	for n := range nodes {
		rules(10*sec+engine.Time(20*n)*ms, n, 1)
	}
	of(12*sec, event.Gone)
	for i, n := range failing {
		s.Fail(&ledger.Request{Number: uint64(i), Arrival: 10*sec + 150*ms, End: 10*sec + 151*ms, Outcome: ledger.Refused, Node: n, Pod: "default/web r0 0"})
	}
	return s.Build(1, 20*sec, refs)
}

// Nodes that let go in time are one lane, and those that were late with nothing lost another; who lost something is by itself.
func TestNodesThatAreAlike(t *testing.T) {
	t.Parallel()
	tl := manyNodes(t, 12, 7, 9)
	got := map[string][2]int{}
	for _, n := range tl.Bands[0].Nodes {
		got[n.Name] = [2]int{n.Like, n.Alike}
	}
	want := map[string][2]int{"node-8": {-1, 0}, "node-10": {-1, 0}, "node-12": {-1, 3}, "node-6": {-1, 5}} // 5 lets go at 100 ms: just in time
	for _, late := range []string{"node-7", "node-9", "node-11"} {
		want[late] = [2]int{11, 0}
	}
	for n := range 5 {
		want[fmt.Sprintf("node-%d", n+1)] = [2]int{5, 0}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := tl.Nodes[11]; n.Alike != 9 || n.Like != -1 {
		t.Errorf("the last of the nodes that lost nothing stands for %d others, and %d for it", n.Alike, n.Like)
	}
}

// Whatever is folded, no failure and no lane goes: each lane is there by itself, those that stand for others stand for themselves and count
// them, and what a failed request met stands alone.
func TestFoldingLosesNothing(t *testing.T) {
	t.Parallel()
	for nodes := range 40 {
		var failing []int
		for n := 0; n < nodes; n += 1 + nodes%5 {
			failing = append(failing, n)
		}
		tl := manyNodes(t, max(3, nodes), failing...)
		if len(tl.Failures) != len(failing) || len(tl.Nodes) != max(3, nodes) || len(tl.Bands[0].Nodes) != max(3, nodes) {
			t.Fatalf("%d nodes: %d failures, %d nodes, %d in the band", nodes, len(tl.Failures), len(tl.Nodes), len(tl.Bands[0].Nodes))
		}
		stands, alike := map[int]int{}, map[int]int{}
		for _, n := range tl.Nodes {
			if stands[n.Index] += n.Alike; n.Like >= 0 {
				alike[n.Like]++
			}
		}
		for _, n := range tl.Nodes {
			if stands[n.Index] != alike[n.Index] || n.Like >= 0 && tl.Nodes[n.Like].Like >= 0 {
				t.Errorf("%d nodes: %s stands for %d, and %d are like it", nodes, n.Name, stands[n.Index], alike[n.Index])
			}
		}
		for _, f := range tl.Failures {
			if n := tl.Nodes[f.Node]; n.Like >= 0 || n.Alike > 0 {
				t.Errorf("%d nodes: %s, which a failed request met, is folded", nodes, n.Name)
			}
		}
		for _, n := range tl.Bands[0].Nodes {
			if n.Lost > 0 && (n.Like >= 0 || n.Alike > 0) {
				t.Errorf("%d nodes: %s, which lost something, is folded in the band", nodes, n.Name)
			}
		}
	}
}
