package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// The providers of managed pools.
const (
	PoolGKE = "gke"
	PoolEKS = "eks"
	PoolAKS = "aks"
)

// The components that take single nodes away, as actions call them.
const (
	AutoscalerComponent = "cluster-autoscaler"
	KarpenterComponent  = "karpenter"
)

// AllOfThem is a number of nodes that nobody has said.
const AllOfThem = -1

// NodeBudget is how many nodes of a pool may go at a time: a number, or hundredths of the pool, rounded up.
type NodeBudget struct {
	Number  int
	PerCent bool
}

// Of is the budget of a pool of so many nodes (https://karpenter.sh/docs/concepts/disruption/#nodes; verified).
func (b NodeBudget) Of(nodes int) int {
	if b.PerCent {
		return (nodes*b.Number + 99) / 100
	}
	return b.Number
}

// String is the budget as a NodePool has it.
func (b NodeBudget) String() string {
	if b.PerCent {
		return strconv.Itoa(b.Number) + "%"
	}
	return strconv.Itoa(b.Number)
}

// KarpenterBudget is that of a NodePool without any (https://karpenter.sh/docs/concepts/disruption/; verified).
func KarpenterBudget() NodeBudget { return NodeBudget{10, true} }

// AtLimit is what becomes of a node whose pods have not left in time.
type AtLimit uint8

// The ways.
const (
	GivesBack   AtLimit = iota // it is a node as before
	Fails                      // it stays cordoned, and nobody goes on
	Reopens                    // it takes pods again, and nobody goes on
	Quarantines                // it stays cordoned, and the next node follows
	DeletesAll                 // the pods are deleted, whatever budgets say, and the machine goes
)

// Marking is when nodes are marked that are about to go.
type Marking uint8

// The moments.
const (
	MarkEach   Marking = iota // each when it is its turn
	MarkFirst                 // as many as go at a time, before anything else
	MarkJoined                // all, when the first nodes have joined in their place
)

// Daemons is what becomes of the pods of DaemonSets.
type Daemons uint8

// The ways.
const (
	DaemonsStay Daemons = iota // they go with the machine
	DaemonsLast                // they are evicted when all others are being deleted
	DaemonsToo                 // they are evicted with the others, where there are any, and not waited for
)

// Rules are how somebody takes nodes away. What is not said in the sources that the table of rules names is the same as of
// kubectl drain.
type Rules struct {
	Component string // as actions call it: "cluster-autoscaler"
	Words     string // for people: "Cluster Autoscaler"

	Marking   Marking     // when a node is marked
	Taint     bool        // Cluster Autoscaler's, beside the cordon
	Disrupted bool        // the mark is Karpenter's taint, and no cordon
	Drifted   bool        // Karpenter replaces the nodes since they have drifted, not to have fewer or smaller ones
	Excludes  bool        // load balancers are told to leave it out, by its label: with the mark, or Karpenter's when it begins to empty it
	Delay     engine.Time // from the mark to the first eviction

	Again, AgainMost engine.Time // a refused eviction is asked for again after so long, doubled each time up to the longest
	Asks             engine.Time // how long a pod is asked for; 0: without end
	MostGrace        engine.Time // grace periods that are longer become this one; 0: none is
	Look             engine.Time // how often it looks whether the pods are gone

	Daemons  Daemons     // what becomes of pods of DaemonSets
	AllFirst bool        // it looks when all evictions were accepted, and only then
	Limit    engine.Time // from the first eviction, with AllFirst the last one, until the node is empty; 0: none
	Early    bool        // a pod is deleted so long before the limit as it takes to stop
	AtLimit  AtLimit
	Error    string      // what it calls a node that is not empty in time, "" for nothing
	NoPlace  string      // what it calls a node whose pods fit on no other one, in brackets, "" for nothing
	Rest     engine.Time // from the last pod to the call that ends the machine
}

