package cluster

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Constants of the kubelet (Kubernetes 1.36 pkg/kubelet; verified).
const (
	relistPeriod = engine.Second     // PLEG: how often container states are looked at
	minimumGrace = 2 * engine.Second // every kill leaves at least that much after SIGTERM
	cleanupPoll  = 100 * engine.Millisecond
)

// kubelet runs the pods of one node.
type kubelet struct {
	w     *World
	node  int
	owner engine.Owner
	phase engine.Time // of the relists
	pods  map[api.PodID]*worker
	// adopted are pods that ran at the beginning, as they were then, of which nobody has asked for the
	// worker yet: most pods of a large cluster.
	adopted map[api.PodID]*api.Pod

	dirty   []*worker // pods whose status is to be written, in order
	writing bool      // one status is written after the other, for all pods of the node
}

func newKubelet(w *World, node int) *kubelet {
	name := "kubelet " + w.sc.Nodes[node].Name
	k := &kubelet{w: w, node: node, owner: w.eng.Register(name), pods: map[api.PodID]*worker{}, adopted: map[api.PodID]*api.Pod{}}
	k.phase = engine.Time(engine.Below(w.eng.Stream(name, "relist phase").Draw(0), int(relistPeriod)))
	watch := w.store.Subscribe(name, k.owner, *w.watchLatency(node), k.deliver, api.KindPod)
	watch.Wants = func(o api.Object) bool {
		p, ok := o.(*api.Pod)
		return ok && p.Node == node
	}
	return k
}

// nextRelist returns the first relist after a moment.
func (k *kubelet) nextRelist(t engine.Time) engine.Time {
	n := (t - k.phase) / relistPeriod
	for k.phase+n*relistPeriod <= t {
		n++
	}
	return k.phase + n*relistPeriod
}

// after schedules work of the kubelet, which waits while that is paused.
func (k *kubelet) after(d engine.Time, name string, run func()) engine.Handle {
	return k.inPod(d, name, func() { k.w.store.Awake(k.owner, run) })
}

// inPod schedules what happens in a pod, or is up to the container runtime, by itself.
func (k *kubelet) inPod(d engine.Time, name string, run func()) engine.Handle {
	return k.w.eng.After(d, engine.ClassTimer, k.owner, name, run)
}

