package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// shops are so many Deployments with their Services, alike but for their names.
func shops(t *testing.T, n int) []scenario.Case {
	t.Helper()
	var text strings.Builder
	for i := range n {
		own := strings.ReplaceAll(web[:strings.LastIndex(web, "---")], "web", fmt.Sprintf("shop%d", i))
		fmt.Fprintf(&text, "---\n%s", strings.ReplaceAll(own, "example.com/shop", "example.com/web"))
	}
	objects, problems := manifest.Load([]manifest.File{{Name: "shops.yaml", Data: []byte(text.String())}}, manifest.Options{})
	cases, more := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || len(cases) != n {
		t.Fatalf("%d cases, %v %v", len(cases), problems, more)
	}
	return cases
}

func TestEveryWorkloadGetsItsFixAndEqualOnesAreOneRecord(t *testing.T) {
	t.Parallel()
	s := swept(t, shops(t, 3), Options{Runs: 5, Fixes: -1, ConfirmRuns: 20})
	if len(s.Fixes) == 0 || !strings.HasPrefix(s.Fixes[0].Title, "preStop: sleep ") {
		t.Fatalf("fixes %+v", s.Fixes)
	}
	f := &s.Fixes[0]
	all := append([]string{f.Workload}, f.Others...)
	if slices.Sort(all); !slices.Equal(all, []string{"shop/shop0", "shop/shop1", "shop/shop2"}) {
		t.Errorf("it helps %q", all)
	}
	if len(f.Cases) != 3 {
		t.Errorf("and was tried on %d cases", len(f.Cases))
	}
	lines := map[int]bool{f.Edits[0].Line: true}
	for i, o := range f.OtherEdits {
		if o.Workload != f.Others[i] || len(o.Edits) != len(f.Edits) || lines[o.Edits[0].Line] {
			t.Errorf("%s: edits %+v", o.Workload, o.Edits)
		}
		lines[o.Edits[0].Line] = true
	}
	if len(f.OtherEdits) != 2 {
		t.Errorf("%d other workloads have edits", len(f.OtherEdits))
	}
	if one := swept(t, shops(t, 2), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20}); len(one.Fixes[0].Others) != 0 {
		t.Errorf("only one workload was asked for: %q", one.Fixes[0].Others)
	}
}

// What is recommended has a size that people know, outlasts what nodes may be late by with the other values of what the loss
// depends on, and stands with its YAML; the least that would do as assumed is said, too.
func TestTheRecommendedHookHoldsWithOtherValuesToo(t *testing.T) {
	t.Parallel()
	s := simulate(t, "  replicas: 2", readiness, scenario.Options{}, Options{Runs: 10, Fixes: -1, ConfirmRuns: 20, Sensitivity: true})
	if len(s.Fixes) == 0 {
		t.Fatal("no fix")
	}
	f := &s.Fixes[0]
	// With minSyncPeriod 10 s a node that has just synced for another Service waits for up to 10 s after the deletion; a hook of
	// 10 s has no second to spare.
	if f.Title != "preStop: sleep 15" || len(f.NotWith) > 0 {
		t.Errorf("%s, not with %v", f.Title, f.NotWith)
	}
	var least int
	if _, err := fmt.Sscanf(f.Least, "%d s", &least); err != nil || least < 1 || least > 4 {
		t.Errorf("least %q: minSyncPeriod is 1 s", f.Least)
	}
	want := []string{"lifecycle:", "  preStop:", "    sleep: {seconds: 15}"}
	if !slices.Equal(f.Edits[0].YAML(), want) {
		t.Errorf("paste %q", f.Edits[0].YAML())
	}
}

// A change that saves less than half of the loss is no fix, nor is one that as many runs are worse with as chance makes better.
func TestAFixHalvesTheLoss(t *testing.T) {
	t.Parallel()
	s := &search{before: 100, samples: [][]record.Run{make([]record.Run, sampleRuns)}}
	for name, c := range map[string]struct {
		attempt attempt
		want    bool
	}{
		"half, in every run":           {attempt{lost: 50, better: 5, ran: true}, true},
		"less than half, in every run": {attempt{lost: 51, better: 5, ran: true}, false},
		"all, but in some runs only":   {attempt{lost: 0, better: 3, worse: 2, ran: true}, false},
		"it was cut short":             {attempt{lost: 0, better: 5}, false},
	} {
		if s.helps(&c.attempt) != c.want {
			t.Errorf("%s: helps %v", name, !c.want)
		}
	}
	// 10 a run before, on 20 runs; 5 a run after, on 200 new ones.
	if !halved(200, 20, 1000, 200) || halved(200, 20, 1001, 200) || halved(200, 20, 0, 0) {
		t.Error("half of the loss, on as many runs as there are")
	}
}

