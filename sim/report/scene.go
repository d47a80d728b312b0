package report

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// scene is what a picture of a run is about: one pod that goes, those who send to it, and the requests that met it, from its deletion
// until the last of them has let go. For a pod that stays see staying.
type scene struct {
	tl     *timeline.Timeline
	f      *timeline.Failure // the request that the report tells of; nil where none is lost
	client int               // whose requests are looked at
	via    int               // the node that they come by, -1 for none
	asked  bool              // client and via are those of a request, of this run or of the one that it is compared with
	pod    *timeline.PodLane
	band   *timeline.Band
	zero   engine.Time // that times count from
	last   engine.Time // of what matters
	stays  bool        // it does not go, or goes only after it has lost what it lost
}

// sceneOf is about the request that a cause has as its example, or the first one like it in the run that was made into lanes. Where no pod
// went, and the request met none, there is none.
func sceneOf(tl *timeline.Timeline, x *record.Cause) *scene {
	r := &x.Example.Request
	at := slices.IndexFunc(tl.Failures, func(f timeline.Failure) bool {
		return tl.Seed == x.Example.Seed && f.Client == r.Stream && f.Number == r.Number
	})
	if at < 0 {
		at = slices.IndexFunc(tl.Failures, func(f timeline.Failure) bool { return f.Cause == x.Cause.String() && f.Actor == x.Actor.String() })
	}
	if at < 0 {
		return nil
	}
	f := &tl.Failures[at]
	id := f.Pod
	if id < 0 { // nobody was there to send to: the pod that went, of which its story tells
		id = wentAt(tl, f.Zero)
	}
	return sceneAt(tl, id, f)
}

// wentAt is the pod that was deleted at a moment, the one that most is to be told of where that is none.
func wentAt(tl *timeline.Timeline, at engine.Time) int {
	for i := range tl.Bands {
		if b := &tl.Bands[i]; b.Deleted != nil && *b.Deleted == at {
			return b.Pod
		}
	}
	return tl.Zero.Pod
}

// sceneAt is about a pod, and a request that was lost. Where there is no request the pod goes.
func sceneAt(tl *timeline.Timeline, id int, f *timeline.Failure) *scene {
	pod := slices.IndexFunc(tl.Pods, func(l timeline.PodLane) bool { return l.ID == id })
	band := slices.IndexFunc(tl.Bands, func(b timeline.Band) bool { return b.Pod == id })
	if pod < 0 || band < 0 && (f == nil || f.Pod < 0) {
		return nil
	}
	s := &scene{tl: tl, f: f, pod: &tl.Pods[pod], zero: tl.Zero.At, via: -1}
	if f != nil {
		s.client, s.via, s.asked, s.zero = f.Client, f.Node, true, f.Zero
	}
	if band < 0 {
		s.staying()
		return s
	}
	s.band = &tl.Bands[band]
	switch from, deleted := s.band.From, s.band.Deleted; {
	case from != nil && (deleted == nil || *from < *deleted): // it ends with its machine, and is deleted long after: by whoever notices
		s.zero = *from
	case deleted != nil:
		s.zero = *deleted
	}
	if s.last = s.end(); s.goesLater() {
		s.staying()
	}
	return s
}

// seenFrom is the scene with the client of another run of the case, which comes by the same node.
func (s *scene) seenFrom(other *scene) *scene {
	s.client, s.asked, s.via = other.client, other.asked, -1
	if at := slices.IndexFunc(other.tl.Nodes, func(n timeline.NodeLane) bool { return n.Index == other.via }); at >= 0 {
		if same := slices.IndexFunc(s.tl.Nodes, func(n timeline.NodeLane) bool { return n.Name == other.tl.Nodes[at].Name }); same >= 0 {
			s.via = s.tl.Nodes[same].Index
		}
	}
	s.last = s.end()
	return s
}

