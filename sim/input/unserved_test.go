package input

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Workloads that no Service selects are named, in the order of their kinds, but not where somebody says what the input is about, nor those that
// are left out anyway, nor one of which a case is.
func TestUnserved(t *testing.T) {
	t.Parallel()
	const alone = `---
apiVersion: apps/v1
kind: %s
metadata: {name: %s}
spec:
  selector: {matchLabels: {app: mailer}}
  template:
    metadata: {labels: {app: mailer}}
    spec: {containers: [{name: mailer, image: mailer}]}
`
	text := web
	for _, of := range []string{"DaemonSet agent", "Deployment mailer", "StatefulSet queue"} {
		kind, name, _ := strings.Cut(of, " ")
		text += strings.NewReplacer("%s}", name+"}", "%s", kind).Replace(alone)
	}
	const (
		rest = "StatefulSet default/queue: no Service selects its pods (a.yaml:34); DaemonSet default/agent: no Service selects its pods (a.yaml:16)"
		both = "Deployment default/mailer: no Service selects its pods (a.yaml:25); " + rest
	)
	for name, c := range map[string]struct { // order: each for itself
		text, want string
		opts       scenario.Options
		cases      []scenario.Case
		left       []record.LeftOut
	}{
		"all":                {text: text, want: both},
		"all have a Service": {text: web},
		"a target is named":  {text: text, opts: scenario.Options{Target: "web"}},
		"a Scenario":         {text: text + scenarioOf("one")},
		"one has clients by a port of its node": {text: text + strings.Replace(fmt.Sprintf(alone, "StatefulSet", "statsd"),
			"image: mailer}", "image: mailer, ports: [{containerPort: 8125, hostPort: 8125, protocol: UDP}]}", 1), want: "StatefulSet default/statsd: no Service selects its pods, and clients of host port 8125 are not judged (a.yaml:43); " + both},
		"one is left out":     {text: text, left: []record.LeftOut{{Kind: "Deployment", Name: "default/mailer"}}, want: rest},
		"one has a case":      {text: text, cases: []scenario.Case{{Kind: "Deployment", Workload: "default/mailer"}}, want: rest},
		"another kind has it": {text: text, cases: []scenario.Case{{Kind: "StatefulSet", Workload: "default/mailer"}}, want: both},
	} {
		objects, problems := manifest.Load([]manifest.File{{Name: "a.yaml", Data: []byte(c.text)}}, manifest.Options{})
		if manifest.HasErrors(problems) {
			t.Fatal(name, problems)
		}
		var got []string
		for _, o := range Unserved(objects, c.cases, c.left, &c.opts) {
			got = append(got, o.Kind+" "+o.Name+": "+o.Why+" ("+strings.TrimSuffix(o.Source, ":1")+")")
		}
		if words := strings.Join(got, "; "); words != c.want {
			t.Errorf("%s: %s", name, words)
		}
	}
}
