package cluster

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// noticed is a spot notice of which Karpenter's queue tells it.
func noticed(notice engine.Time) world.SpotNotice {
	return world.SpotNotice{Node: "node-1", Notice: notice, Karpenter: true, Provision: 60 * sec}
}

// Karpenter taints and empties a node at its spot notice, asks at once for another, which the pods do not wait for, and ends the machine
// when its pods have gone: long before the cloud takes it. Reference: docs/model/controllers.md 8.1 Interruption.
func TestKarpenterEmptiesANodeAtItsSpotNotice(t *testing.T) {
	t.Parallel()
	w := newBuild(4).nodes(2).hook("app", sleepHook(5*sec)).taken(noticed(120 * sec)).takes(t)
	w.run(40 * sec)
	if w.closingNode() != "" || !w.Dead(0) || len(w.PodsOn(1)) != 4 {
		t.Errorf("%q, dead %v, %d pods", w.closingNode(), w.Dead(0), len(w.PodsOn(1)))
	}
	w.run(300 * sec)
	w.want("node: |machine",
		"10 node: node-1 disrupted", "10 node: node-1 tainted disrupted excluded",
		"18 node: node-1 machine ends", "18 node: node-1 tainted disrupted excluded gone",
		"70 node: replacement-1 joined")
	if s, err := w.Unrest(), w.Stuck(); s != "" || err != nil {
		t.Error(s, err)
	}
}

// The cloud takes the machine when the notice is over, whatever Karpenter waits for: a pod that stops too slowly, one that says
// do-not-disrupt, one whose budget lets none go. No node is kept for any of them, and nothing is stuck.
func TestASpotMachineGoesBeforeItsPods(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]build{
		"slow":           newBuild(2).nodes(2).grace(600).app(ignores),
		"do-not-disrupt": newBuild(2).nodes(2),
		"a budget":       newBuild(2).nodes(2).budget("maxUnavailable 0"),
	} {
		if name == "do-not-disrupt" {
			b.d.Spec.Template.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
		}
		w := b.taken(noticed(120 * sec)).takes(t)
		w.run(100 * sec)
		if n := w.NodeInAPI(0); !n.Disrupted || !n.Tainted || w.Dead(0) || w.CannotEnd() != nil {
			t.Errorf("%s: %+v, dead %v, %+v", name, n, w.Dead(0), w.CannotEnd())
		}
		w.run(131 * sec)
		if s := w.disrupts.takers.Waiting(); strings.Contains(s, "waits for pod") {
			t.Errorf("%s: after the machine has gone %s", name, s)
		}
		w.run(800 * sec)
		if got := w.when("node-1 machine ends"); got != 130*sec || !w.NodeInAPI(0).Gone {
			t.Errorf("%s: it goes at %s s", name, got.Seconds())
		}
		if deleted := strings.Contains(strings.Join(w.lines, "\n"), "r0 0 running ready=true deleting=true"); deleted != (name == "slow") {
			t.Errorf("%s: deleted %v", name, deleted)
		}
		if s, stuck := w.Unrest(), w.CannotEnd(); s != "" || stuck != nil {
			t.Errorf("%s: %q, %+v", name, s, stuck)
		}
	}
}
