package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// homed is a pod of the input, and whose it is.
type homed struct {
	manifest.Typed[*corev1.Pod]
	kind, name string // of what keeps it: the Deployment of its ReplicaSet; a bare Pod keeps itself
}

// deletionCost is what its annotation says, 0 where that is none or no int32; one with a plus sign or leading zeros is none (Kubernetes 1.36.3
// pkg/apis/core/helper GetDeletionCostFromPodAnnotations; verified).
func (p *homed) deletionCost() int {
	said := p.Value.Annotations[corev1.PodDeletionCost]
	n, err := strconv.ParseInt(said, 10, 32)
	if err != nil || said != "0" && strings.HasPrefix(said, "0") || strings.HasPrefix(said, "+") {
		return 0
	}
	return int(n)
}

// owned says whether a workload keeps the pod.
func (p *homed) owned(kind, namespace, name string) bool {
	return p.kind == kind && p.Namespace == namespace && p.name == name
}

// over says that the pod has run to its end, or is on its way to it.
func (p *homed) over() bool { return p.Value.DeletionTimestamp != nil || p.finished() }

func (p *homed) finished() bool {
	return p.Value.Status.Phase == corev1.PodSucceeded || p.Value.Status.Phase == corev1.PodFailed
}

// node is where the pod is bound, "" for nowhere yet.
func (p *homed) node() string { return p.Value.Spec.NodeName }

// byHand says that the pod is from a manifest and not from a cluster: it has no status.
func (p *homed) byHand() bool {
	return p.Value.Status.Phase == "" && len(p.Value.Status.Conditions) == 0
}

// unsaid says that the pod is a manifest's, which leaves it to the scheduler where it is.
func (p *homed) unsaid() bool { return p.byHand() && p.node() == "" }

