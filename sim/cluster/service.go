package cluster

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Services that actions change, delete and make again. A node's proxy hears of them as of slices, in the order of the writes.

// changedPorts are the lists of ports that a Service has had, beside that of the manifests, which is number 0.
type changedPorts struct {
	versions []portsVersion
	written  map[int]int // by slice: which list it was last written with
}

type portsVersion struct {
	service *corev1.Service
	form    sliceForm
}

// numberOfService finds a Service by "ns/name"; the scenario was validated.
func (w *World) numberOfService(name string) int {
	return slices.IndexFunc(w.sc.Services, func(s world.Service) bool { return s.Service.Namespace+"/"+s.Service.Name == name })
}

// serviceGone says whether a Service is deleted.
func (w *World) serviceGone(service int) bool {
	s := w.serviceInAPI(service)
	return s != nil && s.Gone
}

// portsInAPI is which list of ports a Service has in the API.
func (w *World) portsInAPI(service int) int {
	if s := w.serviceInAPI(service); s != nil {
		return s.Ports
	}
	return 0
}

// portsOf are the lists that a Service has had.
func (w *World) portsOf(service int) *changedPorts {
	s := &w.services[service]
	if s.changed == nil {
		s.changed = &changedPorts{written: map[int]int{}}
	}
	return s.changed
}

// portsWritten says whether a slice was last written with the ports that its Service has now.
func (w *World) portsWritten(service, n int) bool {
	c := w.services[service].changed
	return c == nil || c.written[n] == w.portsInAPI(service)
}

// formOf is what slices have in common that are written with one of the lists.
func (w *World) formOf(service, ports int) *sliceForm {
	if ports == 0 {
		return &w.services[service].form
	}
	return &w.services[service].changed.versions[ports-1].form
}

// serviceWith is a Service with one of the lists.
func (w *World) serviceWith(service, ports int) *corev1.Service {
	if ports == 0 {
		return w.sc.Services[service].Service
	}
	return w.services[service].changed.versions[ports-1].service
}

// editService writes another version of a Service. Its endpoints are to be others from then on.
func (w *World) editService(name, what string, edit func(*api.Service)) {
	service := w.numberOfService(name)
	w.store.Write(w.owner, what, api.ServiceKey(service), func(o api.Object) api.Object {
		next := api.Service{Number: service, Selector: w.sc.Services[service].Service.Spec.Selector}
		if cur, ok := o.(*api.Service); ok {
			next = *cur
		}
		before := next
		edit(&next)
		w.settled = nil
		w.settledOf[service].outdate()
		w.uncheck(service)
		if next.Ports != before.Ports || next.Gone != before.Gone {
			w.publishService(&next)
		}
		return &next
	}, nil)
}

// publishService has the nodes' proxies hear of a Service that is another, or gone. Slices go with it.
func (w *World) publishService(s *api.Service) {
	object := w.serviceWith(s.Number, s.Ports)
	if !s.Gone {
		w.cache.SetService(object)
		w.settledCache.SetService(object)
	} else {
		name := endpoints.ServiceName{Namespace: object.Namespace, Name: object.Name}
		w.cache.DeleteService(name)
		w.settledCache.DeleteService(name)
		w.dropSlices(s.Number)
	}
	w.serviceNews = &nodeproxy.SliceWrite{Service: s.Number, View: w.views.Add(w.cache.Snapshot(), w.eng.Now())}
}

// dropSlices takes the slices of a Service out of the API.
func (w *World) dropSlices(service int) {
	object := w.sc.Services[service].Service
	for n := range w.sliceState[service] { // order: each for itself
		w.cache.DeleteSlice(object.Namespace, w.formOf(service, 0).name(object, n))
	}
	clear(w.portsOf(service).written)
	w.noteSlice(service, w.slicesInAPI(service), nil)
	w.sliceState[service] = map[int][]endpointslice.Entry{}
	w.changedSlices(service)
}

