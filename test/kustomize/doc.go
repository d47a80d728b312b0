// Package kustomize holds manifests/rendered to what kustomize makes of manifests/overlays. It is a module of its own
// because nobody else needs kustomize; what is rendered is examined by test/deploy of the root module.
package kustomize
