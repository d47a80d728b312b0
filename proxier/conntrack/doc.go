// Package conntrack has the kernel forget the UDP flows that rules would no longer let go where they
// go.
//
// The kernel decides where a flow goes when its first packet comes, and remembers it. For TCP that
// ends with the connection. A UDP flow ends when nothing has been sent for a while, which a client
// that keeps asking never lets happen: so what it sends goes to an endpoint that is gone.
//
//	plan.Plan in force -> Follow: is it worth looking? -> Clean: entries of the kernel -> stale? -> deleted
//
// Which entries are stale is a function of values: of the Plan in force, those in force before, and
// the entry. The table is read when a change may have made one stale, and not otherwise: that
// costs as much as the node has flows. Files that end in _linux.go do it.
//
// The rules are those of kube-proxy 1.36 (pkg/proxy/conntrack/cleanup.go; verified): an entry that
// leads to an address and port of a Service over UDP, and not to one of its serving endpoints, is
// deleted. Traffic policies, topology and readiness do not matter, so that a flow stays with a
// terminating endpoint while that serves, as a TCP connection would. TCP is never touched, nor is
// SCTP. Where lameduck does more, or less:
//
//   - A Service without any serving endpoint loses its entries, too. kube-proxy leaves them, and what
//     clients send goes nowhere (kubernetes issue 139628); without an entry they are refused.
//   - So does one that is gone, where the entry was translated: nobody else will ever look at it.
//     kube-proxy did so up to 1.31 (for ClusterIPs; recalled) and no longer does.
//   - An entry that was not translated, and is to an address that is a Service's by now, is deleted as
//     in kube-proxy. There are such entries: of flows that began before the proxy did, or before the
//     Service had its address; and in iptables mode, of what a node itself sends to a load-balancer
//     IP without endpoints. What nftables mode rejects or drops never gets an entry.
//   - A node port is one on the node's own addresses. kube-proxy takes every entry whose destination
//     port has the number of a node port for one, wherever it leads, and deletes it.
//   - An endpoint that is ready counts as serving. With publishNotReadyAddresses it may be the one and
//     not the other; kube-proxy then deletes, after each sync, entries that its own rules make again.
package conntrack
