package world

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

func TestOperations(t *testing.T) {
	t.Parallel()
	d := &appsv1.Deployment{}
	one, all := Pods{Workload: "shop/web", Number: 2}, Pods{Workload: "shop/web", Number: AllPods}
	for _, c := range []struct {
		operation Operation
		want      string // verb, target, value; whether it ends; the node that leaves
	}{
		{RolloutRestart{Workload: "shop/web"}, "rolloutRestart shop/web"},
		{Apply{Workload: "shop/web", File: "new.yaml", Resource: d}, "apply shop/web new.yaml"},
		{SetImage{Workload: "shop/web", Container: "app", Image: "web:2"}, "setImage shop/web app=web:2"},
		{Rollback{Workload: "shop/web"}, "rollback shop/web"},
		{Scale{Workload: "shop/web", Replicas: 3}, "scale shop/web 3"},
		{Pause{Workload: "shop/web"}, "pause shop/web, ends"},
		{Resume{Workload: "shop/web"}, "resume shop/web"},
		{Delete{Pods: one}, "delete shop/web#2"},
		{CrashPod{Pods: all}, "crashPod shop/web"},
		{SetReady{Pods: all}, "setReady shop/web false, ends"},
		{SetReady{Pods: one, Ready: true}, "setReady shop/web#2 true, ends"},
		{SetGate{Pods: one, Gate: "lb", Open: true}, "setGate shop/web#2 lb=true"},
		{Dependency{Name: "db", Down: true}, "dependency db down, ends"},
		{Dependency{Name: "db"}, "dependency db up, ends"},
		{APIServer{Down: true}, "apiserver  down, ends"},
		{Component{Name: "kubelet/node-1", What: ComponentPause}, "component kubelet/node-1 pause, ends"},
		{Component{Name: "kubelet/node-1", What: ComponentResume}, "component kubelet/node-1 resume"},
		{Cordon{Node: "node-1"}, "cordon node-1, ends, disrupts, evicts: false"},
		{Evict{Pods: one}, "evict shop/web#2, disrupts"},
		{Drain{Nodes: []string{"node-1"}, DrainOptions: DrainOptions{GracePeriod: OwnGrace}}, "drain node-1, disrupts"},
		{
			Drain{Nodes: []string{"node-1", "node-2"}, DrainOptions: DrainOptions{GracePeriod: 0, Timeout: engine.Minute, DisableEviction: true, KeepEmptyDir: true, MindDaemons: true, PodSelector: "app=web", SkipDeleted: 5 * engine.Second}},
			"drain node-1 node-2 gracePeriod=0s timeout=1m0s disableEviction=true deleteEmptyDirData=false ignoreDaemonSets=false podSelector=app=web skipWaitForDeleteTimeout=5s, disrupts, evicts: false",
		},
		{Drain{Fullest: "shop/web", DrainOptions: DrainOptions{GracePeriod: OwnGrace}}, "drain shop/web the node with most of its pods, disrupts"},
		{CrashNode{Node: "node-1"}, "crashNode node-1, ends, empties, node-1 leaves"},
		{CrashNode{Fullest: "ns/web"}, "crashNode ns/web the node with most of its pods, ends, empties"},
		{ShutdownNode{Node: "node-1"}, "shutdownNode node-1, ends, empties, node-1 leaves"},
		{SpotNotice{Node: "node-1", Notice: 120 * engine.Second}, "spotNotice node-1 notice=2m0s, empties, node-1 leaves"},
		{
			SpotNotice{Fullest: "ns/web", Notice: 30 * engine.Second, Sudden: true, Drains: true},
			"spotNotice ns/web the node with most of its pods notice=30s shutdown=at-notice handler=drain, disrupts",
		},
		{DeleteNode{Node: "node-1"}, "deleteNode node-1, empties"},
		{DeleteNode{Fullest: "ns/web"}, "deleteNode ns/web the node with most of its pods, empties"},
		{DeleteNode{Node: "node-1", Machine: true}, "deleteNode node-1 machine=true, empties, node-1 leaves"},
		{ScaleDownNode{Node: "node-2"}, "scaleDownNode node-2, ends, evicts: true, empties, node-2 leaves"},
		{ScaleDownNode{Fullest: "shop/web"}, "scaleDownNode shop/web the node with most of its pods, ends, evicts: true, empties"},
		{Consolidate{Nodes: []string{"node-1", "node-2"}, Budget: NodeBudget{2, false}}, "karpenter node-1 node-2 budget=2, disrupts, node-1 node-2 leaves"},
		{
			Consolidate{Fullest: "shop/web", Budget: KarpenterBudget(), Replacements: 1, Provision: engine.Minute, Grace: engine.Hour},
			"karpenter shop/web the node with most of its pods budget=10% replacements=1 provision=1m0s terminationGracePeriod=1h0m0s, disrupts",
		},
		{UpgradePool{Provider: PoolGKE, Surge: AllOfThem, Unavailable: AllOfThem}, "upgradePool all nodes gke provision=0s, disrupts"},
		{
			UpgradePool{Provider: PoolAKS, Nodes: []string{"node-1"}, Surge: 2, Unavailable: 1, Provision: engine.Minute, Limit: engine.Hour, Force: true},
			"upgradePool node-1 aks maxSurge=2 maxUnavailable=1 provision=1m0s drainLimit=1h0m0s force=true, disrupts, node-1 leaves",
		},
	} {
		a := Action{Operation: c.operation}
		got := strings.TrimSpace(a.Verb() + " " + a.Target() + " " + a.Value())
		if Ends(c.operation) {
			got += ", ends"
		}
		if Disrupts(c.operation) {
			got += ", disrupts"
		}
		if Evicts(c.operation) != Disrupts(c.operation) {
			got += fmt.Sprintf(", evicts: %v", Evicts(c.operation))
		}
		if Empties(c.operation) && !Disrupts(c.operation) {
			got += ", empties"
		}
		if nodes := LeavingNodes(c.operation); nodes != nil {
			got += ", " + strings.Join(nodes, " ") + " leaves"
		}
		if got != c.want {
			t.Errorf("%T: %q, want %q", c.operation, got, c.want)
		}
		if applied := Applied(c.operation); (applied == d) != (a.Verb() == "apply") {
			t.Errorf("%T applies %v", c.operation, applied)
		}
	}
}

// The options of a drain as people type them.
func TestFlagsOfKubectlDrainInWords(t *testing.T) {
	t.Parallel()
	o := DrainOptions{GracePeriod: 0, Timeout: engine.Minute, DisableEviction: true, KeepEmptyDir: true, MindDaemons: true, PodSelector: "app=web", Force: true, SkipDeleted: 5 * engine.Second}
	const want = "--grace-period=0s --timeout=1m0s --disable-eviction --delete-emptydir-data=false --ignore-daemonsets=false --pod-selector=app=web --force --skip-wait-for-delete-timeout=5s"
	if got := o.Flags(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&DrainOptions{GracePeriod: OwnGrace}).Flags(); got != "" {
		t.Errorf("%q", got)
	}
}
