package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Labels of pods and selectors of Services, where actions change them.

// labelsOf are a pod's labels.
func (w *World) labelsOf(p *api.Pod) map[string]string {
	if p.Labels != nil {
		return p.Labels
	}
	return world.TemplateOf(w.ResourceOf(setOf(p))).Labels
}

// claimed says whether the pod is one of those that its workload's controller counts.
func (w *World) claimed(p *api.Pod) bool {
	return p.Labels == nil || world.Claims(w.ResourceOf(setOf(p)), p.Labels)
}

// serviceInAPI is a Service as actions have left it, nil for the one of the manifests.
func (w *World) serviceInAPI(service int) *api.Service {
	s, _ := w.store.Get(api.ServiceKey(service)).(*api.Service)
	return s
}

// chosenBy says whether a Service selects a pod of a workload that it may select; a nil pod is none.
func (w *World) chosenBy(p *api.Pod, service int, selects *api.Service) bool {
	if !w.relabels || p == nil {
		return true
	}
	selector := w.sc.Services[service].Service.Spec.Selector
	if selects != nil {
		selector = selects.Selector
	}
	return world.SelectedWith(selector, w.labelsOf(p))
}

// chosen says whether a Service selects a pod, by what the API says.
func (w *World) chosen(service int, id api.PodID) bool {
	if !w.relabels {
		return true
	}
	p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
	return ok && w.chosenBy(p, service, w.serviceInAPI(service))
}

// relabel is kubectl label pod.
func (w *World) relabel(o world.Relabel) {
	w.eachOf(o.Pods, false, func(wk *kubelet.Worker) {
		w.store.Write(w.owner, "label pod", api.PodKey(wk.ID), func(obj api.Object) api.Object {
			p, ok := obj.(*api.Pod)
			if !ok || p.Gone {
				return nil
			}
			next := *p
			next.Labels = o.On(w.labelsOf(p))
			w.begun[p.Workload] = w.begun[p.Workload] || !w.claimed(&next)
			return &next
		}, nil)
	})
}

// setSelector is kubectl set selector service.
func (w *World) setSelector(o world.SetSelector) {
	w.editService(o.Service, "edit service", func(s *api.Service) { s.Selector = o.Selector })
}
