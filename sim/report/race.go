package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// The rows of a picture of a scene: what the API says of the pod, what the pod does, and those who send to it, with the requests that were
// lost above the time in which they were.

// mostSenders is how many rows there are at most for those who send to the pod.
const mostSenders = 4

// How a stretch of a row looks.
const (
	looksReady    = "ready"    // serves, or is said to
	looksLeaving  = "leaving"  // said to terminate
	looksClosed   = "closed"   // accepts no connections
	looksUses     = "uses"     // is sent to, and accepts
	looksFallback = "fallback" // the same, because there is no other
	looksLate     = "late"     // is sent to, and does not accept
	looksNobody   = "nobody"   // there is nobody to send to
	looksGone     = "gone"
)

// stretch is a time of a row. Of its words the first that has room is written into it.
type stretch struct {
	from, to engine.Time
	looks    string
	words    []string
}

// raceRow is one row. Ends is when the pod is let go of, nil in rows of which that cannot be said.
type raceRow struct {
	name      string
	whose     string // the clients of which it is, where there is another one with the same name
	stretches []stretch
	lost      []engine.Time
	own       bool // the request that the report tells of is among those lost
	ends      *engine.Time
	count     uint64 // of those lost
	machine   bool   // it ends because its machine is gone
}

// rows are all rows of a scene.
func (s *scene) rows() []raceRow {
	out := []raceRow{s.apiRow(), s.podRow()}
	for i, r := range s.senders() {
		if i < mostSenders {
			out = append(out, r)
		}
	}
	s.place(out)
	return out
}

func (s *scene) apiRow() raceRow {
	r := raceRow{name: "the API says"}
	until := s.zero
	for _, x := range s.saysOfIt() {
		looks, words := looksClosed, []string{"not ready"}
		switch x.Is {
		case timeline.Ready:
			looks, words = looksReady, []string{"ready"}
		case timeline.TerminatingServing:
			looks, words = looksLeaving, []string{"terminating, serving", "terminating"}
		case timeline.TerminatingNotServing:
			words = []string{"terminating, not serving", "terminating"}
		}
		r.stretches, until = append(r.stretches, stretch{x.From, x.To, looks, words}), x.To
	}
	r.stretches = append(r.stretches, stretch{until, s.tl.End, looksGone, []string{"not listed any more", "not listed"}})
	return r
}

func (s *scene) podRow() raceRow {
	name, _, _ := strings.Cut(calledOr(s.pod), " of ") // its workload, and its node, are in the title
	name, _, _ = strings.Cut(name, " on ")
	r := raceRow{name: name}
	until := engine.Time(0)
	if b, late := s.beginning(); s.stays && late {
		r.stretches, until = append(r.stretches, b), b.to
	}
	for _, x := range s.pod.Listens {
		words := []string{"accepts connections", "serves"}
		if x.To > s.zero && s.waits(x.To) {
			words = append([]string{"preStop waits: accepts connections until " + since(x.To, s.zero)}, words...)
		} else if x.To > s.last && x.To < s.tl.End {
			words = append([]string{"accepts connections until " + since(x.To, s.zero)}, words...)
		}
		r.stretches, until = append(r.stretches, stretch{x.From, x.To, looksReady, words}), x.To
	}
	words := []string{"accepts no connections any more", "accepts none", "closed"}
	if slices.ContainsFunc(s.pod.Marks, func(m timeline.Mark) bool { return m.Kind == "SIGTERM" && m.At == until }) {
		words = append([]string{"told to stop (SIGTERM), and closes its port", "SIGTERM: closes its port"}, words...)
	}
	r.stretches = append(r.stretches, stretch{until, s.gone(), looksClosed, words}, stretch{s.gone(), s.tl.End, looksGone, []string{"gone"}})
	return r
}

// waits says that a preStop hook begins before a moment, and after the deletion.
func (s *scene) waits(until engine.Time) bool {
	return slices.ContainsFunc(s.pod.Marks, func(m timeline.Mark) bool { return m.Kind == "preStop" && m.At >= s.zero && m.At < until })
}

// senders are the rows of those who send to the pod: load balancers, then the nodes in the order in which they let go of it, the latest first.
func (s *scene) senders() []raceRow {
	var out []raceRow
	for _, x := range s.targets() {
		r := raceRow{name: sender(x), whose: s.whose(x)}
		for _, g := range x.Gets {
			r.add(s, g.From, g.To, looksUses)
		}
		for _, d := range s.dry(x) {
			r.join(stretch{d.From, d.To, looksNobody, []string{"has no target to send to", "no target"}})
		}
		r.letGo(s.band, x)
		out = append(out, r)
	}
	if s.nobody() && s.f.Node >= 0 { // the node that had nobody comes first, whether it ever led to that pod or not
		out = append(out, s.nodeRow(s.f.Node))
	}
	if s.stays && !s.going() {
		for _, node := range s.users() {
			out = append(out, s.nodeRow(node))
		}
	}
	for _, b := range s.band.Nodes {
		if b.Node < 0 || b.Like >= 0 || s.nobody() && b.Node == s.f.Node {
			continue
		}
		r := s.nodeRow(b.Node)
		if b.Alike > 0 {
			r.name = fmt.Sprintf("%d nodes alike", b.Alike+1)
		}
		r.ends, r.count, r.machine = b.LetGo, b.Lost, b.Gone
		out = append(out, r)
	}
	return out
}

