package fix

import (
	"maps"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/event"
)

// A node whose rules fall back to pods that stop is left by whoever may choose: a client that asks no health port, and goes by no load balancer,
// takes another one. Whoever asks is told by the port, and a load balancer chooses itself.
func TestWhichNodesAreAWayToAPod(t *testing.T) {
	t.Parallel()
	rules := func(node int, fallback bool, pods ...api.PodID) event.Event {
		return event.Event{Kind: event.Rules, Node: node, Targets: pods, Fallback: fallback}
	}
	port := func(node int, ok bool) event.Event { return event.Event{Kind: event.HealthPort, Node: node, OK: ok} }
	sends := func(node int, ok bool) event.Event {
		return event.Event{Kind: event.Target, Pod: -1, Node: node, OK: ok}
	}
	for name, c := range map[string]struct {
		events []event.Event
		want   []api.PodID
	}{
		"all nodes":                           {[]event.Event{rules(0, false, 1), rules(1, false, 2)}, []api.PodID{1, 2}},
		"one falls back":                      {[]event.Event{rules(0, true, 1), rules(1, false, 2)}, []api.PodID{2}},
		"one did, and does not any more":      {[]event.Event{rules(0, true, 1), rules(0, false, 1)}, []api.PodID{1}},
		"its health port says yes":            {[]event.Event{port(0, true), port(1, true), rules(0, true, 1), rules(1, false, 2)}, []api.PodID{1, 2}},
		"its health port says no":             {[]event.Event{port(0, false), port(1, true), rules(0, true, 1), rules(1, false, 2)}, []api.PodID{2}},
		"no health port says yes":             {[]event.Event{port(0, false), port(1, false), rules(0, true, 1), rules(1, false, 2)}, []api.PodID{1, 2}},
		"a load balancer sends there":         {[]event.Event{sends(0, true), rules(0, true, 1), rules(1, false, 2)}, []api.PodID{1}},
		"a load balancer sends there no more": {[]event.Event{sends(0, true), sends(0, false), sends(1, true), rules(0, true, 1), rules(1, false, 2)}, []api.PodID{2}},
	} {
		w := &way{rules: map[int][]api.PodID{}, healthy: map[int]bool{}, nodes: map[int]bool{}, pods: map[api.PodID]bool{}}
		for i := range c.events {
			w.hear(&c.events[i])
		}
		got := w.reached()
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v; rules of %v", name, got, c.want, slices.Sorted(maps.Keys(w.rules)))
		}
	}
}
