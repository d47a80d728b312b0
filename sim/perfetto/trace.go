package perfetto

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// Trace is a file of the Trace Event Format.
type Trace struct {
	Events  []Event           `json:"traceEvents"`
	Unit    string            `json:"displayTimeUnit"`
	Details map[string]string `json:"otherData"`
}

// Event is one of its events; which fields it has follows from Phase.
type Event struct {
	Name      string  `json:"name"`
	Category  string  `json:"cat,omitempty"`
	Phase     string  `json:"ph"`
	Time      float64 `json:"ts"` // at, in microseconds
	at        engine.Time
	Duration  *float64       `json:"dur,omitempty"`
	Process   int            `json:"pid"`
	Thread    int            `json:"tid"`
	Scope     string         `json:"s,omitempty"`
	ID        string         `json:"id,omitempty"`
	Bind      string         `json:"bp,omitempty"`
	Arguments map[string]any `json:"args,omitempty"`
}

// The phases that are used.
const (
	complete = "X"
	instant  = "i"
	counter  = "C"
	metadata = "M"
	arrow    = "s" // begins
	arrowEnd = "f"
)

// The processes of a run, from its first one on.
const (
	happened = iota
	pods
	nodes
	targets
	clients
	lost
	processes // how many there are
)

// Run is a timeline with what it is called.
type Run struct {
	Title    string
	Timeline *timeline.Timeline
}

// New makes a trace of runs, one below the other.
func New(version string, runs []Run) *Trace {
	t := &Trace{Events: []Event{}, Unit: "ms", Details: map[string]string{"made by": "lameduck " + version}}
	for i := range runs {
		w := &writer{trace: t, tl: runs[i].Timeline, first: i*processes + 1, title: runs[i].Title}
		w.write()
	}
	sorted.StableBy(t.Events, func(a, b Event) int { return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.at, b.at)) })
	return t
}

// rank has the names of lanes before what is on them.
func (e *Event) rank() int {
	if e.Phase == metadata {
		return 0
	}
	return 1
}

// writer writes one run.
type writer struct {
	trace   *Trace
	tl      *timeline.Timeline
	first   int // its first process
	title   string
	threads [processes]int
	blamed  map[int]engine.Time // events that losses come from, by number: when their slices begin
	origin  track               // where these are
}

// track is a lane.
type track struct{ process, thread int }

func (w *writer) write() {
	for i, name := range [processes]string{"what happened", "pods", "nodes", "load balancer targets", "clients", "lost requests"} {
		w.add(Event{Name: "process_name", Phase: metadata, Process: w.first + i, Arguments: map[string]any{"name": w.title + ": " + name}})
		w.add(Event{Name: "process_sort_index", Phase: metadata, Process: w.first + i, Arguments: map[string]any{"sort_index": w.first + i}})
	}
	w.events()
	w.origins()
	for i := range w.tl.Pods {
		w.pod(&w.tl.Pods[i])
	}
	for i := range w.tl.Nodes {
		w.node(&w.tl.Nodes[i])
	}
	for i := range w.tl.Targets {
		w.target(&w.tl.Targets[i])
	}
	for i := range w.tl.Clients {
		w.client(&w.tl.Clients[i])
	}
	w.failures()
}

func (w *writer) add(e Event) {
	e.Time = micro(e.at)
	w.trace.Events = append(w.trace.Events, e)
}

// lane begins a thread of a process.
func (w *writer) lane(process int, name string) track {
	w.threads[process]++
	t := track{w.first + process, w.threads[process]}
	w.add(Event{Name: "thread_name", Phase: metadata, Process: t.process, Thread: t.thread, Arguments: map[string]any{"name": name}})
	w.add(Event{Name: "thread_sort_index", Phase: metadata, Process: t.process, Thread: t.thread, Arguments: map[string]any{"sort_index": t.thread}})
	return t
}

// micro is a time in microseconds.
func micro(t engine.Time) float64 { return float64(t) / float64(engine.Microsecond) }

