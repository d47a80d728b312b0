package story

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Recorder keeps the events of one run. Log has it hear of them.
type Recorder struct {
	events []event.Event
	about  *rulesAbout // nil: all rules are kept
}

// rulesAbout tells rules in which something is news about a pod from all others: in a large cluster each sync of each node
// has new rules, which name every pod, and each proxy waits with each change.
type rulesAbout struct {
	pod  api.PodID
	last map[[2]int]ruled // by node and entry
}

// ruled is what rules say of the pod.
type ruled struct {
	leads, fallback bool
	verdict         packet.Verdict
}

// RecorderAbout returns a Recorder that keeps, of the rules of nodes, those with which a node begins or ends to lead to a pod, or to fall
// back to pods that terminate, and all that fall back; of their waits it keeps none. Kept and Fallback need no others.
func RecorderAbout(pod api.PodID) *Recorder {
	return &Recorder{about: &rulesAbout{pod: pod, last: map[[2]int]ruled{}}}
}

// Log returns a log whose events the Recorder keeps, of those that a story may tell: of the waits, rules and health ports
// of nodes those of some nodes, nil for all.
func (r *Recorder) Log(nodes []int) *event.Log {
	log := &event.Log{}
	log.Subscribe(r.Record, event.Stories()...)
	log.Follow(nodes)
	return log
}

// Record keeps an event. The end of another container than the one that traffic goes to is none of a story.
func (r *Recorder) Record(e event.Event) {
	if e.Kind == event.Ended && !e.Main {
		return
	}
	if r.about == nil || r.about.wants(&e) {
		e.Number = len(r.events) + 1
		r.events = append(r.events, e)
	}
}

func (a *rulesAbout) wants(e *event.Event) bool {
	switch e.Kind {
	case event.Rules:
		return a.news(e)
	case event.Wait:
		return false
	default:
		return true
	}
}

// news says whether rules say something else of the pod than those before them did, or fall back.
func (a *rulesAbout) news(e *event.Event) bool {
	k, now := [2]int{e.Node, e.Stream}, ruled{slices.Contains(e.Targets, a.pod), e.Fallback, e.Verdict}
	was, known := a.last[k]
	a.last[k] = now
	return !known || was != now || e.Fallback
}

// Events are those that were recorded, in order.
func (r *Recorder) Events() []event.Event { return r.events }

// Teller tells the stories of one run.
type Teller struct {
	*names
	events []event.Event
}

// NewTeller tells from the events of a run of a scenario; pods names them.
func NewTeller(sc *world.Scenario, r *Recorder, pods []cluster.PodRef) *Teller {
	return &Teller{newNames(sc, pods), r.events}
}

// All is the whole run, every event a line.
func (t *Teller) All() []Line {
	var out []Line
	for i := range t.events {
		out = append(out, t.line(&t.events[i]))
	}
	return out
}

// Pod is what stories call a pod: "old pod 0".
func (t *Teller) Pod(id api.PodID) string { return t.pod(id) }

// Words say what an event is.
func (t *Teller) Words(e *event.Event) string { return t.words(e) }

// mostLines is how long the story of one request may be.
const mostLines = 12

// Tell tells how a failed request came about. Its own line says what became of it; lines after
// it say what ended the trouble.
func (t *Teller) Tell(r ledger.Request) []Line {
	hero := t.hero(&r)
	told := t.told(&r, hero)
	var before, after []*event.Event
	for i := range t.events {
		e := &t.events[i]
		switch {
		case e.At > told:
			after = append(after, e)
		case t.matters(e, &r, hero):
			before = append(before, e)
		}
	}
	before = t.shorten(before, &r, hero)
	out := t.about(before, hero)
	for i, e := range before {
		out[i].Blamed, out[i].Decides = t.blamed(e, &r), t.decides(e, &r)
	}
	own := t.lost(&r, hero, told)
	own.Lost.Elsewhere = slices.ContainsFunc(before, func(e *event.Event) bool { return t.gaveUp(e, &r, hero) })
	out = append(out, own)
	toldOfWait := slices.ContainsFunc(before, func(e *event.Event) bool { return e.Kind == event.Wait })
	for _, e := range t.ending(after, &r, hero, t.waited(&r) && !toldOfWait) {
		l := t.line(e)
		l.Blamed = t.blamed(e, &r)
		out = append(out, l)
	}
	return out
}

