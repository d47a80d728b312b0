package story

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const sec = engine.Second

// A request that waits in vain for an answer of a pod that had been deleted is told of when it was sent; any other one when it failed.
func TestWhenAStoryTellsOfItsRequest(t *testing.T) {
	t.Parallel()
	tell := &Teller{events: []event.Event{{At: 10 * sec, Kind: event.Deleted, Pod: 1}}}
	sent := ledger.Request{Arrival: 12 * sec, End: 22 * sec, Outcome: ledger.Timeout, Attempts: 1}
	with := func(edit func(*ledger.Request)) ledger.Request {
		r := sent
		edit(&r)
		return r
	}
	opened := func(at engine.Time, edit func(*event.Event)) *Teller { // its load balancer failed open as it waited, for the same pod
		e := event.Event{At: at, Kind: event.Balancer, Pod: 1, Node: -1, OK: true, Fallback: true}
		edit(&e)
		return &Teller{events: append(slices.Clone(tell.events), e)}
	}
	for name, c := range map[string]struct {
		told *Teller
		want engine.Time
	}{
		"while it waits":         {opened(15*sec, func(*event.Event) {}), 22 * sec},
		"before":                 {opened(12*sec, func(*event.Event) {}), 12 * sec},
		"after":                  {opened(23*sec, func(*event.Event) {}), 12 * sec},
		"for another pod":        {opened(15*sec, func(e *event.Event) { e.Pod = 2 }), 12 * sec},
		"for another client":     {opened(15*sec, func(e *event.Event) { e.Stream = 1 }), 12 * sec},
		"the pod became healthy": {opened(15*sec, func(e *event.Event) { e.Fallback = false }), 12 * sec},
	} {
		if got := c.told.told(&sent, 1); got != c.want {
			t.Errorf("its load balancer fails open %s: told at %s s, want %s s", name, got.Seconds(), c.want.Seconds())
		}
	}
	for name, c := range map[string]struct {
		request ledger.Request
		hero    api.PodID
		want    engine.Time
	}{
		"it waits":                         {sent, 1, 12 * sec},
		"it is sent as the pod is deleted": {with(func(r *ledger.Request) { r.Arrival = 10 * sec }), 1, 10 * sec},
		"it was sent before":               {with(func(r *ledger.Request) { r.Arrival = 10*sec - 1 }), 1, 22 * sec},
		"another pod was deleted":          {sent, 2, 22 * sec},
		"no pod":                           {sent, -1, 22 * sec},
		"it was refused":                   {with(func(r *ledger.Request) { r.Outcome = ledger.Refused }), 1, 22 * sec},
		"the second try waited":            {with(func(r *ledger.Request) { r.Attempts = 2 }), 1, 22 * sec},
	} {
		if got := tell.told(&c.request, c.hero); got != c.want {
			t.Errorf("%s: told at %s s, want %s s", name, got.Seconds(), c.want.Seconds())
		}
	}
}

// A story is about the pod that the request met, be it the first of all; else about the one that its node's rules lost last before
// it ended; else about nobody.
func TestWhomAStoryIsAbout(t *testing.T) {
	t.Parallel()
	rules := func(at engine.Time, node int, targets ...api.PodID) event.Event {
		return event.Event{At: at, Kind: event.Rules, Node: node, Targets: targets}
	}
	tell := &Teller{
		names: &names{pods: []cluster.PodRef{{ID: 0, Name: "web-a"}, {ID: 1, Name: "web-b"}, {ID: 2, Name: "web-c"}}},
		events: []event.Event{
			rules(1*sec, 0, 0, 1, 2), rules(2*sec, 1, 0, 1, 2), rules(5*sec, 0, 0, 1), rules(6*sec, 1, 1, 2), rules(9*sec, 0, 1),
		},
	}
	for name, c := range map[string]struct {
		request ledger.Request
		want    api.PodID
	}{
		"the first pod": {ledger.Request{Pod: "web-a", End: 10 * sec}, 0},
		"the first pod, though the rules have lost another one": {ledger.Request{Pod: "web-a", End: 6 * sec}, 0},
		"another one": {ledger.Request{Pod: "web-c", End: 10 * sec}, 2},
		"its node's rules lost two, one after the other": {ledger.Request{End: 10 * sec}, 0},
		"at that moment":                 {ledger.Request{End: 9 * sec}, 0},
		"only the first of them by then": {ledger.Request{End: 9*sec - 1}, 2},
		"those of another node":          {ledger.Request{End: 10 * sec, Node: 1}, 0},
		"none yet":                       {ledger.Request{End: 4 * sec}, -1},
		"another Service":                {ledger.Request{End: 10 * sec, Stream: 1}, -1},
	} {
		if got := tell.hero(&c.request); got != c.want {
			t.Errorf("%s: pod %d, want %d", name, got, c.want)
		}
	}
}

