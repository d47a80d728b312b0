package world

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Scenario is a world, what is done to it and what is expected of it, with every default
// filled in: the normalised form. It is immutable once Parse or Infer returned it.
type Scenario struct {
	Name       string // metadata.name, or the id of a case
	Kubernetes endpoints.Profile

	Nodes     []Node     // in the order of the input
	Workloads []Workload // in name order
	Services  []Service  // in name order
	Budgets   []Budget   // those that cover pods of the Workloads, in the order of the input

	// Churn is how often the EndpointSlices of other Services change, in thousandths a second: every
	// proxy hears of that and syncs.
	Churn   int
	Latency Latencies // of every node that does not override them
	Traffic []Traffic // in the order of the file
	Actions []Action  // in order of At, then of the file
	Expect  *Expect   // nil: nothing is expected
	// Unreachable says that the node answers for the address of a pod that is gone, with ICMP host
	// unreachable, UnreachableAfter the first SYN; else there is silence.
	Unreachable      bool
	UnreachableAfter engine.Time
	// MachineStop is how long a machine runs on after the cloud was told to end it, by whoever takes nodes away.
	MachineStop engine.Time
	// Vetoes are the webhooks that the API server asks before it makes any Pod, with failurePolicy Fail: while no pod of one answers, none is made.
	Vetoes  []Veto
	Volumes Volumes
	// Keeper is what sets readiness gates that nothing of the input sets.
	Keeper Keeper
	// Until ends the run even if it has not settled.
	Until engine.Time
	// Warmup is how long traffic flows before the first action.
	Warmup engine.Time

	// Recorded, where it is not nil, says of pods what was recorded of them. No input sets it: it is for comparing runs
	// with recordings.
	Recorded *Recorded

	// Set are the values given beside the input; HookOf and AppOf want them for templates
	// that appear during the run.
	Set Overrides

	// Assumptions lists every default that was not said by the input, in table order.
	Assumptions []Assumption
	// NotModelled lists what of the input the model leaves out.
	NotModelled []NotModelled

	// Families are the Scenario once for each load balancer that it might go through, the first the
	// Scenario itself, where neither it nor a flag says which one that is; else nil. Only a document
	// of kind Scenario has them.
	Families []Family

	DeadSaid bool        // what the address of a pod answers that is gone was said
	Reboot   engine.Time // how long a machine is away that reboots, where it was said; else 0
	StopSaid bool        // how long machines run on was said

	Gates      map[string]bool             // feature gates of kube-proxy that were set
	Several    bool                        // feature gate MaxUnavailableStatefulSet is on
	Namespaces map[string]*manifest.Object // the Namespaces of the input, by name

	// Shutdown is how kubelets end their pods when their machine shuts down, in order of priority; none: not at all.
	Shutdown []ShutdownGroup

	Spare *MadeUp // what further nodes are made of; nil where the nodes are those of the input
}

// GateMaxUnavailable is the feature gate of kube-apiserver and kube-controller-manager by which maxUnavailable of a StatefulSet is
// heeded: alpha in 1.24, beta in 1.35 and off all the same.
const GateMaxUnavailable = "MaxUnavailableStatefulSet"

// Node is one node of the cluster with its service proxy.
type Node struct {
	Name, Zone string
	Proxy      Proxy
	// Latency overrides the scenario's latencies on this node; nil fields do not.
	Watch     *engine.Dist
	ProxySync *engine.Dist
	// Object is the Node of the input, nil when the node is made up: then it has no taints, and what Has says,
	// in the units of Amount; nil is room for every pod.
	Object *corev1.Node
	Has    map[corev1.ResourceName]int64

	Joins bool // during the run: until then there is no such node
	Apart bool // it is of another pool: clients run there, pods of the Scenario keep off, and load balancers leave it out
}

// Proxy is a node's service proxy.
type Proxy struct {
	Mode          string // "nftables" or "iptables"
	MinSyncPeriod engine.Time
	SyncPeriod    engine.Time // retry interval after a failure
	MasqueradeAll bool
}

