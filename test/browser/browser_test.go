// Package browser opens the pages that lameduck writes in a headless Chromium, and does with them what a reader does: each page says
// nothing on the console, asks nobody for anything, works by mouse and by keyboard, has every failure of its JSON, and passes axe-core.
// It also holds the built files that are embedded to what their sources build.
package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/html"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
)

var update = flag.Bool("update", false, "rewrite the golden screenshots")

// wanted has tests fail that would be skipped for want of a program.
const wanted = "LAMEDUCK_BROWSER"

// lacking skips a test for want of something, or fails it where it is to be run.
func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv(wanted) != "" {
		t.Fatalf("%s: make browser installs it", what)
	}
	t.Skipf("%s: make browser installs it, and runs this test", what)
}

// node is the command, and a directory whose libraries npm has fetched.
func node(t *testing.T, dir, library string) string {
	t.Helper()
	command, err := exec.LookPath("node")
	if err != nil {
		lacking(t, "there is no node")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", library)); err != nil {
		lacking(t, "npm has not fetched "+library+" for "+dir)
	}
	return command
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	lacking(t, "there is no chromium")
	return ""
}

const web = "../../sim/html/web"

// What is embedded is what the sources build, byte for byte, and the types of the sources are right.
func TestTheBuiltFilesAreWhatTheirSourcesBuild(t *testing.T) {
	t.Parallel()
	command := node(t, web, "esbuild")
	report, page := t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"node_modules/typescript/bin/tsc", "--noEmit"}, {"build.mjs", report, page}} {
		cmd := exec.Command(command, args...)
		cmd.Dir = web
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, said)
		}
	}
	for dist, built := range map[string]string{"../../sim/html/dist": report, played: page} {
		list, err := os.ReadDir(built)
		if err != nil || len(list) < 3 {
			t.Fatalf("%d files for %s: %v", len(list), dist, err)
		}
		for _, f := range list {
			want, err := os.ReadFile(filepath.Join(built, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dist, f.Name())); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s/%s is not what sim/html/web builds: run make report (%v)", dist, f.Name(), err)
			}
		}
	}
}

// played is the page of lameduck play.
const played = "../../sim/play/dist"

// written is a page that the driver opens, and what it has to find there.
type written struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Golden  string `json:"golden"`  // "all" where it has screenshots, "one" where it has one
	Hostile bool   `json:"hostile"` // its names are markup
	Largest bool   `json:"largest"` // its size and speed are held to limits
	Many    bool   `json:"many"`    // it has more nodes and pods than lanes
	// Thousands says that it has ten thousand pods.
	Thousands bool `json:"thousands"`

	Anyway  bool   `json:"anyway"`  // requests fail without the action, too
	Blocked bool   `json:"blocked"` // no pod goes
	Crash   bool   `json:"crash"`   // a node crashes
	Sweep   bool   `json:"sweep"`   // it is a map
	Lesson  bool   `json:"lesson"`  // it is a lesson, with its solution folded away
	Keys    string `json:"keys"`    // the list of controls that keys have to use, "" where that is not looked at
}

// simulated runs what is in files.
func simulated(t *testing.T, run sweep.Options, files ...manifest.File) *record.Simulation {
	t.Helper()
	objects, problems := manifest.Load(files, manifest.Options{})
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	var cases []scenario.Case
	if len(objects.Scenarios) > 0 {
		list, more := scenario.Parse(objects, scenario.Options{})
		if len(list) == 0 {
			t.Fatal(more)
		}
		cases = sweep.Scenarios(list)
	} else {
		cases, _ = scenario.Infer(objects, scenario.Options{})
	}
	return drawn(t, cases, run)
}

// drawn simulates cases, with timelines.
func drawn(t *testing.T, cases []scenario.Case, run sweep.Options) *record.Simulation {
	t.Helper()
	run.Timelines = 12
	s, err := sweep.Run(context.Background(), cases, run)
	if err != nil {
		t.Fatal(err)
	}
	s.Version = "v0.0.0"
	return s
}