// The line that a loss comes from is marked, and no other.
func TestWhatALossComesFromIsMarked(t *testing.T) {
	t.Parallel()
	kinds := []event.Kind{
		event.Closed, event.Kill, event.Ended, event.Balancer, event.Ingress, event.NodeGone, event.Rules, event.Ready,
	}
	for cause, want := range map[ledger.Cause][]event.Kind{
		ledger.ListenerClosed: {event.Closed}, ledger.KilledInFlight: {event.Kill}, ledger.ExitInFlight: {event.Ended},
		ledger.LivenessRestart: {event.Ended}, ledger.Crashed: {event.Ended}, ledger.StaleLB: {event.Balancer, event.Ingress},
		ledger.NoHealthyTarget: {event.Balancer, event.Ingress}, ledger.NodeGone: {event.NodeGone},
		ledger.NoEndpoint: {event.Rules}, ledger.NoLocalEndpoint: {event.Rules}, ledger.StaleRules: nil,
	} {
		var got []event.Kind
		for _, kind := range kinds {
			if (&Teller{}).blamed(&event.Event{Kind: kind}, &ledger.Request{Blame: ledger.Blame{Cause: cause}}) {
				got = append(got, kind)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("cause %s: %v, want %v", cause, got, want)
		}
	}
	some := &event.Event{Kind: event.Rules, Targets: []api.PodID{1}}
	if (&Teller{}).blamed(some, &ledger.Request{Blame: ledger.Blame{Cause: ledger.NoEndpoint}}) {
		t.Error("rules that lead to a pod are blamed for having none")
	}
}

// Of a story that is too long the health ports that are well again go first, and then what is told first.
func TestWhatALongStoryLeavesOut(t *testing.T) {
	t.Parallel()
	events := []*event.Event{{Kind: event.Action}, {Kind: event.Created}, {Kind: event.Deleted}, {Kind: event.HealthPort}}
	for len(events) < mostLines {
		events = append(events, &event.Event{Kind: event.Ready})
	}
	long := append(slices.Clone(events), &event.Event{Kind: event.HealthPort, OK: true}, &event.Event{Kind: event.HealthPort, OK: true})
	if got := (&Teller{}).fewer(slices.Clone(long), &ledger.Request{}); !slices.Equal(got, events) {
		t.Errorf("%d events, want the %d others", len(got), len(events))
	}
	long = append(long, &event.Event{Kind: event.Ready})
	if got := (&Teller{}).fewer(slices.Clone(long), &ledger.Request{}); len(got) != mostLines || got[1].Kind != event.Deleted || got[2].Kind != event.HealthPort {
		t.Errorf("%d events: %v", len(got), got)
	}
	if got := (&Teller{}).fewer(slices.Clone(long[len(long)-3:]), &ledger.Request{}); len(got) != 3 {
		t.Errorf("of a short one %d are told", len(got))
	}
}

// How the pod of a request ended is told of however long the story is.
func TestHowThePodEndedIsTold(t *testing.T) {
	t.Parallel()
	tell := &Teller{names: &names{pods: []cluster.PodRef{{ID: 0, Name: "web-0"}, {ID: 1, Name: "web-1"}}}}
	r := &ledger.Request{Pod: "web-1"}
	events := []*event.Event{{Kind: event.Action, Pod: -1}, {Kind: event.Term, Pod: 1}, {Kind: event.Term, Pod: 0}, {Kind: event.Ended, Pod: 1}}
	for len(events) < 2*mostLines {
		events = append(events, &event.Event{Kind: event.Ready, Pod: 0})
	}
	got := tell.fewer(events, r)
	if len(got) != mostLines || got[1].Kind != event.Term || got[1].Pod != 1 || got[2].Kind != event.Ended {
		t.Errorf("%d events: %v", len(got), got[:3])
	}
	all := []*event.Event{{Kind: event.Action, Pod: -1}}
	for len(all) < 2*mostLines {
		all = append(all, &event.Event{Kind: event.Term, Pod: 1})
	}
	if got := tell.fewer(slices.Clone(all), r); !slices.Equal(got, all) {
		t.Errorf("of %d events that decide all but %d are told", len(all), len(got))
	}
	if tell.decides(&event.Event{Kind: event.Term, Pod: -1}, &ledger.Request{}) {
		t.Error("a request that met no pod is told of one that ends")
	}
}

// A request that was sent while the pod that it met took connections went elsewhere at first: its load balancer gave that up meanwhile.
func TestWhereARequestWentBeforeItsPod(t *testing.T) {
	t.Parallel()
	gaveUp := func(node int) event.Event {
		return event.Event{At: 5 * sec, Kind: event.Balancer, Node: node, Pod: -1}
	}
	closed := func(at engine.Time) event.Event { return event.Event{At: at, Kind: event.Closed, Pod: 0} }
	sc := &world.Scenario{Nodes: []world.Node{{Name: "node-1"}, {Name: "node-2"}}, Workloads: []world.Workload{{Resource: &appsv1.Deployment{}}}, Traffic: make([]world.Traffic, 1)}
	request := ledger.Request{Arrival: 2 * sec, End: 9 * sec, Pod: "web-a", Outcome: ledger.Refused, Blame: ledger.Blame{Cause: ledger.StaleLB}, Attempts: 1}
	for name, c := range map[string]struct {
		events []event.Event
		want   string
	}{
		"another node was given up":      {[]event.Event{gaveUp(1), closed(8 * sec)}, "this request, sent 7 s before to where nothing answered: node-1 -> pod 0: connection refused"},
		"its own was":                    {[]event.Event{gaveUp(0), closed(8 * sec)}, "this request, sent 7 s before: node-1 -> pod 0: connection refused"},
		"another pod was":                {[]event.Event{{At: 5 * sec, Kind: event.Balancer, Node: -1, Pod: 1}, closed(8 * sec)}, "this request, sent 7 s before to where nothing answered: node-1 -> pod 0: connection refused"},
		"that pod was":                   {[]event.Event{{At: 5 * sec, Kind: event.Balancer, Node: -1, Pod: 0}, closed(8 * sec)}, "this request, sent 7 s before: node-1 -> pod 0: connection refused"},
		"another node came back":         {[]event.Event{{At: 5 * sec, Kind: event.Balancer, Node: 1, Pod: -1, OK: true}, closed(8 * sec)}, "this request, sent 7 s before: node-1 -> pod 0: connection refused"},
		"another node was before":        {[]event.Event{{At: 2 * sec, Kind: event.Balancer, Node: 1, Pod: -1}, closed(8 * sec)}, "this request, sent 7 s before: node-1 -> pod 0: connection refused"},
		"another node was afterwards":    {[]event.Event{{At: 10 * sec, Kind: event.Balancer, Node: 1, Pod: -1}, closed(8 * sec)}, "this request, sent 7 s before: node-1 -> pod 0: connection refused"},
		"the pod had closed when it was": {[]event.Event{closed(1 * sec), gaveUp(1)}, "this request, sent 7 s before: node-1 -> pod 0: connection refused"},
	} {
		story := NewTeller(sc, &Recorder{events: c.events}, []cluster.PodRef{{ID: 0, Name: "web-a"}, {ID: 1, Name: "web-b", Ordinal: 1}}).Tell(request)
		own := slices.IndexFunc(story, func(l Line) bool { return l.Lost != nil })
		if got := story[own].Words(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if told := slices.ContainsFunc(story[:own], func(l Line) bool { return l.Event.Kind == event.Balancer && (l.Event.Node == 1 || l.Event.Pod == 1) }); told != story[own].Lost.Elsewhere {
			t.Errorf("%s: told of the other node: %t", name, told)
		}
	}
}

// A load balancer and an ingress controller are told of where they sent the request on: to the node or the pod that it met, or where they had none
// to send to.
func TestWhoSentARequestOn(t *testing.T) {
	t.Parallel()
	tell := &Teller{names: &names{pods: []cluster.PodRef{{ID: 0, Name: "web-a"}, {ID: 1, Name: "nginx-a"}, {ID: 2, Name: "nginx-b"}}}}
	request := func(cause ledger.Cause, ingress string) *ledger.Request {
		return &ledger.Request{Node: 2, Pod: "web-a", Ingress: ingress, Arrival: 2 * sec, End: 9 * sec, Blame: ledger.Blame{Cause: cause}}
	}
	balancer := func(node int, pod api.PodID) event.Event {
		return event.Event{Kind: event.Balancer, Node: node, Pod: pod}
	}
	controller := func(pod api.PodID) event.Event { return event.Event{Kind: event.Ingress, Node: -1, Pod: pod} }
	for _, c := range []struct {
		what    string
		event   event.Event
		request *ledger.Request
		want    bool
	}{
		{"its node", balancer(2, -1), request(ledger.StaleLB, ""), true},
		{"another node", balancer(1, -1), request(ledger.StaleLB, ""), false},
		{"its pod", balancer(-1, 0), request(ledger.StaleLB, ""), true},
		{"another pod", balancer(-1, 1), request(ledger.StaleLB, ""), false},
		{"another node, where there was no target", balancer(1, -1), &ledger.Request{Node: -1, Arrival: 2 * sec, End: 9 * sec, Blame: ledger.Blame{Cause: ledger.NoHealthyTarget}}, true},
		{"another node, where the target did not answer", balancer(1, -1), request(ledger.NoHealthyTarget, ""), false},
		{"its controller", controller(1), request(ledger.StaleRules, "nginx-a"), true},
		{"another controller", controller(2), request(ledger.StaleRules, "nginx-a"), false},
		{"any controller, of a request that came by none", controller(1), request(ledger.StaleRules, ""), false},
		{"the load balancer before its controller", balancer(-1, 1), request(ledger.StaleLB, "nginx-a"), false},
	} {
		if got := tell.sent(&c.event, c.request, 0); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// The line of a request says where it went, and what its client saw.
func TestWhatBecameOfARequest(t *testing.T) {
	t.Parallel()
	sc := &world.Scenario{
		Nodes: []world.Node{{Name: "node-1"}, {Name: "node-2"}}, Workloads: []world.Workload{{Resource: &appsv1.Deployment{}}},
		Traffic: []world.Traffic{{}, {LB: &world.LoadBalancer{}}},
	}
	names := newNames(sc, []cluster.PodRef{{ID: 0, Name: "web-a"}, {ID: 1, Name: "nginx-a", Called: "nginx-a"}})
	for want, c := range map[string]struct { // order: each for itself
		request ledger.Request
		pod     api.PodID
		told    engine.Time
	}{
		"this request: node-1: connection refused":           {ledger.Request{Outcome: ledger.Refused}, -1, 0},
		"this request: node-2 -> pod 0: connection reset":    {ledger.Request{Node: 1, Pod: "web-a", Outcome: ledger.Reset}, 0, 0},
		"this request: node-2: HTTP 5xx":                     {ledger.Request{Node: 1, Outcome: ledger.HTTP5xx}, 0, 0},
		"this request: node-1: no route to host":             {ledger.Request{Pod: "gone", Outcome: ledger.Unreachable}, -1, 0},
		"this request: a node: timeout":                      {ledger.Request{Node: -1, Outcome: ledger.Timeout}, -1, 0},
		"this request: load balancer: timeout":               {ledger.Request{Node: -1, Stream: 1, Outcome: ledger.Timeout}, -1, 0},
		"this request: a node: unresolved":                   {ledger.Request{Node: 2, Outcome: ledger.Unresolved}, -1, 0},
		"this request: nginx-a -> pod 0: connection refused": {ledger.Request{Ingress: "nginx-a", Pod: "web-a", Outcome: ledger.Refused}, 0, 0},
		"this request: node-1: timeout after 1 s":            {ledger.Request{Arrival: 2 * sec, End: 3 * sec, Outcome: ledger.Timeout}, -1, 2 * sec},
		"this request, sent 1.01 s before: node-1: timeout":  {ledger.Request{Arrival: 2 * sec, End: 3*sec + 19*engine.Millisecond, Outcome: ledger.Timeout}, -1, 3*sec + 19*engine.Millisecond},
	} {
		l := Line{At: c.told, Lost: &Lost{Request: c.request, Pod: c.pod}, names: names}
		if got := l.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
