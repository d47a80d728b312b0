// Package apiserver is as much of a Kubernetes API server as a service proxy needs: lists and
// watches of a few resources over plain HTTP, as protobuf or JSON, with label and field
// selectors, and a sink for events.
//
//	objects -> Add -> encoded once -> list, watch with initial events, watch from a version -> proxy
//	Change (encoded before) -> Send -> written to every watcher by the caller itself
//
// Its own work is kept out of what is measured: what it sends is encoded beforehand, a list is
// put together from encoded pieces, and Send returns when the bytes are with the kernel.
//
// It answers as kube-apiserver 1.36 does where the clients can tell (client-go 0.36,
// tools/cache/reflector.go; read): watches that ask for sendInitialEvents get every object and
// then a bookmark with the annotation k8s.io/initial-events-end. It knows no limits, no
// compression, no expiry, and lets a watch last as long as its client.
package apiserver
