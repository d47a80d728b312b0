package play

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// odd has an object beside the app that no cluster takes, and a Service that leads nowhere.
const odd = app + `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: left}
spec:
  selector: {matchLabels: {app: left}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: left, image: nginx}]}
---
apiVersion: v1
kind: Service
metadata: {name: nowhere}
spec: {selector: {app: nobody}, ports: [{port: 80}]}
`

// questions are what the page asks, as JSON, in which APP and ODD are manifests. Each answer is kept whole, but for what is large of it: see brief.
var questions = []string{
	`{"do": "look", "manifest": APP, "flags": {"action": "rollout,drain", "set": "start=1s"}}`,
	`{"do": "look", "manifest": APP, "flags": {"action": ["rollout", "drain"], "set": ["start=1s"]}}`,
	`{"do": "look", "manifest": APP, "flags": {"action": "", "set": "", "feature-gates": ""}}`,
	`{"do": "look", "manifest": APP, "flags": {"action": [], "set": []}}`,
	`{"do": "look", "manifest": APP, "flags": {"set": "start=1s,nodes.count=2"}}`,
	`{"do": "look", "manifest": APP, "flags": {"set": ["start=1s", "start=2s"]}}`,
	`{"do": "look", "manifest": APP, "flags": {"seed": "0"}}`,
	`{"do": "look", "manifest": APP, "flags": {"nodes": "201"}}`,
	`{"do": "look", "manifest": APP, "flags": {"nodes": "200"}}`,
	`{"do": "look", "manifest": APP, "flags": {"lb": "./mine.yaml"}}`,
	`{"do": "look", "manifest": APP, "runs": -1}`,
	`{"do": "look", "manifest": APP, "runs": 1000}`,
	`{"do": "look", "manifest": APP, "runs": 1001}`,
	`{"do": "look", "manifest": "kind: ["}`,
	`{"do": "look", "manifest": "", "name": "mine.yaml"}`,
	`{"do": "turn", "manifest": APP, "workload": "Deployment default/web", "knob": "replicas", "value": "2"}`,
	`{"do": "turn", "manifest": APP, "workload": "Deployment default/web", "knob": "maxSurge", "value": "2"}`,
	`{"do": "turn", "manifest": APP, "workload": "Deployment default/web", "knob": "maxSurge", "value": "25%"}`,
	`{"do": "turn", "manifest": APP, "workload": "Deployment default/web", "knob": "replicas", "value": "2,3"}`,
	`{"do": "turn", "manifest": APP, "workload": "Deployment default/gone", "knob": "replicas", "value": "2"}`,
	`{"do": "turn", "manifest": APP, "workload": "Service default/web", "knob": "replicas", "value": "2"}`,
	`{"do": "turn", "manifest": APP, "knob": "replicas", "value": "2"}`,
	`{"do": "turn", "manifest": APP, "workload": "Deployment default/web", "knob": "start", "value": "2s"}`,
	`{"do": "turn", "manifest": APP, "workload": "Deployment default/web", "knob": "grace", "value": "0"}`,
	`{"do": "draw", "manifest": APP, "case": "default/web/rollout/web:80"}`,
	`{"do": "draw", "manifest": APP, "case": "default/web/rollout/web:80", "seed": 2, "flags": {"rate": "10/s"}}`,
	`{"do": "draw", "manifest": "kind: [", "case": "default/web/rollout/web:80"}`,
	`{"do": "draw", "manifest": APP, "case": "default/web/rollout/web:80", "flags": {"rate": "often"}}`,
	`{"do": "run", "manifest": APP, "name": "my app.yaml", "version": "v1.2.3", "quick": true, "undrawn": true}`,
	`{"do": "run", "manifest": APP, "quick": true, "runs": 1, "undrawn": true, "flags": {"action": "rollout", "seed": "5", "rate": "10/s"}}`,
	`{"do": "run", "manifest": ODD, "quick": true, "runs": 1, "undrawn": true, "flags": {"action": "rollout"}}`,
	`{"do": "run", "manifest": "kind: [", "quick": true}`,
	`{"do": "run", "manifest": "", "quick": true}`,
	`{"do": "run", "manifest": APP, "quick": true, "flags": {"profile": "nobody"}}`,
	`{"do": "", "manifest": APP}`,
	`{"ask": "look"}`,
}

