package placement

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// nodesOf makes nodes of words such as "a cpu=4 memory=8Gi disk:ssd": the zone, what it has, labels; "cordoned", "taint", "soft".
func nodesOf(words ...string) []world.Node {
	var out []world.Node
	for i, w := range words {
		fields := strings.Fields(w)
		n := world.Node{Name: fmt.Sprint("node-", i+1), Zone: fields[0]}
		o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{}}}
		for _, f := range fields[1:] {
			n.Object = o
			key, value, label := strings.Cut(f, ":")
			name, amount, has := strings.Cut(f, "=")
			switch {
			case label:
				o.Labels[key] = value
			case has:
				if o.Status.Allocatable == nil {
					o.Status.Allocatable = corev1.ResourceList{}
				}
				o.Status.Allocatable[corev1.ResourceName(name)] = resource.MustParse(amount)
			case f == "cordoned":
				o.Spec.Unschedulable = true
			case f == "taint":
				o.Spec.Taints = append(o.Spec.Taints, corev1.Taint{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule})
			case f == "soft":
				o.Spec.Taints = append(o.Spec.Taints, corev1.Taint{Key: "spot", Effect: corev1.TaintEffectPreferNoSchedule})
			}
		}
		out = append(out, n)
	}
	return out
}

// podOf is a pod that asks for something, such as "cpu=1".
func podOf(asks string, edit func(*corev1.PodSpec)) Pods {
	c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}}
	for f := range strings.FieldsSeq(asks) {
		name, amount, _ := strings.Cut(f, "=")
		c.Resources.Requests[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	p := Pods{Namespace: "default", Labels: map[string]string{"app": "web"}, Spec: &corev1.PodSpec{Containers: []corev1.Container{c}}}
	if edit != nil {
		edit(p.Spec)
	}
	return p
}

func web() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

func spread(key string, edit func(*corev1.TopologySpreadConstraint)) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		t := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: web()}
		if edit != nil {
			edit(&t)
		}
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, t)
	}
}

func apart(key string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: web()}}}}
	}
}

func near(key, app string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		}}}}
	}
}

// What the Event FailedScheduling says, in the scheduler's words and order, and which field is behind it. A pod of the same kind is on the
// nodes that are named. Reference: docs/model/controllers.md 5 FailedScheduling.
func TestWhyNoNodeWillDo(t *testing.T) {
	t.Parallel()
	gpu := `nvidia.com/gpu=1`
	for _, c := range []struct {
		name  string
		nodes []world.Node
		pod   Pods
		on    []int
		want  string // "" where a node will do
	}{
		{"room", nodesOf("a cpu=1"), podOf("cpu=1", nil), nil, ""},
		{"a made-up node has room for any", nodesOf("a"), podOf("cpu=1000 nvidia.com/gpu=8", nil), []int{0, 0}, ""},
		{"no CPU left", nodesOf("a cpu=1"), podOf("cpu=600m", nil), []int{0}, "0/1 nodes are available: 1 Insufficient cpu"},
		{"to the last bit", nodesOf("a cpu=1"), podOf("cpu=500m", nil), []int{0}, ""},
		{"nothing asked for on a full node", nodesOf("a cpu=0"), podOf("", nil), []int{0}, ""},
		{"CPU and memory", nodesOf("a cpu=1 memory=1Gi", "a cpu=1 memory=4Gi"), podOf("cpu=2 memory=2Gi", nil), nil, "0/2 nodes are available: 1 Insufficient memory, 2 Insufficient cpu"},
		{"no such device", nodesOf("a cpu=4", "a cpu=4 nvidia.com/gpu=1 taint"), podOf(gpu, nil), nil, "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint(s)"},
		{"pods that a node takes", nodesOf("a pods=1"), podOf("", nil), []int{0}, "0/1 nodes are available: 1 Too many pods"},
		{"the first that the scheduler finds", nodesOf("a cordoned taint cpu=0"), podOf("cpu=1", nil), nil, "0/1 nodes are available: 1 node(s) were unschedulable"},
		{"CPU before spread", nodesOf("a cpu=1", "b cpu=1"), podOf("cpu=1", spread(corev1.LabelTopologyZone, nil)), []int{0}, ""},
		{"a zone each, and more pods in one", nodesOf("a", "b cordoned"), podOf("", spread(corev1.LabelTopologyZone, nil)), []int{0}, "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable"},
		{"a node without the label", nodesOf("a x:y"), podOf("", spread("rack", nil)), nil, "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label)"},
		{"a zone for itself", nodesOf("a", "a", "b"), podOf("", apart(corev1.LabelTopologyZone)), []int{0, 2}, "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules"},
		{"the first of those that want to be together", nodesOf("a", "b"), podOf("", near(corev1.LabelTopologyZone, "web")), nil, ""},
		{"nobody to be near", nodesOf("a", "b"), podOf("", near(corev1.LabelTopologyZone, "db")), nil, "0/2 nodes are available: 2 node(s) didn't match pod affinity rules"},
	} {
		c.pod.Group = 1
		cluster := New(c.nodes, nil)
		k := cluster.Add(c.pod)
		for _, n := range c.on {
			cluster.Count(k, n, false, 1)
		}
		f, failed := cluster.Try(k).Failure()
		if failed != (c.want != "") || failed && f.Words != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, f.Words, c.want)
		}
		if at := cluster.Choose(k, func(int) int { return 0 }); (at < 0) != failed {
			t.Errorf("%s: node %d", c.name, at)
		}
	}
}

