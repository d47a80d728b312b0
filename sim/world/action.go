package world

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Action is something done to the world, and when.
type Action struct {
	At  engine.Time
	For engine.Time // for operations that end; 0: they do not. Of ScaleDownNode, from the taint until the machine is gone
	Pos manifest.Position
	// Operation is what is done.
	Operation Operation
}

// Operation is what an Action does: one type a verb, all of them in this file.
type Operation interface {
	// words are for people: what a Scenario calls it, what it is done to, and what it sets, "" for nothing.
	words() (verb, target, value string)
}

// Verb is what a Scenario calls the operation, such as "rolloutRestart".
func (a Action) Verb() string { verb, _, _ := a.Operation.words(); return verb }

// Target is what the operation is done to, such as "ns/name", "ns/name#0" or "node-1".
func (a Action) Target() string { _, target, _ := a.Operation.words(); return target }

// Value is what the operation sets, such as "3" or "down", "" for nothing.
func (a Action) Value() string { _, _, value := a.Operation.words(); return value }

// Operations on a workload. Workload is its "ns/name".
type (
	// RolloutRestart is kubectl rollout restart.
	RolloutRestart struct {
		Workload string // "ns/name"
	}
	// Apply is kubectl apply with another version of the workload's object, defaulted. File is where that stands.
	Apply struct {
		Workload, File string
		Resource       Resource
	}
	// SetImage is kubectl set image.
	SetImage struct {
		Workload, Container string // "ns/name", and one of its containers
		Image               string // with its tag
	}
	// Rollback is kubectl rollout undo.
	Rollback struct {
		Workload string // "ns/name"
	}
	// Scale is kubectl scale.
	Scale struct {
		Workload string
		Replicas int
	}
	// Pause is kubectl rollout pause.
	Pause struct {
		Workload string // "ns/name"
	}
	// Resume is kubectl rollout resume.
	Resume struct {
		Workload string // "ns/name"
	}
)

// Operations on pods.
type (
	// Delete deletes pods, as kubectl delete pod does.
	Delete struct{ Pods }
	// CrashPod ends their main containers.
	CrashPod struct{ Pods }
	// SetReady holds their readiness probes at false, or lets go of them.
	SetReady struct {
		Pods
		Ready bool
	}
	// SetGate sets one of their readiness gates, as a controller does that is not simulated.
	SetGate struct {
		Pods
		Gate string
		Open bool
	}
)

// Operations on what pods depend on, on the control plane and on nodes.
type (
	// Dependency breaks what apps depend on, or mends it.
	Dependency struct {
		Name string
		Down bool
	}
	// APIServer makes the API server unreachable, or reachable again.
	APIServer struct {
		Down bool // else it is back
	}
	// Component pauses a component of the cluster, lets it go on or restarts it.
	Component struct {
		Name string // such as "kube-proxy/node-1"
		What string // ComponentPause, ComponentResume or ComponentRestart
	}
	// ScaleDownNode is Cluster Autoscaler taking a node away.
	ScaleDownNode struct {
		Node    string // its name
		Fullest string // "ns/name": instead of Node the one with most pods of this workload, the first of several
	}
	// Consolidate is Karpenter taking nodes away: for consolidation, or drift.
	Consolidate struct {
		Nodes        []string    // their names
		Fullest      string      // "ns/name": instead of Nodes the node with most pods of this workload
		Pool         []string    // the names of all nodes of the NodePool, among which that one is; nil: all there are
		Replacements int         // nodes that join before
		Provision    engine.Time // how long those take from the request until they are ready
		Budget       NodeBudget  // of the NodePool: nodes at a time
		Grace        engine.Time // terminationGracePeriod of the NodePool; 0: none
		Drifted      bool        // the reason is drift, else Underutilized: consolidation
	}
	// UpgradePool is the upgrade of a managed pool: each of its nodes is replaced by one that joins.
	UpgradePool struct {
		Provider    string      // PoolGKE, PoolEKS or PoolAKS
		Nodes       []string    // their names; nil: all there are
		Surge       int         // nodes that join before as many are emptied; AllOfThem: by the provider's default
		Unavailable int         // nodes that are emptied before theirs joins; AllOfThem: by the provider's default
		Provision   engine.Time // how long a node takes from the request until it is ready
		Limit       engine.Time // how long a node may take to be emptied; 0: the provider's
		Force       bool        // pods that are there after that are deleted; else the upgrade fails, where the provider has a choice
		Quarantine  bool        // AKS's undrainableNodeBehavior Cordon: such a node stays cordoned, and the upgrade goes on
	}
)

