package cluster

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// undo makes the revision before the present one the present one, of those whose ReplicaSet, or ControllerRevision, is there. With
// none there is nothing to go back to, as kubectl rollout undo says (k8s.io/kubectl
// pkg/polymorphichelpers/rollback.go; recalled).
func (w *World) undo(d *api.Workload, a *world.Action) {
	for _, revision := range slices.Backward(d.History[:len(d.History)-1]) {
		if w.keeperOf(d.Workload).Keeps(d, revision) {
			d.Become(revision)
			return
		}
	}
	w.log.Tell(event.Event{Kind: event.NoHistory, Pod: -1, Node: -1, Stream: -1, Workload: d.Workload, Action: a})
}

// NoHistoryWords says that a rollback has nothing to go back to.
func NoHistoryWords(name string) string {
	return fmt.Sprintf("no rollout history found for deployment %q: no ReplicaSet of an earlier revision is left, and nothing is rolled back", name)
}
