package story

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
)

// Kept tells how the first pod that was deleted was replaced in a run that lost nothing: who was
// ready before it went, and when the last node had rules without it. Nil when no pod was deleted.
func (t *Teller) Kept() []Line {
	at := t.firstDeletion()
	if at < 0 {
		return nil
	}
	hero, deleted := t.events[at].Pod, t.events[at].At
	ready, left := t.readyBefore(at), t.leftBy(hero)
	var keep []*event.Event
	for i := range t.events {
		e := &t.events[i]
		switch e.Kind {
		case event.Action:
			if e.At <= deleted {
				keep = append(keep, e)
			}
		case event.Created:
			if ready >= 0 && e.Pod == t.events[ready].Pod {
				keep = append(keep, e)
			}
		case event.Ready:
			if i == ready {
				keep = append(keep, e)
			}
		case event.Rules:
			if e.Fallback && slices.Contains(e.Targets, hero) || i == left {
				keep = append(keep, e)
			}
		case event.Deleted, event.PreStop, event.PreStopFailed, event.Term, event.Kill,
			event.Closed, event.Ended, event.Endpoint:
			if e.Pod == hero && e.At >= deleted {
				keep = append(keep, e)
			}
		default: // not what replacing a pod is about
		}
	}
	return t.about(keep, hero)
}

// FirstDeleted is the pod that Kept tells of, ok false when none was deleted.
func (t *Teller) FirstDeleted() (pod api.PodID, ok bool) {
	if at := t.firstDeletion(); at >= 0 {
		return t.events[at].Pod, true
	}
	return 0, false
}

// firstDeletion is its event, -1 for none.
func (t *Teller) firstDeletion() int {
	return slices.IndexFunc(t.events, func(e event.Event) bool { return e.Kind == event.Deleted })
}

// readyBefore is the last event before another one that made a pod ready, -1 for none.
func (t *Teller) readyBefore(at int) int {
	for i := at - 1; i >= 0; i-- {
		if t.events[i].Kind == event.Ready {
			return i
		}
	}
	return -1
}

// leftBy is the event with which the last node's rules stopped leading to a pod, -1 for none.
func (t *Teller) leftBy(hero api.PodID) int {
	last, led := -1, map[[2]int]bool{}
	for i := range t.events {
		e := &t.events[i]
		if e.Kind != event.Rules {
			continue
		}
		k := [2]int{e.Node, e.Stream}
		leads := slices.Contains(e.Targets, hero)
		if led[k] && !leads {
			last = i
		}
		led[k] = leads
	}
	return last
}

// Fallback is how long, in all, the rules of some node led a stream of requests only to pods that
// were terminating, because none was ready in scope (KEP-1669).
func (t *Teller) Fallback() engine.Time {
	var sum, since engine.Time
	open := map[[2]int]bool{}
	for i := range t.events {
		e := &t.events[i]
		if e.Kind != event.Rules {
			continue
		}
		before := len(open)
		if k := [2]int{e.Node, e.Stream}; e.Fallback {
			open[k] = true
		} else {
			delete(open, k)
		}
		switch {
		case before == 0 && len(open) > 0:
			since = e.At
		case before > 0 && len(open) == 0:
			sum += e.At - since
		}
	}
	return sum
}
