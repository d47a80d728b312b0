package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// What is only reported has a range, says so, and what is taken lies in it. What nobody has measured is less than the other values.
func TestReportsOfAPresetAreItsReportedFields(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		for _, f := range p.Fields {
			r, ok := p.LoadBalancer.ReportOf(f.Name)
			if ok != (f.Status == reported || f.Status == inferred && r.Unmeasured) {
				t.Errorf("%s: %s is %s, and there are reports of it: %t", p.ID, f.Name, f.Status, ok)
			}
			if r.Unmeasured {
				if d := p.LoadBalancer.Timing(f.Name); d.String() != f.Value || r.Least >= r.Most || d.Max() >= r.Least {
					t.Errorf("%s: %s is %s, %s", p.ID, f.Name, f.Value, r)
				}
				continue
			}
			if d := p.LoadBalancer.Timing(f.Name); ok && (d.String() != f.Value || r.Least >= r.Most || d.Min() < r.Least || d.Max() > r.Most) {
				t.Errorf("%s: %s is %s, %s", p.ID, f.Name, f.Value, r)
			}
		}
	}
}

// A fix has to hold over the range: its least and its most are other values of an assumption of its
// own, where the field can change anything and nobody has said it.
func TestWhatIsOnlyReportedIsVariedOverItsRange(t *testing.T) {
	t.Parallel()
	const nlb = "registration 90 s (reported 90-180 s), registration 180 s (reported 90-180 s), propagation 110 s (reported 110-300 s), " +
		"propagation 300 s (reported 110-300 s), healthPropagation 30 s (reported 30-40 s), healthPropagation 40 s (reported 30-40 s)"
	for name, tt := range map[string]struct { // order: each for itself
		spec, more string
		opts       Options
		want       string
	}{
		"an NLB with pods as targets": {"type: LoadBalancer", "", Options{LB: "aws-nlb-ip"}, nlb},
		"one with nodes, which stay": {"type: LoadBalancer", "", Options{LB: "aws-nlb-instance"},
			"healthPropagation 30 s (reported 30-40 s), healthPropagation 40 s (reported 30-40 s)"},
		"Google's, whose operations take tens of seconds": {"", anIngress("", "ingressClassName: gce"), Options{},
			"registration 5 s (reported 5-40 s), registration 40 s (reported 5-40 s), propagation 5 s (reported 5-40 s), propagation 40 s (reported 5-40 s)"},
		"an ALB": {"", anIngress("", "ingressClassName: alb"), Options{},
			"registration 5 s (reported 5-40 s), registration 40 s (reported 5-40 s), propagation 5 s (reported 5-40 s), propagation 40 s (reported 5-40 s)"},
		"what is said is not varied": {"", anIngress("", "ingressClassName: alb"), Options{Set: []string{"loadBalancer.propagation=20s"}},
			"registration 5 s (reported 5-40 s), registration 40 s (reported 5-40 s)"},
		"one that nobody has measured": {"type: LoadBalancer", "", Options{LB: "azure-standard"},
			"healthPropagation 1 s (nobody has measured it), healthPropagation 3 s (nobody has measured it)"},
		"one that is not only reported": {"type: LoadBalancer", "", Options{LB: "gke-l4"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inferOne(t, routedWeb(tt.spec, "", tt.more), tt.opts).Scenario
			before := Normal(s)
			var got, rows, changed []string
			for _, a := range s.Assumptions {
				if strings.HasPrefix(a.ID, "lb.") && a.ID != "lb."+repeatedSYN {
					rows = append(rows, a.ID)
				}
			}
			for _, a := range Alternatives(s) {
				field, ok := strings.CutPrefix(a.ID, "lb.")
				if !ok || field == repeatedSYN {
					continue
				}
				got, changed = append(got, field+" "+a.Value), append(changed, a.ID)
				for i := range a.Scenario.Traffic {
					if d := a.Scenario.Traffic[i].LB.Timing(field); !strings.HasPrefix(a.Value, d.Max().Seconds()+" s ") || d.Mean() != d.Max() {
						t.Errorf("%s %s is %s", a.ID, a.Value, d)
					}
				}
			}
			if strings.Join(got, ", ") != tt.want || !slices.Equal(rows, distinct(changed)) {
				t.Errorf("rows %s, tried %s", rows, strings.Join(got, ", "))
			}
			if Normal(s) != before {
				t.Error("the scenario itself was changed")
			}
		})
	}
}

// The longest that was reported is no less than what anybody needed: 300 s for an NLB, 40 s for Google's and an
// ALB. Reference: docs/model/load-balancers.md 4.
func TestTheLongestThatWasReported(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]engine.Time{"aws-nlb-ip": 300 * engine.Second, "gke-l7-neg": 40 * engine.Second, "aws-alb-ip": 40 * engine.Second} { // order: each for itself
		p, _ := presetFor(id, "")
		if r, _ := p.LoadBalancer.ReportOf("propagation"); r.Most != want {
			t.Errorf("%s: %s", id, r)
		}
	}
}

// Of another load balancer that it might be the most that was reported is tried, too: what is enough has to be enough there as it is where
// the input says that it is that one.
func TestAnotherLoadBalancerIsTriedAtItsSlowest(t *testing.T) {
	t.Parallel()
	text := routedWeb("type: LoadBalancer\n  loadBalancerClass: service.k8s.aws/nlb", "", "")
	var got []string
	for _, a := range Alternatives(inferOne(t, text, Options{}).Scenario) {
		if a.ID != "lb" {
			continue
		}
		for i := range a.Scenario.Traffic {
			got = append(got, a.Value+": "+a.Scenario.Traffic[i].LB.Propagation.String())
		}
	}
	p, _ := presetFor("aws-nlb-ip", policyCluster)
	first, most := "aws-nlb-ip: "+p.LoadBalancer.Propagation.String(), "aws-nlb-ip that leaves a removed target after 300 s: 5m0s"
	if want := []string{first, first, most, most}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
