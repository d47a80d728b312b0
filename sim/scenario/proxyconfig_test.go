package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// How long an istio-proxy drains is what the pod's annotation says, in YAML or JSON, unless the agent's own variable says it.
func TestAnIstioProxyDrainsAsItsAnnotationSays(t *testing.T) {
	t.Parallel()
	const in = `apiVersion: apps/v1
kind: Deployment
metadata: {name: gw}
spec:
  selector: {matchLabels: {app: gw}}
  template:
    metadata:
      labels: {app: gw}
      annotations: {ANNOTATION}
    spec:
      containers: [{name: istio-proxy, image: istio/proxyv2, ports: [{containerPort: 80}], env: [ENV]}]
---
{apiVersion: v1, kind: Service, metadata: {name: gw}, spec: {type: LoadBalancer, selector: {app: gw}, ports: [{port: 80}]}}
`
	for name, tt := range map[string]struct {
		annotation, env string
		drain           engine.Time
		finishes, said  bool
	}{ // order: each for itself
		"none":               {"", "", 5 * engine.Second, false, false},
		"of another kind":    {`sidecar.istio.io/inject: "false"`, "", 5 * engine.Second, false, false},
		"JSON":               {`proxy.istio.io/config: '{"terminationDrainDuration": "30s"}'`, "", 30 * engine.Second, false, true},
		"YAML":               {`proxy.istio.io/config: "holdApplicationUntilProxyStarts: true\nterminationDrainDuration: 1m30s\n"`, "", 90 * engine.Second, false, true},
		"until none is left": {`proxy.istio.io/config: '{"proxyMetadata": {"EXIT_ON_ZERO_ACTIVE_CONNECTIONS": "true"}}'`, "", 5 * engine.Second, true, false},
		"the variable":       {`proxy.istio.io/config: '{"terminationDrainDuration": "30s"}'`, `{name: TERMINATION_DRAIN_DURATION_SECONDS, value: "7"}`, 7 * engine.Second, false, false},
		"no duration":        {`proxy.istio.io/config: '{"terminationDrainDuration": "9.9.9"}'`, "", 5 * engine.Second, false, false},
		"a comment":          {`proxy.istio.io/config: "# terminationDrainDuration: 30s\nconcurrency: 2\n"`, "", 5 * engine.Second, false, false},
		"another field's":    {`proxy.istio.io/config: '{tracing: {terminationDrainDuration: 30s}, EXIT_ON_ZERO_ACTIVE_CONNECTIONS: true}'`, "", 5 * engine.Second, false, false},
		"no YAML":            {`proxy.istio.io/config: '{terminationDrainDuration: 30s'`, "", 5 * engine.Second, false, false},
	} {
		cases, problems := inferKept(t, objectsIn(strings.NewReplacer("ANNOTATION", tt.annotation, "ENV", tt.env).Replace(in)), Options{Actions: []string{"rollout"}})
		if len(cases) == 0 {
			t.Fatal(name, problems)
		}
		if warned := len(problems) == 1 && strings.Contains(problems[0].Message, "it is no YAML that could be read"); warned != (name == "no YAML") {
			t.Errorf("%s: %v", name, problems)
		}
		app := cases[0].Scenario.Workloads[0].App
		if app.DrainFor != tt.drain || (app.InFlight == world.InFlightFinish) != tt.finishes || strings.Contains(app.Evidence, "by annotation proxy.istio.io/config (in.yaml:") != tt.said {
			t.Errorf("%s: %v, %v, %q", name, app.DrainFor.Duration(), app.InFlight, app.Evidence)
		}
	}
}
