// Package healthcheck answers one question: what does a node's service proxy say when a
// load balancer probes it?
//
// Two kinds of ports are asked. A Service's health-check node port tells an external load
// balancer whether this node has ready endpoints of that Service; the proxy's own port
// (10256) tells it, on /healthz, whether the node takes new connections at all, and on
// /livez whether the proxy still follows the cluster:
//
//	Snapshot, node name        -> Table -> Answer      (health-check node ports)
//	ProxyState, NodeState, now -> Healthz, Livez -> Answer
//
// An Answer is a status code, headers and a body, byte for byte those of kube-proxy 1.36
// (pkg/proxy/healthcheck: service_health.go, proxy_health.go; verified). The package never
// opens a socket and never reads a clock: moments arrive as arguments. The zero time.Time
// means "never", so a virtual clock must not start there; the Unix epoch will do.
//
// The count on a health-check node port and the endpoint lists of package endpoints are two
// different things on purpose. A terminating endpoint that still serves stays in the rules
// when nothing else is left (KEP-1669), but is not counted: the load balancer is told to
// leave while the connections it still sends are served.
//
// KEP-1669's motivation says that a failing port returns 500. The code returns 503, and so
// does this package.
package healthcheck
