package metrics

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

const (
	s  = time.Second
	ms = time.Millisecond
)

// epoch is a moment with a short number of seconds.
var epoch = time.Unix(1000, 0)

func status() proxier.Status {
	return proxier.Status{
		Services: proxier.Deliveries{Total: 7, Pending: 2}, Slices: proxier.Deliveries{Total: 9, Pending: 3},
		QueuedAt: [2]time.Time{epoch.Add(1500 * ms), epoch.Add(2 * s)},
	}
}

// get asks a Handler.
func get(t *testing.T, h http.Handler, path string) (int, http.Header, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, w.Header(), string(body)
}

// scrape returns the lines of /metrics that the package makes itself.
func scrape(t *testing.T, m *Metrics) []string {
	t.Helper()
	code, _, text := get(t, m.Handler(false), "/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics: %d %s", code, text)
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(line string) bool {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		return !strings.HasPrefix(name, "kubeproxy_") && !strings.HasPrefix(name, "lameduck_")
	})
}

// values are the lines of a scrape with the samples whose names begin so, buckets left out.
func values(t *testing.T, m *Metrics, names ...string) []string {
	t.Helper()
	var out []string
	for _, line := range scrape(t, m) {
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(line, n) }) && !strings.Contains(line, "_bucket") {
			out = append(out, line)
		}
	}
	return out
}

// row is a row of docs/model/kube-proxy.md 9.
type row struct {
	name, kind string
	labels     []string
	buckets    string
	only       string // the mode it is of, "" for all
	missing    string // why lameduck does not have it
}

// doubled is "1 ms x 2^n, 15 buckets".
func doubled() string {
	var out []string
	le := 0.001
	for range 15 {
		out = append(out, fmt.Sprint(le))
		le *= 2
	}
	return strings.Join(append(out, "+Inf"), " ")
}

// programming is "0.25, 0.5, 1..59 by 1, 60..115 by 5, 120..300 by 30 s".
func programming() string {
	out := []string{"0.25", "0.5"}
	for _, r := range [][3]int{{1, 59, 1}, {60, 115, 5}, {120, 300, 30}} {
		for i := r[0]; i <= r[1]; i += r[2] {
			out = append(out, fmt.Sprint(i))
		}
	}
	return strings.Join(append(out, "+Inf"), " ")
}

// facts is docs/model/kube-proxy.md 9, with the modes of Kubernetes 1.36
// pkg/proxy/metrics/metrics.go, RegisterMetrics.
func facts() []row {
	family := []string{"ip_family"}
	const noCleanup, noAccounting = "nothing is cleaned up apart from a sync", "no rule counts with nfacct"
	return []row{
		{name: "sync_proxy_rules_duration_seconds", kind: "histogram", labels: family, buckets: doubled()},
		{name: "sync_full_proxy_rules_duration_seconds", kind: "histogram", labels: family, buckets: doubled()},
		{name: "sync_partial_proxy_rules_duration_seconds", kind: "histogram", labels: family, buckets: doubled()},
		{name: "sync_proxy_rules_last_timestamp_seconds", kind: "gauge", labels: family},
		{name: "sync_proxy_rules_last_queued_timestamp_seconds", kind: "gauge", labels: family},
		{name: "network_programming_duration_seconds", kind: "histogram", labels: family, buckets: programming()},
		{name: "sync_proxy_rules_endpoint_changes_pending", kind: "gauge"},
		{name: "sync_proxy_rules_endpoint_changes_total", kind: "counter"},
		{name: "sync_proxy_rules_service_changes_pending", kind: "gauge"},
		{name: "sync_proxy_rules_service_changes_total", kind: "counter"},
		{name: "sync_proxy_rules_no_local_endpoints_total", kind: "gauge", labels: []string{"ip_family", "traffic_policy"}},
		{name: "proxy_healthz_total", kind: "counter", labels: []string{"code"}},
		{name: "proxy_livez_total", kind: "counter", labels: []string{"code"}},
		{name: "sync_proxy_rules_iptables_restore_failures_total", kind: "counter", labels: family, only: "iptables"},
		{name: "sync_proxy_rules_iptables_partial_restore_failures_total", kind: "counter", labels: family, only: "iptables"},
		{name: "sync_proxy_rules_iptables_total", kind: "gauge", labels: []string{"ip_family", "table"}, only: "iptables"},
		{name: "sync_proxy_rules_iptables_last", kind: "gauge", labels: []string{"ip_family", "table"}, only: "iptables"},
		{name: "sync_proxy_rules_nftables_sync_failures_total", kind: "counter", labels: family, only: "nftables"},
		{name: "sync_proxy_rules_nftables_cleanup_failures_total", only: "nftables", missing: noCleanup},
		{name: "conntrack_reconciler_sync_duration_seconds", kind: "histogram", labels: family, buckets: doubled()},
		{name: "conntrack_reconciler_deleted_entries_total", kind: "counter", labels: family},
		{name: "iptables_ct_state_invalid_dropped_packets_total", only: "iptables", missing: noAccounting},
		{name: "iptables_localhost_nodeports_accepted_packets_total", only: "iptables", missing: noAccounting},
	}
}