// blamed says that an event is what the loss of a request comes from, as the ledger blames it: the proxy's wait, the end of the
// listener, the SIGKILL. A story without it would name nobody.
func (t *Teller) blamed(e *event.Event, r *ledger.Request) bool {
	switch e.Kind {
	case event.Wait:
		return t.waited(r)
	case event.Closed:
		return r.Blame.Cause == ledger.ListenerClosed
	case event.Kill:
		return r.Blame.Cause == ledger.KilledInFlight
	case event.Ended:
		return r.Blame.Cause == ledger.ExitInFlight || r.Blame.Cause == ledger.LivenessRestart || r.Blame.Cause == ledger.Crashed
	case event.Balancer, event.Ingress:
		return r.Blame.Cause == ledger.StaleLB || r.Blame.Cause == ledger.NoHealthyTarget
	case event.NodeGone:
		return r.Blame.Cause == ledger.NodeGone
	case event.Rules:
		return len(e.Targets) == 0 && (r.Blame.Cause == ledger.NoEndpoint || r.Blame.Cause == ledger.NoLocalEndpoint)
	default:
		return false
	}
}

// decides says that an event is what becomes of the pod that a request met: it is told to end, closes its port or exits.
func (t *Teller) decides(e *event.Event, r *ledger.Request) bool {
	switch e.Kind {
	case event.Term, event.Closed, event.Kill, event.Ended:
		return e.Pod >= 0 && e.Pod == t.named(r.Pod)
	default:
		return false
	}
}

// told is when a story tells of its request: when it failed; one that waits for an answer from a pod that was deleted before
// when it was sent, for nothing that happens while it waits has to do with it.
func (t *Teller) told(r *ledger.Request, hero api.PodID) engine.Time {
	if r.Outcome != ledger.Timeout || r.Attempts > 1 {
		return r.End
	}
	gone := false
	for i := range t.events {
		switch e := &t.events[i]; {
		case e.Kind == event.Deleted && e.Pod == hero && e.At <= r.Arrival:
			gone = true
		case e.Kind == event.Balancer && e.Fallback && e.Pod == hero && e.Stream == r.Stream && e.At > r.Arrival && e.At <= r.End:
			return r.End // what it was sent to before was another one
		}
	}
	if gone {
		return r.Arrival
	}
	return r.End
}

// about makes lines of events. They count from the deletion of the pod that the story is about.
func (t *Teller) about(events []*event.Event, hero api.PodID) []Line {
	var out []Line
	for _, e := range events {
		l := t.line(e)
		l.Origin = e.Kind == event.Deleted && e.Pod == hero
		if !l.again(out) {
			out = append(out, l)
		}
	}
	return out
}

// hero is the pod the story is about: the one the request met, else the one that its node's
// rules lost last, else the last one that was deleted; -1 for none.
func (t *Teller) hero(r *ledger.Request) api.PodID {
	if pod := t.named(r.Pod); pod >= 0 {
		return pod
	}
	hero, deleted := api.PodID(-1), api.PodID(-1)
	var had []api.PodID
	for i := range t.events {
		e := &t.events[i]
		if e.Kind == event.Deleted && e.At <= r.End && t.serves(e.Pod, r) {
			deleted = e.Pod
		}
		if e.At > r.End || e.Kind != event.Rules || e.Node != r.Node || e.Stream != r.Stream {
			continue
		}
		for _, p := range had {
			if !slices.Contains(e.Targets, p) {
				hero = p
			}
		}
		had = e.Targets
	}
	if hero < 0 {
		return deleted
	}
	return hero
}

