package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.com/web
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: peers, namespace: shop}
spec:
  clusterIP: None
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`

func webCases(t *testing.T) []scenario.Case {
	t.Helper()
	return casesOf(t, web)
}

func casesOf(t *testing.T, manifests string) []scenario.Case {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(manifests)}}, manifest.Options{})
	cases, more := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || len(cases) != 2 {
		t.Fatalf("%d cases, %v %v", len(cases), problems, more)
	}
	return cases
}

// The number of processors and of workers changes nothing. Not parallel: it sets GOMAXPROCS.
func TestSameResultsWithAnyNumberOfProcessors(t *testing.T) {
	cases := webCases(t)
	var outputs [][]byte
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		s, err := runKept(context.Background(), t, cases, Options{Runs: 5})
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(plain(s))
		if err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, out)
	}
	if !bytes.Equal(outputs[0], outputs[1]) {
		t.Errorf("GOMAXPROCS 1:\n%s\nGOMAXPROCS 4:\n%s", outputs[0], outputs[1])
	}
}

// plain is what of a simulation can be written as JSON.
func plain(s *record.Simulation) any {
	type group struct {
		ledger.Group
		Nodes, Pods any
	}
	type run struct {
		record.Run
		Groups []group
	}
	out := []any{s.Digest, s.Interrupted}
	for _, c := range s.Cases {
		out = append(out, c.ID, c.Verdict, c.Reason, c.LostSeconds, c.LongestOutage, c.RequestsLost, c.WithLoss, c.WorstSeed, c.Causes)
		for _, r := range c.Runs {
			x := run{Run: r}
			for _, g := range r.Groups {
				x.Groups = append(x.Groups, group{Group: g, Nodes: g.Nodes, Pods: g.Pods})
			}
			out = append(out, x)
		}
	}
	return out
}

func TestRunsAreInSeedOrderAndAddUp(t *testing.T) {
	t.Parallel()
	ended := map[string]string{}
	progress := func(stage string, d, o int) { ended[stage] = fmt.Sprint(d, " of ", o) }
	s, err := runKept(context.Background(), t, webCases(t), Options{Seed: 7, Runs: 3, Workers: 3, Progress: progress})
	if err != nil {
		t.Fatal(err)
	}
	if ended["simulating"] != "6 of 6" || ended["telling"] != "2 of 2" {
		t.Errorf("progress ended at %v", ended)
	}
	for _, c := range s.Cases {
		for i, r := range c.Runs {
			if r.Seed != uint64(7+i) {
				t.Errorf("run %d has seed %d", i, r.Seed)
			}
		}
		sum := c.Totals()
		var caused uint64
		for _, x := range c.Causes {
			caused += x.Count
		}
		if len(c.Runs) != 3 || (sum.Total == 0) != (c.Class == scenario.ClassDNS) || sum.OK+sum.Failed != sum.Total || caused != sum.Failed {
			t.Errorf("%s: %d runs, %+v, causes for %d", c.ID, len(c.Runs), sum.Totals, caused)
		}
	}
}

// Nothing is claimed of a case in which clients choose the pod: it is run, without traffic, for
// what becomes of the pods. Two of web's replicas, none may be missing: each is replaced in time.
func TestDarkPodsOfAHeadlessService(t *testing.T) {
	t.Parallel()
	for _, strategy := range []struct {
		words string
		most  int64
	}{
		{"", 0},
		{"  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n", 1},
		{"  strategy: {type: Recreate}\n", 2},
	} {
		cases := casesOf(t, strings.Replace(web, "  replicas: 2\n", "  replicas: 2\n"+strategy.words, 1))
		s, err := runKept(context.Background(), t, cases[:1], Options{Runs: 6, Sensitivity: true, Fixes: 1})
		if err != nil {
			t.Fatal(err)
		}
		c := &s.Cases[0]
		if c.Class != scenario.ClassDNS || c.Verdict != record.NotJudged || c.Reason != "clients choose the pod" || c.Dark == nil {
			t.Fatalf("%s: %s, %s, %+v", c.ID, c.Verdict, c.Reason, c.Dark)
		}
		if c.Bound != 0 || len(c.Causes)+len(c.Alternatives)+len(c.Clients) > 0 {
			t.Errorf("%q: a verdict on a case without one: %+v", strategy.words, c)
		}
		if c.Dark.Most.Min != strategy.most || c.Dark.Most.Max != strategy.most || (c.Dark.Pods.Min > 0) != (strategy.most > 0) || c.Dark.Rollout.Min < int64(2*engine.Second) {
			t.Errorf("%q: %+v", strategy.words, c.Dark)
		}
	}
}

func TestCancellingKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := Run(ctx, webCases(t), Options{Runs: 50, Workers: 1, Progress: func(_ string, done, _ int) {
		if done == 2 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if done := len(s.Cases[0].Runs) + len(s.Cases[1].Runs); !s.Interrupted || done != 2 {
		t.Errorf("interrupted %v after %d runs", s.Interrupted, done)
	}
}
