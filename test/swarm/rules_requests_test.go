package swarm

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// requests is what is known of requests and their connections.
type requests struct {
	tries []int // by stream: answers and failed attempts
	flows []int // by stream: endpoints chosen
	// standing are the answers that are counted on and not there yet, by endpoint.
	standing map[uint64]map[answer]promised
	count    int
	newest   map[answer]int
	revoked  map[int]bool
	checks   []check
	shared   connections
}

// answer names a request that is being answered.
type answer struct {
	stream int
	number uint64
}

// promised is when an answer will be there; number tells the answers of one request apart.
type promised struct {
	at     engine.Time
	number int
}

// check is something to look at later.
type check struct {
	at  engine.Time
	run func(at engine.Time)
}

func newRequests(streams int) requests {
	return requests{tries: make([]int, streams), flows: make([]int, streams), standing: map[uint64]map[answer]promised{}, newest: map[answer]int{}, revoked: map[int]bool{}}
}

func (r *requests) later(at engine.Time, run func(engine.Time)) {
	r.checks = append(r.checks, check{at, run})
}

// flow hears of a new connection.
func (r *requests) flow(stream int, to netip.AddrPort) {
	if to.IsValid() {
		r.flows[stream]++
	} else {
		r.shared.nowhere[stream]++
	}
}

// Begin is heard for connections only.
func (r *requests) Begin(stream int, number uint64, arrival engine.Time) {
	r.shared.begin(stream, number, arrival)
}

// AttemptFailed counts.
func (r *requests) AttemptFailed(stream int) { r.tries[stream]++ }

// Succeed counts, and remembers when the answer will be there.
func (r *requests) Succeed(stream int, number, endpoint uint64, end engine.Time, _, _ bool) {
	r.tries[stream]++
	r.shared.succeed(stream, number, endpoint)
	if r.standing[endpoint] == nil {
		r.standing[endpoint] = map[answer]promised{}
	}
	r.count++
	r.standing[endpoint][answer{stream, number}] = promised{end, r.count}
	r.newest[answer{stream, number}] = r.count
}

// Revoke forgets the answer.
func (r *requests) Revoke(stream int, number uint64, _, _ bool) {
	r.tries[stream]--
	r.revoked[r.newest[answer{stream, number}]] = true
}

// Fail is heard for connections only.
func (r *requests) Fail(f *ledger.Request) { r.shared.failed(f) }

// longestRTT is the way of the last answer that a process gave.
const longestRTT = 10 * ms

// hearRequests looks at what is due, and at the end of a process: no answer stands that would
// have come from it later.
func (j *judge) hearRequests(e cluster.AuditEvent) {
	r := &j.requests
	waiting := r.checks
	r.checks = nil
	for _, c := range waiting {
		if e.At >= c.at {
			c.run(e.At)
		} else {
			r.checks = append(r.checks, c)
		}
	}
	if e.Kind != cluster.Ended || !e.Main {
		return
	}
	cut := r.standing[uint64(e.Pod)]
	r.standing[uint64(e.Pod)] = map[answer]promised{}
	r.later(e.At+1, func(engine.Time) {
		for a, p := range cut {
			if p.at > e.At+longestRTT && !r.revoked[p.number] {
				j.fail("in flight", "request %d of stream %d was to be answered at %s s, the process ended at %s s, and the answer stands", a.number, a.stream, p.at.Seconds(), e.At.Seconds())
			}
		}
	})
}

// close looks at the whole run. A connection's SYN is repeated to the endpoint that was chosen
// once: never more choices than attempts, unless a load balancer sends it to another node.
// Connections that are shared are attempted apart from the requests.
func (j *judge) close(over engine.Time) {
	for _, c := range j.requests.checks {
		if c.at <= over {
			c.run(over)
		}
	}
	j.requests.shared.ended(over)
	for s, n := range j.requests.flows {
		if t := &j.w.Traffic[s]; n > j.requests.tries[s] && t.Connection == scenario.ConnectionOwn && t.LB == nil {
			j.fail("one endpoint", "stream %d chose an endpoint %d times in %d attempts", s, n, j.requests.tries[s])
		}
	}
}
