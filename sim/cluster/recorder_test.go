package cluster

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A sync whose Deployment or counts have changed ends with a write of the status, and the worker
// waits for its answer. A write takes 100 ms here: the size of 10 s is in the Deployment at 10.1 s,
// in the ReplicaSet at 10.2 s, in the status at 10.3 s; the one of 10.15 s, in the Deployment at 10.25
// s, is looked at then and is in the ReplicaSet at 10.4 s. Reference: Kubernetes 1.36
// pkg/controller/deployment, syncDeploymentStatus.
func TestASyncEndsWithItsStatus(t *testing.T) {
	t.Parallel()
	b := newBuild(2)
	b.Latency.APIWrite = engine.Constant(100 * ms)
	w := b.start(t, 1)
	sizes := map[int]engine.Time{}
	w.store.Subscribe("test", w.eng.Register("test"), engine.Dist{}, func(o api.Object) {
		if rs := as[*api.ReplicaSet](o); sizes[rs.Replicas] == 0 {
			sizes[rs.Replicas] = w.eng.Now()
		}
	}, api.KindReplicaSet)
	w.do(10*sec, "scale", "web", "3")
	w.do(10150*ms, "scale", "web", "4")
	w.run(30 * sec)
	if sizes[3] != 10200*ms || sizes[4] != 10400*ms {
		t.Errorf("3 pods asked for at %s s, 4 at %s s", sizes[3].Seconds(), sizes[4].Seconds())
	}
}

// Among pods that nothing tells apart the victim is drawn: each of four is the one in some runs, and
// the same one whenever a seed is run again.
func TestEqualVictimsAreDrawn(t *testing.T) {
	t.Parallel()
	count := map[api.PodID]int{}
	for seed := range uint64(60) {
		var victims [2]api.PodID
		for i := range victims {
			w := newBuild(0).start(t, seed)
			w.do(10*sec, "scale", "web", "4") // all created and ready in the same second
			w.do(30*sec, "scale", "web", "3")
			w.run(31 * sec)
			left := map[api.PodID]bool{}
			for _, id := range w.livePods {
				left[id] = true
			}
			for id := range api.PodID(4) {
				if p, ok := w.store.Get(api.PodKey(id)).(*api.Pod); !ok || p.Deleting() {
					victims[i] = id
				}
			}
		}
		if victims[0] != victims[1] {
			t.Errorf("seed %d: pod %d, and then %d", seed, victims[0], victims[1])
		}
		count[victims[0]]++
	}
	for id := range api.PodID(4) {
		if count[id] < 5 {
			t.Errorf("pod %d is the victim in %d of 60 runs: %v", id, count[id], count)
		}
	}
}

// A pod that is deleted with grace 0 is gone from the API within 4 ms, with a deletionTimestamp
// before; its endpoint goes and its successor comes at once, and its process ends when the kubelet
// has ended it, 2 s after SIGTERM if it does not end by itself. Reference:
// docs/model/pod-lifecycle.md 1.6 and 2.1; docs/model/measured.md 1.
func TestAForcedDeletionDoesNotWaitForTheKubelet(t *testing.T) {
	t.Parallel()
	b := newBuild(1).grace(0).app(ignoresTerm)
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "delete", "web#0", "")
	w.run(10*sec + 5*ms)
	if n := len(w.slicesInAPI(0)); n > 1 || n == 1 && w.slicesInAPI(0)[0].ID == 0 {
		t.Errorf("%d endpoints after the object is gone", n)
	}
	w.run(40 * sec)
	deleting, gone, created := w.when("r0 0 running ready=true deleting=true"), w.when("r0 0 gone"), w.when("r0 1 created")
	if deleting != 10*sec || gone < 10*sec+ms || gone > 10*sec+4*ms || created != 10*sec {
		t.Errorf("deletionTimestamp at %s s, gone at %s s, its successor made at %s s", deleting.Seconds(), gone.Seconds(), created.Seconds())
	}
	if killed := w.when("r0 0 ended killed"); killed < 12*sec || killed > 13*sec {
		t.Errorf("killed at %s s", killed.Seconds())
	}
	atRest(t, 1, w, 1)
}

func ignoresTerm(a *world.App) { a.IgnoresSIGTERM, a.Listener = true, world.ListenerStays }
