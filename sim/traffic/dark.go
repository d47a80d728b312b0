package traffic

import "github.com/lameduck-proxy/lameduck/sim/engine"

// darkness keeps account of how long clients are without a server that share one connection for all
// they ask. A request that comes meanwhile may wait and be answered in the end: the client was
// without a server all the same.
type darkness struct {
	sum, longest engine.Time // over all clients; of one client at a time
	now          int         // clients that are without one
	since        engine.Time // when the last of them lost its own, while all are
	all          engine.Time // the longest time in which all were
}

// darken notes that the client of a link has no server from now on: that it begins to look for one,
// or that the node which the connection leads through is gone. The half round trip before it knows of
// a closed connection does not count.
func (l *link) darken(now engine.Time) {
	if l.dark != engine.Never {
		return
	}
	l.dark = now
	s := l.stream
	if s.dark.now++; s.dark.now == len(s.links) {
		s.dark.since = now
	}
}

// lighten notes that it has one again.
func (l *link) lighten(now engine.Time) {
	d := &l.stream.dark
	if d.now == len(l.stream.links) {
		d.all = max(d.all, now-d.since)
	}
	d.now--
	d.add(now - l.dark)
	l.dark = engine.Never
}

func (d *darkness) add(span engine.Time) {
	d.sum += span
	d.longest = max(d.longest, span)
}

// Dark is how long the clients of a stream were without a server, of the kinds that share
// connections; the zero Dark of all others.
type Dark struct {
	Mean    engine.Time // over the clients: of the sum of each client's times
	Longest engine.Time // of one client at a time
	All     engine.Time // the longest time in which no client had one
}

// Dark returns the figures of a stream until a moment.
func (t *Traffic) Dark(stream int, end engine.Time) Dark {
	s := t.streams[stream]
	if len(s.links) == 0 {
		return Dark{}
	}
	d := s.dark
	end = min(end, t.stopped)
	if d.now == len(s.links) {
		d.all = max(d.all, end-d.since)
	}
	for _, l := range s.links {
		if l.dark < end {
			d.add(end - l.dark)
		}
	}
	return Dark{Mean: d.sum / engine.Time(len(s.links)), Longest: d.longest, All: d.all}
}
