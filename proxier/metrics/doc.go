// Package metrics counts what a service proxy does, under the names, labels and buckets of kube-proxy 1.36
// (pkg/proxy/metrics/metrics.go; docs/model/kube-proxy.md 9; verified), so that dashboards and alerts need
// not know the difference.
//
//	proxier.Sync, Cleaning -> Observe, ObserveCleaning -> Registry -+-> /metrics
//	proxier.Status, at the moment of a scrape ----------------------'
//
// There are no globals: each Metrics has a registry of its own. Which metrics there are follows from the mode, as in
// kube-proxy. The package never listens; Handler is what to serve.
//
// Where the meaning differs from kube-proxy's:
//
//   - A Backend programs both families in one sync. Both are given its duration, and its failure, unless the Backend
//     says which family failed.
//   - A look at the rules that finds nothing to do is no sync: kube-proxy has no such thing. It has a metric of its own
//     and counts as a successful sync for the last timestamp, since the rules are known to be right.
//   - What is pending are deliveries of objects. kube-proxy counts Services that differ.
//
// Left out, since nothing here could ever count: kubeproxy_sync_proxy_rules_nftables_cleanup_failures_total (chains that
// are no longer used go in the transaction that stops using them), the two counters of nfacct (no rule of lameduck counts
// with nfacct).
package metrics
