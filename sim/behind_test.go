package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

const proxied = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: rest}
spec:
  replicas: 3
  selector: {matchLabels: {app: rest}}
  template:
    metadata: {labels: {app: rest}}
    spec:
      terminationGracePeriodSeconds: 60
      containers:
      - name: proxy
        image: nginx:1.27
        ports: [{name: http, containerPort: 8080}]
        readinessProbe: {httpGet: {path: /ping, port: 8080}}
        lifecycle: {preStop: {sleep: {seconds: 20}}}
      - name: api
        image: example.com/rest-api:9
        ports: [{containerPort: 5000}]
        lifecycle: {HOOK}
---
apiVersion: v1
kind: Service
metadata: {name: rest}
spec: {selector: {app: rest}, ports: [{port: 80, targetPort: http}]}
`

// A proxy that goes on for longer than what it passes its requests on to answers them with errors: new connections until its nodes have let go of it,
// and those that are kept open until it ends. With the same delay in both nothing is lost.
func TestAProxyAnswersWithErrorsWhenTheAppBehindItHasEnded(t *testing.T) {
	t.Parallel()
	sidecar := strings.NewReplacer("      containers:\n", "      initContainers:\n", "      - name: api\n", "      containers:\n      - name: api\n", "image: nginx:1.27", "image: envoyproxy/envoy:v1.30.2\n        restartPolicy: Always").Replace(proxied)
	for _, c := range []struct {
		name, text, hook string
		erred            []bool // new connections, connections kept open
	}{
		{"no hook", proxied, "", []bool{true, true}},
		{"a shorter one", proxied, "preStop: {sleep: {seconds: 10}}", []bool{false, true}},
		{"the same", proxied, "preStop: {sleep: {seconds: 20}}", []bool{false, false}},
		{"another's port, which a Service leads to", strings.Replace(proxied, "ports: [{port: 80, targetPort: http}]", "ports: [{name: a, port: 80, targetPort: http}, {name: b, port: 81, targetPort: 5000}]", 1), "", []bool{false, false}},
		{"a proxy that is a sidecar", sidecar, "", []bool{true, true}},
		{"a sidecar whose hook is over ends with the app", strings.Replace(sidecar, "seconds: 20", "seconds: 3", 1), "preStop: {sleep: {seconds: 10}}", []bool{false, false}},
	} {
		text := strings.Replace(c.text, "HOOK", c.hook, 1)
		objects, _ := manifest.Load([]manifest.File{{Name: "rest.yaml", Data: []byte(text)}}, manifest.Options{})
		cases, problems := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
		at := slices.IndexFunc(cases, func(c scenario.Case) bool { return c.Scenario != nil })
		if at < 0 || manifest.HasErrors(problems) {
			t.Fatalf("%s: %v", c.name, problems)
		}
		r, err := Run(cases[at].Scenario, 1)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		other, erred := uint64(0), map[int]uint64{}
		for _, g := range r.Ledger.Groups() {
			if g.Blame.Cause == ledger.AppError && g.Blame.Actor == ledger.Spec && g.Outcome == ledger.HTTP5xx {
				erred[g.Stream] += g.Count
			} else {
				other += g.Count
			}
		}
		if c.erred[0] != (erred[0] > 0) || c.erred[1] != (erred[1] > 0) || other > 0 {
			t.Errorf("%s: %d requests lost to errors, %d to something else", c.name, erred, other)
		}
	}
}

// uWSGI without --die-on-term cuts what it has begun at SIGTERM, and what comes while it is loaded again waits, or is lost where that takes longer than
// clients wait. Its pods end when their grace period is over.
func TestUWSGIReloadsAtSIGTERM(t *testing.T) {
	t.Parallel()
	web := strings.NewReplacer("image: nginx:1.27", "image: example.com/web\n        command: [uwsgi, --http, ':8080', --master, ARGUMENT]", "sleep: {seconds: 20}", "sleep: {seconds: 1}").Replace(proxied)
	before, rest, _ := strings.Cut(web, "      - name: api")
	_, after, _ := strings.Cut(rest, "---")
	web = before + "---" + after
	for _, c := range []struct {
		argument, start  string
		cut, late, whole bool
	}{
		{"--thunder-lock", "2s", true, false, true},
		{"--thunder-lock", "15s", true, true, true},
		{"--die-on-term", "2s", true, false, false},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(strings.Replace(web, "ARGUMENT", c.argument, 1))}}, manifest.Options{})
		cases, problems := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}, Set: []string{"start=" + c.start}})
		if manifest.HasErrors(problems) || len(cases) == 0 {
			t.Fatal(problems)
		}
		cut, late, end := false, false, engine.Time(0)
		for seed := range uint64(5) {
			r, err := Run(cases[0].Scenario, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			end = max(end, r.End)
			for _, g := range r.Ledger.Groups() {
				cut = cut || g.Blame.Cause == ledger.ExitInFlight && g.Outcome == ledger.Reset
				late = late || g.Outcome == ledger.Timeout && g.Blame.Cause == ledger.Overloaded
			}
		}
		if cut != c.cut || late != c.late || (end > 2*engine.Minute) != c.whole {
			t.Errorf("%s, %s: cut %t, late %t, it ends at %s s", c.argument, c.start, cut, late, end.Seconds())
		}
	}
}
