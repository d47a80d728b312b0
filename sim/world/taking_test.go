package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// pool is a Scenario of made-up nodes in two zones with one action.
func pool(nodes int, o Operation) *Scenario {
	s := &Scenario{Spare: &MadeUp{Zones: []string{"a", "b"}}, Actions: []Action{{Operation: o}}, Traffic: []Traffic{{Name: "inside"}, {Name: "outside", External: true}}}
	for i := range nodes {
		s.Nodes = append(s.Nodes, s.Spare.Node(i))
	}
	return s
}

// How many nodes go at a time, and how many join before: by the settings of the pool, or the provider's defaults.
func TestThePaceOfAnUpgrade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider                  string
		nodes, surge, unavailable int
		ahead, surges, atOnce     int
	}{
		{PoolGKE, 5, AllOfThem, AllOfThem, 1, 1, 1},
		{PoolGKE, 5, 2, 1, 2, 2, 3},
		{PoolGKE, 5, 0, 2, 0, 0, 2},
		{PoolGKE, 2, 3, 0, 2, 3, 3},
		{PoolAKS, 5, AllOfThem, AllOfThem, 1, 1, 1},
		{PoolAKS, 11, AllOfThem, AllOfThem, 2, 2, 2},
		{PoolEKS, 9, AllOfThem, AllOfThem, 4, 1, 1},
		{PoolEKS, 9, AllOfThem, 6, 6, 6, 6},
		{PoolEKS, 3, AllOfThem, AllOfThem, 3, 1, 1},
	} {
		s := pool(c.nodes, UpgradePool{Provider: c.provider, Surge: c.surge, Unavailable: c.unavailable})
		got, ok := s.TakingOf(&s.Actions[0])
		if !ok || got.Ahead != c.ahead || got.Surges != c.surges || got.AtOnce != c.atOnce || len(got.Nodes) != c.nodes || len(got.Joins) != c.nodes {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// A budget in per cent is rounded up.
func TestNodeBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of    NodeBudget
		nodes int
		want  int
	}{{NodeBudget{10, true}, 1, 1}, {NodeBudget{10, true}, 10, 1}, {NodeBudget{10, true}, 11, 2}, {NodeBudget{0, true}, 11, 0}, {NodeBudget{3, false}, 2, 3}, {KarpenterBudget(), 20, 2}} {
		if got := c.of.Of(c.nodes); got != c.want {
			t.Errorf("%s of %d: %d, want %d", c.of, c.nodes, got, c.want)
		}
	}
}

// The nodes that join stand behind those there are, whatever their number becomes; where a whole pool goes, clients have others.
func TestMuster(t *testing.T) {
	t.Parallel()
	s := pool(3, UpgradePool{Provider: PoolGKE, Surge: 1, Unavailable: 0})
	names := func() string {
		var out []string
		for _, n := range s.Nodes {
			out = append(out, fmt.Sprintf("%s/%s%s%s", n.Name, n.Zone, map[bool]string{true: "+"}[n.Joins], map[bool]string{true: "*"}[n.Apart]))
		}
		return strings.Join(out, " ")
	}
	const three = "node-1/a node-2/b node-3/a node-1-new/a+ node-2-new/b+ node-3-new/a+ clients-1/a* clients-2/b* clients-3/a*"
	for range 2 {
		if s.Muster(); names() != three {
			t.Errorf("%s", names())
		}
	}
	if got := s.Traffic[0].Nodes; !slices.Equal(got, []string{"clients-1", "clients-2", "clients-3"}) || s.Traffic[1].Nodes != nil {
		t.Errorf("clients on %v, and %v", got, s.Traffic[1].Nodes)
	}
	if len(s.Standing()) != 3 || !s.Resize(2) || names() != "node-1/a node-2/b node-1-new/a+ node-2-new/b+ clients-1/a* clients-2/b*" {
		t.Errorf("%s", names())
	}
	if s.Resize(3); names() != three {
		t.Errorf("%s", names())
	}
	s = pool(3, UpgradePool{Provider: PoolGKE, Surge: 1, Nodes: []string{"node-2"}})
	if s.Muster(); names() != "node-1/a node-2/b node-3/a node-2-new/b+" || s.Traffic[0].Nodes != nil {
		t.Errorf("%s, clients on %v", names(), s.Traffic[0].Nodes)
	}
	if s.Resize(1) {
		t.Error("a node goes that an action is about")
	}
	s = pool(2, Consolidate{Nodes: []string{"node-2"}, Replacements: 1})
	s.Nodes[1].Object = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-2", Labels: map[string]string{corev1.LabelHostname: "node-2", "disk": "ssd"}}, Spec: corev1.NodeSpec{Unschedulable: true}}
	s.Muster()
	n := s.Nodes[2]
	if names() != "node-1/a node-2/b replacement-1/b+" || n.Object.Labels[corev1.LabelHostname] != "replacement-1" || n.Object.Labels["disk"] != "ssd" || n.Object.Spec.Unschedulable || s.Nodes[1].Object.Name != "node-2" {
		t.Errorf("%s: %+v", names(), n.Object)
	}
	if n.CountsForHints() {
		t.Error("it has a share of the hints before it is there")
	}
}

// An action that takes nodes away may take long, and a run waits for it.
func TestLongestTaking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    Operation
		want engine.Time
	}{
		{CrashNode{Node: "node-1"}, 0},
		{ScaleDownNode{Node: "node-1"}, 755 * engine.Second},
		{UpgradePool{Provider: PoolGKE, Surge: 1, Provision: engine.Minute}, 3 * 61 * engine.Minute},
		{UpgradePool{Provider: PoolEKS, Unavailable: 1, Provision: engine.Minute}, 3 * 17 * engine.Minute},
	} {
		s := pool(3, c.o)
		if got := s.LongestTaking(&s.Actions[0]); got != c.want {
			t.Errorf("%T: %s, want %s", c.o, got.Duration(), c.want.Duration())
		}
	}
}
