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

// A Deployment is scaled as long as a ReplicaSet that has pods was written for another size. What an old one without pods was written for says
// nothing: it would keep every later rollout waiting (Kubernetes 1.36 pkg/controller/deployment/sync.go, isScalingEvent: FilterActiveReplicaSets).
func TestWhenADeploymentIsBeingScaled(t *testing.T) {
	t.Parallel()
	sized := func(revision, size, desired int) *api.ReplicaSet {
		s := set(revision, size, size)
		s.Desired = desired
		return s
	}
	for _, c := range []struct {
		name string
		new  *api.ReplicaSet
		old  []*api.ReplicaSet
		want bool
	}{
		{"none is there", nil, nil, false},
		{"as it was written", sized(1, 4, 4), nil, false},
		{"as it was written, in the middle of a rollout", sized(1, 1, 4), []*api.ReplicaSet{sized(0, 3, 4)}, false},
		{"the new one was for another size", sized(1, 4, 3), nil, true},
		{"an old one with pods was", sized(1, 1, 4), []*api.ReplicaSet{sized(0, 3, 3)}, true},
		{"an old one without pods was", sized(1, 4, 4), []*api.ReplicaSet{sized(0, 0, 3)}, false},
		{"the new one without pods was", sized(1, 0, 3), []*api.ReplicaSet{sized(0, 3, 4)}, false},
	} {
		if got := scaling(rolloutInput{replicas: 4, newRS: c.new, oldRSs: c.old}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
