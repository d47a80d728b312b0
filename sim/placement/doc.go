// Package placement answers on which nodes a pod may run, what keeps it off the others, and which of them the scheduler takes
// (Kubernetes 1.36 pkg/scheduler with its default plugins). It counts pods by Kind and node; it knows no API objects of its
// own, no time and no watches: package control keeps it up to date, and package scenario asks it how many nodes are enough.
//
// Not here: volumes, dynamic resources, images, priorities and preemption, and the sample of nodes that the scheduler makes do
// with in clusters of more than 100.
package placement