// slice is a time in which something was so.
func (w *writer) slice(t track, name, category string, from, to engine.Time, arguments map[string]any) {
	length := micro(max(to-from, 0))
	w.add(Event{Name: name, Category: category, Phase: complete, at: from, Duration: &length, Process: t.process, Thread: t.thread, Arguments: arguments})
}

// mark is a moment.
func (w *writer) mark(t track, name, category string, at engine.Time, arguments map[string]any) {
	w.add(Event{Name: name, Category: category, Phase: instant, Scope: "t", at: at, Process: t.process, Thread: t.thread, Arguments: arguments})
}

// spans is a lane of times, left out where there are none.
func (w *writer) spans(process int, name, category string, spans []timeline.Span) {
	if len(spans) == 0 {
		return
	}
	t := w.lane(process, name)
	for _, s := range spans {
		w.slice(t, s.Is, category, s.From, s.To, nil)
	}
}

// events are all that happened, with the moment that people count from, and lines of manifests.
func (w *writer) events() {
	t := w.lane(happened, "events")
	w.mark(t, "0: "+w.tl.Zero.What, "zero", w.tl.Zero.At, nil)
	for i := range w.tl.Events {
		e := &w.tl.Events[i]
		args := map[string]any{"number": e.Number, "object": e.Object, "since zero (s)": sinceZero(w.tl, e.At)}
		if e.Source != nil {
			args["manifest"] = fmt.Sprintf("%s:%d", e.Source.File, e.Source.Line)
		}
		w.mark(t, e.What, e.Kind, e.At, args)
	}
}

// origins are the events that losses come from, on a lane of their own: as slices, since an arrow begins at one.
func (w *writer) origins() {
	const long = engine.Millisecond
	wanted := map[int]bool{}
	for i := range w.tl.Failures {
		for _, number := range w.tl.Failures[i].Blamed {
			wanted[number] = true
		}
	}
	w.blamed = map[int]engine.Time{}
	if len(wanted) == 0 {
		return
	}
	w.origin = w.lane(happened, "what losses come from")
	free := engine.Time(0)
	for i := range w.tl.Events {
		e := &w.tl.Events[i]
		if !wanted[e.Number] {
			continue
		}
		begin := max(e.At, free) // of several at one moment one is behind the other
		free = begin + long
		for k := i + 1; k < len(w.tl.Events) && w.tl.Events[k].At < free; k++ {
			if at := w.tl.Events[k].At; wanted[w.tl.Events[k].Number] && at > begin {
				free = at
			}
		}
		w.blamed[e.Number] = begin
		w.slice(w.origin, e.What, "origin", begin, free, map[string]any{"at (s)": float64(e.At) / float64(engine.Second), "number": e.Number})
	}
}

// sinceZero is a time in seconds from the moment that people count from.
func sinceZero(tl *timeline.Timeline, at engine.Time) float64 {
	return float64(at-tl.Zero.At) / float64(engine.Second)
}

func (w *writer) pod(p *timeline.PodLane) {
	name := p.Called
	if name == "" {
		name = p.Name
	}
	object := w.lane(pods, name+" on "+p.Node+": the API's object")
	for _, s := range p.Phases {
		w.slice(object, s.Is, "pod", s.From, s.To, map[string]any{"pod": p.Name, "node": p.Node})
	}
	for _, m := range p.Marks {
		word := m.Kind
		if !m.OK {
			word += " failed"
		}
		w.mark(object, word, "pod", m.At, map[string]any{"event": m.Event})
	}
	for _, s := range p.Slices {
		w.spans(pods, name+": EndpointSlices of "+s.Service, "slice", s.Spans)
	}
	w.spans(pods, name+": accepts connections", "process", p.Listens)
}

func (w *writer) node(n *timeline.NodeLane) {
	name := n.Name
	if n.Alike > 0 {
		name = fmt.Sprintf("%s and %d alike", n.Name, n.Alike)
	}
	for _, way := range n.Ways {
		t := w.lane(nodes, name+": rules for "+w.clientNames(way.Clients))
		for _, u := range way.Uses {
			var to []string
			for _, id := range u.Pods {
				to = append(to, w.podName(id))
			}
			w.slice(t, u.Is, "rules", u.From, u.To, map[string]any{"pods": to, "more": u.More, "event": u.Event})
		}
	}
	w.spans(nodes, name+": health check port", "health", n.Health)
	w.spans(nodes, name+": kube-proxy writes rules", "sync", n.Syncs)
	w.spans(nodes, name+": kube-proxy waits", "wait", n.Waits)
	if len(n.Marks) > 0 {
		t := w.lane(nodes, name)
		for _, m := range n.Marks {
			w.mark(t, m.Kind, "node", m.At, map[string]any{"event": m.Event})
		}
	}
}

