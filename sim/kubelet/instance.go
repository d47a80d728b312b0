package kubelet

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Closed says why an instance does not listen.
type Closed uint8

// The reasons, in the words of the causes they lead to and in their order: of several that
// have held since it last listened, the first counts.
const (
	NotClosed      Closed = iota // it listens
	NotYet                       // it has never listened since it started
	ClosedOnTerm                 // its listener closed, or its process ended, after SIGTERM
	ClosedLiveness               // restarted by a liveness probe
	ClosedCrash                  // anything else
	ClosedWithNode               // its machine is gone
)

// Instance is what runs in a pod, as packets meet it. It is state of the moment, not of the
// API.
type Instance struct {
	Pod      api.PodID
	Workload int
	Revision int
	Node     int
	IP       netip.Addr
	App      *world.App
	Host     bool // it has the network of its node, whose kernel answers when the pod has gone, while the machine runs

	Sandbox   bool // the network namespace is there: its kernel answers, if only with a reset
	Running   bool // the process runs
	Listening bool
	Why       Closed      // while not listening
	Since     engine.Time // when Listening or Why last changed
	Term      engine.Time // when SIGTERM was sent to this process, never if not
	Forced    bool        // its readiness is held at false by the scenario
	Back      engine.Time // when it serves again that reloads at SIGTERM, 0 for others
	Alone     bool        // what it passes its requests on to has ended: it answers them with errors
	Unready   bool        // it was not ready when the run began, and will not be: with and without a probe

	readyFrom engine.Time   // before, the app does not say it is ready
	slots     []engine.Time // with a concurrency limit: when each slot is free
}

func (i *Instance) set() api.ReplicaSetID {
	return api.ReplicaSetID{Workload: i.Workload, Revision: i.Revision}
}

// Accepts says whether a new connection would be accepted.
func (i *Instance) Accepts() bool { return i.Sandbox && i.Listening }

// Starting says that the server runs and is to listen, and does not yet: nobody has told it to end.
func (i *Instance) Starting() bool {
	return i.Running && !i.Listening && i.Term == api.Never && !i.App.NotAServer
}

// Answers says whether a kernel is there to refuse a connection at least.
func (i *Instance) Answers() bool { return i.Sandbox || i.Host }

// Observer hears of everything that happens to instances and matters to connections, at the
// moment it happens. The state has changed already.
type Observer interface {
	// ListenerChanged: the instance began or ceased to accept connections.
	ListenerChanged(i *Instance)
	// Terminated: SIGTERM was delivered; idle connections are closed by servers that shut down
	// gracefully, requests in flight are cut if the app cuts them.
	Terminated(i *Instance)
	// Reloading: the server cuts what it has begun, and takes what comes when it is there again. It is told before the state changes.
	Reloading(i *Instance)
	// LeftAlone: what the server passes its requests on to has ended, and the server has not. It is told before the state changes: what
	// has come until now is answered yet.
	LeftAlone(i *Instance)
	// Ended: the process is gone. how says by SIGKILL after the grace period, or by the kubelet's
	// liveness restart.
	Ended(i *Instance, how event.Ending)
	// SandboxGone: the pod's address answers nobody any more.
	SandboxGone(i *Instance)
	// SandboxBack: it answers again, after its machine has booted.
	SandboxBack(i *Instance)
	// InFlightUntil returns when the last request the instance is serving will be answered,
	// the present time if there is none.
	InFlightUntil(i *Instance) engine.Time
}

// Instances are all that run, or ran.
type Instances struct {
	byPod   []*Instance   // nil where nothing ever ran
	running [][]*Instance // those with a sandbox, by workload

	host map[netip.Addr]*Instance // the last one at an address of a node
}

// NewInstances returns those of a number of workloads: none yet.
func NewInstances(workloads int) *Instances {
	return &Instances{running: make([][]*Instance, workloads), host: map[netip.Addr]*Instance{}}
}

func (x *Instances) add(i *Instance) {
	for int(i.Pod) >= len(x.byPod) {
		x.byPod = append(x.byPod, nil)
	}
	x.byPod[i.Pod] = i
	if i.Host {
		x.host[i.IP] = i
	}
	x.running[i.Workload] = append(x.running[i.Workload], i)
}

// Of returns what runs in a pod, nil when nothing ever did.
func (x *Instances) Of(id api.PodID) *Instance {
	if int(id) >= len(x.byPod) {
		return nil
	}
	return x.byPod[id]
}

// At returns what runs, or ran, at a pod address, nil when nothing ever did.
func (x *Instances) At(ip netip.Addr) *Instance {
	if id, ok := PodAt(ip); ok {
		return x.Of(id)
	}
	return x.host[ip]
}

// On lists what runs, or ran, on a node, in order of ID.
func (x *Instances) On(node int) []*Instance {
	var out []*Instance
	for _, i := range x.byPod {
		if i != nil && i.Node == node {
			out = append(out, i)
		}
	}
	return out
}

// Running lists those of a workload that have a sandbox.
func (x *Instances) Running(workload int) []*Instance { return x.running[workload] }

// sandboxGone takes an instance off those that might answer.
func (d *Desk) sandboxGone(i *Instance) {
	i.Sandbox = false
	list := d.Instances.running[i.Workload]
	if at := slices.Index(list, i); at >= 0 {
		d.Instances.running[i.Workload] = slices.Delete(list, at, at+1)
	}
	d.Observer.SandboxGone(i)
}

// setListening changes the listener and tells the observer.
func (d *Desk) setListening(i *Instance, listening bool, why Closed) {
	if !listening && !i.Listening {
		why = min(why, i.Why)
	}
	if i.Listening == listening && (listening || i.Why == why) {
		return
	}
	changed := i.Listening != listening
	i.Listening, i.Why, i.Since = listening, why, d.Engine.Now()
	kind := event.Closed
	if listening {
		i.Why, kind = NotClosed, event.Listening
	}
	if changed {
		d.Log.Tell(event.Event{Kind: kind, Pod: i.Pod, Node: -1, Stream: -1, OK: i.Accepts()})
	}
	d.Observer.ListenerChanged(i)
}

// Passes says whether the app would pass a probe of its readiness or liveness now.
func (d *Desk) Passes(i *Instance, liveness bool) bool {
	if !i.Running || !i.Listening {
		return false
	}
	if i.Term != api.Never && i.App.ReadinessFails && !liveness {
		return false
	}
	if !liveness && (i.Forced || d.Engine.Now() < i.readyFrom) {
		return false
	}
	if liveness && !i.App.LivenessFollows {
		return true
	}
	for _, name := range i.App.DependsOn {
		if d.Down[name] {
			return false
		}
	}
	return true
}
