package cluster

import "github.com/lameduck-proxy/lameduck/sim/kubelet"

// Observer hears of what happens to servers and to nodes and matters to connections, at the moment it
// happens. The state has changed already.
type Observer interface {
	kubelet.Observer
	// Synced: a node's proxy has finished a sync: its rules, and the answers of its health ports,
	// are new.
	Synced(node int)
	// NodeChanged: a node's machine is gone, or its port 10256 answers differently.
	NodeChanged(node int)
}

// agents are the kubelets, and what they share.
type agents struct {
	kubelets  []*kubelet.Kubelet // by node
	desk      *kubelet.Desk
	instances *kubelet.Instances
	down      map[string]bool // dependencies of apps
}

// beginKubelets starts the kubelet of each node.
func (w *World) beginKubelets() {
	w.desk = &kubelet.Desk{
		Engine: w.eng, API: w.store, Log: w.log, Latencies: &w.sc.Latency, Specs: w, Observer: usableServers{w.observer, w},
		Instances: w.instances, Down: w.down, Recorded: w.sc.Recorded,
	}
	for n := range w.sc.Nodes {
		w.kubelets = append(w.kubelets, kubelet.New(w.desk, kubelet.Settings{Node: n, Name: w.sc.Nodes[n].Name, Watch: *w.watchLatency(n)}))
	}
}

// usableServers counts the pods that are usable before anybody else hears of their servers.
type usableServers struct {
	Observer
	w *World
}

// ListenerChanged has a pod counted.
func (o usableServers) ListenerChanged(i *kubelet.Instance) {
	o.w.listenerChanged(i)
	o.Observer.ListenerChanged(i)
}