// letGo has when a pod of an ingress controller sends no more to one that goes, and what was lost until then.
func (r *raceRow) letGo(b *timeline.Band, x *timeline.TargetLane) {
	for i := range b.Nodes {
		if n := &b.Nodes[i]; x.Proxy >= 0 && n.Proxy == x.Proxy && (len(n.Clients) == 0 || slices.Equal(n.Clients, x.Clients)) {
			r.ends, r.count, r.machine = n.LetGo, n.Lost, n.Gone
		}
	}
}

// nodeRow is when the rules of a node send the client to the pod, or to nobody.
func (s *scene) nodeRow(node int) raceRow {
	i := slices.IndexFunc(s.tl.Nodes, func(n timeline.NodeLane) bool { return n.Index == node })
	if i < 0 {
		return raceRow{name: "a node"}
	}
	r := raceRow{name: s.tl.Nodes[i].Name}
	for _, way := range s.tl.Nodes[i].Ways {
		if !slices.Contains(way.Clients, s.client) {
			continue
		}
		for _, u := range way.Uses {
			switch {
			case u.Is == timeline.UsesReject && s.nobody():
				r.stretches = append(r.stretches, stretch{u.From, u.To, looksNobody, []string{"has no pod to send to: refuses", "refuses"}})
			case u.Is == timeline.UsesDrop && s.nobody():
				r.stretches = append(r.stretches, stretch{u.From, u.To, looksNobody, []string{"has no pod to send to: drops", "drops"}})
			case u.Is == timeline.UsesFallback && slices.Contains(u.Pods, s.pod.ID):
				r.add(s, u.From, u.To, looksFallback)
			case slices.Contains(u.Pods, s.pod.ID):
				r.add(s, u.From, u.To, looksUses)
			}
		}
	}
	return r
}

// add has a time in which the pod is sent to: parted where it accepts connections no more. Times that touch are one.
func (r *raceRow) add(s *scene, from, to engine.Time, looks string) {
	if s.stays {
		r.addStaying(s, from, to)
		return
	}
	closed := to
	if s.band.From != nil {
		closed = min(max(*s.band.From, from), to)
	}
	words := []string{"sends to it, and is answered", "sends to it"}
	if looks == looksFallback {
		words = []string{"sends to it: has no other", "has no other"}
	}
	r.join(stretch{from, closed, looks, words})
	r.join(stretch{closed, to, looksLate, []string{"still sends to it", "late"}})
}

func (r *raceRow) join(x stretch) {
	if x.from >= x.to {
		return
	}
	if n := len(r.stretches); n > 0 && r.stretches[n-1].to == x.from && r.stretches[n-1].looks == x.looks {
		r.stretches[n-1].to = x.to
		return
	}
	r.stretches = append(r.stretches, x)
}

// place puts the requests that were lost where they belong: at the node or load balancer that sent them, or else at the pod. What is late says
// why most of them were lost there.
func (s *scene) place(rows []raceRow) {
	const pod = 1
	why := make([]map[string]int, len(rows))
	for i := range s.tl.Failures {
		f := &s.tl.Failures[i]
		if !s.like(f) || f.Without {
			continue
		}
		at := pod
		if f.Node >= 0 {
			name := ""
			if n := slices.IndexFunc(s.tl.Nodes, func(n timeline.NodeLane) bool { return n.Index == f.Node }); n >= 0 {
				name = s.tl.Nodes[n].Name
			}
			at = max(at, slices.IndexFunc(rows, func(r raceRow) bool { return r.name == name }))
		} else {
			at += 1 + slices.IndexFunc(s.targets(), func(x *timeline.TargetLane) bool {
				return x.Proxy == f.Proxy && slices.Contains(x.Clients, f.Client)
			})
		}
		if at >= len(rows) {
			at = pod // one of those for which there is no row
		}
		r := &rows[at]
		r.lost, r.own = append(r.lost, f.At), r.own || f == s.f
		if why[at] == nil {
			why[at] = map[string]int{}
		}
		why[at][f.Actor]++
	}
	for i := range rows {
		if !s.stays {
			rows[i].explain(commonest(why[i]))
		}
	}
}

// explain says in a stretch in which the pod is sent to, and should not be, what has not happened yet.
func (r *raceRow) explain(actor string) {
	for a := ledger.Spec; a < ledger.NumActors; a++ {
		if words := late[a]; a.String() == actor && words != "" {
			for i := range r.stretches {
				if x := &r.stretches[i]; x.looks == looksLate {
					x.words = append([]string{"still sends to it: " + words, words}, x.words...)
				}
			}
		}
	}
}

// commonest is the word with the highest number, the first of several.
func commonest(of map[string]int) string {
	best := ""
	for word, n := range of { // order: the same word wins in any
		if n > of[best] || n == of[best] && word < best {
			best = word
		}
	}
	return best
}
