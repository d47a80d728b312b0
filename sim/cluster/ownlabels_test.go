package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// led is a StatefulSet of some pods, each on a node of its own, of which an operator has labelled the first; its Service leads to that alone.
func led(pods int) build {
	b := newBuild(pods).nodes(pods + 1).stateful(nil)
	b.svc.Spec.Selector = map[string]string{"app": "web", "role": "primary"}
	for n := range pods {
		role := "replica"
		if n == 0 {
			role = "primary"
		}
		b.Workloads[0].Placed = append(b.Workloads[0].Placed, world.Placed{Node: b.Nodes[n].Name, Ready: true, Labels: map[string]string{"app": "web", "role": role}})
	}
	return b
}

// leads has the last budget cover pods of a role.
func (b build) leads(role string) build {
	b.Budgets[len(b.Budgets)-1].Value.Spec.Selector.MatchLabels = map[string]string{"app": "web", "role": role}
	return b
}

// A Service selects pods by the labels that they have, whatever their template says, and the one that replaces such a pod has those of the template:
// nobody labels it.
func TestPodsHaveLabelsOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := led(3).drained(nil, "node-1").acts(t)
	w.at(9*sec, func() {
		if got := w.ids(); !slices.Equal(got, []api.PodID{0}) {
			t.Errorf("as they stand: %v", got)
		}
	})
	w.run(100 * sec)
	next, there := w.store.Get(api.PodKey(3)).(*api.Pod)
	if got := w.ids(); len(got) != 0 || !there || next.Called() != "default/web-0" && next.Called() != "web-0" || !next.Ready || next.Labels != nil {
		t.Errorf("afterwards: %v, %+v", got, next)
	}
	if s := w.CannotEnd(); s != nil || w.Unrest() != "" {
		t.Errorf("%+v, %s", s, w.Unrest())
	}
}

// Of a pod that the Service does not select it loses nothing.
func TestADrainOfAPodThatTheServiceDoesNotSelect(t *testing.T) {
	t.Parallel()
	w := led(3).drained(nil, "node-2").acts(t)
	w.run(100 * sec)
	if got := w.ids(); !slices.Equal(got, []api.PodID{0}) {
		t.Errorf("%v", got)
	}
}

// A budget of the pods of one role counts these. What lets the drain go on where it covers the only one of them is another one: no other number in the
// budget. A workload of one pod has no other. Two budgets of different roles are no two over one pod.
func TestBudgetsGoByLabelsOfPodsOwn(t *testing.T) {
	t.Parallel()
	const moved = "another pod labelled in its place, which its operator does in a switchover (not simulated)"
	for _, tt := range []struct {
		name, what string
		b          build
	}{
		{"the primary's", moved, led(3).budget("minAvailable 1").leads("primary").drained(nil, "node-1")},
		{"the primary's, and a replica is drained", "", led(3).budget("minAvailable 1").leads("primary").drained(nil, "node-2")},
		{"one of each role", moved, led(3).budget("minAvailable 1").leads("primary").budget("minAvailable 1").leads("replica").drained(nil, "node-1")},
		{"one of each role, and a replica is drained", "", led(3).budget("minAvailable 1").leads("primary").budget("minAvailable 1").leads("replica").drained(nil, "node-2")},
		{"two of a role", "one PodDisruptionBudget for a pod", led(3).budget("minAvailable 1").leads("primary").budget("minAvailable 1").drained(nil, "node-1")},
		{"the only pod", "maxUnavailable 1, at a time when an outage", led(1).budget("minAvailable 1").leads("primary").drained(nil, "node-1")},
	} {
		w := tt.b.acts(t)
		w.run(100 * sec)
		s := w.CannotEnd()
		if got := s != nil; got != (tt.what != "") || got && (!s.Drain || !strings.HasPrefix(s.What, tt.what)) {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}
}
