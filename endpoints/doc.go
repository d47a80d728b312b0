// Package endpoints answers one question: which endpoints does a node use for a
// service port, and why?
//
// It is kube-proxy's endpoint-selection core, reimplemented as pure functions of
// values. Services and EndpointSlices go into a Cache, which publishes immutable
// Snapshots; Select reads one ServicePort of a Snapshot and returns the node's
// Selection, Decide the same with a Reason for every endpoint:
//
//	Service, EndpointSlice -> Cache -> Snapshot -> Select, Decide -> Selection, []Decision
//
// The package never performs I/O, never reads a clock and never logs. What changed
// between Kubernetes versions is an Options value, not a global feature gate, so
// one process can hold a 1.25 node beside a 1.36 one.
//
// The behaviour is that of kube-proxy 1.36 (pkg/proxy: topology.go,
// endpointslicecache.go, serviceport.go) and of KEP-1669. Where the KEP and the
// code disagree, the code is followed and the place says so.
package endpoints
