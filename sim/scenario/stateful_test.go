package scenario

import (
	"fmt"
	"strings"
	"testing"
)

// Who says maxUnavailable of a StatefulSet hears that it is not heeded, and what has it be, unless it comes to one pod anyway.
func TestMaxUnavailableThatIsNotHeeded(t *testing.T) {
	t.Parallel()
	for value, warned := range map[string]bool{"1": false, "30%": false, "2": true, "50%": true} {
		text := `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 5
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: ` + value + `}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1", ports: [{containerPort: 8080}]}]}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}}
`
		_, problems := casesIn(t, text, Options{Wording: flags()})
		const want = "is off unless it is set (--feature-gates MaxUnavailableStatefulSet=true)"
		if strings.Contains(fmt.Sprint(problems), want) != warned {
			t.Errorf("%s: %v", value, problems)
		}
	}
}

// A load balancer that is asked for is not said to be unused where the case whose clients come from outside is not judged.
func TestABalancerOfACaseThatIsNotJudged(t *testing.T) {
	t.Parallel()
	for kind, unused := range map[string]bool{"LoadBalancer": false, "ClusterIP": true} {
		text := `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  updateStrategy: {type: OnDelete}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1", ports: [{containerPort: 8080}]}]}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: ` + kind + `, selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}}
`
		cases, problems := casesIn(t, text, Options{LB: "gke-l4", Actions: []string{"rollout"}})
		if len(cases) != 1 || cases[0].Scenario != nil || strings.Contains(fmt.Sprint(problems), "no traffic goes through a load balancer") != unused {
			t.Errorf("%s: %+v %v", kind, cases, problems)
		}
	}
}
