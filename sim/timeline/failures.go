package timeline

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// telling is about how many looks at an event the stories of one run may take in all.
const telling = 40_000_000

// likeness is what failures have in common whose stories differ in their own line alone, or nearly.
type likeness struct {
	blame   ledger.Blame
	outcome ledger.Outcome
	stream  int
	node    int
	pod     string
	ingress string
}

func likenessOf(q *ledger.Request) likeness {
	return likeness{q.Blame, q.Outcome, q.Stream, q.Node, q.Pod, q.Ingress}
}

// failureMarks are the failed requests, by arrival. Each has its own story, unless telling them all takes too long: then the first of
// those that are alike has, and as many others as there is time for.
func (b *builder) failureMarks() []Failure {
	list := b.r.marked()
	sorted.StableBy(list, func(x, y ledger.Request) int {
		return cmp.Or(cmp.Compare(x.Arrival, y.Arrival), cmp.Compare(x.Stream, y.Stream), cmp.Compare(x.Number, y.Number))
	})
	room := max(100, telling/max(1, 3*len(b.r.story.Events())))
	first := map[likeness]int{}
	for i := range list {
		if k := likenessOf(&list[i]); b.followed(&list[i]) {
			if _, known := first[k]; !known {
				first[k] = i
				room--
			}
		}
	}
	out := make([]Failure, len(list))
	for i := range list {
		q := &list[i]
		out[i] = b.failure(q)
		at, alike := first[likenessOf(q)]
		switch {
		case alike && at != i && room > 0:
			room--
			fallthrough
		case alike && at == i:
			b.tell(&out[i], q)
		case alike:
			out[i].Like, out[i].Zero, out[i].Told = at, out[at].Zero, q.Arrival
			b.storiesLeft++
		}
	}
	return out
}

// followed says whether the events are at hand that a request's story is made of.
func (b *builder) followed(q *ledger.Request) bool {
	return b.r.focus == nil || q.Node < 0 || slices.Contains(b.r.focus.Nodes, q.Node)
}

// failure is a request without its story.
func (b *builder) failure(q *ledger.Request) Failure {
	out := Failure{
		Client: q.Stream, Number: q.Number, At: q.Arrival, End: q.End, Outcome: q.Outcome.String(), Cause: q.Blame.Cause.String(),
		Actor: q.Blame.Actor.String(), Elsewhere: q.Blame.Elsewhere, Node: -1, Pod: -1, Proxy: -1, Attempts: q.Attempts,
		Told: q.End, Zero: q.Arrival, Story: []int{}, Blamed: []int{}, Like: -1, Without: b.r.without[requestKey{q.Stream, q.Number}],
	}
	if q.Node >= 0 && q.Node < len(b.r.sc.Nodes) {
		out.Node = q.Node
	}
	if id, ok := b.r.named[q.Pod]; ok {
		out.Pod = int(id)
	}
	if id, ok := b.r.named[q.Ingress]; ok && q.Ingress != "" {
		out.Proxy = int(id)
	}
	return out
}

// tell adds the story. It counts from the deletion that it is about, or else from its first line.
func (b *builder) tell(f *Failure, q *ledger.Request) {
	for i, l := range b.teller.Tell(*q) {
		if i == 0 || l.Origin {
			f.Zero = l.At
		}
		if l.Lost != nil {
			f.Own, f.Told, f.What = len(f.Story), l.At, l.Words()
			continue
		}
		f.Story = append(f.Story, l.Event.Number)
		if l.Blamed {
			f.Blamed = append(f.Blamed, l.Event.Number)
		}
	}
}

