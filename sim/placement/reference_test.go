package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The reference: pods one by one, and every rule as the API documents it, without any count that is kept.
type (
	refNode struct {
		name     string
		labels   map[string]string
		cordoned bool
		tainted  bool // dedicated=x:NoSchedule
		cpu      int64
	}
	refTerm struct {
		key    string
		app    string // matchLabels: {app: ...}
		byHash bool   // matchLabelKeys: [hash]
		others bool   // mismatchLabelKeys: [hash]
		spaces []string
	}
	refSpread struct {
		refTerm
		maxSkew, minDomains int
		anyNode             bool // nodeAffinityPolicy: Ignore
		honorTaints         bool
	}
	refKind struct {
		namespace, app, hash string
		cpu                  int64
		ssd, tolerates       bool // nodeSelector: {disk: ssd}; a toleration of dedicated
		near, apart          []refTerm
		spread               []refSpread
	}
	refPod struct {
		kind, node int
		leaving    bool
	}
	refWorld struct {
		nodes []refNode
		kinds []refKind
		pods  []refPod
	}
)

// selects is a term of one pod about another one.
func (t *refTerm) selects(own, other *refKind) bool {
	spaces := t.spaces
	if len(spaces) == 0 {
		spaces = []string{own.namespace}
	}
	return slices.Contains(spaces, other.namespace) && other.app == t.app && !(t.byHash && own.hash != other.hash) && !(t.others && own.hash == other.hash)
}

func (w *refWorld) has(n int, key string) bool { _, ok := w.nodes[n].labels[key]; return ok }

// together says whether two nodes are in one domain.
func (w *refWorld) together(a, b int, key string) bool {
	return w.has(a, key) && w.has(b, key) && w.nodes[a].labels[key] == w.nodes[b].labels[key]
}

// fits asks each rule of a node in turn.
func (w *refWorld) fits(kind, n int) bool {
	k, node := &w.kinds[kind], &w.nodes[n]
	used := int64(0)
	for _, p := range w.pods {
		if p.node == n {
			used += w.kinds[p.kind].cpu
		}
	}
	switch {
	case node.cordoned, node.tainted && !k.tolerates, k.ssd && node.labels["disk"] != "ssd":
		return false
	case k.cpu > 0 && used+k.cpu > node.cpu:
		return false
	}
	for i := range k.spread {
		if !w.spreads(k, n, i) {
			return false
		}
	}
	return w.nearFits(k, n) && w.apartFits(kind, n)
}

// spreads is the definition of skew: the pods of the node's domain with this one, less those of the domain with the fewest.
func (w *refWorld) spreads(k *refKind, n, i int) bool {
	s := &k.spread[i]
	if !w.has(n, s.key) {
		return false
	}
	domains := map[string]int{}
	for m := range w.nodes {
		complete := true
		for j := range k.spread {
			complete = complete && w.has(m, k.spread[j].key)
		}
		barred := s.honorTaints && (w.nodes[m].cordoned || w.nodes[m].tainted && !k.tolerates)
		if !complete || barred || !s.anyNode && k.ssd && w.nodes[m].labels["disk"] != "ssd" {
			continue
		}
		domains[w.nodes[m].labels[s.key]] += 0
		for _, p := range w.pods {
			if p.node == m && !p.leaving && s.selects(k, &w.kinds[p.kind]) {
				domains[w.nodes[m].labels[s.key]]++
			}
		}
	}
	fewest := 1 << 30
	for _, pods := range domains {
		fewest = min(fewest, pods)
	}
	if len(domains) < s.minDomains {
		fewest = 0
	}
	own := 0
	if s.selects(k, k) {
		own = 1
	}
	return domains[w.nodes[n].labels[s.key]]+own-fewest <= s.maxSkew
}

func (w *refWorld) nearFits(k *refKind, n int) bool {
	selectsAll := func(other *refKind) bool {
		return !slices.ContainsFunc(k.near, func(t refTerm) bool { return !t.selects(k, other) })
	}
	anywhere, here := false, true
	for i := range k.near {
		t := &k.near[i]
		if !w.has(n, t.key) {
			return false
		}
		found := false
		for _, p := range w.pods {
			if selectsAll(&w.kinds[p.kind]) {
				anywhere = anywhere || w.has(p.node, t.key)
				found = found || w.together(n, p.node, t.key)
			}
		}
		here = here && found
	}
	return here || !anywhere && selectsAll(k)
}

func (w *refWorld) apartFits(kind, n int) bool {
	k := &w.kinds[kind]
	for _, p := range w.pods {
		other := &w.kinds[p.kind]
		for i := range k.apart {
			if k.apart[i].selects(k, other) && w.together(n, p.node, k.apart[i].key) {
				return false
			}
		}
		for i := range other.apart {
			if other.apart[i].selects(other, k) && w.together(n, p.node, other.apart[i].key) {
				return false
			}
		}
	}
	return true
}

