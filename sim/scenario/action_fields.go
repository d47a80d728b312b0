package scenario

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// verb is one thing that an action can do: its field, and how that is read to what is done.
type verb struct {
	field
	// read is nil for what is not simulated. It is not ok where that makes no sense, which is said.
	read func(b *builder, v cursor, namespace string) (o world.Operation, ok bool)
}

// verbs lists what actions do, in the grammar's order.
func verbs() []verb {
	return slices.Concat(verbsOfWorkloads(), verbsOfMachines(), verbsOfOutages())
}

// podOf is a verb's mapping with a pod of a workload, and more.
func podOf(workload, number string, more ...field) shape {
	return fieldsOf(append([]field{{"of", of(text).doc("", workload)}, {"pod", of(whole).doc("0", number)}}, more...)...)
}

func verbsOfWorkloads() []verb {
	return []verb{
		onWorkload("rolloutRestart", "kubectl rollout restart: "+targets("rolloutRestart"), func(id string) world.Operation { return world.RolloutRestart{Workload: id} }),
		{field{"apply", file().doc("", "kubectl apply of a file with a changed workload")}, (*builder).apply},
		{field{"setImage", fieldsOf(
			field{"of", of(text).doc("", "kubectl set image: "+targets("setImage"))},
			field{"container", of(text).doc("the only one", "the container")},
			field{"image", of(text).doc("", "its new image")},
		)}, (*builder).setImage},
		{field{"scale", fieldsOf(
			field{"of", of(text).doc("", "kubectl scale: "+targets("scale"))}, field{"replicas", of(whole).doc("", "to so many")},
		)}, (*builder).scale},
		onWorkload("createPod", "kubectl create of a bare Pod of the manifests, which is not there before: "+targets("createPod"), func(id string) world.Operation { return world.CreatePod{Pod: id} }),
		onPod("delete", podOf("kubectl delete pod, of "+targets("delete"), "which: the ordinal of a StatefulSet's pod, else 0 is the first of them"),
			func(_ cursor, pods world.Pods) world.Operation { return world.Delete{Pods: pods} }),
		onPod("crashPod", podOf("a pod's process ends, of "+targets("crashPod"), "which"),
			func(_ cursor, pods world.Pods) world.Operation { return world.CrashPod{Pods: pods} }),
		onPod("setReady", podOf("a pod's own readiness changes, of "+targets("setReady"), "which", field{"ready", of(boolean).doc("false", "to what")}),
			func(v cursor, pods world.Pods) world.Operation {
				return world.SetReady{Pods: pods, Ready: v.get("ready").flag(false)}
			}),
		{field{"relabelPod", podOf("kubectl label pod, of "+targets("relabelPod")+": its Services and its controller select by labels", "which",
			field{"labels", mapping(of(text).doc("", "their new values, by key"))}, field{"remove", list(of(text)).doc("", "the keys of labels that are taken off")})}, (*builder).relabel},
		{field{"setSelector", fieldsOf(field{"of", of(text).doc("", "kubectl set selector: service/NAME")},
			field{"selector", mapping(of(text).doc("", "the labels that it selects by from then on, by key"))})}, (*builder).setSelector},
		{field{"setPort", fieldsOf(field{"of", of(text).doc("", "kubectl patch service, of one port: service/NAME")},
			field{"port", of(whole).doc("the only one", "which, by its number")},
			field{"to", of(whole).doc("as it is", "its new number")},
			field{"targetPort", of(portOfPods).doc("as it is", "the port of the pods that it leads to from then on, by number or by name")})}, (*builder).setPort},
		{field{"setBudget", fieldsOf(field{"of", of(text).doc("", "kubectl patch poddisruptionbudget, of its spec: poddisruptionbudget/NAME")},
			field{"minAvailable", of(share).doc("as it is", "in place of maxUnavailable, if that is there")},
			field{"maxUnavailable", of(share).doc("as it is", "in place of minAvailable, if that is there")},
			field{"unhealthyPodEvictionPolicy", word("IfHealthyBudget", "AlwaysAllow").doc("as it is", "which pods that are not ready may go")})}, (*builder).setBudget},
		{field{"deleteService", of(text).doc("", "kubectl delete service: service/NAME; with for it is made again then, with the addresses that it had")}, (*builder).deleteService},
		{field{"setGate", podOf("a readiness gate of a pod changes, of "+targets("setGate"), "which",
			field{"type", of(text).doc("the only one", "the condition's type")}, field{"open", of(boolean).doc("true", "to what")})}, (*builder).setGate},
		onWorkload("pause", "kubectl rollout pause: "+targets("pause"), func(id string) world.Operation { return world.Pause{Workload: id} }),
		onWorkload("resume", "kubectl rollout resume: "+targets("resume"), func(id string) world.Operation { return world.Resume{Workload: id} }),
		onWorkload("rollback", "kubectl rollout undo: "+targets("rollback"), func(id string) world.Operation { return world.Rollback{Workload: id} }),
	}
}

