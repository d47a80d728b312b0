package story

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// replaced is a rollout in which pod 2 comes before pod 0 goes, and pod 3 before pod 1. Behind each event that the story of pod 0 tells stands yes.
func replaced() (events []cluster.Event, told []bool) {
	add := func(yes bool, e cluster.Event) { events, told = append(events, e), append(told, yes) }
	rules := func(at engine.Time, node int, fallback bool, targets ...cluster.PodID) cluster.Event {
		return cluster.Event{At: at, Kind: cluster.EventRules, Node: node, Targets: targets, Fallback: fallback}
	}
	action := &scenario.Action{Verb: "rolloutRestart", Target: "deployment/web"}
	add(false, rules(0, 0, false, 0, 1))
	add(false, rules(0, 1, false, 0, 1))
	add(true, cluster.Event{At: 1 * sec, Kind: cluster.EventAction, Action: action})
	add(false, cluster.Event{At: 1 * sec, Kind: cluster.EventCreated, Pod: 3})
	add(true, cluster.Event{At: 1 * sec, Kind: cluster.EventCreated, Pod: 2})
	add(false, cluster.Event{At: 2 * sec, Kind: cluster.EventReady, Pod: 3})
	add(false, cluster.Event{At: 2 * sec, Kind: cluster.EventEndpoint, Pod: 0})
	add(true, cluster.Event{At: 3 * sec, Kind: cluster.EventReady, Pod: 2})
	add(true, cluster.Event{At: 4 * sec, Kind: cluster.EventAction, Action: action})
	add(true, cluster.Event{At: 4 * sec, Kind: cluster.EventDeleted, Pod: 0})
	add(true, cluster.Event{At: 4 * sec, Kind: cluster.EventPreStop, Pod: 0, Hook: &scenario.Hook{Kind: "sleep", Duration: engine.Constant(sec)}})
	add(true, cluster.Event{At: 4 * sec, Kind: cluster.EventEndpoint, Pod: 0})
	add(false, cluster.Event{At: 5 * sec, Kind: cluster.EventAction, Action: action})
	add(false, rules(5*sec, 0, false, 1, 2))
	add(true, rules(5*sec, 1, true, 0))
	add(false, rules(5*sec, 2, true, 1))
	add(true, cluster.Event{At: 5 * sec, Kind: cluster.EventTerm, Pod: 0})
	add(false, cluster.Event{At: 6 * sec, Kind: cluster.EventDeleted, Pod: 1})
	add(false, cluster.Event{At: 6 * sec, Kind: cluster.EventReady, Pod: 3})
	add(true, rules(7*sec, 1, false, 1, 2)) // the last node that leads to pod 0 no more
	add(false, rules(8*sec, 0, false, 2))
	add(true, cluster.Event{At: 8 * sec, Kind: cluster.EventClosed, Pod: 0})
	add(true, cluster.Event{At: 9 * sec, Kind: cluster.EventKill, Pod: 0})
	add(true, cluster.Event{At: 9 * sec, Kind: cluster.EventExited, Pod: 0})
	add(false, cluster.Event{At: 9 * sec, Kind: cluster.EventExited, Pod: 1})
	return events, told
}

// Of a run that loses nothing, the story is about the first pod that is deleted: who was ready before it went, what became of it, and when
// the last node's rules had left it.
func TestHowAPodWasReplaced(t *testing.T) {
	t.Parallel()
	web := &appsv1.Deployment{}
	web.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web"}}
	sc := &scenario.Scenario{Nodes: make([]scenario.Node, 3), Workloads: []scenario.Workload{{Deployment: web}}, Traffic: make([]scenario.Traffic, 1)}
	events, told := replaced()
	pods := []cluster.PodRef{{ID: 0, Name: "web-a"}, {ID: 1, Name: "web-b"}, {ID: 2, Name: "web-c", Revision: 1}, {ID: 3, Name: "web-d", Revision: 1}}
	tell := NewTeller(sc, &Recorder{events: events}, pods)
	all, story := tell.All(), tell.Kept()
	deleted := slices.IndexFunc(events, func(e cluster.Event) bool { return e.Kind == cluster.EventDeleted })
	all[deleted].Origin = true
	i := 0
	for at, yes := range told {
		if !yes {
			continue
		}
		if i == len(story) {
			t.Fatalf("the story ends before %+v", all[at])
		}
		if diff := cmp.Diff(all[at], story[i]); diff != "" {
			t.Fatalf("line %d: %s", i, diff)
		}
		i++
	}
	if i < len(story) {
		t.Errorf("told, too: %+v", story[i:])
	}
	undisturbed := NewTeller(sc, &Recorder{events: events[:deleted]}, pods)
	if story := undisturbed.Kept(); story != nil {
		t.Errorf("nothing was deleted, and the story is %+v", story)
	}
	first := NewTeller(sc, &Recorder{events: []cluster.Event{events[deleted]}}, pods)
	if story := first.Kept(); len(story) != 1 {
		t.Errorf("nothing else happened, and the story is %+v", story)
	}
}
