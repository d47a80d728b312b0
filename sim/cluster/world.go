package cluster

import (
	"fmt"
	"net/netip"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// World is the simulated cluster. It has one owner, the goroutine of its engine. What it is made of has
// rooms of its own, or stands in the file of the topic; who works in it gets a desk and never the World.
type World struct {
	setting

	Proxies []*nodeproxy.Proxy // by node
	agents
	controllers

	catalog
	podTable
	sliceTable
	settledState
	deeds

	usable []usablePods // by workload
	told   told
	dns    *nameServer // nil without a headless Service
}

// setting is what all of a World share.
type setting struct {
	eng      *engine.Engine
	sc       *world.Scenario
	observer Observer
	store    *api.Store
	log      *event.Log // nil: nobody wants to know
	owner    engine.Owner
}

// New builds the world of a scenario at time 0: pods run and are ready, rules are in force. The log is told
// nothing before Tell.
func New(sc *world.Scenario, eng *engine.Engine, log *event.Log, observer Observer) *World {
	w := &World{
		setting: setting{eng: eng, sc: sc, log: log, observer: observer, owner: eng.Register("world")},
		agents:  agents{instances: kubelet.NewInstances(len(sc.Workloads)), down: map[string]bool{}}, controllers: controllers{components: map[string][]engine.Owner{}},
		podTable: newPodTable(len(sc.Workloads)), sliceTable: newSliceTable(sc), settledState: newSettledState(sc), deeds: newDeeds(sc),
		usable: make([]usablePods, len(sc.Workloads)),
	}
	w.store = api.New(eng, sc.Latency.APIWrite, w.keyName)
	w.store.ChangedPod = w.noteWrite
	w.store.Committed = func(o api.Object, purpose engine.Purpose, version uint64) {
		if n, ok := o.(*api.Node); ok {
			w.noteNode(n)
		}
		w.logSlices(o, purpose, version)
	}
	w.churn = nodeproxy.NewChurn(eng, sc.Churn)
	w.resolve()
	// IMPORTANT: the order of registration decides who goes first at one and the same moment.
	// The shorter a component's way to the traffic, the earlier: when every delay is zero, a
	// pod that became ready reaches the rules before a rollout has deleted the next one, as it
	// does when every hop takes the same time.
	w.control = &control.Desk{Engine: eng, API: w.store, Log: log, Latencies: &sc.Latency, Specs: w, Nodes: sc.Nodes, Workloads: sc.Workloads, Budgets: sc.Budgets, Namespaces: sc.NamespaceLabels()}
	if len(sc.Vetoes) > 0 {
		w.control.Vetoed = func() bool { return w.vetoing() >= 0 }
	}
	w.control.NoInclusion = sc.Kubernetes.Version.Minor < world.InclusionSince
	slicesCtl := endpointslice.New(w.control, len(sc.Services), w)
	if w.anyHeadless() {
		w.dns = newNameServer(w)
	}
	w.beginProxies()
	w.beginKubelets()
	w.sched = control.NewScheduler(w.control)
	w.sets = control.NewReplicaSets(w.control)
	w.deploy = control.NewDeployments(w.control)
	w.enroll("endpointslice-controller", slicesCtl.Owner)
	w.enroll("replicaset-controller", w.sets.Owner)
	w.enroll("deployment-controller", w.deploy.Owner)
	w.enroll("scheduler", w.sched.Owner)
	w.enrollNodes()
	w.openDisrupts()
	if w.anyOf(world.StatefulSet) {
		w.stateful = control.NewStatefulSets(w.control, sc.Several)
		w.enroll("statefulset-controller", w.stateful.Owner)
	}
	w.openLapses()
	w.beginNodes()
	w.openDaemons()
	w.openVolumes()
	w.begin(slicesCtl)
	w.beginDisrupts()
	for s := range w.services {
		if w.services[s].headless {
			w.dns.records[s] = recordsOf(w.slicesInAPI(s))
		}
	}
	return w
}

// Instance returns what runs, or ran, at a pod address, nil when nothing ever did.
func (w *World) Instance(ip netip.Addr) *kubelet.Instance { return w.instances.At(ip) }

// keyName names an object by its role and ordinal, for its draws.
func (w *World) keyName(k api.Key) string {
	switch k.Kind {
	case api.KindPod:
		return w.podName(api.PodID(k.A))
	case api.KindReplicaSet:
		return fmt.Sprintf("%s r%d", w.sc.Workloads[k.A].Name(), k.B)
	case api.KindDeployment, api.KindStatefulSet, api.KindDaemonSet:
		return w.sc.Workloads[k.A].Name()
	case api.KindNode:
		return "node " + w.sc.Nodes[k.A].Name
	case api.KindService:
		svc := w.sc.Services[k.A].Service
		return fmt.Sprintf("service %s/%s", svc.Namespace, svc.Name)
	case api.KindBudget:
		b := w.sc.Budgets[k.A].Value
		return fmt.Sprintf("budget %s/%s", b.Namespace, b.Name)
	default:
		svc := w.sc.Services[k.A].Service
		return fmt.Sprintf("%s/%s slice %d", svc.Namespace, svc.Name, k.B)
	}
}
