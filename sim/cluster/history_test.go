package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// history keeps that many old ReplicaSets.
func (b build) history(limit int32) build {
	b.d.Spec.RevisionHistoryLimit = &limit
	return b
}

// sets lists the revisions whose ReplicaSets are in the API, those deleted with their time after a minus.
func (w *testWorld) sets() *[]string {
	var deleted []string
	w.store.Subscribe("test sets", w.eng.Register("test sets"), engine.Dist{}, func(o api.Object) {
		if rs := as[*api.ReplicaSet](o); rs.Gone {
			deleted = append(deleted, fmt.Sprintf("r%d at %s", rs.ID.Revision, w.eng.Now().Seconds()))
		}
	}, api.KindReplicaSet)
	return &deleted
}

// left lists the revisions whose ReplicaSets are in the API.
func (w *testWorld) left() string {
	var out []string
	for r := range 20 {
		if _, ok := w.store.Get(api.ReplicaSetKey(api.ReplicaSetID{Workload: 0, Revision: r})).(*api.ReplicaSet); ok {
			out = append(out, fmt.Sprintf("r%d", r))
		}
	}
	return strings.Join(out, " ")
}

// When a rollout is complete the oldest ReplicaSets go, all but as many as revisionHistoryLimit. Reference:
// docs/model/controllers.md 1 and 2.3.
func TestOldReplicaSetsGoByTheHistoryLimit(t *testing.T) {
	t.Parallel()
	restarts := func(n int) func(*testWorld) {
		return func(w *testWorld) {
			for i := range n {
				w.do(engine.Time(10+20*i)*sec, "rolloutRestart", "web", "")
			}
		}
	}
	for _, c := range []struct {
		name  string
		limit int32 // negative: none
		act   func(*testWorld)
		left  string
	}{
		{"no limit", -1, restarts(4), "r0 r1 r2 r3 r4"},
		{"two are kept", 2, restarts(4), "r2 r3 r4"},
		{"none is kept", 0, restarts(2), "r2"},
		{"ten are kept", 10, restarts(12), "r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12"},
		{"the oldest is the one that was present the longest ago", 1, func(w *testWorld) {
			restarts(1)(w)
			w.do(30*sec, "rollback", "web", "") // r0 is younger than r1 now
			w.do(50*sec, "rolloutRestart", "web", "")
		}, "r0 r2"},
	} {
		b := newBuild(2).strategy("1", "0")
		if c.limit >= 0 {
			b.history(c.limit)
		}
		w := b.start(t, 1)
		c.act(w)
		w.run(400 * sec)
		if got := w.left(); got != c.left {
			t.Errorf("%s: %s, want %s", c.name, got, c.left)
		}
	}
}

// A ReplicaSet that still has pods stays, and so do all while a rollout is not complete.
func TestNoReplicaSetGoesBeforeTheRolloutIsComplete(t *testing.T) {
	t.Parallel()
	b := newBuild(2).strategy("1", "0").history(0).app(neverListens)
	b.container().ReadinessProbe = probe(0, 1, 1, 3)
	w := b.start(t, 1)
	deleted := w.sets()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(300 * sec)
	if w.left() != "r0 r1" || *deleted != nil {
		t.Errorf("%s, deleted %v", w.left(), *deleted)
	}
}

// That of a paused Deployment goes on whether its rollout is complete or not: old ReplicaSets without pods go all the same.
func TestOldReplicaSetsOfAPausedDeploymentGo(t *testing.T) {
	t.Parallel()
	for pause, want := range map[bool]string{false: "r0 r1 r2", true: "r1 r2"} {
		b := newBuild(2).strategy("1", "0").history(1).app(func(a *world.App) { a.DependsOn = []string{"db"} })
		b.container().ReadinessProbe = probe(0, 1, 1, 3)
		w := b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		w.at(30*sec, func() { w.Do(action("dependency", "db", "down")) }) // no further pod becomes ready
		w.do(31*sec, "rolloutRestart", "web", "")
		if pause {
			w.do(35*sec, "pause", "web", "")
		}
		w.run(100 * sec)
		if got := w.left(); got != want {
			t.Errorf("paused %v: %s, want %s", pause, got, want)
		}
	}
}

// Each deletion is a request of the Deployment controller's client, which has 20 a second and a burst of 30.
func TestDeletingReplicaSetsTakesTokens(t *testing.T) {
	t.Parallel()
	spent := func(limit int32) engine.Time {
		b := newBuild(1).strategy("1", "0").history(limit)
		w := b.start(t, 1)
		deleted := w.sets()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(20 * sec)
		if want := map[int32]int{0: 1, 1: 0}[limit]; len(*deleted) != want {
			t.Errorf("limit %d: deleted %v", limit, *deleted)
		}
		return w.deploy.Client.Full
	}
	if more := spent(0) - spent(1); more < 50*ms {
		t.Errorf("a deletion cost %s s of the client's tokens", more.Seconds())
	}
}

// A rollback goes to the newest revision whose ReplicaSet is there. With none left nothing happens but a
// message, as with kubectl.
func TestARollbackToWhatIsGone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit    int32
		revision int
		said     int
	}{{0, 1, 1}, {1, 0, 0}} {
		w := newBuild(2).strategy("1", "0").history(c.limit).start(t, 1)
		said := noHistory{}
		w.hears(said.Record, event.Stories()...)
		w.do(10*sec, "rolloutRestart", "web", "")
		w.do(30*sec, "rollback", "web", "")
		w.run(60 * sec)
		d := as[*api.Workload](w.store.Get(api.DeploymentKey(0)))
		if d.Revision != c.revision || said.times != c.said || w.Unrest() != "" {
			t.Errorf("limit %d: revision %d, said %d times, %q", c.limit, d.Revision, said.times, w.Unrest())
		}
	}
	if got := NoHistoryWords("web"); !strings.HasPrefix(got, `no rollout history found for deployment "web"`) {
		t.Error(got)
	}
}

type noHistory struct{ times int }

func (n *noHistory) Record(e event.Event) {
	if e.Kind == event.NoHistory {
		n.times++
	}
}

// A paused Deployment loses its surplus without a rollout.
func TestAPausedDeploymentTidiesUp(t *testing.T) {
	t.Parallel()
	w := newBuild(2).strategy("1", "0").history(1).start(t, 1)
	w.do(10*sec, "rolloutRestart", "web", "")
	w.at(30*sec, func() { w.sc.Workloads[0].Deployment().Spec.RevisionHistoryLimit = new(int32) })
	w.do(40*sec, "pause", "web", "")
	w.run(60 * sec)
	if w.left() != "r1" {
		t.Errorf("%s", w.left())
	}
}
