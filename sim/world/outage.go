package world

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Operations that end the machine of a node.
type (
	// CrashNode takes the power off a machine; where it ends, the machine is back.
	CrashNode struct {
		Node    string // its name
		Fullest string // "ns/name": instead of Node the one with most pods of this workload, the first of several
	}
	// ShutdownNode is systemctl poweroff: the kubelet ends its pods first, where it is set to.
	ShutdownNode struct {
		Node, Fullest string // as of CrashNode
	}
	// SpotNotice is a cloud provider that takes a machine back which it has given away cheaply.
	SpotNotice struct {
		Node, Fullest string      // as of CrashNode
		Notice        engine.Time // how long before the machine is told to shut down; with Sudden before it is gone
		Sudden        bool        // the notice itself tells it to shut down, and it is gone when that is over, finished or not
		Drains        bool        // a node termination handler cordons and drains the node at the notice
		Karpenter     bool        // Karpenter does at the notice what it does when it disrupts a node, and asks for another
		Provision     engine.Time // with Karpenter: how long that takes to join
	}
	// DeleteNode is kubectl delete node: the object goes.
	DeleteNode struct {
		Node, Fullest string // as of CrashNode
		Machine       bool   // the machine goes with it, at the same moment
	}
)

func (o CrashNode) words() (verb, target, value string) {
	return "crashNode", onFullest(o.Node, o.Fullest), inFullest(o.Fullest)
}

func (o ShutdownNode) words() (verb, target, value string) {
	return "shutdownNode", onFullest(o.Node, o.Fullest), inFullest(o.Fullest)
}

func (o SpotNotice) words() (verb, target, value string) {
	parts := []string{inFullest(o.Fullest), "notice=" + o.Notice.Duration().String()}
	if o.Sudden {
		parts = append(parts, "shutdown=at-notice")
	}
	if o.Handled() {
		parts = append(parts, "handler="+o.Handler())
	}
	if o.Karpenter {
		parts = append(parts, "provision="+o.Provision.Duration().String())
	}
	return "spotNotice", onFullest(o.Node, o.Fullest), strings.TrimSpace(strings.Join(parts, " "))
}

func (o DeleteNode) words() (verb, target, value string) {
	value = inFullest(o.Fullest)
	if o.Machine {
		value = strings.TrimSpace(value + " machine=true")
	}
	return "deleteNode", onFullest(o.Node, o.Fullest), value
}

// Handler is who does, as actions call it, "none" for nobody.
func (o SpotNotice) Handler() string {
	switch {
	case o.Karpenter:
		return KarpenterComponent
	case o.Drains:
		return "drain"
	default:
		return "none"
	}
}

// Handled says whether somebody has the pods leave at the notice.
func (o SpotNotice) Handled() bool { return o.Drains || o.Karpenter }

func onFullest(node, fullest string) string {
	if fullest != "" {
		return fullest
	}
	return node
}

func inFullest(fullest string) string {
	if fullest != "" {
		return fullestWords
	}
	return ""
}

// ended is the node whose machine an operation ends, "" for none.
func ended(o Operation) string {
	switch o := o.(type) {
	case CrashNode:
		return o.Node
	case ShutdownNode:
		return o.Node
	case SpotNotice:
		return o.Node
	case DeleteNode:
		if o.Machine {
			return o.Node
		}
	}
	return ""
}

// Lapses says whether an action may have a node be silent for longer than a grace period allows, not ready or missing.
func Lapses(a *Action, grace engine.Time) bool {
	switch o := a.Operation.(type) {
	case CrashNode, ShutdownNode, SpotNotice, DeleteNode:
		return true
	case Component:
		const renewal = 10 * engine.Second // the last one may be as long ago
		return strings.HasPrefix(o.Name, KubeletOf) && o.What == ComponentPause && (a.For == 0 || a.For > grace-renewal)
	default:
		return false
	}
}

// ShutdownGroup is pods that a kubelet ends together when its machine shuts down: those of a priority from this on, up to the next group's.
type ShutdownGroup struct {
	Priority int32
	Grace    engine.Time // how long the kubelet waits for them, and what each gets at most
}

// CriticalPriority is that of system-cluster-critical, NodeCriticalPriority that of system-node-critical.
const (
	CriticalPriority     = 2_000_000_000
	NodeCriticalPriority = 2_000_001_000
)

// PriorityOf is a pod's priority; known is false where it names a class that is none of Kubernetes' own, and no number.
func PriorityOf(pod *corev1.PodSpec) (priority int32, known bool) {
	switch {
	case pod.Priority != nil:
		return *pod.Priority, true
	case pod.PriorityClassName == "system-cluster-critical":
		return CriticalPriority, true
	case pod.PriorityClassName == "system-node-critical":
		return NodeCriticalPriority, true
	default:
		return 0, pod.PriorityClassName == ""
	}
}

// GroupOf is the number of the group that a pod of a priority is in, of those in ascending order; one lower than all is in the first.
func GroupOf(groups []ShutdownGroup, priority int32) int {
	i := slices.IndexFunc(groups, func(g ShutdownGroup) bool { return g.Priority > priority })
	if i < 0 {
		return len(groups) - 1
	}
	return max(0, i-1)
}

// String is what a kubelet is set to, "0s" for nothing.
func (g ShutdownGroup) String() string {
	return strconv.Itoa(int(g.Priority)) + ":" + g.Grace.Duration().String()
}

// Unannounced says that nothing is done but to end machines whose pods nobody deletes: no line of a manifest decides how late others
// hear of that.
func (s *Scenario) Unannounced() bool {
	for i := range s.Actions {
		switch o := s.Actions[i].Operation.(type) {
		case CrashNode, ShutdownNode, DeleteNode:
		case SpotNotice:
			if o.Handled() {
				return false
			}
		default:
			return false
		}
	}
	return len(s.Actions) > 0
}
