package scenario

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Some figures of load balancers are nobody's promise: people measured them and wrote so in issues,
// and their figures differ (docs/model/load-balancers.md 4). A run takes one that is central; a fix
// has to hold over all that was reported, so the least and the most are other values of the
// assumption.

// nlbReports are those of an NLB: registration and the first checks, new connections to a target
// that was deregistered, and health beyond the checks (aws-load-balancer-controller issues 2366,
// 1834 and 3270, containers-roadmap issue 470).
func nlbReports() []world.Report {
	return []world.Report{
		{Field: "registration", Least: 90 * engine.Second, Most: 180 * engine.Second},
		{Field: "propagation", Least: 110 * engine.Second, Most: 300 * engine.Second},
		{Field: "healthPropagation", Least: 30 * engine.Second, Most: 40 * engine.Second},
	}
}

// nlbDeregistration is 130 s in the middle, whatever the deregistration delay is; how far it
// scatters is inferred.
func nlbDeregistration() engine.Dist { return span(115*engine.Second, 145*engine.Second) }

// nlbRegistration and nlbHealthLag are anything that was reported.
func nlbRegistration() engine.Dist { return span(90*engine.Second, 180*engine.Second) }
func nlbHealthLag() engine.Dist    { return span(30*engine.Second, 40*engine.Second) }

// albReports are those of a change of an ALB's targets: preStop hooks of 15 s were too short for
// some, and 25, 40 and 60 s are what people ended with.
func albReports() []world.Report {
	return []world.Report{
		{Field: "registration", Least: 5 * engine.Second, Most: 40 * engine.Second},
		{Field: "propagation", Least: 5 * engine.Second, Most: 40 * engine.Second},
	}
}

// albOperation is anything that was reported.
func albOperation() engine.Dist { return span(5*engine.Second, 40*engine.Second) }

// matters says whether a field of a stream's load balancer can change anything: targets that are
// nodes come and go only with their nodes.
func reportMatters(s *world.Scenario, lb *world.LoadBalancer, field string) bool {
	if field == "healthPropagation" || lb.Members != world.MembersAllNodes {
		return true
	}
	return slices.ContainsFunc(s.Actions, func(a world.Action) bool { return a.Verb == "crashNode" || a.Verb == "scaleDownNode" })
}

// assumeReports lists what was taken where there are only reports.
func (b *builder) assumeReports() {
	for i := range b.out.Traffic {
		lb := b.out.Traffic[i].LB
		if lb == nil {
			continue
		}
		for _, r := range lb.Reported {
			if reportMatters(b.out, lb, r.Field) {
				b.assume("lb."+r.Field, fmt.Sprintf("%s: %s, %s", lb.Preset, lb.Timing(r.Field), r))
			}
		}
	}
}

// reportedEnds is a Scenario with the least and with the most that was reported of a field.
func reportedEnds(s *world.Scenario, field string) []Alternative {
	var out []Alternative
	for _, most := range []bool{false, true} {
		changed, value := s.Clone(), ""
		for i := range changed.Traffic {
			t := &changed.Traffic[i]
			r, ok := t.LB.ReportOf(field)
			if !ok || !reportMatters(s, t.LB, field) {
				continue
			}
			end := r.Least
			if most {
				end = r.Most
			}
			lb := *t.LB
			*lb.Timing(field) = engine.Constant(end)
			t.LB, value = &lb, fmt.Sprintf("%s s (%s)", end.Seconds(), r)
		}
		if value != "" {
			out = append(out, Alternative{"lb." + field, value, changed})
		}
	}
	return out
}
