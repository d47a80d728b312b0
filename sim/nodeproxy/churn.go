package nodeproxy

import (
	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// A cluster has other Services than those of the Scenario. Their EndpointSlices change, too; every node's
// proxy hears of each change by the same watch, and syncs for it as for any other
// (docs/model/kube-proxy.md 6: one runner for all Services). The rules of the Scenario's Services stay as
// they are, but what changes about these soon afterwards waits for minSyncPeriod.
//
// Nobody notices a sync for other Services alone, so it is no event of the run: a proxy catches up with
// those that have come to pass when it next hears of the Scenario. From then on until the Scenario's news
// is in force, what it hears of other Services are events.

// Churn is the changes of other Services' EndpointSlices: a Poisson process.
type Churn struct {
	eng  *engine.Engine
	mean engine.Time // between two changes; 0: there are none
	gaps engine.Stream
	at   []engine.Time // the changes in order, as far as anybody asked
	lost []outage
}

// outage is a time in which nothing was written; to is Never while it lasts.
type outage struct{ from, to engine.Time }

// churnBegins is before the run's beginning, so that proxies are at it by then.
const churnBegins = -engine.Minute

// NewChurn has other Services change so many times in 1000 s, never for 0.
func NewChurn(eng *engine.Engine, perThousand int) *Churn {
	c := &Churn{eng: eng, gaps: eng.Stream("other Services", "gap")}
	if perThousand > 0 {
		c.mean = 1000 * engine.Second / engine.Time(perThousand)
	}
	return c
}

// Change returns when the k-th change is written.
func (c *Churn) Change(k int) engine.Time {
	for len(c.at) <= k {
		last := churnBegins
		if n := len(c.at); n > 0 {
			last = c.at[n-1]
		}
		c.at = append(c.at, last+engine.Gap(c.mean, c.gaps.Draw(uint64(len(c.at)))))
	}
	return c.at[k]
}

// SetDown notes that the API server goes away, or is back: meanwhile nothing is written.
func (c *Churn) SetDown(down bool) {
	last := len(c.lost) - 1
	switch pending := last >= 0 && c.lost[last].to == engine.Never; {
	case down && !pending:
		c.lost = append(c.lost, outage{c.eng.Now(), engine.Never})
	case !down && pending:
		c.lost[last].to = c.eng.Now()
	}
}

// down says whether a change is to come at a time when the API server may still be away.
func (c *Churn) down(at engine.Time) bool {
	last := len(c.lost) - 1
	return last >= 0 && c.lost[last].to == engine.Never && at >= c.lost[last].from
}

// written says whether a change that would have come at a time was one.
func (c *Churn) written(at engine.Time) bool {
	for _, o := range c.lost {
		if at >= o.from && at < o.to {
			return false
		}
	}
	return true
}

// others is what a proxy has to do with other Services.
type others struct {
	delays, durations engine.Stream // of its watch, of its syncs for them alone

	change int         // the next one that its watch brings
	heard  engine.Time // when it brought the one before: news does not overtake news
	clock  engine.Time // nothing happens before: it was paused, or has been restarted

	syncing bool        // for them alone, and it is no event
	ends    engine.Time // when that sync does
	syncs   uint64
	news    engine.Handle // the next change, while it is an event
}

func newOthers(eng *engine.Engine, name string) others {
	return others{
		delays: eng.Stream(name, "watch of other Services"), durations: eng.Stream(name, "sync for other Services"),
		heard: churnBegins, clock: churnBegins,
	}
}

// arrival returns when the watch brings the next change of other Services, Never if it does not.
func (p *Proxy) arrival() engine.Time {
	c, o := p.churn, &p.others
	if c.mean == 0 {
		return engine.Never
	}
	for !c.written(c.Change(o.change)) {
		if c.down(c.Change(o.change)) {
			return engine.Never // nobody knows when that will be over
		}
		o.change++
	}
	delay := p.watch.Sample(o.delays.Draw(uint64(o.change)))
	return max(o.heard, c.Change(o.change)+delay)
}

// hears takes up the next change of other Services.
func (p *Proxy) hears(at engine.Time) {
	o := &p.others
	o.heard = p.arrival()
	o.change++
	p.state.Change(at.Duration())
	p.health = p.health.Queued(endpoints.IPv4, at.Clock())
}

// busy says whether a proxy waits or syncs with news of the Scenario.
func (p *Proxy) busy() bool { return p.pending || p.syncing != nil }

// CatchUp does what the proxy has done for other Services alone since anybody looked.
func (p *Proxy) CatchUp() {
	if p.churn.mean == 0 || p.busy() || p.dead || !p.filled || p.asleep() {
		return
	}
	for now := p.eng.Now(); ; {
		at, step := p.next()
		if at = max(at, p.others.clock); at > now {
			return
		}
		p.others.clock = at
		step(p, at)
	}
}

// next returns what happens next to a proxy that has to do with other Services alone. What arrives at
// the moment of something else comes first (engine.ClassDelivery).
func (p *Proxy) next() (at engine.Time, step func(*Proxy, engine.Time)) {
	at, step = p.arrival(), (*Proxy).hears
	if o := &p.others; o.syncing {
		if o.ends < at {
			at, step = o.ends, (*Proxy).endAlone
		}
		return at, step
	}
	if due, _, never := p.Pace.Next(p.state); !never && engine.FromDuration(due) < at {
		at, step = engine.FromDuration(due), (*Proxy).beginAlone
	}
	return at, step
}

func (p *Proxy) beginAlone(at engine.Time) {
	o := &p.others
	p.state.Begin(p.Pace, at.Duration())
	o.syncing, o.ends = true, at+p.duration.Sample(o.durations.Draw(o.syncs))
	o.syncs++
	p.alone = true
	p.log.SyncBegan(p, at, true)
}

func (p *Proxy) endAlone(at engine.Time) {
	p.others.syncing = false
	p.state.End(at.Duration(), true, false)
	p.health = p.health.Updated(endpoints.IPv4, at.Clock())
	p.log.SyncEnded(p, at, true)
}

// Attend makes events of what the proxy has to do with other Services, now that it is busy: of the
// sync under way, and of each change that its watch brings.
func (p *Proxy) Attend() {
	o := &p.others
	p.eng.Cancel(o.news)
	if !p.busy() {
		return
	}
	if o.syncing {
		o.syncing, p.syncing = false, p.installed
		p.ends = p.at(o.ends, "sync ends", p.does.finish)
	}
	if at := p.arrival(); at != engine.Never {
		o.news = p.eng.At(max(at, p.eng.Now()), engine.ClassDelivery, p.Owner, "watch other Services", p.does.hearOthers)
	}
}

// hearOthers takes up what the watch has brought of other Services while the proxy is busy.
func (p *Proxy) hearOthers() {
	if p.dead || !p.busy() {
		return
	}
	p.Hear(p.eng.Now())
	for now := p.eng.Now(); p.arrival() <= now; {
		p.hears(now)
	}
	p.plan(false)
	p.Attend()
	p.expect()
}

// skip forgets the changes of other Services so far: the proxy reads everything again.
func (p *Proxy) skip() {
	o := &p.others
	for now := p.eng.Now(); p.arrival() <= now; o.change++ {
		o.heard = p.arrival()
	}
	o.clock = p.eng.Now()
}

// mayHang says whether a change of other Services alone may wait for so long that the proxy counts as one
// that does not keep up: for the rest of a sync, minSyncPeriod, and a sync of its own.
func (p *Proxy) mayHang() bool {
	if p.churn.mean == 0 {
		return false
	}
	longest := engine.FromDuration(p.Pace.MinInterval) + 2*p.duration.Max()
	return longest.Duration() >= 2*p.Pace.RetryInterval
}
