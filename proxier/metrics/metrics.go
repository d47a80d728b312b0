package metrics

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Options of Metrics.
type Options struct {
	// Mode is what rules are written for. It decides which metrics there are.
	Mode plan.Dialect
	// Families are those the Backend programs; none are all.
	Families []endpoints.IPFamily
	// Status returns what the Proxier publishes; it is asked at each scrape, from any goroutine. Nil leaves out what is
	// read from it.
	Status func() proxier.Status
	// Rules may be nil, and is not looked at but in mode iptables.
	Rules RuleCounter
	// Build is the labels of lameduck_build_info, such as the version.
	Build map[string]string
}

// RuleCounter is a Backend that can tell about its rules of iptables. The caller of Observe asks it.
type RuleCounter interface {
	// Rules returns how many rules there are in a table of a family, and how many of them the last call wrote.
	Rules(family endpoints.IPFamily, table string) (total, written int)
	// PartialFailures counts the changes that could not be made, so that all rules were written instead.
	PartialFailures(family endpoints.IPFamily) int
}

// Metrics is all that a service proxy counts. Observe and ObserveCleaning are called by one goroutine at a time, as a
// Proxier does; all other methods are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	mode     plan.Dialect
	families []endpoints.IPFamily
	status   func() proxier.Status

	sync, full, partial *prometheus.HistogramVec
	check               prometheus.Histogram
	programming         *prometheus.HistogramVec
	last                *prometheus.GaugeVec
	failures            *prometheus.CounterVec
	partialFailures     *prometheus.CounterVec // mode iptables only
	rulesTotal          *prometheus.GaugeVec   // nil without a RuleCounter
	rulesLast           *prometheus.GaugeVec
	noLocal             *prometheus.GaugeVec
	flowsDuration       *prometheus.HistogramVec
	flowsDeleted        *prometheus.CounterVec
	healthz, livez      *prometheus.CounterVec
	meddling            *prometheus.CounterVec

	drops tally
	rules RuleCounter
	// partialSeen is what of PartialFailures has been counted, by family.
	partialSeen [2]int
}

// Metrics are kube-proxy's if the prefix says so, lameduck's own if not.
const (
	kubeProxy = "kubeproxy"
	own       = "lameduck"
)

const (
	familyLabel = "ip_family"
	policyLabel = "traffic_policy"
	tableLabel  = "table"
	codeLabel   = "code"
)

// syncBuckets are those of everything that takes as long as a sync: 1 ms doubled 14 times.
func syncBuckets() []float64 { return prometheus.ExponentialBuckets(0.001, 2, 15) }

// programmingBuckets are those of the time from a change in the cluster to its rules, from 0.25 s to 5 min.
func programmingBuckets() []float64 {
	return slices.Concat(
		prometheus.LinearBuckets(0.25, 0.25, 2),
		prometheus.LinearBuckets(1, 1, 59),
		prometheus.LinearBuckets(60, 5, 12),
		prometheus.LinearBuckets(120, 30, 7),
	)
}

// New returns Metrics that have seen nothing.
func New(o Options) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), mode: o.Mode, families: slices.Clone(o.Families), status: o.Status}
	if len(m.families) == 0 {
		all := endpoints.Families()
		m.families = all[:]
	}
	m.syncs()
	m.failed(o)
	m.consequences()
	m.probes()
	m.meddled()
	if o.Status != nil {
		m.registry.MustRegister(newStatusCollector(o.Status, m.families))
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: own, Name: "build_info", Help: "Which build of lameduck this is; always 1", ConstLabels: o.Build,
		}, func() float64 { return 1 }),
	)
	return m
}