// Workload is what keeps pods running, and what runs in them.
type Workload struct {
	Resource Resource         // defaulted
	Object   *manifest.Object // for positions; nil when made up
	Nodes    int              // a DaemonSet's, that it is to have a pod on: see CountDaemons
	// Server is the name of the container that App describes: the one that traffic goes to.
	Server string
	App    App
	// Behind are the containers that the server, a proxy, passes its requests on to: from when the first of them has been told to end, the
	// server answers with errors.
	Behind []string
	// Hooks holds what each container's preStop and postStart hooks do, by container name; a container
	// without a hook has none.
	Hooks map[string]Hook
	// Revisions overrides App for pods of a revision: "old" (before the first action that
	// changes the template) or "new".
	Revisions map[string]App

	Created bool // by an action: it is a Pod that is not there at the beginning

	Aside bool // nothing is done to it: its pods serve beside those of the case's own workload
	// Bystander says that it has pods on a node that is drained, and that nobody asks it: it is in the world for what its pods do to
	// the drain.
	Bystander bool
	// Scaler is what keeps the number of its pods, nil for nothing.
	Scaler *Scaler
	// Placed are the pods that the input has of it, no more than its replicas; what is missing the scheduler places.
	Placed []Placed
	// Claims are the volumes that its pods write.
	Claims []Claim
	// Dropped are what the API server drops of its object, and is simulated without.
	Dropped []NotModelled
}

// Service is a Service that traffic goes to, with ClusterIP and node ports allocated.
type Service struct {
	Service *corev1.Service // defaulted, ClusterIP and node ports allocated
	Object  *manifest.Object
}

// Listener is what an app does with its listening socket.
type Listener uint8

// What becomes of the listener at SIGTERM.
const (
	ListenerCloses Listener = iota // closed at once: new connections are refused
	ListenerStays                  // open until the process ends
	ListenerDrains                 // open, the app goes on serving, for App.DrainFor
)

// InFlight is what becomes at SIGTERM of requests that are being served.
type InFlight uint8

// What becomes of requests in flight at SIGTERM.
const (
	InFlightFinish InFlight = iota // finished, for at most App.FinishWithin (0: no limit)
	InFlightCut                    // cut at once
)

// App is how the process in a pod behaves.
type App struct {
	Profile string // of the SIGTERM table, such as "closes-and-finishes"
	// Start is the time from container start to listening; ReadyAfter the further time until
	// its readiness would be true.
	Start      engine.Dist
	ReadyAfter engine.Dist
	Serve      engine.Dist
	// Init is how long each of the pod's init containers runs, but for sidecars.
	Init engine.Dist
	// Errors is how many of 1000 requests the app answers with an error (HTTP 5xx).
	Errors int
	// Concurrency limits the requests served at once; 0 is no limit. Queue is how many more
	// wait.
	Concurrency, Queue int
	DependsOn          []string // names of dependencies whose state readiness and liveness follow
	LivenessFollows    bool     // liveness fails with the dependencies, too

	ReadinessAsks Asks // what its exec readiness probe asks

	IgnoresSIGTERM bool // runs until SIGKILL
	Listener       Listener
	DrainFor       engine.Time // ListenerDrains: how long it goes on accepting
	InFlight       InFlight
	FinishWithin   engine.Time
	ReadinessFails bool // readiness fails as soon as SIGTERM arrives
	// Linger is how long the process stays after its last request when it has finished them
	// by itself, such as --post-shutdown-grace-period of ingress-nginx.
	Linger engine.Time
	// ServerIdle is how long the server keeps an idle connection; 0 is for ever.
	ServerIdle engine.Time
	// GoAway says that the app tells its HTTP/2 clients when it shuts down (GOAWAY), so that they
	// go elsewhere and lose nothing; else their connections are reset when the process ends.
	GoAway bool

	// ClosesAnswered says that while it drains it closes each connection with the next answer over it: Connection: close, or GOAWAY where
	// HTTP/2 is spoken, also on those that are opened then.
	ClosesAnswered bool

	StartSaid, ServeSaid, InitSaid bool // by the Scenario
	JVM                            bool // it runs on one
	// Evidence is what Profile was inferred from, and jvmBy what jvm was: "image nginx:1.29"; "" where nothing was.
	Evidence, JVMBy string

	CrashAfter engine.Time // time from becoming ready to a crash; 0 is never

	// NotAServer says that nothing in the pod listens: a load generator, a batch job.
	NotAServer bool
	// Basis is where the profile comes from: "manifest" (the Scenario or a flag says it),
	// "inferred" (from the image or the command) or "assumed". Alternatives are the profiles
	// that it might be instead.
	Basis        string
	Alternatives []string
}

