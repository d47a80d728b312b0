package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/proxy"
	netutils "k8s.io/utils/net"
)

// kube-proxy visits a service's slices in map order. Of an address that two of them hold
// without a terminating condition the last one visited counts, of one that is terminating
// in all of them the first: such services have several outcomes. An order is forced on
// the same code by merging the slices, in that order, into one.

// mergeKey is what endpoints of different slices must share to meet in kube-proxy's map.
type mergeKey struct {
	name     string
	protocol corev1.Protocol
	port     int32
}

// slicesOf returns the slices of each service in a family, in name order.
func (k *kubeProxy) slicesOf(f *familyProxy) map[types.NamespacedName][]*discoveryv1.EndpointSlice {
	out := map[types.NamespacedName][]*discoveryv1.EndpointSlice{}
	for _, s := range k.slices {
		if string(s.AddressType) == string(f.family) && serviceOf(s).Name != "" {
			out[serviceOf(s)] = append(out[serviceOf(s)], s)
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	}
	return out
}

// address returns the endpoint's IP as kube-proxy prints it, "" when lameduck refuses it.
func (f *familyProxy) address(ep *discoveryv1.Endpoint) string {
	if len(ep.Addresses) == 0 {
		return ""
	}
	ip := netutils.ParseIPSloppy(ep.Addresses[0]).String()
	if !f.owns(ip) {
		return ""
	}
	return ip
}

func mergeKeys(s *discoveryv1.EndpointSlice) []mergeKey {
	var keys []mergeKey
	for _, p := range s.Ports {
		if p.Name != nil && p.Port != nil && *p.Port != 0 {
			keys = append(keys, mergeKey{*p.Name, *p.Protocol, *p.Port})
		}
	}
	return keys
}

// sharing returns which of the slices hold an address and port that another one holds, in
// order. The others may be visited whenever.
func (f *familyProxy) sharing(list []*discoveryv1.EndpointSlice) []int {
	type place struct {
		mergeKey
		ip string
	}
	holder := map[place]int{}
	share := make([]bool, len(list))
	for i, s := range list {
		for _, key := range mergeKeys(s) {
			for j := range s.Endpoints {
				p := place{key, f.address(&s.Endpoints[j])}
				first, ok := holder[p]
				switch {
				case !ok:
					holder[p] = i
				case first != i && p.ip != "":
					share[first], share[i] = true, true
				}
			}
		}
	}
	var out []int
	for i := range list {
		if share[i] {
			out = append(out, i)
		}
	}
	return out
}

// outcomes returns what kube-proxy on the node makes of the slices in every order in which
// those that share addresses can be visited; the first is that of the given order.
func (f *familyProxy) outcomes(list []*discoveryv1.EndpointSlice, sharing []int, nodeName string) []proxy.EndpointsMap {
	var out []proxy.EndpointsMap
	for _, order := range permutations(len(sharing)) {
		merged := map[mergeKey]*discoveryv1.EndpointSlice{}
		for _, i := range order {
			f.mergeInto(merged, list[sharing[i]])
		}
		for i, s := range list {
			if !slices.Contains(sharing, i) {
				f.mergeInto(merged, s)
			}
		}
		tracker := proxy.NewEndpointsChangeTracker(f.family, nodeName, nil, nil)
		for _, s := range merged { // any order: slices of different keys do not meet
			tracker.EndpointSliceUpdate(s, false)
		}
		m := proxy.EndpointsMap{}
		m.Update(tracker)
		out = append(out, m)
	}
	return out
}

func (f *familyProxy) mergeInto(merged map[mergeKey]*discoveryv1.EndpointSlice, s *discoveryv1.EndpointSlice) {
	for _, key := range mergeKeys(s) {
		m := merged[key]
		if m == nil {
			m = &discoveryv1.EndpointSlice{
				ObjectMeta:  metav1.ObjectMeta{Namespace: s.Namespace, Name: fmt.Sprintf("merged-%d", len(merged)), Labels: s.Labels},
				AddressType: s.AddressType,
				Ports:       []discoveryv1.EndpointPort{{Name: &key.name, Protocol: &key.protocol, Port: &key.port}},
			}
			merged[key] = m
		}
		for i := range s.Endpoints {
			if f.address(&s.Endpoints[i]) != "" {
				m.Endpoints = append(m.Endpoints, s.Endpoints[i])
			}
		}
	}
}

// permutations lists the orders of 0..n-1, the ascending one first.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for at := n - 1; at >= 0; at-- {
			out = append(out, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return out
}

// settleDuplicates replaces, in m, the endpoints of services whose duplicates kube-proxy
// resolves by chance with the outcome of visiting slices in name order, which is the one
// lameduck defines. It returns those services, or an error when what kube-proxy really
// did is none of the outcomes.
func (k *kubeProxy) settleDuplicates(f *familyProxy, nodeName string, m proxy.EndpointsMap) (proxy.EndpointsMap, sets.Set[types.NamespacedName], error) {
	var undefined sets.Set[types.NamespacedName]
	for name, list := range k.slicesOf(f) {
		sharing := f.sharing(list)
		if len(sharing) == 0 {
			continue
		}
		all := f.outcomes(list, sharing, nodeName)
		prints := sets.New[string]()
		for _, o := range all {
			prints.Insert(fingerprint(o, name))
		}
		if got := fingerprint(m, name); !prints.Has(got) {
			return nil, nil, fmt.Errorf("kube-proxy's endpoints of %s are no outcome of any slice order:\n%s\npossible:\n%s",
				name, got, strings.Join(sets.List(prints), "or\n"))
		}
		if len(prints) == 1 {
			continue
		}
		if undefined == nil {
			undefined = sets.New[types.NamespacedName]()
			m = cloneMap(m)
		}
		undefined.Insert(name)
		for port := range m {
			if port.NamespacedName == name {
				delete(m, port)
			}
		}
		for port, endpoints := range all[0] {
			m[port] = endpoints
		}
	}
	return m, undefined, nil
}

// fingerprint renders one service's endpoints completely.
func fingerprint(m proxy.EndpointsMap, service types.NamespacedName) string {
	var lines []string
	for port, list := range m {
		if port.NamespacedName != service || len(list) == 0 {
			continue
		}
		for _, ep := range list {
			lines = append(lines, fmt.Sprintf("%s/%s %s", port, port.Protocol, theirEntry(ep)))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}
