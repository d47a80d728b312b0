package sweep

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Hundreds of runs of a rollout of thousands of pods are refused before the first of them, with what would be
// possible; a few are not.
func TestALargeRolloutIsNotRunHundredsOfTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		replicas int32
		opts     Options
		refused  bool
	}{
		{5000, Options{Sensitivity: true, Fixes: -1}, false},
		{5001, Options{}, true},
		{5001, Options{Runs: 21}, true},
		{5001, Options{Runs: 20, Sensitivity: true}, true},
		{5001, Options{Runs: 20, Fixes: 1}, true},
		{20000, Options{Runs: 20}, false},
	} {
		units := unitsOf(webCases(t))
		for _, u := range units {
			if u.sc != nil {
				u.sc.Workloads[0].Deployment().Spec.Replicas = &c.replicas
			}
		}
		if err := tooLarge(units, &c.opts); (err != nil) != c.refused {
			t.Errorf("%d pods, %+v: %v", c.replicas, c.opts, err)
		}
	}
	cases := webCases(t)
	many := int32(20000)
	for i := range cases {
		if cases[i].Scenario != nil {
			cases[i].Scenario.Workloads[0].Deployment().Spec.Replicas = &many
		}
	}
	s, err := runKept(context.Background(), t, cases, Options{Progress: func(string, int, int) { t.Error("something is run") }})
	if !errors.As(err, &NotSimulated{}) || !strings.Contains(err.Error(), "at most 5000 pods, or runs 20 (or fewer), sensitivity false and fixes 0") || len(s.Cases) != len(cases) {
		t.Errorf("%v", err)
	}
}

// A run of a large rollout is heavier than its events.
func TestARunOfManyPodsIsHeavy(t *testing.T) {
	t.Parallel()
	cases := webCases(t)
	u := unitsOf(cases)[0]
	u.record.Runs = []record.Run{{Events: 10}}
	if n := u.affordable(); n != mostRuns {
		t.Errorf("%d runs of a small one", n)
	}
	many := int32(5000)
	u.sc.Workloads[0].Deployment().Spec.Replicas = &many
	if n := u.affordable(); n != 7 {
		t.Errorf("%d runs of 5,000 pods", n)
	}
}
