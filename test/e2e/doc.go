// Package e2e runs lameduck as the service proxy of nodes against a real control plane: etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler, with pods that are real listeners
// in network namespaces, and clients whose every request is accounted for.
//
//	controlplane <- kubelet: pods in namespaces, probes, status
//	             <- node: lameduck (or kube-proxy) in the node's namespace, as a process
//	client -> network -> rules of the nodes -> pods -> who answered
//
// All cases share one cluster, with two nodes for each mode of the proxy; each case has a
// namespace of its own there. Cases that break something run before the others, one after the
// other; the rest run side by side.
//
// The package has nothing but tests. They are skipped unless LAMEDUCK_E2E=1, and need root or
// anybody who may have a user namespace, nft and iptables: make e2e.
package e2e
