package swarm

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// judge hears what happens in one world and holds it against rules that were written from the
// facts, in the plainest way, and never from the simulator's code. The rules are in the files
// named after their topics.
type judge struct {
	w      *swarmWorld
	plain  *world.Workload // the one that a single restart is done to, and nothing else; nil otherwise
	broken error           // the first rule that was broken

	pods    map[api.PodID]*pod
	order   []api.PodID
	sets    map[api.ReplicaSetID]*api.ReplicaSet
	peak    map[api.ReplicaSetID]int // the most pods that each set was ever asked for
	applied bool                     // a template is replaced in this world
	freed   []engine.Time            // by node: when a pod last took or left its host port

	watches     watches
	proxies     []proxy
	requests    requests
	balancers   balancers
	disruptions disruptions
	machines    []machine // by node
	unlike      bool      // a pool that is upgraded has more nodes than it may, or less
}

// pod is what is known of a pod.
type pod struct {
	api        *api.Pod    // its last version
	changed    engine.Time // when what a slice says of it last changed
	ready      bool        // as the kubelet last decided
	decided    engine.Time // when it did
	readied    engine.Time // when the API last heard that it is ready
	containers map[string]*container
	able       able
	bound      engine.Time // when it was bound to its node
}

func newJudge(w *swarmWorld) *judge {
	j := &judge{
		w: w, pods: map[api.PodID]*pod{}, sets: map[api.ReplicaSetID]*api.ReplicaSet{}, peak: map[api.ReplicaSetID]int{},
		watches: watches{}, proxies: make([]proxy, len(w.Nodes)), requests: newRequests(len(w.Traffic)),
		freed: make([]engine.Time, len(w.Nodes)),
	}
	j.requests.shared = newConnections(j)
	j.balancers = newBalancers(j)
	j.disruptions, j.machines = newDisruptions(w), newMachines(w)
	for _, a := range w.Actions {
		j.applied = j.applied || a.Verb() == "apply"
	}
	if len(w.Actions) == 1 && w.Actions[0].Verb() == "rolloutRestart" && !w.endless {
		for i := range w.Workloads {
			if wl := &w.Workloads[i]; wl.Name() == w.Actions[0].Target() && wl.Deployment() != nil && w.roomy(i) {
				j.plain = &w.Workloads[i]
			}
		}
	}
	return j
}

// options has the judge hear everything of a run.
func (j *judge) options() sim.Options {
	log := &event.Log{}
	log.Subscribe(j.known, event.Known)
	log.Subscribe(j.hear, event.Wrote, event.Delivered, event.SyncBegan, event.SyncEnded, event.Started, event.Stopping, event.Signalled,
		event.Ended, event.Probed, event.Decided, event.Listening, event.Closed, event.NodeGone, event.NodeBack, event.Joined, event.EvictionRefused, event.Drained)
	log.Subscribe(j.balancers.did, event.Sends, event.Sent, event.Cut, event.Moved)
	log.Subscribe(func(e event.Event) { j.requests.flow(e.Stream, e.To) }, event.Flow)
	return sim.Options{DrawAll: true, Events: log, Requests: &j.requests}
}

func (j *judge) fail(rule, format string, args ...any) {
	if j.broken == nil {
		j.broken = fmt.Errorf("%s: %s", rule, fmt.Sprintf(format, args...))
	}
}

// does says whether something of a kind is done in this world.
func (j *judge) does(verb string) bool {
	for _, a := range j.w.Actions {
		if a.Verb() == verb {
			return true
		}
	}
	return false
}

// known takes up what there is at the beginning.
func (j *judge) known(e event.Event) {
	wrote := e
	wrote.Kind = event.Wrote
	j.hear(wrote)
	if _, pod := e.Object.(*api.Pod); pod {
		j.hear(event.Event{At: e.At, Kind: event.Listening, Pod: e.Pod, OK: e.OK})
	}
}

func (j *judge) hear(e event.Event) {
	if e.Others {
		j.hearPaused(e)
		j.hearSync(e)
		return // the rules stay as they are
	}
	j.hearRequests(e)
	j.hearPaused(e)
	j.requests.shared.hear(e)
	j.hearDisruption(e)
	j.hearMachine(e)
	defer j.balancers.hear(e) // when it is known which pod it is about
	switch e.Kind {
	case event.Wrote:
		j.watches.wrote(e.Object)
		j.wrote(e)
	case event.Delivered:
		j.hearDelivery(e)
	case event.SyncBegan, event.SyncEnded:
		j.hearSync(e)
	case event.Started, event.Stopping, event.Signalled, event.Ended:
		j.hearContainer(e)
	case event.Probed, event.Decided:
		if !j.unsteady(j.pods[e.Pod].api) {
			j.hearProbe(e)
		}
	default: // for load balancers
	}
	j.hearAble(e)
}

func (j *judge) wrote(e event.Event) {
	switch o := e.Object.(type) {
	case *api.Pod:
		p, before := j.pods[o.ID], (*api.Pod)(nil)
		if p == nil {
			p = j.add(o)
		} else {
			before = p.api
		}
		p.api = o
		if o.Node >= 0 && (before == nil || before.Node < 0) {
			p.bound = e.At
		}
		if before == nil || before.Ready != o.Ready || before.Deleting() != o.Deleting() || before.IP != o.IP || before.Phase != o.Phase || o.Gone {
			p.changed = e.At
		}
		if o.Ready && (before == nil || !before.Ready) {
			p.readied = e.At
		}
		j.hearGates(e.At, o)
		if e.At > 0 {
			j.hearPodWrite(e.At, before, o)
		}
	case *api.ReplicaSet:
		before := j.sets[o.ID]
		j.hearSetWrite(e.At, o)
		if before != nil && o.Available > before.Available {
			j.becameAvailable(e.At, o)
		}
	}
	if e.View != nil {
		j.hearSlices(e.At, e.View)
	}
}

func (j *judge) add(o *api.Pod) *pod {
	p := &pod{api: o, ready: o.Ready, containers: map[string]*container{}}
	j.pods[o.ID] = p
	j.order = append(j.order, o.ID)
	return p
}

func (j *judge) workload(p *api.Pod) *world.Workload { return &j.w.Workloads[p.Workload] }

// app is how the process in a pod behaves.
func (j *judge) app(p *api.Pod) world.App {
	wl := j.workload(p)
	if a, ok := wl.Revisions["new"]; ok && p.Revision > 0 {
		return a
	}
	return wl.App
}

func (j *judge) spec(p *api.Pod) *corev1.PodSpec {
	return &j.workload(p).Template().Spec
}

func recreates(d *appsv1.Deployment) bool {
	return d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
}

// instant says that nothing in the control plane takes any time.
func (j *judge) instant() bool {
	l := &j.w.Latency
	for _, d := range []engine.Dist{l.APIWrite, l.Watch, l.SliceController, l.Controller, l.StatusWrite, l.Schedule, l.Sandbox, l.ContainerStart} {
		if d.Max() > 0 {
			return false
		}
	}
	return l.ImagePull == nil && !j.w.faults.slow && !j.does("apiserver") && !j.does("component")
}
