package cluster

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Every node's proxy hears of every slice. While one waits or syncs, what its watch brings changes nothing
// but what the next sync takes up. So such news is no event of the run: writes are kept in one log, from
// which each proxy takes what has arrived by the time it looks, or somebody looks at it. Only news that may
// start a sync is an event. When news arrives is drawn as for every other watch.

// sliceLog is the writes of slices that some proxy has not heard of yet, in order.
type sliceLog struct {
	list    []sliceNews
	first   int // number of the first of the list
	full    int // length at which it is looked at again
	proxies []*NodeProxy
}

// sliceNews is one write, with what the delay of each watch is drawn from.
type sliceNews struct {
	write   *sliceWrite
	at      engine.Time
	purpose engine.Purpose
	version uint64
}

// add has the proxies hear of a write, each after its delay.
func (l *sliceLog) add(n sliceNews) {
	l.forget()
	l.list = append(l.list, n)
	for _, p := range l.proxies {
		p.expect()
	}
}

// logSlices has the proxies hear of a write of a slice.
func (w *World) logSlices(o api.Object, purpose engine.Purpose, version uint64) {
	if write, ok := o.(*sliceWrite); ok && write.view != nil {
		w.slices.add(sliceNews{write, w.eng.Now(), purpose, version})
	}
}

// shortLog is how many writes are not worth a look at who has heard of them.
const shortLog = 16

// forget drops what all proxies have heard of, when that is half of the log. It looks at all of them, so not
// at each write.
func (l *sliceLog) forget() {
	if len(l.list) < l.full {
		return
	}
	heard := l.first + len(l.list)
	for _, p := range l.proxies {
		if !p.w.dead[p.node] {
			heard = min(heard, p.slices.next)
		}
	}
	if old := heard - l.first; 2*old > len(l.list) {
		l.list = append([]sliceNews(nil), l.list[old:]...)
		l.first = heard
	}
	l.full = max(shortLog, 2*len(l.list))
}

// sliceWatch is a proxy's watch of slices.
type sliceWatch struct {
	log     *sliceLog
	label   string // of its events
	draws   engine.Component
	latency engine.Dist
	next    int         // number of the first write it has not brought yet
	last    engine.Time // when it brought the one before: news does not overtake news
	drawn   bool        // arrives is the next one's
	arrives engine.Time

	due   engine.Time   // of event, Never without one
	wakes bool          // event is one of the run
	event engine.Handle // the arrival of the next write
}

// watch starts a proxy's watch.
func (l *sliceLog) watch(name string, p *NodeProxy, draws engine.Component, latency engine.Dist) sliceWatch {
	l.proxies = append(l.proxies, p)
	return sliceWatch{log: l, label: "watch " + name, draws: draws, latency: latency, next: l.first + len(l.list), due: engine.Never}
}

// arrival is when the watch brings the next write, Never without one.
func (s *sliceWatch) arrival() engine.Time {
	i := s.next - s.log.first
	if i >= len(s.log.list) {
		return engine.Never
	}
	if !s.drawn {
		n := &s.log.list[i]
		s.drawn, s.arrives = true, max(s.last, n.at.Add(s.latency.Sample(s.draws.Stream(n.purpose).Draw(n.version))))
	}
	return s.arrives
}

// take returns the next write, which has arrived.
func (s *sliceWatch) take() *sliceWrite {
	n := &s.log.list[s.next-s.log.first]
	s.next++
	s.last, s.drawn = s.arrives, false
	return n.write
}

// mayStart says whether news may start a sync: of a proxy that is idle, or whose bucket may have a token
// by then (pace.Policy.Burst).
func (p *NodeProxy) mayStart() bool {
	return p.syncing == nil && (!p.pending || p.pace.Burst > 0)
}

// hear takes up what has arrived by a moment and starts no sync.
func (p *NodeProxy) hear(by engine.Time) {
	if p.mayStart() || p.w.dead[p.node] || p.w.asleep(p.owner) {
		return
	}
	for at := p.slices.arrival(); at <= by; at = p.slices.arrival() {
		p.takeUp()
		p.pending = true
		p.tellWait()
	}
}

// takeUp has the proxy know the next write: since it arrived, or since it is no longer paused.
func (p *NodeProxy) takeUp() {
	at := max(p.slices.arrival(), p.others.clock)
	write := p.slices.take()
	p.w.tellObject(AuditEvent{Kind: Delivered, Name: strings.TrimPrefix(p.slices.label, "watch ")}, write)
	if write.view.Number > p.received.Number { // a restart may have shown it more by then
		p.received = write.view
	}
	p.health = p.health.Queued(endpoints.IPv4, at.Clock())
	p.state.Change(at.Duration())
}

// tellWait has the Journal hear that the proxy waits with news.
func (p *NodeProxy) tellWait() {
	if p.syncing != nil || !p.w.chronicle.follows(p.node) {
		return
	}
	if at, _, never := p.pace.Next(p.state); !never {
		p.w.noteWait(p, at)
	}
}

// deliver brings news that may start a sync.
func (p *NodeProxy) deliver(at engine.Time) {
	if p.w.dead[p.node] || p.slices.arrival() > at {
		return
	}
	p.catchUp()
	p.takeUp()
	p.changed()
	p.expect()
}

// expect makes an event of the arrival of the next write, if that may start a sync, or somebody is told of
// everything when it happens.
func (p *NodeProxy) expect() {
	s, at, wakes := &p.slices, engine.Never, p.mayStart()
	if (wakes || p.w.hear != nil || p.w.chronicle.follows(p.node)) && !p.w.dead[p.node] && !p.w.asleep(p.owner) {
		at = s.arrival()
	}
	if at == s.due && wakes == s.wakes {
		return
	}
	p.w.eng.Cancel(s.event)
	s.due, s.wakes = at, wakes
	switch now := p.w.eng.Now(); {
	case at == engine.Never:
	case wakes:
		s.event = p.w.eng.At(max(at, now), engine.ClassDelivery, p.owner, s.label, p.does.arrived)
	default:
		s.event = p.w.eng.Look(max(at, now), engine.ClassDelivery, p.owner, p.does.looked)
	}
}

func (p *NodeProxy) arrived() {
	at := p.w.eng.Now()
	p.slices.due = engine.Never
	p.does.deliver(uint64(at))
}

func (p *NodeProxy) looked() {
	p.slices.due = engine.Never
	p.hear(p.w.eng.Now())
	p.expect()
}

// Heard has a node's proxy take up what has arrived by a moment, not later than the next event of the
// world, and returns the number of the View that it knows of then; 0 for no node.
func (w *World) Heard(node int, by engine.Time) uint64 {
	if node < 0 {
		return 0
	}
	p := w.Proxies[node]
	p.hear(by)
	return p.received.Number
}
