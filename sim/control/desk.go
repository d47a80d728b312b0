package control

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Desk is what all controllers of a cluster share.
type Desk struct {
	Engine    *engine.Engine
	API       *api.Store
	Log       *event.Log
	Latencies *world.Latencies
	Specs     Specs
	Nodes     []world.Node
	Workloads []world.Workload
	Budgets   []world.Budget
	Revised   map[int][]world.Budget // by number of a budget: what actions have made of it, one after another

	Namespaces map[string]map[string]string // the labels of those that the input has

	// Vetoed says that no Pod is made at the moment, for a webhook that is asked of each does not answer; nil for never.
	Vetoed func() bool

	NoInclusion bool // the cluster is older than world.InclusionSince
}

// Specs say what workloads ask for, and what their pods are.
type Specs interface {
	// ResourceOf is the object of a workload that is in force for a revision: nobody changes it. MinReady is minReadySeconds at the moment.
	ResourceOf(id api.ReplicaSetID) world.Resource
	MinReady(workload int) engine.Time
	// SettingsOf is the object of a workload as it was last applied: what it says beside its template.
	SettingsOf(workload int) world.Resource
	// NewPod numbers and names a pod of a ReplicaSet. NewNamed does so with one that no ReplicaSet makes: name is its "ns/name", which
	// pods before it may have had.
	NewPod(id api.ReplicaSetID) *api.Pod
	NewNamed(id api.ReplicaSetID, name string, ordinal int) *api.Pod
	// Deletion is what a request to delete a pod does to it, with a grace period or world.OwnGrace.
	Deletion(id api.PodID, grace engine.Time) func(api.Object) api.Object
	// PodsOn lists the pods in the API that are bound to a node, in order of ID.
	PodsOn(node int) []*api.Pod
}

// deploymentOf is a workload's object for a revision, of a Deployment.
func (d *Desk) deploymentOf(id api.ReplicaSetID) *appsv1.Deployment {
	of, ok := d.Specs.ResourceOf(id).(*appsv1.Deployment)
	if !ok {
		panic("control: not a Deployment: " + d.Workloads[id.Workload].Name())
	}
	return of
}

// mirrors says whether a pod is what a kubelet shows of one that it has from a file: deleting it would change nothing.
func (d *Desk) mirrors(p *api.Pod) bool {
	_, mirror := d.Specs.ResourceOf(setOf(p)).GetAnnotations()[corev1.MirrorPodAnnotationKey]
	return mirror
}

// moves says whether a pod leaves its node when that is emptied: those of DaemonSets do not, as they would be back at once.
func (d *Desk) moves(p *api.Pod) bool {
	_, daemon := d.Specs.ResourceOf(setOf(p)).(*appsv1.DaemonSet)
	return !daemon
}

// graceOf is a pod's own grace period.
func (d *Desk) graceOf(p *api.Pod) engine.Time {
	return world.GraceOf(&world.TemplateOf(d.Specs.ResourceOf(setOf(p))).Spec)
}

// revisionLabel is the label that tells the pods of a revision from all others, as the Deployment controller adds it.
func (d *Desk) revisionLabel(id api.ReplicaSetID) map[string]string {
	return map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: fmt.Sprintf("%d-%d", id.Workload, id.Revision)}
}

// Fenceposts are how many pods more, and how many fewer, a rolling update of a Deployment may have.
func (d *Desk) Fenceposts(of *api.Workload) (surge, unavailable int) {
	return world.FencepostsOf(d.Specs.ResourceOf(api.ReplicaSetID{Workload: of.Workload, Revision: of.Revision}), of.Replicas)
}
