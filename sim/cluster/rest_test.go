package cluster

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A controller of pods that is at rest waits for one of them, or has all that it wants: at no moment of a rollout or of another size has it work to do
// and says otherwise.
func TestAControllerAtRestHasNothingToDo(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]build{
		"a StatefulSet":           newBuild(2).stateful(nil),
		"a StatefulSet, parallel": newBuild(2).stateful(parallelStateful),
		"a DaemonSet":             newBuild(2).nodes(2).daemons("0", "1"),
	} {
		b.Latency.Controller = engine.Constant(20 * ms) // it sees at once what there is, and works on it later
		w := b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		if name != "a DaemonSet" {
			w.do(20*sec, "scale", "web", "4")
			w.do(30*sec, "scale", "web", "1")
		}
		rested := 0
		for at := 10*sec + ms; at < 45*sec; at += 5 * ms {
			w.run(at)
			d, ok := w.asked(0)
			if !ok {
				t.Fatal("no workload")
			}
			active, leaving, unready, outdated := 0, 0, 0, 0
			for _, id := range w.livePods {
				switch p := w.pod(id); {
				case p == nil:
				case p.Deleting():
					leaving++
				case p.Active():
					active++
					if !p.Ready {
						unready++
					}
					if p.Revision != d.Revision {
						outdated++
					}
				}
			}
			if pods, rests := w.keeperOf(0).AtRest(d); !rests || pods != active {
				continue
			}
			rested++
			if leaving+unready == 0 && (active != d.Replicas || outdated > 0) {
				t.Errorf("%s: at %s s it is at rest with %d pods of %d, %d of them outdated, and all are ready", name, at.Seconds(), active, d.Replicas, outdated)
				break
			}
		}
		if rested < 1000 {
			t.Errorf("%s: at rest at %d moments", name, rested)
		}
	}
}

// While nobody can write, what waits is not said to wait for ever: it may go on when the API server is back.
func TestNothingIsStuckWhileTheAPIServerIsDown(t *testing.T) {
	t.Parallel()
	w := newBuild(2).nodes(2).budget("maxUnavailable 0").drained(nil, "node-1").acts(t)
	w.run(20 * sec)
	if w.CannotEnd() == nil {
		t.Fatal("the drain can end")
	}
	w.at(20*sec, func() { w.Do(world.Action{Operation: world.APIServer{Down: true}}) })
	w.at(40*sec, func() { w.Do(world.Action{Operation: world.APIServer{}}) })
	w.run(30 * sec)
	if all := w.AllThatCannotEnd(); all != nil || w.CannotEnd() != nil {
		t.Errorf("while it is down: %+v", all)
	}
	w.run(60 * sec)
	if w.CannotEnd() == nil {
		t.Error("when it is back the drain can end")
	}
}

// With a Service its endpoints go, and who follows a pod is told so, once each; with one that is made again they come back.
func TestTheEndpointsOfAServiceThatIsDeletedAreTold(t *testing.T) {
	t.Parallel()
	o := world.DeleteService{Service: "default/web"}
	w := newBuild(2).nodes(2).slow().relabels(world.Action{At: 10 * sec, For: 10 * sec, Operation: o}).start(t, 1)
	w.at(10*sec, func() { w.Do(w.sc.Actions[0]) })
	w.at(20*sec, func() { w.Undo(w.sc.Actions[0]) })
	var gone, there []api.PodID
	w.hears(func(e event.Event) {
		if e.Kind == event.EndpointGone {
			gone = append(gone, e.Pod)
		} else {
			there = append(there, e.Pod)
		}
	}, event.EndpointGone, event.Endpoint)
	both := []api.PodID{0, 1}
	w.run(15 * sec)
	if slices.Sort(gone); !slices.Equal(gone, both) || there != nil {
		t.Errorf("gone: %v, there: %v", gone, there)
	}
	w.run(30 * sec)
	if slices.Sort(there); len(gone) != 2 || !slices.Equal(there, both) {
		t.Errorf("made again: gone %v, there %v", gone, there)
	}
}
