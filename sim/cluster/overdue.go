package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/control"
)

// Overdue says whether some rollout has made no progress within its deadline, and none since.
func (w *World) Overdue() bool {
	for i := range w.sc.Workloads {
		if _, ok := w.deploy.Exceeded(i); ok {
			return true
		}
	}
	return false
}

// overdue is DeadlineWords for a workload whose rollout it is true of, else "".
func (w *World) overdue(workload int) string {
	revision, ok := w.deploy.Exceeded(workload)
	if !ok {
		return ""
	}
	return control.DeadlineWords(w.sc.Workloads[workload].ObjectName(), w.deploy.Deadline(workload, revision))
}
