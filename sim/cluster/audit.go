package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
)

// Unrest says what of the world is not as the workloads ask for, "" for nothing: pods that
// are missing, too many, of another revision, not ready or on their way out, and rules that
// lag behind. A paused Deployment asks for the number of its pods only.
func (w *World) Unrest() string {
	if s := w.paused(); s != "" {
		return s + " is paused"
	}
	for i := range w.sc.Workloads {
		s := w.unrestOf(i, true)
		if deadline := w.overdue(i); deadline != "" && s != "" {
			return deadline + "; " + s
		}
		if s != "" {
			return s
		}
	}
	if s := cmp.Or(w.closingNode(), w.unnoticedNode()); s != "" {
		return s
	}
	return cmp.Or(w.lag(), w.disrupts.drains.Waiting(), w.disrupts.takers.Waiting())
}

// crashLoop is from how many restarts on a pod counts as one that will not stay up: its next
// back-off is 40 s (docs/model/pod-lifecycle.md 7).
const crashLoop = 3

// CrashLooping says whether some pod is restarted again and again.
func (w *World) CrashLooping() bool {
	for i := range w.sc.Workloads {
		if w.crashLooping(i) {
			return true
		}
	}
	return false
}

func (w *World) crashLooping(workload int) bool {
	for _, id := range w.livePods {
		if p, ok := w.store.Get(api.PodKey(id)).(*api.Pod); ok && p.Workload == workload && p.Restarts >= crashLoop && p.Active() {
			return true
		}
	}
	return false
}

// Coming says, of a world in which something cannot end, that something else may yet be as its workload asks for: pods that wait for their
// volumes, start or are probed, or are on their way out. Nothing is known that would keep them from it.
func (w *World) Coming() bool {
	if w.store.Down() || w.store.AnyFrozen() {
		return false
	}
	stuck := w.AllThatCannotEnd()
	for i := range w.sc.Workloads {
		d, ok := w.asked(i)
		if !ok || d.Paused || w.unrestOf(i, true) == "" || w.overdue(i) != "" || w.crashLooping(i) {
			continue
		}
		known := slices.ContainsFunc(stuck, func(s control.Stuck) bool { return s.Workload == i })
		if !known && w.hindrance(d) == nil {
			return true
		}
	}
	return false
}

// Stuck says what is wrong with a world in which nothing happens any more, nil for nothing.
// The API server answers and nothing is paused, or nothing is promised. Then no pod is on its way out, no node's
// rules lag behind, no workload has more pods than it may; and one whose pods are all ready
// has as many as it should, of the revision it should, unless it is paused.
func (w *World) Stuck() error {
	if w.store.Down() || w.store.AnyFrozen() {
		return nil
	}
	for i := range w.sc.Workloads {
		if s := w.unrestOf(i, false); s != "" {
			return fmt.Errorf("at rest, and %s", s)
		}
	}
	if s := w.lag(); s != "" {
		return fmt.Errorf("at rest, and %s", s)
	}
	return nil
}

// census counts a workload's pods in the API.
type census struct {
	active, old int      // old ones are to be replaced by others
	leaving     string   // one that is on its way out, "" for none
	sick        []string // active, and not ready
	gated       string   // one of them whose readiness gates alone keep it from being ready
	starting    string   // active, and its server runs and does not listen yet, "" for none
}

// unready says what of the pods is not ready, or does not listen yet though it is; "" for nothing.
func (c *census) unready() string {
	switch {
	case c.gated != "":
		return c.gated
	case len(c.sick) > 0:
		return strings.Join(c.sick, ", ") + " not ready"
	case c.starting != "":
		return c.starting + " does not listen yet"
	default:
		return ""
	}
}

func (w *World) census(d *api.Workload) (c census) {
	keeper := w.keeperOf(d.Workload)
	for _, id := range w.livePods {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || p.Workload != d.Workload || !w.claimed(p) {
			continue
		}
		if p.Deleting() && !w.stranded(p) {
			c.leaving = p.Called()
		}
		if !p.Active() {
			continue
		}
		c.active++
		if i := w.PodInstance(id); i != nil && i.Starting() {
			c.starting = p.Called()
		}
		if (!p.Ready || w.doomed(p)) && !w.pods[id].unwell {
			c.sick = append(c.sick, p.Called())
			c.gated = cmp.Or(c.gated, w.gateWords(p))
		}
		if keeper.Outdated(d, p) {
			c.old++
		}
	}
	return c
}

// doomed says that the machine of a pod is off, and that the pod is to be deleted for that: what its status says was written before.
func (w *World) doomed(p *api.Pod) bool {
	return p.Node >= 0 && w.dead[p.Node] && w.lapses.evictor.Plans(p.ID)
}

// unrestOf looks at one workload. strict also minds pods that are not ready, and what follows
// from that.
func (w *World) unrestOf(workload int, strict bool) string {
	d, ok := w.asked(workload)
	if !ok {
		return ""
	}
	c, name, keeper := w.census(d), w.sc.Workloads[workload].Name(), w.keeperOf(workload)
	most := keeper.Most(d)
	switch {
	case c.leaving != "":
		return c.leaving + " is Terminating" + w.longGrace(workload)
	case c.active > most:
		return fmt.Sprintf("%s has %d pods, of at most %d", name, c.active, most)
	case strict && c.unready() != "":
		return c.unready()
	case len(c.sick) > 0 || d.Paused && (!strict || c.active > 0):
		return "" // a rollout that waits for them is as it should be; a paused one stays as it is
	case !strict && (w.heldName(d) != nil || w.sets.Refused(workload)):
		return "" // its name is taken: it waits for somebody to delete the Node, or the pod; or for a webhook that answers
	case c.active != d.Replicas:
		return fmt.Sprintf("%s has %d pods, of %d", name, c.active, d.Replicas)
	case c.old > 0 && !d.Paused && (strict || keeper.Hindrance(d) == nil):
		return fmt.Sprintf("%s has %d pods of an old revision", name, c.old)
	}
	return ""
}

// longGrace says that pods of a workload may be on their way out for longer than most runs go on.
func (w *World) longGrace(workload int) string {
	const long = 30 * engine.Minute
	if grace := w.sc.Workloads[workload].Grace(); grace >= long {
		return fmt.Sprintf(", with a grace period of %d s", grace/engine.Second)
	}
	return ""
}

// lag says which node's rules lag behind the pods.
func (w *World) lag() string {
	for n := range w.Proxies {
		if s := w.Lateness(n); s != nodeproxy.StageDone {
			return fmt.Sprintf("the rules of %s wait for %s", w.sc.Nodes[n].Name, s)
		}
	}
	return ""
}
