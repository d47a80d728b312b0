package kubelet

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Constants of the kubelet (Kubernetes 1.36 pkg/kubelet; verified).
const (
	relistPeriod = engine.Second     // PLEG: how often container states are looked at
	minimumGrace = 2 * engine.Second // every kill leaves at least that much after SIGTERM
	cleanupPoll  = 100 * engine.Millisecond
)

// Kubelet runs the pods of one node.
type Kubelet struct {
	d     *Desk
	node  int
	Owner engine.Owner
	Phase engine.Time // of the relists
	pods  map[api.PodID]*Worker
	// adopted are pods that ran at the beginning, as they were then, of which nobody has asked for the
	// worker yet: most pods of a large cluster.
	adopted map[api.PodID]*api.Pod
	// images are those that the node has, or pulls, with the moment at which it has them; pulled is when it is through with the last of them.
	images map[string]engine.Time
	pulled engine.Time

	dirty   []*Worker // pods whose status is to be written, in order
	writing bool      // one status is written after the other, for all pods of the node

	process
	reconciler
}

// New starts the kubelet of a node.
func New(d *Desk, set Settings) *Kubelet {
	name := "kubelet " + set.Name
	k := &Kubelet{d: d, node: set.Node, Owner: d.Engine.Register(name), pods: map[api.PodID]*Worker{}, adopted: map[api.PodID]*api.Pod{}}
	k.Phase = engine.Time(engine.Below(d.Engine.Stream(name, "relist phase").Draw(0), int(relistPeriod)))
	k.since = -engine.Hour
	k.watch = d.API.Subscribe(name, k.Owner, set.Watch, k.deliver, api.KindPod)
	k.watch.Wants = func(o api.Object) bool {
		p, ok := o.(*api.Pod)
		return ok && p.Node == set.Node
	}
	return k
}

// NextRelist returns the first relist after a moment.
func (k *Kubelet) NextRelist(t engine.Time) engine.Time {
	n := (t - k.Phase) / relistPeriod
	for k.Phase+n*relistPeriod <= t {
		n++
	}
	return k.Phase + n*relistPeriod
}

// after schedules work of the kubelet, which waits while that is paused.
func (k *Kubelet) after(d engine.Time, name string, run func()) engine.Handle {
	run = k.whileRunning(run) // which it is not after the end of the machine
	return k.d.Engine.After(d, engine.ClassTimer, k.Owner, name, func() { k.d.API.Awake(k.Owner, run) })
}

// inPod schedules what happens in a pod, or is up to the container runtime, by itself.
func (k *Kubelet) inPod(d engine.Time, name string, run func()) engine.Handle {
	return k.d.Engine.After(d, engine.ClassTimer, k.Owner, name, k.whileUp(run))
}

func (k *Kubelet) deliver(o api.Object) {
	p, ok := o.(*api.Pod)
	if !ok || k.down {
		return
	}
	wk := k.Worker(p.ID)
	switch {
	case p.Gone:
		if wk != nil {
			wk.stopProbes()
			delete(k.pods, p.ID)
		}
	case p.Phase.Terminal():
		if wk != nil && !wk.terminating { // somebody else says so: it is to stop
			wk.shutDown(world.GraceOf(wk.spec))
		}
	case k.d.Recorded != nil:
		k.repeat(wk, p)
	case wk == nil && k.shutting:
		k.reject(p)
	case wk == nil && !p.Deleting():
		k.start(p)
	case wk == nil:
		k.newWorker(p).terminate(p) // deleted before it ever ran here
	case p.Deleting() && !wk.terminating:
		wk.terminate(p)
	default:
		wk.kept = wk.kept && !p.Deleting()
		wk.seeGates(p)
	}
	k.compare(p)
}

// podStatus is what the kubelet says of a pod.
type podStatus struct {
	phase           api.Phase
	containersReady bool
	ready           bool
	since           engine.Time // of the last transition to ready
	ip              netip.Addr
	restarts        int
}

// setStatus has a pod's status written if it changed. The transition time is that of the
// change, not of the write.
func (k *Kubelet) setStatus(wk *Worker, s podStatus) {
	s.since = wk.status.since
	if s.ready && !wk.status.ready {
		s.since = k.d.Engine.Now()
	}
	if s == wk.status || wk.status.phase.Terminal() {
		return
	}
	wk.status = s
	k.d.Log.Tell(event.Event{Kind: event.Decided, Pod: wk.ID, OK: s.ready})
	if !wk.dirty {
		wk.dirty = true
		k.dirty = append(k.dirty, wk)
	}
	k.writeNext()
}