// rulesOf is the table of those who take nodes away.
//
// Cluster Autoscaler: https://github.com/kubernetes/autoscaler/blob/HEAD/cluster-autoscaler/FAQ.md (node-delete-delay-after-taint,
// max-pod-eviction-time, max-graceful-termination-sec), core/scaledown/actuation/drain.go and actuator.go; verified.
//
// Karpenter: https://github.com/kubernetes-sigs/karpenter pkg/controllers/node/termination/controller.go (drained is asked each
// second; two looks more until the instance is ended), terminator/terminator.go (taint and label), terminator/eviction.go
// (100 ms to 10 s), https://karpenter.sh/docs/concepts/disruption/ (terminationGracePeriod); verified.
//
// EKS: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html (cordon and label of all nodes when the
// first new ones are ready, 15 minutes, 60 s); verified. AKS: https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling
// (drainTimeoutInMinutes 30, maxSurge 10 %), https://learn.microsoft.com/javascript/api/@azure/arm-containerservice/undrainablenodebehavior;
// verified.
//
// RECALLED, and not read in a source: GKE heeds budgets and grace periods for an hour and deletes what is left then; none of the three
// providers says how often it asks again, or looks.
func rulesOf(component string) Rules {
	const eachSecond, kubectl = engine.Second, 5 * engine.Second
	switch component {
	case KarpenterComponent:
		return Rules{
			Component: component, Words: "Karpenter", Marking: MarkFirst, Disrupted: true, Excludes: true, Daemons: DaemonsLast,
			Again: 100 * engine.Millisecond, AgainMost: 10 * engine.Second, Look: eachSecond, Early: true, AtLimit: DeletesAll, Rest: 2 * engine.Second,
		}
	case PoolGKE:
		return Rules{Component: component, Words: "GKE", Again: kubectl, AgainMost: kubectl, Look: eachSecond, Limit: engine.Hour, AtLimit: DeletesAll}
	case PoolEKS:
		return Rules{
			Component: component, Words: "EKS", Marking: MarkJoined, Excludes: true,
			Again: kubectl, AgainMost: kubectl, Look: eachSecond, Limit: 15 * engine.Minute, AtLimit: Fails, Error: "PodEvictionFailure", Rest: engine.Minute,
		}
	case PoolAKS:
		return Rules{Component: component, Words: "AKS", Again: kubectl, AgainMost: kubectl, Look: eachSecond, Limit: 30 * engine.Minute, AtLimit: Reopens}
	default:
		return Rules{
			Component: AutoscalerComponent, Words: "Cluster Autoscaler", Taint: true, Delay: 5 * engine.Second, Daemons: DaemonsToo,
			Again: 10 * engine.Second, AgainMost: 10 * engine.Second, Asks: 2 * engine.Minute, MostGrace: 600 * engine.Second,
			Look: 5 * engine.Second, AllFirst: true, Limit: 630 * engine.Second, AtLimit: GivesBack, NoPlace: " (NoPlaceToMovePods)",
		}
	}
}

// Taking is how nodes are taken away in one go.
type Taking struct {
	Rules
	Nodes []string // those that go, in this order
	Joins []string // those that join, in the order in which they are asked for
	Ahead int      // so many of Joins are there before any node is emptied
	// AtOnce nodes are emptied at a time; of them so many as Surges wait each time for one more of Joins before, the others after.
	AtOnce, Surges int
	Provision      engine.Time // from the request until a node has joined
	Least          engine.Time // from the mark until the cloud is told to end the machine, at least
	Stop           engine.Time // from then on until the machine is off
	// Forced says that the nodes go in any case: nobody asks whether their pods may leave, or fit elsewhere, and those that join are asked
	// for when the first pod is, and not waited for.
	Forced bool
}

// TakingOf is how an action takes nodes away, ok false where it does not. A node that crashes is not taken away by anybody.
func (s *Scenario) TakingOf(a *Action) (t Taking, ok bool) {
	if t, ok = s.takingOf(a); !ok {
		return Taking{}, false
	}
	t.Stop = s.MachineStop
	return t, ok
}

