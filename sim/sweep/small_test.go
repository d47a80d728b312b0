package sweep

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/knob"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A Scenario is of interest to users if any of its clients is, and is called by what is done in it, and asked, each once. It is about the workloads
// that its actions name, or else about those that its clients ask: a node is none.
func TestACaseOfAScenario(t *testing.T) {
	t.Parallel()
	sc := &world.Scenario{Name: "mine", Traffic: []world.Traffic{{Name: "a", Headline: true, Service: "shop/web"}, {Name: "b", Service: "shop/api"}}}
	for _, name := range []string{"web", "api", "job"} {
		objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(strings.NewReplacer("name: web", "name: "+name, "app: web", "app: "+name).Replace(web))}}, manifest.Options{})
		if manifest.HasErrors(problems) {
			t.Fatal(problems)
		}
		sc.Workloads = append(sc.Workloads, world.Workload{Resource: objects.Deployments[0].Value})
		sc.Services = append(sc.Services, world.Service{Object: objects.Services[0].Object, Service: objects.Services[0].Value})
	}
	for _, node := range []string{"node-1", "node-2"} {
		sc.Actions = append(sc.Actions, world.Action{Operation: world.CrashNode{Node: node}})
	}
	c := Scenarios([]*world.Scenario{sc})[0]
	if !c.Headline || c.Service != "shop/web" || c.Traffic != "a, b" || c.Action != sc.Actions[0].Verb() || c.Workload != "shop/web, shop/api" || c.Kind != kindScenario {
		t.Errorf("%+v", c)
	}
	sc.Actions = append(sc.Actions, world.Action{Operation: world.CrashPod{Pods: world.Pods{Workload: "shop/job", Number: 1}}}, world.Action{Operation: world.RolloutRestart{Workload: "shop/job"}})
	if c := Scenarios([]*world.Scenario{sc})[0]; c.Workload != "shop/job" {
		t.Errorf("%q", c.Workload)
	}
	quiet := Scenarios([]*world.Scenario{{Name: "nothing is done"}})[0]
	if quiet.Headline || quiet.Action != "no action" || quiet.Workload != "" {
		t.Errorf("%+v", quiet)
	}
}

// Nothing is simulated of a grid that is interrupted before it begins; it would have had 20 runs of each point.
func TestAGridThatIsInterruptedAtOnce(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	build := func([]*knob.Value) ([]scenario.Case, error) {
		t.Error("a point is built")
		return nil, nil
	}
	r, err := Grid(ctx, axesOf(t, "prestop=0s,1s"), build, Options{})
	if err != nil || !r.Interrupted || r.Runs != 20 || r.Seed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A case behind several load balancers is one unit for each; one that is not judged is one.
func TestUnitsOfACase(t *testing.T) {
	t.Parallel()
	families := []world.Family{{Preset: "a"}, {Preset: "b"}}
	units := unitsOf([]scenario.Case{{ID: "judged", Families: families}, {ID: "not judged", Families: families, Verdict: "not-judged"}, {ID: "alone"}})
	var got []string
	for _, u := range units {
		name := u.of.ID
		if u.family != nil {
			name += " " + u.family.Preset
		}
		got = append(got, name)
	}
	if want := []string{"judged a", "judged b", "not judged", "alone"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// More runs than the fewest are for cases of which they could change the word.
func TestHowManyRunsAUnitIsToHave(t *testing.T) {
	t.Parallel()
	of := func(outage func(i int) bool) *unit {
		u := &unit{of: &scenario.Case{}}
		for i := range fewestRuns {
			u.record.Runs = append(u.record.Runs, made(outage(i)))
		}
		u.record.Close()
		return u
	}
	sure, border := of(func(int) bool { return true }), of(func(i int) bool { return i%20 < 9 })
	for stage, want := range map[int][2]int{
		fewestRuns: {fewestRuns, fewestRuns}, fewestRuns + 1: {fewestRuns, fewestRuns + 1}, mostRuns: {fewestRuns, mostRuns},
	} {
		if got := [2]int{sure.upTo(stage), border.upTo(stage)}; got != want {
			t.Errorf("stage %d: %d runs, want %d", stage, got, want)
		}
	}
}

// What lets rollouts go on is looked for as many workloads as fixes are wanted for, and for all of what is done to each of these.
func TestWhichStuckWorkloadsAreLookedAt(t *testing.T) {
	t.Parallel()
	stuck := func(workload, action string) record.Case {
		return record.Case{Workload: workload, Action: action, Verdict: record.Stalled, Stuck: &record.Stuck{}}
	}
	out := &record.Simulation{Cases: []record.Case{stuck("a", "rollout"), stuck("a", "drain"), stuck("b", "rollout"), {Workload: "c", Verdict: record.Drops}, stuck("a", "rollout")}}
	for most, want := range map[int]int{-1: 3, 0: 0, 1: 2, 2: 3} {
		b := &bench{pool: &pool{opts: &Options{Fixes: most}}, out: out}
		if got := b.blocked(); len(got) != want {
			t.Errorf("fixes for %d workloads: %v", most, got)
		}
	}
}

// On a few samples a change that all of them gain by helps, be it one sample.
func TestOneSampleIsEnoughWhereThereIsNoOther(t *testing.T) {
	t.Parallel()
	s := &search{before: 100, samples: [][]record.Run{{{Groups: []ledger.Group{{Count: 100}}}}}}
	for better, want := range map[int]bool{0: false, 1: true} {
		if s.helps(&attempt{lost: 10, of: []uint64{10}, better: better, ran: true}) != want {
			t.Errorf("better in %d runs of one: helps %v", better, !want)
		}
	}
	if s.helps(&attempt{lost: 10, of: []uint64{10}, better: 1, ran: true, stuck: 1}) {
		t.Error("a change with which a run is stuck helps")
	}
}

// Two workloads have a fix each, and each run that is drawn again with a fix is its own. What fails anyway is told apart in both.
func TestTimelinesOfTheFixesOfTwoWorkloads(t *testing.T) {
	t.Parallel()
	text := strings.Replace(web[:strings.LastIndex(web, "---")], "  type: NodePort\n", "  type: NodePort\n  externalTrafficPolicy: Local\n", 1)
	other := strings.ReplaceAll(web[:strings.LastIndex(web, "---")], "web", "api")
	other = strings.Replace(other, "readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}", "imagePullPolicy: Always", 1)
	objects, _ := manifest.Load([]manifest.File{{Name: "two.yaml", Data: []byte(text + "---\n" + other)}}, manifest.Options{})
	cases, problems := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}, Set: []string{"nodes.count=3"}})
	if len(cases) != 2 {
		t.Fatal(problems)
	}
	s := swept(t, cases, Options{Runs: 3, Fixes: -1, ConfirmRuns: 3, Timelines: 2})
	drawn := 0
	for i := range s.Fixes {
		for _, c := range s.Fixes[i].Cases {
			if c.Timeline == nil {
				continue
			}
			drawn++
			var lost, anyway uint64
			for _, l := range c.Timeline.Lost {
				lost, anyway = lost+l.Count, anyway+l.Without
			}
			if lost-anyway > 100 || c.Timeline.End < 10*engine.Second {
				t.Errorf("%s with %s: %d lost, %d of them anyway", c.ID, s.Fixes[i].Title, lost, anyway)
			}
		}
	}
	if s.Cases[0].Timeline == nil || s.Cases[1].Timeline == nil {
		t.Error("not each of two cases is drawn")
	}
	if drawn < 2 {
		t.Errorf("%d runs are drawn with a fix", drawn)
	}
}
