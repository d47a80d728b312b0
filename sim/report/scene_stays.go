package report

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// A scene may be about a pod that does not go, or goes only after it has lost what it lost: it listens too late, say, or answers with errors.
// Such a scene has the pod's beginning in place of its end, and counts from the first line of the request's story.

// staying makes the scene one of a pod that stays.
func (s *scene) staying() {
	s.stays, s.zero = true, s.f.Zero
	if s.band == nil {
		s.band = &timeline.Band{Pod: s.pod.ID, Lost: s.marked()}
	}
	s.last = s.end()
}

// again is the same pod in another run of the case, in which nothing needs to be lost with it. What is done is done at the same moment.
func (s *scene) again(tl *timeline.Timeline, id int) *scene {
	pod := slices.IndexFunc(tl.Pods, func(l timeline.PodLane) bool { return l.ID == id })
	out := &scene{tl: tl, pod: &tl.Pods[pod], zero: s.zero, via: -1, stays: true}
	out.band = &timeline.Band{Pod: id, Lost: out.marked()}
	out.last = out.end()
	return out
}

// goesLater says that most requests of a pod that goes were lost before it went.
func (s *scene) goesLater() bool {
	all, before := 0, 0
	for i := range s.tl.Failures {
		if f := &s.tl.Failures[i]; s.like(f) && !f.Without {
			all++
			if f.At < s.zero && f.End < s.zero {
				before++
			}
		}
	}
	return s.f != nil && 2*before > all
}

// marked is how many of the failures that are listed met the pod.
func (s *scene) marked() uint64 {
	n := uint64(0)
	for i := range s.tl.Failures {
		if f := &s.tl.Failures[i]; f.Pod == s.pod.ID && !f.Without {
			n++
		}
	}
	return n
}

// atLeast says that there may be more lost than are counted: a timeline does not list all failures of a run that lost very many.
func (s *scene) atLeast() bool {
	all := uint64(0)
	for _, x := range s.tl.Lost {
		all += x.Count
	}
	return s.stays && !s.going() && uint64(len(s.tl.Failures)) < all
}

// going says that the pod goes at last.
func (s *scene) going() bool { return s.band.Deleted != nil || s.band.From != nil }

// begun is what the times of the scene count from, where that is no end of the pod.
func (s *scene) begun() string {
	for i := range s.tl.Events {
		if e := &s.tl.Events[i]; e.At == s.zero && e.Kind == "action" {
			return e.What
		}
	}
	return "its story begins"
}

// beginning is from when on the pod is there, up to when it listens.
func (s *scene) beginning() (stretch, bool) {
	from, to := engine.Time(0), s.gone()
	if len(s.pod.Phases) > 0 {
		from = s.pod.Phases[0].From
	}
	if len(s.pod.Listens) > 0 {
		to = s.pod.Listens[0].From
	}
	return stretch{from, to, looksClosed, []string{"begins: accepts no connections yet", "accepts none yet", "begins"}}, from < to
}

// addStaying has a time in which a pod that stays is sent to: parted where it does not listen.
func (r *raceRow) addStaying(s *scene, from, to engine.Time) {
	for _, l := range s.pod.Listens {
		r.join(stretch{from, min(l.From, to), looksLate, []string{"sends to it before it listens", "too early", "early"}})
		from = min(max(from, l.From), to)
		r.join(stretch{from, min(l.To, to), looksUses, []string{"sends to it"}})
		from = min(max(from, l.To), to)
	}
	r.join(stretch{from, to, looksLate, []string{"sends to it, and it does not listen", "does not listen"}})
}

// users are the nodes whose rules lead the client to a pod that stays, those where most was lost first.
func (s *scene) users() []int {
	lost := map[int]int{}
	for i := range s.tl.Failures {
		if f := &s.tl.Failures[i]; s.like(f) && !f.Without {
			lost[f.Node]++
		}
	}
	var out []int
	for i := range s.tl.Nodes {
		if n := &s.tl.Nodes[i]; n.Like < 0 || lost[n.Index] > 0 {
			out = append(out, n.Index)
		}
	}
	sorted.StableBy(out, func(x, y int) int { return lost[y] - lost[x] })
	return out
}