// serves says whether a pod is of a workload that a request may have met.
func (t *Teller) serves(pod api.PodID, r *ledger.Request) bool {
	return t.sc.Meets(r.Stream, r.Ingress != "", &t.sc.Workloads[t.pods[pod].Workload])
}

// Met is the workload of the pod that the story of a request is about; where it is about none, the first that the request may have met,
// nil for none.
func (t *Teller) Met(r ledger.Request) *world.Workload {
	if pod := t.hero(&r); pod >= 0 {
		return &t.sc.Workloads[t.pods[pod].Workload]
	}
	return t.sc.Met(r.Stream, r.Ingress != "")
}

// matters says whether an event before the request's end belongs to its story.
func (t *Teller) matters(e *event.Event, r *ledger.Request, hero api.PodID) bool {
	switch e.Kind {
	case event.Action, event.Resumed, event.Deadline, event.NoHistory, event.Cordoned:
		return true
	case event.Joined, event.NodeGone, event.NodeBack, event.NodeReady:
		return true
	case event.Wait, event.Tainted, event.Untainted:
		return e.Node == r.Node
	case event.Rules, event.HealthPort:
		return e.Node == r.Node && e.Stream == r.Stream && e.At > 0
	case event.Ready, event.Volume:
		return true
	case event.Ingress, event.Balancer:
		return e.At > 0 && e.Stream == r.Stream && t.sent(e, r, hero)
	case event.Endpoint, event.EndpointGone:
		s, outer := t.sc.Services[e.Service].Service, t.sc.Traffic[r.Stream].ClientSide()
		service := s.Namespace + "/" + s.Name
		return e.Pod == hero && (service == t.sc.Traffic[r.Stream].Service || service == outer.Service)
	default:
		return e.Pod >= 0 && e.Pod == hero
	}
}

// sent says whether an event is about who sent a request on to the hero.
func (t *Teller) sent(e *event.Event, r *ledger.Request, hero api.PodID) bool {
	if e.Kind == event.Ingress || r.Ingress != "" {
		return e.Kind == event.Ingress && t.pods[e.Pod].Name == r.Ingress
	}
	if r.Blame.Cause == ledger.NoHealthyTarget && r.Node < 0 && r.Pod == "" { // it was sent to no target: those that were left before matter
		return true
	}
	return e.Node >= 0 && e.Node == r.Node || e.Pod >= 0 && e.Pod == hero || t.gaveUp(e, r, hero)
}

// gaveUp says that a load balancer gave up another target while a request waited, which met a pod in the end that took connections when
// it was sent: before that its SYNs went elsewhere, where nothing answered, and the load balancer sent the last one to that pod.
func (t *Teller) gaveUp(e *event.Event, r *ledger.Request, hero api.PodID) bool {
	if e.Kind != event.Balancer || e.OK || e.Fallback || e.Stream != r.Stream || e.At <= r.Arrival || e.At > r.End || r.Ingress != "" || r.Attempts > 1 {
		return false
	}
	if other := e.Node >= 0 && e.Node != r.Node || e.Pod >= 0 && e.Pod != hero; !other || r.Pod == "" {
		return false
	}
	return !slices.ContainsFunc(t.events, func(x event.Event) bool { return x.Kind == event.Closed && x.Pod == hero && x.At <= r.Arrival })
}