func example(t *testing.T, name string) manifest.File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return manifest.File{Name: "examples/" + name, Data: data}
}

// hostile is a Deployment whose image is markup: names in Kubernetes cannot be.
const hostile = `apiVersion: apps/v1
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
        image: "</script><img src=x onerror=alert(1)>"
        ports: [{containerPort: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`

// thirtyMillion is a rollout after 30 million requests, of which thousands fail.
const thirtyMillion = `apiVersion: lameduck/v1alpha1
kind: Scenario
metadata: {name: thirty-million}
spec:
  apps: {web: {serve: 2ms}}
  traffic: [{name: inside, to: "default/web:80", from: pods, rate: 9500/s}]
  actions: [{at: 3200s, rolloutRestart: deployment/web}]
---
`

// largest is that of the web app.
func largest(t *testing.T) *record.Simulation {
	t.Helper()
	file := example(t, "web-app.yaml")
	file.Data = append([]byte(thirtyMillion), file.Data...)
	return simulated(t, sweep.Options{Runs: 1}, file)
}

// many are 30 pods on 60 nodes, most of which are alike.
func many(t *testing.T) *record.Simulation {
	t.Helper()
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(strings.Replace(hostile, "replicas: 2", "replicas: 30", 1))}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Nodes: 60, Actions: []string{"rollout"}})
	return drawn(t, cases, sweep.Options{Runs: 2})
}

// thousands are ten thousand pods whose image is markup, and a node of a hundred that is drained of its part of them.
func thousands(t *testing.T) *record.Simulation {
	t.Helper()
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(strings.Replace(hostile, "replicas: 2", "replicas: 10000", 1))}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Nodes: 100, Actions: []string{"drain"}})
	return drawn(t, cases, sweep.Options{Runs: 1})
}

// anyway are two pods that stay on two of three nodes, whose ports lead to own pods alone: the third answers nobody, whatever is done.
func anyway(t *testing.T) *record.Simulation {
	t.Helper()
	const (
		apart = "      affinity:\n        podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}\n"
		nodes = "---\n{apiVersion: v1, kind: Node, metadata: {name: node-1}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: node-2}}\n" +
			"---\n{apiVersion: v1, kind: Node, metadata: {name: node-3}, spec: {taints: [{key: other, effect: NoSchedule}]}}\n"
	)
	text := strings.NewReplacer(
		"  ports: [{port: 80,", "  type: NodePort\n  externalTrafficPolicy: Local\n  ports: [{port: 80,",
		"  replicas: 2\n", "  replicas: 2\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n", "      containers:\n", apart+"      containers:\n",
	).Replace(hostile) + nodes
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{ConnectTimeout: "1s", Actions: []string{"rollout"}})
	return drawn(t, cases, sweep.Options{Runs: 5})
}

// blocked is a drain that a disruption budget lets no pod go in.
func blocked(t *testing.T) *record.Simulation {
	t.Helper()
	const budget = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\nspec: {minAvailable: 2, selector: {matchLabels: {app: web}}}\n"
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(hostile + budget)}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"drain"}})
	return drawn(t, cases, sweep.Options{Runs: 2, Fixes: -1, ConfirmRuns: 5})
}

// crash is that of a node with a pod of the web app.
func crash(t *testing.T) *record.Simulation {
	t.Helper()
	objects, _ := manifest.Load([]manifest.File{example(t, "web-app.yaml")}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"crash"}})
	return drawn(t, cases, sweep.Options{Runs: 5})
}

// longNames are pods of a DaemonSet: they are called by their nodes, and differ in nothing else.
func longNames(t *testing.T) *record.Simulation {
	t.Helper()
	text := strings.NewReplacer("kind: Deployment", "kind: DaemonSet", "  replicas: 2\n", "", "{name: web, namespace: shop}", "{name: ingress-nginx-controller, namespace: shop}",
		"  ports: [{port: 80,", "  type: LoadBalancer\n  ports: [{port: 80,").Replace(hostile)
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{LB: "aws-nlb-ip", Actions: []string{"rollout"}})
	return drawn(t, cases, sweep.Options{Runs: 2})
}

