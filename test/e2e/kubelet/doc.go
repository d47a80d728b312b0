// Package kubelet is a small kubelet: it registers a node, and gives every pod that is bound to it
// a namespace with an app in it, whose life it runs in the order and with the delays of the real
// one (docs/model/pod-lifecycle.md 2 to 4).
//
//	Pod (watched) -> worker: sandbox, container, probes -> status (written) -> controllers
//	deletion -> preStop -> SIGTERM -> SIGKILL -> sandbox gone -> terminal status -> DELETE
//
// It knows pods of one container that is an app (package app), readiness probes by HTTP, and
// preStop hooks that sleep. A pod that asks for anything else fails, and says why: no case passes
// because of something that was left out.
package kubelet
