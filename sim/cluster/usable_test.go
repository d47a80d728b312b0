package cluster

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func TestTheFewestUsablePodsAndHowLong(t *testing.T) {
	t.Parallel()
	w := newBuild(2).start(t, 1)
	for _, step := range []struct {
		at     engine.Time // in half seconds
		id     api.PodID
		usable bool
	}{{2, 0, false}, {6, 1, false}, {7, 1, true}, {9, 0, true}, {12, 1, false}, {14, 1, true}} {
		w.run(step.at * sec / 2)
		w.countUsable(0, step.id, step.usable)
	}
	w.run(20 * sec)
	if got, want := w.Usable(0), (Usable{Of: 2, Min: 0, For: sec / 2, Now: 2, Staying: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Strategy Recreate with an app that starts in 3 s and no other delay: the old pods stop
// listening when they are deleted at 10 s, and the new ones listen at 13 s, a second later at
// most by the kubelet's relist: until then none is usable. A deleted pod that serves on counts.
func TestUsablePodsOfARollOut(t *testing.T) {
	t.Parallel()
	b := newBuild(3).recreate()
	b.Workloads[0].App.Start = engine.Constant(3 * sec)
	b.container().ReadinessProbe = probe(0, 1, 1, 3)
	w := b.start(t, 1)
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(60 * sec)
	u := w.Usable(0)
	if u.Of != 3 || u.Min != 0 || u.For < 3*sec || u.For > 7*sec {
		t.Errorf("recreated: %+v", u)
	}
	b = newBuild(3).strategy("1", "0")
	w = b.start(t, 1)
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(60 * sec)
	if u := w.Usable(0); u.Min != 3 || u.Staying != 3 {
		t.Errorf("one more before one less: %+v", u)
	}
	b = newBuild(4).strategy("0", "3")
	b.Workloads[0].App.Listener, b.Workloads[0].App.DrainFor = world.ListenerDrains, 30*sec
	w = b.start(t, 1)
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(60 * sec)
	if u := w.Usable(0); u.Staying != 1 { // the others go, however long they serve
		t.Errorf("three less before three more: %+v", u)
	}
}