// Two ports of a workload need not have the same remedy: what halves the loss of one of them helps, unless another one loses more, or it is
// hardly any of the loss.
func TestAFixMayHalveTheLossOfOneCaseAlone(t *testing.T) {
	t.Parallel()
	lost := func(n uint64) []record.Run {
		return []record.Run{{Groups: []ledger.Group{{Count: n}}}}
	}
	for name, c := range map[string]struct {
		before, after [2]uint64
		want          bool
	}{
		"one port of two":          {[2]uint64{600, 400}, [2]uint64{590, 100}, true},
		"the other one loses more": {[2]uint64{600, 400}, [2]uint64{700, 100}, false},
		"it is hardly any loss":    {[2]uint64{960, 40}, [2]uint64{960, 0}, false},
		"none is halved":           {[2]uint64{600, 400}, [2]uint64{400, 250}, false},
	} {
		s := &search{before: c.before[0] + c.before[1], samples: [][]record.Run{lost(c.before[0]), lost(c.before[1])}}
		a := &attempt{lost: c.after[0] + c.after[1], of: c.after[:], better: 2, ran: true}
		if s.helps(a) != c.want {
			t.Errorf("%s: helps %v", name, !c.want)
		}
	}
}

// A hook for the nodes is none for an app that takes 20 s to start while its only pod is on the way out: that the fix holds as
// assumed only is in its record.
func TestAFixThatHoldsAsAssumedOnlyIsMarked(t *testing.T) {
	t.Parallel()
	const missing = "  replicas: 1\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"
	s := &search{workload: "shop/web", pool: &pool{ctx: t.Context(), opts: &Options{Seed: 1}}}
	u := &unit{sc: oneCase(t, missing, readiness, scenario.Options{})[0].Scenario, of: &scenario.Case{}}
	s.units = []*unit{u}
	s.pool.extend(s.units, func(*unit) int { return 2 })
	u.record.Close()
	sensitivity(s.pool, s.units)
	hook := fix.Shorter(u.sc, u.sc.Workload("shop/web"), 5)
	a := &attempt{changes: []fix.Change{*hook}}
	got := s.notWith(a)
	if !slices.ContainsFunc(got, func(o record.OtherValue) bool { return o.ID == "start" }) || s.robust(a) {
		t.Errorf("not with %v", got)
	}
	// So is another value that makes no difference to the manifest as it is.
	for i, alt := range u.everyAlternative() {
		if alt.ID == "start" || alt.ID == "churn" {
			u.indifferent = append(u.indifferent, i)
		}
	}
	got = s.brokenBy(a)
	if !slices.ContainsFunc(got, func(o record.OtherValue) bool { return o.ID == "start" }) || slices.ContainsFunc(got, func(o record.OtherValue) bool { return o.ID == "churn" }) {
		t.Errorf("broken by %v", got)
	}
}

// What is reported of a load balancer is kept for changes also where it makes no difference to the manifest: a hook makes one of it.
func TestReportsOfALoadBalancerMatterToChanges(t *testing.T) {
	t.Parallel()
	run := record.Run{Streams: []record.Stream{{Totals: ledger.Totals{OK: 100}}}}
	u := &unit{record: record.Case{Runs: []record.Run{run, run}}}
	u.record.Close()
	for i, id := range []string{"lb.propagation", "start"} {
		(&trial{unit: u, index: i, alt: scenario.Alternative{ID: id, Value: "40s"}, runs: []record.Run{run, run}}).close()
	}
	if len(u.others) != 1 || u.others[0].index != 0 || !slices.Equal(u.indifferent, []int{1}) {
		t.Errorf("others %+v, indifferent %v", u.others, u.indifferent)
	}
}

// How the news of a deleted pod spreads does not depend on who asks: it is measured with clients that hardly do.
func TestLatenessDoesNotDependOnTheClients(t *testing.T) {
	t.Parallel()
	for _, family := range balanced(t, "none", "aws-nlb-ip")[0].Families {
		sc := family.Scenario
		quiet := fix.Patient(sc, "shop/web")
		loud := *quiet
		loud.Traffic = sc.Traffic
		var late [2]engine.Time
		for i, world := range []*world.Scenario{quiet, &loud} {
			recorder := &story.Recorder{}
			if _, err := sim.RunWith(world, 1, sim.Options{Events: recorder.Log(nil)}); err != nil {
				t.Fatal(err)
			}
			late[i] = fix.Lateness(recorder.Events())
		}
		if late[0] != late[1] || late[0] == 0 {
			t.Errorf("%s: %s s late with few requests, %s s with all of them", family.Name, late[0].Seconds(), late[1].Seconds())
		}
	}
}

