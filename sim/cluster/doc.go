// Package cluster simulates what stands between a manifest and its traffic: the API store and
// its watches, the Deployment, ReplicaSet and EndpointSlice controllers, the scheduler, the
// kubelets with their probes and hooks, the apps in the pods, and the service proxy of each
// node, which runs the production endpoints, plan and pace packages.
//
//	scenario -> World -> engine events -> API objects -> watches -> controllers, kubelets, proxies
//
// Every component sees the world through its own watch, late, and acts on what it sees. The
// package decides no request: it offers the state of nodes and pods to whoever sends traffic.
package cluster
