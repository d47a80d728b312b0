package event

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Log tells subscribers what happens in one run at a time. Subscribers come before the run. A nil Log and the
// zero Log have none.
type Log struct {
	now   func() engine.Time // nil: nothing has begun
	hear  [numbers][]func(Event)
	nodes map[int]bool // whose proxies are followed; nil for all
}

// Stories are the kinds of events of which a story may tell. Those of a judge are no part of them.
func Stories() []Kind {
	var kinds []Kind
	for k := range Known {
		kinds = append(kinds, k)
	}
	return kinds
}

// Subscribe has hear called with events of some kinds, of all if none is named. Of one event those who came first
// hear first.
func (l *Log) Subscribe(hear func(Event), kinds ...Kind) {
	for k := range numbers {
		if len(kinds) == 0 || slices.Contains(kinds, k) {
			l.hear[k] = append(l.hear[k], hear)
		}
	}
}

// Follow has the Log tell of the Waits, Rules and HealthPorts of some nodes alone, nil for all: each list of rules names
// every pod that they lead to, and each proxy waits with every change.
func (l *Log) Follow(nodes []int) {
	if l.nodes = nil; nodes != nil {
		l.nodes = map[int]bool{}
	}
	for _, n := range nodes {
		l.nodes[n] = true
	}
}

// Begin has the Log tell of what happens from now on. now is the clock of the run.
func (l *Log) Begin(now func() engine.Time) {
	if l != nil {
		l.now = now
	}
}

// Hears says whether a subscriber has to be told of a kind of events. If not, nothing has to be found out for it.
func (l *Log) Hears(k Kind) bool { return l != nil && l.now != nil && len(l.hear[k]) > 0 }

// Follows says whether a subscriber has to be told of such an event of a node's proxy.
func (l *Log) Follows(k Kind, node int) bool {
	return l.Hears(k) && (l.nodes == nil || l.nodes[node])
}

// Tell tells of an event that happens now.
func (l *Log) Tell(e Event) {
	if l.Hears(e.Kind) {
		e.At = l.now()
		l.TellLate(e)
	}
}

// TellLate tells of an event that happened at its At.
func (l *Log) TellLate(e Event) {
	if !l.Hears(e.Kind) {
		return
	}
	for _, hear := range l.hear[e.Kind] {
		hear(e)
	}
}

// OfPod tells of an event about a pod that needs nothing else said of it.
func (l *Log) OfPod(k Kind, pod api.PodID) {
	if l.Hears(k) {
		l.Tell(Event{Kind: k, Pod: pod, Node: -1, Stream: -1})
	}
}
