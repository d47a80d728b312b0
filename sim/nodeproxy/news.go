package nodeproxy

import (
	"net/netip"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Every node's proxy hears of every slice. While one waits or syncs, what its watch brings changes nothing
// but what the next sync takes up. So such news is no event of the run: writes are kept in one log, from
// which each proxy takes what has arrived by the time it looks, or its state is asked for. Only news that may
// start a sync is an event. When news arrives is drawn as for every other watch.

// SliceLog is the writes of slices that some proxy has not heard of yet, in order.
type SliceLog struct {
	list    []sliceNews
	first   int // number of the first of the list
	full    int // length at which it is looked at again
	proxies []*Proxy
}

// sliceNews is one write, with what the delay of each watch is drawn from.
type sliceNews struct {
	write   *SliceWrite
	at      engine.Time
	purpose engine.Purpose
	version uint64
}

// Add has the proxies hear of a write, each after its delay.
func (l *SliceLog) Add(at engine.Time, write *SliceWrite, purpose engine.Purpose, version uint64) {
	l.forget()
	l.list = append(l.list, sliceNews{write, at, purpose, version})
	for _, p := range l.proxies {
		p.expect()
	}
}

// Len is how many writes the log holds.
func (l *SliceLog) Len() int { return len(l.list) }

// shortLog is how many writes are not worth a look at who has heard of them.
const shortLog = 16

// forget drops what all proxies have heard of, when that is half of the log. It looks at all of them, so not
// at each write.
func (l *SliceLog) forget() {
	if len(l.list) < l.full {
		return
	}
	heard := l.first + len(l.list)
	for _, p := range l.proxies {
		if !p.dead {
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
	log     *SliceLog
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
func (l *SliceLog) watch(name string, p *Proxy, draws engine.Component, latency engine.Dist) sliceWatch {
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
func (s *sliceWatch) take() *SliceWrite {
	n := &s.log.list[s.next-s.log.first]
	s.next++
	s.last, s.drawn = s.arrives, false
	return n.write
}

// mayStart says whether news may start a sync: of a proxy that is idle, or whose bucket may have a token
// by then (pace.Policy.Burst).
func (p *Proxy) mayStart() bool {
	return p.syncing == nil && (!p.pending || p.Pace.Burst > 0)
}

// Hear takes up what has arrived by a moment and starts no sync.
func (p *Proxy) Hear(by engine.Time) {
	if p.mayStart() || p.dead || p.asleep() {
		return
	}
	for at := p.slices.arrival(); at <= by; at = p.slices.arrival() {
		p.takeUp()
		p.pending = true
		p.tellWait()
	}
}

// takeUp has the proxy know the next write: since it arrived, or since it is no longer paused.
func (p *Proxy) takeUp() {
	at := max(p.slices.arrival(), p.others.clock)
	write := p.slices.take()
	p.log.Heard(strings.TrimPrefix(p.slices.label, "watch "), write)
	if write.View.Number > p.received.Number { // a restart may have shown it more by then
		p.received = write.View
	}
	p.health = p.health.Queued(endpoints.IPv4, at.Clock())
	p.state.Change(at.Duration())
}

// tellWait has the log hear that the proxy waits with news.
func (p *Proxy) tellWait() {
	if p.syncing != nil || !p.log.Follows(p.Node) {
		return
	}
	if at, _, never := p.Pace.Next(p.state); !never {
		p.log.Waits(p.Node, at, p.alone)
	}
}

// deliver brings news that may start a sync.
func (p *Proxy) deliver(at engine.Time) {
	if p.dead || p.slices.arrival() > at {
		return
	}
	p.CatchUp()
	p.takeUp()
	p.changed()
	p.expect()
}

// expect makes an event of the arrival of the next write, if that may start a sync, or a subscriber is told of
// everything when it happens.
func (p *Proxy) expect() {
	s, at, wakes := &p.slices, engine.Never, p.mayStart()
	if (wakes || p.log.Judged() || p.log.Follows(p.Node)) && !p.dead && !p.asleep() {
		at = s.arrival()
	}
	if at == s.due && wakes == s.wakes {
		return
	}
	p.eng.Cancel(s.event)
	s.due, s.wakes = at, wakes
	switch now := p.eng.Now(); {
	case at == engine.Never:
	case wakes:
		s.event = p.eng.At(max(at, now), engine.ClassDelivery, p.Owner, s.label, p.does.arrived)
	default:
		s.event = p.eng.Look(max(at, now), engine.ClassDelivery, p.Owner, p.does.looked)
	}
}

func (p *Proxy) arrived() {
	at := p.eng.Now()
	p.slices.due = engine.Never
	p.does.deliver(uint64(at))
}

func (p *Proxy) looked() {
	p.slices.due = engine.Never
	p.Hear(p.eng.Now())
	p.expect()
}

// SliceWrite is one write of one EndpointSlice, as watches hear of it.
type SliceWrite struct {
	Service int
	View    *View
	Records []netip.Addr // of a headless Service: all its ready addresses
}
