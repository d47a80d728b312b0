package sweep

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// balanced is the case of a Service of type LoadBalancer with policy Local, behind each of some load balancers.
func balanced(t *testing.T, presets ...string) []scenario.Case {
	t.Helper()
	const local = "  type: LoadBalancer\n  externalTrafficPolicy: Local\n"
	cases := webOn(t, local, scenario.Options{LB: presets[0]})[:1]
	for _, preset := range presets {
		own := webOn(t, local, scenario.Options{LB: preset})
		cases[0].Families = append(cases[0].Families, world.Family{Preset: preset, Name: preset, Scenario: own[0].Scenario})
	}
	return cases
}

// Each load balancer that it might be is a case of its own; what is said of all of them is what they have in common.
func TestEveryLoadBalancerThatItMightBeHasItsVerdict(t *testing.T) {
	t.Parallel()
	s := swept(t, balanced(t, "none", "aws-nlb-ip", "gke-l4-local"), Options{Runs: 10})
	if len(s.Cases) != 1 || len(s.Cases[0].Families) != 3 {
		t.Fatalf("%d cases, %d families", len(s.Cases), len(s.Cases[0].Families))
	}
	c := &s.Cases[0]
	words := map[record.Verdict]bool{}
	var most int64
	for i := range c.Families {
		f := &c.Families[i]
		words[f.Case.Verdict] = true
		most = max(most, f.Case.LostSeconds.Median)
		if len(f.Case.Runs) != 10 || f.Case.ID != c.ID {
			t.Errorf("%s: %d runs of %s", f.Preset, len(f.Case.Runs), f.Case.ID)
		}
	}
	if c.LostSeconds.Median != most || most == 0 {
		t.Errorf("the case loses %d, the worst of its families %d", c.LostSeconds.Median, most)
	}
	if len(words) < 2 || c.Verdict != record.Depends {
		t.Errorf("%s of %v", c.Verdict, words)
	}
	if !c.Fails(record.Limits{}) || !c.Fails(record.Limits{FailOn: record.Depends}) {
		t.Error("something is lost behind one of them, and it is no finding")
	}
	same := swept(t, balanced(t, "aws-nlb-ip", "aws-nlb-ip"), Options{Runs: 3}).Cases[0]
	if same.Verdict != same.Families[0].Case.Verdict || same.Verdict == record.Depends {
		t.Errorf("%s, and all of them are %s", same.Verdict, same.Families[0].Case.Verdict)
	}
}

// As many runs as it takes: a hundred where there is no doubt.
func TestAsManyRunsAsItTakes(t *testing.T) {
	t.Parallel()
	s := swept(t, webCases(t), Options{})
	for i := range s.Cases {
		c := &s.Cases[i]
		want := fewestRuns
		if c.Verdict == record.NotJudged {
			want = expectedRuns
		}
		if len(c.Runs) != want {
			t.Errorf("%s, %s: %d runs, want %d", c.ID, c.Verdict, len(c.Runs), want)
		}
	}
	heavyRun := &unit{of: &scenario.Case{}, record: record.Case{Runs: []record.Run{{Events: 4 * heavy}}}}
	if n := heavyRun.upTo(fewestRuns); n != fewestRuns/4 {
		t.Errorf("a run of four times as many events is done %d times", n)
	}
	heavyRun.record.Runs[0].Events = 1000 * heavy
	if n := heavyRun.upTo(fewestRuns); n != few {
		t.Errorf("a run that takes minutes is done %d times", n)
	}
}
