package control

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// evictionDesk is a desk with pod 0 and a budget of its Deployment, whose status nobody keeps.
func evictionDesk(t *testing.T, status api.BudgetStatus) *testDesk {
	t.Helper()
	d := newDesk(t, 1)
	d.API.ChangedPod = func(_, _ *api.Pod) {}
	d.API.Committed = func(api.Object, engine.Purpose, uint64) {}
	web := map[string]string{"app": "web"}
	d.Workloads[0].Resource = &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: web}}},
	}
	one := intstr.FromInt32(1)
	d.Budgets = []world.Budget{{Value: &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: &metav1.LabelSelector{MatchLabels: web}},
	}}}
	p := d.NewPod(api.ReplicaSetID{})
	p.Phase, p.Ready = api.PhaseRunning, true
	d.API.Put(api.PodKey(p.ID), p)
	d.API.Put(api.BudgetKey(0), &api.Budget{BudgetStatus: status})
	return d
}

// evicted asks for the eviction of a pod at 10 s, and returns the only answer and how long it took.
func (d *testDesk) evicted(id api.PodID) (Answer, engine.Time) {
	d.t.Helper()
	e := NewEvictions(&d.Desk, 36)
	var answers []Answer
	var at engine.Time
	d.at(10*sec, func() {
		e.Evict(d.eng.Register("kubectl"), id, world.OwnGrace, func(a Answer) { answers, at = append(answers, a), d.eng.Now() })
	})
	d.run(engine.Minute)
	if len(answers) != 1 {
		d.t.Fatalf("%d answers: %+v", len(answers), answers)
	}
	return answers[0], at - 10*sec
}

// A pod that is not there cannot be evicted, and that is no failure. Reference: docs/model/controllers.md 6.2 pod missing.
func TestAnEvictionOfAPodThatIsNotThere(t *testing.T) {
	t.Parallel()
	d := evictionDesk(t, api.BudgetStatus{Allowed: 1})
	if got, took := d.evicted(7); got != (Answer{Code: Absent}) || took != 0 {
		t.Errorf("%+v after %v", got, took)
	}
}

// A budget that has recorded more than 2,000 pods which its controller has not seen go refuses with 403, whatever it allows.
// Reference: docs/model/controllers.md 6.2 disruptedPods.
func TestABudgetWithTooManyDisruptedPods(t *testing.T) {
	t.Parallel()
	for recorded, want := range map[int]Code{1999: Evicted, 2000: Evicted, 2001: Impossible} {
		status := api.BudgetStatus{Allowed: 1, Healthy: 3000, Desired: 2999, Expected: 3000}
		for n := range recorded {
			status.Disrupted = append(status.Disrupted, api.Disrupted{Pod: api.PodID(n + 1)})
		}
		d := evictionDesk(t, status)
		got, _ := d.evicted(0)
		if got.Code != want || want == Impossible && !strings.HasPrefix(got.Why, "403: PodDisruptionBudget web (maxUnavailable 1) has recorded more than 2000") {
			t.Errorf("%d recorded: %+v", recorded, got)
		}
		if gone := d.API.Get(api.PodKey(0)) == nil; gone != (want == Evicted) {
			t.Errorf("%d recorded: gone %v", recorded, gone)
		}
	}
}

// An eviction that meets another write of the status each time is answered with the 20th conflict, 19 pauses after it came; where the other
// writer stops before that, it is granted. Reference: docs/model/controllers.md 6.2 conflicts.
func TestAnEvictionThatMeetsConflictsOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		until engine.Time // when the other writer stops
		want  Code
	}{{engine.Minute, Conflict}, {19 * sec, Evicted}, {10 * sec, Evicted}} {
		d := evictionDesk(t, api.BudgetStatus{Allowed: 1, Healthy: 3, Desired: 2, Expected: 3})
		other := d.eng.Register("disruption-controller")
		for at := 9*sec + ms; at < c.until; at += 5 * ms {
			d.at(at, func() {
				d.API.Write(other, "budget status", api.BudgetKey(0), func(o api.Object) api.Object {
					b, _ := o.(*api.Budget)
					next := *b
					return &next
				}, nil)
			})
		}
		got, took := d.evicted(0)
		if got.Code != c.want || c.want == Conflict && !strings.HasPrefix(got.Why, "409: 20 evictions in a row met another change of PodDisruptionBudget web") {
			t.Errorf("until %v: %+v", c.until, got)
		}
		if c.want == Conflict && (took < 19*500*ms || took > 19*550*ms+20*10*ms) {
			t.Errorf("it took %s s", took.Seconds())
		}
		if left := d.API.Get(api.PodKey(0)) != nil; left != (c.want == Conflict) {
			t.Errorf("until %v: the pod is left: %v", c.until, left)
		}
	}
}

// What the eviction API says takes its writes: of the budget's status and the pod where it is granted, none where it is refused.
// Reference: docs/model/measured.md 2 eviction request; docs/model/controllers.md 6.2 disruptionsAllowed > 0.
func TestAnEvictionTakesItsWrites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  api.BudgetStatus
		budgets int
		want    Code
		takes   engine.Time
	}{
		"granted":   {api.BudgetStatus{Allowed: 1, Healthy: 3, Desired: 2, Expected: 3}, 1, Evicted, 20 * ms},
		"refused":   {api.BudgetStatus{Healthy: 2, Desired: 2, Expected: 3}, 1, NotNow, 0},
		"no budget": {api.BudgetStatus{}, 0, Evicted, 10 * ms},
	} {
		d := evictionDesk(t, c.status)
		d.Budgets = d.Budgets[:c.budgets]
		if got, took := d.evicted(0); got.Code != c.want || took != c.takes {
			t.Errorf("%s: %+v after %v", name, got, took)
		}
	}
}

// Why a budget allows no eviction. Reference: docs/model/controllers.md 6.2.
func TestWhyABudgetAllowsNoEviction(t *testing.T) {
	t.Parallel()
	for want, status := range map[string]api.BudgetStatus{
		"PodDisruptionBudget web (maxUnavailable 1) allows no eviction: 2 of 3 pods are ready, and 2 have to be":                                                 {Healthy: 2, Desired: 2, Expected: 3},
		"PodDisruptionBudget web (maxUnavailable 1) allows no eviction: 1 of 1 pod is ready, and 1 has to be":                                                    {Healthy: 1, Desired: 1, Expected: 1},
		"PodDisruptionBudget web (maxUnavailable 1) allows no eviction: it goes by what controllers are to keep, and its pods have none, or none that keeps any": {},
	} {
		d := evictionDesk(t, status)
		if got := NewEvictions(&d.Desk, 36).refusal(0); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
