package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// begin fills the world as it is at time 0, without news to anyone: every cache is filled.
func (w *World) begin(slicesCtl *endpointslice.Controller) {
	for i := range w.sc.Workloads {
		w.beginWorkload(i, slicesCtl)
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
			w.setSlice(s, n, part, w.buildSlice(s, n, 0, part))
		}
	}
	first := w.views.Add(w.cache.Snapshot(), 0)
	for _, p := range w.Proxies {
		p.Fill(first)
	}
}

// beginWorkload puts a workload's object in the API, and its pods.
func (w *World) beginWorkload(i int, slicesCtl *endpointslice.Controller) {
	of, keeper := &api.Workload{Workload: i, Kind: w.kindOf(i), Replicas: w.replicas(i), History: []int{0}}, w.keeperOf(i)
	w.usable[i] = usablePods{pods: map[api.PodID]bool{}, stay: map[api.PodID]bool{}, dark: darkPods{begun: api.Never}}
	if w.sc.Workloads[i].Created {
		return
	}
	if of.Kind != api.KindReplicaSet && of.Kind != api.KindPod {
		w.store.Put(of.Key(), of)
	}
	pods := keeper.First(of)
	for n, p := range pods {
		w.firstPod(p, w.placedAs(p, n))
		if p.Ready {
			w.usable[i].pods[p.ID], w.usable[i].stay[p.ID] = true, true
		}
		w.sched.Know(p)
		slicesCtl.Know(p)
	}
	w.usable[i].Of, w.usable[i].Min, w.usable[i].Staying = len(pods), len(w.usable[i].pods), len(w.usable[i].stay)
	keeper.Begin(of, pods)
}

// firstPod has a pod have run for a while, on the node where the input has it, or else on the one the scheduler would have chosen where
// it has none. One that finds no node is Pending.
func (w *World) firstPod(p *api.Pod, placed *world.Placed) {
	w.pods[p.ID].unwell = placed != nil && !placed.Ready
	if placed != nil {
		p.DeletionCost, p.Labels = placed.Cost, placed.Labels
	}
	if w.sc.Recorded != nil && p.Node < 0 {
		p.Node = w.numberOf(w.sc.Recorded.First(p.Workload, p.Ordinal).Node)
	}
	switch {
	case p.Node >= 0:
	case placed == nil:
		if p.Node = w.sharesVolume(p); p.Node < 0 {
			p.Node = w.sched.Place(p)
		}
	case placed.Node == "":
		w.sched.Wait(p)
	default:
		p.Node = w.numberOf(placed.Node)
	}
	if p.Node < 0 {
		w.store.Put(api.PodKey(p.ID), p)
		w.noteWrite(nil, p)
		return
	}
	ages, err := engine.Uniform(engine.Hour, 7*24*engine.Hour)
	if err != nil {
		panic(err) // constants in order
	}
	p.Created = -ages.Sample(w.eng.Stream(p.Name, "age").Draw(0))
	p.ReadySince = p.Created + 10*engine.Second
	if w.sc.Recorded != nil {
		first := w.sc.Recorded.First(p.Workload, p.Ordinal)
		p.Created, p.ReadySince = first.Created, first.Ready
	}
	p.Phase, p.Ready, p.ContainersReady, p.Open = api.PhaseRunning, true, true, p.Gates
	if placed != nil && !placed.Ready {
		p.Ready, p.ContainersReady = false, false
	}
	p.IP = kubelet.AddressOf(p, w.PodSpec(w.pods[p.ID].id))
	w.store.Put(api.PodKey(p.ID), p)
	w.noteWrite(nil, p)
	w.kubelets[p.Node].Adopt(p)
}
