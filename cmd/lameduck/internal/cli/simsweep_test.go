package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is an app that loses something without a preStop hook, and nothing with one.
const small = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {
  metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "nginx:1.29", ports: [{containerPort: 80}], readinessProbe: {httpGet: {path: /, port: 80}}}]}}}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}
`

// Each format of a sweep has its points, and the value that the input has.
func TestASweepInEveryFormat(t *testing.T) {
	t.Parallel()
	line := "sim -f " + inFile(t, "web.yaml", small) + " --action rollout --runs 2 --sweep prestop=0s,20s --sweep latency.proxySync=1s,2s"
	var s struct {
		Schema string
		Maps   []struct {
			X     struct{ Here string }
			Cells []struct {
				LostSeconds struct{ Median float64 }
				Runs        int
			}
		}
	}
	if err := json.Unmarshal([]byte(says(t, 0, line+" -o json")), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Maps) != 1 || s.Maps[0].X.Here != "0s" || len(s.Maps[0].Cells) != 4 {
		t.Fatalf("%+v", s)
	}
	for i, cell := range s.Maps[0].Cells {
		if lost := cell.LostSeconds.Median > 0; lost != (i%2 == 0) || cell.Runs != 2 {
			t.Errorf("cell %d: %+v", i, cell)
		}
	}
	if yaml := says(t, 0, line+" -o yaml", "schema: lameduck/sweep/v1\n", "here: 0s\n"); strings.Contains(yaml, "{") {
		t.Error(yaml)
	}
	says(t, 0, line+" -o svg", "<svg ", "</svg>")
	file := filepath.Join(t.TempDir(), "sweep.html")
	says(t, 0, line+" --report "+file, "SWEEP   default/web")
	page := says(t, 0, line+" -o html", "<svg ", "<h1>Traffic lost over prestop and latency.proxySync</h1>", `<th scope="col">20s</th>`, `<th scope="row">2s</th>`,
		"--sweep latency.proxySync=1s,2s --runs 2</code>")
	if text, err := os.ReadFile(file); err != nil || string(text) != page {
		t.Errorf("--report wrote %d bytes, -o html prints %d: %v", len(text), len(page), err)
	}
	says(t, 0, line, "SWEEP   default/web", "As it is (prestop 0s, latency.proxySync uniform 20ms-200ms: not on the map)")
}

// A point that cannot be is left out and said; a setting of which none can be is an error, and so is a workload that is not there.
func TestPointsThatCannotBe(t *testing.T) {
	t.Parallel()
	sweep := "sim -f " + inFile(t, "web.yaml", small) + " --action rollout --runs 2 --sweep "
	says(t, 0, sweep+"prestop=0s,40s", "Refused, such as --sweep prestop=40s", "web.yaml:2:")
	says(t, 2, sweep+"prestop=40s,50s", "err:--sweep prestop=40s: ", "err:web.yaml:2:")
	says(t, 2, sweep+"latency.proxySync=-1s,-2s", "err:latency.proxySync=-1s")
	says(t, 2, sweep+"prestop=0s,5s --target api", "err:api")
	says(t, 2, sweep+"prestop=0s,5s -o junit", "err:want text, json, yaml, svg or html")
	says(t, 2, sweep+"prestop=0s,5s --fixes 1 --show web", "err:--fixes and --sweep", "err:--show and --sweep")
	says(t, 2, sweep+"prestop=junk --sweep grace=junk", "err:--sweep prestop=junk", "err:--sweep grace=junk")
	only := inFile(t, "service.yaml", strings.SplitAfter(small, "---\n")[1]+"---\n"+
		"{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {containers: [{name: web, image: nginx}]}}\n")
	says(t, 2, "sim -f "+only+" --action evict --sweep prestop=0s,5s", "err:the input has no Deployment, StatefulSet or DaemonSet")
}

// A rollout that may neither make a pod more nor have one missing is refused, in every format, and a value that only some of the other's refuse is no error.
func TestARolloutThatTheAPIServerRefusesIsNoPoint(t *testing.T) {
	t.Parallel()
	sweep := "sim -f " + inFile(t, "web.yaml", small) + " --action rollout --runs 2 --sweep "
	line := sweep + "maxSurge=0,1 --sweep maxUnavailable=0,1"
	const why = "spec.strategy.rollingUpdate.maxUnavailable: must not be 0 when maxSurge is 0, nothing could ever be replaced: the API server refuses it"
	says(t, 0, line, " 0 x ", "Refused, such as --sweep maxSurge=0, maxUnavailable=0: ", "Deployment default/web: "+why)
	var s struct {
		Maps []struct {
			Cells []struct {
				Refused string
				Runs    int
			}
		}
	}
	if err := json.Unmarshal([]byte(says(t, 0, line+" -o json")), &s); err != nil || len(s.Maps) != 1 || len(s.Maps[0].Cells) != 4 {
		t.Fatalf("%v: %+v", err, s)
	}
	for i, cell := range s.Maps[0].Cells {
		if refused := strings.Contains(cell.Refused, why); refused != (i == 0) || (cell.Runs == 0) != (i == 0) {
			t.Errorf("cell %d: %+v", i, cell)
		}
	}
	says(t, 0, line+" -o svg", "maxSurge 0, maxUnavailable 0: refused<")
	says(t, 0, line+" -o html", "maxSurge 0, maxUnavailable 0: refused<")
	none := "sim -f " + inFile(t, "none.yaml", strings.Replace(small, "replicas: 2,", "replicas: 2, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}},", 1)) + " --action rollout --runs 2 --sweep "
	says(t, 0, none+"maxUnavailable=0,1", "0 refused", "none.yaml:1")
	says(t, 2, none+"maxUnavailable=0", "err:--sweep maxUnavailable=0: ", "err:"+why)
	says(t, 0, none+"maxUnavailable=0 --sweep maxSurge=1", "SWEEP default/web")
	says(t, 0, sweep+"prestop=40s --sweep grace=60s", "SWEEP default/web")
}