func (s *Scenario) takingOf(a *Action) (t Taking, ok bool) {
	switch o := a.Operation.(type) {
	case ScaleDownNode:
		return Taking{Rules: rulesOf(AutoscalerComponent), Nodes: []string{o.Node}, AtOnce: 1, Least: a.For}, true
	case Consolidate:
		t = Taking{Rules: rulesOf(KarpenterComponent), Nodes: o.Nodes, Joins: o.joins(), Ahead: o.Replacements, Provision: o.Provision}
		t.Limit, t.AtOnce, t.Drifted = o.Grace, o.Budget.Of(len(s.among(o.Pool))), o.Drifted
		return t, true
	case UpgradePool:
		return s.upgrade(&o), true
	case SpotNotice:
		// pkg/controllers/interruption/controller.go deletes the NodeClaim at the notice (CordonAndDrain), and the provisioner counts
		// the pods of nodes that are being deleted as pods to place; recalled
		t = Taking{Rules: rulesOf(KarpenterComponent), Nodes: []string{o.Node}, Joins: []string{"replacement-1"}, AtOnce: 1, Provision: o.Provision, Forced: true}
		return t, o.Karpenter
	default:
		return Taking{}, false
	}
}

// joins are the names of Karpenter's new nodes.
func (o *Consolidate) joins() []string {
	var out []string
	for i := range o.Replacements {
		out = append(out, fmt.Sprintf("replacement-%d", i+1))
	}
	return out
}

// upgrade is how a provider upgrades a pool.
func (s *Scenario) upgrade(o *UpgradePool) Taking {
	t := Taking{Rules: rulesOf(o.Provider), Nodes: s.among(o.Nodes), Provision: o.Provision}
	for _, n := range t.Nodes {
		t.Joins = append(t.Joins, n+newNode)
	}
	surge, unavailable := s.pace(o)
	t.AtOnce, t.Surges, t.Ahead = max(1, surge+unavailable), surge, min(surge, len(t.Nodes))
	if o.Provider == PoolEKS { // maxUnavailable at a time, and up to twice as many new nodes as there are zones before
		t.AtOnce, t.Surges, t.Ahead = max(1, unavailable), max(1, unavailable), min(len(t.Nodes), max(2*s.zones(t.Nodes), unavailable))
	}
	if o.Limit > 0 {
		t.Limit = o.Limit
	}
	switch {
	case o.Force:
		t.AtLimit = DeletesAll
	case o.Quarantine:
		t.AtLimit = Quarantines
	}
	return t
}

// newNode is what is added to the name of a node for that of the one that joins in its place.
const newNode = "-new"

// pace is how many nodes an upgrade adds, and how many it takes away before: by default GKE adds one, AKS a tenth of the pool,
// and EKS empties one at a time (the documents that rulesOf names; verified).
func (s *Scenario) pace(o *UpgradePool) (surge, unavailable int) {
	surge, unavailable = o.Surge, o.Unavailable
	if surge == AllOfThem {
		surge = map[string]int{PoolGKE: 1, PoolAKS: NodeBudget{10, true}.Of(len(s.among(o.Nodes)))}[o.Provider]
	}
	if unavailable == AllOfThem {
		unavailable = map[string]int{PoolEKS: 1}[o.Provider]
	}
	return surge, unavailable
}

// zones counts the zones of a pool.
func (s *Scenario) zones(pool []string) int {
	zones := map[string]bool{}
	for _, n := range s.Standing() {
		if slices.Contains(pool, n.Name) {
			zones[n.Zone] = true
		}
	}
	return len(zones)
}

// among are the nodes of a pool: those that are named, else all there are.
func (s *Scenario) among(pool []string) []string {
	if pool != nil {
		return pool
	}
	return NodeNames(s.Standing())
}

