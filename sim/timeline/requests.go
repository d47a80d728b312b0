package timeline

import (
	"cmp"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// requests are what was heard of the requests of a run.
type requests struct {
	clients  []client
	bucket   engine.Time
	failures []ledger.Request // every stride-th
	firsts   []ledger.Request // of each client and cause
	stride   uint64
	failed   uint64
	lost     map[lostKey]uint64
	anyway   map[lostKey]uint64  // of lost, those that fail without the action, too
	without  map[requestKey]bool // those of them that are known
	metPods  map[string]uint64
	metNodes map[int]uint64
	met      map[metKey]uint64
}

type lostKey struct {
	blame  ledger.Blame
	stream int
}

// requestKey is a request: it has the same number in the run without the action.
type requestKey struct {
	stream int
	number uint64
}

// metKey is what requests met. Stream is anyStream for those of all; ingress is the pod of the ingress controller that had asked for them.
type metKey struct {
	pod     string
	node    int
	stream  int
	ingress string
}

const anyStream = -1

// client is what was heard of one stream.
type client struct {
	total, slow, rescued, failed []uint32
	requests, lost               uint64
	open                         map[uint64]engine.Time // arrivals of those that are under way
	flagged                      map[uint64]engine.Time // ... and of those that were slow or rescued
	counted                      uint64                 // that were told of without their arrivals
	since                        engine.Time            // the last arrival that is known
	spread                       bool
}

const finest = 10 * engine.Millisecond // the first width of a bucket

func newRequests(sc *world.Scenario) requests {
	out := requests{
		clients: make([]client, len(sc.Traffic)), bucket: finest, stride: 1, lost: map[lostKey]uint64{}, anyway: map[lostKey]uint64{}, without: map[requestKey]bool{},
		metPods: map[string]uint64{}, metNodes: map[int]uint64{}, met: map[metKey]uint64{},
	}
	for i := range out.clients {
		out.clients[i].open, out.clients[i].flagged = map[uint64]engine.Time{}, map[uint64]engine.Time{}
	}
	return out
}

// Without says, before the run, which requests fail in the same run without the action, or others in their place.
func (r *requests) Without(failed []ledger.Request) {
	for i := range failed {
		r.without[requestKey{failed[i].Stream, failed[i].Number}] = true
	}
}

// Begin hears of a request that arrives.
func (r *requests) Begin(stream int, number uint64, arrival engine.Time) {
	c := &r.clients[stream]
	r.spread(c, arrival)
	c.open[number] = arrival
	c.requests++
	r.count(&c.total, arrival, 1)
}

// Counted hears of requests that were answered, whose arrivals are not told.
func (r *requests) Counted(stream int, _, n uint64) {
	r.clients[stream].counted += n
}

// AttemptFailed hears of nothing that a lane shows.
func (r *requests) AttemptFailed(int) {}

// Succeed hears of a request that was answered.
func (r *requests) Succeed(stream int, number, _ uint64, end engine.Time, rescued, late bool) {
	c := &r.clients[stream]
	arrival, known := c.open[number]
	if !known {
		arrival = end
	}
	delete(c.open, number)
	if !rescued && !late {
		return
	}
	c.flagged[number] = arrival
	if late {
		r.count(&c.slow, arrival, 1)
	} else {
		r.count(&c.rescued, arrival, 1)
	}
}

// Revoke hears that a request was not answered after all.
func (r *requests) Revoke(stream int, number uint64, rescued, late bool) {
	c := &r.clients[stream]
	if !rescued && !late {
		return
	}
	arrival := c.flagged[number]
	delete(c.flagged, number)
	c.open[number] = arrival
	list := c.rescued
	if late {
		list = c.slow
	}
	list[arrival/r.bucket]--
}

// Fail hears of a request that failed.
func (r *requests) Fail(q *ledger.Request) {
	c := &r.clients[q.Stream]
	delete(c.open, q.Number)
	c.lost++
	r.count(&c.failed, q.Arrival, 1)
	if r.lost[lostKey{q.Blame, q.Stream}]++; r.lost[lostKey{q.Blame, q.Stream}] == 1 {
		r.firsts = append(r.firsts, *q)
	}
	if r.without[requestKey{q.Stream, q.Number}] {
		r.anyway[lostKey{q.Blame, q.Stream}]++
	} else {
		r.meets(q)
	}
	if r.failed%r.stride == 0 {
		r.keep(q)
	}
	r.failed++
}

// meets counts a failed request for what it met.
func (r *requests) meets(q *ledger.Request) {
	r.metNodes[q.Node]++
	if q.Pod != "" {
		r.metPods[q.Pod]++
		r.met[metKey{q.Pod, q.Node, anyStream, ""}]++
		r.met[metKey{q.Pod, q.Node, q.Stream, q.Ingress}]++
	}
}

// keep keeps a failed request, and every second one when there are twice as many as may be marked: so many are left that may.
func (r *requests) keep(q *ledger.Request) {
	if len(r.failures) == 2*mostFailures {
		kept := r.failures[:0]
		for i := 0; i < len(r.failures); i += 2 {
			kept = append(kept, r.failures[i])
		}
		r.failures = kept
		if r.stride *= 2; r.failed%r.stride != 0 {
			return
		}
	}
	r.failures = append(r.failures, *q)
}

// marked are the failed requests that are marked: as many of those that are kept as may be, evenly, and of each client and cause one at least.
func (r *requests) marked() []ledger.Request {
	out, have := make([]ledger.Request, min(len(r.failures), mostFailures)), map[requestKey]bool{}
	for i := range out {
		out[i] = r.failures[i*len(r.failures)/len(out)]
	}
	for i := range out {
		have[requestKey{out[i].Stream, out[i].Number}] = true
	}
	for i := range r.firsts {
		if q := &r.firsts[i]; !have[requestKey{q.Stream, q.Number}] {
			out = append(out, *q)
		}
	}
	return out
}

// count adds to the bucket of an arrival.
func (r *requests) count(list *[]uint32, arrival engine.Time, n uint32) {
	for arrival/r.bucket >= mostBuckets {
		r.widen()
	}
	i := int(arrival / r.bucket)
	for len(*list) <= i {
		*list = append(*list, 0)
	}
	(*list)[i] += n
}

// widen makes one bucket of two.
func (r *requests) widen() {
	r.bucket *= 2
	for i := range r.clients {
		c := &r.clients[i]
		for _, list := range []*[]uint32{&c.total, &c.slow, &c.rescued, &c.failed} {
			half := (*list)[:0]
			for k := 0; k < len(*list); k += 2 {
				sum := (*list)[k]
				if k+1 < len(*list) {
					sum += (*list)[k+1]
				}
				half = append(half, sum)
			}
			*list = half
		}
	}
}

// spread shares the requests whose arrivals were not told evenly between two that were.
func (r *requests) spread(c *client, until engine.Time) {
	n := c.counted
	if n > 0 {
		c.spread, c.counted = true, 0
		c.requests += n
		r.share(c, until, n)
	}
	c.since = max(c.since, until)
}

func (r *requests) share(c *client, until engine.Time, n uint64) {
	from, to := c.since, max(until, c.since+1)
	for to/r.bucket >= mostBuckets {
		r.widen()
	}
	done, span := uint64(0), float64(to-from)
	for at := from; at < to; {
		next := min(to, (at/r.bucket+1)*r.bucket)
		upTo := uint64(float64(n) * (float64(next-from) / span))
		if next == to {
			upTo = n
		}
		r.count(&c.total, at, uint32(upTo-done))
		at, done = next, upTo
	}
}

// clientLanes are the lanes of clients.
func (b *builder) clientLanes() []ClientLane {
	out := []ClientLane{}
	for i := range b.r.clients {
		b.r.spread(&b.r.clients[i], b.end)
	}
	for i := range b.r.clients {
		c, t := &b.r.clients[i], &b.r.sc.Traffic[i]
		lane := ClientLane{
			Name: t.Name, Service: t.Service, External: t.External, Nodes: append([]string{}, t.Nodes...), Healthy: t.HealthyNodesOnly, Bucket: b.r.bucket, Exact: !c.spread, Requests: c.requests, Lost: c.lost,
		}
		if t.Rate > 0 {
			lane.Rate = (engine.Time(t.Rate) * engine.Millisecond).Seconds()
		}
		n := max(len(c.total), len(c.failed), len(c.slow), len(c.rescued))
		lane.Total, lane.Slow, lane.Rescued, lane.Failed = padded(c.total, n), padded(c.slow, n), padded(c.rescued, n), padded(c.failed, n)
		out = append(out, lane)
	}
	return out
}

func padded(list []uint32, n int) []uint32 {
	return append(append([]uint32{}, list...), make([]uint32, n-len(list))...)
}

// lostCauses count all that failed.
func (b *builder) lostCauses() []LostCause {
	out := []LostCause{}
	for k, n := range b.r.lost { // order: sorted below
		out = append(out, LostCause{k.blame.Cause.String(), k.blame.Actor.String(), k.blame.Elsewhere, k.stream, n, b.r.anyway[k]})
	}
	sorted.By(out, func(x, y LostCause) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Cause, y.Cause), cmp.Compare(x.Actor, y.Actor), cmp.Compare(x.Client, y.Client),
			cmp.Compare(rankOf(x.Elsewhere), rankOf(y.Elsewhere)))
	})
	return out
}

func rankOf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
