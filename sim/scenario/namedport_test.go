package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// fronted is a Service whose targetPort is a name, with Deployments whose pods have ports of some names.
func fronted(service string, ports ...string) string {
	text := "apiVersion: v1\nkind: Service\nmetadata: {name: front, namespace: shop}\nspec:\n  selector: {app: front}\n  ports: [" + service + "]\n"
	for i, p := range ports {
		text += fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: v%d, namespace: shop}\nspec:\n  replicas: 2\n  selector: {matchLabels: {v: v%[1]d}}\n"+
			"  template:\n    metadata: {labels: {app: front, v: v%[1]d}}\n    spec: {containers: [{name: c, image: 'nginx:1.27', ports: [%[2]s]}]}\n", i+1, p)
	}
	return text
}

// A port of a name is looked for pod by pod: a Service is judged for the workloads whose pods have it, and a warning names the others. Nobody has
// it: the Service leads nowhere. Numbers that differ are no endpoints of one port that could be simulated.
// Reference: docs/model/controllers.md 9.3 Named ports.
func TestANamedPortIsLookedForPodByPod(t *testing.T) {
	t.Parallel()
	const (
		http, web, none = "{name: http, containerPort: 80}", "{name: web, containerPort: 80}", "{containerPort: 80}"
		named           = "{name: http, port: 80, targetPort: http}"
		lacks           = "Service shop/front: spec.ports[0].targetPort: pods of "
		and             = " have no port named http: they are no endpoints of this port, and get no traffic by it"
	)
	for name, tt := range map[string]struct { // order: each for itself
		service string
		pods    []string
		judged  string // of rolling restarts
		warned  []string
		nowhere bool
	}{
		"all have it":               {named, []string{http, http}, "shop/v1/rollout/front:80 shop/v2/rollout/front:80", nil, false},
		"one calls it otherwise":    {named, []string{http, web}, "shop/v1/rollout/front:80", []string{lacks + "Deployment v2 (theirs: web)" + and}, false},
		"the first one does":        {named, []string{web, http}, "shop/v2/rollout/front:80", []string{lacks + "Deployment v1 (theirs: web)" + and}, false},
		"two of three do":           {named, []string{none, http, web}, "shop/v2/rollout/front:80", []string{lacks + "Deployment v1 (no port of theirs has a name) and Deployment v3 (theirs: web)" + and}, false},
		"nobody has it":             {named, []string{web, none}, "", []string{"Service shop/front: spec.ports[0].targetPort: no container of the pods it selects has a port named http: the port has no endpoints"}, true},
		"a number needs no name":    {"{port: 80, targetPort: 80}", []string{http, web}, "shop/v1/rollout/front:80 shop/v2/rollout/front:80", nil, false},
		"their numbers are not one": {named, []string{http, "{name: http, containerPort: 8080}"}, "", nil, false},
		"one of two ports": {named + ", {name: api, port: 81, targetPort: api}", []string{http + ", {name: api, containerPort: 81}", http},
			"shop/v1/rollout/front:80 shop/v1/rollout/front:81 shop/v2/rollout/front:80", []string{"Service shop/front: spec.ports[1].targetPort: pods of Deployment v2 (theirs: http)" + strings.Replace(and, "http", "api", 1)}, false},
		"the second of two numbers is not one": {named + ", {name: api, port: 81, targetPort: api}", []string{http + ", {name: api, containerPort: 81}", http + ", {name: api, containerPort: 82}"}, "", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases, problems := inferText(t, fronted(tt.service, tt.pods...), Options{Actions: []string{"rollout"}})
			var judged, warned []string
			for i := range cases {
				if c := &cases[i]; c.Verdict != NotJudged {
					judged = append(judged, c.ID)
				} else if !strings.Contains(c.Reason, "several numbers behind one Service port") {
					t.Errorf("%s is not judged: %s", c.ID, c.Reason)
				}
			}
			for _, p := range problems {
				_, text, _ := strings.Cut(p.String(), ": ")
				warned = append(warned, text)
				if p.Nowhere != tt.nowhere {
					t.Errorf("nowhere: %t", p.Nowhere)
				}
			}
			slices.Sort(judged)
			if strings.Join(judged, " ") != tt.judged || !slices.Equal(warned, tt.warned) {
				t.Errorf("judged %q, warned %q", judged, warned)
			}
		})
	}
}

// A Scenario's default clients ask for what is behind a port of a name, whichever workload comes first.
func TestTheFirstWorkloadMayLackThePort(t *testing.T) {
	t.Parallel()
	text := fronted("{name: http, port: 80, targetPort: http}", "{name: web, containerPort: 80}", "{name: http, containerPort: 80}")
	text += "---\napiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s, namespace: shop}\nspec: {actions: [{at: 20s, rolloutRestart: deployment/v2}]}\n"
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	list, more := parseKept(t, objects, Options{})
	if len(problems)+len(more) > 0 || len(list) != 1 || len(list[0].Traffic) == 0 {
		t.Fatalf("%v", append(problems, more...))
	}
	if w := list[0].Met(0, false); w == nil || w.Name() != "shop/v2" || list[0].Traffic[0].Class != ClassInside {
		t.Errorf("%+v meets %v", list[0].Traffic[0], w)
	}
}
