package cluster

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Random worlds with random actions: at no moment is a promise of the controllers broken, and
// when the actions are over all settles as the Deployment says. The draws are the
// engine's own, so a failing seed is all it takes.
func TestEverythingSettles(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		settle(t, seed)
	}
}

func settle(t *testing.T, seed uint64) {
	t.Helper()
	draws := engine.NewStream(seed, "swarm", "options")
	var count uint64
	pick := func(n int) int { count++; return engine.Below(draws.Draw(count), n) }
	replicas := pick(9)
	b := newBuild(replicas).nodes(pick(4) + 1).drawn().grace(int64(pick(40)))
	fences := [][2]string{{"25%", "25%"}, {"1", "0"}, {"0", "1"}, {"100%", "0"}, {"50%", "50%"}}
	if i := pick(6); i < 5 {
		b.strategy(fences[i][0], fences[i][1])
	} else {
		b.recreate()
	}
	b.d.Spec.MinReadySeconds = int32(pick(2) * pick(8))
	b.container().ReadinessProbe = probe(int32(pick(4)), int32(pick(5)+1), int32(pick(2)+1), 3)
	if pick(2) == 0 {
		b.container().StartupProbe = probe(0, int32(pick(3)+1), 1, 30)
	}
	if pick(2) == 0 {
		b.container().LivenessProbe = probe(10, int32(pick(5)+1), 1, 3)
	}
	b.hook("app", world.Hook{Kind: "sleep", Duration: engine.Constant(engine.Time(pick(50)) * sec / 2)})
	b.app(func(a *world.App) {
		a.Listener, a.InFlight = world.Listener(pick(3)), world.InFlight(pick(2))
		a.IgnoresSIGTERM, a.DrainFor = pick(4) == 0, engine.Time(pick(20))*sec
		a.LivenessFollows, a.DependsOn = pick(2) == 0, []string{"db"}
	})
	w := b.start(t, seed)
	want := replicas
	for i := range engine.Time(pick(8)) {
		at := 10*sec + i*engine.Time(pick(15))*sec + engine.Time(pick(1000))*ms
		switch pick(8) {
		case 0, 1:
			w.do(at, "rolloutRestart", "web", "")
		case 2:
			w.do(at, "rollback", "web", "")
		case 3:
			want = pick(12)
			w.do(at, "scale", "web", fmt.Sprint(want))
		case 4:
			w.do(at, "crashPod", "web#0", "")
		case 5:
			w.do(at, "delete", fmt.Sprintf("web#%d", pick(3)), "")
		case 6:
			w.do(at, "apiserver", "", "down")
			w.do(at+engine.Time(pick(10000))*ms, "apiserver", "", "up")
		case 7:
			w.do(at, "dependency", "db", "down")
			w.do(at+engine.Time(pick(20000))*ms, "dependency", "db", "up")
		}
	}
	w.do(199*sec, "apiserver", "", "up")
	w.do(200*sec, "scale", "web", fmt.Sprint(want))
	w.run(1500 * sec)
	atRest(t, seed, w, want)
}

// forgotten wants no kubelet to have a pod that the API has not.
func forgotten(t *testing.T, seed uint64, w *testWorld) {
	t.Helper()
	for _, k := range w.kubelets {
		for id := range w.World.pods {
			if k.Worker(api.PodID(id)) != nil && w.store.Get(api.PodKey(api.PodID(id))) == nil {
				t.Errorf("seed %d: a kubelet still has %s", seed, w.podName(api.PodID(id)))
			}
		}
	}
}

func atRest(t *testing.T, seed uint64, w *testWorld, want int) {
	t.Helper()
	d := as[*api.Workload](w.store.Get(api.DeploymentKey(0)))
	if d.Replicas != want || len(w.livePods) != want {
		t.Errorf("seed %d: %d pods of %d, want %d", seed, len(w.livePods), d.Replicas, want)
		return
	}
	for _, id := range w.livePods {
		p := as[*api.Pod](w.store.Get(api.PodKey(id)))
		if !p.Ready || p.Revision != d.Revision || p.Deleting() || p.Phase != api.PhaseRunning {
			t.Errorf("seed %d: %s ready %v, phase %d, deleting %v, but the template is r%d", seed, p.Name, p.Ready, p.Phase, p.Deleting(), d.Revision)
		}
		if i := w.Instance(p.IP); i == nil || !i.Accepts() {
			t.Errorf("seed %d: %s is ready and does not accept", seed, p.Name)
		}
	}
	forgotten(t, seed, w)
	for n := range w.Proxies {
		if s := w.Lateness(n); s != nodeproxy.StageDone {
			t.Errorf("seed %d: node %d is late: %s", seed, n, s)
		}
	}
	rs, _ := w.store.Get(api.ReplicaSetKey(api.ReplicaSetID{Workload: 0, Revision: d.Revision})).(*api.ReplicaSet)
	if want > 0 && (rs == nil || rs.Replicas != want || rs.Available != want || rs.Terminating != 0) {
		t.Errorf("seed %d: the ReplicaSet is %+v", seed, rs)
	}
}

// With drawn latencies, at every write: the sizes never add up to more than replicas + surge,
// and never are fewer pods available than replicas - unavailable. Reference:
// docs/model/controllers.md 2.
func TestRolloutBounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		for _, f := range [][2]string{{"25%", "25%"}, {"1", "0"}, {"0", "1"}} {
			replicas := int(seed%10) + 1
			b := newBuild(replicas).nodes(3).drawn().strategy(f[0], f[1])
			b.container().ReadinessProbe = probe(0, 1, 1, 3)
			w := b.start(t, seed)
			surge, unavailable := w.control.Fenceposts(&api.Workload{Replicas: replicas})
			lowest, highest := replicas, replicas
			w.store.Subscribe("test", w.eng.Register("test"), engine.Dist{}, func(api.Object) {
				total, available := 0, 0
				for r := range 2 {
					if rs, ok := w.store.Get(api.ReplicaSetKey(api.ReplicaSetID{Workload: 0, Revision: r})).(*api.ReplicaSet); ok {
						total += rs.Replicas
					}
				}
				for _, id := range w.livePods {
					if p := as[*api.Pod](w.store.Get(api.PodKey(id))); p.Active() && p.Ready {
						available++
					}
				}
				lowest, highest = min(lowest, available), max(highest, total)
			}, api.KindPod, api.KindReplicaSet)
			w.do(10*sec, "rolloutRestart", "web", "")
			w.run(200 * sec)
			if lowest < replicas-unavailable || highest > replicas+surge {
				t.Errorf("seed %d, R=%d, %v: between %d available and %d in all", seed, replicas, f, lowest, highest)
			}
			atRest(t, seed, w, replicas)
		}
	}
}
