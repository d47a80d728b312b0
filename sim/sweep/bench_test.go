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

// manyWorkloads is a file of Deployments, each behind a Service.
func manyWorkloads(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-%[1]d, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web-%[1]d}}
  template:
    metadata: {labels: {app: web-%[1]d}}
    spec:
      containers:
      - name: web
        image: example.com/web
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 5}
---
apiVersion: v1
kind: Service
metadata: {name: web-%[1]d, namespace: shop}
spec:
  selector: {app: web-%[1]d}
  ports: [{port: 80, targetPort: 8080}]
`, i)
	}
	return []byte(b.String())
}

// The budget of the design for all that is done with such a file, further runs included: 60 s
// on two cores. Here it is read and each workload's rollout is run with 20 seeds.
func BenchmarkManyWorkloads(b *testing.B) {
	for _, n := range []int{12, 300} {
		const seeds = 20
		b.Run(fmt.Sprintf("workloads=%d/seeds=%d", n, seeds), func(b *testing.B) {
			data := manyWorkloads(n)
			runs := 0
			for b.Loop() {
				objects, _ := manifest.Load([]manifest.File{{Name: "many.yaml", Data: data}}, manifest.Options{})
				cases, _ := scenario.Infer(objects, scenario.Options{})
				s, err := Run(context.Background(), cases, Options{Runs: seeds})
				if err != nil || len(s.Cases) != n {
					b.Fatalf("%d cases: %v", len(s.Cases), err)
				}
				runs += n * seeds
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(runs)/1000, "ms/run")
		})
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
			for b.Loop() {
				if _, err := Run(context.Background(), read(), Options{Sensitivity: true, Fixes: -1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
