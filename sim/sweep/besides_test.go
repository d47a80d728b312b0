package sweep

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// desk is one pod that clients ask through its Service.
const desk = `apiVersion: apps/v1
kind: Deployment
metadata: {name: desk}
spec:
  replicas: 1
  strategy: STRATEGY
  selector: {matchLabels: {app: desk}}
  template:
    metadata: {labels: {app: desk}}
    spec:
      containers:
      - name: desk
        image: example.com/desk
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /, port: 8080}, initialDelaySeconds: 30}
---
apiVersion: v1
kind: Service
metadata: {name: desk}
spec: {selector: {app: desk}, ports: [{port: 8080}]}
`

// lostIn is a run that lost so many requests.
func lostIn(n uint64) []record.Run { return []record.Run{{Groups: []ledger.Group{{Count: n}}}} }

func deskCases(t *testing.T, strategy string, actions ...string) []scenario.Case {
	t.Helper()
	return drainedCases(t, strings.Replace(desk, "STRATEGY", strategy, 1), actions...)
}

// What leaves a little of a long outage is no end of it where a hook is: nodes that have not heard that a pod goes are what is left.
func TestAHookTakesWhatIsLeftOfALongOutage(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string]string{
		"{type: Recreate}": "strategy RollingUpdate, maxUnavailable: 0, preStop: sleep ",
		"{rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}": "maxUnavailable: 0, preStop: sleep ",
	} {
		s := swept(t, deskCases(t, strategy, "rollout"), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
		if len(s.Fixes) == 0 || !strings.HasPrefix(s.Fixes[0].Title, want) {
			t.Fatalf("%s: %+v", strategy, s.Fixes)
		}
		if x := s.Fixes[0].Cases[0].Confirm; x.WithLoss > 0 {
			t.Errorf("%s: %+v", strategy, x)
		}
	}
}

// Where a second pod is what mends all that is done, what mends the rollout without one is there, too, and is not blamed for the drain; a hook alone,
// which has the only pod wait for its successor, is not.
func TestWhatMendsTheRolloutAloneIsThereBesideASecondPod(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string]string{
		"{type: Recreate}": "strategy RollingUpdate, maxUnavailable: 0, preStop: sleep ",
		"{rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}": "maxUnavailable: 0, preStop: sleep ",
	} {
		s := swept(t, deskCases(t, strategy, "rollout", "drain"), Options{Runs: 4, Fixes: 1, ConfirmRuns: 8, Sensitivity: true})
		if len(s.Fixes) < 2 || !s.Fixes[0].Pods {
			t.Fatalf("%s: %+v", strategy, s.Fixes)
		}
		at := slices.IndexFunc(s.Fixes, func(f record.Fix) bool { return strings.HasPrefix(f.Title, want) })
		if at < 0 || s.Fixes[at].Pods {
			t.Fatalf("%s: %+v", strategy, s.Fixes)
		}
		for _, x := range s.Fixes[at].Cases {
			if x.Action == "rolling restart" && x.Confirm.WithLoss > 0 {
				t.Errorf("%s: %+v", strategy, x)
			}
		}
		if len(s.Fixes[at].NotWith) > 6 {
			t.Errorf("%s: not with %v", strategy, s.Fixes[at].NotWith)
		}
		for i := range s.Fixes {
			if strings.HasPrefix(s.Fixes[i].Title, "preStop") {
				t.Errorf("%s: %s", strategy, s.Fixes[i].Title)
			}
		}
	}
}

// A change is a makeshift in all that is done where no other one of the attempt makes it none, in any of it.
func TestAMakeshiftIsOneInAllThatIsDone(t *testing.T) {
	t.Parallel()
	hook := func(why, unless string) fix.Change {
		return fix.Change{ID: "preStop", Makeshift: why, Unless: unless}
	}
	drain, rollout, none := hook("drain", ""), hook("rollout", "maxUnavailable"), hook("", "")
	for name, c := range map[string]struct {
		in, with []fix.Change
		poor     bool
	}{
		"in both":                      {[]fix.Change{rollout, drain}, nil, true},
		"in the drain alone":           {[]fix.Change{none, drain}, nil, false},
		"not with what mends rollouts": {[]fix.Change{drain, rollout}, []fix.Change{{ID: "maxUnavailable"}}, false},
		"nor with a pod more":          {[]fix.Change{drain, rollout}, []fix.Change{{ID: "replicas", Around: fix.Around{Replicas: 2}}}, false},
		"but with anything else":       {[]fix.Change{drain, rollout}, []fix.Change{{ID: "readinessProbe"}}, true},
	} {
		s := &search{makeshift: map[string][]fix.Change{"preStop": c.in}}
		if got := s.poor(&attempt{changes: append(slices.Clone(c.with), drain)}); got != c.poor {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What a change is for decides with which other values it is not enough: with those of what it is not for as much is lost as without it.
func TestAChangeIsJudgedByWhatItIsFor(t *testing.T) {
	t.Parallel()
	s := &search{units: make([]*unit, 2), samples: [][]record.Run{lostIn(100), lostIn(100)}, before: 200}
	for name, c := range map[string]struct {
		of           []uint64
		want         [2]bool
		left, before uint64
	}{
		"the first one":   {[]uint64{1, 100}, [2]bool{true, false}, 1, 100},
		"both":            {[]uint64{1, 2}, [2]bool{true, true}, 3, 200},
		"none in earnest": {[]uint64{60, 70}, [2]bool{true, true}, 130, 200},
	} {
		a := &attempt{of: c.of, lost: c.of[0] + c.of[1]}
		if got := [2]bool{s.isFor(a, 0), s.isFor(a, 1)}; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if left, before := s.leavesOf(a); left != c.left || before != c.before {
			t.Errorf("%s: %d of %d", name, left, before)
		}
	}
}

// A hook is as long as what asks for most, and it is known what does: another value, or the runs as assumed.
func TestWhatAHookIsSoLongForIsKept(t *testing.T) {
	t.Parallel()
	slow := record.OtherValue{ID: "proxy", Value: "minSyncPeriod 10s"}
	var l lates
	l.upTo(&lates{any: 3})
	if l.upTo(&lates{any: 9, by: slow}); l.any != 9 || l.by != slow {
		t.Errorf("%+v", l)
	}
	if l.upTo(&lates{any: 9}); l.by != slow {
		t.Errorf("%+v", l)
	}
	if l.upTo(&lates{any: 10}); l.any != 10 || l.by.ID != "" {
		t.Errorf("%+v", l)
	}
}
