package scenario

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// workload is an object of the input that keeps pods, or a bare Pod.
type workload = manifest.Typed[world.Resource]

// kindRow is a kind of workload as actions write it.
type kindRow struct {
	kind  string
	words []string // before the slash of a target, the first of them in messages and in the reference
}

// kindRows lists the kinds that the model has, in the order in which their workloads come. Others are named as what they are wherever
// a Service selects their pods.
func kindRows() []kindRow {
	return []kindRow{
		{world.Deployment, []string{"deployment", "deployments", "deploy", "deployment.apps"}},
		{world.StatefulSet, []string{"statefulset", "statefulsets", "sts", "statefulset.apps"}},
		{world.DaemonSet, []string{"daemonset", "daemonsets", "ds", "daemonset.apps"}},
		{world.ReplicaSet, []string{"replicaset", "replicasets", "rs", "replicaset.apps"}},
		{world.Pod, []string{"pod", "pods", "po"}},
	}
}

// Simulates says whether the model has workloads of a kind.
func Simulates(kind string) bool {
	return slices.ContainsFunc(kindRows(), func(r kindRow) bool { return r.kind == kind })
}

// targetKind is the kind that the word before the slash of a target means.
func targetKind(word string) (row kindRow, ok bool) {
	rows := kindRows()
	i := slices.IndexFunc(rows, func(r kindRow) bool { return slices.Contains(r.words, strings.ToLower(word)) })
	if i < 0 {
		return kindRow{}, false
	}
	return rows[i], true
}

// targetWords are how the target of a verb is written, for each kind that the verb is for: "deployment/NAME".
func targetWords(fits func(kind string) bool) []string {
	var out []string
	for _, r := range kindRows() {
		if fits(r.kind) {
			out = append(out, r.words[0]+"/NAME")
		}
	}
	return out
}

// resourceOf is what an object of the input says about pods, of a copy; nil for one that has none of its own: a ReplicaSet of a
// Deployment, a Pod that something made, that ends by itself or has ended, that is on its way out, or that is there for a test of a chart.
func resourceOf(o *manifest.Object) world.Resource {
	switch v := o.Value.(type) {
	case *appsv1.ReplicaSet:
		if len(v.OwnerReferences) > 0 {
			return nil
		}
		return v.DeepCopy()
	case *corev1.Pod:
		_, hook := v.Annotations["helm.sh/hook"]
		if over := (&homed{Typed: manifest.Typed[*corev1.Pod]{Value: v}}).over(); over || len(v.OwnerReferences) > 0 || hook || v.Spec.RestartPolicy == corev1.RestartPolicyNever || v.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
			return nil
		}
		return world.NewBarePod(v.DeepCopy())
	case *appsv1.Deployment:
		return v.DeepCopy()
	case *appsv1.StatefulSet:
		return v.DeepCopy()
	case *appsv1.DaemonSet:
		return v.DeepCopy()
	default:
		return nil
	}
}

// addWorkload keeps an object that has pods.
func (w *inventory) addWorkload(o *manifest.Object) {
	r := resourceOf(o)
	if r == nil {
		return
	}
	list := &w.others
	if Simulates(world.KindOf(r)) {
		list = &w.workloads
	}
	*list = append(*list, workload{Object: o, Value: r})
}

// byKind orders workloads by their kind, then by their name.
func byKind(a, b workload) int {
	rank := func(w workload) int {
		return slices.IndexFunc(kindRows(), func(r kindRow) bool { return r.kind == world.KindOf(w.Value) })
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), byName(a, b))
}

// tellApart leaves the first of several workloads of one name, which only their kinds tell apart: the others are not simulated.
func (w *inventory) tellApart() {
	seen := map[string]bool{}
	w.workloads = slices.DeleteFunc(w.workloads, func(x workload) bool {
		again := seen[x.ID()]
		seen[x.ID()] = true
		if again {
			w.others = append(w.others, x)
		}
		return again
	})
}
