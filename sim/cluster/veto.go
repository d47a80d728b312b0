package cluster

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/control"
)

// vetoing is the first Service of a webhook that is asked of each Pod before it is made, with failurePolicy Fail, and of which no pod answers;
// -1 for none.
func (w *World) vetoing() int {
	for i := range w.sc.Services {
		s := w.sc.Services[i].Service
		if w.sc.VetoedBy(s.Namespace+"/"+s.Name) && !w.someOf(i, func(workload int) bool { return len(w.usable[workload].pods) > 0 }) {
			return i
		}
	}
	return -1
}

// someOf says whether something is true of a workload with pods behind a Service.
func (w *World) someOf(service int, is func(workload int) bool) bool {
	for i := range w.sc.Workloads {
		if slices.Contains(w.ServicesOf(i), service) && is(i) {
			return true
		}
	}
	return false
}

// vetoed says that pods of a workload are never made: the webhook that is asked of them has no pod that answers, and none that ever will, for
// it is asked of its own, too. nil for nothing.
func (w *World) vetoed() *control.Stuck {
	service := w.vetoing()
	if service < 0 || w.someOf(service, func(workload int) bool {
		d, ok := w.asked(workload)
		return ok && w.census(d).active > 0
	}) {
		return nil
	}
	for i := range w.sc.Workloads {
		if w.begun[i] && w.sets.Refused(i) {
			return &control.Stuck{
				Workload: i,
				Why:      fmt.Sprintf("no pod is made: the API server asks the webhook of Service %s first (failurePolicy Fail), and nobody answers, until its configuration is deleted", w.sc.Services[service].Service.Name),
				What:     "a namespaceSelector in its configuration that leaves its own namespace out",
			}
		}
	}
	return nil
}
