package sweep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// manyWorkloads is a file of Deployments, each behind a Service, that are the same but for their names.
func manyWorkloads(n int) []byte {
	return workloads(n, func(int) (int, int, string) { return 3, 5, "" })
}

// unlikeWorkloads are no two the same: they have 1 to 6 replicas, probes every 1 to 11 s, a preStop hook or none, minReadySeconds or none,
// a start-up probe or none.
func unlikeWorkloads(n int) []byte {
	return workloads(n, func(i int) (replicas, period int, container string) {
		replicas, period = 1+i%6, 1+i/6%11
		if i/66%2 == 1 {
			container += "\n        lifecycle: {preStop: {sleep: {seconds: 3}}}"
		}
		if i/132%2 == 1 {
			container += "\n        startupProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}"
		}
		if i/264%2 == 1 {
			container += "\n        livenessProbe: {httpGet: {path: /, port: 8080}}"
		}
		return replicas, period, container
	})
}

// workloads is a file of Deployments, each behind a Service, with replicas, the period of the readiness probe and more of its container.
func workloads(n int, of func(i int) (replicas, period int, container string)) []byte {
	var b strings.Builder
	for i := range n {
		replicas, period, container := of(i)
		fmt.Fprintf(&b, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-%[1]d, namespace: shop}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: web-%[1]d}}
  template:
    metadata: {labels: {app: web-%[1]d}}
    spec:
      containers:
      - name: web
        image: example.com/web
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: %[3]d}%[4]s
---
apiVersion: v1
kind: Service
metadata: {name: web-%[1]d, namespace: shop}
spec:
  selector: {app: web-%[1]d}
  ports: [{port: 80, targetPort: 8080}]
`, i, replicas, period, container)
	}
	return []byte(b.String())
}

// All that `lameduck sim -f FILE` does with such a file but for printing. The budget of the design is 60 s on two cores for 300.
func BenchmarkManyWorkloads(b *testing.B) {
	for name, file := range map[string]func(int) []byte{"alike": manyWorkloads, "unlike": unlikeWorkloads} {
		for _, n := range []int{12, 60, 300} {
			b.Run(fmt.Sprintf("%s/workloads=%d", name, n), func(b *testing.B) {
				data := file(n)
				worlds := map[Purpose]int{}
				for b.Loop() {
					objects, _ := manifest.Load([]manifest.File{{Name: "many.yaml", Data: data}}, manifest.Options{})
					cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
					s, err := Run(context.Background(), cases, Options{Sensitivity: true, Fixes: -1, Counts: worlds})
					if err != nil || len(s.Cases) != n {
						b.Fatalf("%d cases: %v", len(s.Cases), err)
					}
				}
				report(b, worlds)
			})
		}
	}
}

// All that `lameduck sim -f FILE` does but for printing: reading, runs, other values, fixes. The budget is 4 s on two cores for
// each file of the corpus.
func BenchmarkFile(b *testing.B) {
	files, _ := filepath.Glob("../../../shared/corpus/*.yaml")
	for _, name := range append([]string{"../../examples/web-app.yaml"}, files...) {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		read := func() []scenario.Case {
			objects, _ := manifest.Load([]manifest.File{{Name: name, Data: data}}, manifest.Options{})
			cases, _ := scenario.Infer(objects, scenario.Options{})
			return cases
		}
		units := 0
		for _, u := range unitsOf(read()) {
			if u.sc != nil {
				units++
			}
		}
		b.Run(fmt.Sprintf("%s/bytes=%d/worlds=%d", strings.TrimSuffix(filepath.Base(name), ".yaml"), len(data), units), func(b *testing.B) {
			worlds := map[Purpose]int{}
			for b.Loop() {
				if _, err := Run(context.Background(), read(), Options{Sensitivity: true, Fixes: -1, Counts: worlds}); err != nil {
					b.Fatal(err)
				}
			}
			report(b, worlds)
		})
	}
}

// report is how many worlds were simulated for what, in each loop.
func report(b *testing.B, worlds map[Purpose]int) {
	b.Helper()
	for _, what := range Purposes {
		b.ReportMetric(float64(worlds[what])/float64(b.N), string(what)+"-worlds")
	}
}