// Hook is what a container's preStop hook does, and After its postStart hook.
type Hook struct {
	Kind string // "", "sleep", "exec", "httpGet", "missing" (the program is not in the image), "tcpSocket"
	// Duration is how long it takes; a hook without one in the input has it from an assumption.
	Duration engine.Dist
	// ClosesListener says that the hook itself makes the server stop listening (nginx -s quit,
	// /wait-shutdown), when it begins.
	ClosesListener bool
	// SignalsServer says that the hook sends SIGTERM to the server when it begins: App's
	// Listener, DrainFor, ReadinessFails and InFlight apply from then on, not from the
	// kubelet's SIGTERM. ClosesListener is set, too, where that closes the listener at once.
	SignalsServer bool
	// FailsReadiness says that the hook makes readiness fail when it begins.
	FailsReadiness bool
	// ActsAfter is how long after the hook's beginning ClosesListener, SignalsServer and
	// FailsReadiness come true; 0 is at once. It is never at the hook's end: what a hook does
	// as its last thing, SIGTERM does at the same moment.
	ActsAfter engine.Dist
	// WaitsForRequests says that the hook goes on, past Duration, until no request is served
	// any more.
	WaitsForRequests bool
	Undetermined     bool // Duration is an assumption that nothing in the input supports
	// Assumes is a program of which nothing says that the image has it, such as "sh"; without it the
	// hook fails at once. "" where that is known, and of hooks that run no program.
	Assumes string
	// Why names what was recognised, or what was not: "sleep 15", "unknown program drain.sh".
	Why string
	// After is the container's postStart hook.
	After PostStart
}

// FailsAtOnce says that a hook is no delay at all: what it asks for is not there, or not implemented.
func (h *Hook) FailsAtOnce() bool { return h.Kind == "missing" || h.Kind == "tcpSocket" }

// PostStart is what a postStart hook does: it takes a while, and is taken to succeed unless it cannot be run. Before it ends, the kubelet does not
// report the container as running, asks none of its probes, and starts none of the containers behind it.
type PostStart struct {
	Duration     engine.Dist
	Fails        bool   // it is not there, or not implemented: the kubelet kills the container for it
	Undetermined bool   // Duration is an assumption that nothing in the input supports
	Why          string // "" where the container has none
}

// Latencies are the delays of the control plane and the nodes.
type Latencies struct {
	APIWrite, Watch, SliceController, Controller engine.Dist
	StatusWrite, ProxySync                       engine.Dist
	Schedule, Sandbox, ContainerStart            engine.Dist
	ReadyToRules                                 *engine.Dist // measured, replaces what lies between
	// ImagePull is of one image that a node does not have: at the beginning that is every one. nil: nodes have all of them.
	ImagePull *engine.Dist
}

// MostLinearSYNs bounds Traffic.LinearSYNs.
const MostLinearSYNs = 8