// writeNext writes the next status that changed, as it is by now.
func (k *Kubelet) writeNext() {
	if k.writing || len(k.dirty) == 0 {
		return
	}
	wk := k.dirty[0]
	k.dirty = k.dirty[1:]
	k.writing, wk.dirty, wk.sending = true, false, true
	s := wk.status
	delay := k.d.Latencies.StatusWrite.Sample(k.d.Engine.Stream(wk.name, "status write").Draw(wk.statusCount))
	wk.statusCount++
	k.d.API.WriteAfter(delay, k.Owner, "pod status", api.PodKey(wk.ID), func(o api.Object) api.Object {
		p, ok := o.(*api.Pod)
		if !ok || p.Phase.Terminal() {
			return nil
		}
		next := *p
		next.Phase, next.Ready, next.ReadySince, next.IP, next.Restarts = s.phase, s.ready, s.since, s.ip, s.restarts
		next.ContainersReady = s.containersReady
		return &next
	}, k.whileRunning(func() {
		k.writing, wk.sending = false, false
		if s.phase.Terminal() && !wk.kept {
			wk.remove()
		}
		k.writeNext()
	}))
}

// Worker is the kubelet's work on one pod.
type Worker struct {
	k        *Kubelet
	ID       api.PodID
	name     string
	spec     *corev1.PodSpec
	Instance *Instance
	Main     *Container
	All      []*Container // containers, then sidecars in order of declaration

	lastSync    engine.Time // when the pod was last worked on
	busy        int         // a sync that takes a while is under way: starting, killing
	syncPending bool
	terminating bool
	cleanedUp   engine.Time // when the object may go, after the end

	status      podStatus // as last decided: in the API, or on its way
	dirty       bool
	sending     bool   // a write of it is on its way
	failed      bool   // it ends as Failed, however its containers do
	kept        bool   // nobody has deleted it: its object stays when it has ended
	gone        func() // hears when it has ended, nil for nobody
	seenReady   bool   // as its watch last showed it
	statusCount uint64
	made        uint64 // how often it has been started from the beginning, before this time

	gates, open []string // readiness gates, and those that are True as far as the kubelet has seen

	init initialization
}

// Ready says whether the kubelet has decided that the pod is ready: the status is in the API,
// or on its way.
func (wk *Worker) Ready() bool { return wk.status.ready }

// ContainersReady is Ready without the readiness gates.
func (wk *Worker) ContainersReady() bool { return wk.status.containersReady }

// Terminating says whether the kubelet has heard of the deletion.
func (wk *Worker) Terminating() bool { return wk.terminating }

// KilledByProbe says whether the server was last told to end because of its liveness or startup probe.
func (wk *Worker) KilledByProbe() bool { return wk.Main.orders == event.Liveness }

// SaysUnready says whether a hook has had the server answer its readiness probe that it is not ready, whatever else it does.
func (wk *Worker) SaysUnready() bool { return wk.Main.unready }

// Crash ends the server's process.
func (wk *Worker) Crash() { wk.Main.end(event.Crashed) }

// Force holds the readiness of the pod at false, or lets go of it.
func (wk *Worker) Force(unready bool) {
	wk.Instance.Forced = unready
	wk.Wake()
}

// Container is one container of a pod.
type Container struct {
	wk      *Worker
	index   int
	spec    *corev1.Container
	sidecar bool
	hook    world.Hook

	// Running says that the process runs; Generation counts the containers made of this spec, 0 before the first;
	// Finished is when the last one ended.
	Running    bool
	Generation int
	Finished   engine.Time
	made       int // containers of earlier lives of its machine

	startAt   engine.Time
	signalled bool         // the app has been told to end
	orders    event.Ending // how it then ends by itself
	killed    bool         // it was ended by SIGKILL
	shown     shown
	backoff   backoff
	condemned *corev1.Probe // the liveness or startup probe that wants it killed
	unready   bool          // its hook made its readiness fail
	starting  bool          // a restart is under way or waits for its back-off

	stopped func() // hears when the container has ended, while the kubelet stops it
	kill    engine.Handle
	listen  engine.Handle
	exit    engine.Handle
	crash   engine.Handle
	acts    engine.Handle // what the hook does to the app

	// Readiness and Liveness are its probes, nil for none.
	Readiness, Liveness *Prober

	startup *Prober
	probers []*Prober // those that there are: startup, readiness, liveness
}

