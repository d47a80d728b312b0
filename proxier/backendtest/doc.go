// Package backendtest is what every dataplane has to do, as one table of packets.
//
// A row says in data what the cluster looks like, what is particular to the node, where
// packets come from and go to, and all that may become of them: the verdict, the exact set of
// endpoints, and for each whether it sees the client's address or the node's. Rows are written
// once, with places instead of addresses, and run in both dialects and both IP families, the
// elementary ones with TCP, UDP and SCTP.
//
//	row -> Cases -> Service, EndpointSlice -> endpoints.Cache -> plan -> Subject <- packets
//
// The rows follow facts of kube-proxy 1.36, read in its source; each names where. A dataplane
// joins by implementing Subject and calling Run. A row that one dataplane may fail does not
// exist: what it cannot run, such as the passing of hours, it declares as a Need it lacks.
package backendtest
