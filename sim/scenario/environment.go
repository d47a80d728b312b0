package scenario

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Environment is a kind of cluster: what --env says of its nodes' service proxy and of its load
// balancers, where the input does not say it (docs/model/simulator.md 5.2).
type Environment struct {
	ID, What string
	Proxy    world.Proxy
	// Provider is what a Node's providerID begins with, "" where the load balancer is anybody's.
	Provider string
	// OtherProxy names the service proxy of an environment without kube-proxy.
	OtherProxy     string
	Source, Status string
}

// Environments lists what --env takes.
func Environments() []Environment {
	slow := DefaultProxy()
	slow.MinSyncPeriod, slow.SyncPeriod = 10*engine.Second, engine.Minute
	return []Environment{
		{
			ID: "kubeadm", What: "kube-proxy as kubeadm configures it; any load balancer", Proxy: DefaultProxy(),
			Source: "kubeadm writes no period: kube-proxy's defaults, docs/model/kube-proxy.md 10", Status: recalled,
		},
		{
			ID: "kind", What: "kind with cloud-provider-kind", Proxy: DefaultProxy(), Provider: "kind",
			Source: "kind pkg/cluster/internal/kubeadm/config.go: minSyncPeriod 1s, kind's default mode", Status: verified,
		},
		{
			ID: "gke", What: "GKE with kube-proxy", Proxy: slow, Provider: "gce",
			Source: "kubernetes cluster/gce/gci/configure-helper.sh and kube-proxy pods of GKE 1.20: --iptables-min-sync-period=10s --iptables-sync-period=1m; newer ones were not read", Status: verified,
		},
		{
			ID: "gke-dpv2", What: "GKE with Dataplane V2", Proxy: DefaultProxy(), Provider: "gce", OtherProxy: "Cilium",
			Source: "GKE's documentation", Status: recalled,
		},
		{
			ID: "eks", What: "EKS with the kube-proxy add-on", Proxy: DefaultProxy(), Provider: "aws",
			Source: "the add-on's minSyncPeriod is 0s, which is kube-proxy's default", Status: recalled,
		},
		{
			ID: "aks", What: "AKS with kube-proxy", Proxy: DefaultProxy(), Provider: "azure",
			Source: "kube-proxy's defaults", Status: recalled,
		},
	}
}

// EnvironmentNames lists their IDs.
func EnvironmentNames() []string {
	var names []string
	for _, e := range Environments() {
		names = append(names, e.ID)
	}
	return names
}

// environmentNamed finds one; the zero Environment says nothing.
func environmentNamed(id string) (Environment, bool) {
	for _, e := range Environments() {
		if e.ID == id {
			return e, true
		}
	}
	return Environment{}, false
}

// ProxyWords says what the environment's service proxy is taken to be.
func (e *Environment) ProxyWords() string {
	words := fmt.Sprintf("kube-proxy, %s, minSyncPeriod %s, syncPeriod %s", e.Proxy.Mode, e.Proxy.MinSyncPeriod.Duration(), e.Proxy.SyncPeriod.Duration())
	if e.OtherProxy != "" {
		words += " assumed; it is " + e.OtherProxy
	}
	return words
}

// BalancerWords says which load balancer a Service has that asks for nothing special.
func (e *Environment) BalancerWords() string {
	f := providerBalancer(e.Provider)
	if f.name == "" {
		return "unknown"
	}
	if len(f.families) == 0 {
		return f.name
	}
	return orList(f.families)
}