// syncs makes what is measured of each sync.
func (m *Metrics) syncs() {
	m.sync = m.histogram("sync_proxy_rules_duration_seconds", "SyncProxyRules latency in seconds", syncBuckets())
	m.full = m.histogram("sync_full_proxy_rules_duration_seconds", "SyncProxyRules latency in seconds for full resyncs", syncBuckets())
	m.partial = m.histogram("sync_partial_proxy_rules_duration_seconds", "SyncProxyRules latency in seconds for partial resyncs", syncBuckets())
	m.check = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: own, Name: "check_rules_duration_seconds",
		Help: "Latency in seconds of looks at whether the rules are still what they should be", Buckets: syncBuckets(),
	})
	m.registry.MustRegister(m.check)
	m.programming = m.histogram("network_programming_duration_seconds", "In Cluster Network Programming Latency in seconds", programmingBuckets())
	m.last = m.gauge("sync_proxy_rules_last_timestamp_seconds", "The last time proxy rules were successfully synced", familyLabel)
}

// failed makes the counters of failures: each mode has its own.
func (m *Metrics) failed(o Options) {
	if m.mode == plan.NFTables {
		m.failures = m.counter("sync_proxy_rules_nftables_sync_failures_total", "Cumulative proxy nftables sync failures", familyLabel)
	} else {
		m.failures = m.counter("sync_proxy_rules_iptables_restore_failures_total", "Cumulative proxy iptables restore failures", familyLabel)
		m.partialFailures = m.counter("sync_proxy_rules_iptables_partial_restore_failures_total",
			"Cumulative proxy iptables partial restore failures", familyLabel)
		m.counted(o)
	}
	for _, f := range m.families {
		m.failures.WithLabelValues(f.String())
		if m.partialFailures != nil {
			m.partialFailures.WithLabelValues(f.String())
		}
	}
}

// counted makes what tells of rules of iptables, if they are counted.
func (m *Metrics) counted(o Options) {
	if m.rules = o.Rules; m.rules == nil {
		return
	}
	m.rulesTotal = m.gauge("sync_proxy_rules_iptables_total", "Total number of iptables rules owned by kube-proxy", tableLabel, familyLabel)
	m.rulesLast = m.gauge("sync_proxy_rules_iptables_last", "Number of iptables rules written by kube-proxy in last sync", tableLabel, familyLabel)
}

// consequences makes what tells of the rules in force and of flows.
func (m *Metrics) consequences() {
	m.noLocal = m.gauge("sync_proxy_rules_no_local_endpoints_total",
		"Number of services with a Local traffic policy and no endpoints", policyLabel, familyLabel)
	m.flowsDuration = m.histogram("conntrack_reconciler_sync_duration_seconds", "ReconcileConntrackFlowsLatency latency in seconds", syncBuckets())
	m.flowsDeleted = m.counter("conntrack_reconciler_deleted_entries_total",
		"Cumulative conntrack flows deleted by conntrack reconciler", familyLabel)
}

// probes makes what counts answers to those who ask for the proxy's health.
func (m *Metrics) probes() {
	m.healthz = m.counter("proxy_healthz_total", "Cumulative proxy healthz HTTP status", codeLabel)
	m.livez = m.counter("proxy_livez_total", "Cumulative proxy livez HTTP status", codeLabel)
	for _, v := range []*prometheus.CounterVec{m.healthz, m.livez} {
		for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable} {
			v.WithLabelValues(strconv.Itoa(status))
		}
	}
}

// meddled makes what counts what others do to the rules.
func (m *Metrics) meddled() {
	m.meddling = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: own, Name: "rules_interference_total",
		Help: "How often others were at the rules: repair is rules written again, rival another service proxy that was noticed, removal a table of another program in the place of ours",
	}, []string{"what"})
	m.registry.MustRegister(m.meddling)
	for _, what := range []Interference{Repair, Rival, Removal} {
		m.meddling.WithLabelValues(string(what))
	}
}

func (m *Metrics) histogram(name, help string, buckets []float64) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Subsystem: kubeProxy, Name: name, Help: help, Buckets: buckets}, []string{familyLabel})
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Subsystem: kubeProxy, Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: kubeProxy, Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

// seconds is a moment as Prometheus writes it.
func seconds(t time.Time) float64 { return float64(t.UnixNano()) / float64(time.Second) }
