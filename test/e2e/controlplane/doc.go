// Package controlplane runs etcd, kube-apiserver, kube-controller-manager and kube-scheduler on a
// machine of their own, each as a process.
//
//	authority -> certificates -> kubeconfigs of the components, of nodes, of proxies
//	etcd -> kube-apiserver -> kube-controller-manager, kube-scheduler
//
// Everybody is who their certificate says, and may do what RBAC and the node authorizer let them:
// a proxy that asks for more than kube-proxy's role has is refused. What differs from a cluster
// as kubeadm makes it is only what no case is about: there are no service accounts in pods, etcd
// does not sync to disk, and controllers do not elect a leader.
package controlplane
