package record

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/lameduck-proxy/lameduck/test/controlplane"
)

// writer writes down what watches show of one namespace.
type writer struct {
	times []controlplane.Times
	node  func(string) string // what the recording calls a node

	mu        sync.Mutex
	begun     time.Time // zero: the first action is still to come
	events    []controlplane.Event
	revisions map[string][]string // of workloads: the hashes of their templates, by age
	ordinals  map[string]int      // by workload and revision
	pods      map[types.UID]*noted
	order     []types.UID // of pods, the oldest first
	slices    map[string]map[types.UID]string
	services  map[string]string // of slices
	sizes     map[string]int    // of ReplicaSets
	budgets   map[string][]int  // statuses
	endpoints map[string]map[types.UID]string
}

// noted is a pod as it was last seen.
type noted struct {
	name, workload string
	revision       int
	pod            *corev1.Pod
	gone           bool
}

func newWriter(times []controlplane.Times, node func(string) string) *writer {
	return &writer{
		times: times, node: node, revisions: map[string][]string{}, ordinals: map[string]int{}, pods: map[types.UID]*noted{},
		slices: map[string]map[types.UID]string{}, services: map[string]string{}, sizes: map[string]int{}, budgets: map[string][]int{},
		endpoints: map[string]map[types.UID]string{},
	}
}

// begin has what follows a moment count as events, and returns what there is.
func (w *writer) begin(at time.Time) []controlplane.Placed {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = at
	w.arrange()
	var out []controlplane.Placed
	for _, uid := range w.order {
		if p := w.pods[uid]; !p.gone {
			out = append(out, controlplane.Placed{
				Pod: p.name, Node: w.node(p.pod.Spec.NodeName),
				Created: controlplane.SecondsOf(p.pod.CreationTimestamp.Sub(at)), Ready: controlplane.SecondsOf(readySince(p.pod).Sub(at)),
			})
		}
	}
	return out
}

// arrange numbers the pods of StatefulSets by their ordinals: they may have been made together.
func (w *writer) arrange() {
	ordinal := func(uid types.UID) int {
		n, err := strconv.Atoi(w.pods[uid].pod.Labels[appsv1.PodIndexLabel])
		if err != nil {
			return -1 // it has none
		}
		return n
	}
	slices.SortStableFunc(w.order, func(a, b types.UID) int { return cmp.Compare(ordinal(a), ordinal(b)) })
	for _, uid := range w.order {
		if p := w.pods[uid]; ordinal(uid) >= 0 {
			p.name = fmt.Sprintf("%s r%d %d", p.workload, p.revision, ordinal(uid))
		}
	}
}

// note writes down an event that happens now. mu is held.
func (w *writer) note(e controlplane.Event) {
	if !w.begun.IsZero() {
		e.At = controlplane.SecondsOf(time.Since(w.begun))
		w.events = append(w.events, e)
	}
}

// Note writes down an event that no watch shows.
func (w *writer) Note(e controlplane.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(e)
}

// recorded are the events so far.
func (w *writer) recorded() []controlplane.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// see notes what a watch shows.
func (w *writer) see(e watch.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Type {
	case watch.Added, watch.Modified, watch.Deleted:
	case watch.Bookmark:
		return nil
	default:
		return fmt.Errorf("a watch ended: %v", e.Object)
	}
	gone := e.Type == watch.Deleted
	switch o := e.Object.(type) {
	case *corev1.Pod:
		w.pod(o, gone)
	case *appsv1.ReplicaSet:
		w.replicaSet(o, gone)
	case *discoveryv1.EndpointSlice:
		w.slice(o, gone)
	case *policyv1.PodDisruptionBudget:
		w.budget(o)
	}
	return nil
}

// revision numbers a template of a workload by its hash.
func (w *writer) revision(workload string, o metav1.Object) int {
	labels := o.GetLabels()
	hash := labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if hash == "" {
		hash = labels[appsv1.ControllerRevisionHashLabelKey]
	}
	i := slices.Index(w.revisions[workload], hash)
	if i < 0 {
		i = len(w.revisions[workload])
		w.revisions[workload] = append(w.revisions[workload], hash)
	}
	return i
}

// workloadOf is the name of the workload that made a pod or a ReplicaSet, "" for none: a Deployment's for that of its ReplicaSets.
func workloadOf(o metav1.Object) string {
	owner := metav1.GetControllerOf(o)
	if owner == nil {
		return ""
	}
	if hash := o.GetLabels()[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" {
		return strings.TrimSuffix(owner.Name, "-"+hash)
	}
	return owner.Name
}

