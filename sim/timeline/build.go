package timeline

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/story"
)

// builder makes a Timeline of what a Recorder heard.
type builder struct {
	r      *Recorder
	end    engine.Time
	pods   []cluster.PodRef
	teller *story.Teller

	events map[int]bool // by number: those that are listed; nil for all

	nodesLeft, marksLeft, spansLeft, eventsLeft, storiesLeft int
}

// Build makes the Timeline of a run that is over: its seed, its end, and its pods by PodID.
func (r *Recorder) Build(seed uint64, end engine.Time, pods []cluster.PodRef) *Timeline {
	b := &builder{r: r, end: end, pods: pods, teller: story.NewTeller(r.sc, &r.story, pods)}
	for i := range pods {
		r.named[pods[i].Name] = pods[i].ID
	}
	t := &Timeline{
		Seed: seed, End: end, Pods: b.podLanes(), Nodes: b.nodeLanes(), Targets: b.targetLanes(), Dry: b.dryLanes(), Clients: b.clientLanes(),
		Failures: b.failureMarks(), Lost: b.lostCauses(),
	}
	t.Bands = b.bands(t.Pods)
	t.Zero = b.zero(t)
	b.fold(t)
	t.Events = b.eventList(t)
	b.unlist(t)
	t.LeftOut = b.leftOut(t)
	return t
}

func (b *builder) called(id api.PodID) string { return b.teller.Pod(id) }

// zero is what people count from: what becomes of the pod that most was lost with; else the first deletion; else the first action.
func (b *builder) zero(t *Timeline) Zero {
	worst := -1
	for i := range t.Bands {
		if x := &t.Bands[i]; x.Lost > 0 && (worst < 0 || x.Lost > t.Bands[worst].Lost) {
			worst = i
		}
	}
	if worst < 0 {
		worst = slices.IndexFunc(t.Bands, func(x Band) bool { return x.Deleted != nil })
	}
	if worst >= 0 {
		return b.zeroOf(&t.Bands[worst])
	}
	for _, e := range b.r.story.Events() {
		if e.Kind == event.Action {
			return Zero{e.At, b.teller.Words(&e), -1}
		}
	}
	return Zero{0, "the run begins", -1}
}

// zeroOf is what people count from who look at one pod: its deletion. A pod that ends before it is deleted, or is not deleted at all, ends by
// what was done to its machine, or by itself.
func (b *builder) zeroOf(x *Band) Zero {
	called := b.called(api.PodID(x.Pod))
	if x.From == nil || late(x.Deleted) <= *x.From {
		return Zero{*x.Deleted, called + " deleted", x.Pod}
	}
	out := Zero{*x.From, called + " closed", x.Pod}
	if !slices.ContainsFunc(b.r.pods[x.Pod].marks, func(m Mark) bool { return m.Kind == podWithNode && m.At == *x.From }) {
		return out
	}
	for _, e := range b.r.story.Events() {
		if e.Kind == event.Action && e.At <= *x.From {
			out.At, out.What = e.At, b.teller.Words(&e)
		}
	}
	return out
}

// leftOut says what a Timeline does not show.
func (b *builder) leftOut(t *Timeline) []string {
	out := []string{}
	some := func(left, of int, format string) {
		if left > 0 {
			out = append(out, fmt.Sprintf(format, of-left, of))
		}
	}
	some(len(b.pods)-len(t.Pods), len(b.pods), "%d of %d pods have a lane: those that failed requests met, those that went and those that came")
	some(b.nodesLeft, len(b.r.nodes), "%d of %d nodes have a lane: those that lost most, and those whose rules changed last")
	some(int(b.r.failed)-len(t.Failures), int(b.r.failed), "%d of %d failed requests are marked, and all are counted")
	some(b.storiesLeft, len(t.Failures), "%d of %d marked requests have a story of their own, the others that of one that failed alike")
	some(b.eventsLeft, len(b.r.story.Events()), "%d of %d events are listed")
	if n := b.marksLeft + b.spansLeft; n > 0 {
		out = append(out, fmt.Sprintf("not shown for want of room: %d marks and changes of lanes", n))
	}
	for i := range t.Clients {
		if !t.Clients[i].Exact {
			out = append(out, "arrivals of requests that were simply answered are spread evenly between those that are known; failed, slow and rescued ones are exact")
			break
		}
	}
	return out
}
