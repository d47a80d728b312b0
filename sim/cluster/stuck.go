package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Stuck is a rollout that was begun and cannot end.
type Stuck struct {
	Workload int // of the scenario
	// Why says what it waits for, and What would let it go on, in words.
	Why, What string
	// Path is the field of the workload's manifest behind it, "" when there is none.
	Path string
}

// StuckRollout returns the first rollout, or change of size, that was begun and cannot end: the
// controllers have nothing to do, and what they wait for never comes. It is nil when there is none,
// and while something is under way that may change it.
func (w *World) StuckRollout() *Stuck {
	if w.store.Down() || w.store.AnyFrozen() {
		return nil
	}
	for i := range w.sc.Workloads {
		d, ok := w.store.Get(api.DeploymentKey(i)).(*api.Deployment)
		if !ok || !w.begun[i] || d.Paused || !w.waits(d) {
			continue
		}
		if s := w.hindrance(d); s != nil {
			s.Workload = i
			return s
		}
	}
	return nil
}

// waits says that a Deployment's controllers have done what they can do: no ReplicaSet is to have
// another size, and each has as many pods as it asks for, none of them on its way out.
func (w *World) waits(d *api.Deployment) bool {
	in := w.deploy.input(d)
	switch {
	case in.newRS == nil:
		return false
	case w.scalesForEver(d):
	case scaling(in) || w.deploy.recreates(d.Workload) && (in.total() > in.newRS.Replicas || in.newRS.Replicas != d.Replicas):
		return false
	case in.rolling && len(rollingUpdate(in)) > 0:
		return false
	}
	c := w.census(d)
	return c.leaving == "" && c.active == in.total()
}

// hindrance finds what a Deployment waits for that never comes, nil for nothing.
func (w *World) hindrance(d *api.Deployment) *Stuck {
	var homeless []*api.Pod
	for _, id := range w.sched.pending {
		if p, ok := w.store.Get(api.PodKey(id)).(*api.Pod); ok && p.Workload == d.Workload && p.Active() && p.Node < 0 {
			homeless = append(homeless, p)
		}
	}
	if len(homeless) > 0 {
		if w.anyLeaving() {
			return nil // a node may have room when it has gone
		}
		return w.unschedulable(d, homeless)
	}
	if p := w.deploy.progress[d.Workload]; p == nil || p.done || p.revision != d.Revision {
		return nil // it was complete: what happens later is no rollout
	}
	for _, id := range w.livePods {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || p.Workload != d.Workload || p.Revision != d.Revision || !p.Active() || p.Ready {
			continue
		}
		if s := w.neverReady(d, p); s != nil {
			return s
		}
	}
	if w.scalesForEver(d) {
		return &Stuck{
			Why:  "the Deployment controller takes its size to have changed each time it looks, and never comes to the rollout (kubernetes#138036)",
			What: "another size and back: kubectl scale", Path: "spec.replicas",
		}
	}
	return nil
}

// anyLeaving says whether a pod of any workload is on its way out.
func (w *World) anyLeaving() bool {
	return slices.ContainsFunc(w.livePods, func(id api.PodID) bool {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		return ok && p.Deleting()
	})
}

// neverReady says why a new pod that is not ready will not be, nil when it may be yet.
func (w *World) neverReady(d *api.Deployment, p *api.Pod) *Stuck {
	server := fmt.Sprintf("spec.template.spec.containers[%d]", w.Server(d.Workload))
	const back = "an image that does, or kubectl rollout undo"
	if gates := p.ClosedGates(); p.ContainersReady && len(gates) > 0 && !w.kept(d.Workload, gates[0]) {
		return &Stuck{
			Why:  fmt.Sprintf("the new pod waits for its readiness gate %s, which nobody sets", gates[0]),
			What: "the controller that sets it, or no such readiness gate", Path: "spec.template.spec.readinessGates",
		}
	}
	if s := neverAsked(w.PodSpec(api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision})); s != nil {
		return s
	}
	i := w.PodInstance(p.ID)
	switch {
	case p.Restarts >= crashLoop && i != nil && w.killedByProbe(p):
		return &Stuck{
			Why:  fmt.Sprintf("the new pod has been restarted %d times by its liveness or startup probe and never stays ready", p.Restarts),
			What: "a startupProbe with time enough, or kubectl rollout undo", Path: cmp.Or(probePath(w, d, server), server),
		}
	case p.Restarts >= crashLoop:
		return &Stuck{Why: fmt.Sprintf("the new pod has crashed %d times and never stays ready", p.Restarts), What: back, Path: server}
	case w.overdue(d.Workload) == "":
		return nil
	case i == nil || !i.Listening:
		return &Stuck{Why: "the new pod does not listen, " + w.patience(d), What: back, Path: server}
	default:
		return &Stuck{Why: "the new pod is not ready, " + w.patience(d), What: "a pod that becomes ready, or kubectl rollout undo", Path: server + ".readinessProbe"}
	}
}

