package scenario

import (
	"strings"
	"testing"
)

// Where no maker says where a repeated SYN goes, both ways are tried, unless the input says it.
func TestRepeatedSYNsGoBothWaysWhereNobodySays(t *testing.T) {
	t.Parallel()
	const said, stays, afresh = "loadBalancer.repeatedSYN=", "stays with its target", "goes where new connections go by then"
	const local = "type: LoadBalancer\n  externalTrafficPolicy: Local"
	for name, tt := range map[string]struct {
		spec, more string
		opts       Options
		value      string // that is assumed, "" for none
		other      string
	}{
		"an NLB":                            {local, "", Options{LB: "aws-nlb-instance"}, "aws-nlb-instance-local: " + stays, afresh},
		"Azure's":                           {local, "", Options{LB: "azure-standard"}, "azure-standard-local: " + afresh, stays},
		"Google's, which is documented":     {"type: LoadBalancer", "", Options{LB: "gke-l4"}, "", ""},
		"MetalLB, where nobody has a table": {"type: LoadBalancer", "", Options{LB: "metallb-l2"}, "", ""},
		"nodes that all stay":               {"type: LoadBalancer", "", Options{LB: "azure-standard"}, "", ""},
		"a proxy":                           {"", anIngress("", "ingressClassName: alb"), Options{}, "", ""},
		"what is said":                      {local, "", Options{LB: "azure-standard", Set: []string{said + "stays"}}, "", ""},
		"another field that is said":        {local, "", Options{LB: "azure-standard", Set: []string{"loadBalancer.idle=60s"}}, "azure-standard-local: " + afresh, stays},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inferOne(t, routedWeb(tt.spec, "", tt.more), tt.opts).Scenario
			var value, other string
			for _, a := range s.Assumptions {
				if a.ID == "lb.repeatedSYN" {
					value = a.Value
				}
			}
			var way string
			for _, a := range Alternatives(s) {
				if a.ID == "lb.repeatedSYN" {
					other, way = other+a.Value, synWords(a.Scenario.Traffic[0].LB.RepeatedSYN)
				}
			}
			if value != tt.value || other != tt.other || way != tt.other {
				t.Errorf("assumed %q, other value %q (%s); want %q and %q", value, other, way, tt.value, tt.other)
			}
			if tt.value != "" && strings.HasSuffix(value, other) {
				t.Error("the other value is the same")
			}
		})
	}
}
