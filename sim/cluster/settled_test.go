package cluster

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What is kept pod by pod, view by view and from Plan to Plan is at every moment of a rollout
// what one would compute from nothing: the settled endpoints from the pods in the API, the
// settled view from them, every node's Plan from its view, and whether slices are settled.
func TestWhatIsKeptIsWhatItWouldBeAnew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		b    build
		each int // compare after so many events
	}{
		{"no hints", zoned(104, "a", "b", "c"), 29},
		{"hints for zones", zoned(104, "a", "b", "c").distribute("PreferSameZone"), 29},
		{"hints for nodes", zoned(7, "a", "b", "c").distribute("PreferSameNode"), 3},
		{"shares", zoned(104, "a", "b", "c").auto(), 29},
		{"a Local policy", zoned(7, "a", "b", "c").local(), 3},
		{"not ready published", func() build { b := zoned(7, "a", "b"); b.svc.Spec.PublishNotReadyAddresses = true; return b }(), 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := c.b.drawn().hook("app", sleepHook(2*sec))
			b.container().ReadinessProbe = probe(0, 1, 1, 3)
			w := b.start(t, 3)
			w.do(10*sec, "rolloutRestart", "web", "")
			w.do(20*sec, "scale", "web", "5")
			w.at(24*sec, func() { w.deletePod(w.owner, w.livePods[0]) })
			asked := 0
			for n := 0; w.eng.Now() < 40*sec; n++ {
				ok, err := w.eng.Step()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				if n%c.each == 0 { // not after every event: several changes have to be followed at once, too
					asked++
					w.compareWithAnew(t)
				}
			}
			if asked < 50 {
				t.Errorf("compared %d times only", asked)
			}
		})
	}
}

func (w *testWorld) compareWithAnew(t *testing.T) {
	t.Helper()
	var pods api.PodList
	for _, id := range w.livePods {
		pods = append(pods, as[*api.Pod](w.store.Get(api.PodKey(id))))
	}
	want := w.EndpointsOf(nil, 0, nil, []api.PodList{pods})
	if h := w.services[0].hints; h.Mode == world.HintsProportional {
		have := w.slicesInAPI(0)
		h.Proportional(have, want, endpointslice.Pack(have, want), w.sc.Nodes)
	}
	same := slices.EqualFunc(w.settledEndpoints(0), want, endpointslice.Entry.Same)
	agrees := slices.EqualFunc(w.slicesInAPI(0), want, endpointslice.Entry.Same)
	if !same || w.slicesSettled() != agrees {
		t.Fatalf("at %s s: settled %v; the slices agree %v, said to %v", w.eng.Now().Seconds(), same, agrees, w.slicesSettled())
	}
	anew := endpoints.NewCache(w.sc.Kubernetes.Options)
	anew.SetService(w.sc.Services[0].Service)
	anew.PutSlice(w.buildSlice(0, 0, 0, want))
	name := endpoints.ServiceName{Namespace: "default", Name: "web"}
	for node, p := range w.Proxies {
		comparePlans(t, "settled", w.planOf(w.settledView(), node).Service(name), plan.Build(anew.Snapshot(), p.PlanNode()).Service(name))
		comparePlans(t, "installed", w.Rules(node).Service(name), plan.Build(p.Installed().Snapshot, p.PlanNode()).Service(name))
	}
}

// comparePlans compares whom a Service's frontends lead to, and how.
func comparePlans(t *testing.T, what string, got, want *plan.Service) {
	t.Helper()
	text := func(s *plan.Service) string {
		out := ""
		for i := range s.Frontends {
			f := &s.Frontends[i]
			out += fmt.Sprint(f.Key, f.Routes, addresses(f.Lists.Cluster), addresses(f.Lists.Local))
		}
		return out
	}
	if g, x := text(got), text(want); g != x {
		t.Fatalf("%s: got\n%s\nwant\n%s", what, g, x)
	}
}

func addresses(list []plan.Target) (out []string) {
	for _, target := range list {
		out = append(out, target.Addr.String())
	}
	return out
}
