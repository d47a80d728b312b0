package control

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The API server's note that it is about to delete a pod counts so long (Kubernetes 1.36
// pkg/controller/disruption: DeletionTimeout; verified), and a write that meets a conflict is tried again after so
// long, doubled each time (client-go util/workqueue; verified).
const (
	deletionTimeout   = 2 * engine.Minute
	budgetBackOff     = 5 * engine.Millisecond
	mostBudgetBackOff = 1000 * engine.Second
)

// Disruption keeps the status of PodDisruptionBudgets (Kubernetes 1.36 pkg/controller/disruption; verified). Of a pod
// that several budgets cover it refreshes only one (measured): the first.
type Disruption struct {
	d     *Desk
	Owner engine.Owner
	react *Queue
	limit api.Limiter
	coverage

	pods   []api.PodList // by workload, as the watch has shown them
	scales []int         // spec.replicas by workload, the same
	work   []budgetWork  // by budget
}

// budgetWork is what the controller knows of one budget, and is at with it.
type budgetWork struct {
	seen        *api.Budget // as the watch has shown it
	busy, again bool        // a write is under way; there was news since
	conflicts   int         // in a row
}

// NewDisruption starts the disruption controller.
func NewDisruption(d *Desk) *Disruption {
	c := &Disruption{
		d: d, Owner: d.Engine.Register("disruption-controller"), limit: NewClient(), coverage: newCoverage(d),
		pods: make([]api.PodList, len(d.Workloads)), scales: make([]int, len(d.Workloads)), work: make([]budgetWork, len(d.Budgets)),
	}
	c.react = NewQueue(d, c.Owner, "disruption-controller", d.Latencies.Controller, c.sync)
	d.API.Subscribe("disruption-controller", c.Owner, d.Latencies.Watch, c.deliver, api.KindPod, api.KindDeployment, api.KindStatefulSet, api.KindReplicaSet, api.KindBudget)
	return c
}

// Begin takes over the pods and sizes that there are, and writes what the budgets' statuses have been by then.
func (c *Disruption) Begin(pods []*api.Pod, scales []int) {
	for _, p := range pods {
		c.pods[p.Workload].Set(p)
	}
	copy(c.scales, scales)
	for n := range c.work {
		c.work[n].seen = &api.Budget{Number: n}
		c.work[n].seen.BudgetStatus = c.status(n)
		c.d.API.Put(api.BudgetKey(n), c.work[n].seen)
	}
}

func (c *Disruption) deliver(o api.Object) {
	switch o := o.(type) {
	case *api.Pod:
		c.pods[o.Workload].Set(o)
		if of := c.of(o); len(of) > 0 {
			c.react.Add(of[0])
		}
	case *api.Workload: // its size is read at the next sync: nothing waits for it
		c.scales[o.Workload] = o.Replicas
	case *api.ReplicaSet: // that of a Deployment is not asked: the Deployment is
		if world.KindOf(c.d.Workloads[o.ID.Workload].Resource) == world.ReplicaSet {
			c.scales[o.ID.Workload] = o.Replicas
		}
	case *api.Budget:
		c.work[o.Number].seen = o
		c.react.Add(o.Number)
	}
}

// status computes what a budget's status is to be.
func (c *Disruption) status(n int) api.BudgetStatus {
	var s api.BudgetStatus
	now, old := c.d.Engine.Now(), c.work[n].seen.BudgetStatus
	pods, scale := 0, 0
	for w := range c.pods {
		covered := false
		for _, p := range c.pods[w] {
			if !c.covers(n, p) {
				continue
			}
			pods, covered = pods+1, true
			if p.Deleting() {
				continue
			}
			if at, noted := old.Records(p.ID); noted && now < at+deletionTimeout {
				s.Disrupted = append(s.Disrupted, api.Disrupted{Pod: p.ID, At: at})
			} else if p.Ready {
				s.Healthy++
			}
		}
		if covered {
			scale += c.scales[w]
		}
	}
	s.Expected, s.Desired = c.d.BudgetOf(c.work[n].seen).Desired(pods, scale)
	s.Observed = c.work[n].seen.Spec
	if s.Expected > 0 {
		s.Allowed = max(0, s.Healthy-s.Desired)
	}
	return s
}

// sync writes a budget's status if it is to be another, by the version that the watch has shown: an eviction may have
// written another one since.
func (c *Disruption) sync(n int) {
	w := &c.work[n]
	if w.busy {
		w.again = true
		return
	}
	s, base := c.status(n), w.seen
	for _, noted := range s.Disrupted {
		c.react.AddAt(noted.At+deletionTimeout, n)
	}
	if s.Same(&base.BudgetStatus) {
		return
	}
	w.busy = true
	conflict := false
	c.d.API.Limited(&c.limit, c.Owner, "budget status", api.BudgetKey(n), func(o api.Object) api.Object {
		if conflict = o != api.Object(base); conflict {
			return nil
		}
		return &api.Budget{Number: n, Spec: base.Spec, BudgetStatus: s}
	}, func() { c.wrote(n, conflict) })
}

// wrote ends a sync that had something to write.
func (c *Disruption) wrote(n int, conflict bool) {
	w := &c.work[n]
	w.busy = false
	if conflict {
		c.react.AddAt(c.d.Engine.Now()+min(budgetBackOff<<min(w.conflicts, 20), mostBudgetBackOff), n)
		w.conflicts++
	} else {
		w.conflicts = 0
	}
	if w.again {
		w.again = false
		c.react.Add(n)
	}
}