// pod notes what changed about a pod.
func (w *writer) pod(pod *corev1.Pod, gone bool) {
	p := w.pods[pod.UID]
	old := &corev1.Pod{}
	if p == nil {
		workload := workloadOf(pod)
		p = &noted{workload: workload, revision: w.revision(workload, pod)}
		key := fmt.Sprintf("%s r%d", workload, p.revision)
		p.name = fmt.Sprintf("%s %d", key, w.ordinals[key])
		w.ordinals[key]++
		w.pods[pod.UID] = p
		w.order = append(w.order, pod.UID)
		w.note(controlplane.Event{What: controlplane.Created, Pod: p.name})
	} else {
		old = p.pod
	}
	p.pod, p.gone = pod, gone
	for _, change := range []struct {
		happened bool
		what     controlplane.What
	}{
		{pod.Spec.NodeName != "" && old.Spec.NodeName == "", controlplane.Bound},
		{pod.Status.Phase == corev1.PodRunning && old.Status.Phase != corev1.PodRunning, controlplane.Running},
		{ready(pod) && !ready(old), controlplane.Ready},
		{!ready(pod) && ready(old) && !terminal(pod), controlplane.Unready},
		{pod.DeletionTimestamp != nil && old.DeletionTimestamp == nil, controlplane.Deleted},
		{terminal(pod) && !terminal(old), controlplane.Ended},
		{gone, controlplane.Gone},
	} {
		if !change.happened {
			continue
		}
		e := controlplane.Event{What: change.what, Pod: p.name}
		if change.what == controlplane.Bound {
			e.Node = w.node(pod.Spec.NodeName)
		}
		w.note(e)
	}
}

// readySince is when a pod's condition Ready last changed.
func readySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// timesOf are the delays of a pod.
func (w *writer) timesOf(pod *corev1.Pod) controlplane.Times {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pods[pod.UID]
	for _, t := range w.times {
		if p != nil && t.Workload == p.workload && t.Revision == p.revision {
			return t
		}
	}
	return controlplane.Times{}
}

func (w *writer) replicaSet(rs *appsv1.ReplicaSet, gone bool) {
	workload := workloadOf(rs)
	revision := w.revision(workload, rs)
	key := fmt.Sprintf("%s r%d", workload, revision)
	size := int(*rs.Spec.Replicas)
	if was := w.sizes[key]; !gone && was != size {
		w.note(controlplane.Event{What: controlplane.Scaled, Workload: workload, Revision: revision, Replicas: size})
	}
	w.sizes[key] = size
}

// slice notes what changed about a Service's endpoints, whichever slices they are in.
func (w *writer) slice(s *discoveryv1.EndpointSlice, gone bool) {
	service := s.Labels[discoveryv1.LabelServiceName]
	now := map[types.UID]string{}
	for _, e := range s.Endpoints {
		if e.TargetRef != nil && !gone {
			now[e.TargetRef.UID] = conditions(e.Conditions)
		}
	}
	w.slices[s.Name], w.services[s.Name] = now, service
	all := map[types.UID]string{}
	for name, part := range w.slices {
		if w.services[name] != service {
			continue
		}
		for uid, c := range part {
			all[uid] = c
		}
	}
	before := w.endpoints[service]
	for _, uid := range w.order {
		c, in := all[uid]
		was, wasIn := before[uid]
		switch {
		case in && (!wasIn || was != c):
			w.note(controlplane.Event{What: controlplane.Endpoint, Pod: w.pods[uid].name, Service: service, Conditions: c})
		case wasIn && !in:
			w.note(controlplane.Event{What: controlplane.EndpointGone, Pod: w.pods[uid].name, Service: service})
		}
	}
	w.endpoints[service] = all
}

func conditions(c discoveryv1.EndpointConditions) string {
	out := []byte("---")
	for i, holds := range []*bool{c.Ready, c.Serving, c.Terminating} {
		if holds != nil && *holds {
			out[i] = "RST"[i]
		}
	}
	return string(out)
}

func (w *writer) budget(b *policyv1.PodDisruptionBudget) {
	s := b.Status
	status := []int{int(s.DisruptionsAllowed), int(s.CurrentHealthy), int(s.DesiredHealthy), int(s.ExpectedPods)}
	if !slices.Equal(w.budgets[b.Name], status) {
		w.note(controlplane.Event{What: controlplane.BudgetStatus, Budget: b.Name, Status: status})
	}
	w.budgets[b.Name] = status
}