// What has gone counts no longer, and what terminates still takes its room, but counts for no spread.
func TestPodsThatLeave(t *testing.T) {
	t.Parallel()
	c := New(nodesOf("a cpu=1", "b cordoned"), nil)
	k := c.Add(podOf("cpu=600m", spread(corev1.LabelTopologyZone, nil)))
	c.Count(k, 0, false, 1)
	if why := c.Try(k).first(0); why != Insufficient {
		t.Error(why)
	}
	c.Count(k, 0, false, -1)
	c.Count(k, 0, true, 1)
	if why := c.Try(k).first(0); why != Insufficient {
		t.Error("terminating:", why)
	}
	c.nodes[0].room[0] = 5000
	if why := c.Try(k).first(0); why != Free {
		t.Error("terminating, and room:", why)
	}
	c.Count(k, 0, true, -1)
	c.Count(k, 0, false, 1)
	if why := c.Try(k).first(0); why != Skewed {
		t.Error("running:", why)
	}
	c.Leave(1) // the other zone is no domain any more
	if why := c.Try(k).first(0); why != Free {
		t.Error("alone:", why)
	}
}

// What would let a pod find a node. Reference: docs/model/controllers.md 5 Node inclusion policies.
func TestWhatRelieves(t *testing.T) {
	t.Parallel()
	all := []Relief{HonorTaints, ByRevision, Anyway, Uncordon, OneFewer}
	for _, c := range []struct {
		name  string
		nodes []world.Node
		pod   Pods
		on    []int
		old   []int // pods of the revision before
		want  []Relief
	}{
		{"a cordoned node is a domain", nodesOf("a", "a", "b cordoned"), podOf("", spread(corev1.LabelHostname, nil)), []int{0, 1}, nil, []Relief{HonorTaints, Anyway, Uncordon, OneFewer}},
		{"nodeTaintsPolicy Honor does not matter where a node is full", nodesOf("a", "a", "b cpu=1"), podOf("cpu=2", spread(corev1.LabelHostname, nil)), []int{0, 1}, nil, []Relief{Anyway, OneFewer}},
		{"pods of the revision before", nodesOf("a", "a cpu=1"), podOf("cpu=2", spread(corev1.LabelHostname, nil)), nil, []int{0}, []Relief{ByRevision, Anyway, OneFewer}},
		{"a device that no node has", nodesOf("a cpu=1"), podOf("nvidia.com/gpu=1", nil), nil, nil, nil},
		{"CPU that another pod has", nodesOf("a cpu=1"), podOf("cpu=1", nil), []int{0}, nil, []Relief{OneFewer}},
	} {
		cluster := New(c.nodes, nil)
		c.pod.Labels = labels.Merge(c.pod.Labels, map[string]string{"pod-template-hash": "new"})
		k := cluster.Add(c.pod)
		before := c.pod
		before.Labels = labels.Merge(c.pod.Labels, map[string]string{"pod-template-hash": "old"})
		old := cluster.Add(before)
		for _, n := range c.on {
			cluster.Count(k, n, false, 1)
		}
		for _, n := range c.old {
			cluster.Count(old, n, false, 1)
		}
		var got []Relief
		for _, r := range all {
			if cluster.Relieves(k, r) {
				got = append(got, r)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Which namespaces a term is about. One that the input has says it by its labels; another is taken to be meant, unless its name says
// otherwise.
func TestNamespacesOfATerm(t *testing.T) {
	t.Parallel()
	known := Namespaces{"shop": {"team": "shop"}, "db": {"team": "data"}}
	team := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}
	named := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "shop"}}
	for _, c := range []struct {
		term      corev1.PodAffinityTerm
		namespace string
		want      bool
	}{
		{corev1.PodAffinityTerm{}, "shop", true},
		{corev1.PodAffinityTerm{}, "db", false},
		{corev1.PodAffinityTerm{Namespaces: []string{"db"}}, "db", true},
		{corev1.PodAffinityTerm{Namespaces: []string{"db"}}, "shop", false},
		{corev1.PodAffinityTerm{NamespaceSelector: &metav1.LabelSelector{}}, "db", true},
		{corev1.PodAffinityTerm{NamespaceSelector: team}, "shop", true},
		{corev1.PodAffinityTerm{NamespaceSelector: team}, "db", false},
		{corev1.PodAffinityTerm{NamespaceSelector: team}, "unknown", true},
		{corev1.PodAffinityTerm{NamespaceSelector: named}, "unknown", false},
		{corev1.PodAffinityTerm{NamespaceSelector: named, Namespaces: []string{"db"}}, "db", true},
	} {
		c.term.LabelSelector = web()
		term := newTerm(&c.term, 0, "shop", labels.Set{})
		k := &Kind{Pods: Pods{Namespace: c.namespace}, labels: labels.Set{"app": "web"}}
		if got := term.of(k, known); got != c.want {
			t.Errorf("%v in %s: %v", c.term, c.namespace, got)
		}
	}
}

// A node that is not ready takes a pod that tolerates what it is tainted with for that, and no other.
func TestPodsThatTolerateANodeThatIsNotReady(t *testing.T) {
	t.Parallel()
	c := New(nodesOf("a"), nil)
	c.Bar(0, []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}})
	plain, tolerant := podOf("", nil), podOf("", nil)
	tolerant.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists}}
	if why := c.Try(c.Add(plain)).first(0); why != Tainted {
		t.Error(why)
	}
	if why := c.Try(c.Add(tolerant)).first(0); why != Free {
		t.Error("tolerates:", why)
	}
}
