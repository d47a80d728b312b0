package swarm

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// requests is what is known of requests and their connections.
type requests struct {
	tries []int       // by stream: answers and failed attempts
	flows []int       // by stream: endpoints chosen
	via   []api.PodID // by stream: the controller's pod that was the last to ask
	// standing are the answers that are counted on and not there yet, by endpoint, and by the
	// controller's pod that they come through.
	standing map[uint64]map[answer]promised
	count    int
	newest   map[answer]told
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

// told is what the ledger said of the newest answer of a request.
type told struct {
	number        int
	rescued, late bool
}

// check is something to look at later.
type check struct {
	at  engine.Time
	run func(at engine.Time)
}

func newRequests(streams int) requests {
	return requests{tries: make([]int, streams), flows: make([]int, streams), via: make([]api.PodID, streams), standing: map[uint64]map[answer]promised{}, newest: map[answer]told{}, revoked: map[int]bool{}}
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

// Counted is not heard: who listens has every request followed.
func (r *requests) Counted(stream int, first, n uint64) {
	r.shared.judge.fail("counted", "%d requests of stream %d from %d on are counted, not followed", n, stream, first)
}

// AttemptFailed counts.
func (r *requests) AttemptFailed(stream int) { r.tries[stream]++ }

// Succeed counts, and remembers when the answer will be there.
func (r *requests) Succeed(stream int, number, endpoint uint64, end engine.Time, rescued, late bool) {
	r.tries[stream]++
	r.shared.succeed(stream, number, endpoint)
	r.count++
	r.newest[answer{stream, number}] = told{r.count, rescued, late}
	r.stands(endpoint, answer{stream, number}, end)
	if id, ok := r.shared.judge.through(stream, number, endpoint); ok {
		r.stands(uint64(id), answer{stream, number}, end)
	}
}

// stands has an answer depend on a pod, until the end of its process or its own.
func (r *requests) stands(pod uint64, a answer, end engine.Time) {
	if r.standing[pod] == nil {
		r.standing[pod] = map[answer]promised{}
	}
	r.standing[pod][a] = promised{end, r.count}
}

// Revoke forgets the answer: with all that was said of it.
func (r *requests) Revoke(stream int, number uint64, rescued, late bool) {
	r.tries[stream]--
	newest := r.newest[answer{stream, number}]
	r.revoked[newest.number] = true
	if rescued != newest.rescued || late != newest.late {
		r.shared.judge.fail("revoked", "request %d of stream %d: rescued %v, late %v is taken back, and was rescued %v, late %v", number, stream, rescued, late, newest.rescued, newest.late)
	}
}

// Fail is heard for connections, for controllers, and for who could have answered.
func (r *requests) Fail(f *ledger.Request) {
	r.shared.failed(f)
	r.shared.judge.failedThrough(f)
	r.shared.judge.saysElsewhere(f)
	r.shared.judge.blamedMachine(f)
}

// longestRTT is the way of the last answer that a process gave.
const longestRTT = 10 * ms

// hearRequests looks at what is due, and at the end of a process: no answer stands that would
// have come from it later.
func (j *judge) hearRequests(e event.Event) {
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
	if e.Kind != event.Ended || !e.Main {
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
		if t := &j.w.Traffic[s]; n > j.requests.tries[s] && t.Connection == world.ConnectionOwn && t.LB == nil {
			j.fail("one endpoint", "stream %d chose an endpoint %d times in %d attempts", s, n, j.requests.tries[s])
		}
	}
}
