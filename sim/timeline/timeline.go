package timeline

import "github.com/lameduck-proxy/lameduck/sim/engine"

// What a Timeline has at most. Of what is beyond, the most important is kept, and the rest counted.
const (
	mostPods     = 64 // a set of them is a word
	mostNodes    = 64
	mostTargets  = 64
	mostFailures = 1000
	mostEvents   = 5000
	mostSyncs    = 400 // of a node
	mostMarks    = 200 // of a pod
	mostSpans    = 500 // of a lane
	mostBuckets  = 1200
)

// Timeline is one run as lanes. All times are seconds from the run's start; Zero is the moment that people count from.
type Timeline struct {
	Seed uint64      `json:"seed"`
	End  engine.Time `json:"end"`
	Zero Zero        `json:"zero"`

	Events   []Event      `json:"events"` // in order; lanes, bands and failures refer to them by number
	Pods     []PodLane    `json:"pods"`
	Nodes    []NodeLane   `json:"nodes"`
	Targets  []TargetLane `json:"targets"`
	Dry      []DryLane    `json:"dry"` // load balancers that had no target for some time
	Clients  []ClientLane `json:"clients"`
	Bands    []Band       `json:"bands"` // of the pods that went, in the order of going
	Failures []Failure    `json:"failures"`
	Lost     []LostCause  `json:"lost"` // all that failed, also what is not among Failures; most first
	LeftOut  []string     `json:"leftOut"`
}

// Zero is the moment that people count from: the deletion of the pod that most is to be told of, or what was done to its machine, or the
// action.
type Zero struct {
	At   engine.Time `json:"at"`
	What string      `json:"what"`
	Pod  int         `json:"pod"` // of Pods by ID, -1 for none
}

// Span is a time in which something was so.
type Span struct {
	From engine.Time `json:"from"`
	To   engine.Time `json:"to"`
	Is   string      `json:"is"`
}

// Mark is a moment of a lane.
type Mark struct {
	At    engine.Time `json:"at"`
	Kind  string      `json:"kind"`
	OK    bool        `json:"ok"`
	Event int         `json:"event"` // 0 where there is none
}

// Event is something that happened, in words.
type Event struct {
	Number int         `json:"number"`
	At     engine.Time `json:"at"`
	Kind   string      `json:"kind"`
	What   string      `json:"what"`
	Object string      `json:"object"`
	Pod    int         `json:"pod"`    // -1: none
	Node   int         `json:"node"`   // -1: none
	Client int         `json:"client"` // of Clients, whose way it is about: each has rules and targets of its own; -1: none
	Source *Place      `json:"source"`
}

// Place is a line of a manifest.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// The phases of a pod, as its object says.
const (
	Pending               = "pending"
	Starting              = "starting" // its process has begun
	Ready                 = "ready"
	NotReady              = "not-ready" // it was, and its probe fails
	TerminatingServing    = "terminating-serving"
	TerminatingNotServing = "terminating-not-serving"
)

// PodLane is one pod. Phases is what its object says, Slices what the EndpointSlices say of it, Listens what its process does: it
// accepts connections then.
type PodLane struct {
	ID       int          `json:"id"`
	Name     string       `json:"name"`   // as events have it
	Called   string       `json:"called"` // as stories have it: "old pod 0"
	Workload string       `json:"workload"`
	Node     string       `json:"node"` // "" where it was never bound
	Deleted  *engine.Time `json:"deleted"`
	Gone     *engine.Time `json:"gone"`
	Phases   []Span       `json:"phases"`
	Slices   []SliceLane  `json:"slices"`
	Listens  []Span       `json:"listens"`
	Marks    []Mark       `json:"marks"`
	Alike    int          `json:"alike"` // how many other pods went through the same, and were met by no failed request either: this one stands for them
	Like     int          `json:"like"`  // the pod that stands for this one, -1 for itself
}

// SliceLane is what the EndpointSlices of a Service say of a pod: "ready", "terminating-serving", "terminating-not-serving", "not-ready".
type SliceLane struct {
	Service string `json:"service"`
	Spans   []Span `json:"spans"`
}

// What a node's rules use for the connections of a client.
const (
	UsesReady    = "ready"    // endpoints that are ready
	UsesFallback = "fallback" // endpoints that terminate and serve, because none is ready in scope (KEP-1669)
	UsesReject   = "reject"   // nothing: connections are refused
	UsesDrop     = "drop"     // nothing: connections time out
	UsesUnknown  = "unknown"  // the Service is not known
)

// NodeLane is one node, and its view.
type NodeLane struct {
	Index  int    `json:"index"` // in the order of the input
	Name   string `json:"name"`
	Lost   uint64 `json:"lost"` // requests that met it and failed
	Ways   []Way  `json:"ways"`
	Health []Span `json:"health"` // of the health check node port: "200" or "503"; none where nobody asks it
	Syncs  []Span `json:"syncs"`  // of the rules
	Waits  []Span `json:"waits"`  // for minSyncPeriod, with news at hand
	Marks  []Mark `json:"marks"`
	Alike  int    `json:"alike"` // how many other nodes went through the same, and lost nothing either: this one stands for them
	Like   int    `json:"like"`  // the node that stands for this one, -1 for itself
}

// Way is what a node's rules do with the connections of some clients.
type Way struct {
	Clients []int `json:"clients"`
	Uses    []Use `json:"uses"`
}

