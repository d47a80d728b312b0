package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
)

// begin fills the world as it is at time 0, without news to anyone: every cache is filled.
func (w *World) begin(sets *control.ReplicaSets, sched *control.Scheduler, slicesCtl *endpointslice.Controller) {
	for i := range w.sc.Workloads {
		d := &api.Deployment{Workload: i, Replicas: w.replicas(i), History: []int{0}}
		surge, _ := w.fenceposts(d)
		rs := &api.ReplicaSet{
			ID: api.ReplicaSetID{Workload: i, Revision: 0}, Created: -30 * 24 * engine.Hour, Replicas: d.Replicas, Desired: d.Replicas, MaxReplicas: d.Replicas + surge,
			Pods: d.Replicas, ObservedReplicas: d.Replicas,
		}
		w.store.Put(api.DeploymentKey(i), d)
		w.store.Put(api.ReplicaSetKey(api.ReplicaSetID{Workload: i, Revision: 0}), rs)
		w.usable[i] = usablePods{pods: map[api.PodID]bool{}, Usable: Usable{Of: d.Replicas}, dark: darkPods{begun: api.Never}}
		var pods []*api.Pod
		for range d.Replicas {
			p := w.firstPod(rs.ID, sched)
			if p.Ready {
				w.usable[i].pods[p.ID] = true
			}
			pods = append(pods, p)
			sched.Know(p)
			slicesCtl.Know(p)
		}
		ready := len(w.usable[i].pods)
		rs.ReadyPods, rs.Available, w.usable[i].Min = ready, ready, ready
		sets.Begin(rs, pods)
		w.deploy.Begin(d, rs, pods)
	}
	for s := range w.sc.Services {
		list := slicesCtl.Begin(s)
		w.sliceState[s] = map[int][]endpointslice.Entry{}
		w.settledOf[s].outdate()
		w.uncheck(s)
		numbers := []int{0}
		for n := 1; n*endpointslice.MaxEndpoints < len(list); n++ {
			numbers = append(numbers, n)
		}
		for n, part := range endpointslice.PartsOf(list, numbers) {
			w.setSlice(s, n, part, w.buildSlice(s, n, part))
		}
	}
	first := w.views.Add(w.cache.Snapshot(), 0)
	for _, p := range w.Proxies {
		p.Fill(first)
	}
}

// firstPod makes a pod that has run for a while, on the node the scheduler would have chosen. One
// that finds no node is Pending.
func (w *World) firstPod(id api.ReplicaSetID, sched *control.Scheduler) *api.Pod {
	p := w.NewPod(id)
	if p.Node = sched.Place(p); p.Node < 0 {
		w.store.Put(api.PodKey(p.ID), p)
		w.noteWrite(nil, p)
		return p
	}
	ages, err := engine.Uniform(engine.Hour, 7*24*engine.Hour)
	if err != nil {
		panic(err) // constants in order
	}
	p.Created = -ages.Sample(w.eng.Stream(p.Name, "age").Draw(0))
	p.ReadySince = p.Created + 10*engine.Second
	p.Phase, p.Ready, p.ContainersReady, p.Open = api.PhaseRunning, true, true, p.Gates
	p.IP = kubelet.AddressOf(p, w.PodSpec(id))
	w.store.Put(api.PodKey(p.ID), p)
	w.noteWrite(nil, p)
	w.kubelets[p.Node].Adopt(p)
	return p
}