// shown is a container as the pod's status has it: what the kubelet's probes go by. It follows
// when the pod is worked on, so not while a pod terminates.
type shown struct {
	generation int
	running    bool
	started    bool // its startup probe has passed, or it has none
	ready      bool
	startAt    engine.Time // in whole seconds
}

// newInstance is what a pod runs, before anything does.
func (k *Kubelet) newInstance(p *api.Pod) *Instance {
	return &Instance{
		Pod: p.ID, Workload: p.Workload, Revision: p.Revision, Node: k.node, IP: p.IP,
		App: k.d.Specs.App(p), Why: NotYet, Term: api.Never, Host: k.d.Specs.PodSpec(api.ReplicaSetID{Workload: p.Workload, Revision: p.Revision}).HostNetwork,
	}
}

func (k *Kubelet) newWorker(p *api.Pod) *Worker { return k.workerOf(p, k.newInstance(p)) }

// workerOf begins the work on a pod.
func (k *Kubelet) workerOf(p *api.Pod, i *Instance) *Worker {
	spec := k.d.Specs.PodSpec(api.ReplicaSetID{Workload: p.Workload, Revision: p.Revision})
	wk := &Worker{
		k: k, ID: p.ID, name: p.Name, spec: spec, lastSync: k.d.Engine.Now(), cleanedUp: api.Never,
		gates: p.Gates, open: p.Open, Instance: i,
	}
	for i := range spec.Containers {
		wk.add(&spec.Containers[i], false)
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; world.Sidecar(c) {
			wk.add(c, true)
		}
	}
	wk.Main = wk.All[min(k.d.Specs.Server(p.Workload), len(wk.All)-1)]
	k.pods[p.ID] = wk
	return wk
}

func (wk *Worker) add(spec *corev1.Container, sidecar bool) {
	c := &Container{
		wk: wk, index: len(wk.All), spec: spec, sidecar: sidecar, Finished: api.Never,
		hook: wk.k.d.Specs.Hook(wk.Instance.set(), spec),
	}
	wk.All = append(wk.All, c)
	c.addProbers()
}

// addProbers makes the workers of the container's probes.
func (c *Container) addProbers() {
	now, spec := c.wk.k.d.Engine.Now(), c.spec
	if spec.ReadinessProbe != nil {
		c.Readiness = newProber(c, readinessProbe, spec.ReadinessProbe, now)
	}
	if spec.LivenessProbe != nil {
		c.Liveness = newProber(c, livenessProbe, spec.LivenessProbe, now)
	}
	if spec.StartupProbe != nil {
		c.startup = newProber(c, startupProbe, spec.StartupProbe, now)
	}
	c.probers = nil
	for _, p := range []*Prober{c.startup, c.Readiness, c.Liveness} {
		if p != nil {
			c.probers = append(c.probers, p)
		}
	}
}

// begin starts the process of a container.
func (c *Container) begin() {
	d, wk := c.wk.k.d, c.wk
	c.Running, c.signalled, c.killed, c.unready, c.startAt = true, false, false, false, d.Engine.Now()
	c.Generation++
	c.condemned = nil
	c.tell(event.Event{Kind: event.Started})
	if c != wk.Main {
		return
	}
	i := wk.Instance
	i.Running, i.Term = true, api.Never
	if i.App.NotAServer {
		return
	}
	n := c.number()
	start := i.App.Start.Sample(d.Engine.Stream(wk.name, "app start").Draw(n))
	ready := i.App.ReadyAfter.Sample(d.Engine.Stream(wk.name, "app ready").Draw(n))
	i.readyFrom = d.Engine.Now() + start + ready
	c.listen = wk.k.inPod(start, "app listens", func() {
		d.setListening(i, true, NotClosed)
		wk.Wake()
		if ready > 0 {
			c.listen = wk.k.inPod(ready, "app is ready", wk.Wake)
		}
	})
}

