package event

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Kind is what happened, in the words of the field.
type Kind uint8

// The kinds of events.
const (
	Action          Kind = iota // the scenario did something: Action
	Created                     // a pod object was created
	Deleted                     // a pod got its deletionTimestamp
	Ready                       // a pod's Ready condition became true in the API
	NotReady                    // ... or false
	Gone                        // a pod's object is gone
	Endpoint                    // an EndpointSlice shows a pod in Conditions
	EndpointGone                // ... or not any more
	PreStop                     // a preStop hook began: Hook, Container
	PreStopFailed               // it could not: Hook, Container
	Term                        // the server was told to end, by SIGTERM or by its hook
	Kill                        // SIGKILL
	Listening                   // the server accepts connections: OK if its pod has an address
	Closed                      // it does not any more
	Ended                       // a process ended: Container, Ending
	Wait                        // a node's proxy heard of a change and waits until Until: Others if its last sync was for other Services alone
	Rules                       // a node's new rules lead the connections of a stream to Targets, by Verdict
	HealthPort                  // a node's healthCheckNodePort answers differently: OK
	Ingress                     // a pod of an ingress controller sends the requests of a stream to Targets from now on
	Balancer                    // a load balancer sends new connections to a node or pod from now on, or not any more: OK; and to all of them, for none is healthy: Fallback
	Gate                        // a readiness gate of a pod opened, or closed: Gate, OK
	Deadline                    // a rollout has made no progress for Seconds: Workload
	Tainted                     // a node's proxy has seen Cluster Autoscaler's taint: OK as its port 10256 says now
	NodeGone                    // a node's machine is gone
	NodeBack                    // it runs again
	NodeReady                   // a node's condition Ready became true in the API: OK; or not, for the reason in Refusal
	Resumed                     // a component that was paused runs again: Action
	Cordoned                    // no further pod is bound to a node: OK; or again
	EvictionRefused             // the eviction of a pod was refused: Refusal
	Drained                     // kubectl drain, or who else Name says, is done with a node: OK, or has given up: Refusal
	Untainted                   // a node's proxy has seen that the taint is gone: OK as its port 10256 says now
	Joined                      // a node has joined, and is ready
	NoHistory                   // a rollback found no earlier revision to go back to: Workload, Action
	Volume                      // a pod waits for a volume before it is started, or has got all of them: OK

	// What follows is for those who judge a run, step by step.

	Known     // an Object is there at the beginning; OK if it is a pod whose server accepts connections
	Wrote     // a version of an object is in the API: Object, and View for EndpointSlices
	Delivered // a watch brought it: Name of the watch, Object, View
	SyncBegan // a service proxy begins a sync: Node
	SyncEnded // and ends it: Node, View in force
	Started   // a container's process began: Container
	Stopping  // the kubelet begins to stop a container, its preStop hook first: Container, Grace
	Signalled // the kubelet sends SIGTERM: Container, Grace
	Probed    // a probe was answered: Container, Probe, OK
	Decided   // the kubelet decided on a pod's status: OK for ready

	Target  // a load balancer holds its target Member to be something else: State
	Sends   // a load balancer sends new connections to Members from now on
	Sent    // it sent one of them to Member, -1 for nowhere, no later than At
	Cut     // it cut all connections to Member
	Moved   // it cut the connections that lead elsewhere now
	Flow    // a node sent a new connection of a stream to To, the zero address for nowhere
	numbers // of kinds
)

// Event is one thing that happened. Fields that do not belong to its Kind are zero; where the comment of
// a field says so, -1.
type Event struct {
	// At is when, Kind what happened.
	At   engine.Time
	Kind Kind

	// Whom it happened to.
	Pod      api.PodID // -1: no pod
	Node     int       // -1: no node
	Stream   int       // number of the stream of requests; of a load balancer its first one; -1: none
	Service  int       // of an endpoint, number in the scenario
	Workload int

	// What the Kind's comment says.
	Action     *world.Action
	Conditions endpoints.Conditions
	Hook       *world.Hook
	Ending     Ending
	Until      engine.Time
	Verdict    packet.Verdict
	Targets    []api.PodID // ascending
	Fallback   bool        // all Targets are terminating, and used because none is ready in scope (KEP-1669); or a load balancer fails open
	OK         bool
	Gate       string
	Seconds    int32
	Refusal    string // why, in words
	// Others says that a sync is for other Services than the Scenario's alone: the rules of these stay as
	// they are. Such syncs are told of later than they were, each proxy's in order, and before what the
	// proxy does next. Of a Wait see Kind.
	Others bool

	// Object is a *Pod, a *ReplicaSet, a *Deployment, a *Node, or what stands for a slice: to be compared
	// by identity. View is what the slices say then.
	Object any
	View   *nodeproxy.View
	Name   string // of a watch

	// Container, of a Pod: Sidecar and Main say what it is. Main is the one that traffic goes to.
	Container *corev1.Container
	Sidecar   bool
	Main      bool
	// Grace is the grace period of a Stopping, and with a Signalled how long after it SIGKILL comes.
	Grace engine.Time
	Probe *corev1.Probe

	// Proxy is the pod of an ingress controller that did what a load balancer does, traffic.NoProxy for
	// a load balancer. Member and Members are numbers of nodes or pods, as its targets are.
	Proxy   int
	Member  int // -1: none
	Members []int
	To      netip.AddrPort
	State   string // of a Target, one of those of package balancer

	// Number is the event's among those that a story.Recorder keeps, from 1; 0 for one that it does not keep.
	Number int
}

// Ending says how a process ended.
type Ending uint8

// The endings.
const (
	ByItself Ending = iota // its own exit after SIGTERM
	Killed                 // SIGKILL after the grace period
	Liveness               // killed by a liveness or startup probe
	Crashed                // anything else
	WithNode               // its machine is gone
)
