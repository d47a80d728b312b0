package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubectl/pkg/drain"

	"github.com/lameduck-proxy/lameduck/test/controlplane"
)

// act does one action. What takes its time goes on beside.
func (s *stage) act(a *controlplane.Action) error {
	switch a.Do {
	case "rolloutRestart":
		return s.patch(a.Workload, map[string]any{"spec": template(map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"kubectl.kubernetes.io/restartedAt": time.Now().Format(time.RFC3339Nano)}},
		})})
	case "setImage":
		return s.patch(a.Workload, map[string]any{"spec": template(map[string]any{
			"spec": map[string]any{"containers": []any{map[string]any{"name": container, "image": a.Image}}},
		})})
	case "scale":
		return s.patch(a.Workload, map[string]any{"spec": map[string]any{"replicas": *a.Replicas}})
	case "pause", "resume":
		return s.patch(a.Workload, map[string]any{"spec": map[string]any{"paused": a.Do == "pause"}})
	case "rollback":
		return s.rollback(a.Workload)
	case "delete":
		return s.onPod(a, func(pod string) error {
			return s.client.CoreV1().Pods(s.namespace).Delete(s.ctx, pod, metav1.DeleteOptions{})
		})
	case "evict":
		return s.onPod(a, s.evict)
	case "cordon", "uncordon":
		return s.cordon(a.Node, a.Do == "cordon")
	case "drain":
		s.group.Go(func() { s.drain(a) })
		return nil
	case "deleteNode":
		return s.client.CoreV1().Nodes().Delete(s.ctx, s.nodeOf(a.Node), metav1.DeleteOptions{})
	case "silence":
		s.hollow.fallSilent(s.nodeOf(a.Node))
		return nil
	case "speak":
		return s.hollow.speak(s.nodeOf(a.Node))
	default:
		return fmt.Errorf("nobody knows how to %s", a.Do)
	}
}

func template(t any) map[string]any { return map[string]any{"template": t} }

// patch changes a workload's object.
func (s *stage) patch(workload string, change any) error {
	data, err := json.Marshal(change)
	if err != nil {
		return err
	}
	apps, kind := s.client.AppsV1(), types.StrategicMergePatchType
	for _, o := range s.Objects {
		switch o := o.(type) {
		case *appsv1.Deployment:
			if o.Name == workload {
				_, err = apps.Deployments(s.namespace).Patch(s.ctx, workload, kind, data, metav1.PatchOptions{})
				return err
			}
		case *appsv1.StatefulSet:
			if o.Name == workload {
				_, err = apps.StatefulSets(s.namespace).Patch(s.ctx, workload, kind, data, metav1.PatchOptions{})
				return err
			}
		case *appsv1.DaemonSet:
			if o.Name == workload {
				_, err = apps.DaemonSets(s.namespace).Patch(s.ctx, workload, kind, data, metav1.PatchOptions{})
				return err
			}
		}
	}
	return fmt.Errorf("there is no workload %s", workload)
}

// revisionAnnotation numbers the ReplicaSets of a Deployment.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// rollback is kubectl rollout undo: the template of the ReplicaSet with the last revision but one.
func (s *stage) rollback(workload string) error {
	list, err := s.client.AppsV1().ReplicaSets(s.namespace).List(s.ctx, metav1.ListOptions{LabelSelector: "app=" + workload})
	if err != nil {
		return err
	}
	if len(list.Items) < 2 {
		return fmt.Errorf("%s has no earlier revision", workload)
	}
	number := func(rs appsv1.ReplicaSet) int {
		n, _ := strconv.Atoi(rs.Annotations[revisionAnnotation]) // a number that the controller wrote
		return n
	}
	slices.SortFunc(list.Items, func(a, b appsv1.ReplicaSet) int { return cmp.Compare(number(a), number(b)) })
	before := list.Items[len(list.Items)-2].Spec.Template
	delete(before.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	data, err := json.Marshal([]any{map[string]any{"op": "replace", "path": "/spec/template", "value": before}})
	if err != nil {
		return err
	}
	_, err = s.client.AppsV1().Deployments(s.namespace).Patch(s.ctx, workload, types.JSONPatchType, data, metav1.PatchOptions{})
	return err
}

// onPod does something to a pod of a workload.
func (s *stage) onPod(a *controlplane.Action, do func(pod string) error) error {
	number := 0
	if a.Pod != nil {
		number = *a.Pod
	}
	pod := s.writer.pick(a.Workload, number)
	if pod == nil {
		return fmt.Errorf("%s has no pod %d", a.Workload, number)
	}
	return do(pod.Name)
}

// pick is a pod of a workload that is not being deleted, the oldest being 0; nil for none.
func (w *writer) pick(workload string, number int) *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, uid := range w.order {
		p := w.pods[uid]
		if p.gone || p.workload != workload || p.pod.DeletionTimestamp != nil {
			continue
		}
		if number == 0 {
			return p.pod
		}
		number--
	}
	return nil
}