// Traffic is one stream of requests.
type Traffic struct {
	Name     string
	External bool   // from outside the cluster, over node ports; else from pods, over the ClusterIP
	Service  string // "ns/name"
	Port     int    // service port number
	Protocol endpoints.Protocol

	Rate     int // requests a second in 1/1000, over all clients
	Arrivals Arrivals
	Clients  int // closed loop: clients; open loop: connections of a pool

	KeepAlive  bool        // a pool of Clients connections; else a new connection each request
	ClientIdle engine.Time // a pool closes connections idle for that long
	// RepeatReused has clients of a pool ask again, over another connection, when one that they had
	// used before is closed before any byte of the answer.
	RepeatReused bool

	Connection Connection // what requests share of one, beside KeepAlive
	// WaitForReady has calls over HTTP/2 wait for a connection until their timeout; gRPC's
	// default is to fail while the client waits to try again.
	WaitForReady bool
	// Named has clients resolve the name of a headless Service and connect to a pod by themselves:
	// they keep an answer for its TTL, and try the next address with each retry.
	Named bool
	// FixedPorts has UDP clients ask from one port each, so that the node's connection tracking
	// takes all they ask for one flow; else each question has a port of its own.
	FixedPorts bool

	// Timeout covers the whole attempt, the connection too, except one that is shared: that is
	// attempted for ConnectTimeout, by whichever request waits for it. 0 is no limit of the client's own.
	ConnectTimeout, Timeout engine.Time
	// LinearSYNs is net.ipv4.tcp_syn_linear_timeouts of the clients' kernels: how many SYNs are repeated a
	// second after one another before the pauses double.
	LinearSYNs int
	Retries    int
	Headline   bool
	Class      string // of the traffic table, such as "outside"

	// LB is the load balancer or proxy that outside clients go through; nil for none: they go to
	// the node ports.
	LB *LoadBalancer
	// Ingress is the proxy inside the cluster that the requests go through, nil for none. LB, Nodes
	// and HealthyNodesOnly are then about the way to it.
	Ingress *Ingress
	// Nodes are the nodes that outside clients go to, or that inside clients run on; nil is
	// all of them.
	Nodes []string
	// HealthyNodesOnly sends outside clients only to nodes whose health check node port
	// answers 200 at that instant (to all when none does): a load balancer without any
	// delay. Set for Services of type LoadBalancer with externalTrafficPolicy Local.
	HealthyNodesOnly bool

	TimeoutSaid, ConnectSaid, RepeatSaid, SYNSaid bool // by the input

	Route      *Route   // the Ingress or HTTPRoute that names its Service port, nil for none
	Everywhere bool     // Nodes are all that do not go away
	Bypass     string   // why its requests go to the ClusterIP, although they come from outside
	Direct     bool     // the Scenario says that its clients go to the node ports themselves
	LBOthers   []string // presets, by family, that LB might be instead, though that is less likely
	Families   []string // presets, by family, that LB might be with none more likely than another, its own among them; nil where it is known
}

// Ingress is an L7 proxy whose pods are a workload of the Scenario: each of them watches the
// endpoints of Traffic.Service, and asks them for the clients.
type Ingress struct {
	Service string // "ns/name" of the proxy's own, which clients connect to
	Port    int
	// Proxy is how it chooses: its target is pods, and Layer7 is set.
	Proxy *LoadBalancer
}

// ClientSide is the traffic as far as its clients connect: to the proxy where there is one.
func (t *Traffic) ClientSide() Traffic {
	side := *t
	if t.Ingress != nil {
		side.Service, side.Port = t.Ingress.Service, t.Ingress.Port
	}
	return side
}

// ProxyAfter is the L7 proxy that the requests come through: the ingress controller, or else the load balancer if it is one; nil for none.
func (t *Traffic) ProxyAfter() *Layer7 {
	switch {
	case t.Ingress != nil && t.Ingress.Proxy != nil:
		return t.Ingress.Proxy.Layer7
	case t.LB != nil:
		return t.LB.Layer7
	default:
		return nil
	}
}

// SetProxyAfter changes what ProxyAfter returned, which is not nil, for this stream alone.
func (t *Traffic) SetProxyAfter(p *Layer7) {
	if t.Ingress != nil && t.Ingress.Proxy != nil {
		in, lb := *t.Ingress, *t.Ingress.Proxy
		lb.Layer7, in.Proxy = p, &lb
		t.Ingress = &in
		return
	}
	lb := *t.LB
	lb.Layer7, t.LB = p, &lb
}

// Connection is what requests share.
type Connection uint8

// The kinds of connection.
const (
	ConnectionOwn     Connection = iota // none, or one of a pool with KeepAlive
	ConnectionHTTP2                     // one a client, for all its calls: HTTP/2 and gRPC
	ConnectionSession                   // one a client, as long as the server lives
)

// Shared says whether the requests of a client share one connection.
func (t *Traffic) Shared() bool { return t.Connection != ConnectionOwn }

// Arrivals is how requests come.
type Arrivals uint8

// The arrival processes.
const (
	ArrivalsPoisson Arrivals = iota
	ArrivalsConstant
	ArrivalsClosedLoop // each client asks again when its answer has come
)

