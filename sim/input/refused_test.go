package input

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// good is a workload that there is nothing against.
const good = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx:1.27, ports: [{containerPort: 80}]}]}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}
---
`

// What the API server refuses is never judged, and stops no other object: it is named, and an error only where nothing else is judged.
func TestWhatTheAPIServerRefusesIsLeftOut(t *testing.T) {
	t.Parallel()
	renamed := func(old, with string) string {
		text := strings.NewReplacer("name: web}", "name: other}", "app: web", "app: other").Replace(good)
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in the manifest", old)
		}
		return strings.Replace(text, old, with, 1)
	}
	other := strings.NewReplacer("name: web}", "name: other}", "app: web", "app: other").Replace(good)
	for name, c := range map[string]struct{ text, version, object, why string }{
		"a selector that finds no pod": {
			renamed("{matchLabels: {app: other}}", "{matchLabels: {app: ohter}}"), "", "Deployment default/other",
			"spec.selector: does not match the labels of the pod template; the API server refuses it",
		},
		"a word that there is none of": {
			renamed("kind: Service, metadata: {name: other}, spec: {", "kind: Service, metadata: {name: other}, spec: {type: NodePort, externalTrafficPolicy: local, "), "", "Service default/other",
			`spec.externalTrafficPolicy: unknown value "local", did you mean Local? Valid are Cluster or Local; the API server refuses it`,
		},
		"bounds of a Recreate": {
			renamed("replicas: 2", "strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}"), "", "Deployment default/other",
			"spec.strategy.rollingUpdate: has no place in a strategy of type Recreate, the type must be RollingUpdate; the API server refuses it",
		},
		"bounds of zero": {
			renamed("replicas: 2", "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}"), "", "Deployment default/other",
			"spec.strategy.rollingUpdate.maxUnavailable: must not be 0 when maxSurge is 0",
		},
		"an API that is gone": {
			renamed("apps/v1", "extensions/v1beta1"), "", "Deployment default/other", "apiVersion: extensions/v1beta1 is gone since Kubernetes 1.16; skipped, use apps/v1",
		},
		"a sleep of more than the grace period": {
			renamed("ports: [{containerPort: 80}]", "lifecycle: {preStop: {sleep: {seconds: 40}}}"), "", "Deployment default/other",
			"spec.template.spec.containers[0].lifecycle.preStop.sleep.seconds: 40 is more than terminationGracePeriodSeconds, 30",
		},
		"a sleep where there is none": {
			renamed("ports: [{containerPort: 80}]", "lifecycle: {preStop: {sleep: {seconds: 5}}}"), "1.28", "Deployment default/other",
			"spec.template.spec.containers[0].lifecycle.preStop.sleep: Kubernetes 1.28 has no sleep action: the API server refuses it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases, problems := casesOf(t, good+c.text, scenario.Options{KubernetesVersion: c.version})
			left := LeftOut(problems)
			if manifest.HasErrors(problems) || len(left) != 1 || left[0].Kind+" "+left[0].Name != c.object || !strings.HasPrefix(left[0].Why, c.why) || left[0].Line < 14 {
				t.Errorf("left out %+v of %v", left, problems)
			}
			if judged(cases, "default/other") > 0 || judged(cases, "default/web") != 2 {
				t.Errorf("%d cases of the one and %d of the other workload are judged, want a rollout and a drain of the latter", judged(cases, "default/other"), judged(cases, "default/web"))
			}
			// Alone it is an error.
			if cases, problems = casesOf(t, c.text, scenario.Options{KubernetesVersion: c.version}); len(cases) > 0 || !manifest.HasErrors(problems) || len(LeftOut(problems)) > 0 {
				t.Errorf("alone: %d cases, %v", len(cases), problems)
			}
			// Who asks for the other workload is not told that the input is wrong.
			if strings.HasPrefix(c.object, "Deployment") {
				if _, problems = casesOf(t, good+c.text, scenario.Options{KubernetesVersion: c.version, Target: "default/web"}); len(LeftOut(problems)) > 0 {
					t.Errorf("of another target: %v", problems)
				}
			}
			// What a cluster has accepted is simulated.
			if name == "a selector that finds no pod" {
				live := strings.Replace(c.text, "metadata: {name: other}", "metadata: {name: other, uid: a-b}", 1)
				if _, problems = casesOf(t, good+live, scenario.Options{}); len(LeftOut(problems)) > 0 {
					t.Errorf("of a cluster: %v", problems)
				}
			}
		})
	}
	if cases, problems := casesOf(t, good+other, scenario.Options{}); len(cases) != 4 || len(LeftOut(problems)) > 0 {
		t.Errorf("with nothing wrong: %d cases, %v", len(cases), problems)
	}
}

// A Scenario says what its world is: without one of its objects it would be another one.
func TestAScenarioWithARefusedObjectIsAnError(t *testing.T) {
	t.Parallel()
	text := strings.Replace(good, "{matchLabels: {app: web}}", "{matchLabels: {app: wbe}}", 1) +
		strings.TrimPrefix(scenarioOf("a"), "---\n")
	_, problems := casesOf(t, text, scenario.Options{})
	if !manifest.HasErrors(problems) || !strings.Contains(problems[0].Error(), "the API server refuses it") {
		t.Errorf("%v", problems)
	}
}

// judged counts the cases of a workload that are run.
func judged(cases []scenario.Case, workload string) int {
	n := 0
	for i := range cases {
		if cases[i].Workload == workload && cases[i].Scenario != nil {
			n++
		}
	}
	return n
}

func casesOf(t *testing.T, text string, opts scenario.Options) ([]scenario.Case, []manifest.Problem) {
	t.Helper()
	load := func(files []manifest.File) (*manifest.Objects, []manifest.Problem, error) {
		objects, problems := manifest.Load(files, manifest.Options{})
		return objects, problems, nil
	}
	from := Source{Files: []manifest.File{{Name: "in.yaml", Data: []byte(text)}}, Load: load}
	objects, problems, _ := load(from.Files)
	cases, found, err := from.Cases(objects, problems, &opts)
	if err != nil {
		t.Fatal(err)
	}
	return cases, found
}
