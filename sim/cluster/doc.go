// Package cluster puts together what stands between a manifest and its traffic: the API server (sim/api),
// controllers and scheduler (sim/control), kubelets with the servers in their pods (sim/kubelet) and the
// service proxy of each node (sim/nodeproxy), which runs the production endpoints, plan and pace packages.
// It has the EndpointSlice controller, DNS and actions itself, and what only who sees all can say: the
// settled state, in which nothing is late, and who is late now.
//
//	scenario -> World -> engine events -> API objects -> watches -> controllers, kubelets, proxies
//
// Every component sees the world through its own watch, late, and acts on what it sees. The
// package decides no request: it offers the state of nodes and pods to those who send traffic.
package cluster
