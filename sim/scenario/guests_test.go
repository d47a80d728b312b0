package scenario

import (
	"strings"
	"testing"
)

// A Job whose pods have the labels that a Service selects is an endpoint while it runs; that is warned of, with the line of the labels, where
// others serve behind the Service, and the pod can be ready.
func TestJobsAmongTheEndpointsAreWarnedOf(t *testing.T) {
	t.Parallel()
	const served = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  replicas: 2
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: app, image: example.com/app, ports: [{name: http, containerPort: 8080}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: app}
spec: {selector: {app: app}, ports: [{port: 80, targetPort: 8080}]}
---
`
	const job = `apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec: {template: {metadata: {labels: {app: app}}, spec: {restartPolicy: Never, containers: [{name: m, image: example.com/app}]}}}
`
	const cron = `apiVersion: batch/v1
kind: CronJob
metadata: {name: migrate}
spec: {schedule: "0 0 * * *", jobTemplate: {spec: {template: {metadata: {labels: {app: app}}, spec: {restartPolicy: Never, containers: [{name: m, image: example.com/app}]}}}}}
`
	const words = "Service app selects its pod, too: while it runs it is one of the endpoints of port 80"
	for name, c := range map[string]struct {
		in, want string
	}{
		"a Job":                      {served + job, "in.yaml:19:30: Job default/migrate: spec.template.metadata.labels: " + words},
		"a CronJob":                  {served + cron, "in.yaml:19:74: CronJob default/migrate: spec.jobTemplate.spec.template.metadata.labels: " + words},
		"of other labels":            {served + strings.Replace(job, "{app: app}", "{app: migrate}", 1), ""},
		"with a readiness probe":     {served + strings.Replace(job, "name: m,", "name: m, readinessProbe: {exec: {command: [no]}},", 1), ""},
		"without a port of the name": {strings.Replace(served, "targetPort: 8080", "targetPort: http", 1) + job, ""},
		"alone behind its Service":   {strings.Replace(served, "kind: Deployment\nmetadata: {name: app}\nspec:\n  replicas: 2", "kind: Deployment\nmetadata: {name: app}\nspec:\n  replicas: 0", 1) + job, ""},
	} {
		_, problems := inferKept(t, objectsIn(c.in), Options{})
		var got []string
		for _, p := range problems {
			if strings.Contains(p.Message, "selects its pod, too") {
				got = append(got, p.String())
			}
		}
		if all := strings.Join(got, "\n"); !strings.Contains(all, c.want) || (all == "") != (c.want == "") {
			t.Errorf("%s: %q", name, all)
		}
	}
}
