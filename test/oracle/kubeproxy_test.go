package oracle

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/proxy"
	"k8s.io/kubernetes/pkg/proxy/apis"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// kubeProxy is upstream: one dual-stack kube-proxy on each node, from the informers'
// stores to CategorizeEndpoints. Its parts are k8s.io/kubernetes' own; only the informers
// and the glue of its proxiers (OnServiceUpdate and friends) are written down here.
type kubeProxy struct {
	nodes    []endpoints.NodeInfo
	families [2]*familyProxy

	// What the informers have listed. They select by label and field, so an object that
	// stops matching leaves the store as if deleted (cmd/kube-proxy/app/server.go, Run).
	services map[types.NamespacedName]*corev1.Service
	slices   map[types.NamespacedName]*discoveryv1.EndpointSlice
}

// familyProxy is what the proxiers of one IP family hold. Services look the same from
// every node, so their tracker is shared; endpoints know whether they are local.
type familyProxy struct {
	family     corev1.IPFamily
	services   *proxy.ServiceChangeTracker
	serviceMap proxy.ServicePortMap
	trackers   []*proxy.EndpointsChangeTracker
	maps       []proxy.EndpointsMap
}

func newKubeProxy(nodes []endpoints.NodeInfo) *kubeProxy {
	k := &kubeProxy{
		nodes:    nodes,
		services: map[types.NamespacedName]*corev1.Service{},
		slices:   map[types.NamespacedName]*discoveryv1.EndpointSlice{},
	}
	for i, f := range endpoints.Families() {
		family := corev1.IPFamily(f.String())
		fp := &familyProxy{
			family:     family,
			services:   proxy.NewServiceChangeTracker(family, nil, nil),
			serviceMap: proxy.ServicePortMap{},
		}
		for _, n := range nodes {
			fp.trackers = append(fp.trackers, proxy.NewEndpointsChangeTracker(family, n.Name, nil, nil))
			fp.maps = append(fp.maps, proxy.EndpointsMap{})
		}
		k.families[i] = fp
	}
	return k
}

func (k *kubeProxy) setService(svc *corev1.Service) {
	name := types.NamespacedName{Namespace: svc.Namespace, Name: svc.Name}
	_, foreign := svc.Labels[apis.LabelServiceProxyName]
	if foreign || svc.Spec.ClusterIP == corev1.ClusterIPNone {
		k.deleteService(name)
		return
	}
	k.updateService(k.services[name], svc)
	k.services[name] = svc
}

func (k *kubeProxy) deleteService(name types.NamespacedName) {
	if old := k.services[name]; old != nil {
		k.updateService(old, nil)
		delete(k.services, name)
	}
}

func (k *kubeProxy) updateService(old, svc *corev1.Service) {
	for _, f := range k.families {
		f.services.Update(old, svc)
	}
}

// setSlice feeds a slice that changes its Service, or its address type, as a deletion and
// an addition: given the update alone, kube-proxy keeps the old state under the old name
// until it restarts. TestOracleKnownSliceMove shows that.
func (k *kubeProxy) setSlice(s *discoveryv1.EndpointSlice) {
	name := types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	if _, headless := s.Labels[corev1.IsHeadlessService]; headless {
		k.deleteSlice(name)
		return
	}
	if old := k.slices[name]; old != nil && (serviceOf(old) != serviceOf(s) || old.AddressType != s.AddressType) {
		k.deleteSlice(name)
	}
	k.updateSlice(s, false)
	k.slices[name] = s
}

func (k *kubeProxy) deleteSlice(name types.NamespacedName) {
	if old := k.slices[name]; old != nil {
		k.updateSlice(old, true)
		delete(k.slices, name)
	}
}

func (k *kubeProxy) updateSlice(s *discoveryv1.EndpointSlice, remove bool) {
	for _, f := range k.families {
		for _, t := range f.trackers {
			t.EndpointSliceUpdate(s, remove)
		}
	}
}

func serviceOf(s *discoveryv1.EndpointSlice) types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: s.Labels[discoveryv1.LabelServiceName]}
}

func (k *kubeProxy) sync() {
	for _, f := range k.families {
		f.serviceMap.Update(f.services)
		for i, m := range f.maps {
			m.Update(f.trackers[i])
		}
	}
}

func topologyLabels(n endpoints.NodeInfo) map[string]string {
	if n.Zone == "" {
		return nil
	}
	return map[string]string{corev1.LabelTopologyZone: n.Zone}
}

// usable drops the endpoints whose address lameduck refuses: those kube-proxy prints as
// "<nil>" and those of the other family. It returns m itself when there are none.
func (f *familyProxy) usable(m proxy.EndpointsMap) (clean proxy.EndpointsMap, dropped sets.Set[types.NamespacedName]) {
	clean = m
	for name, list := range m {
		var kept []proxy.Endpoint
		for _, ep := range list {
			if f.owns(ep.IP()) {
				kept = append(kept, ep)
			}
		}
		if len(kept) == len(list) {
			continue
		}
		if dropped == nil {
			dropped = sets.New[types.NamespacedName]()
			clean = cloneMap(m)
		}
		dropped.Insert(name.NamespacedName)
		clean[name] = kept
	}
	return clean, dropped
}

func (f *familyProxy) owns(ip string) bool {
	return ip != "<nil>" && strings.Contains(ip, ":") == (f.family == corev1.IPv6Protocol)
}

func cloneMap(m proxy.EndpointsMap) proxy.EndpointsMap {
	out := make(proxy.EndpointsMap, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// probe is a ready endpoint with chosen hints that no slice holds. CategorizeEndpoints
// does not say which topology mode it took; whether it keeps a probe does.
type probe struct {
	zone, node string
}

func (p *probe) String() string              { return "probe" }
func (p *probe) IP() string                  { return "" }
func (p *probe) Port() int                   { return 0 }
func (p *probe) IsLocal() bool               { return false }
func (p *probe) IsReady() bool               { return true }
func (p *probe) IsServing() bool             { return true }
func (p *probe) IsTerminating() bool         { return false }
func (p *probe) ZoneHints() sets.Set[string] { return sets.New(p.zone) }
func (p *probe) NodeHints() sets.Set[string] { return sets.New(p.node) }

// topologyMode finds the mode CategorizeEndpoints takes. A probe hinted for a zone and a
// node that do not exist changes no mode and is kept in the mode "" alone. One hinted for
// the node's own zone is then added to a mode that is PreferSameNode, which drops it, or
// PreferSameZone, which keeps it.
func topologyMode(list []proxy.Endpoint, sp proxy.ServicePort, n endpoints.NodeInfo) endpoints.TopologyMode {
	const nowhere = "no such place"
	keeps := func(p *probe) bool {
		with := slices.Concat(list, []proxy.Endpoint{p})
		cluster, _, _, _ := proxy.CategorizeEndpoints(with, sp, n.Name, topologyLabels(n))
		for _, ep := range cluster {
			if ep == proxy.Endpoint(p) {
				return true
			}
		}
		return false
	}
	switch {
	case !sp.UsesClusterEndpoints() || keeps(&probe{zone: nowhere, node: nowhere}):
		return endpoints.TopologyNone
	case keeps(&probe{zone: n.Zone, node: nowhere}):
		return endpoints.PreferSameZone
	default:
		return endpoints.PreferSameNode
	}
}
