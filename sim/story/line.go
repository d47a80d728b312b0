package story

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Line is one line of a story: an event, or what became of the request that the story is about, and where in the manifests
// that was asked for. Words says it in words.
type Line struct {
	At    engine.Time // from the run's start
	Event event.Event // of the request's own line the zero Event
	Lost  *Lost       // the request's own line; nil for all others

	Object string // the pod, node or workload it happened to
	File   string // "" when no line of a manifest is behind it
	Line   int

	Origin bool // what the story is about: the deletion of the pod that a request was lost to
	Blamed bool // what the story explains the loss by: the component to blame did this, or was late with it. It is never left out

	// Decides says that with it the pod which a request was lost to began to end, took no more connections or was gone. The last such line
	// before the request is why the pod did not answer.
	Decides bool

	names *names
}

// Lost is a request that failed, and the pod that it met, -1 for none.
type Lost struct {
	Request   ledger.Request
	Pod       api.PodID
	Elsewhere bool // its SYNs went elsewhere at first, where nothing answered
}

// Words say what happened, as one says it to a person who knows Kubernetes.
func (l *Line) Words() string {
	if l.Lost != nil {
		return l.names.lostWords(l.Lost, l.At)
	}
	return l.names.words(&l.Event)
}

// again says that a line says what one before it does of a node's rules: they are one for all streams of requests that a sync changes alike.
func (l *Line) again(before []Line) bool {
	return l.Event.Kind == event.Rules && slices.ContainsFunc(before, func(b Line) bool {
		return b.Event.Kind == event.Rules && b.At == l.At && b.Event.Node == l.Event.Node && b.Words() == l.Words()
	})
}

// Pod is what the story calls the pod of an event that is about one: "old pod 0".
func (l *Line) Pod() string { return l.names.pod(l.Event.Pod) }

// names are what the stories of one run call its pods, nodes and load balancers.
type names struct {
	sc   *world.Scenario
	pods []cluster.PodRef
	last []int // the newest revision of each workload
}

func newNames(sc *world.Scenario, pods []cluster.PodRef) *names {
	t := &names{sc: sc, pods: pods, last: make([]int, len(sc.Workloads))}
	for _, p := range pods {
		t.last[p.Workload] = max(t.last[p.Workload], p.Revision)
	}
	return t
}

// named finds a pod, -1 for none.
func (t *names) named(name string) api.PodID {
	for i := range t.pods {
		if t.pods[i].Name == name {
			return t.pods[i].ID
		}
	}
	return -1
}

// line makes a line of an event.
func (t *names) line(e *event.Event) Line {
	out := Line{At: e.At, Event: *e, Object: t.object(e), names: t}
	out.File, out.Line = t.source(e)
	return out
}

// lost makes the line of a request that failed.
func (t *names) lost(r *ledger.Request, pod api.PodID, told engine.Time) Line {
	return Line{At: told, Lost: &Lost{Request: *r, Pod: pod}, Object: r.Pod, names: t}
}

// object is what an event happened to, by its name in the API.
func (t *names) object(e *event.Event) string {
	switch {
	case e.Pod >= 0:
		return t.pods[e.Pod].Name
	case e.Node >= 0:
		return t.sc.Nodes[e.Node].Name
	case e.Kind == event.Deadline, e.Kind == event.NoHistory:
		return t.sc.Workloads[e.Workload].Name()
	case e.Action != nil:
		return e.Action.Target()
	default:
		return ""
	}
}