// number counts all containers that were made of the spec: the draws of each are its own.
func (c *Container) number() uint64 { return uint64(c.made + c.Generation) }

// syncDone ends a sync that took a while: what it did is noticed at the next relist.
func (wk *Worker) syncDone() {
	wk.busy--
	wk.lastSync = wk.k.d.Engine.Now()
	wk.noticed()
}

// noticed has the pod worked on at the next relist, which shows that a container changed.
func (wk *Worker) noticed() {
	now := wk.k.d.Engine.Now()
	wk.k.after(wk.k.NextRelist(now)-now, "relist", wk.RequestSync)
}

// cacheNewer returns when the kubelet's view of the containers is newer than the pod's last
// sync: now, if a relist came in between, else at the next one. It never works on a pod
// before (pod_workers.go, podWorkerLoop; verified).
func (wk *Worker) cacheNewer() engine.Time {
	now := wk.k.d.Engine.Now()
	next := wk.k.NextRelist(now)
	if next-relistPeriod > wk.lastSync && wk.busy == 0 {
		return now
	}
	return next
}

// RequestSync has the pod worked on as soon as possible.
func (wk *Worker) RequestSync() {
	if wk.terminating || wk.syncPending || wk.busy > 0 {
		return // when a sync is under way, its end is noticed
	}
	if at, now := wk.cacheNewer(), wk.k.d.Engine.Now(); at > now {
		wk.syncPending = true
		wk.k.after(at-now, "relist", func() {
			wk.syncPending = false
			wk.RequestSync()
		})
		return
	}
	wk.sync()
}

// sync is the kubelet working on a pod: it recomputes the status, pokes readiness probes that
// do not succeed yet, kills what failed its probes, and starts what has ended.
func (wk *Worker) sync() {
	wk.lastSync = wk.k.d.Engine.Now()
	var poke []*Prober
	for _, c := range wk.All {
		if c.Generation == 0 {
			continue
		}
		s := &c.shown
		s.generation, s.running, s.startAt = c.Generation, c.Running, c.startAt.TruncateToSecond()
		s.started = c.Running && (c.startup == nil || c.startup.generation == c.Generation && c.startup.result)
		s.ready = s.started && (c.Readiness == nil || c.Readiness.generation == c.Generation && c.Readiness.result)
		if wk.Instance.Unready && c == wk.Main {
			s.ready = false
		}
		if s.started && !s.ready && c.Readiness != nil {
			poke = append(poke, c.Readiness)
		}
	}
	wk.update()
	wk.restartContainers()
	wk.initialize()
	for _, p := range poke {
		p.poke()
	}
	wk.Wake()
}

// Wake lets probes look again at their next tick, after something changed.
func (wk *Worker) Wake() {
	for _, c := range wk.All {
		for _, p := range c.probers {
			p.arm()
		}
	}
}

// update has the status written as the containers are shown.
func (wk *Worker) update() {
	containers, restarts := true, 0
	for _, c := range wk.All {
		containers = containers && c.shown.ready
		restarts = max(restarts, c.made+c.shown.generation-1)
	}
	ready := containers && wk.gatesOpen()
	phase := api.PhaseRunning
	if !wk.initialized() && wk.Main.made == 0 {
		phase = api.PhasePending
	}
	wk.k.setStatus(wk, podStatus{phase: phase, containersReady: containers, ready: ready, ip: wk.Instance.IP, restarts: restarts})
	if c := wk.Main; ready && c.Running && wk.Instance.App.CrashAfter > 0 && c.crash == (engine.Handle{}) {
		c.crash = wk.k.inPod(wk.Instance.App.CrashAfter, "app crashes", func() { c.end(event.Crashed) })
	}
}

func (wk *Worker) stopProbes() {
	for _, c := range wk.All {
		for _, p := range c.probers {
			p.stop()
		}
	}
}

// tell tells of a container.
func (c *Container) tell(e event.Event) {
	if log := c.wk.k.d.Log; log.Hears(e.Kind) {
		e.Pod, e.Node, e.Stream, e.Container, e.Sidecar, e.Main = c.wk.ID, c.wk.k.node, -1, c.spec, c.sidecar, c == c.wk.Main
		log.Tell(e)
	}
}

// String is the name of its pod and its own.
func (c *Container) String() string { return fmt.Sprintf("%s/%s", c.wk.name, c.spec.Name) }