// Standing are the nodes of the cluster that are neither to join during the run nor for its clients alone.
func (s *Scenario) Standing() []Node {
	return slices.DeleteFunc(slices.Clone(s.Nodes), func(n Node) bool { return n.Joins || n.Apart })
}

// LongestTaking is how long an action may go on that empties nodes or takes them away, at most: 0 for others, and where nobody gives up.
func (s *Scenario) LongestTaking(a *Action) engine.Time {
	if o, drain := a.Operation.(Drain); drain {
		return engine.Time(max(1, len(o.Nodes))) * o.Timeout
	}
	t, ok := s.TakingOf(a)
	if !ok {
		return 0
	}
	each := t.Provision + t.Delay + t.Asks + t.Limit + t.Rest + t.Stop
	return engine.Time(max(1, len(t.Nodes))) * each
}

// FullestOf is the workload by whose pods an operation finds its node, "" for others.
func FullestOf(o Operation) string {
	switch o := o.(type) {
	case Drain:
		return o.Fullest
	case ScaleDownNode:
		return o.Fullest
	case Consolidate:
		return o.Fullest
	case CrashNode:
		return o.Fullest
	case ShutdownNode:
		return o.Fullest
	case SpotNotice:
		return o.Fullest
	case DeleteNode:
		return o.Fullest
	default:
		return ""
	}
}

// OnNode is such an operation on the node that was found.
func OnNode(o Operation, node string) Operation {
	switch o := o.(type) {
	case Drain:
		o.Nodes, o.Fullest = []string{node}, ""
		return o
	case ScaleDownNode:
		o.Node, o.Fullest = node, ""
		return o
	case Consolidate:
		o.Nodes, o.Fullest = []string{node}, ""
		return o
	case CrashNode:
		return CrashNode{Node: node}
	case ShutdownNode:
		return ShutdownNode{Node: node}
	case SpotNotice:
		o.Node, o.Fullest = node, ""
		return o
	case DeleteNode:
		o.Node, o.Fullest = node, ""
		return o
	default:
		return o
	}
}

// Values of the words of operations.

func (o Consolidate) words() (verb, target, value string) {
	parts := []string{"budget=" + o.Budget.String()}
	if o.Pool != nil {
		parts[0] += fmt.Sprintf(" of %d", len(o.Pool))
	}
	if o.Replacements > 0 {
		parts = append(parts, fmt.Sprintf("replacements=%d provision=%s", o.Replacements, o.Provision.Duration()))
	}
	if o.Grace > 0 {
		parts = append(parts, "terminationGracePeriod="+o.Grace.Duration().String())
	}
	if o.Drifted {
		parts = append(parts, "reason=Drifted")
	}
	if o.Fullest != "" {
		return "karpenter", o.Fullest, fullestWords + " " + strings.Join(parts, " ")
	}
	return "karpenter", strings.Join(o.Nodes, " "), strings.Join(parts, " ")
}

func (o UpgradePool) words() (verb, target, value string) {
	parts := []string{o.Provider}
	for _, n := range []struct {
		name string
		of   int
	}{{"maxSurge", o.Surge}, {"maxUnavailable", o.Unavailable}} {
		if n.of != AllOfThem {
			parts = append(parts, fmt.Sprintf("%s=%d", n.name, n.of))
		}
	}
	parts = append(parts, "provision="+o.Provision.Duration().String())
	if o.Limit > 0 {
		parts = append(parts, "drainLimit="+o.Limit.Duration().String())
	}
	if o.Force {
		parts = append(parts, "force=true")
	}
	if o.Quarantine {
		parts = append(parts, "undrainableNodeBehavior=Cordon")
	}
	nodes := "all nodes"
	if o.Nodes != nil {
		nodes = strings.Join(o.Nodes, " ")
	}
	return "upgradePool", nodes, strings.Join(parts, " ")
}