// clientNames are the clients of a way.
func (w *writer) clientNames(list []int) string {
	out := ""
	for i, c := range list {
		if i > 0 {
			out += ", "
		}
		out += w.tl.Clients[c].Name
	}
	return out
}

// podName is what a pod is called.
func (w *writer) podName(id int) string {
	i := slices.IndexFunc(w.tl.Pods, func(p timeline.PodLane) bool { return p.ID == id })
	if i < 0 {
		return fmt.Sprintf("pod %d", id)
	}
	return w.tl.Pods[i].Name
}

func (w *writer) target(x *timeline.TargetLane) {
	w.spans(targets, x.Balancer+": "+x.Name, "target", x.States)
	w.spans(targets, x.Balancer+": "+x.Name+" gets new connections", "target", x.Gets)
}

// client is a counter of requests a second, by what became of them.
func (w *writer) client(c *timeline.ClientLane) {
	if c.Bucket <= 0 {
		return
	}
	perSecond := float64(engine.Second) / float64(c.Bucket)
	for i, total := range c.Total {
		slow, rescued, failed := at(c.Slow, i), at(c.Rescued, i), at(c.Failed, i)
		ok := total - min(total, slow+rescued+failed)
		w.add(Event{
			Name: c.Name + " (requests/s)", Phase: counter, at: engine.Time(i) * c.Bucket, Process: w.first + clients,
			Arguments: map[string]any{
				"ok": perSecond * float64(ok), "slow": perSecond * float64(slow), "rescued": perSecond * float64(rescued), "failed": perSecond * float64(failed),
			},
		})
	}
}

// at is a bucket, 0 where there is none.
func at(list []uint32, i int) uint32 {
	if i >= len(list) {
		return 0
	}
	return list[i]
}

// failures are lost requests, on as many lanes as were under way at one moment, with arrows from what they come from.
func (w *writer) failures() {
	var ends []engine.Time // by lane
	var lanes []track
	for i := range w.tl.Failures {
		f := &w.tl.Failures[i]
		k := slices.IndexFunc(ends, func(end engine.Time) bool { return end <= f.At })
		if k < 0 {
			k = len(lanes)
			lanes, ends = append(lanes, w.lane(lost, fmt.Sprintf("lost requests %d", k+1))), append(ends, 0)
		}
		ends[k] = max(f.End, f.At+1)
		w.slice(lanes[k], f.Outcome+": "+f.Cause, "lost", f.At, ends[k], map[string]any{
			"client": w.tl.Clients[f.Client].Name, "request": f.Number, "cause": f.Cause, "who is late": f.Actor, "what": f.What,
			"another pod could have answered": f.Elsewhere, "attempts": f.Attempts, "since zero (s)": sinceZero(w.tl, f.At),
		})
		for _, number := range f.Blamed {
			w.arrow(number, f, lanes[k], i)
		}
	}
	for _, words := range w.tl.LeftOut {
		w.mark(w.lane(lost, "left out"), words, "left out", w.tl.Zero.At, nil)
	}
}

// arrow leads from an event to a request that was lost.
func (w *writer) arrow(number int, f *timeline.Failure, to track, index int) {
	from, ok := w.blamed[number]
	if !ok || from > f.At {
		return
	}
	id := fmt.Sprintf("%d.%d.%d", w.first, index, number)
	w.add(Event{Name: "comes from", Category: "why", Phase: arrow, ID: id, at: from, Process: w.origin.process, Thread: w.origin.thread})
	w.add(Event{Name: "comes from", Category: "why", Phase: arrowEnd, Bind: "e", ID: id, at: f.At, Process: to.process, Thread: to.thread})
}