func verbsOfMachines() []verb {
	return []verb{
		{
			field{"dependency", fieldsOf(
				field{"name", of(text).doc("", "what apps.NAME.dependsOn names")}, field{"state", word("down", "up").doc("down", "becomes so")},
			)},
			func(b *builder, v cursor, _ string) (world.Operation, bool) { return b.dependency(v) },
		},
		{
			field{"apiserver", word("down", "up").doc("", "the API server goes away, or comes back")},
			func(_ *builder, v cursor, _ string) (world.Operation, bool) {
				return world.APIServer{Down: v.text("down") == "down"}, true
			},
		},
		{
			field{"component", fieldsOf(
				field{"name", of(text).doc("", "a component: kube-proxy/NODE, kubelet/NODE, lb-controller, scheduler, deployment-controller, replicaset-controller, statefulset-controller, disruption-controller or endpointslice-controller")},
				field{"pause", of(boolean).doc("false", "it is paused")},
				field{"restart", of(boolean).doc("false", "it is restarted")},
			)},
			func(b *builder, v cursor, _ string) (world.Operation, bool) { return b.component(v) },
		},
		onPod("evict", podOf("the eviction API is asked once, for a pod of "+targets("evict"), "which"),
			func(_ cursor, pods world.Pods) world.Operation { return world.Evict{Pods: pods} }),
		{field{"drain", drainShape()}, func(b *builder, v cursor, _ string) (world.Operation, bool) { return b.drain(v) }},
		onNode("cordon", "kubectl cordon; where it ends by for, kubectl uncordon", func(name string) world.Operation { return world.Cordon{Node: name} }),
		onNode("scaleDownNode", "Cluster Autoscaler removes a node: the taint, its pods leave, then the machine goes, after for at the earliest", func(name string) world.Operation { return world.ScaleDownNode{Node: name} }),
		{field{"karpenter", karpenterShape()}, func(b *builder, v cursor, _ string) (world.Operation, bool) { return b.karpenter(v) }},
		{field{"upgradePool", upgradeShape()}, func(b *builder, v cursor, _ string) (world.Operation, bool) { return b.upgradePool(v) }},
		onNode("crashNode", "a node's machine is gone at once, with its pods; with for it comes back", func(name string) world.Operation { return world.CrashNode{Node: name} }),
	}
}

// targets are what a verb is done to.
func targets(verb string) string {
	return orList(targetWords(func(kind string) bool { return refusal(verb, kind) == "" }))
}

// onWorkload is a verb that names a workload and nothing more.
func onWorkload(name, about string, operation func(id string) world.Operation) verb {
	return verb{field{name, of(text).doc("", about)}, func(b *builder, v cursor, namespace string) (world.Operation, bool) {
		id, ok := b.workloadTarget(v, namespace, name)
		return operation(id), ok
	}}
}

// onPod is a verb on pods of a workload. Without a number setReady is for all of them, and the others for the first.
func onPod(name string, s shape, operation func(v cursor, pods world.Pods) world.Operation) verb {
	return verb{field{name, s}, func(b *builder, v cursor, namespace string) (world.Operation, bool) {
		id, ok := b.workloadTarget(v.get("of"), namespace, name)
		return operation(v, world.Pods{Workload: id, Number: podNumber(v.get("pod"), name == "setReady")}), ok
	}}
}

// onNode is a verb that names a node and nothing more.
func onNode(name, about string, operation func(name string) world.Operation) verb {
	return verb{field{name, of(text).doc("", about)}, func(b *builder, v cursor, _ string) (world.Operation, bool) {
		return operation(v.text("")), nodeNamed(v, b.out.Nodes) >= 0
	}}
}

// drainShape is kubectl drain: the name of a node, or several with its flags.
func drainShape() shape {
	return fieldsOf(
		field{"nodes", list(of(text)).doc("", "kubectl drain --ignore-daemonsets of nodes, all cordoned first, then emptied one after another; drain: NODE is short for one")},
		field{"gracePeriod", of(duration).doc("that of each pod", "how long pods may take to stop")},
		field{"timeout", of(duration).doc("none", "how long kubectl goes on with each node")},
		field{"disableEviction", of(boolean).doc("false", "pods are deleted, and disruption budgets not asked")},
		field{"ignoreDaemonSets", of(boolean).doc("true", "without it a pod of a DaemonSet is an error; with it such pods stay where they are")},
		field{"deleteEmptyDirData", of(boolean).doc("true", "without it a pod with an emptyDir is an error")},
		field{"force", of(boolean).doc("false", "a bare Pod, which nothing would make again, is evicted, too: else it is an error")},
		field{"podSelector", of(text).doc("all pods", "only pods with such labels leave, and the others stay: app=web")},
		field{"skipWaitForDeleteTimeout", of(duration).doc("none", "kubectl does not wait for a pod that should have gone so long ago: after its grace period")},
	).orShort("nodes")
}

func actionShape() shape {
	s := fieldsOf(
		field{"at", of(duration).doc("spec.warmup", "when, from the beginning of the run")},
		field{"for", of(duration).doc("for good", "when it ends by itself: setReady, dependency, apiserver, pause, component with pause, deleteService, scaleDownNode, crashNode and shutdownNode (the machine is back), cordon")},
		field{"namespace", of(text).doc("that of the only workload of the name", "of the workload")},
	)
	for _, v := range verbs() {
		s.fields = append(s.fields, v.field)
	}
	return s
}

func (w *printer) action(a *world.Action) {
	w.raw("at", a.At.Duration().String())
	w.time("for", a.For)
	w.line("verb", a.Verb())
	w.line("target", a.Target())
	w.line("value", a.Value())
	w.line("position", a.Pos.String())
}
