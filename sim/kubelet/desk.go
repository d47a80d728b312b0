package kubelet

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Desk is what all kubelets of a cluster share.
type Desk struct {
	Engine    *engine.Engine
	API       *api.Store
	Log       *event.Log
	Latencies *world.Latencies
	Specs     Specs
	Observer  Observer
	Instances *Instances
	Down      map[string]bool // the dependencies of apps that are down, by name
	Volumes   Volumes         // nil where no pod waits for any

	// Recorded gives the delays of pods where they are those of a recording, nil where kubelets do their work.
	Recorded *world.Recorded
	// KeepsStatus says that a kubelet which is started takes over what the status of a running container says.
	KeepsStatus bool
}

// Specs say what pods are made of.
type Specs interface {
	// PodSpec is the spec of the pods of a ReplicaSet, App how their servers behave. Nobody changes either.
	PodSpec(id api.ReplicaSetID) *corev1.PodSpec
	App(p *api.Pod) *world.App
	// Server is the number of the container that traffic goes to, Hook what a container's preStop hook does.
	Server(workload int) int
	// PassesTo are the names of the containers without which the server answers with errors.
	PassesTo(workload int) []string
	Hook(id api.ReplicaSetID, c *corev1.Container) world.Hook
	// Lacks says whether the image of a container is known not to have the program of a probe: the kubelet throws that error away, so such a
	// readiness or startup probe never succeeds, and none ever fails.
	Lacks(c *corev1.Container, exec *corev1.ExecAction) bool
}

// Volumes are what pods have to have before they start.
type Volumes interface {
	// Mount goes on when a pod has its volumes on its node, at once if it has them.
	Mount(p *api.Pod, then func())
}

// Settings are one kubelet's own.
type Settings struct {
	Node  int
	Name  string
	Watch engine.Dist // how late it hears of a pod
}
