package sim

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// anyOf draws one of some values.
func anyOf[T any](d engine.Component, purpose string, values ...T) T {
	return values[engine.Below(d.Stream(engine.PurposeOf(purpose)).Draw(0), len(values))]
}

// anyTaker is one of those who take nodes away, with any of their settings.
func anyTaker(d engine.Component) world.Operation {
	nodes := anyOf(d, "nodes", []string{"node-1"}, []string{"node-2", "node-1"}, []string{"node-3", "node-1", "node-2"}, nil)
	provision := anyOf(d, "provision", 0, sec, 90*sec)
	switch anyOf(d, "taker", 0, 1, 1, 2, 2, 2) {
	case 0:
		return world.ScaleDownNode{Node: anyOf(d, "node", "node-1", "node-2")}
	case 1:
		if nodes == nil {
			return world.Consolidate{Fullest: "default/web", Budget: world.KarpenterBudget()}
		}
		return world.Consolidate{
			Nodes: nodes, Replacements: engine.Below(d.Stream(engine.PurposeOf("replacements")).Draw(0), len(nodes)+1), Provision: provision,
			Budget: anyOf(d, "budget", world.NodeBudget{Number: 1}, world.NodeBudget{Number: 2}, world.NodeBudget{Number: 100, PerCent: true}), Grace: anyOf(d, "grace", 0, 10*sec, 100*sec),
		}
	default:
		return world.UpgradePool{
			Provider: anyOf(d, "provider", world.PoolGKE, world.PoolEKS, world.PoolAKS), Nodes: nodes, Provision: provision,
			Surge: anyOf(d, "surge", world.AllOfThem, 0, 2), Unavailable: anyOf(d, "unavailable", world.AllOfThem, 0, 2), Limit: anyOf(d, "limit", 0, 30*sec, 300*sec), Force: anyOf(d, "force", false, true),
		}
	}
}

// anyTaken is a world of which somebody takes nodes away.
func anyTaken(seed uint64) *world.Scenario {
	d := engine.New(seed, engine.Limits{}).Component("any taker")
	var sc *world.Scenario
	if anyOf(d, "outside", false, true) {
		lb := checked(3 * sec)
		lb.NodesLeave, lb.Drain = anyOf(d, "leave", world.NodesDeleted, world.NodesTainted, world.NodesNotReady, world.NodesSilent), anyOf(d, "drain", engine.Never, 5*sec)
		sc = forwarded(lb, nil, 0)
	} else {
		sc = plainWorld(anyOf(d, "replicas", 1, 2, 5), sec)
		for len(sc.Nodes) < 4 {
			n := sc.Nodes[0]
			n.Name = fmt.Sprintf("node-%d", len(sc.Nodes)+1)
			sc.Nodes = append(sc.Nodes, n)
		}
		sc.Traffic[0].Nodes = []string{"node-4"}
	}
	grace := anyOf(d, "pod's grace", int64(0), 5, 700)
	spec := &sc.Workloads[0].Template().Spec
	spec.TerminationGracePeriodSeconds = &grace
	if anyOf(d, "tolerates", false, false, true) {
		spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	if bound := anyOf(d, "pod budget", "", "0", "1", "50%"); bound != "" {
		sc.Budgets = []world.Budget{ofAll(intstr.Parse(bound))}
	}
	sc.Actions = []world.Action{{At: 20 * sec, Operation: anyTaker(d)}}
	if _, ok := sc.Actions[0].Operation.(world.ScaleDownNode); ok {
		sc.Actions[0].For = anyOf(d, "for", 5*sec, 60*sec)
	}
	sc.Until = 6 * engine.Hour
	sc.Traffic[0].Rate = 2000
	sc.Muster()
	return sc
}

// ofAll is a budget for all pods of the namespace.
func ofAll(unavailable intstr.IntOrString) world.Budget {
	return world.Budget{Value: &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &unavailable, Selector: &metav1.LabelSelector{}},
	}}
}

// Whoever takes nodes away, however: no rule of sim/check is broken, and it comes to its end, or is said to be stuck. What has gone has no pods,
// and what has not joined neither.
func TestAnybodyTakesNodesAway(t *testing.T) {
	t.Parallel()
	const worlds = 300
	stuck := 0
	for seed := range uint64(worlds) {
		sc := anyTaken(seed)
		r, err := begin(sc, seed, Options{})
		if err != nil {
			t.Fatal(err)
		}
		settled, err := r.loop()
		if err == nil {
			r.ledger.Seal()
			err = r.verify(settled)
		}
		of := fmt.Sprintf("world %d, %s %s %s", seed, sc.Actions[0].Verb(), sc.Actions[0].Target(), sc.Actions[0].Value())
		end := r.cluster.CannotEnd()
		if err != nil || !settled && end == nil {
			t.Errorf("%s: settled %v (%s), %v", of, settled, r.cluster.Unrest(), err)
		}
		if end != nil {
			stuck++
		}
		for n := range sc.Nodes {
			if pods := r.cluster.PodsOn(n); r.cluster.Dead(n) && len(pods) > 0 {
				t.Errorf("%s: %s is gone, and has %d pods", of, sc.Nodes[n].Name, len(pods))
			}
		}
	}
	if stuck == 0 || stuck > worlds/2 {
		t.Errorf("%d of %d are stuck", stuck, worlds)
	}
}