// Use is a time in which rules led to the same pods. More are pods that have no lane.
type Use struct {
	From  engine.Time `json:"from"`
	To    engine.Time `json:"to"`
	Is    string      `json:"is"`
	Pods  []int       `json:"pods"`
	More  int         `json:"more"`
	Event int         `json:"event"` // with which it began; 0 where it is not among Events
}

// TargetLane is one target of a load balancer, or of an ingress controller's pod: a node or a pod. Gets are the times in which it was sent
// new connections; States are those of package balancer.
type TargetLane struct {
	Balancer string `json:"balancer"`
	Proxy    int    `json:"proxy"` // the pod of the ingress controller, -1 for a load balancer
	Clients  []int  `json:"clients"`
	Pod      int    `json:"pod"`  // -1 where the target is a node
	Node     int    `json:"node"` // -1 where it is a pod
	Name     string `json:"name"`
	States   []Span `json:"states"`
	Gets     []Span `json:"gets"`
}

// DryLane is when a load balancer, or an ingress controller's pod, had no target to send the new connections of Clients to.
type DryLane struct {
	Balancer string `json:"balancer"`
	Proxy    int    `json:"proxy"` // as of a TargetLane
	Clients  []int  `json:"clients"`
	Spans    []Span `json:"spans"`
}

// ClientLane is one stream of requests, in buckets by arrival. Total are all, ok those that are in no other one.
type ClientLane struct {
	Name     string      `json:"name"`
	Service  string      `json:"service"`
	External bool        `json:"external"`
	Nodes    []string    `json:"nodes"`       // that they go to, or run on; none: all
	Healthy  bool        `json:"healthyOnly"` // they go to nodes alone whose health check node port says 200, to all where none does
	Rate     string      `json:"rate"`        // a second; "" for clients that wait for each answer
	Bucket   engine.Time `json:"bucket"`
	Exact    bool        `json:"exact"` // false: arrivals of requests that were simply answered are spread evenly between those that are known
	Total    []uint32    `json:"total"`
	Slow     []uint32    `json:"slow"` // answered more than a second late
	Rescued  []uint32    `json:"rescued"`
	Failed   []uint32    `json:"failed"`
	Requests uint64      `json:"requests"`
	Lost     uint64      `json:"lost"`
	// WithoutServer is how long a session had no server in this run, the mean of all, where that is more than the requests that failed come
	// to; zero for others. Whose it is waits meanwhile, and is answered late.
	WithoutServer engine.Time `json:"withoutServer"`
}

// Band is what is between what the API says of a pod that goes and what nodes do with it.
type Band struct {
	Pod     int          `json:"pod"`
	Deleted *engine.Time `json:"deleted"` // in the API; null where it was not, such as a crash
	Told    *engine.Time `json:"told"`    // an EndpointSlice says first that it is not ready
	From    *engine.Time `json:"from"`    // it accepts no connections any more; null where it does until the end
	To      *engine.Time `json:"to"`      // the last node's rules, or load balancer, have let go of it; null where one never does
	Last    string       `json:"last"`    // which one
	Lost    uint64       `json:"lost"`    // requests that met it and failed
	Nodes   []NodeBand   `json:"nodes"`   // the latest first
	More    int          `json:"more"`    // nodes that are not listed
}

// NodeBand is when one node, or load balancer, let go of a pod.
type NodeBand struct {
	Node     int          `json:"node"`  // -1: a load balancer, or the pod of an ingress controller
	Proxy    int          `json:"proxy"` // that pod, -1: none
	Name     string       `json:"name"`
	Clients  []int        `json:"clients,omitempty"` // of a load balancer: those whose requests it sends, with checks of their own
	LetGo    *engine.Time `json:"letGo"`             // null: never
	Gone     bool         `json:"gone"`              // it let go because its machine was gone then
	Fallback bool         `json:"fallback"`          // it knew, and had no other
	Lost     uint64       `json:"lost"`
	Event    int          `json:"event"`
	Alike    int          `json:"alike"` // how many others let go as this one did, in time or not, with nothing lost: it stands for them
	Like     int          `json:"like"`  // the node that stands for this one, -1 for itself
}

// Failure is a request that failed. Story are the events that it came from, by number; Own is how many of them are before the
// request's own line, What.
type Failure struct {
	Client    int         `json:"client"`
	Number    uint64      `json:"number"`
	At        engine.Time `json:"at"`
	End       engine.Time `json:"end"`
	Outcome   string      `json:"outcome"`
	Cause     string      `json:"cause"`
	Actor     string      `json:"actor"`
	Elsewhere bool        `json:"elsewhere"` // another ready pod could have answered
	Node      int         `json:"node"`      // -1: none
	Pod       int         `json:"pod"`       // -1: none
	Proxy     int         `json:"proxy"`     // the pod of the ingress controller that had asked for it, -1: none
	Attempts  int         `json:"attempts"`
	Told      engine.Time `json:"told"`
	What      string      `json:"what"`
	Zero      engine.Time `json:"zero"` // that its story counts from
	Story     []int       `json:"story"`
	Blamed    []int       `json:"blamed"` // of Story, what the loss comes from
	Own       int         `json:"own"`
	Without   bool        `json:"without"` // it fails in the same run without the action, too, or another in its place
	Like      int         `json:"like"`    // the failure whose story stands for this one's, -1 where it has its own
}

// LostCause counts requests that failed for one cause.
type LostCause struct {
	Cause     string `json:"cause"`
	Actor     string `json:"actor"`
	Elsewhere bool   `json:"elsewhere"`
	Client    int    `json:"client"`
	Count     uint64 `json:"count"`
	Without   uint64 `json:"without"` // of these, those that fail without the action, too: they count for no pod and no node
}
