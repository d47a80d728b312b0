package cluster

import (
	"fmt"
	"strings"
)

// Unrest says what of the world is not as the Deployments ask for, "" for nothing: pods that
// are missing, too many, of another revision, not ready or on their way out, and rules that
// lag behind. A paused Deployment asks for the number of its pods only.
func (w *World) Unrest() string {
	for i := range w.sc.Workloads {
		if s := w.unrestOf(i, true); s != "" {
			return s
		}
	}
	return w.lag()
}

// Stuck says what is wrong with a world in which nothing happens any more, nil for nothing.
// The API server answers, or nothing is promised. Then no pod is on its way out, no node's
// rules lag behind, no workload has more pods than it may; and one whose pods are all ready
// has as many as it should, of the revision it should, unless it is paused.
func (w *World) Stuck() error {
	if w.store.down {
		return nil
	}
	for i := range w.sc.Workloads {
		if s := w.unrestOf(i, false); s != "" {
			return fmt.Errorf("at rest, and %s", s)
		}
	}
	if s := w.lag(); s != "" {
		return fmt.Errorf("at rest, and %s", s)
	}
	return nil
}

// unrestOf looks at one workload. strict also minds pods that are not ready, and what follows
// from that.
func (w *World) unrestOf(workload int, strict bool) string {
	d, ok := w.store.get(key{kindDeployment, workload, 0}).(*Deployment)
	if !ok {
		return ""
	}
	name, active, old := w.sc.Workloads[workload].Name(), 0, 0
	var sick []string
	for _, id := range w.livePods {
		p, ok := w.store.get(key{kindPod, int(id), 0}).(*Pod)
		if !ok || p.Workload != workload {
			continue
		}
		switch {
		case p.Deleting():
			return p.Name + " is on its way out"
		case !p.Active():
			continue
		case !p.Ready:
			sick = append(sick, p.Name)
		}
		if active++; p.Revision != d.Revision {
			old++
		}
	}
	surge, _ := w.fenceposts(d)
	switch {
	case active > d.Replicas+surge:
		return fmt.Sprintf("%s has %d pods, of at most %d", name, active, d.Replicas+surge)
	case len(sick) > 0 && strict:
		return strings.Join(sick, ", ") + " not ready"
	case len(sick) > 0:
		return "" // a rollout that waits for them is as it should be
	case d.Paused && !strict:
		return "" // what was begun when it was paused stays as it is
	case active != d.Replicas && !(d.Paused && active > 0):
		return fmt.Sprintf("%s has %d pods, of %d", name, active, d.Replicas)
	case old > 0 && !d.Paused:
		return fmt.Sprintf("%s has %d pods of another revision than r%d", name, old, d.Revision)
	}
	return ""
}

// lag says which node's rules lag behind the pods.
func (w *World) lag() string {
	for n := range w.Proxies {
		if s := w.Lateness(n); s != StageDone {
			return fmt.Sprintf("the rules of %s wait for %s", w.sc.Nodes[n].Name, s)
		}
	}
	return ""
}
