package api

import (
	"maps"
	"net/netip"
	"regexp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Phase is a pod's status.phase.
type Phase uint8

// The phases.
const (
	PhasePending Phase = iota
	PhaseUnknown
	PhaseRunning
	PhaseSucceeded
	PhaseFailed
)

// Terminal says that the pod will never run again.
func (p Phase) Terminal() bool { return p == PhaseSucceeded || p == PhaseFailed }

// Never marks a moment that has not come.
const Never engine.Time = -1

// PodID numbers pods in the order of their creation, from 0.
type PodID int32

// Pod is one version of a pod object. Versions are immutable: a write makes a new one.
type Pod struct {
	ID         PodID
	Name       string        // role and ordinal: "web r1 3", never a generated name
	UID        uint64        // a draw: ranking reads it
	ReplicaSet *ReplicaSetID // that made it, nil for none, and once that has released it
	Ordinal    int           // of a StatefulSet's pod, else among those of its ReplicaSet
	Workload   int           // index in the scenario
	Revision   int           // of the template
	Node       int           // index of the node, -1 while unbound
	Only       int           // 1 + index of the only node that its affinity lets it run on, as a DaemonSet's pods have it; 0 for any
	IP         netip.Addr
	Phase      Phase
	Ready      bool
	// ContainersReady is Ready but for the readiness gates. Gates are the conditions that
	// spec.readinessGates asks for, Open those of them that are True.
	ContainersReady bool
	Gates, Open     []string
	ReadySince      engine.Time // of the last transition to Ready, 0 for none yet; the API keeps whole seconds
	Created         engine.Time
	DeletedAt       engine.Time       // when deletion was asked for, never if it was not
	Grace           engine.Time       // deletionGracePeriodSeconds
	Labels          map[string]string // nil: those of its template
	Released        bool              // by its DaemonSet: its labels did not match
	DeletionCost    int
	Restarts        int
	Gone            bool // the object is deleted; only in the last version
}

// generated is the name of a pod whose object has a generated one, or of one that follows another of its name: "web r1 3", "db-0 r1 #2".
var generated = regexp.MustCompile(`^(\S+) r([0-9]+)(?: (#?)([0-9]+))?$`)

// Called is what people call the pod: its name, or which of the pods of its workload it is. Kubernetes would generate a name, and no
// two clusters the same.
func (p *Pod) Called() string {
	m := generated.FindStringSubmatch(p.Name)
	switch {
	case m == nil:
		return p.Name
	case m[3] == "#" || m[4] == "":
		return m[1]
	case m[2] == "0":
		return "pod " + m[4] + " of " + m[1]
	default:
		return "new pod " + m[4] + " of " + m[1]
	}
}

// Active says that a ReplicaSet counts the pod: neither on its way out nor done.
func (p *Pod) Active() bool { return p.DeletedAt == Never && !p.Phase.Terminal() && !p.Gone }

// WasReady says that the pod is Ready, or has been.
func (p *Pod) WasReady() bool { return p.ReadySince != 0 }

// SameLabels says that two versions have the same labels.
func (p *Pod) SameLabels(o *Pod) bool {
	return (p.Labels == nil) == (o.Labels == nil) && maps.Equal(p.Labels, o.Labels)
}

// Place is the node that a pod is on, or is made for, -1 for none.
func (p *Pod) Place() int {
	if p.Node >= 0 {
		return p.Node
	}
	return p.Only - 1
}

// Deleting says that the pod has a deletionTimestamp.
func (p *Pod) Deleting() bool { return p.DeletedAt != Never }

// ReplicaSetID identifies a ReplicaSet, and a revision of the template of a workload that has none: of a StatefulSet or a DaemonSet.
type ReplicaSetID struct {
	Workload, Revision int
}

// ReplicaSet is one version of a ReplicaSet object. Immutable.
type ReplicaSet struct {
	ID       ReplicaSetID
	Created  engine.Time
	Replicas int // spec.replicas
	// Annotations deployment.kubernetes.io/desired-replicas and max-replicas: the Deployment's
	// replicas, and replicas + surge, when it was last scaled.
	Desired, MaxReplicas int
	// Status, as the ReplicaSet controller last wrote it. Terminating pods are in no other
	// number.
	Pods, ReadyPods, Available, Terminating int
	ObservedReplicas                        int
	Gone                                    bool
}

// Workload is one version of the object that keeps a workload's pods: of its Deployment, StatefulSet or DaemonSet. A ReplicaSet or a
// Pod that no such object made is an object of its own. Immutable.
type Workload struct {
	Workload int  // index in the scenario
	Kind     Kind // of the object
	Replicas int  // spec.replicas
	Revision int  // of spec.template
	Paused   bool
	// History lists the revisions in the order in which they last became current, the present
	// one last: rollback goes to the one before.
	History []int
	// Current is status.currentRevision of a StatefulSet, OfCurrent its currentReplicas.
	Current, OfCurrent int
	// Daemon is the status of a DaemonSet.
	Daemon DaemonStatus
}

// DaemonStatus is status of a DaemonSet, in numbers of nodes.
type DaemonStatus struct {
	Desired, Current, Misscheduled, Ready, Updated, Available int
}

// Key is that of the object.
func (d *Workload) Key() Key { return Key{Kind: d.Kind, A: d.Workload} }

// Become makes a revision the present one.
func (d *Workload) Become(revision int) {
	d.Revision = revision
	d.History = append(slices.DeleteFunc(slices.Clone(d.History), func(r int) bool { return r == revision }), revision)
}

// ClosedGates lists the readiness gates of a pod that are not True; a nil Pod has none.
func (p *Pod) ClosedGates() []string {
	if p == nil {
		return nil
	}
	var out []string
	for _, g := range p.Gates {
		if !slices.Contains(p.Open, g) {
			out = append(out, g)
		}
	}
	return out
}

// Node is one version of a Node object, as far as anybody looks at it. Versions are immutable. The
// last one, of a deleted object, is Gone.
type Node struct {
	Number   int
	Tainted  bool // ToBeDeletedByClusterAutoscaler; or a deletionTimestamp, which means the same to all
	NotReady bool
	Unknown  bool // with NotReady: its kubelet is silent
	Cordoned bool // spec.unschedulable, since the run began

	Disrupted bool // karpenter.sh/disrupted:NoSchedule
	Excluded  bool // node.kubernetes.io/exclude-from-external-load-balancers
	Joined    bool // during the run: before, there was no such object
	Gone      bool
	// Barred and Drives are the taints of the node lifecycle controller, with the effects NoSchedule and NoExecute.
	Barred, Drives NodeTaint
}

// NodeTaint is the key of a taint that the node lifecycle controller gives to a node.
type NodeTaint uint8

// The keys.
const (
	NoTaint     NodeTaint = iota
	NotReady              // node.kubernetes.io/not-ready: the kubelet says so
	Unreachable           // node.kubernetes.io/unreachable: the kubelet is silent
)

// Condition is the taint that goes with a node's condition Ready.
func (n *Node) Condition() NodeTaint {
	switch {
	case n.Unknown:
		return Unreachable
	case n.NotReady:
		return NotReady
	default:
		return NoTaint
	}
}

// Budget is one version of a PodDisruptionBudget, by its number in the scenario. Immutable; writers who have seen an
// older version than the present one are told of a conflict.
type Budget struct {
	Number int
	Spec   int // which of the specs that it has had, 0 for that of the manifests: metadata.generation
	BudgetStatus
}

// Behind says that the controller has not looked at the budget since its spec was changed.
func (b *Budget) Behind() bool { return b.Observed < b.Spec }

// BudgetStatus is status of a PodDisruptionBudget.
type BudgetStatus struct {
	Allowed, Healthy, Desired, Expected int // disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods

	Disrupted []Disrupted // disruptedPods, in order of ID
	Observed  int         // the spec that the controller saw: observedGeneration
}

// Disrupted is a pod that the API server is about to delete for an eviction.
type Disrupted struct {
	Pod PodID
	At  engine.Time
}

// Same says that two statuses say the same.
func (s *BudgetStatus) Same(t *BudgetStatus) bool {
	return s.Allowed == t.Allowed && s.Healthy == t.Healthy && s.Desired == t.Desired && s.Expected == t.Expected && s.Observed == t.Observed && slices.Equal(s.Disrupted, t.Disrupted)
}

// Records says when the API server noted that it is about to delete a pod; found is false where it did not.
func (s *BudgetStatus) Records(pod PodID) (at engine.Time, found bool) {
	for _, d := range s.Disrupted {
		if d.Pod == pod {
			return d.At, true
		}
	}
	return 0, false
}

// Gone is a write that takes a pod away: its last version.
func Gone(o Object) Object {
	p, ok := o.(*Pod)
	if !ok || p.Gone {
		return nil
	}
	next := *p
	next.Gone = true
	return &next
}

// Service is one version of a Service object, as far as it changes during a run. Immutable.
type Service struct {
	Number   int
	Selector map[string]string
	Ports    int // which of the lists of ports that it has had, 0 for that of the manifests
	Gone     bool
	Remade   bool // it was deleted before
}
