package cluster

import (
	"fmt"
	"net/netip"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// World is the simulated cluster. It has one owner, the goroutine of its engine.
type World struct {
	eng      *engine.Engine
	sc       *world.Scenario
	observer Observer
	store    *api.Store
	slices   nodeproxy.SliceLog // what the nodes' proxies hear of, each in its own time
	churn    *nodeproxy.Churn
	owner    engine.Owner

	Proxies  []*nodeproxy.Proxy // by node
	kubelets []*kubelet.Kubelet
	desk     *kubelet.Desk // of the kubelets
	control  *control.Desk // of the controllers
	deploy   *control.Deployments
	sched    *control.Scheduler
	dead     []bool // nodes whose machine is gone
	refused  error  // what would follow is not simulated

	pods      []*podInfo // by PodID
	ordinals  map[api.ReplicaSetID]int
	livePods  []api.PodID   // objects that exist, in ID order
	live      []api.PodList // their present versions, by workload
	instances *kubelet.Instances

	cache       *endpoints.Cache
	views       nodeproxy.Views
	sliceState  []map[int][]entry // what the slices in the API say, by service and slice
	installs    uint64            // counts the ends of the proxies' syncs
	zonesDiffer bool              // by hints
	nodesDiffer bool              // even in one zone

	settledCache *endpoints.Cache
	settledViews nodeproxy.Views
	settled      *nodeproxy.View // nil when it has to be computed
	settledOf    []settledService
	unchecked    []int // Services whose slices are to be compared with their pods
	differing    int   // Services whose slices differ, of those that were

	workloads []workloadInfo
	services  []serviceInfo
	down      map[string]bool // dependencies of apps
	usable    []usablePods    // by workload
	begun     []bool          // by workload: an action asked for another template or size
	told      told
	forced    map[forcing][]*kubelet.Worker
	applied   map[api.ReplicaSetID]*appsv1.Deployment // what "apply" made of a workload, by the revision it began

	components map[string][]engine.Owner // by the name that actions call them

	dns *nameServer // nil without a headless Service

	log *event.Log // nil: nobody wants to know
}

// podInfo is what of a pod never changes.
type podInfo struct {
	name    string
	ordinal int // among its ReplicaSet's
	id      api.ReplicaSetID
	pod     *api.Pod // as created

	written *writtenPod // nil until it is in a slice
}

// workloadInfo is derived from the manifest once.
type workloadInfo struct {
	spec     *corev1.PodTemplateSpec
	main     int
	services []int
	hooks    map[string]world.Hook
	apps     [2]*world.App // of the first revision, and of the others
}

type serviceInfo struct {
	members    []int // the workloads it selects
	ports      []discoveryv1.EndpointPort
	form       sliceForm
	publishAll bool
	headless   bool
	hints      hinting
}

// New builds the world of a scenario at time 0: pods run and are ready, rules are in force. The log is told
// nothing before Tell.
func New(sc *world.Scenario, eng *engine.Engine, log *event.Log, observer Observer) *World {
	w := &World{
		eng: eng, sc: sc, log: log, observer: observer,
		owner:    eng.Register("world"),
		ordinals: map[api.ReplicaSetID]int{}, instances: kubelet.NewInstances(len(sc.Workloads)),
		cache: endpoints.NewCache(sc.Kubernetes.Options), settledCache: endpoints.NewTransientCache(sc.Kubernetes.Options),
		down: map[string]bool{}, forced: map[forcing][]*kubelet.Worker{}, applied: map[api.ReplicaSetID]*appsv1.Deployment{},
		sliceState: make([]map[int][]entry, len(sc.Services)), settledOf: make([]settledService, len(sc.Services)),
		live: make([]api.PodList, len(sc.Workloads)), components: map[string][]engine.Owner{},
	}
	w.store = api.New(eng, sc.Latency.APIWrite, w.keyName)
	w.store.ChangedPod = w.noteWrite
	w.store.Committed = w.logSlices
	w.churn = nodeproxy.NewChurn(eng, sc.Churn)
	w.resolve()
	// IMPORTANT: the order of registration decides who goes first at one and the same moment.
	// The shorter a component's way to the traffic, the earlier: when every delay is zero, a
	// pod that became ready reaches the rules before a rollout has deleted the next one, as it
	// does when every hop takes the same time.
	w.control = &control.Desk{Engine: eng, API: w.store, Log: log, Latencies: &sc.Latency, Specs: w, Nodes: sc.Nodes, Workloads: sc.Workloads}
	slicesCtl := newSliceController(w)
	if w.anyHeadless() {
		w.dns = newNameServer(w)
	}
	w.beginProxies()
	w.beginKubelets()
	sched := control.NewScheduler(w.control)
	sets := control.NewReplicaSets(w.control)
	w.deploy = control.NewDeployments(w.control)
	w.enroll("endpointslice-controller", slicesCtl.owner)
	w.enroll("replicaset-controller", sets.Owner)
	w.enroll("deployment-controller", w.deploy.Owner)
	w.enroll("scheduler", sched.Owner)
	w.enrollNodes()
	w.sched = sched
	w.beginNodes()
	w.begin(sets, sched, slicesCtl)
	for s := range w.services {
		if w.services[s].headless {
			w.dns.records[s] = recordsOf(w.slicesInAPI(s))
		}
	}
	return w
}

// resolve finds which workloads each Service selects and at which ports.
func (w *World) resolve() {
	w.workloads = make([]workloadInfo, len(w.sc.Workloads))
	w.usable = make([]usablePods, len(w.sc.Workloads))
	w.begun = make([]bool, len(w.sc.Workloads))
	w.services = make([]serviceInfo, len(w.sc.Services))
	for i := range w.sc.Workloads {
		d := w.sc.Workloads[i].Deployment
		w.workloads[i] = workloadInfo{spec: &d.Spec.Template, hooks: w.sc.Workloads[i].Hooks, apps: appsOf(&w.sc.Workloads[i])}
	}
	for s := range w.sc.Services {
		svc := w.sc.Services[s].Service
		info := &w.services[s]
		info.headless = isHeadless(svc)
		info.publishAll = svc.Spec.PublishNotReadyAddresses
		info.hints = w.hintingOf(svc)
		for i := range w.workloads {
			if w.sc.Workloads[i].SelectedBy(svc) {
				info.members = append(info.members, i)
				w.workloads[i].services = append(w.workloads[i].services, s)
				w.workloads[i].main = mainContainer(w.workloads[i].spec, svc, w.sc.Workloads[i].Server)
				if info.ports == nil {
					info.ports = endpointPorts(svc, w.workloads[i].spec)
				}
			}
		}
		info.form = newSliceForm(svc, info.ports)
		w.zonesDiffer = w.zonesDiffer || info.hints.mode != world.HintsNone
		w.nodesDiffer = w.nodesDiffer || nodesDiffer(svc, info.hints)
		w.cache.SetService(svc)
		w.settledCache.SetService(svc)
	}
}

// endpointPorts resolves a Service's target ports in a pod template.
func endpointPorts(svc *corev1.Service, spec *corev1.PodTemplateSpec) []discoveryv1.EndpointPort {
	var out []discoveryv1.EndpointPort
	for _, p := range svc.Spec.Ports {
		number, ok := world.TargetPort(p.TargetPort, spec)
		if !ok {
			continue
		}
		name, protocol := p.Name, p.Protocol
		out = append(out, discoveryv1.EndpointPort{Name: &name, Port: &number, Protocol: &protocol})
	}
	return out
}

// mainContainer finds the container that serves a Service's first port: the one the scenario
// names, else by container port, else the first one.
func mainContainer(spec *corev1.PodTemplateSpec, svc *corev1.Service, server string) int {
	for i := range spec.Spec.Containers {
		if server != "" && spec.Spec.Containers[i].Name == server {
			return i
		}
	}
	if len(svc.Spec.Ports) == 0 {
		return 0
	}
	want, ok := world.TargetPort(svc.Spec.Ports[0].TargetPort, spec)
	for i := range spec.Spec.Containers {
		for _, p := range spec.Spec.Containers[i].Ports {
			if ok && p.ContainerPort == want {
				return i
			}
		}
	}
	return 0
}

// begin fills the world as it is at time 0, without news to anyone: every cache is filled.
func (w *World) begin(sets *control.ReplicaSets, sched *control.Scheduler, slicesCtl *sliceController) {
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
			slicesCtl.pods[i].Set(p)
		}
		ready := len(w.usable[i].pods)
		rs.ReadyPods, rs.Available, w.usable[i].Min = ready, ready, ready
		sets.Begin(rs, pods)
		w.deploy.Begin(d, rs, pods)
	}
	for s := range w.sc.Services {
		slicesCtl.reconcile(s)
		w.sliceState[s] = map[int][]entry{}
		w.settledOf[s].outdate()
		w.uncheck(s)
		numbers := []int{0}
		for n := 1; n*maxEndpointsPerSlice < len(slicesCtl.written[s]); n++ {
			numbers = append(numbers, n)
		}
		for n, part := range partsOf(slicesCtl.written[s], numbers) {
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
	p.IP = kubelet.Address(p.ID)
	w.store.Put(api.PodKey(p.ID), p)
	w.noteWrite(nil, p)
	w.kubelets[p.Node].Adopt(p)
	return p
}

// Instance returns what runs, or ran, at a pod address, nil when nothing ever did.
func (w *World) Instance(ip netip.Addr) *kubelet.Instance { return w.instances.At(ip) }

// NewPod numbers and names a pod of a ReplicaSet. Its UID is a draw.
func (w *World) NewPod(id api.ReplicaSetID) *api.Pod {
	n := w.ordinals[id]
	w.ordinals[id]++
	name := fmt.Sprintf("%s r%d %d", w.sc.Workloads[id.Workload].Name(), id.Revision, n)
	p := &api.Pod{
		ID: api.PodID(len(w.pods)), Name: name, UID: w.eng.Stream(name, "uid").Draw(0), ReplicaSet: &id,
		Workload: id.Workload, Revision: id.Revision, Node: -1, DeletedAt: api.Never, Created: w.eng.Now(),
		Gates: w.gatesOf(id),
	}
	w.pods = append(w.pods, &podInfo{name: name, ordinal: n, id: id, pod: p})
	return p
}

func (w *World) podName(id api.PodID) string { return w.pods[id].name }

// PodName returns a pod's name: its workload, revision and ordinal.
func (w *World) PodName(id api.PodID) string { return w.podName(id) }

// deletePod asks the API to delete a pod with its own grace period.
func (w *World) deletePod(owner engine.Owner, id api.PodID) {
	w.store.Write(owner, "delete pod", api.PodKey(id), w.Deletion(id), nil)
}

// Deletion is what a delete request does to a pod.
func (w *World) Deletion(id api.PodID) func(api.Object) api.Object {
	grace := w.grace(w.pods[id].id)
	return func(o api.Object) api.Object {
		p, ok := o.(*api.Pod)
		if !ok || p.Deleting() {
			return nil
		}
		next := *p
		next.DeletedAt, next.Grace = w.eng.Now(), grace
		if p.Node < 0 || p.Phase.Terminal() {
			next.Grace, next.Gone = 0, true // nobody has to be waited for
		} else if grace == 0 {
			w.forceOff(id)
		}
		return &next
	}
}

// A pod that is deleted with grace 0 gets its deletionTimestamp and is deleted in two steps of the
// storage, so far apart (docs/model/pod-lifecycle.md 1.6; docs/model/measured.md 1).
const (
	shortestForce = engine.Millisecond
	longestForce  = 4 * engine.Millisecond
)

// forceOff takes the object of a pod away without waiting for its kubelet, which ends the processes
// when it hears of it.
func (w *World) forceOff(id api.PodID) {
	span, err := engine.Uniform(shortestForce, longestForce)
	if err != nil {
		panic(err) // constants in order
	}
	delay := span.Sample(w.eng.Stream(w.podName(id), "forced deletion").Draw(0))
	w.store.CommitAfter(delay, "remove pod", api.PodKey(id), api.Gone)
}

// noteWrite keeps what the store's readers need besides the objects. It hears of every version
// of a pod, with the one before, nil for none.
func (w *World) noteWrite(old, p *api.Pod) {
	w.live[p.Workload].Set(p)
	w.changedPod(old, p)
	w.notePod(old, p)
	w.podWritten(p)
	i, found := slices.BinarySearch(w.livePods, p.ID)
	switch {
	case p.Gone && found:
		w.livePods = slices.Delete(w.livePods, i, i+1)
	case !p.Gone && !found:
		w.livePods = slices.Insert(w.livePods, i, p.ID)
	}
}

// publish makes the next View from one slice. It is called when the write commits.
func (w *World) publish(service, n int, part []entry, s *endpoints.Slice) *nodeproxy.View {
	w.setSlice(service, n, part, s)
	if w.services[service].headless {
		return nil // no proxy asks for these slices
	}
	return w.views.Add(w.cache.Snapshot(), w.eng.Now())
}

func (w *World) setSlice(service, n int, part []entry, s *endpoints.Slice) {
	w.cache.PutSlice(s)
	w.noteSlice(service, w.sliceState[service][n], part)
	w.sliceState[service][n] = part
	w.changedSlices(service)
}

func (w *World) servicesOf(workload int) []int { return w.workloads[workload].services }
func (w *World) selects(service, workload int) bool {
	return slices.Contains(w.services[service].members, workload)
}

// DeploymentOf is the Deployment's spec in force for a revision: the one applied with it, or the
// newest one before.
func (w *World) DeploymentOf(id api.ReplicaSetID) *appsv1.Deployment {
	for rev := id.Revision; rev > 0; rev-- {
		if d := w.applied[api.ReplicaSetID{Workload: id.Workload, Revision: rev}]; d != nil {
			return d
		}
	}
	return w.sc.Workloads[id.Workload].Deployment
}

// PodSpec is the spec of the pods of a ReplicaSet. Nobody changes it.
func (w *World) PodSpec(id api.ReplicaSetID) *corev1.PodSpec {
	return &w.DeploymentOf(id).Spec.Template.Spec
}

// latest identifies a workload's template of the moment.
func (w *World) latest(workload int) api.ReplicaSetID {
	if d, ok := w.store.Get(api.DeploymentKey(workload)).(*api.Deployment); ok {
		return api.ReplicaSetID{Workload: workload, Revision: d.Revision}
	}
	return api.ReplicaSetID{Workload: workload}
}

// Server is the number of the container of a workload that traffic goes to.
func (w *World) Server(workload int) int { return w.workloads[workload].main }

// Hook is what the preStop hook of a container does.
func (w *World) Hook(id api.ReplicaSetID, c *corev1.Container) world.Hook {
	if w.DeploymentOf(id) != w.sc.Workloads[id.Workload].Deployment {
		return servers.HookOf(c, world.Overrides{})
	}
	return w.workloads[id.Workload].hooks[c.Name]
}

// grace is a workload's terminationGracePeriodSeconds.
func (w *World) grace(id api.ReplicaSetID) engine.Time {
	return world.GraceOf(w.PodSpec(id))
}

// MinReady is the minReadySeconds of a workload's template of the moment.
func (w *World) MinReady(workload int) engine.Time {
	return engine.Time(w.DeploymentOf(w.latest(workload)).Spec.MinReadySeconds) * engine.Second
}

func (w *World) replicas(workload int) int { return w.sc.Workloads[workload].Replicas() }

func (w *World) fenceposts(d *api.Deployment) (surge, unavailable int) {
	return w.control.Fenceposts(d)
}

func (w *World) watchLatency(node int) *engine.Dist {
	if d := w.sc.Nodes[node].Watch; d != nil {
		return d
	}
	return &w.sc.Latency.Watch
}

func (w *World) syncLatency(node int) *engine.Dist {
	if d := w.sc.Nodes[node].ProxySync; d != nil {
		return d
	}
	return &w.sc.Latency.ProxySync
}

// App is how the process of a pod behaves: the workload's app, or its revision's. Nobody changes it.
func (w *World) App(p *api.Pod) *world.App {
	return w.workloads[p.Workload].apps[min(p.Revision, 1)]
}

// appsOf returns the app of a workload's first revision, and that of the others.
func appsOf(wl *world.Workload) (apps [2]*world.App) {
	for i, revision := range [...]string{"old", "new"} {
		apps[i] = &wl.App
		if a, ok := wl.Revisions[revision]; ok {
			apps[i] = &a
		}
	}
	return apps
}

// keyName names an object by its role and ordinal, for its draws.
func (w *World) keyName(k api.Key) string {
	switch k.Kind {
	case api.KindPod:
		return w.podName(api.PodID(k.A))
	case api.KindReplicaSet:
		return fmt.Sprintf("%s r%d", w.sc.Workloads[k.A].Name(), k.B)
	case api.KindDeployment:
		return w.sc.Workloads[k.A].Name()
	case api.KindNode:
		return "node " + w.sc.Nodes[k.A].Name
	default:
		svc := w.sc.Services[k.A].Service
		return fmt.Sprintf("%s/%s slice %d", svc.Namespace, svc.Name, k.B)
	}
}