// series is what a scrape says of one metric.
type series struct {
	Kind    string
	Labels  []string
	Buckets string
}

// read returns the metrics of a scrape, by name. Each is asked for its first series.
func read(lines []string) map[string]series {
	out := map[string]series{}
	kinds := map[string]string{}
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			kinds[name] = kind
			out[name] = series{Kind: kind}
			continue
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		sample, _, _ := strings.Cut(line, " ")
		name, labels, _ := strings.Cut(strings.TrimSuffix(sample, "}"), "{")
		bucket := strings.HasSuffix(name, "_bucket") && !strings.Contains(labels, `"IPv6"`)
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(name, suffix); kinds[base] == "histogram" {
				name = base
			}
		}
		one := out[name]
		one.Labels = nil
		for label := range strings.SplitSeq(labels, ",") {
			key, value, _ := strings.Cut(label, "=")
			switch {
			case key == "le" && bucket:
				one.Buckets = strings.TrimSpace(one.Buckets + " " + strings.Trim(value, `"`))
			case key != "le" && key != "":
				one.Labels = append(one.Labels, key)
			}
		}
		out[name] = one
	}
	return out
}

// exercised has Metrics see something of everything.
func exercised(mode plan.Dialect) *Metrics {
	m := New(Options{Mode: mode, Status: status, Rules: &ruled{}, Build: map[string]string{"version": "v1"}})
	p := plan.Empty(&plan.Node{})
	trigger := []proxier.Trigger{{At: epoch, Family: endpoints.IPv4}, {At: epoch, Family: endpoints.IPv6}}
	m.Observe(proxier.Sync{Start: epoch, End: epoch.Add(s), Full: true, Plan: p, Triggers: trigger})
	m.Observe(proxier.Sync{Start: epoch, End: epoch.Add(s), Plan: p, Services: []endpoints.ServiceName{{Name: "a"}}})
	m.Observe(proxier.Sync{Start: epoch, End: epoch.Add(s), Plan: p})
	m.ObserveCleaning(proxier.Cleaning{Start: epoch, End: epoch.Add(s)})
	m.Healthz(200)
	m.Livez(503)
	return m
}

// ruled counts rules of iptables: of the family, a hundred more in nat.
type ruled struct{ written, failures int }

func (r *ruled) Rules(f endpoints.IPFamily, table string) (total, written int) {
	total = 10 * (1 + int(f))
	if table == "nat" {
		total += 100
	}
	return total, r.written
}

func (r *ruled) PartialFailures(endpoints.IPFamily) int { return r.failures }

