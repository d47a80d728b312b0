package cluster

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A node that somebody adds takes the pods that no other has room for, as soon as it is there. It is like another one but for its name and its zone.
// Reference: docs/model/controllers.md 8.3 By itself.
func TestANodeThatIsAdded(t *testing.T) {
	t.Parallel()
	b := newBuild(3).nodes(2).apart().relabels(world.Action{At: 20 * sec, Operation: world.CreateNode{Node: "more", Like: "node-2", Zone: "z"}})
	b.Muster()
	w := b.acts(t)
	w.run(19 * sec)
	if n := len(w.PodsOn(2)); n != 0 || !w.Dead(2) || w.sched.Pending() == nil {
		t.Errorf("before: %d pods, dead %v, pending %v", n, w.Dead(2), w.sched.Pending())
	}
	w.run(21 * sec)
	if n := len(w.PodsOn(2)); n != 1 || w.Dead(2) || w.sc.Nodes[2].Zone != "z" || w.sc.Nodes[2].Name != "more" {
		t.Errorf("%d pods, dead %v, %+v", n, w.Dead(2), w.sc.Nodes[2])
	}
	w.run(60 * sec)
	if s := w.Unrest(); s != "" {
		t.Error(s)
	}
}

// A DaemonSet has a pod on it, too.
func TestANodeThatIsAddedHasItsDaemons(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(2).daemons("0", "1").relabels(world.Action{At: 20 * sec, Operation: world.CreateNode{Node: "more"}})
	b.Muster()
	w := b.acts(t)
	w.run(60 * sec)
	if n := len(w.PodsOn(2)); n != 1 || w.Unrest() != "" {
		t.Errorf("%d pods, %q", n, w.Unrest())
	}
}
