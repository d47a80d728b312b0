package timeline

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Recorder hears what happens in one run: Log has it hear of events, and it is the ledger.Listener of the run's requests.
type Recorder struct {
	sc    *world.Scenario
	focus *Focus
	first bool // of two runs: the proxies of nodes are not followed
	place map[api.PodID]int
	story story.Recorder

	pods    []*pod // by ID; nil for those without a lane
	named   map[string]api.PodID
	deleted []api.PodID
	created []api.PodID
	nodes   []node
	targets map[targetKey]*target
	order   []targetKey // of targets, as they were heard of
	dry     []*dry      // load balancers that had no target

	requests
}

var _ ledger.Listener = (*Recorder)(nil)

// NewRecorder returns one for a run of a scenario; focus is nil where nothing is known of what matters.
func NewRecorder(sc *world.Scenario, focus *Focus) *Recorder {
	r := &Recorder{
		sc: sc, focus: focus, first: focus == nil && large(sc), place: map[api.PodID]int{}, named: map[string]api.PodID{},
		nodes: make([]node, len(sc.Nodes)), targets: map[targetKey]*target{}, requests: newRequests(sc),
	}
	if focus != nil {
		for i, id := range focus.Pods {
			r.place[id] = i
		}
	}
	for n := range r.nodes {
		r.nodes[n].ways = make([][]use, len(sc.Traffic))
	}
	return r
}

// Log returns a log of all that the Recorder has to hear of.
func (r *Recorder) Log() *event.Log {
	log := &event.Log{}
	kinds := append(event.Stories(), event.Known, event.Wrote, event.Started, event.Probed, event.Target, event.Sends)
	if r.first {
		log.Subscribe(r.hear, kinds...)
		log.Follow([]int{})
		return log
	}
	if r.focus == nil {
		kinds = append(kinds, event.SyncBegan) // has each proxy say what it hears of when it does
	}
	log.Subscribe(r.hear, append(kinds, event.SyncEnded)...)
	return log
}

// LogWith is Log for a Recorder of stories as well, which hears of the proxies of some nodes alone, nil for all.
func (r *Recorder) LogWith(told *story.Recorder, nodes []int) *event.Log {
	log := r.Log()
	log.Subscribe(func(e event.Event) {
		switch e.Kind {
		case event.Wait, event.Rules, event.HealthPort: // as in Log.Follow
			if nodes != nil && !slices.Contains(nodes, e.Node) {
				return
			}
		default:
		}
		told.Record(e)
	}, event.Stories()...)
	return log
}

// hear sorts an event into lanes, and keeps those that stories are told of.
func (r *Recorder) hear(e event.Event) {
	number := 0
	if e.Kind < event.Known && r.tells(&e) {
		before := len(r.story.Events())
		r.story.Record(e)
		if after := r.story.Events(); len(after) > before {
			number = after[before].Number
		}
	}
	switch e.Kind {
	case event.Rules, event.HealthPort, event.Wait, event.SyncBegan, event.SyncEnded, event.NodeGone, event.NodeBack, event.NodeReady,
		event.Cordoned, event.Tainted, event.Untainted, event.Joined:
		r.hearNode(&e, number)
	case event.Target, event.Sends:
		r.hearTarget(&e)
	case event.Known, event.Wrote:
		if p, ok := e.Object.(*api.Pod); ok {
			r.hearPod(&e, p)
		}
	case event.Balancer, event.Ingress, event.Action, event.Resumed, event.Deadline, event.NoHistory, event.Drained:
	default:
		r.hearOfPod(&e, number)
	}
}

// tells says whether stories may tell of an event: in a large world of the proxies of the nodes that requests were lost on alone, and of
// what a load balancer does with pods and nodes that have lanes.
func (r *Recorder) tells(e *event.Event) bool {
	if r.focus == nil {
		return true
	}
	switch e.Kind {
	case event.Rules, event.HealthPort, event.Wait:
		return slices.Contains(r.focus.Nodes, e.Node)
	case event.Balancer:
		return e.Pod >= 0 && r.lane(e.Pod) >= 0 || e.Pod < 0 && slices.Contains(r.focus.Nodes, e.Node)
	default:
		return e.Pod < 0 || r.lane(e.Pod) >= 0
	}
}

// lane is the place of a pod among those that have lanes, -1 for none.
func (r *Recorder) lane(id api.PodID) int {
	switch {
	case r.focus == nil && id >= 0 && id < mostPods:
		return int(id)
	case r.focus == nil:
		return -1
	}
	if i, ok := r.place[id]; ok {
		return i
	}
	return -1
}

// idOf is the pod of a place.
func (r *Recorder) idOf(place int) int {
	if r.focus == nil {
		return place
	}
	return int(r.focus.Pods[place])
}