func TestAnswersToQuestions(t *testing.T) {
	t.Parallel()
	quoted := func(text string) string {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	manifests := strings.NewReplacer("APP", quoted(app), "ODD", quoted(odd))
	var out strings.Builder
	for _, q := range questions {
		answer := string(Answer([]byte(manifests.Replace(q)), nil))
		fmt.Fprintf(&out, "%s\n%s\n", q, brief(t, answer))
	}
	golden.Compare(t, "testdata/questions.txt", out.String(), *update)
}

// brief is an answer in lines, with a sum in place of what is large: the choices, the knobs, a record and a timeline.
func brief(t *testing.T, answer string) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(answer), &fields); err != nil {
		t.Fatal(err)
	}
	if raw := fields["timeline"]; len(raw) > 200 { // which requests are counted, and not followed, is no matter of an answer
		var lanes map[string]json.RawMessage
		if err := json.Unmarshal(raw, &lanes); err != nil {
			t.Fatal(err)
		}
		delete(lanes, "clients")
		delete(lanes, "leftOut")
		fields["timeline"], _ = json.Marshal(lanes)
	}
	for _, name := range []string{"choices", "knobs", "record", "timeline"} {
		if raw := fields[name]; len(raw) > 200 {
			fields[name], _ = json.Marshal(fmt.Sprintf("%d bytes, %s", len(raw), short(raw)))
		}
	}
	if string(fields["manifest"]) != "" {
		var text string
		if err := json.Unmarshal(fields["manifest"], &text); err != nil {
			t.Fatal(err)
		}
		fields["manifest"], _ = json.Marshal(strings.Split(text, "\n"))
		if text == app {
			fields["manifest"] = json.RawMessage(`"as it was"`)
		}
	}
	raw, err := json.MarshalIndent(fields, "  ", " ")
	if err != nil {
		t.Fatal(err)
	}
	return "  " + strings.ReplaceAll(string(raw), `\n`, "\n      ")
}

// What is as large as a page takes is taken, and what is larger by one is not.
func TestBoundsOfAPage(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{mostDocuments: "", mostDocuments + 1: "the manifest has 501 documents, and a page reads at most 500: " + elsewhere} {
		if got := words(smallText(strings.Repeat("\n---", n-1))); got != want {
			t.Errorf("%d documents: %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{mostBytes: "", mostBytes + 1: errTooLong.Error()} {
		if got := words(smallText(strings.Repeat("#", n))); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
	of := func(pods, nodes int, until engine.Time, rate int) *world.Scenario {
		sc := &world.Scenario{Nodes: make([]world.Node, nodes), Until: until}
		for _, replicas := range []int{pods / 2, pods - pods/2} {
			d, n := &appsv1.Deployment{}, int32(replicas)
			d.Spec.Replicas = &n
			sc.Workloads = append(sc.Workloads, world.Workload{Resource: d})
		}
		for range 2 {
			sc.Traffic = append(sc.Traffic, world.Traffic{Rate: rate / 2})
		}
		return sc
	}
	for name, c := range map[string]struct {
		sc   *world.Scenario
		want string
	}{
		"as many pods":             {of(500, 40, 60*engine.Second, 1000), ""},
		"too many pods":            {of(501, 1, 60*engine.Second, 1000), "501 pods, and a page simulates at most 500: " + elsewhere},
		"as many nodes":            {of(100, 200, 60*engine.Second, 1000), ""},
		"too many nodes":           {of(1, 201, 60*engine.Second, 1000), "201 nodes, and a page simulates at most 200: " + elsewhere},
		"too many pods for nodes":  {of(101, 199, 60*engine.Second, 1000), "101 pods on 199 nodes, and a page simulates at most 100 pods there: " + elsewhere},
		"as long":                  {of(1, 1, 6*engine.Hour, 1000), ""},
		"too long":                 {of(1, 1, 6*engine.Hour+1, 1000), "a run would go on until 6h0m0.000000001s, and a page simulates at most 6h0m0s: " + elsewhere},
		"as many requests":         {of(1, 1, 20*engine.Second, 1_000_000_000), ""},
		"too many requests":        {of(1, 1, 21*engine.Second, 1_000_000_000), "the clients ask more than 20000000 times until the end of a run at 21s, and a page simulates no more: ask less often, end it sooner with until, or " + elsewhere},
		"nobody asks for anything": {of(1, 1, 6*engine.Hour, 0), ""},
	} {
		if got := words(smallWorld(c.sc)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
