package world

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Reference: Kubernetes 1.36 pkg/controller/daemon/daemon_controller.go, NodeShouldRunDaemonPod; util/daemonset_util.go,
// AddOrUpdateDaemonPodTolerations.
func TestWhereADaemonSetRuns(t *testing.T) {
	t.Parallel()
	taint := func(key string, effect corev1.TaintEffect) []corev1.Taint {
		return []corev1.Taint{{Key: key, Effect: effect}}
	}
	const schedule, execute = corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute
	ssd := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"disk": "ssd"}}}
	for name, c := range map[string]struct { // order: each for itself
		pod         corev1.PodSpec
		node        Node
		taints      []corev1.Taint
		runs, stays bool
	}{
		"a made-up node":             {runs: true, stays: true},
		"another pool":               {node: Node{Apart: true}},
		"its nodeName":               {pod: corev1.PodSpec{NodeName: "node-1"}, node: Node{Name: "node-1"}, runs: true, stays: true},
		"another nodeName":           {pod: corev1.PodSpec{NodeName: "node-2"}, node: Node{Name: "node-1"}},
		"its nodeSelector":           {pod: corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}}, node: Node{Object: ssd}, runs: true, stays: true},
		"another nodeSelector":       {pod: corev1.PodSpec{NodeSelector: map[string]string{"disk": "hdd"}}, node: Node{Object: ssd}},
		"a taint":                    {taints: taint("dedicated", schedule), stays: true},
		"a taint that drives away":   {taints: taint("dedicated", execute)},
		"a taint that is tolerated":  {pod: corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}, taints: taint("dedicated", execute), runs: true, stays: true},
		"not ready":                  {taints: taint(corev1.TaintNodeNotReady, execute), runs: true, stays: true},
		"not ready, not scheduled":   {taints: taint(corev1.TaintNodeNotReady, schedule), stays: true},
		"unreachable":                {taints: taint(corev1.TaintNodeUnreachable, execute), runs: true, stays: true},
		"disk pressure":              {taints: taint(corev1.TaintNodeDiskPressure, schedule), runs: true, stays: true},
		"memory pressure":            {taints: taint(corev1.TaintNodeMemoryPressure, schedule), runs: true, stays: true},
		"PID pressure":               {taints: taint(corev1.TaintNodePIDPressure, schedule), runs: true, stays: true},
		"cordoned":                   {taints: taint(corev1.TaintNodeUnschedulable, schedule), runs: true, stays: true},
		"no network":                 {taints: taint(corev1.TaintNodeNetworkUnavailable, schedule), stays: true},
		"no network but the node's":  {pod: corev1.PodSpec{HostNetwork: true}, taints: taint(corev1.TaintNodeNetworkUnavailable, schedule), runs: true, stays: true},
		"pressure that drives away":  {taints: taint(corev1.TaintNodeDiskPressure, execute)},
		"about to be taken off":      {taints: taint("ToBeDeletedByClusterAutoscaler", schedule), stays: true},
		"one tolerated, another not": {taints: append(taint(corev1.TaintNodeUnschedulable, schedule), taint("dedicated", schedule)...), stays: true},
	} {
		if runs, stays := DaemonRuns(&c.pod, &c.node, c.taints); runs != c.runs || stays != c.stays {
			t.Errorf("%s: runs %v, stays %v", name, runs, stays)
		}
	}
}

// What the controller adds has no end, also where the template tolerates it for a time.
func TestADaemonSetToleratesWithoutEnd(t *testing.T) {
	t.Parallel()
	seconds := int64(30)
	taint := corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}
	d := &appsv1.DaemonSet{}
	d.Spec.Template.Spec.Tolerations = []corev1.Toleration{
		{Key: taint.Key, Operator: corev1.TolerationOpExists, Effect: taint.Effect, TolerationSeconds: &seconds},
	}
	if _, ever := Endures(TolerationsOf(d), taint); !ever {
		t.Error("its pods are driven away")
	}
	if patience, ever := Endures(TolerationsOf(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: d.Spec.Template}}), taint); ever || patience != 30*engine.Second {
		t.Errorf("those of a Deployment stay for %v", patience)
	}
}

// A DaemonSet has as many pods as nodes that it is for, of those that are there from the beginning, and follows a change of their
// number.
func TestADaemonSetHasAsManyPodsAsNodes(t *testing.T) {
	t.Parallel()
	tainted := Node{Name: "node-3", Object: &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}}}}
	s := &Scenario{
		Nodes: []Node{{Name: "node-1"}, {Name: "node-2"}, tainted, {Name: "node-4", Joins: true}}, Spare: &MadeUp{},
		Workloads: []Workload{{Resource: &appsv1.DaemonSet{}}, {Resource: &appsv1.Deployment{}}},
	}
	s.CountDaemons()
	if n := s.Workloads[0].Replicas(); n != 2 || s.Pods() != 3 {
		t.Errorf("%d pods, with the Deployment's %d", n, s.Pods())
	}
	if larger, ok := s.WithNodes(5); !ok || larger.Workloads[0].Replicas() != 4 || s.Workloads[0].Replicas() != 2 {
		t.Errorf("on five nodes %d pods", larger.Workloads[0].Replicas())
	}
}

// With OnDelete nobody replaces pods.
func TestOnDelete(t *testing.T) {
	t.Parallel()
	d := &appsv1.DaemonSet{}
	if OnDelete(d) || OnDelete(&appsv1.Deployment{}) {
		t.Error("RollingUpdate is the default")
	}
	if d.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType; !OnDelete(d) {
		t.Error("OnDelete is not noticed")
	}
	s := &appsv1.StatefulSet{}
	if OnDelete(s) || PartitionOf(s) != 0 || PartitionOf(d) != 0 {
		t.Error("RollingUpdate of all pods is the default of a StatefulSet, too")
	}
	partition := int32(2)
	s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition}
	if s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType; !OnDelete(s) || PartitionOf(s) != 2 {
		t.Error("OnDelete, or the partition, of a StatefulSet is not noticed")
	}
}