// Reference: Kubernetes 1.36 pkg/proxy/iptables/proxier.go, IPTablesRulesTotal, IPTablesPartialRestoreFailuresTotal.
func TestRulesOfIptablesAreCountedByTheBackend(t *testing.T) {
	t.Parallel()
	r := &ruled{written: 3, failures: 2}
	m := New(Options{Mode: plan.IPTables, Rules: r, Families: []endpoints.IPFamily{endpoints.IPv6}})
	one, p := []endpoints.ServiceName{{Name: "a"}}, plan.Empty(&plan.Node{})
	m.Observe(proxier.Sync{Services: one, Plan: p})
	r.written, r.failures = 0, 5
	m.Observe(proxier.Sync{Plan: p})                                     // a look
	m.Observe(proxier.Sync{Services: one, Plan: p, Err: errors.New("")}) // the rules are those of before
	const name = "kubeproxy_sync_proxy_rules_iptables_"
	want := []string{
		name + `last{ip_family="IPv6",table="filter"} 3`, name + `last{ip_family="IPv6",table="nat"} 3`,
		name + `partial_restore_failures_total{ip_family="IPv6"} 5`, name + `restore_failures_total{ip_family="IPv6"} 1`,
		name + `total{ip_family="IPv6",table="filter"} 20`, name + `total{ip_family="IPv6",table="nat"} 120`,
	}
	if diff := cmp.Diff(want, values(t, m, name)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m.Observe(proxier.Sync{Services: one, Plan: p})
	if got := values(t, m, name+"last"); got[0] != want[0][:len(want[0])-1]+"0" {
		t.Errorf("after a sync that wrote nothing: %s", got)
	}
}

// Reference: docs/model/kube-proxy.md 9.
func TestNamesLabelsAndBucketsAreKubeProxys(t *testing.T) {
	t.Parallel()
	for _, mode := range []plan.Dialect{plan.NFTables, plan.IPTables} {
		want := map[string]series{}
		for _, r := range facts() {
			if r.missing == "" && (r.only == "" || r.only == mode.String()) {
				want["kubeproxy_"+r.name] = series{Kind: r.kind, Labels: r.labels, Buckets: r.buckets}
			}
		}
		want["lameduck_check_rules_duration_seconds"] = series{Kind: "histogram", Buckets: doubled()}
		want["lameduck_rules_interference_total"] = series{Kind: "counter", Labels: []string{"what"}}
		want["lameduck_build_info"] = series{Kind: "gauge", Labels: []string{"version"}}
		if diff := cmp.Diff(want, read(scrape(t, exercised(mode)))); diff != "" {
			t.Errorf("mode %s (-want +got):\n%s", mode, diff)
		}
	}
}

func TestThereAreMetricsOfTheProcess(t *testing.T) {
	t.Parallel()
	_, _, text := get(t, New(Options{}).Handler(false), "/metrics")
	for _, name := range []string{"go_goroutines ", "process_start_time_seconds ", "go_info{", "lameduck_build_info 1"} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("there is no %s", name)
		}
	}
	if strings.Contains(text, "changes_pending") {
		t.Error("without a Status something is pending")
	}
}

