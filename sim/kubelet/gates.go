package kubelet

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
)

// seeGates has the kubelet go by the conditions that its watch shows: it works on the pod
// (Kubernetes 1.36 kubelet.go, HandlePodReconcile, and status_manager.go,
// NeedToReconcilePodReadiness; verified). A pod that terminates is being killed, and not worked on.
func (wk *Worker) seeGates(p *api.Pod) {
	if slices.Equal(wk.open, p.Open) {
		return
	}
	wk.open = p.Open
	wk.RequestSync()
}

// gatesOpen says whether all readiness gates are True, as far as the kubelet has seen.
func (wk *Worker) gatesOpen() bool {
	for _, g := range wk.gates {
		if !slices.Contains(wk.open, g) {
			return false
		}
	}
	return true
}
