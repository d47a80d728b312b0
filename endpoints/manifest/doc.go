// Package manifest turns the bytes of Kubernetes manifests into API objects
// that are complete and well-formed, or says exactly where and why it cannot.
//
// It answers: which Services, EndpointSlices, Nodes and workloads does this
// input hold, with every default the API server would have filled in, and
// where in which file does a field stand? It never opens a file, looks at a
// clock, starts a goroutine or logs, never panics on any input, and never drops
// a document silently: each one ends up as an object, a Skipped count, or a
// Problem. It knows nothing about which endpoint is used; that is package
// endpoints.
//
// The one data path, in Load:
//
//	bytes -> documents (split.go) -> tree of nodes (yaml.go, json.go)
//	      -> typed object (decode.go) -> defaults (defaults_*.go)
//	      -> checks that remove what the API server would refuse (validate_*.go)
//	      -> Objects, Problems
//
// Documents of a kind lameduck has no use for are recognised by their
// unindented apiVersion and kind lines and are not parsed at all.
//
// A Problem of Severity Error means that a document could not be read; the
// others still are. A Warning means that an object or a part of it was skipped
// or is suspicious, and names what became of it.
package manifest