func TestDurationsOfSyncs(t *testing.T) {
	t.Parallel()
	one := []endpoints.ServiceName{{Namespace: "shop", Name: "web"}}
	failed := errors.New("no")
	p := plan.Empty(&plan.Node{})
	tests := map[string]struct {
		sync proxier.Sync
		want []string
	}{
		"a full sync": {proxier.Sync{Full: true, Services: one}, []string{
			"kubeproxy_sync_full_proxy_rules_duration_seconds", "kubeproxy_sync_proxy_rules_duration_seconds", "last"}},
		"a sync of what differs": {proxier.Sync{Services: one}, []string{
			"kubeproxy_sync_partial_proxy_rules_duration_seconds", "kubeproxy_sync_proxy_rules_duration_seconds", "last"}},
		"a full sync that failed": {proxier.Sync{Full: true, Err: failed}, []string{
			"kubeproxy_sync_full_proxy_rules_duration_seconds", "kubeproxy_sync_proxy_rules_duration_seconds", "failed"}},
		"a sync of what differs that failed": {proxier.Sync{Services: one, Err: failed}, []string{
			"kubeproxy_sync_partial_proxy_rules_duration_seconds", "kubeproxy_sync_proxy_rules_duration_seconds", "failed"}},
		"a look":             {proxier.Sync{}, []string{"lameduck_check_rules_duration_seconds", "last"}},
		"a look that failed": {proxier.Sync{Err: failed}, []string{"lameduck_check_rules_duration_seconds", "failed"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := New(Options{})
			tt.sync.Plan, tt.sync.Start, tt.sync.End = p, epoch, epoch.Add(1500*ms)
			m.Observe(tt.sync)
			var want []string
			for _, w := range tt.want {
				switch w {
				case "last":
					w = "kubeproxy_sync_proxy_rules_last_timestamp_seconds"
					want = append(want, w+`{ip_family="IPv4"} 1001.5`, w+`{ip_family="IPv6"} 1001.5`)
				case "failed":
					w = "kubeproxy_sync_proxy_rules_nftables_sync_failures_total"
					want = append(want, w+`{ip_family="IPv4"} 1`, w+`{ip_family="IPv6"} 1`)
				case "lameduck_check_rules_duration_seconds":
					want = append(want, w+"_sum 1.5", w+"_count 1")
				default:
					for _, f := range []string{"IPv4", "IPv6"} {
						want = append(want, fmt.Sprintf(`%s_sum{ip_family=%q} 1.5`, w, f), fmt.Sprintf(`%s_count{ip_family=%q} 1`, w, f))
					}
				}
			}
			got := slices.DeleteFunc(values(t, m, "kubeproxy_sync_", "lameduck_check"), func(line string) bool { return strings.HasSuffix(line, " 0") })
			got = slices.DeleteFunc(got, func(line string) bool { return strings.Contains(line, "no_local") })
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// broken is an error of one family.
type broken struct{ family endpoints.IPFamily }

func (b broken) Error() string              { return "no " + b.family.String() }
func (b broken) Family() endpoints.IPFamily { return b.family }

func TestAFailureIsOfTheFamilyThatItNames(t *testing.T) {
	t.Parallel()
	v4, v6 := broken{endpoints.IPv4}, broken{endpoints.IPv6}
	tests := map[string]struct {
		err      error
		families []endpoints.IPFamily
		want     string
	}{
		"of none, so of both":      {errors.New("no"), nil, "IPv4 IPv6"},
		"of one":                   {v6, nil, "IPv6"},
		"of one, wrapped":          {fmt.Errorf("a: %w", fmt.Errorf("b: %w", v4)), nil, "IPv4"},
		"of both, joined":          {errors.Join(fmt.Errorf("a: %w", v4), v6), nil, "IPv4 IPv6"},
		"of one, joined with none": {errors.Join(errors.New("no"), v6), nil, "IPv6"},
		"of one nobody programs":   {v6, []endpoints.IPFamily{endpoints.IPv4}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := New(Options{Mode: plan.IPTables, Families: tt.families})
			m.Observe(proxier.Sync{Full: true, Err: tt.err})
			var got []string
			for _, line := range values(t, m, "kubeproxy_sync_proxy_rules_iptables_restore_failures_total{") {
				if before, ok := strings.CutSuffix(line, `"} 1`); ok {
					got = append(got, before[strings.LastIndex(before, `"`)+1:])
				}
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("failed: %q, want %q", text, tt.want)
			}
		})
	}
}

func TestProgrammingIsMeasuredFromTheTriggerOfItsFamily(t *testing.T) {
	t.Parallel()
	m := New(Options{})
	m.Observe(proxier.Sync{Full: true, Plan: plan.Empty(&plan.Node{}), Start: epoch, End: epoch.Add(s), Triggers: []proxier.Trigger{
		{At: epoch.Add(-s), Family: endpoints.IPv4}, {At: epoch.Add(-2 * s), Family: endpoints.IPv6}, {At: epoch, Family: endpoints.IPv6},
	}})
	want := []string{
		`kubeproxy_network_programming_duration_seconds_sum{ip_family="IPv4"} 2`, `kubeproxy_network_programming_duration_seconds_count{ip_family="IPv4"} 1`,
		`kubeproxy_network_programming_duration_seconds_sum{ip_family="IPv6"} 4`, `kubeproxy_network_programming_duration_seconds_count{ip_family="IPv6"} 2`,
	}
	if diff := cmp.Diff(want, values(t, m, "kubeproxy_network")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheStatusIsReadAtTheScrape(t *testing.T) {
	t.Parallel()
	now := proxier.Status{}
	m := New(Options{Status: func() proxier.Status { return now }})
	names := []string{
		"kubeproxy_sync_proxy_rules_last_queued", "kubeproxy_sync_proxy_rules_endpoint_changes", "kubeproxy_sync_proxy_rules_service_changes",
	}
	if got := strings.Join(values(t, m, names...), "\n"); got != `kubeproxy_sync_proxy_rules_endpoint_changes_pending 0
kubeproxy_sync_proxy_rules_endpoint_changes_total 0
kubeproxy_sync_proxy_rules_service_changes_pending 0
kubeproxy_sync_proxy_rules_service_changes_total 0` {
		t.Errorf("at first:\n%s", got)
	}
	now = status()
	if got := strings.Join(values(t, m, names...), "\n"); got != `kubeproxy_sync_proxy_rules_endpoint_changes_pending 3
kubeproxy_sync_proxy_rules_endpoint_changes_total 9
kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds{ip_family="IPv4"} 1001.5
kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds{ip_family="IPv6"} 1002
kubeproxy_sync_proxy_rules_service_changes_pending 2
kubeproxy_sync_proxy_rules_service_changes_total 7` {
		t.Errorf("later:\n%s", got)
	}
}

func TestFlowsAndProbesAreCounted(t *testing.T) {
	t.Parallel()
	m := New(Options{})
	m.ObserveCleaning(proxier.Cleaning{Start: epoch, End: epoch.Add(s), Forgotten: [2]int{3, 1}})
	m.ObserveCleaning(proxier.Cleaning{Start: epoch, End: epoch.Add(s), Forgotten: [2]int{1, 0}, Err: errors.New("no")})
	m.Healthz(200)
	m.Healthz(503)
	m.Healthz(200)
	m.Livez(200)
	want := []string{
		`kubeproxy_conntrack_reconciler_deleted_entries_total{ip_family="IPv4"} 4`,
		`kubeproxy_conntrack_reconciler_deleted_entries_total{ip_family="IPv6"} 1`,
		`kubeproxy_conntrack_reconciler_sync_duration_seconds_sum{ip_family="IPv4"} 2`,
		`kubeproxy_conntrack_reconciler_sync_duration_seconds_count{ip_family="IPv4"} 2`,
		`kubeproxy_conntrack_reconciler_sync_duration_seconds_sum{ip_family="IPv6"} 2`,
		`kubeproxy_conntrack_reconciler_sync_duration_seconds_count{ip_family="IPv6"} 2`,
		`kubeproxy_proxy_healthz_total{code="200"} 2`,
		`kubeproxy_proxy_healthz_total{code="503"} 1`,
		`kubeproxy_proxy_livez_total{code="200"} 1`,
		`kubeproxy_proxy_livez_total{code="503"} 0`,
	}
	if diff := cmp.Diff(want, values(t, m, "kubeproxy_conntrack", "kubeproxy_proxy")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// world delivers Services with endpoints on another node to a Plan.
type world struct {
	cache *endpoints.Cache
	node  *plan.Node
	plan  *plan.Plan
}

func newWorld() *world {
	n := &plan.Node{Name: "node-a", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, Options: endpoints.CurrentOptions()}
	return &world{endpoints.NewCache(n.Options), n, plan.Empty(n)}
}

// service has a port per protocol; policies are those of the Service, internal first.
func (w *world) service(name string, internal, external string, protocols ...corev1.Protocol) {
	policy := corev1.ServiceInternalTrafficPolicy(internal)
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, InternalTrafficPolicy: &policy, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicy(external),
			ClusterIP: "10.96.0.1", ClusterIPs: []string{"10.96.0.1", "fd10::1"}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol},
		},
	}
	for i, p := range protocols {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint("p", i), Protocol: p, Port: int32(80 + i), NodePort: int32(30000 + i)})
	}
	w.cache.SetService(svc)
}

// endpoint has the Service's one endpoint, of IPv4, run on a node, for all ports.
func (w *world) endpoint(name, node string) {
	sl := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: name + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, NodeName: &node}},
	}
	for i, p := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
		port, name := int32(8080), fmt.Sprint("p", i)
		sl.Ports = append(sl.Ports, discoveryv1.EndpointPort{Name: &name, Port: &port, Protocol: &p})
	}
	w.cache.SetSlice(sl)
}

