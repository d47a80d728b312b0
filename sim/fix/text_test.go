package fix

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
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
		"all at once":              {"STRATEGY": "  strategy:\n    type: Recreate # old and new must not meet\n"},
		"a probe is slow":          {"STRATEGY": "  strategy:\n    type: Recreate\n", "CONTAINER": "        readinessProbe: # of the app\n          periodSeconds: 20 # seldom\n          tcpSocket:\n            port: 8080\n"},
		"a hook is first":          {"CONTAINER": "      - lifecycle:\n          postStart:\n            exec:\n              command: [\"true\"]\n        name: web-log\n        image: busybox # a sidecar\n"},
		"all at once, and many":    {"REPLICAS": "  replicas: 6\n", "STRATEGY": "  strategy:\n    type: Recreate\n"},
		"a port that is not there": {"CONTAINER": "        startupProbe:\n          httpGet:\n            path: /healthz\n            port: http # by name\n"},
		"gates that nobody sets":   {"GRACE": "      readinessGates: # of somebody\n      - conditionType: example.com/well\n"},
		"one pod for each node": {
			"REPLICAS": "  replicas: 6 # many\n", "GRACE": "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}\n",
			"CONTAINER": "        livenessProbe:\n          httpGet:\n            path: /\n            port: 8080\n            host: web.example\n            httpHeaders: [{name: X-A, value: \"1\"}]\n",
		},
	} {
		text := filled(lines)
		s, w := worldOf(t, text, scenario.Options{Nodes: 4})
		for _, c := range append(Changes(s, w, 7*engine.Second), Unblock(s, w)...) {
			if len(c.Edits) == 0 || c.Gate || c.Drain > 0 || c.ReadyOnly || c.KeepUnhealthy {
				continue
			}
			got, err := edit.Text([]byte(text), c.Edits)
			if err != nil {
				t.Errorf("%s, %s: %v", name, c.ID, err)
				continue
			}
			tried[c.ID]++
			want := Apply(s, "shop/web", []Change{c}).Workload("shop/web").Deployment()
			if diff := cmp.Diff(want.Spec, deploymentIn(t, got).Spec, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, %s: -tried +written\n%s\n%s", name, c.ID, diff, got)
			}
			if strings.Count(string(got), "#") != strings.Count(text, "#") && c.ID != "preStop" && c.ID != "readinessGates" {
				t.Errorf("%s, %s: a comment is gone\n%s", name, c.ID, got)
			}
		}
	}
	for _, id := range []string{
		"maxUnavailable", "preStop", "minReadySeconds", "readinessProbe", "readinessPeriod", "startupProbe", "terminationGracePeriodSeconds",
		"inPlace", "probePort", "readinessGates", "replicas",
	} {
		if tried[id] == 0 {
			t.Errorf("%s was not tried: %v", id, tried)
		}
	}
}

// filled is fill, with a line in place of the replicas, too.
func filled(lines map[string]string) string {
	text := fill(lines)
	if line := lines["REPLICAS"]; line != "" {
		text = strings.Replace(text, "  replicas: 2\n", line, 1)
	}
	return text
}

// Strategy Recreate becomes a rollout with one pod more, however many there are: the default of maxSurge is more than one of six.
func TestARecreatedWorkloadIsRolledOneByOne(t *testing.T) {
	t.Parallel()
	for replicas, want := range map[string]string{"4": "maxUnavailable: 0", "6": "{maxUnavailable: 0, maxSurge: 1}"} { // order: each for itself
		s, w := worldOf(t, filled(map[string]string{"REPLICAS": "  replicas: " + replicas + "\n", "STRATEGY": "  strategy:\n    type: Recreate\n"}), scenario.Options{})
		c := Changes(s, w, engine.Second)[0]
		surge, unavailable := Apply(s, "shop/web", []Change{c}).Workload("shop/web").Fenceposts()
		if last := c.Edits[1]; surge != 1 || unavailable != 0 || last.Path[strings.LastIndexByte(last.Path, '.')+1:]+": "+last.To.String() != want && last.To.String() != want {
			t.Errorf("%s replicas: %d more, %d missing with %+v", replicas, surge, unavailable, c.Edits)
		}
	}
}

// A change of another object than the workload is the same in its text: what the label of a Namespace or the annotation of a Service
// becomes.
func TestTextOfARemedyIsTheObjectThatIsEdited(t *testing.T) {
	t.Parallel()
	const namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop # all of it\n"
	for name, c := range map[string]struct{ text, id string }{ // order: each for itself
		"a Namespace without labels": {namespace, "readinessGate"},
		"one with labels":            {namespace + "  labels: # of the team\n    team: web\n", "readinessGate"},
		"one that says no":           {namespace + "  labels:\n    elbv2.k8s.aws/pod-readiness-gate-inject: disabled # not yet\n", "readinessGate"},
	} {
		text := c.text + "---\n" + strings.Replace(fill(map[string]string{}), "  selector: {app: web}\n", "  type: LoadBalancer\n  selector: {app: web}\n", 1)
		s, w := worldOf(t, text, scenario.Options{LB: "aws-nlb-ip"})
		found := false
		for _, change := range Changes(s, w, engine.Second) {
			if change.ID != c.id {
				continue
			}
			found = true
			got, err := edit.Text([]byte(text), change.Edits)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			namespace, ok := s.Namespaces["shop"].Value.(*corev1.Namespace)
			if !ok {
				t.Fatalf("%s: the Namespace is a %T", name, s.Namespaces["shop"].Value)
			}
			want := namespace.DeepCopy()
			if err := change.Edits[0].Apply(want); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: got}}, manifest.Options{})
			if diff := cmp.Diff(want, objects.Namespaces[0].Value); diff != "" || want.Labels["elbv2.k8s.aws/pod-readiness-gate-inject"] != "enabled" {
				t.Errorf("%s: -tried +written\n%s\n%s", name, diff, got)
			}
			if strings.Count(string(got), "#") != strings.Count(text, "#") {
				t.Errorf("%s: a comment is gone\n%s", name, got)
			}
		}
		if !found {
			t.Errorf("%s: no %s", name, c.id)
		}
	}
}

func deploymentIn(t *testing.T, text []byte) *appsv1.Deployment {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: text}}, manifest.Options{})
	if manifest.HasErrors(problems) || len(objects.Deployments) != 1 {
		t.Fatalf("%v\n%s", problems, text)
	}
	return objects.Deployments[0].Value
}
