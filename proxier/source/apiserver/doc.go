// Package apiserver delivers the Services, EndpointSlices, ServiceCIDRs and the one Node that a
// service proxy needs from a Kubernetes API server, as they are and as they change.
//
//	API server -> reflector (list, watch, relist) -> source.Sink
//
// Objects are handed on and not kept: what a proxy needs of them is in endpoints.Cache, and a second
// copy of a large cluster would be most of the process. What is kept is their names, so that a relist
// tells what has gone meanwhile.
//
// An API server that is away, a watch that ends or is too old, and a server without some resource
// change nothing of what was delivered; client-go's reflector asks again with a back-off. The selectors are
// kube-proxy's (cmd/kube-proxy/app/server.go, 1.36; verified).
package apiserver
