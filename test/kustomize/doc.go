// Package kustomize holds manifests/rendered to what kustomize makes of manifests/overlays, and the cluster of
// examples/kind to kind's own types. It is a module of its own because nobody else needs either; what is rendered is examined
// by test/deploy of the root module.
package kustomize
