package control

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
)

// A ReplicaSet is written where its size changes, or, as sizes are shared out, where its annotations would: of the size asked for and of how many
// pods there may be, either of which says that it is another (Kubernetes 1.36 pkg/controller/deployment/util/deployment_util.go,
// ReplicasAnnotationsNeedUpdate).
func TestWhichReplicaSetsAreWrittenAsASizeIsShared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		desired, most int // that the ReplicaSet of 4 pods is annotated with; 4 and 5 are right
		size          int
		annotate      bool
		want          bool
	}{
		{"nothing is another", 4, 5, 4, true, false},
		{"another size", 4, 5, 3, false, true},
		{"another size, and annotations", 3, 4, 3, true, true},
		{"another size was asked for", 3, 5, 4, true, true},
		{"another number of pods may be there", 4, 4, 4, true, true},
		{"both, but sizes are not shared out", 3, 4, 4, false, false},
	} {
		annotated := api.ReplicaSet{Replicas: 4, Pods: 4, ReadyPods: 4, Available: 4, Desired: 4, MaxReplicas: 5, ObservedReplicas: 4}
		d := &api.Workload{Replicas: 4, History: []int{0}}
		controller := NewDeployments(&newDesk(t, 1).Desk)
		controller.Begin(d, &annotated, nil)
		annotated.Desired, annotated.MaxReplicas = c.desired, c.most
		controller.apply(d, rolloutInput{replicas: 4, surge: 1, newRS: &annotated}, []scale{{rs: &annotated, size: c.size, annotate: c.annotate}})
		if busy := controller.busy[0]; busy != c.want {
			t.Errorf("%s: waits for an answer: %v", c.name, busy)
		}
	}
}
