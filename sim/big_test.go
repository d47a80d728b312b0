package sim

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// bigCluster is a rollout of one of many equal Deployments in a large cluster: two pods in a
// hundred at a time, each pod served by its Service, and traffic from all nodes to the one that
// is rolled, until the tenth minute.
func bigCluster(tb testing.TB, nodes, workloads, replicas, rate int) *world.Scenario {
	tb.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `
apiVersion: lameduck/v1alpha1
kind: Scenario
metadata: {name: big}
spec:
  nodes: {count: %d, zones: [a, b, c]}
  until: 600s
  traffic:
  - {name: inside, to: "web-0:80", from: pods, rate: %d/s, connection: per-request, timeout: 5s}
  actions:
  - {at: 10s, rolloutRestart: deployment/web-0}
  - {at: 599s, resume: deployment/web-0}
`, nodes, rate)
	for i := range workloads {
		fmt.Fprintf(&b, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-%[1]d}
spec:
  replicas: %[2]d
  strategy:
    rollingUpdate: {maxSurge: 2%%, maxUnavailable: 0}
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
metadata: {name: web-%[1]d}
spec:
  selector: {app: web-%[1]d}
  ports: [{port: 80, targetPort: 8080}]
`, i, replicas)
	}
	objects, problems := manifest.Load([]manifest.File{{Name: "big.yaml", Data: []byte(b.String())}}, manifest.Options{})
	list, more := scenario.Parse(objects, scenario.Options{})
	for _, p := range append(problems, more...) {
		if p.Severity == manifest.Error {
			tb.Fatal(p)
		}
	}
	return list[0]
}

// The budget of the design: 1,000 nodes, 20,000 pods, a rollout of 1,000 replicas under 50,000
// requests a second for ten minutes within 15 s and 2 GiB.
func BenchmarkBigCluster(b *testing.B) {
	b.Run("nodes=1000/pods=20000/replicas=1000/requests=30M", func(b *testing.B) {
		sc := bigCluster(b, 1000, 20, 1000, 50_000)
		var requests, failed, events uint64
		for b.Loop() {
			r, err := Run(sc, 1)
			if err != nil {
				b.Fatal(err)
			}
			all := r.Ledger.All()
			requests, failed, events = requests+all.Total, failed+all.Failed, events+r.Events
		}
		b.ReportMetric(float64(requests)/float64(b.N), "requests/op")
		b.ReportMetric(float64(failed)/float64(b.N), "failed/op")
		b.ReportMetric(float64(events)/float64(b.N), "events/op")
		b.ReportMetric(peakMiB(b), "peak-MiB")
	})
}

// kubectl drain of 1,000 nodes one after another, each with a pod of each of 20 Deployments, under 50,000 requests a second, until
// all of their 20,000 pods have moved to the other 1,000 nodes.
func BenchmarkDrain(b *testing.B) {
	b.Run("nodes=1000/pods=20000/rate=50000", func(b *testing.B) {
		const drained, workloads = 1000, 20
		sc := bigCluster(b, 2*drained, workloads, drained, 50_000)
		o := world.Drain{DrainOptions: world.DrainOptions{GracePeriod: world.OwnGrace}}
		for n := range drained {
			o.Nodes = append(o.Nodes, sc.Nodes[n].Name)
			for i := range sc.Workloads {
				sc.Workloads[i].Placed = append(sc.Workloads[i].Placed, world.Placed{Node: sc.Nodes[n].Name, Ready: true})
			}
		}
		sc.Actions, sc.Until = []world.Action{{At: sc.Warmup, Operation: o}}, 24*engine.Hour
		defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command has it
		for b.Loop() {
			r, err := Run(sc, 1)
			if err != nil {
				b.Fatal(err)
			}
			if !r.Settled {
				b.Fatal(r.Unrest)
			}
			b.ReportMetric(float64(r.Ledger.All().Total), "requests/op")
			b.ReportMetric(float64(r.Ledger.All().Failed), "failed/op")
			b.ReportMetric(float64(r.Events), "events/op")
			b.ReportMetric(r.End.Duration().Seconds(), "simulated-s/op")
		}
		b.ReportMetric(peakMiB(b), "peak-MiB")
	})
}

// The largest rollout that is simulated: 20,000 replicas on 1,000 nodes, in minutes and 2 GiB. Two writes a pod at 20 a second take more than half an
// hour of the cluster's time.
func BenchmarkLargestRollout(b *testing.B) {
	manifests := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 20000
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.com/web
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /, port: 8080}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(manifests)}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Nodes: 1000, Actions: []string{"rollout"}})
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command has it
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 29))
	for b.Loop() {
		r, err := Run(cases[0].Scenario, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Events), "events/op")
		b.ReportMetric(r.End.Duration().Seconds(), "simulated-s/op")
	}
	b.ReportMetric(peakMiB(b), "peak-MiB")
}

// peakMiB is the most resident memory the process has had so far.
func peakMiB(tb testing.TB) float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0 // no Linux
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			if err != nil {
				tb.Fatal(err)
			}
			return kib / 1024
		}
	}
	return 0
}