// eventList are the events, all or those that matter: those of stories, what was done, and what marks and rules refer to.
func (b *builder) eventList(t *Timeline) []Event {
	all := b.teller.All()
	if len(all) > mostEvents {
		b.events = b.wanted(t)
		b.eventsLeft = len(all) - len(b.events)
	}
	out := []Event{}
	for i := range all {
		l := &all[i]
		if b.events != nil && !b.events[l.Event.Number] {
			continue
		}
		e := Event{
			Number: l.Event.Number, At: l.At, Kind: kindWords[l.Event.Kind], What: l.Words(), Object: l.Object,
			Pod: int(l.Event.Pod), Node: l.Event.Node, Client: -1,
		}
		switch l.Event.Kind {
		case event.Rules, event.Balancer, event.Ingress:
			e.Client = l.Event.Stream
		case event.Action, event.Deadline, event.NoHistory, event.Resumed:
			e.Pod, e.Node = -1, -1
		default:
		}
		if l.File != "" {
			e.Source = &Place{l.File, l.Line}
		}
		out = append(out, e)
	}
	return out
}

// wanted are the numbers of the events that matter most.
func (b *builder) wanted(t *Timeline) map[int]bool {
	want := map[int]bool{}
	add := func(numbers ...int) {
		for _, n := range numbers {
			if n > 0 && len(want) < mostEvents {
				want[n] = true
			}
		}
	}
	for _, e := range b.r.story.Events() {
		if e.Kind == event.Action || e.Kind == event.Resumed {
			add(e.Number)
		}
	}
	for i := range t.Failures {
		add(t.Failures[i].Story...)
	}
	for i := range t.Bands {
		for k := range t.Bands[i].Nodes {
			add(t.Bands[i].Nodes[k].Event)
		}
	}
	for i := range t.Pods {
		for _, m := range t.Pods[i].Marks {
			add(m.Event)
		}
	}
	for _, e := range b.r.story.Events() {
		if e.Kind != event.Rules && e.Kind != event.Wait {
			add(e.Number)
		}
	}
	for _, e := range b.r.story.Events() {
		add(e.Number)
	}
	return want
}

// unlist takes back the numbers of events that are not listed.
func (b *builder) unlist(t *Timeline) {
	if b.events == nil {
		return
	}
	drop := func(n *int) {
		if !b.events[*n] {
			*n = 0
		}
	}
	for i := range t.Pods {
		for k := range t.Pods[i].Marks {
			drop(&t.Pods[i].Marks[k].Event)
		}
	}
	for i := range t.Nodes {
		for k := range t.Nodes[i].Marks {
			drop(&t.Nodes[i].Marks[k].Event)
		}
		for _, w := range t.Nodes[i].Ways {
			for k := range w.Uses {
				drop(&w.Uses[k].Event)
			}
		}
	}
	for i := range t.Bands {
		for k := range t.Bands[i].Nodes {
			drop(&t.Bands[i].Nodes[k].Event)
		}
	}
	for i := range t.Failures {
		f := &t.Failures[i]
		gone := func(n int) bool { return !b.events[n] }
		f.Own = len(slices.DeleteFunc(slices.Clone(f.Story[:f.Own]), gone))
		f.Story, f.Blamed = slices.DeleteFunc(f.Story, gone), slices.DeleteFunc(f.Blamed, gone)
	}
}

// kindWords are the names of the kinds of events that stories tell of.
var kindWords = [...]string{
	event.Action: "action", event.Created: "created", event.Deleted: "deleted", event.Ready: "ready", event.NotReady: "not-ready",
	event.Gone: "gone", event.Endpoint: "slice", event.EndpointGone: "slice-removed", event.PreStop: "preStop",
	event.PreStopFailed: "preStop-failed", event.Term: "SIGTERM", event.Kill: "SIGKILL", event.Listening: "listens",
	event.Closed: "closed", event.Ended: "ended", event.Wait: "wait", event.Rules: "rules", event.HealthPort: "health-port",
	event.Ingress: "ingress", event.Balancer: "load-balancer", event.Gate: "readiness-gate", event.Deadline: "deadline",
	event.Tainted: "tainted", event.NodeGone: "node-gone", event.NodeBack: "node-back", event.NodeReady: "node-ready",
	event.Resumed: "resumed", event.Cordoned: "cordoned", event.EvictionRefused: "eviction-refused", event.Drained: "drained",
	event.Untainted: "untainted", event.Joined: "joined", event.NoHistory: "no-history", event.Volume: "volume",
}