// shorten keeps what a reader needs: the last action, what happened to the hero since, the
// last pod to become ready before that, and on the node the last wait and what the rules
// changed about the hero.
func (t *Teller) shorten(events []*event.Event, r *ledger.Request, hero api.PodID) []*event.Event {
	lastOf := func(kind event.Kind) int {
		for i := len(events) - 1; i >= 0; i-- {
			if events[i].Kind == kind && (kind != event.Ready || events[i].Pod != hero) {
				return i
			}
		}
		return -1
	}
	deleted := lastOf(event.Deleted)
	keep := map[int]bool{lastOf(event.Action): true, lastOf(event.Ready): true}
	if wait := lastOf(event.Wait); wait > deleted {
		keep[wait] = t.waited(r)
	}
	var led *bool
	for i, e := range events {
		switch e.Kind {
		case event.Action: // a component that is paused has to do with all that follows
			_, component := e.Action.Operation.(world.Component)
			keep[i] = keep[i] || component
		case event.Wait:
		case event.Rules, event.Ingress:
			leads := slices.Contains(e.Targets, hero)
			if led == nil || *led != leads || len(e.Targets) == 0 {
				keep[i] = hero >= 0
			}
			led = &leads
		case event.Ready, event.Created:
			keep[i] = keep[i] || e.Pod == hero && r.Blame.Cause == ledger.NotListeningYet
		default:
			keep[i] = true
		}
	}
	var out []*event.Event
	for i, e := range events {
		if keep[i] {
			out = append(out, e)
		}
	}
	return t.fewer(out, r)
}

// fewer leaves out events behind the first until there are few enough, but for the deletions that the story counts from, what the
// loss comes from and how the pod ended. That a health port is well again goes before all else: who sends again says the same.
func (t *Teller) fewer(events []*event.Event, r *ledger.Request) []*event.Event {
	for i := len(events) - 1; len(events) > mostLines && i > 0; i-- {
		if events[i].Kind == event.HealthPort && events[i].OK {
			events = append(events[:i:i], events[i+1:]...)
		}
	}
	for i := 1; len(events) > mostLines && i < len(events); {
		if events[i].Kind == event.Deleted || t.blamed(events[i], r) || t.decides(events[i], r) {
			i++
			continue
		}
		events = append(events[:i:i], events[i+1:]...)
	}
	return events
}

// waited says whether the proxy's waiting is part of the story.
func (t *Teller) waited(r *ledger.Request) bool {
	return r.Blame.Cause == ledger.StaleRules && r.Blame.Actor == ledger.ProxyWait
}

// ending picks what ended the trouble: for a pod that was met in vain the next rules of the
// node without it, else the next pod that is ready and the rules that lead to it; before that
// the proxy's wait, where it is wanted: a proxy that is syncing begins to wait afterwards.
func (t *Teller) ending(after []*event.Event, r *ledger.Request, hero api.PodID, wait bool) []*event.Event {
	var out []*event.Event
	ready := false
	for _, e := range after {
		switch {
		case e.Kind == event.Wait && e.Node == r.Node && wait:
			wait = false
			out = append(out, e)
		case e.Kind == event.Ready && e.Pod != hero && !ready && !r.Blame.Elsewhere:
			ready = true
			out = append(out, e)
		case t.rebalanced(e, r, hero):
			return append(out, e)
		case e.Kind == event.Rules && t.moved(e, r, hero):
			return append(out, e)
		}
	}
	return out
}

// rebalanced says whether a load balancer's change ends the trouble that it made: it leaves the
// member that was met in vain, or finds another one where there was none.
func (t *Teller) rebalanced(e *event.Event, r *ledger.Request, hero api.PodID) bool {
	if e.Kind == event.Ingress && e.Stream == r.Stream && t.pods[e.Pod].Name == r.Ingress {
		return len(e.Targets) > 0 && !slices.Contains(e.Targets, hero)
	}
	if e.Kind != event.Balancer || r.Ingress != "" || e.Stream != r.Stream || r.Blame.Cause != ledger.StaleLB && r.Blame.Cause != ledger.NoHealthyTarget {
		return false
	}
	met := e.Node >= 0 && e.Node == r.Node || e.Pod >= 0 && e.Pod == hero
	return e.OK == (r.Blame.Cause == ledger.NoHealthyTarget) && (e.OK || met)
}

// moved says whether new rules of the request's node lead elsewhere than to the pod met in vain.
func (t *Teller) moved(e *event.Event, r *ledger.Request, hero api.PodID) bool {
	return e.Node == r.Node && e.Stream == r.Stream && len(e.Targets) > 0 && !slices.Contains(e.Targets, hero)
}
