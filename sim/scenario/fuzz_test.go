package scenario

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// FuzzParse: no document and no --set makes Parse or Infer panic, and what passes without an
// error can be printed, twice the same.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"scenario", "refused", "infer", "balancer", "proxies"} {
		data, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		for i, c := range strings.Split(string(data), "\n=== ") {
			if testing.Short() && i%10 != 0 {
				continue
			}
			input, _, _ := strings.Cut(c, "----\n")
			f.Add(input, "latency.watch=1s")
		}
	}
	web, err := os.ReadFile("testdata/web.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("apiVersion: lameduck/v1alpha1\nkind: Scenario\nspec: {}\n", `apps["web"]={revisions: {new: {start: 1s}}}`)
	f.Add("", "traffic[0].rate={")
	f.Add("", "azure-standard")
	f.Fuzz(func(t *testing.T, text, set string) {
		_, text, _ = strings.Cut(text, "apiVersion")
		files := []manifest.File{{Name: "in.yaml", Data: []byte("apiVersion" + text)}, {Name: "web.yaml", Data: web}}
		opts := Options{Set: []string{set}, Files: map[string]Content{"m.txt": {Files: files[:1]}}}
		for _, opts := range []Options{opts, {Files: opts.Files}, {Files: opts.Files, LB: set, Env: "gke"}} {
			objects, _ := manifest.Load(files, manifest.Options{})
			for _, o := range objects.Scenarios {
				_ = References(o, opts)
			}
			scenarios, problems := Parse(objects, opts)
			if len(scenarios) < len(objects.Scenarios) && !manifest.HasErrors(problems) {
				t.Fatal("a Scenario was dropped without an error")
			}
			for _, s := range scenarios {
				check(t, s)
			}
			cases, problems := Infer(objects, opts)
			for _, c := range cases {
				if c.Scenario != nil {
					check(t, c.Scenario)
				} else if c.Verdict != NotJudged && !manifest.HasErrors(problems) {
					t.Fatalf("case %s has neither a Scenario nor a verdict", c.ID)
				}
			}
		}
	})
}

// check looks at what every Scenario has to have.
func check(t *testing.T, s *world.Scenario) {
	t.Helper()
	if once, again := Normal(s), Normal(s); once != again {
		t.Fatal("printed twice, it differs")
	}
	if s.Until <= s.Warmup || len(s.Nodes) == 0 {
		t.Fatalf("until %d, warmup %d, %d nodes", s.Until, s.Warmup, len(s.Nodes))
	}
	for i := range s.Traffic {
		checkTraffic(t, &s.Traffic[i])
		if svc := s.ServiceNamed(s.Traffic[i].Service); svc != nil && needsNodePort(&s.Traffic[i], svc) {
			t.Fatalf("traffic %s comes to a node, and Service %s has no node port", s.Traffic[i].Name, svc.Name)
		}
	}
	for i := range s.Actions {
		if s.Actions[i].At >= s.Until || s.Actions[i].At < s.Warmup {
			t.Fatalf("action %+v", s.Actions[i])
		}
	}
	for i := range s.Workloads {
		if s.Workloads[i].App.Profile == "" {
			t.Fatalf("workload %s has no profile", s.Workloads[i].Name())
		}
	}
}

// checkProxy looks at what every stream through a proxy has to have.
func checkProxy(t *testing.T, tr *world.Traffic) {
	t.Helper()
	l := tr.LB.Layer7
	if l != nil && (l.Retries > maxRetries || tr.Connection == world.ConnectionSession || tr.Protocol != endpoints.TCP || tr.LB.Announce != world.AnnounceNone) {
		t.Fatalf("proxy %+v of %+v", l, tr)
	}
}

// checkTraffic looks at what every stream has to have.
func checkTraffic(t *testing.T, tr *world.Traffic) {
	t.Helper()
	if tr.Timeout <= 0 || tr.ConnectTimeout > tr.Timeout && !tr.Shared() || tr.Clients < 1 || tr.Rate == 0 && tr.Arrivals != world.ArrivalsClosedLoop {
		t.Fatalf("traffic %+v", tr)
	}
	if lb := tr.LB; lb != nil {
		c := lb.Check
		if tr.HealthyNodesOnly || !tr.External || lb.Service != tr.Service || (c.Probe == world.ProbePod) != (lb.Target == world.TargetPods && c.Probe != world.ProbeNone) ||
			c.Probe != world.ProbeNone && (c.Interval <= 0 || c.Timeout <= 0 || c.Healthy < 1 || c.Unhealthy < 1) || lb.Drain < 0 {
			t.Fatalf("load balancer %+v", lb)
		}
		checkProxy(t, tr)
	}
}

// FuzzHook: no command line makes the recogniser panic, and no hook takes less than nothing.
func FuzzHook(f *testing.F) {
	for _, s := range []string{"sleep 5 && nginx -s quit", "timeout 3 sh -c 'sleep 9'", "kill -TERM $(pidof x)", "a `b` \"c\" 'd' \\", "while :; do :; done", "python -c 'sleep(9)'"} {
		f.Add(s, "nginx:1")
	}
	f.Fuzz(func(t *testing.T, script, image string) {
		for _, argv := range [][]string{{"sh", "-c", script}, strings.Fields(script)} {
			c := &corev1.Container{Image: image, Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: argv}}}}
			h := servers.HookOf(c, world.Overrides{})
			if h.Duration.Min() < 0 || h.Duration.Max() > servers.Forever || h.ActsAfter.Max() > h.Duration.Max() || h.Kind == servers.HookNone {
				t.Fatalf("%+v", h)
			}
		}
	})
}

// FuzzMeasured: no page makes the reader panic, and what it reads is a distribution.
func FuzzMeasured(f *testing.F) {
	f.Add([]byte(syncMetric+"_bucket{le=\"0.001\"} 5\n"+syncMetric+"_bucket{le=\"+Inf\"} 5\n"), int64(0))
	f.Add([]byte(syncMetric+"_bucket{le=\"1e-3\",ip_family=\"IPv4\"} 1e+02 17\n"+syncMetric+"_bucket{le=\"+Inf\"} 101\n"), int64(5e9))
	f.Fuzz(func(t *testing.T, page []byte, limit int64) {
		d, err := measured(page, syncMetric, min(max(0, engine.Time(limit)), units.MaxSpan))
		if err == nil && (d.Min() < 0 || d.Max() < d.Min()) {
			t.Fatalf("from %d to %d", d.Min(), d.Max())
		}
	})
}
