package world

import "github.com/lameduck-proxy/lameduck/sim/engine"

// LoadBalancer is what stands between clients outside and a Service's nodes or pods. Each field
// is one thing that load balancers differ in; a preset fills all of them, with the source of
// each (docs/model/load-balancers.md).
type LoadBalancer struct {
	Preset  string // the row of Presets it was made of
	Service string // "ns/name"

	Target  LBTarget  // what it sends connections to
	Members LBMembers // who is in the set of targets
	// NodesLeave is which nodes are left out of that set, and what has the controller look.
	NodesLeave NodesLeave
	Check      HealthCheck // who of them gets new connections
	// Controller is the time from a change in the API (a slice, a node) to the call that changes
	// the members.
	Controller engine.Dist
	// ControllerHold is at least between two of its calls: what it hears meanwhile waits.
	ControllerHold engine.Time
	// Registration is the time from that call until a new member is checked for the first time,
	// Propagation the time until a removed one gets no new connection any more.
	Registration, Propagation engine.Dist
	// HealthPropagation is the time from a health check changing its mind until new connections
	// follow it.
	HealthPropagation engine.Dist
	// Drain is how long connections to a removed member live on; then they are cut. 0 cuts them
	// at once, Never leaves them to end by themselves.
	Drain engine.Time
	// CutUnhealthy says that connections to a member that fails its checks are reset.
	CutUnhealthy bool
	// FailOpen says that all members get connections when none is healthy; else the client sees
	// NoTarget.
	FailOpen bool
	// InitialWaits says that, even then, a member gets nothing before its first checks are finished:
	// an ALB's target that is "initial" (docs/model/load-balancers.md 3 AWS ALB).
	InitialWaits bool
	NoTarget     NoTarget
	Hash         FlowHash
	// RepeatedSYN is where a SYN goes that has had no answer; a proxy's own stays. SYNUnknown says that no maker says it, and the input says nothing.
	RepeatedSYN RepeatedSYN
	SYNUnknown  bool
	// Idle is how long it keeps a connection that nothing is sent over, 0 for ever; then it
	// closes it to both sides, or, with IdleForgets, forgets it: the side that writes next is answered
	// with a reset. Of a proxy it is about the clients' connections, which are not simulated.
	Idle        engine.Time
	IdleForgets bool
	// ICMPFiltered says that a node's reject does not reach the client: it waits.
	ICMPFiltered bool
	// Layer7 says that it is a proxy: it ends the clients' connections, and asks its targets over
	// connections of its own, which it keeps. Clients see an HTTP error of whatever goes wrong
	// behind it. Nil for one that sends connections on.
	Layer7 *Layer7
	// Announce says that members are found by routing, not by health checks: MetalLB.
	Announce Announce
	// ReadinessGate is the pod condition that the controller sets when it finds a pod healthy, ""
	// for none; all conditions that begin alike where it ends with "*".
	ReadinessGate string
	// GateRecheck is how often the controller looks again at pods that wait for that. GateTimeout
	// is the age at which a pod waits no longer, healthy or not; 0 is never.
	GateRecheck, GateTimeout engine.Time
	// GateInjection is who gives pods the gate, beside the manifest.
	GateInjection GateInjection

	Reported []Report // fields of which only reports are known, and the input says nothing
}

// LBTarget is what a load balancer sends connections to.
type LBTarget uint8

// The targets.
const (
	TargetNodes LBTarget = iota // nodes, where the node's rules take over
	TargetPods                  // pod addresses, past every node's rules
)

// LBMembers is what makes a node or a pod a member.
type LBMembers uint8

// The rules of membership.
const (
	MembersAllNodes    LBMembers = iota // every node that is not excluded
	MembersLocalNodes                   // nodes with a pod that does not terminate, ready or not
	MembersReadyPods                    // pods that are ready and do not terminate
	MembersLivePods                     // pods that do not terminate, ready or not
	MembersServing                      // nodes with an endpoint that is ready or serving, terminating or not
	MembersServingPods                  // pods that serve and do not terminate, whether they are published as ready or not
)

// NodesLeave is which nodes are no targets (docs/model/load-balancers.md 2).
type NodesLeave uint8

