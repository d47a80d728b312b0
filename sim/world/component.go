package world

// What the action component does.
const (
	ComponentPause   = "pause"
	ComponentResume  = "resume"
	ComponentRestart = "restart"
)

// Components of the cluster that actions can pause, by name; there is a kube-proxy and a kubelet
// on each node.
const (
	LBController = "lb-controller"
	KubeProxyOf  = "kube-proxy/"
	KubeletOf    = "kubelet/"
)
