// Package control is what runs beside the API server of a simulated cluster and acts on objects: the
// Deployment controller with its arithmetic, the ReplicaSet controller with its ranking of victims, the
// StatefulSet and DaemonSet controllers with what one step of theirs does, the disruption controller and the
// eviction API that heeds its budgets, kubectl drain, and the scheduler. Each controller has a work queue
// (Queue), a client with a limit of its own, and writes Events.
//
//	API -> watch -> Queue -> sync of one object -> writes -> API
//
// A controller gets a Desk and holds what its watches have shown it, as in a cluster.
package control
