package control

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Where many nodes of a zone are silent it is taken to be the zone: they are tainted more slowly, or not at all. A Node that is deleted is none of
// its nodes any more. Reference: Kubernetes 1.36 pkg/controller/nodelifecycle, ComputeZoneState, and the controller's ReducedQPSFunc.
func TestHowFastNodesOfAZoneAreTainted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                    string
		well, silent, gone, bad int // bad: silent ones that are gone
		want                    engine.Time
	}{
		{"one of a few", 9, 1, 0, 0, evictionPace},
		{"two of three", 1, 2, 0, 0, evictionPace},
		{"three of five", 2, 3, 0, 0, engine.Never},
		{"a little less than 55 of 100", 46, 54, 0, 0, evictionPace},
		{"six of eleven, less than 55 of 100 yet", 5, 6, 0, 0, evictionPace},
		{"55 of 100", 45, 55, 0, 0, slowPace},
		{"most of 50", 20, 30, 0, 0, engine.Never},
		{"most of 51", 21, 30, 0, 0, slowPace},
		{"all of it", 0, 5, 0, 0, evictionPace},
		{"four of six, and four that are gone", 2, 4, 4, 0, engine.Never},
		{"three of seven, and two that went silent and are gone", 4, 3, 0, 2, evictionPace},
	} {
		d := newDesk(t, c.well+c.silent+c.gone+c.bad+1)
		for n := range d.Nodes {
			d.Nodes[n] = world.Node{Zone: "a"}
		}
		d.Nodes[len(d.Nodes)-1].Zone = "b" // which is well
		l := NewNodeLifecycle(&d.Desk, 36)
		for n := range l.nodes {
			l.nodes[n].NotReady = n >= c.well && n < c.well+c.silent || n >= c.well+c.silent+c.gone && n < len(d.Nodes)-1
			l.nodes[n].Gone = n >= c.well+c.silent && n < len(d.Nodes)-1
		}
		if got := l.pace("a"); got != c.want {
			t.Errorf("%s: one in %s s, want %s s", c.name, got.Seconds(), c.want.Seconds())
		}
	}
}

// Since Kubernetes 1.32 a kubelet may be silent for longer. Reference: docs/model/pod-lifecycle.md 6.
func TestHowLongAKubeletMayBeSilent(t *testing.T) {
	t.Parallel()
	for minor, want := range map[int]engine.Time{25: 40 * sec, 31: 40 * sec, 32: 50 * sec, 36: 50 * sec} {
		if got := MonitorGrace(minor); got != want {
			t.Errorf("1.%d: %s s, want %s s", minor, got.Seconds(), want.Seconds())
		}
	}
}