// draw makes a small world.
func drawRef(r *rand.Rand) *refWorld {
	w := &refWorld{}
	some := func(n int) bool { return r.IntN(n) == 0 }
	keys := []string{corev1.LabelHostname, corev1.LabelTopologyZone, "rack"}
	for i := range 1 + r.IntN(4) {
		n := refNode{name: fmt.Sprint("node-", i), labels: map[string]string{corev1.LabelHostname: fmt.Sprint("node-", i)}, cordoned: some(6), tainted: some(6), cpu: 1 + r.Int64N(4)}
		if !some(5) {
			n.labels[corev1.LabelTopologyZone] = []string{"a", "b"}[r.IntN(2)]
		}
		if !some(4) {
			n.labels["rack"] = []string{"1", "2", "3"}[r.IntN(3)]
		}
		if some(2) {
			n.labels["disk"] = "ssd"
		}
		w.nodes = append(w.nodes, n)
	}
	term := func() refTerm {
		t := refTerm{key: keys[r.IntN(3)], app: []string{"x", "y"}[r.IntN(2)], byHash: some(4), others: some(6)}
		if some(4) {
			t.spaces = []string{"other"}
		}
		return t
	}
	for i := range 1 + r.IntN(4) {
		k := refKind{namespace: "default", app: []string{"x", "y"}[r.IntN(2)], hash: fmt.Sprint(i), cpu: r.Int64N(3), ssd: some(4), tolerates: some(3)}
		if some(5) {
			k.namespace = "other"
		}
		for range r.IntN(3) {
			s := refSpread{refTerm: term(), maxSkew: 1 + r.IntN(2), minDomains: 1, anyNode: some(3), honorTaints: some(3)}
			s.spaces, s.others = nil, false
			if some(3) {
				s.minDomains = 1 + r.IntN(3)
			}
			k.spread = append(k.spread, s)
		}
		if some(3) {
			k.near = append(k.near, term())
			if some(3) {
				k.near = append(k.near, term())
			}
		}
		if some(2) {
			k.apart = append(k.apart, term())
		}
		w.kinds = append(w.kinds, k)
	}
	for range r.IntN(7) {
		w.pods = append(w.pods, refPod{r.IntN(len(w.kinds)), r.IntN(len(w.nodes)), some(5)})
	}
	return w
}

// cluster is the same world as the package sees it.
func (w *refWorld) cluster() (*Cluster, []*Kind) {
	var nodes []world.Node
	for i := range w.nodes {
		n := &w.nodes[i]
		o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: n.labels}, Spec: corev1.NodeSpec{Unschedulable: n.cordoned}}
		if n.tainted {
			o.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
		}
		o.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(n.cpu, resource.DecimalSI)}
		nodes = append(nodes, world.Node{Name: n.name, Zone: n.labels[corev1.LabelTopologyZone], Object: o})
	}
	c := New(nodes, nil)
	var kinds []*Kind
	for i := range w.kinds {
		k := &w.kinds[i]
		kinds = append(kinds, c.Add(Pods{Namespace: k.namespace, Labels: map[string]string{"app": k.app, "hash": k.hash}, Spec: k.spec()}))
	}
	for _, p := range w.pods {
		c.Count(kinds[p.kind], p.node, p.leaving, 1)
	}
	return c, kinds
}

func (t *refTerm) selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": t.app}}
}

func (t *refTerm) term() corev1.PodAffinityTerm {
	out := corev1.PodAffinityTerm{TopologyKey: t.key, LabelSelector: t.selector(), Namespaces: t.spaces}
	if t.byHash {
		out.MatchLabelKeys = []string{"hash"}
	}
	if t.others {
		out.MismatchLabelKeys = []string{"hash"}
	}
	return out
}

func (k *refKind) spec() *corev1.PodSpec {
	spec := &corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}}}
	c := corev1.Container{Name: "app"}
	if k.cpu > 0 {
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(k.cpu, resource.DecimalSI)}
	}
	spec.Containers = []corev1.Container{c}
	if k.ssd {
		spec.NodeSelector = map[string]string{"disk": "ssd"}
	}
	if k.tolerates {
		spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	for i := range k.near {
		a := spec.Affinity.PodAffinity
		a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, k.near[i].term())
	}
	for i := range k.apart {
		a := spec.Affinity.PodAntiAffinity
		a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, k.apart[i].term())
	}
	for i := range k.spread {
		s := &k.spread[i]
		least, policies := int32(s.minDomains), [...]corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}
		t := corev1.TopologySpreadConstraint{
			MaxSkew: int32(s.maxSkew), TopologyKey: s.key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: s.selector(),
			MinDomains: &least, MatchLabelKeys: s.term().MatchLabelKeys,
		}
		if s.anyNode {
			t.NodeAffinityPolicy = &policies[1]
		}
		if s.honorTaints {
			t.NodeTaintsPolicy = &policies[0]
		}
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, t)
	}
	return spec
}

// In small worlds the nodes that a pod may run on are those that a plain reading of the API's rules gives, whatever else is there:
// topology spread with all its fields, affinity and anti-affinity of either side by any key, taints, cordons, labels, CPU.
func TestFeasibleNodesAreThoseOfThePlainRules(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range uint64(6000) {
		w := drawRef(rand.New(rand.NewPCG(seed, 1)))
		c, kinds := w.cluster()
		for i, k := range kinds {
			try := c.Try(k)
			for n := range w.nodes {
				want, got := w.fits(i, n), try.Fits(n)
				if want != got {
					t.Fatalf("seed %d, kind %d on node %d: %v (%v), want %v\n%+v", seed, i, n, got, try.Obstacles(n), want, w)
				}
				for _, o := range try.Obstacles(n) {
					seen[o.Words()]++
				}
			}
			if at := c.Choose(k, func(int) int { return 0 }); at >= 0 && !w.fits(i, at) {
				t.Fatalf("seed %d, kind %d: node %d is chosen and does not do", seed, i, at)
			}
		}
	}
	for _, why := range []Why{Cordoned, Tainted, Unlike, Unlabelled, Skewed, Alone, Repels, Repelled} {
		if seen[reasons[why]] < 100 {
			t.Errorf("%q came up %d times: the worlds do not try it", reasons[why], seen[reasons[why]])
		}
	}
}