// patience says how long a rollout has waited.
func (w *World) patience(d *api.Deployment) string {
	return fmt.Sprintf("%d s after the last progress (progressDeadlineSeconds)", *w.deployment(api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision}).Spec.ProgressDeadlineSeconds)
}

// killedByProbe says that the kubelet restarted the server of a pod for a probe.
func (w *World) killedByProbe(p *api.Pod) bool {
	wk := w.kubelets[p.Node].Worker(p.ID)
	return wk != nil && wk.KilledByProbe()
}

func probePath(w *World, d *api.Deployment, server string) string {
	c := &w.PodSpec(api.ReplicaSetID{Workload: d.Workload, Revision: d.Revision}).Containers[w.Server(d.Workload)]
	switch {
	case c.StartupProbe != nil:
		return server + ".startupProbe"
	case c.LivenessProbe != nil:
		return server + ".livenessProbe"
	default:
		return ""
	}
}

// phrases are what is said of one node with an obstacle, and of several; %s is the port's.
var phrases = [numObstacles]struct{ one, many string }{
	nodeLeaves:  {"is going away", "are going away"},
	nodeTainted: {"has a taint that the pod does not tolerate", "have taints that the pod does not tolerate"},
	nodeUnlike:  {"is not one that its nodeSelector or node affinity asks for", "are not what its nodeSelector or node affinity asks for"},
	portTaken:   {"already has a pod with %s", "already have a pod with %s"},
	podRepels:   {"already has a pod that podAntiAffinity keeps it apart from", "already have a pod that podAntiAffinity keeps it apart from"},
}

// unschedulable says why pods find no node.
func (w *World) unschedulable(d *api.Deployment, pods []*api.Pod) *Stuck {
	s, p := w.sched, pods[0]
	need := s.needsOf(w.pods[p.ID].id)
	var count [numObstacles]int
	port, path := "", ""
	for n := range w.sc.Nodes {
		o := s.obstacle(n, p)
		if o == unobstructed {
			return nil // it is about to be bound
		}
		if count[o]++; o == portTaken && port == "" {
			i := s.clash(n, need)
			port, path = portWords(need.ports[i], need.paths[i]), need.paths[i]
		}
	}
	total := len(w.sc.Nodes)
	var parts []string
	for o, n := range count {
		one, many := phrases[o].one, phrases[o].many
		if obstacle(o) == portTaken {
			one, many = fmt.Sprintf(one, port), fmt.Sprintf(many, port)
		}
		switch {
		case n == 0:
		case n == total && len(w.sc.Nodes) == 1:
			parts = append(parts, "the only node "+one)
		case n == total:
			parts = append(parts, fmt.Sprintf("each of the %d nodes %s", n, one))
		case n == 1:
			parts = append(parts, fmt.Sprintf("1 of %d nodes %s", total, one))
		default:
			parts = append(parts, fmt.Sprintf("%d of %d nodes %s", n, total, many))
		}
	}
	who := "the new pod finds no node: "
	if len(pods) > 1 {
		who = fmt.Sprintf("%d new pods find no node: ", len(pods))
	}
	what, field := w.room(d, count)
	return &Stuck{Why: who + strings.Join(parts, ", "), What: what, Path: cmp.Or(path, field)}
}

// portWords name a host port as the manifest does.
func portWords(p world.HostPort, path string) string {
	if strings.HasSuffix(path, "hostNetwork") {
		return fmt.Sprintf("port %d of the node (hostNetwork)", p.Port)
	}
	return fmt.Sprintf("hostPort %d", p.Port)
}

// room says what would let pods be scheduled, by the obstacle that a change of the workload can do
// most about, and which field is behind it.
func (w *World) room(d *api.Deployment, count [numObstacles]int) (what, field string) {
	blocked := count[portTaken] + count[podRepels]
	if blocked == 0 {
		switch {
		case count[nodeTainted] > 0:
			return "a toleration of the taints, or a node without them", "spec.template.spec.tolerations"
		case count[nodeUnlike] > 0:
			return "a node with the labels that it asks for", "spec.template.spec.nodeSelector"
		default:
			return "a node that stays", ""
		}
	}
	surge, unavailable := w.fenceposts(d)
	usable := 0 // nodes that have a pod of the workload, or could
	for n := range w.sc.Nodes {
		if w.sched.same[d.Workload][n] > 0 {
			usable++
		}
	}
	field = "spec.template.spec.affinity.podAntiAffinity"
	rolling := d.Revision > 0 && !w.deploy.recreates(d.Workload) && w.deploy.progress[d.Workload] != nil && !w.deploy.progress[d.Workload].done
	missing := d.Replicas - usable
	if rolling && unavailable == 0 && surge > 0 {
		if missing <= 0 {
			return "maxSurge 0 and maxUnavailable 1, or one node more", field
		}
		missing++ // for the surge
	}
	switch {
	case missing <= 1:
		return "one node more", field
	default:
		return fmt.Sprintf("%d nodes more", missing), field
	}
}
