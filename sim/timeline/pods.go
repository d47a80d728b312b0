package timeline

import (
	"cmp"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// pod is what was heard of one.
type pod struct {
	id      api.PodID
	node    int
	began   bool // a process has
	well    bool // it was ready
	object  *api.Pod
	deleted *engine.Time
	gone    *engine.Time
	phases  spans
	slices  map[int]*spans // by Service
	listens spans
	closed  *engine.Time // it accepts no connections any more, for the last time
	told    *engine.Time // an EndpointSlice says so
	marks   []Mark
	probes  map[string]bool
	more    int // marks that were left out
}

// pod finds what is known of one, nil where it has no lane.
func (r *Recorder) pod(id api.PodID) *pod {
	for int(id) >= len(r.pods) {
		r.pods = append(r.pods, nil)
	}
	if r.pods[id] == nil && r.lane(id) >= 0 {
		r.pods[id] = &pod{id: id, node: -1, slices: map[int]*spans{}, probes: map[string]bool{}}
	}
	return r.pods[id]
}

// hearPod hears of a version of a pod's object.
func (r *Recorder) hearPod(e *event.Event, o *api.Pod) {
	if _, known := r.named[o.Name]; !known {
		r.named[o.Name] = o.ID
	}
	p := r.pod(o.ID)
	if p == nil {
		return
	}
	p.object = o
	if o.Node >= 0 {
		p.node = o.Node
	}
	p.well = p.well || o.Ready
	p.began = p.began || e.Kind == event.Known
	p.phases.set(e.At, p.phase())
	if e.Kind != event.Known {
		return
	}
	if e.OK {
		p.listens.set(e.At, listening)
	}
	r.listed(e.At, p)
}

// listening is what Listens says.
const listening = "listening"

// listed has the slices say of a pod that is there at the beginning what its object says.
func (r *Recorder) listed(at engine.Time, p *pod) {
	is := NotReady
	switch {
	case p.object.Deleting():
		is = p.phase()
	case p.object.Ready:
		is = Ready
	}
	workload := r.sc.Workloads[p.object.Workload].Name()
	for i := range r.sc.Services {
		s := r.sc.Services[i].Service
		if r.sc.Serves(s.Namespace+"/"+s.Name, workload) {
			p.slice(i).set(at, is)
		}
	}
}

func (p *pod) slice(service int) *spans {
	if p.slices[service] == nil {
		p.slices[service] = &spans{}
	}
	return p.slices[service]
}

// phase is what a pod's object says now.
func (p *pod) phase() string {
	o := p.object
	switch {
	case o == nil || o.Gone:
		return ""
	case o.Deleting() && o.Ready:
		return TerminatingServing
	case o.Deleting():
		return TerminatingNotServing
	case o.Ready:
		return Ready
	case p.well:
		return NotReady
	case p.began:
		return Starting
	default:
		return Pending
	}
}

// hearOfPod hears of what happens to a pod.
func (r *Recorder) hearOfPod(e *event.Event, number int) {
	switch {
	case e.Pod < 0:
		return
	case e.Kind == event.Deleted:
		r.deleted = append(r.deleted, e.Pod)
	case e.Kind == event.Created:
		r.created = append(r.created, e.Pod)
	}
	p := r.pod(e.Pod)
	if p == nil {
		return
	}
	switch e.Kind {
	case event.Endpoint, event.EndpointGone:
		p.listedAs(e)
	case event.Started:
		p.began = p.began || e.Main
		p.phases.set(e.At, p.phase())
	case event.Deleted:
		p.deleted = new(e.At)
	case event.Gone:
		p.gone = new(e.At)
		p.listens.set(e.At, "")
	case event.Listening:
		p.listens.set(e.At, listening)
		p.closed = nil
	case event.Closed, event.Ended:
		p.close(e)
	default:
	}
	if e.Kind == event.Probed {
		p.probed(e)
	} else if words := markWords(e); words != "" {
		p.mark(Mark{At: e.At, Kind: words, OK: e.OK || e.Kind != event.Volume && e.Kind != event.Gate, Event: number})
	}
}

// close ends the time in which it accepts connections.
func (p *pod) close(e *event.Event) {
	if e.Kind == event.Ended && !e.Main {
		return
	}
	if p.listens.now() != "" {
		p.closed = new(e.At)
	}
	p.listens.set(e.At, "")
}

// listedAs hears what the slices of a Service say.
func (p *pod) listedAs(e *event.Event) {
	is := ""
	if e.Kind == event.Endpoint {
		is = sliceWords(e.Conditions)
	}
	if p.told == nil && is != Ready && p.slice(e.Service).now() == Ready {
		p.told = new(e.At)
	}
	p.slice(e.Service).set(e.At, is)
}

func sliceWords(c endpoints.Conditions) string {
	switch {
	case c.Ready():
		return Ready
	case c.Terminating() && c.Serving():
		return TerminatingServing
	case c.Terminating():
		return TerminatingNotServing
	default:
		return NotReady
	}
}

// markWords are the kinds of marks.
func markWords(e *event.Event) string {
	switch e.Kind {
	case event.Created:
		return "created"
	case event.Deleted:
		return "deleted"
	case event.PreStop:
		return "preStop"
	case event.PreStopFailed:
		return "preStop-failed"
	case event.Term:
		return "SIGTERM"
	case event.Kill:
		return "SIGKILL"
	case event.Listening:
		return "listens"
	case event.Closed:
		return "closed"
	case event.Ended:
		if !e.Main {
			return ""
		}
		return map[event.Ending]string{
			event.ByItself: "exit", event.Killed: "killed", event.Liveness: "restart", event.Crashed: "crash", event.WithNode: podWithNode,
		}[e.Ending]
	case event.EvictionRefused:
		return "eviction-refused"
	case event.Gate:
		return "readiness-gate"
	case event.Volume:
		return "volume"
	default:
		return ""
	}
}

// podWithNode is the mark of a pod that ended with its machine.
const podWithNode = "node-gone"

// probed marks an answer that is another one than the last.
func (p *pod) probed(e *event.Event) {
	kind := "readiness-probe"
	switch e.Probe {
	case e.Container.LivenessProbe:
		kind = "liveness-probe"
	case e.Container.StartupProbe:
		kind = "startup-probe"
	}
	key := e.Container.Name + " " + kind
	if was, known := p.probes[key]; !known || was != e.OK {
		p.probes[key] = e.OK
		p.mark(Mark{At: e.At, Kind: kind, OK: e.OK})
	}
}

func (p *pod) mark(m Mark) {
	if len(p.marks) == mostMarks {
		p.more++
		return
	}
	p.marks = append(p.marks, m)
}

// podLanes are the lanes of pods: those that went, in the order of going, then the others by age.
func (b *builder) podLanes() []PodLane {
	out := []PodLane{}
	for _, p := range b.r.pods {
		if p != nil && p.object != nil {
			out = append(out, b.podLane(p))
		}
	}
	sorted.StableBy(out, func(x, y PodLane) int {
		if x.Deleted != nil && y.Deleted != nil {
			return cmp.Compare(*x.Deleted, *y.Deleted)
		}
		return cmp.Compare(rank(x.Deleted), rank(y.Deleted))
	})
	return out
}

func rank(at *engine.Time) int {
	if at == nil {
		return 1
	}
	return 0
}

func (b *builder) podLane(p *pod) PodLane {
	out := PodLane{
		ID: int(p.id), Name: p.object.Name, Called: b.called(p.id), Workload: b.r.sc.Workloads[p.object.Workload].Name(),
		Deleted: p.deleted, Gone: p.gone, Phases: p.phases.until(b.end), Slices: []SliceLane{}, Listens: p.listens.until(b.end),
		Marks: append([]Mark{}, p.marks...),
	}
	if p.node >= 0 {
		out.Node = b.r.sc.Nodes[p.node].Name
	}
	for i := range b.r.sc.Services {
		if s := p.slices[i]; s != nil {
			svc := b.r.sc.Services[i].Service
			out.Slices = append(out.Slices, SliceLane{svc.Namespace + "/" + svc.Name, s.until(b.end)})
		}
	}
	b.marksLeft += p.more
	b.spansLeft += p.phases.more + p.listens.more
	return out
}