// Expect is what a Scenario claims about its result.
type Expect struct {
	FailedMax      *int
	FailedMin      *int
	LostSecondsMax *engine.Time
	LostSecondsMin *engine.Time
	CausesOnly     []string
	CausesSome     []string
	CausesNone     []string
	Verdict        string
	UsablePodsMin  *int
	UsablePodsMax  *int
	// GapSeconds are of each pod of a StatefulSet that goes, until another of its name can serve in its place.
	GapSecondsMin *engine.Time
	GapSecondsMax *engine.Time
	// Order lists events that must happen in this order, in the words of the story.
	Order []string
	// Pos is where the expectation stands.
	Pos manifest.Position
}

// Assumption is one default that the input did not say.
type Assumption struct {
	ID, What, Value, Range, Basis, Source, Settle string
}

// InsideClients is the ID of what is left out where a Service is judged through its Ingress or HTTPRoute alone.
const InsideClients = "inside-clients"

// NoDrain is the ID of the drain that is no case of a DaemonSet.
const NoDrain = "drain"

// Unfollowed is the ID of an annotation of a load balancer that is not followed.
const Unfollowed = "load-balancer-probe"

// Capacity is the ID of how fast the pods that are left are taken to be.
const Capacity = "capacity"

// DrainFlags is the ID of what kubectl drain has to be told, and is taken to be.
const DrainFlags = "drain-flags"

// IDs of ways to the pods of a case that are not simulated, though the input has them, and of what else a report begins with.
const (
	StandIn     = "stand-in"         // a proxy stands in for another one
	Headless    = "headless"         // clients of a headless Service choose the pod
	UnreadRoute = "unread-route"     // something of another maker leads to the Service
	Weight      = "weight"           // a route sends a part of its requests
	LastPod     = "last-pod"         // an autoscaler may leave no pod
	OtherProxy  = "service-proxy"    // the nodes have another proxy than kube-proxy
	Refused     = "refused"          // the load balancer's controller refuses the Service
	LongUDP     = "long-udp"         // connections over UDP that last
	Needed      = "needed"           // a container that the server needs stops before it
	Beside      = "beside"           // a container that the server may need does
	Dropped     = "dropped"          // the API server drops a hook
	Undeclared  = "undeclared"       // nobody declares the port that a Service leads to
	LongLived   = "long-connections" // connections that last, as WebSockets, are simulated with requests
	ByNodePort  = "host-ports"       // clients of ports of nodes, beside those of a Service
	Drift       = "drift"            // a node is replaced for consolidation, and drift would end otherwise
	OnePod      = "one-pod"          // a Service leads from outside to one pod
	Promotion   = "promotion"        // an operator sets labels while pods run that are in no template, as that of a primary
)

// Foremost says whether what is left out under an ID belongs to the first lines of a report.
func Foremost(id string) bool {
	switch id {
	case StandIn, Headless, UnreadRoute, Weight, LastPod, OtherProxy, Refused, LongUDP, Needed, Beside, Dropped, Undeclared, LongLived, ByNodePort, Drift, OnePod, Promotion:
		return true
	default:
		return false
	}
}

// Uncounted says whether what is left out under an ID loses something, or may, of which no run says how much: that nothing is lost in the runs is no
// verdict then.
func Uncounted(id string) bool { return id == Needed || id == Beside }

// NotModelled is something in the input that the model leaves out.
type NotModelled struct {
	ID, What, Object, Direction string // Direction: "more", "fewer" or "unknown" losses in reality
	Remedy                      string // what to do about it, "" for most
}

// Family is a case behind one of the load balancers that it might be.
type Family struct {
	Preset string // such as "aws-nlb-ip"
	Name   string // for people: "AWS NLB, ip targets"
	// Scenario is that of the case, through this load balancer.
	Scenario *Scenario
}

// NamespaceLabels are the labels of the Namespaces of the input, by name.
func (s *Scenario) NamespaceLabels() map[string]map[string]string {
	out := map[string]map[string]string{}
	for name, o := range s.Namespaces { // order: a map, too
		if n, ok := o.Value.(*corev1.Namespace); ok {
			out[name] = n.Labels
		}
	}
	return out
}
