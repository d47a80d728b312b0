package fix

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Patient returns a Scenario in which the pods of a workload go on serving for so long after
// their deletion that how late nodes are does not depend on it, and in which every pod has its
// successor by then: a hook is there for the way of the news, not for a pod that is missing. Its clients hardly ask: how the
// news spreads does not depend on them, and requests are most of what a run costs.
func Patient(s *world.Scenario, workload string) *world.Scenario {
	const patience = 900 // longer than any load balancer takes to leave a target
	s = s.Quiet()
	w := s.Workload(workload)
	index := w.ServerIndex()
	if index < 0 {
		return s
	}
	t := target{sc: s, w: w, server: index}
	full := t.apart() && len(s.Standing()) <= w.Replicas() // no room for a successor
	if missing := t.unavailable(); missing != nil && !full {
		s = Apply(s, workload, []Change{*missing})
	}
	return scenario.Edited(s, workload, func(r world.Resource) {
		pod := &world.TemplateOf(r).Spec
		grace := int64(2 * patience)
		world.Serving(pod)[index].Lifecycle = &corev1.Lifecycle{
			PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: patience}},
		}
		pod.TerminationGracePeriodSeconds = &grace
	})
}

// Lateness is the longest time, in the events of a run of a Patient Scenario, from a pod's deletion to the last moment at which
// a new connection could be sent to it. 0 when no pod was deleted. A node that knows of the deletion, and sends to the pod because
// it has no other one in scope (KEP-1669), is not late: it does so for as long as the pod serves, however long that is. Where
// a load balancer asks whether the node has a ready pod it counts all the same: it has none, and the load balancer that asks is late until it has
// gone elsewhere. One that goes only when the pod ends, after SIGTERM, goes for that: no hook outlasts it.
func Lateness(events []event.Event) engine.Time {
	deleted, ended := map[api.PodID]engine.Time{}, map[api.PodID]bool{}
	ways := map[[2]int]*way{} // by entry, and pod of an ingress controller
	var late engine.Time
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case event.Deleted:
			deleted[e.Pod] = e.At
			continue
		case event.Term:
			ended[e.Pod] = true
			continue
		case event.NodeGone: // and with it whoever would still send from there
			for _, w := range ways { // order: each for itself
				delete(w.rules, e.Node)
				delete(w.healthy, e.Node)
			}
			continue
		case event.Rules, event.HealthPort, event.Balancer, event.Ingress:
		default:
			continue
		}
		k := [2]int{e.Stream, -1}
		if e.Kind == event.Ingress {
			k[1] = int(e.Pod)
		}
		w := ways[k]
		if w == nil {
			w = &way{rules: map[int][]api.PodID{}, healthy: map[int]bool{}, nodes: map[int]bool{}, pods: map[api.PodID]bool{}}
			ways[k] = w
		}
		before := w.reached()
		w.hear(e)
		after := w.reached()
		for _, p := range before {
			if at, gone := deleted[p]; gone && !ended[p] && !slices.Contains(after, p) {
				late = max(late, e.At-at)
			}
		}
	}
	return late
}

// way is where the connections of one entry may go.
type way struct {
	rules   map[int][]api.PodID // by node
	healthy map[int]bool        // by node; empty when nobody asks the health ports
	// What a load balancer sends to, without one both are empty.
	balanced bool
	nodes    map[int]bool
	pods     map[api.PodID]bool
}

func (w *way) hear(e *event.Event) {
	switch e.Kind {
	case event.Rules, event.Ingress: // of a node, or of the pod itself
		w.rules[e.Node] = e.Targets
		if e.Fallback && !w.balanced && len(w.healthy) == 0 {
			delete(w.rules, e.Node)
		}
	case event.HealthPort:
		w.healthy[e.Node] = e.OK
	default:
		w.balanced = true
		if e.Pod >= 0 {
			w.pods[e.Pod] = e.OK
		} else {
			w.nodes[e.Node] = e.OK
		}
	}
}

// reached lists the pods that new connections may be sent to: those that a load balancer sends
// to, or by the rules of its nodes; without one by every node, or by those whose health port
// says so, if any does.
func (w *way) reached() []api.PodID {
	told := false
	for _, ok := range w.healthy { // order: any one decides
		told = told || ok
	}
	var out []api.PodID
	for pod, ok := range w.pods { // order: a set
		if ok {
			out = append(out, pod)
		}
	}
	for node, pods := range w.rules { // order: a set
		if w.balanced && w.nodes[node] || !w.balanced && (!told || w.healthy[node]) {
			out = append(out, pods...)
		}
	}
	return out
}