// sync is what a Proxier would report; a full one builds from scratch.
func (w *world) sync(full bool) proxier.Sync {
	snap := w.cache.Snapshot()
	out := proxier.Sync{Full: full, Services: snap.Changed()}
	if full {
		w.plan = plan.Build(snap, w.node)
	} else {
		w.plan, out.Delta = plan.Update(w.plan, snap, snap.Changed())
	}
	out.Plan = w.plan
	return out
}

// Reference: docs/model/kube-proxy.md 9; Kubernetes 1.36 pkg/proxy/nftables/proxier.go,
// serviceNoLocalEndpointsTotalInternal.
func TestPortsThatDropForWantOfALocalEndpoint(t *testing.T) {
	t.Parallel()
	const tcp, udp = corev1.ProtocolTCP, corev1.ProtocolUDP
	w := newWorld()
	m := New(Options{})
	for _, step := range []struct {
		name               string
		do                 func()
		full, fails        bool
		internal, external int // of IPv4; IPv6 has no endpoints anywhere, which is no matter of locality
	}{
		{"there is nothing", func() {}, true, false, 0, 0},
		{"an endpoint elsewhere, each port counts", func() { w.service("web", "Local", "Cluster", tcp, udp); w.endpoint("web", "node-b") }, false, false, 2, 0},
		{"both policies", func() { w.service("api", "Local", "Local", tcp); w.endpoint("api", "node-b") }, false, false, 3, 1},
		{"the same from scratch", func() {}, true, false, 3, 1},
		{"one comes here", func() { w.endpoint("web", "node-a") }, false, false, 1, 1},
		{"a policy changes", func() { w.service("api", "Cluster", "Local", tcp) }, false, false, 0, 1},
		{"a sync fails", func() { w.endpoint("web", "node-b") }, false, true, 0, 1},
		{"and is made up for", func() {}, true, false, 2, 1},
		{"one goes", func() { w.cache.DeleteService(endpoints.ServiceName{Namespace: "shop", Name: "web"}) }, false, false, 0, 1},
		{"no endpoints anywhere", func() { w.cache.DeleteSlice("shop", "api-1") }, false, false, 0, 0},
	} {
		step.do()
		sync := w.sync(step.full)
		if step.fails {
			sync.Err = errors.New("no")
		}
		m.Observe(sync)
		const name = "kubeproxy_sync_proxy_rules_no_local_endpoints_total"
		want := []string{
			fmt.Sprintf(`%s{ip_family="IPv4",traffic_policy="external"} %d`, name, step.external),
			fmt.Sprintf(`%s{ip_family="IPv4",traffic_policy="internal"} %d`, name, step.internal),
			name + `{ip_family="IPv6",traffic_policy="external"} 0`,
			name + `{ip_family="IPv6",traffic_policy="internal"} 0`,
		}
		if diff := cmp.Diff(want, values(t, m, name+"{")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

// Reference: docs/model/kube-proxy.md 9; Kubernetes 1.36 cmd/kube-proxy/app/server.go,
// serveMetrics.
func TestWhatTheMetricsPortAnswers(t *testing.T) {
	t.Parallel()
	const plain = "text/plain; charset=utf-8"
	for _, c := range []struct {
		mode             plan.Dialect
		profiling        bool
		path             string
		status           int
		kind, bodyBegins string
	}{
		{plan.NFTables, false, "/proxyMode", 200, plain, "nftables"},
		{plan.IPTables, false, "/proxyMode", 200, plain, "iptables"},
		{plan.NFTables, false, "/healthz", 200, plain, "ok"},
		{plan.NFTables, false, "/metrics", 200, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores", "# HELP"},
		{plan.NFTables, false, "/", 404, plain, "404 page not found"},
		{plan.NFTables, false, "/debug/pprof/", 404, plain, "404 page not found"},
		{plan.NFTables, true, "/debug/pprof/", 200, "text/html; charset=utf-8", "<html>"},
		{plan.NFTables, true, "/debug/pprof/goroutine?debug=1", 200, plain, "goroutine profile:"},
		{plan.NFTables, true, "/debug/pprof/symbol", 200, plain, "num_symbols: 1"},
		{plan.NFTables, true, "/debug/pprof/cmdline", 200, plain, ""},
	} {
		status, header, body := get(t, New(Options{Mode: c.mode}).Handler(c.profiling), c.path)
		if kind := header.Get("Content-Type"); status != c.status || kind != c.kind || !strings.HasPrefix(body, c.bodyBegins) {
			t.Errorf("%s (profiling %t): %d %q %.40q, want %d %q %q", c.path, c.profiling, status, kind, body, c.status, c.kind, c.bodyBegins)
		}
	}
}

// Whoever meets a metric is told what it is.
func TestEveryMetricHasItsHelp(t *testing.T) {
	t.Parallel()
	for _, mode := range []plan.Dialect{plan.NFTables, plan.IPTables} {
		_, _, text := get(t, exercised(mode).Handler(false), "/metrics")
		for line := range strings.Lines(text) {
			if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
				name, _, _ = strings.Cut(name, " ")
				if _, help, ok := strings.Cut(text, "# HELP "+name+" "); !ok || strings.HasPrefix(help, "\n") {
					t.Errorf("%s has no help", name)
				}
			}
		}
	}
}

// What others did is counted by what it was, and each kind is there from the start.
func TestInterferenceIsCounted(t *testing.T) {
	t.Parallel()
	m := New(Options{Status: status})
	before := values(t, m, "lameduck_rules_interference_total")
	m.Interfered(Repair, 2)
	m.Interfered(Rival, 1)
	m.Interfered(Repair, 3)
	zero := strings.NewReplacer("} 5", "} 0", "} 1", "} 0")
	after := values(t, m, "lameduck_rules_interference_total")
	for i, line := range after {
		want := "} 0"
		switch {
		case strings.Contains(line, `"repair"`):
			want = "} 5"
		case strings.Contains(line, `"rival"`):
			want = "} 1"
		}
		if !strings.HasSuffix(line, want) {
			t.Errorf("%s, want %s", line, want)
		}
		after[i] = zero.Replace(line)
	}
	if d := cmp.Diff(before, after); d != "" || len(after) != 3 {
		t.Error(d, after)
	}
}