// A load balancer that is late needs another hook than one that is not; each family has what was confirmed for it.
func TestAFixIsOneForTheLoadBalancersItWasConfirmedFor(t *testing.T) {
	t.Parallel()
	s := swept(t, balanced(t, "none", "aws-nlb-ip"), Options{Runs: 6, Fixes: -1, ConfirmRuns: 20})
	families := s.Cases[0].Families
	title := func(f *record.Fix) string {
		if f == nil {
			return ""
		}
		return f.Title
	}
	if a, b := title(families[0].Fix), title(families[1].Fix); a == b || b == "" {
		t.Errorf("%q without a load balancer, %q with a late one", a, b)
	}
	for i := range s.Fixes {
		if f := &s.Fixes[i]; len(f.Families) != 1 {
			t.Errorf("%s for %q", f.Title, f.Families)
		}
	}
}

// A process that takes no notice of SIGTERM is not given more time: it would only be killed later.
func TestNoGraceForAProcessThatIgnoresSIGTERM(t *testing.T) {
	t.Parallel()
	s := simulate(t, "  replicas: 2", readiness, scenario.Options{Profile: "ignores"}, Options{Runs: 5, Fixes: -1, ConfirmRuns: 20})
	for i := range s.Fixes {
		if strings.Contains(s.Fixes[i].Title, "terminationGracePeriodSeconds") {
			t.Errorf("%s", s.Fixes[i].Title)
		}
	}
	for _, n := range s.NoHelp {
		if strings.Contains(n.Title, "terminationGracePeriodSeconds") {
			t.Errorf("%s was tried", n.Title)
		}
	}
}

// Where all that ends the loss may break what the manifest was written for, the change that helps most and breaks nothing is
// looked for, too.
func TestAHarmlessChangeStandsBesideADestructiveOne(t *testing.T) {
	t.Parallel()
	s := simulate(t, "  replicas: 1\n  strategy: {type: Recreate}", "        readinessProbe: {httpGet: {path: /, port: 8080}}", scenario.Options{}, Options{Runs: 10, Fixes: -1, ConfirmRuns: 20})
	if len(s.Fixes) != 2 || s.Fixes[0].Destructive == "" || s.Fixes[1].Destructive != "" || s.Fixes[1].Title != "readinessProbe.periodSeconds: 1" {
		t.Fatalf("fixes %+v", s.Fixes)
	}
	if c := s.Fixes[1].Cases[0].Confirm; c.LostSeconds.Median == 0 || 2*c.LostSeconds.Median > s.Cases[0].LostSeconds.Median {
		t.Errorf("it leaves %+v of %+v", c.LostSeconds, s.Cases[0].LostSeconds)
	}
}

// A node whose only pod is terminating goes on sending to it for as long as it serves: that is no lateness that a hook has to
// outlast. A hook that outlasts minSyncPeriod has the node hear of the pod's end at once.
func TestAHookIsNotSolvedForTheLastPodOfANode(t *testing.T) {
	t.Parallel()
	text := strings.Replace(web, "type: NodePort", "type: NodePort\n  externalTrafficPolicy: Local", 1)
	s := swept(t, casesOf(t, text), Options{Runs: 6, Fixes: -1, ConfirmRuns: 20})
	if len(s.Fixes) == 0 || !strings.HasPrefix(s.Fixes[0].Title, "preStop: sleep 5") {
		t.Fatalf("fixes %+v", s.Fixes)
	}
	if x := s.Fixes[0].Cases[0]; x.Before.Median == 0 || 2*x.Confirm.LostSeconds.Median > x.Before.Median {
		t.Errorf("%+v before, %+v after", x.Before, x.Confirm.LostSeconds)
	}
}

// Where something fails without the action, too, a run is two: what is tried with it is less.
func TestAPairWeighsWhatItsRunsDo(t *testing.T) {
	t.Parallel()
	run := record.Run{Events: 100, Streams: []record.Stream{{Before: 50}}}
	u := &unit{record: record.Case{Runs: []record.Run{run}}}
	alone := u.weight()
	if u.record.Before = []record.Before{{What: "node-3 never answers"}}; alone != 151 || u.weight() != 2*alone {
		t.Errorf("weighs %d alone, and %d in pairs", alone, u.weight())
	}
}

// Workloads that are the same but for names have the other values of one of them, and say whose they are.
func TestOtherValuesOfAnotherWorkloadAreMarked(t *testing.T) {
	t.Parallel()
	s := swept(t, shops(t, 2), Options{Runs: 3, Sensitivity: true})
	if own := &s.Cases[0]; own.TriedWith != "" || len(own.Alternatives) == 0 {
		t.Errorf("the first has %d of %q", len(own.Alternatives), own.TriedWith)
	}
	if other := &s.Cases[1]; other.TriedWith != s.Cases[0].ID || !slices.Equal(other.Alternatives, s.Cases[0].Alternatives) {
		t.Errorf("the second has those of %q", other.TriedWith)
	}
}
