package fix

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What an edit writes into the file is what the fix has been tried with: the file that is edited has the Deployment to which the
// changes were applied. Everything that the edits do not name is left as it is, line by line.
func TestTextOfAFixIsTheDeploymentThatWasTried(t *testing.T) {
	t.Parallel()
	tried := map[string]int{}
	for name, lines := range map[string]map[string]string{ // order: each for itself
		"nothing of it is there": {},
		"comments everywhere": {
			"STRATEGY":  "  # how it is rolled out\n  strategy: # by default\n    # both bounds\n    rollingUpdate:\n      maxUnavailable: 25% # of two: none\n      maxSurge: 0\n    type: RollingUpdate\n  minReadySeconds: 0 # none\n",
			"GRACE":     "      terminationGracePeriodSeconds: 12 # short\n      # the containers\n",
			"CONTAINER": "        # to leave\n        lifecycle: # of the container\n          # a hook\n          preStop:\n            exec:\n              command: [sleep, \"1\"]\n        # is it well?\n        livenessProbe:\n          tcpSocket:\n            port: 8080\n        # the end\n",
		},
		"all at once":     {"STRATEGY": "  strategy:\n    type: Recreate # old and new must not meet\n"},
		"a probe is slow": {"STRATEGY": "  strategy:\n    type: Recreate\n", "CONTAINER": "        readinessProbe: # of the app\n          periodSeconds: 20 # seldom\n          tcpSocket:\n            port: 8080\n"},
		"a hook is first": {"CONTAINER": "      - lifecycle:\n          postStart:\n            exec:\n              command: [\"true\"]\n        name: web-log\n        image: busybox # a sidecar\n"},
	} {
		text := fill(lines)
		s, w := worldOf(t, text, scenario.Options{})
		for _, c := range Changes(s, w, 7*engine.Second) {
			if len(c.Edits) == 0 || c.world != nil {
				continue
			}
			got, err := Text([]byte(text), c.Edits)
			if err != nil {
				t.Errorf("%s, %s: %v", name, c.ID, err)
				continue
			}
			tried[c.ID]++
			want := Apply(s, "shop/web", []Change{c}).Workload("shop/web").Deployment.DeepCopy()
			manifest.DefaultDeployment(want)
			if diff := cmp.Diff(counted(want).Spec, counted(deploymentIn(t, got)).Spec); diff != "" {
				t.Errorf("%s, %s: -tried +written\n%s\n%s", name, c.ID, diff, got)
			}
			if strings.Count(string(got), "#") != strings.Count(text, "#") && c.ID != "preStop" {
				t.Errorf("%s, %s: a comment is gone\n%s", name, c.ID, got)
			}
		}
	}
	for _, id := range []string{"maxUnavailable", "preStop", "minReadySeconds", "readinessProbe", "readinessPeriod", "startupProbe", "terminationGracePeriodSeconds"} {
		if tried[id] == 0 {
			t.Errorf("%s was not tried: %v", id, tried)
		}
	}
}

// counted has the bounds of a rollout in pods, where a manifest may have them in percent.
func counted(d *appsv1.Deployment) *appsv1.Deployment {
	surge, unavailable := world.FencepostsOf(d)
	if d.Spec.Strategy.RollingUpdate != nil {
		d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxUnavailable: number(unavailable), MaxSurge: number(surge)}
	}
	return d
}

func deploymentIn(t *testing.T, text []byte) *appsv1.Deployment {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: text}}, manifest.Options{})
	if len(problems) > 0 || len(objects.Deployments) != 1 {
		t.Fatalf("%v\n%s", problems, text)
	}
	return objects.Deployments[0].Value
}

// A place that cannot be told from its line is refused, with where it is.
func TestTextRefusesWhatItCannotPlace(t *testing.T) {
	t.Parallel()
	const text = "spec:\n  strategy: {type: Recreate}\n  replicas: 1\n"
	for want, e := range map[string]record.Edit{ // order: each for itself
		"in.yaml:2: spec.strategy.type: it stands in braces, or its value has a # in it: change it by hand": {Path: "spec.strategy.type", From: "Recreate", To: "RollingUpdate", Line: 2},
		"in.yaml:3: spec.paused: there is no single paused on this line":                                    {Path: "spec.paused", From: "false", To: "true", Line: 3},
		"in.yaml:9: spec.replicas: there is no such line":                                                   {Path: "spec.replicas", From: "1", To: "2", Line: 9},
	} {
		e.File = "in.yaml"
		if _, err := Text([]byte(text), []record.Edit{e}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// The last line has no end, and a script below the field has a line that looks like a comment.
	const script = "spec:\n- name: web\n  args:\n  - |\n    a\n    # no comment"
	hook := record.Edit{Path: "spec[0].lifecycle", To: "x", YAML: []string{"lifecycle:", "  preStop: {}"}, Line: 2}
	if got, err := Text([]byte(script), []record.Edit{hook}); err != nil || string(got) != script+"\n  lifecycle:\n    preStop: {}" {
		t.Errorf("%v: %q", err, got)
	}
	got, err := Text([]byte(text), []record.Edit{{Path: "spec.replicas", From: "1", To: "2", Line: 3}})
	if want := strings.Replace(text, "replicas: 1", "replicas: 2", 1); err != nil || string(got) != want {
		t.Errorf("%v: %s", err, got)
	}
}