// The nodes that leave.
const (
	// NodesDeleted are those whose object is gone: the service controller's rule. A node that Cluster
	// Autoscaler is about to delete is left out, too, but only when the controller looks for another
	// reason: the taint is none.
	NodesDeleted  NodesLeave = iota
	NodesTainted             // also those with that taint, as soon as it is seen
	NodesNotReady            // also those that are not ready
	NodesSilent              // those whose own speaker is not heard of any more, whatever the API says: MetalLB
)

// HealthCheck is how a load balancer finds out who is well.
type HealthCheck struct {
	Probe              Probe
	Interval, Timeout  engine.Time
	Healthy, Unhealthy int // answers in a row that change its mind
}

// Probe is what a health check asks.
type Probe uint8

// The probes.
const (
	ProbeNone        Probe = iota
	ProbeHealthPort        // HTTP /healthz on the Service's healthCheckNodePort
	ProbeProxyHealth       // HTTP /healthz of the node's service proxy, port 10256
	ProbeNodePort          // a TCP connection to the Service's node port, by the node's rules
	ProbePod               // a connection to the pod itself
)

// NoTarget is what a client sees of a load balancer without any target.
type NoTarget uint8

// What no target looks like.
const (
	NoTargetTimeout NoTarget = iota // packets vanish
	NoTargetRefused
	NoTarget503
	NoTargetElsewhere // a proxy asks another Service, which is taken to answer
)

// FlowHash is how a new connection's target is chosen.
type FlowHash uint8

// The ways of choosing.
const (
	HashFlow       FlowHash = iota // by its 5-tuple: a repeated SYN goes to the same one while that is healthy
	HashRoundRobin                 // in turn
	HashRandom                     // by chance, each connection again
)

// RepeatedSYN is where a load balancer sends a SYN that it has sent before, and that had no answer.
type RepeatedSYN uint8

// The ways of a repeated SYN.
const (
	SYNAfresh RepeatedSYN = iota // as the first one of a connection: where new connections go by now
	SYNStays                     // where the first one went, as long as connections stay there that are open
)

// Announce is how a load balancer that checks nothing gets packets to nodes.
type Announce uint8

// The announcements.
const (
	AnnounceNone Announce = iota
	AnnounceL2            // one node answers ARP for the address
	AnnounceBGP           // routers spread flows over all nodes that announce, by hash of their number
)

// Layer7 is what a proxy does with requests.
type Layer7 struct {
	// Retries is how many other targets are tried for a request that failed as RetryOn says.
	Retries int
	RetryOn RetryOn
	// RetriesSaid says that they are so for whatever is asked, because the input says it.
	RetriesSaid bool
	// GETs is how many are tried for a GET, where that is more than Retries.
	GETs int
	// ConnectTimeout is how long it waits for a target's connection.
	ConnectTimeout engine.Time
	// UpstreamIdle is how long it keeps an idle connection to a target, 0 for ever.
	UpstreamIdle engine.Time
	// Ingress says that it is a controller inside of the cluster, not a provider's.
	Ingress bool
	// WholeLists says that it is told all of its members at once, as proxies in the cluster are, and gateways whose whole configuration is
	// put anew (docs/model/load-balancers.md 5.2 Whole lists): no removal is in force before an addition that came earlier.
	WholeLists bool
}

// ForPOSTs has the proxy treat all requests as ones that must not be done twice: nginx sends them to another target only as long as
// none can have got them, and Google's proxies never (docs/model/load-balancers.md 4 Methods).
func (l *Layer7) ForPOSTs() {
	if l.RetryOn == RetryReset {
		l.RetryOn = RetryConnect
		return
	}
	l.Retries, l.GETs = 0, l.Retries
}

// ForGETs has the proxy try as many other targets as it does for GETs.
func (l *Layer7) ForGETs() { l.Retries, l.GETs = l.GETs, 0 }

// RetryOn is what a proxy tries another target for.
type RetryOn uint8

// What is tried again.
const (
	RetryConnect RetryOn = iota // connections that do not come about
	RetryReset                  // also those that are reset before the answer
)

// CloudGateway is the preset of a provider's gateway of which no more is known than that its API is slow.
const CloudGateway = "l7-cloud"
