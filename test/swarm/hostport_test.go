package swarm

import (
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// hostPorts has the pods of some worlds take a port of their node.
func (w *swarmWorld) hostPorts(seed uint64) {
	d := newDraws(seed, "host ports")
	if !d.chance(12) {
		return
	}
	for i := range w.Workloads {
		if i == 0 || d.chance(50) {
			w.Workloads[i].Deployment().Spec.Template.Spec.Containers[0].Ports[0].HostPort = 8443
		}
	}
}

// roomy says that all pods of a workload find a node at the beginning.
func (w *swarmWorld) roomy(workload int) bool {
	taken := 0
	for i := range w.Workloads {
		if wl := &w.Workloads[i]; wl.Template().Spec.Containers[0].Ports[0].HostPort != 0 {
			taken += wl.Replicas()
		}
	}
	return taken <= len(w.Nodes) || w.Workloads[workload].Template().Spec.Containers[0].Ports[0].HostPort == 0
}

// hostPort is the port of its node that a pod takes, 0 for none.
func (j *judge) hostPort(p *api.Pod) int32 {
	return j.workload(p).Template().Spec.Containers[0].Ports[0].HostPort
}

// holds says whether a pod has a host port of a node: it does while its object is there and it is
// not done.
func (j *judge) holds(p *api.Pod, node int) bool {
	return p.Node == node && j.hostPort(p) != 0 && !p.Gone && p.Phase != api.PhaseSucceeded && p.Phase != api.PhaseFailed
}

// A pod with a host port is bound to a node where no other pod has it (docs/model/controllers.md 5
// Host port).
func (j *judge) hearBound(at engine.Time, before, now *api.Pod) {
	if j.hostPort(now) == 0 {
		return
	}
	for n := range j.w.Nodes {
		if j.holds(now, n) || before != nil && j.holds(before, n) && !j.holds(now, n) {
			j.freed[n] = at // or taken: a node that is free has been so since
		}
	}
	if before == nil || before.Node >= 0 || now.Node < 0 {
		return
	}
	for _, id := range j.order {
		if other := j.pods[id].api; other.ID != now.ID && j.holds(other, now.Node) {
			j.fail("host ports", "%s is bound to node %d at %s s, where %s has its host port", now.Name, now.Node, at.Seconds(), other.Name)
		}
	}
}

// A pod waits for a node no longer than the scheduler takes, once there is one. Who waits for ever is
// told of: what came to rest has no such pod, and what is stuck has one that is not ready.
func (j *judge) closePending(res *sim.Result) {
	l := &j.w.Latency
	late := res.End - l.Watch.Max() - l.APIWrite.Max() - l.Schedule.Max() - 2*sec
	unready := false
	for _, id := range j.order {
		p := j.pods[id].api
		unready = unready || !p.Gone && (!p.Ready || p.Deleting())
		if !p.Active() {
			continue
		}
		if p.Node >= 0 || j.does("apiserver") || j.touched("scheduler") {
			continue
		}
		if res.Settled && j.acted(p) {
			j.fail("pending", "%s has no node, and the world has settled", p.Name)
		}
		j.pending(p, late)
	}
	if res.Stuck != nil && !res.Stuck.Drain && !unready { // a drain may wait for a budget
		j.fail("stuck", "%s, and every pod is ready", res.Stuck.Why)
	}
}

// pending is the rule for one pod: there is no node that it could have had before a moment.
func (j *judge) pending(p *api.Pod, late engine.Time) {
	if j.w.goes || j.workload(p).Kind() == world.DaemonSet {
		return // a node may be none, or not for this pod
	}
	for n := range j.w.Nodes {
		free := p.Created < late && j.freed[n] < late && j.disruptions.cordoned[n] == api.Never
		for _, other := range j.order {
			free = free && !(j.hostPort(p) != 0 && j.holds(j.pods[other].api, n))
		}
		if free {
			j.fail("pending", "%s has had no node since %s s, and node %d is free since %s s", p.Name, p.Created.Seconds(), n, j.freed[n].Seconds())
		}
	}
}

// acted says that an action asks for another template or size of a pod's workload.
func (j *judge) acted(p *api.Pod) bool {
	for _, a := range j.w.Actions {
		if a.Operation == (world.RolloutRestart{Workload: j.workload(p).Name()}) {
			return !j.does("pause") && !j.does("rollback") && !j.does("apply")
		}
	}
	return false
}