// ready is its condition. A pod that was written by hand is taken to be well.
func (p *homed) ready() bool {
	if p.byHand() {
		return p.node() != ""
	}
	return p.node() != "" && slices.ContainsFunc(p.Value.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// placed is where the pod is. On a node whose kubelet is silent it counts as not ready, whatever was written before.
func (p *homed) placed(silent map[string]bool) world.Placed {
	return world.Placed{Node: p.node(), Ready: p.ready() && !silent[p.node()], Cost: p.deletionCost()}
}

// words name a pod as kubectl does.
func (p *homed) words() string { return p.Namespace + "/" + p.Name }

// house finds the owner of each pod of the input: what made it, and of a ReplicaSet what made that.
func (w *inventory) house(pods []manifest.Typed[*corev1.Pod], sets []manifest.Typed[*appsv1.ReplicaSet]) {
	makers := map[string]*metav1.OwnerReference{} // by "ns/name" of a ReplicaSet
	for _, s := range sets {
		makers[s.ID()] = metav1.GetControllerOf(s.Value)
	}
	for _, p := range pods {
		h := homed{Typed: p, kind: world.Pod, name: p.Name}
		if ref := metav1.GetControllerOf(p.Value); ref != nil {
			h.kind, h.name = ref.Kind, ref.Name
			if ref.Kind == world.ReplicaSet {
				h.kind, h.name = w.makerOf(p, ref.Name, makers)
			}
		}
		w.pods = append(w.pods, h)
	}
	sorted.StableBy(w.pods, func(a, b homed) int { return byName(a.Typed, b.Typed) })
}

// makerOf is what made a pod's ReplicaSet. Where the input does not have that, it is the Deployment whose name is the ReplicaSet's
// without the hash of the pod's template (Kubernetes 1.36 pkg/controller/deployment/sync.go, getNewReplicaSet; verified).
func (w *inventory) makerOf(p manifest.Typed[*corev1.Pod], set string, makers map[string]*metav1.OwnerReference) (kind, name string) {
	if ref, ok := makers[p.Namespace+"/"+set]; ok {
		if ref == nil {
			return world.ReplicaSet, set
		}
		return ref.Kind, ref.Name
	}
	hash := p.Value.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if name, ok := strings.CutSuffix(set, "-"+hash); ok && hash != "" {
		if d, there := w.workload(p.Namespace + "/" + name); there && world.KindOf(d.Value) == world.Deployment {
			return world.Deployment, name
		}
	}
	return world.ReplicaSet, set
}

// podNodes names the nodes that pods of the input are on.
func (w *inventory) podNodes() []string {
	var out []string
	for i := range w.pods {
		if n := w.pods[i].node(); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// namedNodes are those that the pods of the input are on, and as many more as its workloads need.
func (b *builder) namedNodes(names []string, proxy world.Proxy) []world.Node {
	words := strconv.Itoa(len(names)) + ": those that pods of the input are on"
	known := len(names)
	for n := 1; len(names) < b.world.nodesNeeded().nodes; n++ {
		if name := "node-" + strconv.Itoa(n); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > known {
		words = strconv.Itoa(len(names)) + ": those that pods of the input are on, and more"
	}
	b.assumeAs("nodes", words, inferred)
	var nodes []world.Node
	for _, name := range names {
		nodes = append(nodes, world.Node{Name: name, Proxy: proxy})
	}
	return nodes
}

// place gives each workload the pods that the input has of it.
func (b *builder) place() {
	b.strayed()
	b.out.CountDaemons()
	for i := range b.out.Workloads {
		w := &b.out.Workloads[i]
		w.Placed = b.world.placed(w, b.out.Nodes, false)
		for _, s := range b.world.scalersOf(w.Resource) {
			most := "spec.maxReplicas"
			if s.raises {
				most = "spec.maxReplicaCount"
			}
			w.Scaler = &world.Scaler{Kind: s.kind, Object: s.object, Field: "spec." + s.field, MostField: most, Most: int(s.most), ToZero: s.toZero != ""}
			break // two of them contradict each other
		}
	}
}

// strayed warns of pods of the input that are on nodes which it does not have: they are taken to be elsewhere.
func (b *builder) strayed() {
	names := world.NodeNames(b.out.Nodes)
	var told []string
	for i := range b.world.pods {
		p := &b.world.pods[i]
		if n := p.node(); n != "" && !p.over() && !slices.Contains(names, n) && !slices.Contains(told, n) {
			told = append(told, n)
			b.doc.problems = append(b.doc.problems, p.Problem(manifest.Warning, "spec.nodeName", fmt.Sprintf("there is no Node %q in the input: where its pods are instead is a guess", n)))
		}
	}
}

// placed are the pods of a workload that are there and stay, those that are ready first: no more than it has replicas. A pod on a
// node that there is not is none. Where they are to be labelled they have the labels of their own by which something selects them.
func (w *inventory) placed(x *world.Workload, nodes []world.Node, labelled bool) []world.Placed {
	there, silent := map[string]bool{"": true}, map[string]bool{}
	for i := range nodes {
		there[nodes[i].Name], silent[nodes[i].Name] = true, nodes[i].Silent()
	}
	as := func(p *homed) world.Placed {
		at := p.placed(silent)
		if labelled {
			at.Labels = w.deciding(p, x.Resource)
		}
		return at
	}
	var out []world.Placed
	for i := range w.pods {
		if p := &w.pods[i]; p.owned(x.Kind(), x.Namespace(), x.ObjectName()) && !p.over() && !p.unsaid() && there[p.node()] {
			out = append(out, as(p))
		}
	}
	rank := func(p world.Placed) int {
		switch {
		case p.Ready:
			return 0
		case p.Node != "":
			return 1
		default:
			return 2
		}
	}
	if x.Kind() == world.StatefulSet { // each has a number
		return w.placedByOrdinal(x, there, as)
	}
	sorted.StableBy(out, func(a, b world.Placed) int { return cmp.Compare(rank(a), rank(b)) })
	return out[:min(len(out), x.Replicas())]
}

// placedByOrdinal are the pods of a StatefulSet, one for each number; one that the input does not have is Pending. nil where it has
// none at all.
func (w *inventory) placedByOrdinal(x *world.Workload, there map[string]bool, as func(*homed) world.Placed) []world.Placed {
	out, found := make([]world.Placed, x.Replicas()), false
	for i := range w.pods {
		p := &w.pods[i]
		n, err := strconv.Atoi(strings.TrimPrefix(p.Name, x.ObjectName()+"-"))
		if err != nil || !p.owned(x.Kind(), x.Namespace(), x.ObjectName()) || p.over() || !there[p.node()] {
			continue
		}
		if n -= firstOrdinal(x.Resource); n >= 0 && n < len(out) {
			out[n], found = as(p), true
		}
	}
	if !found {
		return nil
	}
	return out
}

// firstOrdinal is the number of a StatefulSet's first pod.
func firstOrdinal(r world.Resource) int {
	if s, ok := r.(*appsv1.StatefulSet); ok && s.Spec.Ordinals != nil {
		return int(s.Spec.Ordinals.Start)
	}
	return 0
}

// placed prints where pods are at the beginning.
func (w *printer) placed(list []world.Placed) {
	var out []string
	for _, p := range list {
		words := p.Node
		switch {
		case p.Node == "":
			words = "Pending"
		case !p.Ready:
			words += " not ready"
		}
		if p.Labels != nil {
			words += " labelled " + labels.Set(p.Labels).String()
		}
		out = append(out, words)
	}
	w.texts("placed", out)
}