// twoKinds are new connections and those kept open, both by one load balancer that sends to pods.
func twoKinds(t *testing.T) *record.Simulation {
	t.Helper()
	text := strings.Replace(hostile, "  ports: [{port: 80,", "  type: LoadBalancer\n  ports: [{port: 80,", 1)
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{LB: "aws-nlb-ip", Actions: []string{"rollout"}})
	return drawn(t, cases, sweep.Options{Runs: 2})
}

// families are new connections from outside by a load balancer that nothing says which it is.
func families(t *testing.T) *record.Simulation {
	t.Helper()
	text := strings.Replace(hostile, "  ports: [{port: 80,", "  type: LoadBalancer\n  ports: [{port: 80,", 1)
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
	return drawn(t, cases, sweep.Options{Runs: 5, Fixes: 1, ConfirmRuns: 5})
}

// noTarget is a load balancer that sends to pods, and finds out later than they come and go which these are.
func noTarget(t *testing.T) *record.Simulation {
	t.Helper()
	const ingress = `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, annotations: {alb.ingress.kubernetes.io/target-type: ip}}
spec:
  ingressClassName: alb
  rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(hostile + ingress)}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
	return drawn(t, cases, sweep.Options{Runs: 3})
}

// withoutServer are sessions with a database, of which few requests are lost and many wait.
func withoutServer(t *testing.T) *record.Simulation {
	t.Helper()
	text := strings.NewReplacer("kind: Deployment", "kind: StatefulSet", "port: 80,", "port: 5432,").Replace(hostile)
	objects, _ := manifest.Load([]manifest.File{{Name: "db.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
	return drawn(t, cases, sweep.Options{Runs: 5, Fixes: 1, ConfirmRuns: 5})
}

// pages writes all of them into a directory.
func pages(t *testing.T, dir string) []written {
	t.Helper()
	quick := sweep.Options{Runs: 20, Fixes: -1, ConfirmRuns: 20, Sensitivity: true}
	few := sweep.Options{Runs: 5}
	var out []written
	for _, p := range []struct {
		written
		sim *record.Simulation
	}{
		{written{Name: "web-app", Golden: "all", Keys: "report"}, simulated(t, quick, example(t, "web-app.yaml"))},
		{written{Name: "fallback", Golden: "one"}, simulated(t, few, example(t, "scenarios/all-terminating-still-served.yaml"))},
		{written{Name: "load-balancer"}, simulated(t, few, example(t, "scenarios/nlb-ip-no-prestop.yaml"))},
		{written{Name: "local"}, simulated(t, few, example(t, "scenarios/last-local-endpoint-before-kep-1669.yaml"))},
		{written{Name: "sessions"}, simulated(t, few, example(t, "scenarios/sessions-cut.yaml"))},
		{written{Name: "blocked", Blocked: true}, blocked(t)},
		{written{Name: "crash", Crash: true}, crash(t)},
		{written{Name: "long-names"}, longNames(t)},
		{written{Name: "two-clients"}, twoKinds(t)},
		{written{Name: "families"}, families(t)},
		{written{Name: "no-target", Golden: "one"}, noTarget(t)},
		{written{Name: "comes-and-goes"}, simulated(t, few, example(t, "scenarios/ready-then-crash.yaml"))},
		{written{Name: "used-again"}, simulated(t, few, example(t, "scenarios/all-terminating-readiness.yaml"))},
		{written{Name: "ingress"}, simulated(t, few, example(t, "scenarios/ingress-controller-app-no-retries.yaml"))},
		{written{Name: "without-server"}, withoutServer(t)},
		{written{Name: "holds", Keys: "holds"}, simulated(t, few, example(t, "web-app-recommended.yaml"))},
		{written{Name: "hostile", Hostile: true}, simulated(t, few, manifest.File{Name: `"><img src=x onerror=alert(1)>.yaml`, Data: []byte(hostile)})},
		{written{Name: "nothing"}, &record.Simulation{Version: "v0.0.0"}},
		{written{Name: "many", Many: true}, many(t)},
		{written{Name: "anyway", Anyway: true}, anyway(t)},
		{written{Name: "largest", Largest: true}, largest(t)},
		{written{Name: "thousands", Thousands: true, Hostile: true}, thousands(t)},
	} {
		var page bytes.Buffer
		if err := html.Write(&page, p.sim, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		p.File = filepath.Join(dir, p.Name+".html")
		if err := os.WriteFile(p.File, page.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		out = append(out, p.written)
	}
	return append(append(out, lessons(t, dir)...), swept(t, dir))
}

// swept is a sweep with points that lose, that lose nothing, and that cannot be.
func swept(t *testing.T, dir string) written {
	t.Helper()
	file := filepath.Join(dir, "sweep.html")
	cmd := exec.Command("go", "run", "../../cmd/lameduck", "sim", "-f", "../../examples/web-app.yaml", "--action", "rollout", "--runs", "3", "--sweep", "prestop=0s..40s:10s",
		"--sweep", "latency.proxySync=1s,5s,20s", "--report", file)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return written{Name: "sweep", File: file, Sweep: true, Keys: "sweep"}
}

// lessons are the site of learn --html, of which two pages are opened: one with a myth, and one whose command simulates nothing.
func lessons(t *testing.T, dir string) []written {
	t.Helper()
	site := filepath.Join(dir, "lessons")
	cmd := exec.Command("go", "run", "../../cmd/lameduck", "learn", "--html", site, "--play", "play/")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	var out []written
	for _, l := range []struct{ name, keys string }{{"myth-max-unavailable", "lesson"}, {"conditions", "explained"}} {
		out = append(out, written{Name: l.name, File: filepath.Join(site, l.name+".html"), Lesson: true, Keys: l.keys})
	}
	return append(out, written{Name: "lessons", File: filepath.Join(site, "index.html"), Keys: "lessons"})
}

// result is what the driver says of one check.
type result struct {
	Page, Check string
	OK          bool
	Said        string
}

// The page of lameduck play, with the simulator in it.
func TestThePageThatSimulatesInABrowser(t *testing.T) {
	t.Parallel()
	if os.Getenv(wanted) == "" {
		t.Skip("takes minutes: make browser runs it")
	}
	if _, err := os.Stat(filepath.Join(played, "lameduck.wasm.gz")); err != nil {
		t.Fatalf("make play builds it: %v", err)
	}
	drive(t, "drive-play.mjs", played, shots(t), 80)
}

// Every check of every page is a test of its own.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	if os.Getenv(wanted) == "" {
		t.Skip("takes minutes: make browser runs it")
	}
	dir := shots(t)
	list, err := json.Marshal(pages(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	drive(t, "drive.mjs", string(list), dir, 60)
}

// The comparison of screenshots tells what is missing, new or of another colour, wherever it is, and not that letters stand some pixels
// elsewhere.
func TestTheComparisonOfScreenshots(t *testing.T) {
	t.Parallel()
	if os.Getenv(wanted) == "" {
		t.Skip("takes a minute: make browser runs it")
	}
	drive(t, "compare-check.mjs", "", "", 20)
}

// shots is where pages and screenshots are kept.
func shots(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("LAMEDUCK_SHOTS"); dir != "" { // to be looked at
		return dir
	}
	return t.TempDir()
}

// drive runs a driver; each of its checks is a test, and it has to make as many as least.
func drive(t *testing.T, script, what, dir string, least int) {
	t.Helper()
	command, browser := node(t, ".", "playwright-core"), chromium(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, script, browser, what, dir, fmt.Sprint(*update))
	var said bytes.Buffer
	cmd.Stderr = &said
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, raw, said.String())
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		n++
		t.Run(r.Page+"/"+strings.ReplaceAll(r.Check, " ", "_"), func(t *testing.T) {
			t.Log(r.Said)
			if !r.OK {
				t.Error(r.Said)
			}
		})
	}
	if n < least {
		t.Errorf("%d checks were made", n)
	}
	t.Logf("%d checks made", n)
}
