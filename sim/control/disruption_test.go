package control

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// An eviction notes its pod in the budget's status; the controller takes that for news of this budget and of no other.
func TestNewsOfABudgetAreOfThatBudget(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.API.ChangedPod = func(_, _ *api.Pod) {}
	d.API.Committed = func(api.Object, engine.Purpose, uint64) {}
	for _, app := range []string{"web", "db"} {
		d.Budgets = append(d.Budgets, world.Budget{Value: &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		}})
	}
	c := NewDisruption(&d.Desk)
	c.Begin(nil, []int{0})
	first, second := c.work[0].seen, c.work[1].seen
	d.at(sec, func() {
		d.API.WriteAfter(0, c.Owner, "eviction", api.BudgetKey(1), func(o api.Object) api.Object {
			b, _ := o.(*api.Budget)
			next := *b
			next.Disrupted = []api.Disrupted{{Pod: 0, At: sec}}
			return &next
		}, nil)
	})
	d.run(sec + 5*ms)
	if c.work[0].seen != first || c.work[1].seen == second {
		t.Errorf("seen of the first %+v, of the second %+v", c.work[0].seen, c.work[1].seen)
	}
}
