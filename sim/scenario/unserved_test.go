package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A workload behind no Service has a case for each action that asks for evictions, where a budget keeps its pods.
func TestAWorkloadBehindNoServiceThatABudgetKeeps(t *testing.T) {
	t.Parallel()
	alone, _, _ := strings.Cut(altWeb, "---")
	budget := func(name, bound string) string {
		return "\n---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " + name + ", namespace: shop}, spec: {" + bound + ", selector: {matchLabels: {app: web}}}}"
	}
	for _, tt := range []struct{ what, text, want string }{
		{"no budget", alone, ""},
		{"one pod may go", alone + budget("b", "minAvailable: 1"), ""},
		{"no pod may go", alone + budget("b", "minAvailable: 2"), "shop/web/drain shop/web/evict shop/web/pool-upgrade"},
		{"two budgets", alone + budget("b", "minAvailable: 1") + budget("c", "minAvailable: 1"), "shop/web/drain shop/web/evict shop/web/pool-upgrade"},
		{"one that covers another pod, too", alone + "\n---" + strings.Replace(alone, "name: web, n", "name: api, n", 1) + budget("b", "minAvailable: 2"), ""},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(tt.text)}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: []string{"rollout", "drain", "evict", "pool-upgrade", "crash"}})
		var got []string
		for _, c := range cases {
			got = append(got, c.ID)
			if c.Verdict != NotJudged || c.Reason == "" || c.Scenario == nil || c.Scenario.Workloads[0].Aside {
				t.Errorf("%s: %+v", tt.what, c)
			}
		}
		if strings.Join(got, " ") != tt.want || manifest.HasErrors(problems) {
			t.Errorf("%s: %q, want %q: %v", tt.what, got, tt.want, problems)
		}
	}
}

// A budget that is skipped is named in the case: a drain without it may be another one.
func TestABudgetThatCannotBeUnderstoodIsNamed(t *testing.T) {
	t.Parallel()
	text := altWeb + "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: NS}, spec: {minAvailable: lots}}"
	for namespace, want := range map[string]string{"shop": "PodDisruptionBudget shop/b (web.yaml:24) cannot be understood, and is left out", "other": ""} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(strings.Replace(text, "NS", namespace, 1))}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: []string{"drain"}})
		if len(cases) != 1 || manifest.HasErrors(problems) {
			t.Fatalf("%s: %v", namespace, problems)
		}
		got := ""
		for _, n := range cases[0].Scenario.NotModelled {
			if n.ID == "budget" {
				got += n.What
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", namespace, got, want)
		}
	}
}

// Behind a headless Service alone nothing is judged, but each action that is asked for is run, and without any what a budget keeps from its end.
// Behind one for scrapes alone what a budget keeps is a case of its own.
func TestAWorkloadOfWhichNothingIsJudged(t *testing.T) {
	t.Parallel()
	const service = "\n---\n{apiVersion: v1, kind: Service, metadata: {name: NAME, namespace: shop}, spec: {SPEC selector: {app: web}, ports: [{name: PORT, port: 80, targetPort: 8080}]}}"
	named := func(name, spec, port string) string {
		return strings.NewReplacer("NAME", name, "SPEC", spec, "PORT", port).Replace(service)
	}
	alone, _, _ := strings.Cut(altWeb, "---")
	const budget = "\n---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: shop}, spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}}"
	headless, scraped, plain := named("h", "clusterIP: None,", "db"), named("m", "", "metrics"), named("p", "", "db")
	for _, tt := range []struct {
		what, text, want string
		actions          []string
	}{
		{"headless, by default", alone + headless, "rollout/h:80", nil},
		{"headless, by default, with a budget that lets no pod go", alone + headless + budget, "rollout/h:80 drain/h:80", nil},
		{"headless, as asked for", alone + headless, "rollout/h:80 drain/h:80 crash/h:80", []string{"rollout", "drain", "crash"}},
		{"beside what is judged", alone + headless + plain, "rollout/h:80 rollout/p:80 drain/p:80", []string{"rollout", "drain"}},
		{"scraped", alone + scraped, "drain/m:80", []string{"drain", "crash"}},
		{"scraped, with a budget that lets no pod go", alone + scraped + budget, "drain/m:80 drain", []string{"drain", "crash"}},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(tt.text)}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: tt.actions})
		var got []string
		for _, c := range cases {
			got = append(got, strings.TrimPrefix(c.ID, "shop/web/"))
			if strings.HasSuffix(c.ID, "/drain") && (c.Traffic != "nobody" || c.Reason != "nothing that clients of its Services notice is judged") {
				t.Errorf("%s: %q, %q", tt.what, c.Traffic, c.Reason)
			}
		}
		if strings.Join(got, " ") != tt.want || manifest.HasErrors(problems) {
			t.Errorf("%s: %q, want %q: %v", tt.what, got, tt.want, problems)
		}
	}
}

// Who asks for a drain of pods with an emptyDir is told with which flag it is done.
func TestADrainThatWipesADirectory(t *testing.T) {
	t.Parallel()
	wiped := strings.Replace(altWeb, "      containers:", "      volumes: [{name: conf, configMap: {name: c}}, {name: tmp, emptyDir: {}}]\n      containers:", 1)
	for _, tt := range []struct {
		text   string
		action string
		want   string
	}{
		{altWeb, "drain", ""}, {wiped, "evict", ""}, {wiped, "", ""},
		{wiped, "drain", "kubectl drain --delete-emptydir-data, without which it refuses these pods: volume tmp is empty afterwards"},
	} {
		var actions []string
		if tt.action != "" {
			actions = []string{tt.action}
		}
		cases, problems := casesIn(t, tt.text, Options{Actions: actions})
		got := ""
		for _, c := range cases {
			for _, n := range c.Scenario.NotModelled {
				if n.ID == world.DrainFlags {
					got = n.What
				}
			}
		}
		if got != tt.want || len(cases) == 0 {
			t.Errorf("%q: %q, want %q: %v", tt.action, got, tt.want, problems)
		}
	}
}

// An app of a kind that is not simulated is named also where no Service of the input selects it: Knative makes Services itself.
func TestAnAppWithoutAServiceIsNamed(t *testing.T) {
	t.Parallel()
	const knative = "{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: hello}, spec: {template: {spec: {containers: [{image: i}]}}}}\n"
	const rollout = "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: web}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}}\n"
	controller := strings.NewReplacer("argoproj.io/v1alpha1", "v1", "Rollout", "ReplicationController", "{matchLabels: {app: web}}", "{app: web}").Replace(rollout)
	const service = "---\n{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}\n"
	const job = "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {metadata: {labels: {app: j}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}\n"
	for name, c := range map[string]struct {
		input string
		want  []string
	}{
		"Knative":                                {knative, []string{"a Knative Service is a kind that is not simulated, and no Service of the input leads to its pods"}},
		"a Rollout":                              {rollout, []string{"a Rollout is a kind that is not simulated, and no Service of the input leads to its pods"}},
		"with a Service":                         {rollout + service, []string{"Service web selects the Rollout web: a kind that is not simulated"}},
		"a Job":                                  {job, nil},
		"a ReplicationController with a Service": {controller + service, []string{"Service web selects the ReplicationController web: a kind that is not simulated"}},
	} {
		cases, _ := casesIn(t, c.input, Options{Actions: []string{"rollout"}})
		var got []string
		for i := range cases {
			if cases[i].Scenario != nil || cases[i].Verdict != NotJudged {
				t.Errorf("%s: %s is judged", name, cases[i].ID)
			}
			got = append(got, cases[i].Reason)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
