package control

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The annotations of pods by which nodes stay (kubernetes/autoscaler cluster-autoscaler/utils/drain/drain.go, and
// https://karpenter.sh/docs/concepts/disruption/#pod-level-controls; verified).
const (
	safeToEvict        = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	safeToEvictVolumes = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
	doNotDisrupt       = "karpenter.sh/do-not-disrupt"
)

// Fields of a pod that keep a node.
const (
	annotationsField = "metadata.annotations"
	volumesField     = "spec.volumes"
)

// keeping is a pod that may keep its node.
type keeping struct {
	*Takers
	pod *api.Pod
}

func (k *keeping) template() *corev1.PodTemplateSpec { return k.Takers.template(k.pod) }

// template is what a pod was made from.
func (c *Takers) template(p *api.Pod) *corev1.PodTemplateSpec {
	return world.TemplateOf(c.d.Specs.ResourceOf(setOf(p)))
}

// bare says that no controller keeps the pod.
func (k *keeping) bare() bool { return k.d.Unmanaged(k.pod) }

// by is a field of the pod that keeps its node, in the manifest of its workload, and what would let it go.
func (k *keeping) by(field, what string) *Kept {
	if field != "" && k.d.Workloads[k.pod.Workload].Kind() != world.Pod {
		field = "spec.template." + field
	}
	return &Kept{field, what}
}

// onPods says where an annotation of the pods has to stand, which is not that of what makes them.
func (k *keeping) onPods() string {
	if k.d.Workloads[k.pod.Workload].Kind() == world.Pod {
		return ""
	}
	return " in spec.template.metadata"
}

// byAutoscaler asks the rules of Cluster Autoscaler in their order (cluster-autoscaler/simulator/drainability/rules/rules.go; verified,
// but for what counts as a pod of the system, which is recalled).
func (k *keeping) byAutoscaler() (why string, of *Kept, budget int) {
	t := k.template()
	budgets := k.evict.of(k.pod)
	if k.d.mirrors(k.pod) || t.Annotations[safeToEvict] == "true" {
		return "", nil, -1
	}
	if k.bare() {
		return "no controller keeps it", k.by("", fmt.Sprintf("a Deployment for it, or annotation %s: \"true\"", safeToEvict)), -1
	}
	namespace := k.d.Specs.ResourceOf(setOf(k.pod)).GetNamespace()
	if namespace == "kube-system" && len(budgets) == 0 {
		return "it is in kube-system, and no PodDisruptionBudget covers it", k.by("", "a PodDisruptionBudget for it, or --skip-nodes-with-system-pods=false"), -1
	}
	if t.Annotations[safeToEvict] == "false" {
		return "annotation " + safeToEvict + " is false", k.by(annotationsField, "no such annotation"), -1
	}
	if v := localVolume(t); v != "" {
		return fmt.Sprintf("its volume %s is local storage (--skip-nodes-with-local-storage)", v),
			k.by(volumesField, fmt.Sprintf("annotation %s: %q%s", safeToEvictVolumes, v, k.onPods())), -1
	}
	return k.byBudget(budgets)
}

// localVolume is the first volume of a pod that would be lost with its node, "" for none.
func localVolume(t *corev1.PodTemplateSpec) string {
	given := strings.Split(t.Annotations[safeToEvictVolumes], ",")
	for _, v := range t.Spec.Volumes {
		local := v.HostPath != nil || v.EmptyDir != nil && v.EmptyDir.Medium != corev1.StorageMediumMemory
		if local && !slices.Contains(given, v.Name) {
			return v.Name
		}
	}
	return ""
}

// byKarpenter asks what Karpenter asks before it disrupts a node by itself (https://karpenter.sh/docs/concepts/disruption/: pods with the
// annotation, and those that a budget does not let go; verified).
func (k *keeping) byKarpenter() (why string, of *Kept, budget int) {
	if k.template().Annotations[doNotDisrupt] == "true" {
		return "annotation " + doNotDisrupt + " is true", k.by(annotationsField, "no such annotation"), -1
	}
	return k.byBudget(k.evict.of(k.pod))
}

// byAKS asks what AKS asks before it begins an upgrade: it refuses one while a budget says maxUnavailable 0
// (https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes/unsatisfiablepdb-error; verified).
func (k *keeping) byAKS() (why string, of *Kept, budget int) {
	for _, n := range k.evict.of(k.pod) {
		most := k.d.BudgetOf(k.evict.budget(n)).Value.Spec.MaxUnavailable
		if most != nil && most.Type == intstr.Int && most.IntVal == 0 {
			return "UnsatisfiablePDB, the upgrade does not begin: " + k.evict.refusal(n), &Kept{}, n
		}
	}
	return "", nil, -1
}

// byBudget finds a budget that allows no eviction at the moment.
func (k *keeping) byBudget(budgets []int) (why string, of *Kept, budget int) {
	for _, n := range budgets {
		if k.evict.budget(n).Allowed < 1 {
			return k.evict.refusal(n), &Kept{}, n
		}
	}
	return "", nil, -1
}
