package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier"
)

// statusCollector reads, at each scrape, what a Proxier publishes: what is pending would be over by the end of a sync.
type statusCollector struct {
	status   func() proxier.Status
	families []endpoints.IPFamily

	queued                          *prometheus.Desc
	slicesPending, slicesTotal      *prometheus.Desc
	servicesPending, servicesTotals *prometheus.Desc
}

func newStatusCollector(status func() proxier.Status, families []endpoints.IPFamily) *statusCollector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName("", kubeProxy, name), help, labels, nil)
	}
	return &statusCollector{
		status: status, families: families,
		queued:          desc("sync_proxy_rules_last_queued_timestamp_seconds", "The last time a sync of proxy rules was queued", familyLabel),
		slicesPending:   desc("sync_proxy_rules_endpoint_changes_pending", "Pending proxy rules Endpoint changes"),
		slicesTotal:     desc("sync_proxy_rules_endpoint_changes_total", "Cumulative proxy rules Endpoint changes"),
		servicesPending: desc("sync_proxy_rules_service_changes_pending", "Pending proxy rules Service changes"),
		servicesTotals:  desc("sync_proxy_rules_service_changes_total", "Cumulative proxy rules Service changes"),
	}
}

// Describe names the metrics.
func (c *statusCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.queued, c.slicesPending, c.slicesTotal, c.servicesPending, c.servicesTotals} {
		out <- d
	}
}

// Collect reads them.
func (c *statusCollector) Collect(out chan<- prometheus.Metric) {
	s := c.status()
	for _, f := range c.families {
		if at := s.QueuedAt[f]; !at.IsZero() {
			out <- prometheus.MustNewConstMetric(c.queued, prometheus.GaugeValue, seconds(at), f.String())
		}
	}
	for _, n := range []struct {
		desc  *prometheus.Desc
		kind  prometheus.ValueType
		value int
	}{
		{c.slicesPending, prometheus.GaugeValue, s.Slices.Pending},
		{c.slicesTotal, prometheus.CounterValue, s.Slices.Total},
		{c.servicesPending, prometheus.GaugeValue, s.Services.Pending},
		{c.servicesTotals, prometheus.CounterValue, s.Services.Total},
	} {
		out <- prometheus.MustNewConstMetric(n.desc, n.kind, float64(n.value))
	}
}
