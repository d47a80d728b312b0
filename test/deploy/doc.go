// Package deploy examines how lameduck is shipped: the image's Dockerfile, run without an engine, and the manifests, against the
// API's types, the program's own flags and configuration, and what its client asks for. That manifests/rendered is what kustomize
// makes of the overlays is test/kustomize's. With LAMEDUCK_KERNEL=1 the image's binary runs as a node's proxy with the manifests' rights.
package deploy
