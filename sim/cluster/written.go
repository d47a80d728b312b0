package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
)

// A slice is written for each change of one of its hundred pods. So what all slices of a Service have in common
// is read once, as a proxy reads it, and what never changes about a pod is made once: Slices of before and after
// have all other entries in common, which is how little the cache has to do for them.

// sliceForm is what the slices of a Service have in common.
type sliceForm struct {
	head  *endpoints.Slice // without endpoints
	names []string         // of those that were written so far
}

func newSliceForm(svc *corev1.Service, ports []discoveryv1.EndpointPort) sliceForm {
	head, _ := endpoints.ReadSlice(&discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: svc.Namespace, Name: svc.Name, Labels: map[string]string{discoveryv1.LabelServiceName: svc.Name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       ports,
	})
	return sliceForm{head: head}
}

// name returns that of the n-th slice.
func (f *sliceForm) name(svc *corev1.Service, n int) string {
	for i := len(f.names); i <= n; i++ {
		f.names = append(f.names, fmt.Sprintf("%s-%05d", svc.Name, i))
	}
	return f.names[n]
}

// buildSlice makes the n-th EndpointSlice of a Service of some entries, with one of the lists of ports that the Service has had.
func (w *World) buildSlice(service, n, ports int, part []endpointslice.Entry) *endpoints.Slice {
	list := make([]endpoints.SliceEndpoint, len(part))
	for i := range part {
		e := &part[i]
		list[i] = endpoints.SliceEndpoint{
			Addr: e.IP, NodeName: w.sc.Nodes[e.Node].Name, Conditions: e.Conditions, Meta: w.metaOf(e.ID, e.State),
		}
	}
	form := w.formOf(service, ports)
	return form.head.With(form.name(w.sc.Services[service].Service, n), list)
}

// writtenPod is what the entries of a pod have in common, in whichever slice.
type writtenPod struct {
	meta endpoints.Meta
	hint endpointslice.Hint
}

// metaOf returns what is written of a pod beside address, node and conditions. Which slice it is in is
// of no importance here.
func (w *World) metaOf(id api.PodID, e endpointslice.State) *endpoints.Meta {
	p := w.pods[id]
	if p.written == nil || p.written.hint != e.Hint {
		node := &w.sc.Nodes[e.Node]
		p.written = &writtenPod{meta: endpoints.Meta{Pod: p.name, Zone: node.Zone}, hint: e.Hint}
		if e.Hint.Zone != "" {
			p.written.meta.ForZones = []string{e.Hint.Zone}
		}
		if e.Hint.Node {
			p.written.meta.ForNodes = []string{node.Name}
		}
	}
	return &p.written.meta
}
