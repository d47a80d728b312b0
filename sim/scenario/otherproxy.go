package scenario

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// otherProxy says that the nodes have another service proxy than kube-proxy, by the environment that the user names or by the input: Cilium where
// its settings have it replace kube-proxy, or where it announces addresses at layer 2, which takes that
// (https://docs.cilium.io/en/stable/network/kubernetes/kubeproxy-free/ and .../l2-announcements/; recalled). Once is enough.
func (b *builder) otherProxy() {
	const words = ", which is not simulated: kube-proxy stands in"
	for i := range b.out.Workloads {
		w := &b.out.Workloads[i]
		if field := world.OnWindows(&w.Template().Spec); field != "" && !w.Aside {
			b.notModelled(world.OtherProxy, "its pods run on Windows ("+where(w.Object, "spec.template.spec."+field)+
				"): kube-proxy there is winkernel, which is not simulated, nor how Windows ends containers: Linux stands in", w.Kind()+" "+w.Name(), "unknown")
			return
		}
	}
	if env, _ := environmentNamed(b.opts.Env); env.OtherProxy != "" {
		b.notModelled(world.OtherProxy, "the nodes' proxy is "+env.OtherProxy+words, "environment "+env.ID, "unknown")
		return
	}
	if b.opts.Env != "" || slices.ContainsFunc(b.world.proxyConfigs, func(o *manifest.Object) bool { return o.Kind == "KubeProxyConfiguration" }) {
		return // somebody says that it is kube-proxy
	}
	for _, id := range sortedKeys(b.world.configMaps) {
		o := b.world.configMaps[id]
		if said := rawText(o.Value, "data", kubeProxyReplacement); o.Name == "cilium-config" && (said == "true" || said == "strict") {
			b.notModelled(world.OtherProxy, "the nodes' proxy is Cilium ("+kubeProxyReplacement+": "+said+", "+where(o, "data."+kubeProxyReplacement)+")"+words, o.String(), "unknown")
			return
		}
	}
	for _, s := range b.world.services {
		if class := s.Value.Spec.LoadBalancerClass; class != nil && strings.HasPrefix(*class, "io.cilium/l2") {
			b.notModelled(world.OtherProxy, "the nodes' proxy is Cilium (loadBalancerClass "+*class+", "+where(s.Object, "spec.loadBalancerClass")+")"+words, "Service "+s.ID(), "unknown")
			return
		}
	}
}

// kubeProxyReplacement is the setting of Cilium that has it do kube-proxy's work.
const kubeProxyReplacement = "kube-proxy-replacement"