func (k *kubelet) deliver(o api.Object) {
	p, ok := o.(*api.Pod)
	if !ok {
		return
	}
	wk := k.worker(p.ID)
	switch {
	case p.Gone:
		if wk != nil {
			wk.stopProbes()
			delete(k.pods, p.ID)
		}
	case p.Phase.Terminal():
	case wk == nil && !p.Deleting():
		k.start(p)
	case wk == nil:
		k.newWorker(p).terminate(p) // deleted before it ever ran here
	case p.Deleting() && !wk.terminating:
		wk.terminate(p)
	default:
		wk.seeGates(p)
	}
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
func (k *kubelet) setStatus(wk *worker, s podStatus) {
	s.since = wk.status.since
	if s.ready && !wk.status.ready {
		s.since = k.w.eng.Now()
	}
	if s == wk.status || wk.status.phase.Terminal() {
		return
	}
	wk.status = s
	k.w.log.Tell(event.Event{Kind: event.Decided, Pod: wk.id, OK: s.ready})
	if !wk.dirty {
		wk.dirty = true
		k.dirty = append(k.dirty, wk)
	}
	k.writeNext()
}

// writeNext writes the next status that changed, as it is by now.
func (k *kubelet) writeNext() {
	if k.writing || len(k.dirty) == 0 {
		return
	}
	wk := k.dirty[0]
	k.dirty = k.dirty[1:]
	k.writing, wk.dirty = true, false
	s := wk.status
	delay := k.w.sc.Latency.StatusWrite.Sample(k.w.eng.Stream(wk.name, "status write").Draw(wk.statusCount))
	wk.statusCount++
	k.w.store.WriteAfter(delay, k.owner, "pod status", api.PodKey(wk.id), func(o api.Object) api.Object {
		p, ok := o.(*api.Pod)
		if !ok || p.Phase.Terminal() {
			return nil
		}
		next := *p
		next.Phase, next.Ready, next.ReadySince, next.IP, next.Restarts = s.phase, s.ready, s.since, s.ip, s.restarts
		next.ContainersReady = s.containersReady
		return &next
	}, func() {
		k.writing = false
		if s.phase.Terminal() {
			wk.remove()
		}
		k.writeNext()
	})
}

// worker is the kubelet's work on one pod.
type worker struct {
	k        *kubelet
	id       api.PodID
	name     string
	spec     *corev1.PodSpec
	instance *Instance
	main     *container
	all      []*container // containers, then sidecars in order of declaration

	lastSync    engine.Time // when the pod was last worked on
	busy        int         // a sync that takes a while is under way: starting, killing
	syncPending bool
	terminating bool
	cleanedUp   engine.Time // when the object may go, after the end

	status      podStatus // as last decided: in the API, or on its way
	dirty       bool
	statusCount uint64

	gates, open []string // readiness gates, and those that are True as far as the kubelet has seen

	init initialization
}

// container is one container of a pod.
type container struct {
	wk      *worker
	index   int
	spec    *corev1.Container
	sidecar bool
	hook    world.Hook

	running    bool
	generation int // counts the containers made of this spec; 0 before the first
	startAt    engine.Time
	finished   engine.Time  // when the last one ended
	signalled  bool         // the app has been told to end
	orders     event.Ending // how it then ends by itself
	killed     bool         // it was ended by SIGKILL
	shown      shown
	backoff    backoff
	condemned  *corev1.Probe // the liveness or startup probe that wants it killed
	unready    bool          // its hook made its readiness fail
	starting   bool          // a restart is under way or waits for its back-off

	stopped func() // hears when the container has ended, while the kubelet stops it
	kill    engine.Handle
	listen  engine.Handle
	exit    engine.Handle
	crash   engine.Handle
	acts    engine.Handle // what the hook does to the app

	readiness, liveness, startup *prober
	probers                      []*prober // those that there are: startup, readiness, liveness
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
func (k *kubelet) newInstance(p *api.Pod) *Instance {
	return &Instance{
		Pod: p.ID, Workload: p.Workload, Revision: p.Revision, Node: k.node, IP: p.IP,
		App: k.w.app(p), Why: NotYet, Term: api.Never,
	}
}

func (k *kubelet) newWorker(p *api.Pod) *worker { return k.workerOf(p, k.newInstance(p)) }

// workerOf begins the work on a pod.
func (k *kubelet) workerOf(p *api.Pod, i *Instance) *worker {
	spec := k.w.podSpec(api.ReplicaSetID{Workload: p.Workload, Revision: p.Revision})
	wk := &worker{
		k: k, id: p.ID, name: p.Name, spec: spec, lastSync: k.w.eng.Now(), cleanedUp: api.Never,
		gates: p.Gates, open: p.Open, instance: i,
	}
	for i := range spec.Containers {
		wk.add(&spec.Containers[i], false)
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; scenario.Sidecar(c) {
			wk.add(c, true)
		}
	}
	wk.main = wk.all[min(k.w.mainContainer(p.Workload), len(wk.all)-1)]
	k.pods[p.ID] = wk
	return wk
}

func (wk *worker) add(spec *corev1.Container, sidecar bool) {
	c := &container{
		wk: wk, index: len(wk.all), spec: spec, sidecar: sidecar, finished: api.Never,
		hook: wk.k.w.hook(wk.instance.set(), spec),
	}
	wk.all = append(wk.all, c)
	now := wk.k.w.eng.Now()
	if spec.ReadinessProbe != nil {
		c.readiness = newProber(c, readinessProbe, spec.ReadinessProbe, now)
	}
	if spec.LivenessProbe != nil {
		c.liveness = newProber(c, livenessProbe, spec.LivenessProbe, now)
	}
	if spec.StartupProbe != nil {
		c.startup = newProber(c, startupProbe, spec.StartupProbe, now)
	}
	for _, p := range []*prober{c.startup, c.readiness, c.liveness} {
		if p != nil {
			c.probers = append(c.probers, p)
		}
	}
}

// begin starts the process of a container.
func (c *container) begin() {
	w, wk := c.wk.k.w, c.wk
	c.running, c.signalled, c.killed, c.unready, c.startAt = true, false, false, false, w.eng.Now()
	c.generation++
	c.condemned = nil
	c.tell(event.Event{Kind: event.Started})
	if c != wk.main {
		return
	}
	i := wk.instance
	i.Running, i.Term = true, api.Never
	if i.App.NotAServer {
		return
	}
	n := uint64(c.generation)
	start := i.App.Start.Sample(w.eng.Stream(wk.name, "app start").Draw(n))
	ready := i.App.ReadyAfter.Sample(w.eng.Stream(wk.name, "app ready").Draw(n))
	i.readyFrom = w.eng.Now() + start + ready
	c.listen = wk.k.inPod(start, "app listens", func() {
		w.setListening(i, true, NotClosed)
		wk.wake()
		if ready > 0 {
			c.listen = wk.k.inPod(ready, "app is ready", wk.wake)
		}
	})
}

// syncDone ends a sync that took a while: what it did is noticed at the next relist.
func (wk *worker) syncDone() {
	wk.busy--
	wk.lastSync = wk.k.w.eng.Now()
	wk.noticed()
}

// noticed has the pod worked on at the next relist, which shows that a container changed.
func (wk *worker) noticed() {
	now := wk.k.w.eng.Now()
	wk.k.after(wk.k.nextRelist(now)-now, "relist", wk.requestSync)
}

// cacheNewer returns when the kubelet's view of the containers is newer than the pod's last
// sync: now, if a relist came in between, else at the next one. It never works on a pod
// before (pod_workers.go, podWorkerLoop; verified).
func (wk *worker) cacheNewer() engine.Time {
	now := wk.k.w.eng.Now()
	next := wk.k.nextRelist(now)
	if next-relistPeriod > wk.lastSync && wk.busy == 0 {
		return now
	}
	return next
}

// requestSync has the pod worked on as soon as possible.
func (wk *worker) requestSync() {
	if wk.terminating || wk.syncPending || wk.busy > 0 {
		return // when a sync is under way, its end is noticed
	}
	if at, now := wk.cacheNewer(), wk.k.w.eng.Now(); at > now {
		wk.syncPending = true
		wk.k.after(at-now, "relist", func() {
			wk.syncPending = false
			wk.requestSync()
		})
		return
	}
	wk.sync()
}

// sync is the kubelet working on a pod: it recomputes the status, pokes readiness probes that
// do not succeed yet, kills what failed its probes, and starts what has ended.
func (wk *worker) sync() {
	wk.lastSync = wk.k.w.eng.Now()
	var poke []*prober
	for _, c := range wk.all {
		if c.generation == 0 {
			continue
		}
		s := &c.shown
		s.generation, s.running, s.startAt = c.generation, c.running, c.startAt.TruncateToSecond()
		s.started = c.running && (c.startup == nil || c.startup.generation == c.generation && c.startup.result)
		s.ready = s.started && (c.readiness == nil || c.readiness.generation == c.generation && c.readiness.result)
		if s.started && !s.ready {
			poke = append(poke, c.readiness)
		}
	}
	wk.update()
	wk.restartContainers()
	wk.initialize()
	for _, p := range poke {
		p.poke()
	}
	wk.wake()
}

// wake lets probes look again at their next tick, after something changed.
func (wk *worker) wake() {
	for _, c := range wk.all {
		for _, p := range c.probers {
			p.arm()
		}
	}
}

// update has the status written as the containers are shown.
func (wk *worker) update() {
	containers, restarts := true, 0
	for _, c := range wk.all {
		containers = containers && c.shown.ready
		restarts = max(restarts, c.shown.generation-1)
	}
	ready := containers && wk.gatesOpen()
	phase := api.PhaseRunning
	if !wk.initialized() {
		phase = api.PhasePending
	}
	wk.k.setStatus(wk, podStatus{phase: phase, containersReady: containers, ready: ready, ip: wk.instance.IP, restarts: restarts})
	if c := wk.main; ready && c.running && wk.instance.App.CrashAfter > 0 && c.crash == (engine.Handle{}) {
		c.crash = wk.k.inPod(wk.instance.App.CrashAfter, "app crashes", func() { c.end(event.Crashed) })
	}
}

func (wk *worker) stopProbes() {
	for _, c := range wk.all {
		for _, p := range c.probers {
			p.stop()
		}
	}
}

// allocateIP gives a pod an address of its own, which no other pod ever has.
func (w *World) allocateIP(id api.PodID) netip.Addr {
	n := uint32(id) + 1
	return netip.AddrFrom4([4]byte{10, 128 + byte(n>>16), byte(n >> 8), byte(n)})
}

// podOf returns the pod that an address was given to; ok is false when it is no pod's.
func podOf(ip netip.Addr) (id api.PodID, ok bool) {
	if !podRange.Contains(ip) {
		return 0, false
	}
	a := ip.As4()
	return api.PodID(uint32(a[1]-128)<<16|uint32(a[2])<<8|uint32(a[3])) - 1, true
}

// tell tells of a container.
func (c *container) tell(e event.Event) {
	if log := c.wk.k.w.log; log.Hears(e.Kind) {
		e.Pod, e.Node, e.Stream, e.Container, e.Sidecar, e.Main = c.wk.id, c.wk.k.node, -1, c.spec, c.sidecar, c == c.wk.main
		log.Tell(e)
	}
}

func (c *container) String() string { return fmt.Sprintf("%s/%s", c.wk.name, c.spec.Name) }
