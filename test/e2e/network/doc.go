// Package network is the machines of a cluster as network namespaces: nodes with the pods behind
// them, a control plane, and clients that are no part of the cluster, all on one wire.
//
//	pod -- node --+-- node -- pod
//	              |
//	control plane + client
//
// The wire is a bridge in a namespace of its own, as a kind cluster's network is. Nodes know the
// way to each other's pods; clients do not, they know the nodes, and one that a load balancer
// sends reaches a load balancer's address by way of the node it is told to.
//
// Namespaces have no names: they last as long as the process. The package works on Linux only,
// as root of a user namespace at least.
package network
