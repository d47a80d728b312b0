package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A Service that leads to a port which nobody declares is judged only where nothing says that the container listens elsewhere, and the report
// begins with it then.
func TestAPortThatNobodyDeclares(t *testing.T) {
	t.Parallel()
	const text = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: IMAGE, ports: [PORT], readinessProbe: {httpGet: {path: /, port: PROBE}}}]}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}}
`
	for name, c := range map[string]struct{ image, port, probe, reason, leftOut string }{
		"nginx, which listens on 80": {
			"nginx:1.27", "{containerPort: 80}", "81",
			"Service web leads to port 8080 (in.yaml:12), which no container declares, and container web declares port 80, where image nginx:1.27 listens if nobody says another: " +
				"whether anybody listens on 8080 is not known, and if nobody does every request fails", "",
		},
		"a port that the probe asks": {
			"example.com/web:1", "{containerPort: 3000, name: http}", "http",
			"Service web leads to port 8080 (in.yaml:12), which no container declares, and container web declares port 3000, which its probe asks: " +
				"whether anybody listens on 8080 is not known, and if nobody does every request fails", "",
		},
		"a port for probes": {
			"example.com/web:1", "{containerPort: 3000, name: management}", "management", "",
			"whether anybody listens on port 8080, to which Service web leads (in.yaml:12) and which no container declares: container web is taken to, and if it does not every request fails",
		},
		"the probe asks it":    {"example.com/web:1", "{containerPort: 3000}", "8080", "", ""},
		"a port that is there": {"nginx:1.27", "{containerPort: 8080}", "80", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases, _ := inferKept(t, objectsIn(strings.NewReplacer("IMAGE", c.image, "PORT", c.port, "PROBE", c.probe).Replace(text)), Options{Actions: []string{"rollout"}})
			if len(cases) != 1 || cases[0].Reason != c.reason || (cases[0].Verdict == NotJudged) != (c.reason != "") {
				t.Fatalf("%+v", cases)
			}
			said := ""
			if sc := cases[0].Scenario; sc != nil {
				for _, n := range sc.NotModelled {
					if n.ID == world.Undeclared {
						said = n.What
					}
				}
			}
			if said != c.leftOut {
				t.Errorf("left out %q, want %q", said, c.leftOut)
			}
		})
	}
	if !world.Foremost(world.Undeclared) || !world.Foremost(world.Dropped) {
		t.Error("a report does not begin with it")
	}
}
