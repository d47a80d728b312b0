package input

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/record"
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
		"a number below zero": {
			renamed("replicas: 2", "minReadySeconds: -5"), "", "Deployment default/other", "spec.minReadySeconds: -5 must not be negative; the API server refuses it",
		},
		"a port that cannot be": {
			renamed("port: 80}]}}", "port: 80000}]}}"), "", "Service default/other", "spec.ports[0].port: 80000 must be from 1 to 65535; the API server refuses it",
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

// A Service that leads to nothing of the input is named with its place: by its selector, or by a port that no container has a name for. One without
// a selector leads elsewhere.
func TestServicesThatLeadNowhere(t *testing.T) {
	t.Parallel()
	text := good + `{apiVersion: v1, kind: Service, metadata: {name: typo}, spec: {selector: {app: wbe}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: named}, spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: elsewhere}, spec: {ports: [{port: 80}]}}
`
	files := []manifest.File{{Name: "a.yaml", Data: []byte(text)}}
	load := func(files []manifest.File) (*manifest.Objects, []manifest.Problem, error) {
		objects, problems := manifest.Load(files, manifest.Options{})
		return objects, problems, nil
	}
	objects, problems, _ := load(files)
	from := Source{Files: files, Load: load}
	_, found, err := from.Cases(objects, problems, &scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range Nowhere(found) {
		got = append(got, fmt.Sprintf("%s %s: %s (%s:%d)", o.Kind, o.Name, o.Why, o.File, o.Line))
	}
	want := []string{
		"Service default/named: spec.ports[0].targetPort: no container of the pods it selects has a port named http: the port has no endpoints (a.yaml:16)",
		"Service default/typo: it selects no workload of the input (a.yaml:14)",
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A field that is nearly one of its object's is named with its place and the one that was meant; one that is like no other is not.
func TestFieldsThatAreMisspelled(t *testing.T) {
	t.Parallel()
	text := "---\n{apiVersion: v1, kind: Service, metadata: {name: typo}, spec: {selector: {app: web}, ports: [{port: 80, targetport: 8080}], colour: red}}\n"
	_, problems := manifest.Load([]manifest.File{{Name: "a.yaml", Data: []byte(text)}}, manifest.Options{})
	want := []record.Misspelled{{Object: "Service default/typo", Field: "spec.ports[0].targetport", Meant: "targetPort", File: "a.yaml", Line: 2, Source: "a.yaml:2:105"}}
	if got := Misspelled(problems); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What the API server refuses is refused in the same words where nothing is run for another error. A Service of a workload that is refused
// needs no warning of its own.
func TestRefusalsBesideAnUnreadableDocument(t *testing.T) {
	t.Parallel()
	const both = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, maxUnavailable: 1, selector: {matchLabels: {app: web}}}\n"
	_, problems := casesOf(t, both+"---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: 80}\n", scenario.Options{})
	found := 0
	for _, p := range problems {
		if strings.Contains(p.Error(), "only one of minAvailable and maxUnavailable can be given; the API server refuses it") && p.Severity == manifest.Error {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%v", problems)
	}
	text := strings.Replace(good, "image: nginx:1.27,", "image: nginx:1.27, lifecycle: {preStop: {sleep: {seconds: 3}}},", 1)
	if text == good {
		t.Fatal(good)
	}
	_, problems = casesOf(t, text, scenario.Options{Set: []string{"kubernetes.version=1.28"}})
	for _, p := range problems {
		if strings.Contains(p.Message, "it selects no workload") || p.Severity == manifest.Warning {
			t.Errorf("%v", p)
		}
	}
	if len(problems) == 0 {
		t.Error("a sleep action before its version is well")
	}
}

// What selects the pods of a workload that is left out would lead to them: that it leads nowhere is not said, before or after.
func TestNothingIsSaidOfWhatSelectsTheRefused(t *testing.T) {
	t.Parallel()
	const late = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: late}
spec:
  minReadySeconds: 700
  selector: {matchLabels: {app: late}}
  template:
    metadata: {labels: {app: late}}
    spec: {containers: [{name: late, image: nginx:1.27}]}
---
{apiVersion: v1, kind: Service, metadata: {name: late}, spec: {selector: {app: late}, ports: [{port: 80}]}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: late}, spec: {minAvailable: 1, selector: {matchLabels: {app: late}}}}
---
`
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"refused":           {late, []string{"must be greater than minReadySeconds"}},
		"refused, as sleep": {strings.NewReplacer("minReadySeconds: 700", "replicas: 1", "image: nginx:1.27", "image: nginx:1.27, lifecycle: {preStop: {sleep: {seconds: 5}}}").Replace(late), []string{"no sleep action"}},
		"of other labels":   {strings.Replace(late, "labels: {app: late}}\n    spec", "labels: {app: lat}}\n    spec", 1), []string{"does not match the labels", "must be greater", "it selects no workload", "it covers no pod"}},
		"of another namespace": {strings.Replace(late, "kind: Deployment\nmetadata: {", "kind: Deployment\nmetadata: {namespace: shop, ", 1),
			[]string{"must be greater", "it selects no workload", "it covers no pod"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := casesOf(t, good+c.text, scenario.Options{KubernetesVersion: "1.28"})
			for _, p := range problems {
				if !slices.ContainsFunc(c.want, func(words string) bool { return strings.Contains(p.Error(), words) }) {
					t.Errorf("%v", p)
				}
			}
			for _, words := range c.want {
				if !slices.ContainsFunc(problems, func(p manifest.Problem) bool { return strings.Contains(p.Error(), words) }) {
					t.Errorf("%q is not said: %v", words, problems)
				}
			}
		})
	}
}
