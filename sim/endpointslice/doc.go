// Package endpointslice is the EndpointSlice controller: which endpoints a Service has, in which slices they
// stand (k8s.io/endpointslice 0.36.3), which hints they carry, and when the slices are written.
//
//	pods -> Of (one pod's endpoint) -> Pack (slices) -> Proportional (hints of all) -> API.SliceOf -> the API
//
// The Controller decides when; the rest is functions of what they are given. What manifests say of
// Services, and where slices go, is behind the API interface.
package endpointslice