// setPort is kubectl patch service.
func (w *World) setPort(o world.SetPort) {
	service := w.numberOfService(o.Service)
	w.editService(o.Service, "edit service", func(s *api.Service) {
		next := w.serviceWith(service, s.Ports).DeepCopy()
		next.Spec.Ports = o.On(next.Spec.Ports)
		c := w.portsOf(service)
		c.versions = append(c.versions, portsVersion{next, newSliceForm(next, w.endpointPortsOf(service, next))})
		s.Ports = len(c.versions)
	})
}

// endpointPortsOf resolves the target ports of a Service in the first of its workloads that has them.
func (w *World) endpointPortsOf(service int, object *corev1.Service) []discoveryv1.EndpointPort {
	for _, wl := range w.services[service].members {
		if ports := endpointPorts(object, w.workloads[wl].spec); ports != nil {
			return ports
		}
	}
	return nil
}

// removeService is kubectl delete service, or kubectl create of what was deleted.
func (w *World) removeService(name string, gone bool) {
	w.editService(name, map[bool]string{true: "delete service", false: "create service"}[gone], func(s *api.Service) { s.Gone, s.Remade = gone, true })
}

// offers says whether the Service in the API has the port that a stream's clients ask.
func (w *World) offers(e Entry) bool {
	if w.services[e.service].changed == nil && w.serviceInAPI(e.service) == nil {
		return true
	}
	return !w.serviceGone(e.service) && (e.External || slices.ContainsFunc(w.serviceWith(e.service, w.portsInAPI(e.service)).Spec.Ports, func(p corev1.ServicePort) bool {
		return p.Port == int32(e.port) && string(p.Protocol) == e.protocol.String()
	}))
}

// unoffered says whether an attempt came to nothing for what has become of the Service itself: it is gone, or was when the node's rules
// were written, or has no such port, or selects no pod any more; late is who is late with what would help, where something would.
func (w *World) unoffered(e Entry, node int, target netip.AddrPort) (late ledger.Actor, ok bool) {
	s := w.serviceInAPI(e.service)
	switch {
	case !w.offers(e):
		return ledger.Spec, true
	case s != nil && s.Remade && len(e.Endpoints(w.Proxies[node].Installed())) == 0 && w.stale(e, node, target):
		return w.late(e, node, target), true
	case w.relabels && !target.IsValid() && w.selectsNone(e):
		return ledger.Spec, true
	default:
		return ledger.Spec, false
	}
}

// selectsNone says that the Service in the API selects none of the pods that there are.
func (w *World) selectsNone(e Entry) bool {
	there := false
	for _, id := range w.livePods {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || !p.Active() || !slices.Contains(e.workloads, p.Workload) {
			continue
		}
		if w.chosen(e.service, id) {
			return false
		}
		there = true
	}
	return there
}

// targetPortInAPI is the pods' port that the Service in the API leads to, 0 for none.
func (w *World) targetPortInAPI(e Entry) uint16 {
	object := w.serviceWith(e.service, w.portsInAPI(e.service))
	for _, p := range object.Spec.Ports {
		if p.Port == int32(e.port) && string(p.Protocol) == e.protocol.String() {
			for _, q := range w.endpointPortsOf(e.service, object) {
				if *q.Name == p.Name {
					return uint16(*q.Port)
				}
			}
		}
	}
	return 0
}

// Listens says whether the pod of an instance listens on a port: on those that its Services led to at the beginning, and on those that
// its containers name.
func (w *World) Listens(i *kubelet.Instance, port uint16) bool {
	if !w.repoints {
		return true
	}
	for _, s := range w.ServicesOf(i.Workload) {
		for _, p := range w.services[s].ports {
			if *p.Port == int32(port) {
				return true
			}
		}
	}
	spec := w.PodSpec(w.pods[i.Pod].id)
	return world.ListensOn(spec, int32(port), endpoints.TCP) || world.ListensOn(spec, int32(port), endpoints.UDP)
}
