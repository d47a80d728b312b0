package sweep

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// A hook that the grace period cuts is given its time: that is the smaller change, and where a longer hook is for other values of what is assumed,
// that it does as much as assumed is said of it.
func TestAHookThatIsCutIsGivenItsTimeAlone(t *testing.T) {
	t.Parallel()
	cut := readiness + "\n        lifecycle: {preStop: {exec: {command: [sleep, \"20\"]}}}\n      terminationGracePeriodSeconds: 1"
	s := simulate(t, "  replicas: 2", cut, scenario.Options{}, Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
	if len(s.Fixes) == 0 || s.Fixes[0].Title != "terminationGracePeriodSeconds: 30" || s.Fixes[0].Cases[0].Confirm.WithLoss != 0 {
		t.Errorf("%+v", s.Fixes)
	}
	grace := &attempt{changes: []fix.Change{{ID: "terminationGracePeriodSeconds", Title: "grace"}}, ran: true}
	longer := fix.Change{ID: "preStop", Sleep: engine.Second, Has: []string{"terminationGracePeriodSeconds"}}
	for name, c := range map[string]struct {
		a    *attempt
		lost uint64
		want bool
	}{
		"a longer hook":                     {&attempt{changes: []fix.Change{longer}}, 0, true},
		"with another change":               {&attempt{changes: []fix.Change{longer, {ID: "budget"}}}, 0, true},
		"the time alone is not enough":      {&attempt{changes: []fix.Change{longer}}, 100, false},
		"a hook that is not a part of that": {&attempt{changes: []fix.Change{{ID: "preStop", Sleep: engine.Second}}}, 0, false},
	} {
		grace.lost = c.lost
		first, alone := (&search{singles: []*attempt{grace}, before: 100}).firstOf(c.a)
		if (alone == grace) != c.want || len(first.changes) != len(c.a.changes) {
			t.Errorf("%s: %v, %v", name, first.ids(), alone)
		}
	}
	whole := &attempt{changes: []fix.Change{longer}, ran: true}
	grace.lost = 100
	if _, alone := (&search{singles: []*attempt{whole, grace}, before: 100}).firstOf(&attempt{changes: []fix.Change{longer}}); alone != nil {
		t.Errorf("%v does as much by itself as it does", alone.ids())
	}
}

// Each manifest is one mistake away from losing nothing: the fix is the end of that mistake,
// and it holds on new seeds up to what no manifest can change.
func TestTheFixIsTheEndOfTheMistake(t *testing.T) {
	t.Parallel()
	const confirmed = 30
	const sleep = "\n        lifecycle: {preStop: {sleep: {seconds: 15}}}"
	for name, c := range map[string]struct {
		deployment, container string
		want, noHelp          string // in the title
	}{
		"no preStop": {"  replicas: 2", readiness, "preStop: sleep", "terminationGracePeriodSeconds"},
		// A hook that outlasts the start of the successor would do, too, by the fallback.
		"a pod may be missing": {"  replicas: 1\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}", readiness + "\n        lifecycle: {preStop: {sleep: {seconds: 3}}}", "maxUnavailable: 0, maxSurge: 1", "terminationGracePeriodSeconds"},
		// A hook alone would do while an app starts within 2 s, as assumed, and not with 20 s: it only hides that no pod is there.
		"both of these":          {"  replicas: 1\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}", readiness, "maxUnavailable: 0, maxSurge: 1 (needs room for one pod more), preStop: sleep 15", "terminationGracePeriodSeconds"},
		"no readiness probe":     {"  replicas: 2", sleep, "readinessProbe on port 8080", "terminationGracePeriodSeconds"},
		"strategy Recreate":      {"  replicas: 2\n  strategy: {type: Recreate}", readiness + sleep, "strategy RollingUpdate", "terminationGracePeriodSeconds"},
		"killed while it starts": {"  replicas: 1", readiness + sleep + "\n        livenessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1, failureThreshold: 1}", "startupProbe like the livenessProbe", "terminationGracePeriodSeconds"},
		"nothing at all":         {"  replicas: 2", readiness + sleep, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := simulate(t, c.deployment, c.container, scenario.Options{}, Options{Runs: 5, Fixes: 1, ConfirmRuns: confirmed, Sensitivity: name == "both of these"})
			if c.want == "" {
				if s.Cases[0].WithLoss != 0 || len(s.Fixes)+len(s.NoHelp) != 0 {
					t.Errorf("%d runs with loss, and fixes for them %+v", s.Cases[0].WithLoss, s.Fixes)
				}
				return
			}
			if len(s.Fixes) == 0 || !strings.HasPrefix(s.Fixes[0].Title, c.want) {
				t.Fatalf("%+v, want %s", s.Fixes, c.want)
			}
			f := s.Fixes[0].Cases[0]
			if f.Before != s.Cases[0].LostSeconds || f.Before.Median == 0 || 20*f.After.Median > f.Before.Median {
				t.Errorf("lost %v before and %v after", f.Before, f.After)
			}
			if f.Runs != 5 || f.Confirm.Runs != confirmed || 5*f.Confirm.WithLoss > confirmed {
				t.Errorf("%d runs, confirmed by %+v", f.Runs, f.Confirm)
			}
			for _, left := range f.Confirm.Left {
				if left != "keepalive-race" {
					t.Errorf("%s is left", left)
				}
			}
			found := false
			for _, n := range s.NoHelp {
				found = found || strings.HasPrefix(n.Title, c.noHelp)
			}
			if !found {
				t.Errorf("%v says nothing of %s", s.NoHelp, c.noHelp)
			}
		})
	}
}

// nginx is known to finish its requests and to close its listener: an unknown app may not.
func TestSensitivity(t *testing.T) {
	t.Parallel()
	const sleep = "\n        lifecycle: {preStop: {sleep: {seconds: 5}}}"
	s := simulate(t, "  replicas: 2", readiness+sleep, scenario.Options{}, Options{Runs: 5, Sensitivity: true})
	c := &s.Cases[0]
	if e, _ := c.EffectOf("proxy"); e != record.VerdictEffect || c.Verdict != record.Holds {
		t.Errorf("a hook of 5 s outlasts minSyncPeriod 1 s and not 10 s: %s; %v", c.Verdict, c.Alternatives)
	}
	if e, tried := c.EffectOf("image"); e != record.NoEffect || !tried {
		t.Errorf("a pull makes the roll-out longer, nothing else: %s", e)
	}
	if _, tried := c.EffectOf("sigterm"); tried {
		t.Error("what nginx does at SIGTERM is known")
	}
	first := s.Cases[0].Alternatives
	again := simulate(t, "  replicas: 2", readiness+sleep, scenario.Options{}, Options{Runs: 5, Sensitivity: true, Workers: 1})
	for i, a := range again.Cases[0].Alternatives {
		if a != first[i] {
			t.Errorf("%v with one worker, %v with several", a, first[i])
		}
	}
}

// The time that sessions have no server is worth mending, though what failed raced with the end of a connection; where more requests
// failed than that, they are what counts.
func TestTimeWithoutAServerIsWorthMending(t *testing.T) {
	t.Parallel()
	race := []ledger.Group{{Blame: ledger.Blame{Cause: ledger.KeepaliveRace}, Count: 1}}
	for want, s := range map[uint64]record.Stream{
		200: {LostSeconds: 2 * engine.Second, DarkSeconds: 2 * engine.Second},
		0:   {LostSeconds: 2 * engine.Second, DarkSeconds: engine.Second},
	} {
		if got := fixable(&record.Run{Streams: []record.Stream{s}, Groups: race}); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}
