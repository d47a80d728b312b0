// Package balancer simulates load balancers in front of a cluster: who their members are, whom
// they hold to be healthy, and so where a new connection goes.
//
// It answers: which members get new connections now, which would if nothing were late, and
// whose lateness the difference is. It never looks into the cluster by itself: what its
// controller hears and what its probes are answered comes through the Cluster interface.
//
// The one data path: news of endpoints -> controller -> members -> checks -> Pick.
package balancer