// Operations that have pods leave their nodes.
type (
	// Cordon is kubectl cordon; where it ends, kubectl uncordon.
	Cordon struct {
		Node string // its name
	}
	// Evict asks the eviction API once to remove pods.
	Evict struct{ Pods }
	// Drain is kubectl drain --ignore-daemonsets of nodes: all are cordoned, then one after another is emptied.
	Drain struct {
		Nodes   []string // their names
		Fullest string   // "ns/name": instead of Nodes the node with most pods of this workload, the first of several
		DrainOptions
	}
	// DrainOptions are flags of kubectl drain.
	DrainOptions struct {
		GracePeriod     engine.Time // OwnGrace: that of each pod
		Timeout         engine.Time // of each node; 0: none
		DisableEviction bool        // pods are deleted, whatever budgets say
		KeepEmptyDir    bool        // without --delete-emptydir-data: a pod with such a volume is an error
		Force           bool        // a Pod that nothing would make again is evicted, too: without it that is an error
		MindDaemons     bool        // without --ignore-daemonsets: a pod of a DaemonSet is an error, and not left where it is
		PodSelector     string      // only pods with such labels are asked to leave; "": all
		SkipDeleted     engine.Time // a pod whose deletionTimestamp is older is not waited for (--skip-wait-for-delete-timeout); 0: all are
	}
)

// OwnGrace is the grace period of a deletion that leaves it to the pod.
const OwnGrace engine.Time = -1

// AllPods is the Number of Pods that are all of a workload's.
const AllPods = -1

// Pods are those of a workload, "ns/name", or one of them by its Number: the ordinal of a StatefulSet's pod, else counted from 0, the
// oldest first.
type Pods struct {
	Workload string
	Number   int
}

// String is "ns/name", or "ns/name#0".
func (p Pods) String() string {
	if p.Number == AllPods {
		return p.Workload
	}
	return p.Workload + "#" + strconv.Itoa(p.Number)
}

func (o RolloutRestart) words() (verb, target, value string) { return "rolloutRestart", o.Workload, "" }
func (o Apply) words() (verb, target, value string)          { return "apply", o.Workload, o.File }
func (o Rollback) words() (verb, target, value string)       { return "rollback", o.Workload, "" }
func (o Pause) words() (verb, target, value string)          { return "pause", o.Workload, "" }
func (o Resume) words() (verb, target, value string)         { return "resume", o.Workload, "" }
func (o Delete) words() (verb, target, value string)         { return "delete", o.String(), "" }
func (o CrashPod) words() (verb, target, value string)       { return "crashPod", o.String(), "" }
func (o Component) words() (verb, target, value string)      { return "component", o.Name, o.What }
func (o APIServer) words() (verb, target, value string)      { return "apiserver", "", state(o.Down) }
func (o Dependency) words() (verb, target, value string)     { return "dependency", o.Name, state(o.Down) }

func (o Cordon) words() (verb, target, value string) { return "cordon", o.Node, "" }
func (o Evict) words() (verb, target, value string)  { return "evict", o.String(), "" }

func (o ScaleDownNode) words() (verb, target, value string) {
	if o.Fullest != "" {
		return "scaleDownNode", o.Fullest, fullestWords
	}
	return "scaleDownNode", o.Node, ""
}

// fullestWords say which node is meant where a workload is named.
const fullestWords = "the node with most of its pods"

func (o Drain) words() (verb, target, value string) {
	if o.Fullest != "" {
		return "drain", o.Fullest, strings.TrimSpace(fullestWords + " " + strings.Join(o.flags(), " "))
	}
	return "drain", strings.Join(o.Nodes, " "), strings.Join(o.flags(), " ")
}

// flags are the options as a Scenario has them, "" for the defaults.
func (o *DrainOptions) flags() []string {
	var out []string
	if o.GracePeriod != OwnGrace {
		out = append(out, "gracePeriod="+o.GracePeriod.Duration().String())
	}
	if o.Timeout > 0 {
		out = append(out, "timeout="+o.Timeout.Duration().String())
	}
	if o.DisableEviction {
		out = append(out, "disableEviction=true")
	}
	if o.KeepEmptyDir {
		out = append(out, "deleteEmptyDirData=false")
	}
	if o.MindDaemons {
		out = append(out, "ignoreDaemonSets=false")
	}
	if o.PodSelector != "" {
		out = append(out, "podSelector="+o.PodSelector)
	}
	if o.Force {
		out = append(out, "force=true")
	}
	if o.SkipDeleted > 0 {
		out = append(out, "skipWaitForDeleteTimeout="+o.SkipDeleted.Duration().String())
	}
	return out
}

