package balancer

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// A controller that sets readiness gates looks at the pods that wait for theirs again and again:
// whether their containers are ready by now, which makes them members, and whether they have been
// found healthy, which opens their gates (docs/model/load-balancers.md 2 lbc readiness gate).
//
// Like those of health checks, ticks that could change nothing are not executed: the next one is
// armed when something changed that it would see.

// gates is what the controller remembers of the pods that wait.
type gates struct {
	waiting bool
	origin  engine.Time  // of the ticks: when the first of those that wait was seen
	asked   map[int]bool // pods whose gates it has set, and has not heard of yet
	due     engine.Time  // of the tick that is armed, Never for none
	timer   engine.Handle
}

func newGates() gates { return gates{asked: map[int]bool{}, due: engine.Never} }

// keepGates opens the gates of pods that are healthy, or have waited for too long.
func (b *Balancer) keepGates() {
	if b.spec.ReadinessGate == "" {
		return
	}
	now, waiting, next := b.eng.Now(), false, engine.Never
	for _, e := range b.cluster.Heard() {
		if !e.Gated || !e.Closed || e.Terminating {
			delete(b.gates.asked, e.Pod)
			continue
		}
		waiting = true
		m := b.member(e.Pod)
		switch late := e.Created + b.spec.GateTimeout; {
		case b.gates.asked[e.Pod]:
		case m != nil && m.healthy && !m.removed, b.spec.GateTimeout > 0 && now >= late:
			b.gates.asked[e.Pod] = b.observer.Open(e.Pod)
		case b.spec.GateTimeout > 0:
			next = min(next, late)
		}
	}
	if waiting && !b.gates.waiting {
		b.gates.origin = now
	}
	b.gates.waiting = waiting
	b.recheckAt(next)
}

// HearPod has the controller look again, at its next tick, after a pod that waits has changed.
func (b *Balancer) HearPod() { b.recheck() }

// recheck has the controller look again at its next tick, if anybody waits.
func (b *Balancer) recheck() {
	if b.gates.waiting {
		b.recheckAt(b.eng.Now())
	}
}

// recheckAt arms the first tick at a moment or after it, later than now, unless one before is
// armed.
func (b *Balancer) recheckAt(at engine.Time) {
	if at == engine.Never {
		return
	}
	period := max(1, b.spec.GateRecheck)
	at = max(at, b.eng.Now()+1) - b.gates.origin
	due := b.gates.origin + (at+period-1)/period*period
	if due >= b.gates.due {
		return
	}
	b.eng.Cancel(b.gates.timer)
	b.gates.due = due
	b.gates.timer = b.eng.At(due, engine.ClassTimer, b.owner, "readiness gates", func() {
		b.gates.due = engine.Never
		b.act()
	})
}
