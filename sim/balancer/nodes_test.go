package balancer

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Which nodes are no targets, and which versions of a Node make a controller look: docs/model/load-balancers.md 2.
func TestWhichNodesAControllerLeaves(t *testing.T) {
	t.Parallel()
	gone, tainted, notReady := Node{Gone: true}, Node{Tainted: true}, Node{NotReady: true}
	for _, tt := range []struct {
		leaves                world.NodesLeave
		node                  Node
		looks, leaving, would bool // LooksAt; Leaves when it looks, and if it had looked
	}{
		{world.NodesDeleted, Node{}, false, false, false},
		{world.NodesDeleted, gone, true, true, true},
		{world.NodesDeleted, tainted, false, true, false},
		{world.NodesDeleted, notReady, false, false, false},
		{world.NodesTainted, Node{}, false, false, false},
		{world.NodesTainted, gone, true, true, true},
		{world.NodesTainted, tainted, true, true, true},
		{world.NodesTainted, notReady, false, false, false},
		{world.NodesNotReady, Node{}, true, false, false},
		{world.NodesNotReady, gone, true, true, true},
		{world.NodesNotReady, tainted, true, true, true},
		{world.NodesNotReady, notReady, true, true, true},
		{world.NodesSilent, gone, false, true, true},
		{world.NodesSilent, notReady, false, false, false},
	} {
		spec := &world.LoadBalancer{NodesLeave: tt.leaves}
		if looks, leaving, would := LooksAt(spec, tt.node), Leaves(spec, tt.node, false), Leaves(spec, tt.node, true); looks != tt.looks || leaving != tt.leaving || would != tt.would {
			t.Errorf("%v, %+v: looks %t, leaves %t, would leave %t, want %t, %t, %t", tt.leaves, tt.node, looks, leaving, would, tt.looks, tt.leaving, tt.would)
		}
	}
}

// A session over BGP that nobody ends is over with its hold time, of which up to a third has passed; an orderly one, and one of speakers that
// talk to each other, at once.
func TestHowLongASpeakerIsMissedByNobody(t *testing.T) {
	t.Parallel()
	bgp, layer2 := &world.LoadBalancer{Announce: world.AnnounceBGP}, &world.LoadBalancer{Announce: world.AnnounceL2}
	shortest, longest := engine.Never, engine.Time(0)
	for seed := range uint64(200) {
		draws := engine.New(seed, engine.Limits{}).Stream("session of node-1", "hold")
		if d := Silence(layer2, Node{}, draws); d != 0 {
			t.Fatalf("layer 2: %s s", d.Seconds())
		}
		if d := Silence(bgp, Node{Tainted: true}, draws); d != 0 {
			t.Fatalf("BGP, orderly: %s s", d.Seconds())
		}
		d := Silence(bgp, Node{}, draws)
		shortest, longest = min(shortest, d), max(longest, d)
	}
	if shortest < 60*engine.Second || shortest > 61*engine.Second || longest > 90*engine.Second || longest < 89*engine.Second {
		t.Errorf("between %s and %s s, want 60 and 90", shortest.Seconds(), longest.Seconds())
	}
}