// end is when the last one has let go of the pod, or the last request like the one that is told of is lost. A pod that stays listens by then.
func (s *scene) end() engine.Time {
	last := s.zero
	if b, late := s.beginning(); s.stays && late {
		last = max(last, b.to)
	}
	ends := []*engine.Time{s.band.From, s.band.To, s.band.Told}
	if s.stays {
		ends = []*engine.Time{s.band.To}
	}
	for _, at := range ends {
		if at != nil {
			last = max(last, *at)
		}
	}
	for i := range s.tl.Failures {
		if f := &s.tl.Failures[i]; s.like(f) {
			last = max(last, f.At)
		}
	}
	for _, x := range s.targets() {
		for _, g := range x.Gets {
			if g.From <= s.zero && g.To > s.zero && g.To < s.tl.End {
				last = max(last, g.To)
			}
		}
	}
	return last
}

// nobody says that the request that is told of had no pod to go to.
func (s *scene) nobody() bool { return s.f != nil && s.f.Pod < 0 }

// like says that a request failed at the same pod, or, where there was none to send to, for the same reason.
func (s *scene) like(f *timeline.Failure) bool {
	if s.nobody() {
		return f.Pod < 0 && f.Cause == s.f.Cause
	}
	return f.Pod == s.pod.ID
}

// targets are the pod as a target of load balancers and of an ingress controller's pods, once for each kind of clients that has checks of its
// own, or its node as the target of the one that the request came by. The clients of that request come first, and of the controller's pods the
// one that had asked for it.
func (s *scene) targets() []*timeline.TargetLane {
	if !s.asked {
		return nil
	}
	var out []*timeline.TargetLane
	for i := range s.tl.Targets {
		x := &s.tl.Targets[i]
		own := slices.Contains(x.Clients, s.client)
		if x.Pod != s.pod.ID && (x.Proxy >= 0 || x.Pod >= 0 || x.Node < 0 || x.Node != s.via || !own) {
			continue
		}
		if x.Proxy >= 0 && s.f != nil && x.Proxy != s.f.Proxy {
			own = false
		}
		if own {
			out = slices.Insert(out, 0, x)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// dry is when the load balancer of a target had none at all, where that is what is told of.
func (s *scene) dry(x *timeline.TargetLane) []timeline.Span {
	if !s.nobody() {
		return nil
	}
	for i := range s.tl.Dry {
		if d := &s.tl.Dry[i]; d.Proxy == x.Proxy && slices.Equal(d.Clients, x.Clients) {
			return d.Spans
		}
	}
	return nil
}

// whose are the clients of a target by name, where there are others that the load balancer tells apart; "" where there are none.
func (s *scene) whose(x *timeline.TargetLane) string {
	same := 0
	for _, y := range s.targets() {
		if y.Proxy == x.Proxy {
			same++
		}
	}
	if same < 2 {
		return ""
	}
	return s.clients(x.Clients)
}

// sender is a target's load balancer by name, or the pod of an ingress controller that sends to it.
func sender(x *timeline.TargetLane) string {
	if x.Proxy < 0 {
		return "load balancer"
	}
	name, _, _ := strings.Cut(x.Balancer, " of ") // which is its workload
	for _, of := range []string{"old", "new"} {
		name = strings.Replace(name, of+" pod ", of+" ", 1)
	}
	return "ingress " + name
}

// clients are some kinds of clients by name.
func (s *scene) clients(which []int) string {
	var names []string
	for _, c := range which {
		names = append(names, s.tl.Clients[c].Name)
	}
	return strings.Join(names, ", ")
}

// saysOfIt is what the EndpointSlices of the client's Service say of the pod.
func (s *scene) saysOfIt() []timeline.Span {
	var out []timeline.Span
	for _, l := range s.pod.Slices {
		if len(s.pod.Slices) == 1 || s.client < len(s.tl.Clients) && l.Service == s.tl.Clients[s.client].Service {
			out = append(out, l.Spans...)
		}
	}
	return out
}

// gone is when the pod was gone, or the end of the run.
func (s *scene) gone() engine.Time {
	if s.pod.Gone != nil {
		return *s.pod.Gone
	}
	return s.tl.End
}
