package cluster

import (
	"reflect"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func TestThePodThatIsDarkLongestIsReplacedFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		steps []int // seconds; negative where a pod went, positive where one came
		want  []engine.Time
		most  int
	}{
		{"nothing happened", nil, nil, 0},
		{"one after the other", []int{-1, 3, -5, 9}, []engine.Time{2 * sec, 4 * sec}, 1},
		{"two at once", []int{-1, -2, 5, 9}, []engine.Time{4 * sec, 7 * sec}, 2},
		{"the successor was there before", []int{1, -4, 5, -9}, []engine.Time{0, 0}, 0},
		{"one successor for two", []int{1, -4, -5, 8}, []engine.Time{0, 3 * sec}, 1},
		{"nobody came", []int{-1, 3, -5, -6}, []engine.Time{2 * sec, 15 * sec, 14 * sec}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newBuild(5).start(t, 1)
			id := api.PodID(100)
			for _, s := range tt.steps {
				w.run(engine.Time(max(s, -s)) * sec)
				if s < 0 {
					w.countUsable(0, api.PodID(len(w.usable[0].dark.gone)), false)
					continue
				}
				id++
				w.countUsable(0, id, true)
			}
			w.run(20 * sec)
			if got, want := w.Dark(0), (Dark{Pods: tt.want, Most: tt.most}); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// Every delay is zero but the app's start, 3 s, and what a preStop hook takes: a pod is dark from
// the end of its hook until its successor, which was made when it was deleted, listens. A
// readiness probe, by which one pod waits for the other, has that wait for the kubelet's relist,
// too: at most a second, and at most another for the probe.
func TestDarkPodsOfARollOut(t *testing.T) {
	t.Parallel()
	sleep := func(s engine.Time) world.Hook {
		return world.Hook{Kind: "sleep", Duration: engine.Constant(s)}
	}
	for _, tt := range []struct {
		name        string
		build       build
		least, most engine.Time // that a pod is dark for
		dark        int         // at once
		probed      bool
	}{
		{"gone before there is another", newBuild(3).strategy("0", "1"), 3 * sec, 3 * sec, 3, false},
		{"after a preStop hook of 1 s", newBuild(3).strategy("0", "1").hook("app", sleep(sec)), 2 * sec, 2 * sec, 3, false},
		{"after one of 4 s", newBuild(3).strategy("0", "1").hook("app", sleep(4*sec)), 0, 0, 0, false},
		{"one at a time", newBuild(3).strategy("0", "1"), 3 * sec, 5 * sec, 1, true},
		{"one more before one less", newBuild(3).strategy("1", "0"), 0, 0, 0, true},
		{"all at once", newBuild(3).recreate(), 3 * sec, 5 * sec, 3, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := tt.build
			b.Workloads[0].App.Start = engine.Constant(3 * sec)
			if tt.probed {
				b.container().ReadinessProbe = probe(0, 1, 1, 3)
			}
			w := b.start(t, 1)
			w.do(10*sec, "rolloutRestart", "web", "")
			w.run(90 * sec)
			d := w.Dark(0)
			if len(d.Pods) != 3 || d.Most != tt.dark {
				t.Errorf("%+v, want 3 pods, %d dark at once", d, tt.dark)
			}
			for _, p := range d.Pods {
				if p < tt.least || p > tt.most {
					t.Errorf("a pod was dark for %s, want %s to %s", p.Seconds(), tt.least.Seconds(), tt.most.Seconds())
				}
			}
		})
	}
}

// The rollout begins with the new template and ends with the last pod that comes or goes: here
// the old one, whose preStop hook sleeps for 7 s from when it is deleted. What happens without a
// new template is none.
func TestLengthOfARollOut(t *testing.T) {
	t.Parallel()
	b := newBuild(1).strategy("1", "0").hook("app", world.Hook{Kind: "sleep", Duration: engine.Constant(7 * sec)})
	b.Workloads[0].App.Start = engine.Constant(3 * sec)
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(90 * sec)
	deleted := w.when("r0 0 running ready=true deleting=true")
	if got, want := w.Dark(0).Rollout, deleted+7*sec-10*sec; got.Seconds() != want.Seconds() {
		t.Errorf("%s s, want %s s", got.Seconds(), want.Seconds())
	}
	w = newBuild(2).start(t, 1)
	w.do(10*sec, "delete", "web", "")
	w.run(60 * sec)
	if d := w.Dark(0); len(d.Pods) == 0 || d.Rollout != 0 {
		t.Errorf("pods were deleted: %+v", d)
	}
}
