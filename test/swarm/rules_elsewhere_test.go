package swarm

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// able is whether a pod could answer, and since or until when: it listens, and is Ready in the API and not deleted,
// unless its Service publishes all addresses.
type able struct {
	listens, now bool
	since, until engine.Time
}

// hearAble follows who could answer.
func (j *judge) hearAble(e event.Event) {
	var p *pod
	switch o, ok := e.Object.(*api.Pod); {
	case e.Kind == event.Listening || e.Kind == event.Closed:
		p = j.pods[e.Pod]
		p.able.listens = e.OK
	case ok && e.Kind == event.Wrote:
		p = j.pods[o.ID]
	default:
		return
	}
	ready := p.api.Ready && !p.api.Gone && !p.api.Deleting() || j.w.Services[0].Service.Spec.PublishNotReadyAddresses
	could := p.able.listens && ready && j.app(p.api).Errors < 1000
	switch a := &p.able; {
	case could && !a.now:
		a.now, a.since = true, e.At
	case !could && a.now:
		a.now, a.until = false, e.At
	}
}

// A failure says "elsewhere" only if another pod of the Service could have answered at a moment
// between its arrival and its end, and says it if one could all the time
// (docs/model/simulator.md 9).
func (j *judge) saysElsewhere(r *ledger.Request) {
	t := &j.w.Traffic[r.Stream]
	if t.Connection != world.ConnectionOwn || t.KeepAlive || len(j.w.Services) > 1 || j.w.goes {
		return // judged when the connection was begun; whose pods count differs along the way
	}
	once, always := j.couldHave(r)
	// Of one that gave up before it was connected it is not told which pod is to blame.
	nowhere := r.Blame.Cause == ledger.NoEndpoint || r.Blame.Cause == ledger.NoLocalEndpoint
	switch {
	case r.Blame.Elsewhere && once == "":
		j.fail("elsewhere", "request %d of stream %d, from %s s to %s s: another pod could have answered, and none was Ready and listened", r.Number, r.Stream, r.Arrival.Seconds(), r.End.Seconds())
	case !r.Blame.Elsewhere && always != "" && (r.Pod != "" || nowhere):
		j.fail("elsewhere", "request %d of stream %d, from %s s to %s s: no other pod could have answered, and %s was Ready and listened", r.Number, r.Stream, r.Arrival.Seconds(), r.End.Seconds(), always)
	}
}

// couldHave names a pod that could have answered a request at some moment, and one that could all the time; "" for none.
func (j *judge) couldHave(r *ledger.Request) (once, always string) {
	for _, id := range j.order {
		p := j.pods[id]
		if p.api.Name == r.Pod && r.Outcome != ledger.Timeout && r.Outcome != ledger.HTTP5xx {
			continue // of one that timed out an earlier SYN may be to blame, and of one that a proxy gave up an earlier try: these went elsewhere
		}
		if p.able.now || p.able.until >= r.Arrival && p.able.until > 0 {
			once = p.api.Name
		}
		if p.able.now && p.able.since <= r.Arrival && p.api.Name != r.Pod {
			always = p.api.Name
		}
	}
	return once, always
}
