package scenario

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Some figures of load balancers are nobody's promise: people measured them and wrote so in issues,
// and their figures differ (docs/model/load-balancers.md 4). A run takes one that is central; a fix
// has to hold over all that was reported, so the least and the most are other values of the
// assumption.

// report is the range that was reported of a field.
type report struct {
	field       string // registration, propagation or healthPropagation
	least, most engine.Time
}

// String is "reported 110-300 s".
func (r report) String() string {
	return fmt.Sprintf("reported %s-%s s", r.least.Seconds(), r.most.Seconds())
}

// nlbReports are those of an NLB: registration and the first checks, new connections to a target
// that was deregistered, and health beyond the checks (aws-load-balancer-controller issues 2366,
// 1834 and 3270, containers-roadmap issue 470).
func nlbReports() []report {
	return []report{
		{"registration", 90 * engine.Second, 180 * engine.Second},
		{"propagation", 110 * engine.Second, 300 * engine.Second},
		{"healthPropagation", 30 * engine.Second, 40 * engine.Second},
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
func albReports() []report {
	return []report{
		{"registration", 5 * engine.Second, 40 * engine.Second},
		{"propagation", 5 * engine.Second, 40 * engine.Second},
	}
}

// albOperation is anything that was reported.
func albOperation() engine.Dist { return span(5*engine.Second, 40*engine.Second) }

// reportOf is what was reported of a field, ok false where it is known or given.
func (l *LoadBalancer) reportOf(field string) (r report, ok bool) {
	if l == nil {
		return report{}, false
	}
	i := slices.IndexFunc(l.reported, func(r report) bool { return r.field == field })
	if i < 0 {
		return report{}, false
	}
	return l.reported[i], true
}

// timing is the field of a report.
func (l *LoadBalancer) timing(field string) *engine.Dist {
	switch field {
	case "registration":
		return &l.Registration
	case "propagation":
		return &l.Propagation
	default:
		return &l.HealthPropagation
	}
}

// matters says whether a field of a stream's load balancer can change anything: targets that are
// nodes come and go only with their nodes.
func (s *Scenario) matters(lb *LoadBalancer, field string) bool {
	if field == "healthPropagation" || lb.Members != MembersAllNodes {
		return true
	}
	return slices.ContainsFunc(s.Actions, func(a Action) bool { return a.Verb == "crashNode" || a.Verb == "scaleDownNode" })
}

// assumeReports lists what was taken where there are only reports.
func (b *builder) assumeReports() {
	for i := range b.out.Traffic {
		lb := b.out.Traffic[i].LB
		if lb == nil {
			continue
		}
		for _, r := range lb.reported {
			if b.out.matters(lb, r.field) {
				b.assume("lb."+r.field, fmt.Sprintf("%s: %s, %s", lb.Preset, lb.timing(r.field), r))
			}
		}
	}
}

// reportedEnds is a Scenario with the least and with the most that was reported of a field.
func reportedEnds(s *Scenario, field string) []Alternative {
	var out []Alternative
	for _, most := range []bool{false, true} {
		changed, value := s.clone(), ""
		for i := range changed.Traffic {
			t := &changed.Traffic[i]
			r, ok := t.LB.reportOf(field)
			if !ok || !s.matters(t.LB, field) {
				continue
			}
			end := r.least
			if most {
				end = r.most
			}
			lb := *t.LB
			*lb.timing(field) = engine.Constant(end)
			t.LB, value = &lb, fmt.Sprintf("%s s (%s)", end.Seconds(), r)
		}
		if value != "" {
			out = append(out, Alternative{"lb." + field, value, changed})
		}
	}
	return out
}
