package cluster

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Reference: Kubernetes 1.36 pkg/controller/deployment/util: ResolveFenceposts (surge rounds
// up, unavailable down, both 0 make one unavailable), MaxUnavailable (not above replicas).
func TestFenceposts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		surge, unavailable string
		want               string // "surge/unavailable" for replicas 0 to 20
	}{
		{"25%", "25%", "0/0 1/0 1/0 1/0 1/1 2/1 2/1 2/1 2/2 3/2 3/2 3/2 3/3 4/3 4/3 4/3 4/4 5/4 5/4 5/4 5/5"},
		{"0%", "25%", "0/0 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/2 0/2 0/2 0/2 0/3 0/3 0/3 0/3 0/4 0/4 0/4 0/4 0/5"},
		{"100%", "0", "0/0 1/0 2/0 3/0 4/0 5/0 6/0 7/0 8/0 9/0 10/0 11/0 12/0 13/0 14/0 15/0 16/0 17/0 18/0 19/0 20/0"},
		{"1", "5", "1/0 1/1 1/2 1/3 1/4 1/5 1/5 1/5 1/5 1/5 1/5 1/5 1/5 1/5 1/5 1/5 1/5 1/5 1/5 1/5 1/5"},
		{"0", "0", "0/0 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1"},
	} {
		var got []string
		for r := range 21 {
			s, u := world.Fenceposts(r, intstr.Parse(c.surge), intstr.Parse(c.unavailable))
			got = append(got, fmt.Sprintf("%d/%d", s, u))
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("surge %s unavailable %s:\n got %s\nwant %s", c.surge, c.unavailable, g, c.want)
		}
	}
}

// story records every change of the ReplicaSets' sizes.
func (w *testWorld) story() {
	last := map[int]int{0: w.replicas(0)}
	w.store.Subscribe("test sets", w.eng.Register("test"), engine.Dist{}, func(o api.Object) {
		rs := as[*api.ReplicaSet](o)
		if n, ok := last[rs.ID.Revision]; !ok || n != rs.Replicas {
			w.note("size r%d %d", rs.ID.Revision, rs.Replicas)
		}
		last[rs.ID.Revision] = rs.Replicas
	}, api.KindReplicaSet)
}

func (w *testWorld) sizeSteps() string {
	var out []string
	for _, l := range w.lines {
		if _, s, ok := strings.Cut(l, " size "); ok {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// A whole rolling update of 4 replicas, 25 %/25 %: surge 1, unavailable 1. Sandbox and app
// take no time; a pod is Ready at the relist after its start, at .4 s here.
func TestRollingUpdateStory(t *testing.T) {
	t.Parallel()
	b := newBuild(4)
	b.Latency.Sandbox = engine.Constant(10 * ms)
	w := b.start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	w.story()
	w.do(10*sec, "rolloutRestart", "deployment/web", "")
	w.run(60 * sec)
	w.want("size",
		"10 size r1 1",   // created with the surge
		"10 size r0 3",   // the same sync goes on: one may be unavailable
		"10 size r1 2",   // there is room again
		"10.4 size r0 1", // both new pods are ready: 5 are available, 3 have to be
		"10.4 size r1 4", // 5 in all
		"11.4 size r0 0", // both of these are ready, too
	)
}

func TestRolloutStories(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		build build
		act   func(w *testWorld)
		want  string
	}{
		{"surge 0: the new set is made with 0", newBuild(2).strategy("0", "1"),
			func(w *testWorld) { w.do(10*sec, "rolloutRestart", "web", "") },
			"r1 0, r0 1, r1 1, r0 0, r1 2"},
		{"one replica: surge, then removal", newBuild(1),
			func(w *testWorld) { w.do(10*sec, "rolloutRestart", "web", "") },
			"r1 1, r0 0"},
		{"Recreate: nothing, then everything", newBuild(3).recreate(),
			func(w *testWorld) { w.do(10*sec, "rolloutRestart", "web", "") },
			"r0 0, r1 3"},
		{"a paused rollout stays, and goes on", newBuild(2).strategy("1", "0"),
			func(w *testWorld) {
				w.do(10*sec, "rolloutRestart", "web", "")
				w.do(10*sec+5*ms, "pause", "web", "")
				w.do(30*sec, "note", "", "")
				w.do(40*sec, "resume", "web", "")
			},
			"r1 1, -, r0 1, r1 2, r0 0"},
		{"paused, a new size still counts", newBuild(2),
			func(w *testWorld) {
				w.do(10*sec, "pause", "web", "")
				w.do(20*sec, "rolloutRestart", "web", "")
				w.do(30*sec, "scale", "web", "5")
			},
			"r0 5"},
		{"rollback to the old set, which is not made again", newBuild(2).strategy("1", "0"),
			func(w *testWorld) {
				w.do(10*sec, "rolloutRestart", "web", "")
				w.do(30*sec, "note", "", "")
				w.do(30*sec, "rollback", "web", "")
				w.do(60*sec, "note", "", "")
				w.do(60*sec, "rollback", "web", "")
			},
			"r1 1, r0 1, r1 2, r0 0, -, r0 1, r1 1, r0 2, r1 0, -, r1 1, r0 1, r1 2, r0 0"},
		{"scaled while rolling: in proportion", newBuild(4).strategy("1", "0").app(neverListens),
			func(w *testWorld) {
				w.do(10*sec, "rolloutRestart", "web", "")
				w.do(20*sec, "scale", "web", "8")
			},
			"r1 1, r0 7, r1 2"},
	} {
		b := c.build
		b.container().ReadinessProbe = probe(0, 1, 1, 3)
		b.Latency.Sandbox = engine.Constant(10 * ms)
		w := b.start(t, 1)
		w.story()
		c.act(w)
		w.run(200 * sec)
		if got := w.sizeSteps(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
