package scenario

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Some figures of load balancers are nobody's promise: people measured them and wrote so in issues,
// and their figures differ (docs/model/load-balancers.md 4). A run takes one that is central; a fix
// has to hold over all that was reported, so the least and the most are other values of the
// assumption.

// Unmeasured is how the value of such an assumption ends, and in brackets each other value of it, where there is not even a report: what is taken
// is a conclusion, and a case that holds by it may hold by little.
const Unmeasured = world.Unmeasured

// reportedFields lists the fields of which that may be so, in the order in which they are assumed.
func reportedFields() []string { return []string{"registration", "propagation", "healthPropagation"} }

// reportMatters says whether a field of a stream's load balancer can change anything: targets that are
// nodes come and go only with their nodes.
func reportMatters(s *world.Scenario, lb *world.LoadBalancer, field string) bool {
	if field == "healthPropagation" || lb.Members != world.MembersAllNodes {
		return true
	}
	return slices.ContainsFunc(s.Actions, func(a world.Action) bool { return world.NodesGo(a.Operation) })
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

// repeatedSYN is a field of load balancers that some makers say nothing of.
const repeatedSYN = "repeatedSYN"

// assumeRepeatedSYNs lists what was taken where no maker says where a repeated SYN goes.
func (b *builder) assumeRepeatedSYNs() {
	for i := range b.out.Traffic {
		if t := &b.out.Traffic[i]; synsMatter(b.out, t) {
			b.assume("lb."+repeatedSYN, fmt.Sprintf("%s: %s", t.LB.Preset, synWords(t.LB.RepeatedSYN)))
		}
	}
}

// synsMatter says whether it is unknown where a stream's repeated SYNs go, and can change anything: targets that are nodes leave
// with their nodes, or where their health check port says that none of them has a pod.
func synsMatter(s *world.Scenario, t *world.Traffic) bool {
	return t.LB != nil && t.LB.SYNUnknown && t.Protocol != endpoints.UDP && (t.LB.Check.Probe == world.ProbeHealthPort || reportMatters(s, t.LB, "propagation"))
}

func synWords(s world.RepeatedSYN) string {
	if s == world.SYNStays {
		return "stays with its target"
	}
	return "goes where new connections go by then"
}

// otherSYNs is a Scenario whose repeated SYNs go the other way, for each way that is assumed.
func otherSYNs(s *world.Scenario, field string) []Alternative {
	var out []Alternative
	for _, assumed := range []world.RepeatedSYN{world.SYNAfresh, world.SYNStays} {
		changed, other := s.Clone(), world.SYNStays-assumed
		done := false
		for i := range changed.Traffic {
			t := &changed.Traffic[i]
			if field != repeatedSYN || !synsMatter(s, t) || t.LB.RepeatedSYN != assumed {
				continue
			}
			lb := *t.LB
			lb.RepeatedSYN = other
			t.LB, done = &lb, true
		}
		if done {
			out = append(out, Alternative{"lb." + field, synWords(other), changed})
		}
	}
	return out
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
