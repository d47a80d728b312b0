package play

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/servers"
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

// What a page may choose from is what the command line takes, each with its words, and what is in force is one of them.
func TestWhatAPageMayChooseFrom(t *testing.T) {
	t.Parallel()
	flags := Flags{Actions: []string{"rollout"}, Env: "kind", LB: "aws-nlb", Profile: "ignores", KubernetesVersion: "1.30"}
	offered, inForce := choices(&Ask{Flags: flags}, &read{})
	want := map[string][]string{"action": scenario.Actions()}
	for _, e := range scenario.Environments() {
		want["env"] = append(want["env"], e.ID)
	}
	for _, p := range servers.Profiles() {
		want["profile"] = append(want["profile"], p.ID)
	}
	for minor := 36; minor >= 19; minor-- {
		want["kubernetes-version"] = append(want["kubernetes-version"], fmt.Sprintf("1.%d", minor))
	}
	for _, o := range balancers() {
		want["lb"] = append(want["lb"], o.Value)
	}
	got := map[string][]string{}
	for name, list := range offered {
		for _, o := range list {
			got[name] = append(got[name], o.Value)
			if needs := name == "env" || name == "profile"; needs && o.Words == "" {
				t.Errorf("%s %s is not explained", name, o.Value)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"action": "rollout", "env": "kind", "lb": "aws-nlb", "profile": "ignores", "kubernetes-version": "1.30"}, inForce); diff != "" {
		t.Error(diff)
	}
	_, inForce = choices(&Ask{}, &read{})
	if inForce["lb"] != "auto" || inForce["kubernetes-version"] != "1.36" {
		t.Errorf("nothing is said: %v", inForce)
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

// anyway is the app behind a port of the node, where one of three nodes answers nobody, whatever is done.
var anyway = strings.Replace(strings.Replace(app, "replicas: 3", "replicas: 2", 1), "  ports: [{port: 80,", "  type: NodePort\n  externalTrafficPolicy: Local\n  ports: [{port: 80,", 1)

// ranLanes are the timelines of a record by case, as JSON has them.
func ranLanes(t *testing.T, a Ask) map[string]map[string]any {
	t.Helper()
	var out struct {
		Ran
		Record struct {
			Cases []struct {
				ID       string
				Timeline map[string]any
			}
		}
	}
	ask(t, a, &out)
	lanes := map[string]map[string]any{}
	for _, c := range out.Record.Cases {
		lanes[c.ID] = c.Timeline
	}
	return lanes
}

func encodedLanes(t *testing.T, lanes map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(lanes)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A run that is drawn at once is the same as in a record, but for the requests that are counted there.
func TestDrawIsARunOfTheRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		flags Flags
	}{
		"requests are lost":      {app, Flags{Seed: "5"}},
		"nothing is lost":        {turnedTo(t, app, "prestop", "20s"), Flags{}},
		"something fails anyway": {anyway, Flags{Nodes: "3", ConnectTimeout: "1s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := ranLanes(t, Ask{Do: "run", Manifest: c.text, Flags: c.flags, Quick: true, Runs: 1})
			if len(want) == 0 {
				t.Fatal("no cases")
			}
			for id, lanes := range want { // order: each by itself
				var got struct {
					Drawn
					Timeline map[string]any
				}
				seed, _ := lanes["seed"].(float64)
				ask(t, Ask{Do: "draw", Manifest: c.text, Flags: c.flags, Case: id, Seed: uint64(seed)}, &got)
				if got.Case != id || got.Manifest != c.text || got.Refused != "" || len(got.Errors) > 0 {
					t.Fatalf("%s: %+v", id, got.Drawn)
				}
				if name == "something fails anyway" && !strings.Contains(encodedLanes(t, lanes), `"without":true`) {
					t.Errorf("%s: nothing does", id)
				}
				for _, counted := range []string{"clients", "leftOut"} {
					delete(got.Timeline, counted)
					delete(lanes, counted)
				}
				if !reflect.DeepEqual(got.Timeline, lanes) {
					t.Errorf("%s: another run:\n%v\nwant\n%v", id, got.Timeline, lanes)
				}
			}
		})
	}
}

func TestDrawTurnsBefore(t *testing.T) {
	t.Parallel()
	var out struct {
		Drawn
		Timeline *struct{ Seed uint64 }
	}
	question := Ask{Do: "draw", Manifest: app, Case: "default/web/rollout/web:80", Seed: 3, Workload: "Deployment default/web", Knob: "prestop", Value: "7"}
	ask(t, question, &out)
	if want := turnedTo(t, app, "prestop", "7s"); out.Manifest != want || out.Timeline == nil || out.Timeline.Seed != 3 {
		t.Errorf("%+v", out)
	}
	out.Timeline = nil
	question.Case = "default/web/rollout/gone:80"
	if ask(t, question, &out); out.Timeline != nil || out.Refused != "" {
		t.Errorf("of a case that is not there: %+v", out)
	}
	question.Value = "never"
	if ask(t, question, &out); out.Refused == "" || out.Manifest != app {
		t.Errorf("a value that none is: %+v", out)
	}
}

func TestUndrawnHasNoTimelines(t *testing.T) {
	t.Parallel()
	for id, lanes := range ranLanes(t, Ask{Do: "run", Manifest: app, Quick: true, Undrawn: true}) { // order: each by itself
		if lanes != nil {
			t.Errorf("%s is drawn", id)
		}
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
		"an unknown question":   {`{"do":"rm"}`, "want look, turn, draw or run"},
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

// What the page asks stands under each record as the command that says the same in a shell: each setting by its flag, in quotes where it needs
// them. The record's own line, which others add to, leaves out how much is run; the page's line has that, too.
func TestTheCommandOfAnAsk(t *testing.T) {
	t.Parallel()
	all := Flags{
		Actions: Words{"rollout", "drain=node-1"}, ConnectTimeout: "1s", Env: "kind", FeatureGates: Words{"A=true", "B=false"}, KubernetesVersion: "1.30",
		LB: "aws-nlb-ip", Nodes: "5", Profile: "nginx", Rate: "50/s", Seed: "7", Set: List{"nodes.count=4", "a b=c"}, Target: "web", Timeout: "2s", Until: "2m",
	}
	const flags = " --action rollout,drain=node-1 --connect-timeout 1s --env kind --feature-gates A=true,B=false --kubernetes-version 1.30" +
		" --lb aws-nlb-ip --nodes 5 --profile nginx --rate 50/s --set nodes.count=4 --set 'a b=c' --target web --timeout 2s --until 2m"
	for name, c := range map[string]struct {
		ask         Ask
		some, whole string
	}{
		"nothing but a name": {Ask{Name: "web.yaml"}, "lameduck sim -f web.yaml", "lameduck sim -f web.yaml"},
		"every flag":         {Ask{Name: "my app.yaml", Flags: all}, "lameduck sim -f 'my app.yaml'" + flags, "lameduck sim -f 'my app.yaml'" + flags + " --seed 7"},
		"so many runs":       {Ask{Name: "web.yaml", Runs: 12}, "lameduck sim -f web.yaml", "lameduck sim -f web.yaml --runs 12"},
		"a quick look": {Ask{Name: "web.yaml", Quick: true}, "lameduck sim -f web.yaml",
			fmt.Sprintf("lameduck sim -f web.yaml --runs %d --sensitivity=false --fixes 0", quickRuns)},
	} {
		if some, whole := c.ask.command(false), c.ask.command(true); some != c.some || whole != c.whole {
			t.Errorf("%s:\n%s\n%s, want\n%s\n%s", name, some, whole, c.some, c.whole)
		}
	}
}

// What is amiss with a flag is at no line of the manifest, and says the flag, as in a terminal.
func TestAWarningOfAFlagIsAtNoLine(t *testing.T) {
	t.Parallel()
	var out Looked
	ask(t, Ask{Do: "look", Manifest: app, Flags: Flags{LB: "gke-l4"}}, &out)
	want := Problem{Text: "--lb gke-l4: spec.loadBalancer.preset: no traffic goes through a load balancer: that wants a Service of type LoadBalancer, or via: [lb]"}
	if !slices.Contains(out.Warnings, want) {
		t.Errorf("got %+v, want %+v", out.Warnings, want)
	}
}
