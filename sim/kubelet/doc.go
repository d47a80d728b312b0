// Package kubelet is the kubelet of a simulated node, and the servers in its pods: init containers
// and sidecars, probes, preStop hooks, SIGTERM and SIGKILL, restarts with their back-off, the status
// that it writes. A server is what it does with its listener and its requests.
//
//	API -> watch -> Kubelet -> Worker of a pod -> Containers, their Probers -> Instance, status -> API
//
// It knows no Deployment and no Service: what a pod is made of it asks Specs, who hears of servers is an
// Observer.
package kubelet
