package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/test/bench/objects"
	"github.com/lameduck-proxy/lameduck/test/bench/table"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

func TestMain(m *testing.M) {
	if os.Getenv("LAMEDUCK_KERNEL") != "" {
		if code, ran := lab.InUserNamespace(); ran {
			os.Exit(code)
		}
	}
	os.Exit(m.Run())
}

// TestSmallClusterIsMeasured runs lameduck at a size at which nothing takes time: every row has
// a value, and no connection is lost.
func TestSmallClusterIsMeasured(t *testing.T) {
	t.Parallel()
	if os.Getenv("LAMEDUCK_KERNEL") == "" {
		t.Skip("needs network namespaces: LAMEDUCK_KERNEL=1")
	}
	s, err := parse([]string{"-sizes=100x5", "-proxies=lameduck", "-tries=5", "-idle=200ms", "-churn=1s", "-press=200ms", "-limit=60s", "-bin=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", s.program("lameduck"), "./cmd/lameduck")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	measured, err := s.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + measured.Text())
	samples := measured.Sections[0].Columns[0].Samples
	for _, row := range rows() {
		got := samples[row.ID]
		// Left alone for a moment, it may well do nothing at all.
		if len(got) != 1 || row.Unit != table.Of && got[0].Value <= 0 && row.ID != rowIdleCPU {
			t.Errorf("%s: %+v", row.Title, got)
		}
		if row.Unit == table.Of && len(got) == 1 && (got[0].Value > 0 || got[0].N == 0) {
			t.Errorf("%s: %.0f of %d", row.Title, got[0].Value, got[0].N)
		}
	}
}

// TestProgramThatDoesNothingIsNotWaitedFor leaves the table with what is missing in it.
func TestProgramThatDoesNothingIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	measured, err := measureScript(t, "exec sleep 1000")
	if err != nil {
		t.Errorf("it is a result, not an error: %v", err)
	}
	if !strings.Contains(measured.Text(), "nothing measured  not done after 1 s") {
		t.Errorf("the table does not say so:\n%s", measured.Text())
	}
}

// measureScript measures a shell script in the place of lameduck.
func measureScript(t *testing.T, script string) (*table.Table, error) {
	t.Helper()
	if os.Getenv("LAMEDUCK_KERNEL") == "" {
		t.Skip("needs network namespaces: LAMEDUCK_KERNEL=1")
	}
	s, err := parse([]string{"-sizes=100x5", "-proxies=lameduck", "-limit=1s", "-bin=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.program("lameduck"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return s.measure(t.Context())
}

// TestProgramThatEndsIsReported is no proxy at all: it is neither waited for nor measured.
func TestProgramThatEndsIsReported(t *testing.T) {
	t.Parallel()
	measured, err := measureScript(t, "echo cannot do it >&2; exit 4")
	if err == nil || !strings.Contains(err.Error(), "exit status 4") || !strings.Contains(err.Error(), "cannot do it") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(measured.Text(), "failed") {
		t.Errorf("the table does not say so:\n%s", measured.Text())
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	s, err := parse([]string{"-sizes", "1000x5,10000x50", "-modes=nftables,iptables-legacy", "-runs=3", "-limit=10s"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.sizes, []objects.Size{{Services: 1000, Endpoints: 5}, {Services: 10000, Endpoints: 50}}) ||
		!slices.Equal(s.modes, []string{"nftables", "iptables-legacy"}) || s.runs != 3 || s.limit != 10*time.Second || len(s.proxies) != 2 {
		t.Errorf("got %+v", s)
	}
	for args, want := range map[string]string{
		"-sizes=1000":      `size "1000": want SERVICESxENDPOINTS`,
		"-sizes=10x5000":   `size "10x5000": want`,
		"-modes=ipvs":      `mode "ipvs": want nftables, iptables-nft, iptables-legacy`,
		"-proxies=cilium":  `proxy "cilium": want kube-proxy or lameduck`,
		"-o=json":          `-o "json": want text or markdown`,
		"-runs=0":          "want -runs and -tries of at least 1",
		"-tries=1 nothing": "nothing but flags",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
}

func TestFirstSyncIsReadFromMetrics(t *testing.T) {
	t.Parallel()
	const metrics = `# HELP kubeproxy_sync_full_proxy_rules_duration_seconds [ALPHA] SyncProxyRules latency in seconds for full resyncs
# TYPE kubeproxy_sync_full_proxy_rules_duration_seconds histogram
kubeproxy_sync_full_proxy_rules_duration_seconds_bucket{ip_family="IPv4",le="0.001"} 0
kubeproxy_sync_full_proxy_rules_duration_seconds_sum{ip_family="IPv4"} 12.5
kubeproxy_sync_full_proxy_rules_duration_seconds_count{ip_family="IPv4"} %
kubeproxy_sync_full_proxy_rules_duration_seconds_sum{ip_family="IPv6"} 0.25
kubeproxy_sync_full_proxy_rules_duration_seconds_count{ip_family="IPv6"} 1
`
	for count, want := range map[string]float64{"1": 12.5, "2": 6.25, "0": 0} {
		got, ok, err := parseFirstSync(strings.NewReader(strings.ReplaceAll(metrics, "%", count)))
		if err != nil || ok != (want > 0) || got != want {
			t.Errorf("count %s: got %g, %t, %v, want %g", count, got, ok, err, want)
		}
	}
	if _, _, err := parseFirstSync(strings.NewReader(firstSyncMetric + "_sum many")); err == nil {
		t.Error("a sum that is no number, and no error")
	}
}

func TestFirstSyncIsReadFromTheLog(t *testing.T) {
	t.Parallel()
	const log = `I1122 03:00:20.352879       1 agent.go:71] "Watching" master="http://127.0.0.1:1"
I1122 03:00:20.452879       1 agent.go:98] "Rules are in force" services=1000 changed=1000 full=true elapsed="32.5ms"
I1122 03:00:20.552879       1 agent.go:98] "Rules are in force" services=1000 changed=1 full=false elapsed="90µs"
`
	if got, ok, err := parseLog(log); !ok || err != nil || got != 0.0325 {
		t.Errorf("got %g, %t, %v", got, ok, err)
	}
	if got, ok, err := parseLog(log[:90]); ok || err != nil {
		t.Errorf("not yet there, but %g, %t, %v", got, ok, err)
	}
}

func TestFloorIsReadFromBenchmarks(t *testing.T) {
	t.Parallel()
	const out = `goos: linux
BenchmarkOneEndpointReplaced/10000x5/raw-2         	     200	     31557 ns/op	        28.31 p50-us	        40.11 p90-us	       0 B/op	       0 allocs/op
PASS
`
	if got, ok := parseFloor(out); !ok || got.N != 200 || got.Value != 28.31e-6 {
		t.Errorf("got %+v, %t", got, ok)
	}
	if got, ok := parseFloor("PASS\n"); ok {
		t.Errorf("no benchmark, but %+v", got)
	}
}

func TestIPTablesIsWhatTheModeSays(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{modeIPTablesNFT: "xtables-nft-multi", modeIPTablesLegacy: "xtables-legacy-multi"} {
		if _, err := exec.LookPath(want); err != nil {
			backendtest.Lacking(t, "no %s here", want)
		}
		dir := t.TempDir()
		env, err := environment(mode, dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.Readlink(filepath.Join(dir, "ip6tables-restore"))
		if err != nil || filepath.Base(got) != want {
			t.Errorf("%s: ip6tables-restore is %s, %v", mode, got, err)
		}
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "PATH="+dir+":") }) {
			t.Errorf("%s: it is not in the PATH", mode)
		}
	}
}
