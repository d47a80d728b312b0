package world

import "github.com/lameduck-proxy/lameduck/sim/engine"

// Recorded is what is known of the pods of a cluster that was recorded, by the numbers of their workloads.
type Recorded struct {
	// Times are the delays of pods of a revision: kubelets keep to them, whatever the containers would do.
	Times func(workload, revision int) PodTimes
	// First is a pod of the beginning as it was then, by its ordinal.
	First func(workload, ordinal int) FirstPod
}

// PodTimes are the delays of a pod.
type PodTimes struct {
	Start engine.Time // from its binding until it is Running
	Ready engine.Time // from then until it is Ready: 0 with it, NeverReady not at all
	Stop  engine.Time // from its deletionTimestamp until its last phase; its grace period, if that is less
}

// NeverReady is the Ready of pods that never are.
const NeverReady engine.Time = -1

// FirstPod is a pod that ran at the beginning: on which node, since when, and since when it was Ready. A DaemonSet knows better on which.
type FirstPod struct {
	Node           string
	Created, Ready engine.Time
}
