package story

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// replaced is a rollout in which pod 2 comes before pod 0 goes, and pod 3 before pod 1. Behind each event that the story of pod 0 tells stands yes.
func replaced() (events []event.Event, told []bool) {
	add := func(yes bool, e event.Event) { events, told = append(events, e), append(told, yes) }
	rules := func(at engine.Time, node int, fallback bool, targets ...api.PodID) event.Event {
		return event.Event{At: at, Kind: event.Rules, Node: node, Targets: targets, Fallback: fallback}
	}
	action := &world.Action{Operation: world.RolloutRestart{Workload: "deployment/web"}}
	add(false, rules(0, 0, false, 0, 1))
	add(false, rules(0, 1, false, 0, 1))
	add(true, event.Event{At: 1 * sec, Kind: event.Action, Action: action})
	add(false, event.Event{At: 1 * sec, Kind: event.Created, Pod: 3})
	add(true, event.Event{At: 1 * sec, Kind: event.Created, Pod: 2})
	add(false, event.Event{At: 2 * sec, Kind: event.Ready, Pod: 3})
	add(false, event.Event{At: 2 * sec, Kind: event.Endpoint, Pod: 0})
	add(true, event.Event{At: 3 * sec, Kind: event.Ready, Pod: 2})
	add(true, event.Event{At: 4 * sec, Kind: event.Action, Action: action})
	add(true, event.Event{At: 4 * sec, Kind: event.Deleted, Pod: 0})
	add(true, event.Event{At: 4 * sec, Kind: event.PreStop, Pod: 0, Hook: &world.Hook{Kind: "sleep", Duration: engine.Constant(sec)}, Container: &corev1.Container{Name: "web"}})
	add(true, event.Event{At: 4 * sec, Kind: event.Endpoint, Pod: 0})
	add(false, event.Event{At: 5 * sec, Kind: event.Action, Action: action})
	add(false, rules(5*sec, 0, false, 1, 2))
	add(true, rules(5*sec, 1, true, 0))
	other := rules(5*sec, 1, true, 0)
	other.Stream = 1
	add(false, other) // what the same sync does for other requests is said
	add(false, rules(5*sec, 2, true, 1))
	add(true, event.Event{At: 5 * sec, Kind: event.Term, Pod: 0})
	add(false, event.Event{At: 6 * sec, Kind: event.Deleted, Pod: 1})
	add(false, event.Event{At: 6 * sec, Kind: event.Ready, Pod: 3})
	add(true, rules(7*sec, 1, false, 1, 2)) // the last node that leads to pod 0 no more
	add(false, rules(8*sec, 0, false, 2))
	add(true, event.Event{At: 8 * sec, Kind: event.Closed, Pod: 0})
	add(true, event.Event{At: 9 * sec, Kind: event.Kill, Pod: 0})
	add(true, event.Event{At: 9 * sec, Kind: event.Ended, Pod: 0})
	add(false, event.Event{At: 9 * sec, Kind: event.Ended, Pod: 1})
	return events, told
}