// nameOf is what the recording calls a pod.
func (w *writer) nameOf(pod string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pods { // order: names are unique among pods that there are
		if p.pod.Name == pod && !p.gone {
			return p.name
		}
	}
	return ""
}

// evict asks once for the eviction of a pod.
func (s *stage) evict(pod string) error {
	name := s.writer.nameOf(pod)
	err := s.client.PolicyV1().Evictions(s.namespace).Evict(s.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: s.namespace}})
	switch {
	case err == nil:
		s.writer.Note(controlplane.Event{What: controlplane.Evicted, Pod: name})
	case apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err):
		s.writer.Note(controlplane.Event{What: controlplane.Refused, Pod: name})
	default:
		return err
	}
	return nil
}

// helper is kubectl drain --ignore-daemonsets --delete-emptydir-data.
func (s *stage) helper(a *controlplane.Action) *drain.Helper {
	h := &drain.Helper{
		Ctx: s.ctx, Client: s.client, GracePeriodSeconds: -1, IgnoreAllDaemonSets: true, DeleteEmptyDirData: true, DisableEviction: a.Delete, EvictErrorRetryDelay: 5 * time.Second,
		Out: refusals{s}, ErrOut: refusals{s},
	}
	if a.Grace != nil {
		h.GracePeriodSeconds = int(a.Grace.Duration() / time.Second)
	}
	if a.Timeout != nil {
		h.Timeout = a.Timeout.Duration()
	}
	return h
}

// refusals hears of refusals as kubectl prints them.
type refusals struct{ *stage }

func (r refusals) Write(line []byte) (int, error) {
	if _, rest, found := strings.Cut(string(line), `error when evicting pods/"`); found && strings.Contains(rest, "(will retry after") {
		pod, _, _ := strings.Cut(rest, `"`)
		r.writer.Note(controlplane.Event{What: controlplane.Refused, Pod: r.writer.nameOf(pod)})
	}
	return len(line), nil
}

// cordon makes a node unschedulable, or schedulable again.
func (s *stage) cordon(name string, cordoned bool) error {
	n, err := s.client.CoreV1().Nodes().Get(s.ctx, s.nodeOf(name), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if n.Spec.Unschedulable == cordoned {
		return nil
	}
	if err := drain.RunCordonOrUncordon(&drain.Helper{Ctx: s.ctx, Client: s.client, Out: refusals{s}, ErrOut: refusals{s}}, n, cordoned); err != nil {
		return err
	}
	what := controlplane.Uncordoned
	if cordoned {
		what = controlplane.Cordoned
	}
	s.writer.Note(controlplane.Event{What: what, Node: name})
	return nil
}

// drain is kubectl drain of nodes: all are cordoned, then emptied one after another (k8s.io/kubectl pkg/cmd/drain, RunDrain).
func (s *stage) drain(a *controlplane.Action) {
	for _, n := range a.Nodes {
		if err := s.cordon(n, true); err != nil {
			s.fail(fmt.Errorf("cordon %s: %w", n, err))
			return
		}
	}
	for _, n := range a.Nodes {
		err := drain.RunNodeDrain(s.helper(a), s.nodeOf(n))
		if s.ctx.Err() != nil {
			return
		}
		what := controlplane.Drained
		if err != nil {
			s.refusedForGood(err.Error())
			what = controlplane.GaveUp
		}
		s.writer.Note(controlplane.Event{What: what, Node: n})
	}
}

// refusedForGood notes the pods whose eviction kubectl does not ask for again, by its error.
func (s *stage) refusedForGood(words string) {
	for _, part := range strings.Split(words, `error when evicting pods/"`)[1:] {
		if pod, why, _ := strings.Cut(part, `"`); !strings.Contains(why, "global timeout reached") {
			s.writer.Note(controlplane.Event{What: controlplane.Refused, Pod: s.writer.nameOf(pod)})
		}
	}
}
