package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Whatever the input is, its text keeps to the page: its width, and its number of lines.
func TestTextsOfManyWorkloadsKeepToThePage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct { // order: each for itself
		workloads int
		much      sweep.Options
	}{
		"twelve, with assumptions and fixes": {12, sweep.Options{Seed: 1, Runs: 2, Sensitivity: true, Fixes: 3, ConfirmRuns: 2}},
		"forty":                              {40, sweep.Options{Seed: 1, Runs: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keeps(t, run(t, "many.yaml", workloadsOf(tt.workloads), scenario.Options{}, tt.much))
		})
	}
}

// The corpus is real: nobody has written it so that it fits. It is kept outside the repository, which has manifests like it.
func TestTextsOfTheCorpusKeepToThePage(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../scenario/testdata/manifests/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	more, err := filepath.Glob("../../../shared/corpus/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, more...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			keeps(t, run(t, file, string(data), scenario.Options{}, sweep.Options{Seed: 1, Runs: 1, Fixes: 1, ConfirmRuns: 1}))
		})
	}
}

// Whatever is done to a workload, and however long the names are that a fix has to repeat.
func TestTextsOfEveryActionKeepToThePage(t *testing.T) {
	t.Parallel()
	all := scenario.Actions()
	for name, tt := range map[string]struct { // order: each for itself
		actions []string
		fixes   int
	}{
		"long-labels": {nil, 1}, "daemonset": {all, 0}, "unknown-lb": {[]string{"drain", "crash"}, 1}, "canary": {all, 0}, "host-ports": {all, 1},
		"entries": {[]string{"rollout", "evict"}, 1}, "recreate": {all, 1}, "npm": {[]string{"drain", "evict", "crash"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("testdata/" + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			keeps(t, run(t, "deploy/overlays/production/"+name+".yaml", string(data), scenario.Options{Actions: tt.actions}, sweep.Options{Seed: 1, Runs: 1, Fixes: tt.fixes, ConfirmRuns: 1}))
		})
	}
}

// The worst of everything at once: all families with long names and fixes, every kind of note, more assumptions than fit.
func TestTheFullestTextKeepsToThePage(t *testing.T) {
	t.Parallel()
	const title = "strategy RollingUpdate, maxUnavailable: 0, preStop: sleep 310 instead of /wait-shutdown, terminationGracePeriodSeconds: 550"
	s := example()
	families(s)
	c := &s.Cases[1]
	for i := range c.Families {
		c.Families[i].Name = fmt.Sprintf("A load balancer with a long name, number %d", i)
		c.Families[i].Fix = &record.Fix{Title: title, Least: "132 s", Families: []string{"aws-nlb-ip", "gke-l4-local"}, Cost: "each pod takes 310 s longer to stop",
			NotWith: []record.OtherValue{{ID: "start", Value: "20s"}}, Destructive: "strategy Recreate is for versions that must not run at the same time",
			Cases: []record.FixedCase{{ID: c.ID, Before: c.LostSeconds, After: record.Range{Max: 1}, Runs: 2, Confirm: record.Confirm{Runs: 200, WithLoss: 3, LostSeconds: record.Range{Max: 1}}}}}
		for range 3 {
			c.Families[i].Fix.Edits = append(c.Families[i].Fix.Edits, edit.Edit{File: "web.yaml", Line: 17, Path: "lifecycle.preStop", To: edit.Value{YAML: "{sleep: {seconds: 310}}"}})
		}
	}
	for i := range 30 {
		a := world.Assumption{ID: fmt.Sprintf("a%d", i), What: strings.Repeat("something that nobody has said ", 3), Value: "1s", Basis: "assumed", Settle: "--set latency.something="}
		c.Assumptions = append(c.Assumptions, a)
		c.Alternatives = append(c.Alternatives, record.Alternative{ID: a.ID, Value: "20s", Verdict: record.Outage, Effect: record.VerdictEffect})
		c.NotModelled = append(c.NotModelled[:min(i, 2)], world.NotModelled{What: strings.Repeat("something that is left out ", 3), Direction: "more"})
	}
	s.Cases = s.Cases[1:2]
	keeps(t, s)
}

// keeps holds a text to the limits.
func keeps(t *testing.T, s *record.Simulation) {
	t.Helper()
	worst := s.Worst()
	text := compose(s, TextOptions{})
	legible(t, text, page.Widest)
	if lines, most := strings.Count(text, "\n"), mostLines(worst, chosen(worst, ""), TextOptions{}); lines > most {
		t.Errorf("%d lines, want at most %d:\n%s", lines, most, text)
	}
}

// workloadsOf are workloads of several kinds: with and without probes, single and replicated, of HTTP, gRPC and sessions.
func workloadsOf(n int) string {
	var b strings.Builder
	for i := range n {
		port, probe := "{name: http, port: 80, targetPort: 8080}", "readinessProbe: {tcpSocket: {port: 8080}}"
		switch i % 4 {
		case 1:
			port = "{name: grpc, port: 9090, targetPort: 8080}"
		case 2:
			probe = "imagePullPolicy: Always"
		case 3:
			port = "{port: 6379, targetPort: 8080}"
		}
		fmt.Fprintf(&b, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a-service-with-a-name-%02[1]d, namespace: production}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: a%[1]d}}
  template:
    metadata: {labels: {app: a%[1]d}}
    spec:
      containers:
      - name: server
        image: registry.example.com/team/service-%[1]d:1.0
        ports: [{containerPort: 8080}]
        %[3]s
---
apiVersion: v1
kind: Service
metadata: {name: a-service-with-a-name-%02[1]d, namespace: production}
spec: {selector: {app: a%[1]d}, ports: [%[4]s]}
`, i, i%3+1, probe, port)
	}
	return b.String()
}
