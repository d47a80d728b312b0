package files

import (
	"cmp"
	"net/netip"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/source"
)

// delivery hands a Sink what differs from what it has.
type delivery struct {
	sink     source.Sink
	node     string
	services kept[*corev1.Service]
	slices   kept[*discoveryv1.EndpointSlice]
	here     *corev1.Node
	ranges   []netip.Prefix
	synced   bool
}

func newDelivery(sink source.Sink, o Options) *delivery {
	return &delivery{
		sink: sink, node: o.Node,
		services: kept[*corev1.Service]{set: sink.SetService, delete: func(n name) {
			sink.DeleteService(endpoints.ServiceName{Namespace: n.namespace, Name: n.name})
		}},
		slices: kept[*discoveryv1.EndpointSlice]{set: sink.SetSlice, delete: func(n name) { sink.DeleteSlice(n.namespace, n.name) }},
	}
}

// all hands on an input as a whole.
func (d *delivery) all(objects *manifest.Objects) {
	d.services.follow(objects.Services)
	d.slices.follow(objects.EndpointSlices)
	for _, n := range objects.Nodes {
		// A Node that is gone stays as it was last seen, as with an API server.
		if n.Name == d.node && !reflect.DeepEqual(d.here, n.Value) {
			d.here = n.Value
			d.sink.SetNode(n.Value)
		}
	}
	if ranges := rangesOf(objects); !d.synced || !slices.Equal(ranges, d.ranges) {
		d.ranges = ranges
		d.sink.SetServiceCIDRs(ranges)
	}
	if !d.synced {
		d.synced = true
		d.sink.Synced()
	}
}

// rangesOf are those of all ServiceCIDRs, in order, each once.
func rangesOf(objects *manifest.Objects) []netip.Prefix {
	var all []netip.Prefix
	for _, c := range objects.ServiceCIDRs {
		for _, text := range c.Value.Spec.CIDRs {
			if p, err := netip.ParsePrefix(text); err == nil { // manifest.Load has checked it
				all = append(all, p.Masked())
			}
		}
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	return slices.Compact(all)
}

type name struct{ namespace, name string }

// object is a pointer to an API object.
type object interface{ GetLabels() map[string]string }

// kept is what a Sink has of one kind.
type kept[T object] struct {
	set    func(T)
	delete func(name)
	known  map[name]T
}

// follow hands on what is new, changed or gone.
func (k *kept[T]) follow(list []manifest.Typed[T]) {
	next := make(map[name]T, len(list))
	for _, o := range list {
		if leftOut(o.Value.GetLabels()) {
			continue
		}
		at := name{o.Namespace, o.Name}
		if old := k.known[at]; reflect.DeepEqual(old, o.Value) {
			next[at] = old
			continue
		}
		next[at] = o.Value
		k.set(o.Value)
	}
	var gone []name
	for at := range k.known { // order: sorted below
		if _, there := next[at]; !there {
			gone = append(gone, at)
		}
	}
	slices.SortFunc(gone, func(a, b name) int { return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name)) })
	for _, at := range gone {
		k.delete(at)
	}
	k.known = next
}

// leftOut says whether kube-proxy's label selectors leave an object out (cmd/kube-proxy/app/server.go, 1.36; verified): the label
// counts, whatever its value.
func leftOut(labels map[string]string) bool {
	for _, key := range []string{corev1.IsHeadlessService, endpoints.ServiceProxyNameLabel} {
		if _, there := labels[key]; there {
			return true
		}
	}
	return false
}