// Flags are the options as kubectl has them, "" for the defaults of a Scenario.
func (o *DrainOptions) Flags() string {
	kubectl := strings.NewReplacer(
		"gracePeriod=", "grace-period=", "disableEviction=true", "disable-eviction", "deleteEmptyDirData=", "delete-emptydir-data=",
		"ignoreDaemonSets=", "ignore-daemonsets=", "podSelector=", "pod-selector=", "force=true", "force",
		"skipWaitForDeleteTimeout=", "skip-wait-for-delete-timeout=",
	)
	options := o.flags()
	for i := range options {
		options[i] = "--" + kubectl.Replace(options[i])
	}
	return strings.Join(options, " ")
}

func (o SetImage) words() (verb, target, value string) {
	return "setImage", o.Workload, o.Container + "=" + o.Image
}

func (o Scale) words() (verb, target, value string) {
	return "scale", o.Workload, strconv.Itoa(o.Replicas)
}

func (o SetReady) words() (verb, target, value string) {
	return "setReady", o.String(), strconv.FormatBool(o.Ready)
}

func (o SetGate) words() (verb, target, value string) {
	return "setGate", o.String(), o.Gate + "=" + strconv.FormatBool(o.Open)
}

func state(down bool) string {
	if down {
		return "down"
	}
	return "up"
}

// Applied is the object that an operation applies, nil where it applies none.
func Applied(o Operation) Resource {
	if a, ok := o.(Apply); ok {
		return a.Resource
	}
	return nil
}

// Ends says whether what an operation does can be undone after a while.
func Ends(o Operation) bool {
	switch o := o.(type) {
	case SetReady, Dependency, APIServer, Pause, ScaleDownNode, Cordon, CrashNode, ShutdownNode, DeleteService:
		return true
	case Component:
		return o.What == ComponentPause
	default:
		return false
	}
}

// LeavingNodes are the nodes that an operation takes away, nil for none, and for those that are found by what is on them.
func LeavingNodes(o Operation) []string {
	switch o := o.(type) {
	case ScaleDownNode:
		if o.Node != "" {
			return []string{o.Node}
		}
	case Consolidate:
		return o.Nodes
	case UpgradePool:
		return o.Nodes
	}
	if name := ended(o); name != "" {
		return []string{name}
	}
	return nil
}

// Drains says whether an operation is kubectl drain.
func Drains(o Operation) bool {
	_, ok := o.(Drain)
	return ok
}

// Drains says whether nodes are drained.
func (s *Scenario) Drains() bool {
	return slices.ContainsFunc(s.Actions, func(a Action) bool { return Drains(a.Operation) })
}

// NodesGo says whether an operation takes nodes away, whichever they are.
func NodesGo(o Operation) bool {
	switch o.(type) {
	case CrashNode, ShutdownNode, SpotNotice, DeleteNode, ScaleDownNode, Consolidate, UpgradePool:
		return true
	default:
		return false
	}
}

// Updates says that something is done to a workload which makes new pods of it in the place of the old ones, as its strategy says.
func (s *Scenario) Updates() bool {
	return slices.ContainsFunc(s.Actions, func(a Action) bool {
		switch a.Operation.(type) {
		case RolloutRestart, Apply, SetImage, Rollback:
			return true
		default:
			return false
		}
	})
}

// PodsOf are the pods that an operation is done to, where it is one on pods of a workload.
func PodsOf(o Operation) (pods Pods, ok bool) {
	switch o := o.(type) {
	case SetReady:
		return o.Pods, true
	case SetGate:
		return o.Pods, true
	case Evict:
		return o.Pods, true
	case CrashPod:
		return o.Pods, true
	case Delete:
		return o.Pods, true
	case Relabel:
		return o.Pods, true
	default:
		return Pods{}, false
	}
}

// Evicts says whether an operation has pods leave their nodes by the eviction API, which asks disruption budgets: not a machine that
// crashes, nor a kubelet that ends its pods since the machine shuts down (docs/model/controllers.md 6.2).
func Evicts(o Operation) bool {
	switch o := o.(type) {
	case SpotNotice:
		return o.Handled()
	case Drain:
		return !o.DisableEviction
	case Evict, Consolidate, UpgradePool, ScaleDownNode:
		return true
	default:
		return false
	}
}

// Silences says whether an operation ends a machine with the pods on it, which count as there until somebody deletes them.
func Silences(o Operation) bool {
	switch o.(type) {
	case CrashNode, ShutdownNode, SpotNotice:
		return true
	default:
		return false
	}
}

// Empties says whether an operation has pods leave their nodes, in whatever way, or keeps them off these.
func Empties(o Operation) bool { return Disrupts(o) || NodesGo(o) }

// Disrupts says whether an operation has pods leave their node by the eviction API, whatever is on the node, or keeps them off it.
func Disrupts(o Operation) bool {
	switch o := o.(type) {
	case SpotNotice:
		return o.Handled()
	case Cordon, Evict, Drain, Consolidate, UpgradePool:
		return true
	default:
		return false
	}
}