// Of a run that loses nothing, the story is about the first pod that is deleted: who was ready before it went, what became of it, and when
// the last node's rules had left it.
func TestHowAPodWasReplaced(t *testing.T) {
	t.Parallel()
	web := &appsv1.Deployment{}
	web.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web"}}
	sc := &world.Scenario{Nodes: make([]world.Node, 3), Workloads: []world.Workload{{Resource: web}}, Traffic: make([]world.Traffic, 2)}
	events, told := replaced()
	pods := []cluster.PodRef{{ID: 0, Name: "web-a"}, {ID: 1, Name: "web-b"}, {ID: 2, Name: "web-c", Revision: 1}, {ID: 3, Name: "web-d", Revision: 1}}
	tell := NewTeller(sc, &Recorder{events: events}, pods)
	all, story := tell.All(), tell.Kept()
	deleted := slices.IndexFunc(events, func(e event.Event) bool { return e.Kind == event.Deleted })
	all[deleted].Origin = true
	i := 0
	for at, yes := range told {
		if !yes {
			continue
		}
		if i == len(story) {
			t.Fatalf("the story ends before %+v", all[at])
		}
		if want, got := printed(&all[at]), printed(&story[i]); want != got {
			t.Fatalf("line %d: %s, want %s", i, got, want)
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
	first := NewTeller(sc, &Recorder{events: []event.Event{events[deleted]}}, pods)
	if story := first.Kept(); len(story) != 1 {
		t.Errorf("nothing else happened, and the story is %+v", story)
	}
}

// A proxy that waits says after which sync.
func TestWhatAProxyWaitsFor(t *testing.T) {
	t.Parallel()
	tell := newNames(&world.Scenario{Nodes: []world.Node{{Name: "node-1", Proxy: world.Proxy{MinSyncPeriod: 10 * sec}}}}, nil)
	for others, want := range map[bool]string{
		false: "node-1's kube-proxy hears of it and waits 2.5 s, until 10 s after its last sync",
		true:  "node-1's kube-proxy hears of it and waits 2.5 s, until 10 s after a sync for another Service",
	} {
		if got := tell.waitWords(&event.Event{At: sec, Until: 3*sec + sec/2, Others: others}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a load balancer or an ingress controller decides is of a story where the request met its target, or found none.
func TestWhichDecisionsOfABalancerAreTold(t *testing.T) {
	t.Parallel()
	tell := &Teller{names: &names{pods: []cluster.PodRef{{ID: 0, Name: "web-a"}, {ID: 1, Name: "nginx-a"}}}}
	request := func(cause ledger.Cause, ingress string) *ledger.Request {
		return &ledger.Request{Stream: 1, Node: 2, Ingress: ingress, Blame: ledger.Blame{Cause: cause}}
	}
	stale, none := request(ledger.StaleLB, ""), request(ledger.NoHealthyTarget, "")
	node := func(n, entry int, ok bool) event.Event {
		return event.Event{Kind: event.Balancer, Node: n, Pod: -1, Stream: entry, OK: ok}
	}
	pod := func(p api.PodID, ok bool) event.Event {
		return event.Event{Kind: event.Balancer, Node: -1, Pod: p, Stream: 1, OK: ok}
	}
	ingress := func(p api.PodID, targets ...api.PodID) event.Event {
		return event.Event{Kind: event.Ingress, Pod: p, Stream: 1, Targets: targets}
	}
	for _, c := range []struct {
		name    string
		event   event.Event
		request *ledger.Request
		want    bool
	}{
		{"its node is taken out", node(2, 1, false), stale, true},
		{"another node is taken out", node(1, 1, false), stale, false},
		{"its node is taken out of another stream's", node(2, 0, false), stale, false},
		{"its node is taken in", node(2, 1, true), stale, false},
		{"its pod is taken out", pod(0, false), stale, true},
		{"another pod is taken out", pod(1, false), stale, false},
		{"any node is taken in, where there was none", node(1, 1, true), none, true},
		{"a node is taken out, where there was none", node(1, 1, false), none, false},
		{"the rules were late", node(2, 1, false), request(ledger.StaleRules, ""), false},
		{"it came by a controller", node(2, 1, false), request(ledger.StaleLB, "nginx-a"), false},
		{"the controller leads elsewhere", ingress(1, 1), request(ledger.StaleRules, "nginx-a"), true},
		{"the controller leads to it", ingress(1, 0, 1), request(ledger.StaleRules, "nginx-a"), false},
		{"the controller leads nowhere", ingress(1), request(ledger.StaleRules, "nginx-a"), false},
		{"something else", event.Event{Kind: event.Ready, Node: 2, Stream: 1}, stale, false},
	} {
		if got := tell.rebalanced(&c.event, c.request, 0); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// printed is all that a reader sees of a line.
func printed(l *Line) string {
	return fmt.Sprintf("%d %s: %s (%s:%d) %t %t", l.At, l.Object, l.Words(), l.File, l.Line, l.Origin, l.Blamed)
}
