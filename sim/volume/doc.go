// Package volume is which node has each volume of a simulated cluster, as kube-controller-manager's attach/detach controller and
// kubelets see to it (docs/model/pod-lifecycle.md 8): one that only one node may have goes to the next node when no pod of the node
// before has it any more, and a pod does not start before.
package volume
