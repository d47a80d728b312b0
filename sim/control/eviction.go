package control

import (
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// An eviction that meets another's write tries again after so long, so often (Kubernetes 1.36
// pkg/registry/core/pod/storage/eviction.go: EvictionsRetry, 500 ms with a jitter of 10 %; verified); then it answers with the last
// conflict, as client-go's retry returns that and not the timeout which the file would make a 504 (k8s.io/client-go v0.36.3 util/retry,
// OnError; verified). A budget records so many pods at most (the same file: MaxDisruptedPodSize).
const (
	shortestConflict = 500 * engine.Millisecond
	longestConflict  = 550 * engine.Millisecond
	mostConflicts    = 20
	mostDisrupted    = 2000
)

// A refusal that names a time to wait (Retry-After) is not for the caller: client-go asks again by itself after that time, so often
// (k8s.io/client-go v0.36.3 rest/with_retry.go, rest/request.go: maxRetries; verified). Of a budget that is behind its spec the API server
// names so long (Kubernetes 1.36.3 pkg/registry/core/pod/storage/eviction.go createTooManyRequestsError; verified).
const (
	mostRetries = 10
	stillBehind = 10 * engine.Second
)

// PolicySince is the first minor version of Kubernetes 1 whose API has unhealthyPodEvictionPolicy, and heeds it by default
// (KEP-3017: beta).
const PolicySince = 27

// Code is what the API server answers an eviction with.
type Code uint8

// The codes.
const (
	Evicted     Code = iota // 201: the pod is being deleted
	Absent                  // 404
	NotNow                  // 429: a budget does not allow it at the moment
	Impossible              // 500, or 403: it does not do that
	Conflict                // 409: too many of them
	Unreachable             // no answer
)

// Answer is that of the eviction API.
type Answer struct {
	Code   Code
	Budget int    // that refuses, of NotNow and Impossible
	Why    string // in words, "" for Evicted and Absent
	Again  bool   // the client asks again by itself: another answer follows
}

// Evictions is the eviction subresource of the API server (Kubernetes 1.36 pkg/registry/core/pod/storage/eviction.go;
// verified). It reads what it needs when it is asked; each of its two writes takes its time.
type Evictions struct {
	d *Desk
	coverage
	minor int // of the Kubernetes version
}

// NewEvictions is the eviction subresource of an API server of Kubernetes 1.minor.
func NewEvictions(d *Desk, minor int) *Evictions {
	return &Evictions{d: d, coverage: newCoverage(d), minor: minor}
}

// eviction is one request.
type eviction struct {
	owner    engine.Owner
	pod      *api.Pod
	grace    engine.Time // world.OwnGrace for the pod's
	answered func(Answer)
	retries  int // that the client has made
}

// Evict asks for a pod to be removed. answered hears the answer, at once where nothing has to be written.
func (e *Evictions) Evict(owner engine.Owner, id api.PodID, grace engine.Time, answered func(Answer)) {
	e.request(&eviction{owner: owner, grace: grace, answered: answered}, id)
}

// request asks once.
func (e *Evictions) request(r *eviction, id api.PodID) {
	p, ok := e.d.API.Get(api.PodKey(id)).(*api.Pod)
	r.pod = p
	answered := r.answered
	budgets := []int{}
	if ok {
		budgets = e.of(p)
	}
	switch {
	case e.d.API.Down():
		answered(Answer{Code: Unreachable, Why: "the API server does not answer"})
	case !ok:
		answered(Answer{Code: Absent})
	case p.Phase.Terminal(), p.Phase == api.PhasePending, p.Deleting(), len(budgets) == 0:
		e.remove(r)
	case len(budgets) > 1:
		answered(Answer{Code: Impossible, Budget: budgets[1], Why: fmt.Sprintf("500: %s and %s both cover the pod, which the eviction API does not support",
			e.d.Budgets[budgets[0]].Words(), e.d.Budgets[budgets[1]].Words())})
	case !p.Ready && e.free(budgets[0]):
		e.remove(r)
	default:
		e.decrement(r, budgets[0], 0)
	}
}

// free says whether a pod that is not ready may go without a look at what the budget allows.
func (e *Evictions) free(n int) bool {
	b := e.budget(n)
	if policy := e.d.BudgetOf(b).Value.Spec.UnhealthyPodEvictionPolicy; e.minor >= PolicySince && policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return b.Healthy >= b.Desired && b.Desired > 0
}

// budget is the present version of one.
func (e *Evictions) budget(n int) *api.Budget {
	b, ok := e.d.API.Get(api.BudgetKey(n)).(*api.Budget)
	if !ok {
		panic("control: no such budget") // they are there from the beginning, and stay
	}
	return b
}

// decrement takes one disruption of a budget and notes the pod there, then deletes it.
func (e *Evictions) decrement(r *eviction, n, conflicts int) {
	base := e.budget(n)
	switch {
	case base.Behind():
		e.behind(r, n)
		return
	case len(base.Disrupted) > mostDisrupted:
		r.answered(Answer{Code: Impossible, Budget: n, Why: fmt.Sprintf("403: %s has recorded more than %d evicted pods", e.d.Budgets[n].Words(), mostDisrupted)})
		return
	case base.Allowed == 0:
		r.answered(Answer{Code: NotNow, Budget: n, Why: e.refusal(n)})
		return
	}
	conflict := false
	e.d.API.Write(r.owner, "evict: budget status", api.BudgetKey(n), func(o api.Object) api.Object {
		if conflict = o != api.Object(base); conflict {
			return nil
		}
		next := *base
		next.Allowed--
		next.Disrupted = noted(base.Disrupted, api.Disrupted{Pod: r.pod.ID, At: e.d.Engine.Now().TruncateToSecond()})
		return &next
	}, func() {
		switch conflicts++; {
		case !conflict:
			e.remove(r)
		case conflicts >= mostConflicts:
			r.answered(Answer{Code: Conflict, Why: fmt.Sprintf("409: %d evictions in a row met another change of %s", mostConflicts, e.d.Budgets[n].Words())})
		default:
			e.d.Engine.After(e.pause(r, conflicts), engine.ClassTimer, r.owner, "evict again", func() { e.decrement(r, n, conflicts) })
		}
	})
}

// behind answers that a budget is still being processed, with a time to wait.
func (e *Evictions) behind(r *eviction, n int) {
	again := r.retries < mostRetries
	r.retries++
	r.answered(Answer{Code: NotNow, Budget: n, Again: again, Why: e.d.BudgetOf(e.budget(n)).Words() +
		" was changed, and is still being processed by the server: the disruption controller has not seen the change"})
	if again {
		e.d.Engine.After(stillBehind, engine.ClassTimer, r.owner, "evict after Retry-After", func() { e.request(r, r.pod.ID) })
	}
}

// noted adds a pod to those recorded, in order of ID, in the place of an older record.
func noted(list []api.Disrupted, d api.Disrupted) []api.Disrupted {
	out := slices.DeleteFunc(slices.Clone(list), func(o api.Disrupted) bool { return o.Pod == d.Pod })
	i, _ := slices.BinarySearchFunc(out, d.Pod, func(o api.Disrupted, id api.PodID) int { return int(o.Pod - id) })
	return slices.Insert(out, i, d)
}

// pause is how long a request waits after a conflict.
func (e *Evictions) pause(r *eviction, conflicts int) engine.Time {
	span, err := engine.Uniform(shortestConflict, longestConflict)
	if err != nil {
		panic(err) // constants in order
	}
	return span.Sample(e.d.Engine.Stream(r.pod.Name, "eviction conflict").Draw(uint64(conflicts)))
}

// remove deletes the pod.
func (e *Evictions) remove(r *eviction) {
	e.d.API.Write(r.owner, "evict pod", api.PodKey(r.pod.ID), e.d.Specs.Deletion(r.pod.ID, r.grace), func() { r.answered(Answer{Code: Evicted}) })
}

// refusal says why a budget allows no eviction.
func (e *Evictions) refusal(n int) string {
	b := e.budget(n)
	budget := e.d.BudgetOf(b)
	of := budget.Words()
	if v, _ := budget.Bound(); v == nil {
		return of + " allows no eviction: it has neither minAvailable nor maxUnavailable"
	}
	if b.Expected == 0 {
		return of + " allows no eviction: it goes by what controllers are to keep, and its pods have none, or none that keeps any"
	}
	pods, have := "pods are", "have"
	if b.Expected == 1 {
		pods = "pod is"
	}
	if b.Desired == 1 {
		have = "has"
	}
	return fmt.Sprintf("%s allows no eviction: %d of %d %s ready, and %d %s to be", of, b.Healthy, b.Expected, pods, b.Desired, have)
}

// Once asks for the eviction of a pod with its own grace period, and tells the log of a refusal: nobody tries again.
func (e *Evictions) Once(owner engine.Owner, id api.PodID, answered func(Answer)) {
	e.Evict(owner, id, world.OwnGrace, func(a Answer) {
		e.tell(id, a)
		if !a.Again {
			answered(a)
		}
	})
}

// tell has the log hear of a refusal.
func (e *Evictions) tell(id api.PodID, a Answer) {
	if a.Why != "" {
		e.d.Log.Tell(event.Event{Kind: event.EvictionRefused, Pod: id, Node: -1, Stream: -1, Refusal: a.Why})
	}
}
