// Package plan says what a node's service rules have to do, in no dataplane's words.
//
// From a Snapshot of the cluster and what is particular to a node (its name, zone and
// addresses, how it tells its pods' traffic, which dialect it speaks) it makes a Plan: every
// address and port that leads to a Service, called a frontend, and for traffic from pods,
// from the node itself and from outside what becomes of it: which list of endpoints it may
// use, whether its source is rewritten, or whether it is rejected or dropped.
//
//	endpoints.Snapshot + Node -> Build, Update -> Plan, Delta -> memory | nftables | iptables
//
// A Plan is immutable. Update makes the next one at the cost of the Services that changed and
// says what differs; Diff says the same of any two Plans, by looking at all of both.
//
// The behaviour is that of kube-proxy 1.36 (pkg/proxy/nftables/proxier.go and
// pkg/proxy/iptables/proxier.go; read line by line). Where its two modes differ, Dialect
// chooses. The package performs no I/O and evaluates no packets.
package plan
