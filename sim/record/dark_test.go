package record

import (
	"reflect"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// dark makes a case that is not judged, with one run for each list of dark times, in seconds.
func dark(runs ...[]engine.Time) *Case {
	c := &Case{ID: "x", Verdict: NotJudged, Reason: "clients choose the pod"}
	for i, pods := range runs {
		r := Run{Seed: uint64(i + 1), Settled: true, Usable: Usable{Of: 3, Min: 3 - i}}
		r.Dark = DarkRun{Most: i, Rollout: engine.Time(10*i) * engine.Second}
		for _, p := range pods {
			r.Dark.Pods = append(r.Dark.Pods, p*engine.Second)
		}
		c.Runs = append(c.Runs, r)
	}
	c.Close()
	return c
}

func TestDarkPodsOverRuns(t *testing.T) {
	t.Parallel()
	c := dark([]engine.Time{0, 0}, []engine.Time{4, 9, 3}, []engine.Time{5, 6})
	const s = int64(engine.Second)
	want := Dark{Pods: Range{0, 4 * s, 9 * s}, Most: Range{0, 1, 2}, Rollout: Range{0, 10 * s, 20 * s}}
	if c.Dark == nil || !reflect.DeepEqual(*c.Dark, want) {
		t.Errorf("%+v, want %+v", c.Dark, want)
	}
	if c.WorstSeed != 2 || c.Usable.Min != 1 {
		t.Errorf("worst seed %d, %+v", c.WorstSeed, c.Usable)
	}
	if c.Verdict != NotJudged || c.Reason != "clients choose the pod" || c.Bound != 0 || c.WithLoss != 0 || c.Fails(Limits{}) {
		t.Errorf("something is claimed of it: %+v", c)
	}
}

// The order is said where every run had the same.
func TestTheOrderInWhichPodsGo(t *testing.T) {
	t.Parallel()
	for _, second := range [][]string{{"web-1", "web-0"}, {"web-0", "web-1"}} {
		c := dark([]engine.Time{4, 4}, []engine.Time{4, 4})
		c.Runs[0].Dark.Order, c.Runs[1].Dark.Order = []string{"web-1", "web-0"}, second
		c.Close()
		if same := second[0] == "web-1"; same != (len(c.Dark.Order) == 2) {
			t.Errorf("%v and %v: %v", c.Runs[0].Dark.Order, second, c.Dark.Order)
		}
	}
}

func TestNothingToSayOfDarkPods(t *testing.T) {
	t.Parallel()
	if c := dark(); c.Dark != nil {
		t.Errorf("no run was done: %+v", c.Dark)
	}
	if c := dark(nil, nil); c.Dark == nil || c.Dark.Pods != (Range{}) || c.WorstSeed != 1 {
		t.Errorf("no pod went: %+v, worst seed %d", c.Dark, c.WorstSeed)
	}
	if c := runs(0, 0, 0); c.Verdict != Holds || c.Dark != nil {
		t.Errorf("a case with a verdict: %+v", c.Dark)
	}
}
