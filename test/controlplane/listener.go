package controlplane

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// listener writes down what happens in a simulation as a Recording has it.
type listener struct {
	sc     *world.Scenario
	events []Event
	pods   map[api.PodID]*api.Pod
	names  map[api.PodID]string
	count  map[api.ReplicaSetID]int // of pods
	sets   map[api.ReplicaSetID]int // spec.replicas
	first  map[string]int           // pods of the beginning, by node
}

func newListener(sc *world.Scenario) *listener {
	return &listener{
		sc: sc, pods: map[api.PodID]*api.Pod{}, names: map[api.PodID]string{}, count: map[api.ReplicaSetID]int{},
		sets: map[api.ReplicaSetID]int{}, first: map[string]int{},
	}
}

// add notes an event at the moment of another.
func (l *listener) add(e *event.Event, noted Event) {
	noted.At = SecondsOf((e.At - begun).Duration())
	l.events = append(l.events, noted)
}

func (l *listener) hear(e event.Event) {
	switch e.Kind {
	case event.Known:
		l.known(&e)
	case event.Wrote:
		l.wrote(&e)
	case event.Endpoint:
		l.add(&e, Event{What: Endpoint, Pod: l.podName(e.Pod), Service: l.service(e.Service), Conditions: Conditions(e.Conditions)})
	case event.EndpointGone:
		l.add(&e, Event{What: EndpointGone, Pod: l.podName(e.Pod), Service: l.service(e.Service)})
	case event.Cordoned:
		l.add(&e, Event{What: either(e.OK, Cordoned, Uncordoned), Node: l.sc.Nodes[e.Node].Name})
	case event.Drained:
		l.add(&e, Event{What: either(e.OK, Drained, GaveUp), Node: l.sc.Nodes[e.Node].Name})
	case event.EvictionRefused:
		l.add(&e, Event{What: Refused, Pod: l.podName(e.Pod)})
	default:
	}
}

func either(ok bool, yes, no What) What {
	if ok {
		return yes
	}
	return no
}

// Conditions are those of an endpoint, a letter each: "R-T" is ready and terminating.
func Conditions(c endpoints.Conditions) string {
	out := []byte("---")
	for i, holds := range []bool{c.Ready(), c.Serving(), c.Terminating()} {
		if holds {
			out[i] = "RST"[i]
		}
	}
	return string(out)
}

func (l *listener) service(n int) string { return l.sc.Services[n].Service.Name }

func (l *listener) podName(id api.PodID) string { return l.names[id] }

// meet gives a pod its name.
func (l *listener) meet(p *api.Pod) {
	id := api.ReplicaSetID{Workload: p.Workload, Revision: p.Revision}
	l.names[p.ID] = podName{l.sc.Workloads[p.Workload].ObjectName(), p.Revision, l.count[id]}.String()
	l.count[id]++
}

// known takes note of what there is at the beginning.
func (l *listener) known(e *event.Event) {
	switch o := e.Object.(type) {
	case *api.Pod:
		l.pods[o.ID] = o
		l.meet(o)
		if o.Node >= 0 {
			l.first[l.sc.Nodes[o.Node].Name]++
		}
	case *api.ReplicaSet:
		l.sets[o.ID] = o.Replicas
	}
}

func (l *listener) wrote(e *event.Event) {
	switch o := e.Object.(type) {
	case *api.Pod:
		l.pod(e, o)
	case *api.ReplicaSet:
		if was, known := l.sets[o.ID]; (!known && o.Replicas > 0) || known && was != o.Replicas {
			l.add(e, Event{What: Scaled, Workload: l.sc.Workloads[o.ID.Workload].ObjectName(), Revision: o.ID.Revision, Replicas: o.Replicas})
		}
		l.sets[o.ID] = o.Replicas
	case *api.Budget:
		l.add(e, Event{What: BudgetStatus, Budget: l.sc.Budgets[o.Number].Value.Name, Status: []int{o.Allowed, o.Healthy, o.Desired, o.Expected}})
	}
}

// pod notes what a write of a pod changes.
func (l *listener) pod(e *event.Event, p *api.Pod) {
	old := l.pods[p.ID]
	l.pods[p.ID] = p
	if old == nil {
		l.meet(p)
	}
	name, node := l.podName(p.ID), ""
	if p.Node >= 0 {
		node = l.sc.Nodes[p.Node].Name
	}
	if old == nil {
		l.add(e, Event{What: Created, Pod: name})
		old = &api.Pod{Node: -1, DeletedAt: api.Never}
	}
	for _, change := range []struct {
		happened bool
		what     What
	}{
		{p.Node >= 0 && old.Node < 0, Bound},
		{p.Phase == api.PhaseRunning && old.Phase != api.PhaseRunning, Running},
		{p.Ready && !old.Ready, Ready},
		{!p.Ready && old.Ready && !p.Phase.Terminal(), Unready},
		{p.Deleting() && !old.Deleting(), Deleted},
		{p.Phase.Terminal() && !old.Phase.Terminal(), Ended},
		{p.Gone, Gone},
	} {
		if !change.happened {
			continue
		}
		noted := Event{What: change.what, Pod: name}
		if change.what == Bound {
			noted.Node = node
		}
		l.add(e, noted)
	}
}

// misplaced says that the simulation did not begin with as many pods on each node as the recording.
func (l *listener) misplaced(r *Recording) error {
	want := map[string]int{}
	for _, p := range r.Pods {
		want[p.Node]++
	}
	for _, n := range l.sc.Nodes {
		if want[n.Name] != l.first[n.Name] {
			return fmt.Errorf("%s has %d pods at the beginning, and in the simulation %d", n.Name, want[n.Name], l.first[n.Name])
		}
	}
	return nil
}
