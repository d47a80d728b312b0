package control

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Reference: Kubernetes 1.36 pkg/controller/deployment/rolling.go, rolloutRolling,
// reconcileNewReplicaSet, reconcileOldReplicaSets.
func TestRollingUpdateStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                         string
		replicas, surge, unavailable int
		new                          *api.ReplicaSet
		old                          []*api.ReplicaSet
		want                         string
	}{
		{"nothing is left to do", 4, 1, 1, set(1, 4, 4), []*api.ReplicaSet{set(0, 0, 0)}, ""},
		{"up as far as surge allows", 10, 3, 2, set(1, 0, 0), []*api.ReplicaSet{set(0, 10, 10)}, "r1 3"},
		{"never above replicas", 4, 4, 0, set(1, 3, 3), []*api.ReplicaSet{set(0, 1, 1)}, "r1 4"},
		{"a new set above replicas comes down first", 4, 1, 1, set(1, 6, 6), []*api.ReplicaSet{set(0, 2, 2)}, "r1 4"},
		{"no room: the old set shrinks by what may be unavailable", 4, 1, 1, set(1, 1, 0), []*api.ReplicaSet{set(0, 4, 4)}, "r0 3"},
		{"only one direction a sync", 4, 1, 1, set(1, 1, 1), []*api.ReplicaSet{set(0, 3, 3)}, "r1 2"},
		{"unavailable 0: an old pod waits for an available new one", 4, 1, 0, set(1, 1, 0), []*api.ReplicaSet{set(0, 4, 4)}, ""},
		{"unavailable 0: and goes when there is one", 4, 1, 0, set(1, 1, 1), []*api.ReplicaSet{set(0, 4, 4)}, "r0 3"},
		{"surge 0: the old set shrinks before the new one grows", 4, 0, 1, set(1, 0, 0), []*api.ReplicaSet{set(0, 4, 4)}, "r0 3"},
		{"one replica with surge", 1, 1, 0, set(1, 1, 1), []*api.ReplicaSet{set(0, 1, 1)}, "r0 0"},
		{"unhealthy old pods go first, the oldest set's before the others'", 6, 2, 1, set(2, 0, 0),
			[]*api.ReplicaSet{set(0, 4, 2), set(1, 4, 3)}, "r0 2, r1 3"},
		{"unhealthy clean-up and normal scale-down add up", 4, 0, 2, set(1, 0, 0), []*api.ReplicaSet{set(0, 4, 3)}, "r0 2"},
		{"crash-looping new pods do not let old ones go", 10, 3, 2, set(1, 5, 0), []*api.ReplicaSet{set(0, 8, 7)}, ""},
		{"rollback: 4 of the crash-looping pods may go", 10, 3, 2, set(2, 8, 7), []*api.ReplicaSet{set(1, 5, 0)}, "r1 1"},
		{"roll over: unhealthy pods of two old sets", 10, 3, 2, set(2, 0, 0), []*api.ReplicaSet{set(0, 8, 8), set(1, 5, 0)}, "r1 0"},
		{"a status that is behind blocks the scale-down", 4, 1, 1, set(1, 2, 2), []*api.ReplicaSet{set(0, 3, 4)}, ""},
		{"... but not what was cleaned up before it", 8, 0, 2, set(2, 0, 0), []*api.ReplicaSet{set(0, 4, 3), set(1, 4, 5)}, "r0 3"},
		{"scaled to 0 while rolling: all old pods", 0, 0, 0, set(1, 0, 0), []*api.ReplicaSet{set(0, 3, 3)}, "r0 0"},
	} {
		in := rolloutInput{replicas: c.replicas, surge: c.surge, unavailable: c.unavailable, rolling: true, newRS: c.new, oldRSs: c.old}
		if got := sizes(rollingUpdate(in)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// The steps of whole rolling updates in which every pod becomes available before the next
// sync. Reference: the same; the bounds are the Deployment's documented promise.
func TestRollingUpdateKeepsItsPromise(t *testing.T) {
	t.Parallel()
	for replicas := 1; replicas <= 20; replicas++ {
		for _, f := range [][2]string{{"25%", "25%"}, {"1", "0"}, {"0", "1"}, {"0", "0"}, {"100%", "0"}, {"0", "100%"}, {"30%", "10%"}} {
			s, u := world.Fenceposts(replicas, intstr.Parse(f[0]), intstr.Parse(f[1]))
			in := rolloutInput{replicas: replicas, surge: s, unavailable: u, rolling: true, newRS: set(1, 0, 0), oldRSs: []*api.ReplicaSet{set(0, replicas, replicas)}}
			steps := 0
			for ; steps < 1000; steps++ {
				scales := rollingUpdate(in)
				if len(scales) == 0 {
					break
				}
				if len(scales) > 1 {
					t.Fatalf("R=%d %v: two directions: %s", replicas, f, sizes(scales))
				}
				for rs := range in.all() {
					if rs == scales[0].rs {
						rs.Replicas = scales[0].size
						rs.Available = min(rs.Available, rs.Replicas)
					}
				}
				if in.total() > replicas+s || in.available() < replicas-u {
					t.Fatalf("R=%d %v: %d pods, %d available", replicas, f, in.total(), in.available())
				}
				in.newRS.Available = in.newRS.Replicas
			}
			if in.newRS.Replicas != replicas || in.oldRSs[0].Replicas != 0 {
				t.Errorf("R=%d %v: stuck after %d steps at %d and %d", replicas, f, steps, in.newRS.Replicas, in.oldRSs[0].Replicas)
			}
		}
	}
}

// Reference: Kubernetes 1.36 pkg/controller/deployment/sync.go, scale;
// util/deployment_util.go, GetReplicaSetProportion, IsSaturated, FindActiveOrLatest.
func TestRescale(t *testing.T) {
	t.Parallel()
	with := func(rs *api.ReplicaSet, desired, most int) *api.ReplicaSet {
		rs.Desired, rs.MaxReplicas = desired, most
		return rs
	}
	for _, c := range []struct {
		name            string
		replicas, surge int
		recreate        bool
		new             *api.ReplicaSet
		old             []*api.ReplicaSet
		want            string
	}{
		{"the only active set gets the whole size", 7, 2, false, set(1, 0, 0), []*api.ReplicaSet{set(0, 4, 4)}, "r0 7"},
		{"none is active: the new one", 3, 1, false, set(1, 0, 0), []*api.ReplicaSet{set(0, 0, 0)}, "r1 3"},
		{"none is active and there is no new one: the newest", 3, 1, false, nil, []*api.ReplicaSet{set(0, 0, 0), set(1, 0, 0)}, "r1 3"},
		{"a change of template and size scales the old set first", 6, 2, false, nil, []*api.ReplicaSet{with(set(0, 4, 4), 4, 5)}, "r0 6"},
		{"up in proportion: 10 to 20 of 8 and 5 with surge 3", 20, 5, false, with(set(1, 5, 5), 10, 13), []*api.ReplicaSet{with(set(0, 8, 8), 10, 13)}, "r0 15, r1 10"},
		{"down in proportion", 5, 2, false, with(set(1, 5, 5), 10, 13), []*api.ReplicaSet{with(set(0, 8, 8), 10, 13)}, "r0 4, r1 3"},
		{"equal sizes: the newer grows first", 6, 0, false, with(set(1, 2, 2), 4, 4), []*api.ReplicaSet{with(set(0, 2, 2), 4, 4)}, "r1 3, r0 3"},
		{"the leftover goes to the largest", 5, 0, false, with(set(1, 1, 1), 4, 4), []*api.ReplicaSet{with(set(0, 3, 3), 4, 4)}, "r0 4, r1 1"},
		{"to 0", 0, 0, false, with(set(1, 2, 2), 4, 5), []*api.ReplicaSet{with(set(0, 3, 3), 4, 5)}, "r0 0, r1 0"},
		{"nothing to share: only annotations", 4, 1, false, with(set(1, 2, 2), 5, 6), []*api.ReplicaSet{with(set(0, 3, 3), 5, 6)}, "r0 3, r1 2"},
		{"a saturated new set: the old ones go", 2, 1, false, with(set(1, 2, 2), 2, 3), []*api.ReplicaSet{with(set(0, 1, 1), 4, 5)}, "r0 0"},
		{"... all of them where the new one is to have no pod and has none", 0, 1, false, set(2, 0, 0), []*api.ReplicaSet{with(set(0, 1, 1), 4, 5), with(set(1, 3, 3), 4, 5)}, "r0 0, r1 0"},
		{"a new set of the whole size that is not available yet: the old one stays", 2, 1, false, with(set(1, 2, 1), 2, 3), []*api.ReplicaSet{with(set(0, 1, 1), 4, 5)}, "r0 1, r1 2"},
		{"Recreate shares nothing", 6, 0, true, with(set(1, 2, 2), 4, 4), []*api.ReplicaSet{with(set(0, 2, 2), 4, 4)}, ""},
	} {
		in := rolloutInput{replicas: c.replicas, surge: c.surge, rolling: !c.recreate, newRS: c.new, oldRSs: c.old}
		if got := sizes(rescale(in)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func sizes(scales []scale) string {
	var out []string
	for _, s := range scales {
		out = append(out, fmt.Sprintf("r%d %d", s.rs.ID.Revision, s.size))
	}
	return strings.Join(out, ", ")
}

// What rounding leaves of a change of size goes to the largest ReplicaSet, the newest of equal ones.
// Reference: Kubernetes 1.36 pkg/controller/deployment/sync.go, scale; docs/model/controllers.md 2.
func TestRoundingGoesToTheLargest(t *testing.T) {
	t.Parallel()
	sets := make([]*api.ReplicaSet, 3)
	for i := range sets {
		sets[i] = &api.ReplicaSet{ID: api.ReplicaSetID{Workload: 0, Revision: i}, Created: engine.Time(i), Replicas: 2, Available: 2, Desired: 6, MaxReplicas: 6}
	}
	in := rolloutInput{replicas: 7, rolling: true, newRS: sets[2], oldRSs: sets[:2]}
	sum := map[int]int{}
	for _, s := range rescale(in) {
		sum[s.rs.ID.Revision] = s.size
	}
	if sum[0] != 2 || sum[1] != 2 || sum[2] != 3 { // 2 x 7/6 rounds to 2, one is left
		t.Errorf("sizes by revision: %v", sum)
	}
}

// set makes a ReplicaSet of a size with so many available pods.
func set(revision, size, available int) *api.ReplicaSet {
	return &api.ReplicaSet{ID: api.ReplicaSetID{Workload: 0, Revision: revision}, Created: engine.Time(revision) * sec, Replicas: size, Available: available}
}

// A ReplicaSet keeps its share of a Deployment that is scaled in the middle of a rollout: by what the Deployment was when it wrote the
// ReplicaSet's annotations. Reference: docs/model/controllers.md 2; Kubernetes 1.36 pkg/controller/deployment/util, getReplicaSetFraction.
func TestTheShareOfAReplicaSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                    string
		has, most               int // pods, and those of the Deployment then, with surge
		replicas, allowed, want int
	}{
		{"twice as many", 3, 4, 8, 8, 3},
		{"half as many", 4, 8, 4, 4, -2},
		{"rounded half up", 1, 2, 3, 3, 1},
		{"the only pod of a Deployment without surge", 1, 1, 3, 3, 2},
		{"none are left", 3, 4, 0, 0, -3},
		{"one that no Deployment has written to", 3, 0, 8, 8, 0},
	} {
		if got := fraction(&api.ReplicaSet{Replicas: c.has, MaxReplicas: c.most}, c.replicas, c.allowed); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
