package sweep

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/story"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// simulate runs the cases of a manifest with one Deployment behind one Service, whose fields
// are given.
func simulate(t *testing.T, deployment, container string, opts scenario.Options, run Options) *record.Simulation {
	t.Helper()
	s, err := runKept(context.Background(), t, oneCase(t, deployment, container, opts), run)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// oneCase is the rollout of a Deployment with lines of a test's own, behind a Service.
func oneCase(t *testing.T, deployment, container string, opts scenario.Options) []scenario.Case {
	t.Helper()
	text := fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
%s
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx
        ports: [{containerPort: 8080}]
%s
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`, deployment, container)
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	opts.Actions = []string{"rollout"}
	cases, more := scenario.Infer(objects, opts)
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || len(cases) != 1 {
		t.Fatalf("%d cases, %v %v", len(cases), problems, more)
	}
	return cases
}

const readiness = "        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}"

// The story of the commonest cause of each world, whole, as reports print it.
func TestStories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deployment, container string
		opts                  scenario.Options
	}{
		"no-prestop":         {"  replicas: 2", readiness, scenario.Options{}},
		"unavailable":        {"  replicas: 1\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}", readiness, scenario.Options{}},
		"recreate":           {"  replicas: 2\n  strategy: {type: Recreate}", readiness, scenario.Options{}},
		"no-readiness-probe": {"  replicas: 2", "", scenario.Options{Set: []string{"start=5s"}}},
		"grace-too-short":    {"  replicas: 2", readiness, scenario.Options{Profile: "ignores", Rate: "10/s", Set: []string{"apps.web.serve=1500ms"}}},
		"ready-then-crash":   {"  replicas: 2", readiness, scenario.Options{Set: []string{"apps.web.revisions.new.crashAfter=3s"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := simulate(t, c.deployment, c.container, c.opts, Options{Runs: 3})
			var b strings.Builder
			for i := range s.Cases[0].Causes {
				x := &s.Cases[0].Causes[i]
				if i == 0 {
					fmt.Fprintf(&b, "%s, %s, elsewhere %t: %s", x.Cause, x.Actor, x.Elsewhere, tale(x.Culprit.What, x.Culprit.File, x.Culprit.Line))
					for _, l := range x.Story {
						fmt.Fprintf(&b, "  %-8s %s", (l.At - l.At%1_000_000).Seconds(), tale(l.Words(), l.File, l.Line))
					}
				}
				wellTold(t, x)
			}
			golden(t, name, b.String())
		})
	}
}

func tale(words, file string, line int) string {
	if file == "" {
		return words + "\n"
	}
	return fmt.Sprintf("%s  [%s:%d]\n", words, file, line)
}

// wellTold checks what holds for any story.
func wellTold(t *testing.T, x *record.Cause) {
	t.Helper()
	own := 0
	for i, l := range x.Story {
		if i > 0 && l.At < x.Story[i-1].At {
			t.Errorf("%s: %q before %q", x.Cause, x.Story[i-1].Words(), l.Words())
		}
		if l.Lost != nil {
			own++
		}
	}
	named := slices.ContainsFunc(x.Story, func(l story.Line) bool { return l.Blamed })
	if events := []ledger.Cause{ledger.KilledInFlight, ledger.ExitInFlight, ledger.LivenessRestart, ledger.ListenerClosed}; !named && slices.Contains(events, x.Cause) {
		t.Errorf("%s: no line says where the loss comes from", x.Cause)
	}
	if own != 1 || len(x.Story) < 3 || len(x.Story) > 16 {
		t.Errorf("%s: a story of %d lines, %d of them the request's", x.Cause, len(x.Story), own)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "story-"+name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestEventsInOrder(t *testing.T) {
	t.Parallel()
	lines := []string{"old pod 0 deleted", "new pod 0 ready", "old pod 0 gone"}
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{nil, ""},
		{[]string{"deleted", "gone"}, ""},
		{[]string{"pod 0", "pod 0", "pod 0"}, ""},
		{[]string{"killed"}, `"killed" did not happen`},
		{[]string{"ready", "deleted"}, `"deleted" did not happen after "ready"`},
	} {
		if got := outOfOrder(lines, c.texts); got != c.want {
			t.Errorf("%q: %q, want %q", c.texts, got, c.want)
		}
	}
}

// The story of a request is the same whether the rules of all nodes are written down or of those alone that examples came to; of one
// that met no node's rules none are.
func TestAStoryNeedsTheRulesOfItsNodeAlone(t *testing.T) {
	t.Parallel()
	cases := append(webCases(t), balanced(t, "aws-nlb-ip", "gke-l4")...)
	told, nodeless := 0, 0
	for i := range cases {
		for _, u := range unitsOf(cases[i : i+1]) {
			if u.sc == nil {
				continue
			}
			p := &pool{ctx: context.Background(), opts: &Options{Seed: 1, Runs: 3}}
			central(p, []*unit{u})
			if err := p.tell(u, &u.record); err != nil {
				t.Fatal(err)
			}
			for _, x := range u.record.Causes {
				_, all, err := storied(u.sc, x.Example.Seed, nil)
				if err != nil {
					t.Fatal(err)
				}
				if want := all.Tell(x.Example.Request); !slices.Equal(wordsOf(x.Story), wordsOf(want)) {
					t.Errorf("%s, %s:\n%v\nwith the rules of all nodes:\n%v", u.record.ID, x.Cause, wordsOf(x.Story), wordsOf(want))
				}
				if told++; x.Example.Request.Node < 0 {
					nodeless++
				}
			}
		}
	}
	if told == nodeless || nodeless == 0 {
		t.Errorf("%d stories, %d of them of no node: the test shows nothing", told, nodeless)
	}
}

// How the first pod was replaced is the same whether all rules of nodes are written down or what they say of that pod alone, also
// where nodes fall back to pods that terminate.
func TestHowAPodWasReplacedNeedsTheRulesAboutItAlone(t *testing.T) {
	t.Parallel()
	const patient = "\n        lifecycle: {preStop: {sleep: {seconds: 30}}}"
	fallback, lines := 0, 0
	for _, c := range []struct{ deployment, container string }{
		{"  replicas: 3", readiness + patient}, {"  replicas: 1\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}", readiness + patient},
		{"  replicas: 2\n  strategy: {type: Recreate}", readiness + patient},
	} {
		sc := oneCase(t, c.deployment, c.container, scenario.Options{})[0].Scenario
		for seed := range uint64(3) {
			_, all, err := storied(sc, seed+1, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := (&pool{}).replaced(sc, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(wordsOf(got.Kept()), wordsOf(all.Kept())) || got.Fallback() != all.Fallback() {
				t.Errorf("%s: %v, %s s\nwith all rules:\n%v, %s s", c.deployment, got.Kept(), got.Fallback().Seconds(), all.Kept(), all.Fallback().Seconds())
			}
			if len(got.All()) >= len(all.All()) {
				t.Errorf("%s: %d events are written down of %d", c.deployment, len(got.All()), len(all.All()))
			}
			lines += len(got.Kept())
			if got.Fallback() > 0 {
				fallback++
			}
		}
	}
	if fallback == 0 || lines == 0 {
		t.Errorf("%d runs fall back, %d lines: the test shows nothing", fallback, lines)
	}
}
