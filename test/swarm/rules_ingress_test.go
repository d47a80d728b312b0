package swarm

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
)

// Rules about ingress controllers: what becomes of a request depends on two pods. Whom a
// controller's pod asks is judged like whom a load balancer sends to (rules_balancers_test.go).

// runs says whether the process of a pod's server runs.
func (j *judge) runs(id api.PodID) bool {
	p := j.pods[id]
	return p.container(&j.spec(p.api).Containers[0]).running
}

// podNamed is the number of a pod, -1 for none.
func (j *judge) podNamed(name string) int {
	for _, id := range j.order {
		if j.pods[id].api.Name == name {
			return int(id)
		}
	}
	return -1
}

// asked hears of a controller's pod that looks for a pod to ask: it is one that runs.
func (j *judge) asked(e event.Event) {
	if e.Kind != event.Sent || e.Proxy == traffic.NoProxy {
		return
	}
	id := api.PodID(e.Proxy)
	if j.requests.via[e.Stream] = id; !j.runs(id) {
		j.fail("dead controller", "%s asks for a request of stream %d after %s s, and does not run", j.pods[id].api.Name, e.Stream, e.At.Seconds())
	}
}

// through is the controller's pod that a request has just got an answer through: the one that was
// the last to ask. Neither of the two pods has ended.
func (j *judge) through(stream int, number, endpoint uint64) (id api.PodID, ok bool) {
	if j.w.Traffic[stream].Ingress == nil {
		return 0, false
	}
	id = j.requests.via[stream]
	for _, pod := range []api.PodID{id, api.PodID(endpoint)} {
		if !j.runs(pod) {
			j.fail("in flight", "request %d of stream %d is answered through %s, and %s does not run", number, stream, j.pods[id].api.Name, j.pods[pod].api.Name)
		}
	}
	return id, true
}

// A request that fails behind the controller is answered by it with an error, or by nobody in
// time; one that does not get to it never sees an error of HTTP. The ledger tells them apart by the
// controller's pod.
func (j *judge) failedThrough(r *ledger.Request) {
	t, asked := &j.w.Traffic[r.Stream], r.Ingress != ""
	target := web
	if t.Ingress != nil && !asked {
		target = ingress
	}
	wrong := ""
	switch {
	case asked && t.Ingress == nil:
		wrong = "there is no controller"
	case asked && (j.podNamed(r.Ingress) < 0 || j.home(j.pods[api.PodID(j.podNamed(r.Ingress))].api) != ingress):
		wrong = "that is none of the controller's pods"
	case asked && r.Outcome != ledger.HTTP5xx && (r.Outcome != ledger.Timeout || t.Timeout == 0):
		wrong = "a controller's pod had asked for it"
	case t.Ingress != nil && !asked && (r.Outcome == ledger.HTTP5xx || r.Blame.Actor == ledger.Ingress):
		wrong = "no controller's pod had asked for it"
	case r.Pod != "" && j.home(j.pods[api.PodID(j.podNamed(r.Pod))].api) != target:
		wrong = "that is no pod of " + target
	}
	if wrong != "" {
		j.fail("ingress", "request %d of stream %d, of %s s, is seen as %s (%s) through %q, at %q: %s", r.Number, r.Stream, r.Arrival.Seconds(), r.Outcome, r.Blame.Actor, r.Ingress, r.Pod, wrong)
	}
}
