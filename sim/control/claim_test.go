package control

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
)

// Of the pods that a ReplicaSet has released it takes back those whose labels fit again, but none that ends, and releases its own whose labels do
// not fit, whether they end or not. Reference: Kubernetes 1.36 pkg/controller/controller_ref_manager.go, ClaimObject.
func TestWhichPodsAReplicaSetClaims(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.Workloads[0].Resource = &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	pod := func(id api.PodID, app string, edit func(p *api.Pod)) *api.Pod {
		p := &api.Pod{ID: id, DeletedAt: api.Never}
		if app != "" {
			p.Labels = map[string]string{"app": app}
		}
		if edit != nil {
			edit(p)
		}
		return p
	}
	ends := func(p *api.Pod) { p.DeletedAt = sec }
	failed := func(p *api.Pod) { p.Phase = api.PhaseFailed }
	s := &setWork{
		pods:   api.PodList{pod(0, "", nil), pod(1, "web", nil), pod(2, "debug", nil), pod(3, "debug", ends), pod(4, "web", ends)},
		strays: api.PodList{pod(5, "web", nil), pod(6, "debug", nil), pod(7, "web", ends), pod(8, "web", failed)},
	}
	release, adopt := NewReplicaSets(&d.Desk).toClaim(s)
	ids := func(pods []*api.Pod) (out []api.PodID) {
		for _, p := range pods {
			out = append(out, p.ID)
		}
		return out
	}
	if got := ids(release); !slices.Equal(got, []api.PodID{2, 3}) {
		t.Errorf("released: %v", got)
	}
	if got := ids(adopt); !slices.Equal(got, []api.PodID{5}) {
		t.Errorf("adopted: %v", got)
	}
}
