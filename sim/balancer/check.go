package balancer

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A member is probed at every tick of its own clock. Ticks that could change nothing are not
// executed: a member sleeps while every answer it could give is what is held of it, and is
// woken when something in the cluster changed.

// start begins to probe a member, with its first tick at a moment.
func (b *Balancer) start(m *member, first engine.Time) {
	m.first = first
	if b.spec.Check.Probe != world.ProbeNone {
		b.arm(m)
	}
}

// Wake has all members probed at their next tick.
func (b *Balancer) Wake() {
	for _, m := range b.members {
		if b.spec.Check.Probe != world.ProbeNone && !m.armed {
			b.arm(m)
		}
	}
}

// nextTick is the number of a member's next tick.
func (b *Balancer) nextTick(m *member) uint64 {
	tick := uint64(0)
	if now := b.eng.Now(); now >= m.first {
		tick = uint64((now-m.first)/max(1, b.spec.Check.Interval)) + 1
	}
	if tick <= m.ticked && m.ticked > 0 {
		tick = m.ticked + 1
	}
	return tick
}

// arm sets the timer of the next tick.
func (b *Balancer) arm(m *member) {
	tick := b.nextTick(m)
	m.armed = true
	m.timer = b.eng.At(m.first+engine.Time(tick)*max(1, b.spec.Check.Interval), engine.ClassTimer, b.owner, "health check", func() {
		m.armed, m.ticked = false, tick
		b.probe(m, tick)
	})
}

// probe asks a member once. A probe that nobody answers fails when its time is over.
func (b *Balancer) probe(m *member, tick uint64) {
	a := b.cluster.Answer(b.spec.Check.Probe, m.id, b.draw(m.id, "probe", tick))
	switch {
	case a.Sure && a.OK == m.healthy && m.row == 0 && !m.initial:
		m.counted = tick
		return // asleep
	case a.Late:
		b.eng.After(b.spec.Check.Timeout, engine.ClassTimer, b.owner, "health check timed out", func() { b.answered(m, tick, false) })
	default:
		b.answered(m, tick, a.OK)
	}
	b.arm(m) // after the timeout: where that is as long as the interval, it is over before the next tick
}

// answered counts an answer: enough of the other kind in a row change what is held of a member.
// A timeout that passes when a later probe has been answered says nothing any more.
func (b *Balancer) answered(m *member, tick uint64, ok bool) {
	if tick < m.counted {
		return
	}
	m.counted = tick
	if m.initial {
		b.first(m, ok)
	}
	defer b.tell(m)
	if ok == m.healthy {
		m.row = 0
		return
	}
	m.row++
	threshold := b.spec.Check.Unhealthy
	if ok {
		threshold = b.spec.Check.Healthy
	}
	if m.row < max(1, threshold) {
		return
	}
	m.healthy, m.row = ok, 0
	m.flips++
	b.recheck()
	delay := b.spec.HealthPropagation.Sample(b.draw(m.id, "health propagation", m.flips))
	m.known = b.eng.Now() + delay
	if delay == 0 {
		b.follow(m)
		return
	}
	b.eng.After(delay, engine.ClassTimer, b.owner, "health known", func() { b.follow(m) })
}

// first counts an answer to one of a member's first checks: enough failures in a row finish them.
// That they succeeded is known where health is followed.
func (b *Balancer) first(m *member, ok bool) {
	if m.failed++; ok {
		m.failed = 0
	}
	if m.failed < max(1, b.spec.Check.Unhealthy) {
		return
	}
	before := b.actives()
	m.initial = false
	b.changed(before)
}

// follow has new connections go by what a member's checks say; those of one that is gone say
// nothing of its successor.
func (b *Balancer) follow(m *member) {
	if m.serves == m.healthy || b.member(m.id) != m {
		return
	}
	before := b.actives()
	m.serves, m.initial = m.healthy, false
	b.tell(m)
	b.changed(before)
	if !m.serves && b.spec.CutUnhealthy {
		b.observer.Cut(m.id)
	}
}
