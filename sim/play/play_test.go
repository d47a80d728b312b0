package play

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const app = `# the app
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3 # enough
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx:1.29
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /ready, port: 8080}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`

func ask(t *testing.T, a Ask, into any) {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(Answer(raw, nil), into); err != nil {
		t.Fatal(err)
	}
}

func turnedTo(t *testing.T, manifest, knob, value string) string {
	t.Helper()
	var out Turned
	ask(t, Ask{Do: "turn", Manifest: manifest, Workload: "Deployment default/web", Knob: knob, Value: value}, &out)
	if out.Refused != "" {
		t.Fatalf("%s=%s: %s", knob, value, out.Refused)
	}
	return out.Manifest
}

func TestTurnChangesOneField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		knob, value, from, to string
	}{
		"a number keeps its comment":             {"replicas", "5", "replicas: 3 # enough", "replicas: 5 # enough"},
		"what is not written is added in lines":  {"grace", "45s", "    spec:\n", "    spec:\n"},
		"what is not written is added in braces": {"readiness.periodSeconds", "2s", "readinessProbe: {httpGet", "readinessProbe: {periodSeconds: 2, httpGet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := turnedTo(t, app, c.knob, c.value)
			if want := strings.Replace(app, c.from, c.to, 1); c.from != c.to && got != want {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

func TestTurnThereAndBackKeepsTheText(t *testing.T) {
	t.Parallel()
	lines := strings.Replace(app, "        image: nginx:1.29\n", "        image: nginx:1.29\n        lifecycle:\n          preStop:\n            exec: {command: [sleep, \"5\"]}\n", 1)
	braces := strings.Replace(app, "        image: nginx:1.29\n", "        image: nginx:1.29\n        lifecycle: {preStop: {exec: {command: [sleep, \"5\"]}}}\n", 1)
	for name, text := range map[string]string{"none": app, "in lines": lines, "in braces": braces} {
		with := turnedTo(t, text, "prestop", "7s")
		if !strings.Contains(with, "seconds: 7") {
			t.Errorf("%s: got\n%s", name, with)
		}
		if with = turnedTo(t, with, "prestop", "12s"); !strings.Contains(with, "seconds: 12") {
			t.Errorf("%s: got\n%s", name, with)
		}
		if got := turnedTo(t, with, "prestop", "0s"); got != app {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

func TestTurnOfJSON(t *testing.T) {
	t.Parallel()
	text := `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}},
 "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}}}}`
	for _, c := range [][2]string{{"prestop", "5s"}, {"replicas", "7"}, {"maxSurge", "50%"}, {"minReadySeconds", "3s"}} {
		if got := turnedTo(t, text, c[0], c[1]); !json.Valid([]byte(got)) {
			t.Errorf("%s: no JSON:\n%s", c[0], got)
		}
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	var out Looked
	ask(t, Ask{Do: "look", Manifest: app, Flags: Flags{Set: []string{"nodes.proxy.minSyncPeriod=5s"}}}, &out)
	if out.Refused != "" || len(out.Errors) > 0 {
		t.Fatalf("%+v", out.Answered)
	}
	got := map[string]string{}
	for _, k := range out.Knobs {
		got[k.Name] = k.Value
	}
	for name, want := range map[string]string{"prestop": "0s", "grace": "30s", "replicas": "3", "maxSurge": "25%", "nodes.proxy.minSyncPeriod": "5s"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if v := out.Choices["kubernetes-version"]; out.InForce["kubernetes-version"] != "1.36" || v[0].Value != "1.36" {
		t.Errorf("versions: %+v", v)
	}
	ask(t, Ask{Do: "look", Manifest: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: many}\n"}, &out)
	if len(out.Errors) == 0 || out.Errors[0].Line == 0 {
		t.Errorf("errors: %+v", out.Errors)
	}
}

func TestRunIsARecord(t *testing.T) {
	t.Parallel()
	raw, _ := json.Marshal(Ask{Do: "run", Manifest: app, Quick: true, Runs: 3})
	var out struct {
		Ran
		Record struct{ Kind string }
	}
	if err := json.Unmarshal(Answer(raw, nil), &out); err != nil {
		t.Fatal(err)
	}
	if out.Record.Kind != "SimulationResult" || out.Exit != 1 || out.Head == nil || out.Text == "" || len(out.Order) == 0 {
		t.Errorf("%+v", out.Ran)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	many, err := os.ReadFile("../../examples/web-app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ ask, want string }{
		"no JSON":               {`{`, "cannot be read"},
		"an unknown question":   {`{"do":"rm"}`, "want look, turn or run"},
		"a flag of the machine": {`{"do":"run","flags":{"context":"prod"}}`, `"context" is not for the page`},
		"too many runs":         {`{"do":"run","runs":100000}`, "at most 1000"},
		"too long a text":       {encode(Ask{Do: "look", Manifest: strings.Repeat("#", mostBytes+1)}), "lameduck sim -f"},
		"too many pods":         {encode(Ask{Do: "run", Manifest: strings.Replace(string(many), "replicas: 3", "replicas: 5000", 1)}), "5000 pods"},
		"a run without end":     {encode(Ask{Do: "run", Manifest: app, Flags: Flags{Until: "100h"}}), "until 100h"},
		"too many requests":     {encode(Ask{Do: "run", Manifest: app, Flags: Flags{Rate: "1000000/s"}}), "ask more than"},
	} {
		var got Answered
		if err := json.Unmarshal(Answer([]byte(c.ask), nil), &got); err != nil || !strings.Contains(got.Refused, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func encode(a Ask) string {
	raw, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
