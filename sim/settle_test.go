package sim

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// A world that waits for something that takes longer than a run waits for news is not at rest:
// the rollout goes on to its end.
func TestQuietIsNotSettled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		twist  func(*scenario.Scenario)
		lasts  engine.Time // at least
		settle bool
	}{
		{"an app that takes 45 s to start", func(sc *scenario.Scenario) {
			sc.Workloads[0].App.Start = engine.Constant(45 * sec)
		}, 2 * 45 * sec, true},
		{"minReadySeconds 60", func(sc *scenario.Scenario) {
			sc.Workloads[0].Deployment.Spec.MinReadySeconds = 60
		}, 2 * 60 * sec, true},
		{"a grace period of 90 s, all of it used", func(sc *scenario.Scenario) {
			grace := int64(90)
			sc.Workloads[0].Deployment.Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
			sc.Workloads[0].App.IgnoresSIGTERM = true
		}, 90 * sec, true},
		{"an app that crashes again and again", func(sc *scenario.Scenario) {
			sc.Workloads[0].App.CrashAfter = 20 * sec
		}, 100 * sec, false}, // the first quiet moment after three restarts
		{"a readiness that is never let go", func(sc *scenario.Scenario) {
			sc.Actions = append(sc.Actions, scenario.Action{At: 11 * sec, Verb: "setReady", Target: "web", Value: "false"})
		}, settleTime, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc := plainWorld(2, sec)
			sc.Traffic[0].Rate = 10 * 1000
			c.twist(sc)
			r, err := Run(sc, 1)
			if err != nil {
				t.Fatal(err)
			}
			if r.Settled != c.settle || r.End < c.lasts {
				t.Errorf("settled: %v, at %s s", r.Settled, r.End.Seconds())
			}
		})
	}
}
