package kubelet

import (
	"maps"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A kubelet that is set to it hears of the shutdown of its machine and holds that up: it ends its pods, group by group in ascending
// order of their priority. The API is told nothing of it before they have ended: no pod has a deletionTimestamp
// (Kubernetes 1.36 pkg/kubelet/nodeshutdown; verified).

// shutdown is one under way.
type shutdown struct {
	k      *Kubelet
	groups []world.ShutdownGroup
	pods   [][]*Worker // by group
	begins func(group int)
	done   func()
}

// ShutDown ends the pods of the node. begins hears of each group whose turn it is, done when all have had theirs. Pods that come now
// are rejected.
func (k *Kubelet) ShutDown(groups []world.ShutdownGroup, begins func(group int), done func()) {
	s := &shutdown{k: k, groups: groups, pods: make([][]*Worker, len(groups)), begins: begins, done: done}
	k.shutting = true
	for _, i := range k.d.Instances.On(k.node) {
		k.Worker(i.Pod)
	}
	for _, id := range slices.Sorted(maps.Keys(k.pods)) {
		wk := k.pods[id]
		if wk.status.phase.Terminal() {
			continue
		}
		priority, _ := world.PriorityOf(wk.spec)
		g := world.GroupOf(groups, priority)
		s.pods[g] = append(s.pods[g], wk)
	}
	s.next(0)
}

// Shutting says whether the machine shuts down.
func (k *Kubelet) Shutting() bool { return k.shutting }

// next is the turn of a group: each of its pods has its own grace period, or the group's if that is shorter. The next group follows when
// all have ended, or the group's time is over. One without pods is not waited for.
func (s *shutdown) next(group int) {
	if group == len(s.groups) {
		s.done()
		return
	}
	s.begins(group)
	left, over := len(s.pods[group]), false
	goOn := func() {
		if !over {
			over = true
			s.next(group + 1)
		}
	}
	if left == 0 {
		goOn()
		return
	}
	timer := s.k.after(s.groups[group].Grace, "shutdown group is over", goOn)
	for _, wk := range s.pods[group] {
		wk.gone = func() {
			if left--; left == 0 {
				s.k.d.Engine.Cancel(timer)
				goOn()
			}
		}
		wk.shutDown(min(world.GraceOf(wk.spec), s.groups[group].Grace))
	}
}

// shutDown ends a pod that nobody has deleted. One that is being stopped already goes on as it does.
func (wk *Worker) shutDown(grace engine.Time) {
	if wk.terminating {
		return
	}
	wk.terminating, wk.failed, wk.kept = true, true, true
	now := wk.k.d.Engine.Now()
	wk.k.after(wk.cacheNewer()-now, "terminate pod", func() { wk.killAll(max(grace, engine.Second)) })
}

// reject has a pod fail that comes while the machine shuts down.
func (k *Kubelet) reject(p *api.Pod) {
	wk := k.newWorker(p)
	wk.terminating, wk.kept = true, true
	k.setStatus(wk, podStatus{phase: api.PhaseFailed})
}
