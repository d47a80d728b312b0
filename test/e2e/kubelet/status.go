package kubelet

import (
	"context"
	"encoding/json"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lameduck-proxy/lameduck/test/e2e/app"
)

// status is what the API is to know of a pod. Changes are kept here and written one after the
// other, the newest state each time, until the API has it.
type status struct {
	kubelet *Kubelet
	pod     *corev1.Pod

	mu      sync.Mutex
	now     corev1.PodStatus
	changed chan struct{} // has room for one
	over    bool          // nothing is to come
}

func newStatus(k *Kubelet, pod *corev1.Pod) *status {
	s := &status{kubelet: k, pod: pod, changed: make(chan struct{}, 1)}
	s.now.StartTime = &metav1.Time{Time: time.Now()}
	return s
}

// set changes the status and has it written.
func (s *status) set(change func(*corev1.PodStatus)) {
	s.mu.Lock()
	change(&s.now)
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// running says that the container has been started.
func (s *status) running(addrs []netip.Addr, ready bool) {
	s.set(func(p *corev1.PodStatus) {
		p.Phase = corev1.PodRunning
		for _, a := range s.kubelet.Node.Addrs {
			p.HostIPs = append(p.HostIPs, corev1.HostIP{IP: a.String()})
		}
		for _, a := range addrs {
			p.PodIPs = append(p.PodIPs, corev1.PodIP{IP: a.String()})
		}
		p.HostIP, p.PodIP = p.HostIPs[0].IP, p.PodIPs[0].IP
		condition(p, corev1.PodInitialized, true)
		started := true
		c := &s.pod.Spec.Containers[0]
		p.ContainerStatuses = []corev1.ContainerStatus{{
			Name: c.Name, Image: c.Image, Started: &started,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
		}}
		setReady(p, ready)
	})
}

// ready says what the readiness probe found out.
func (s *status) ready(ready bool) { s.set(func(p *corev1.PodStatus) { setReady(p, ready) }) }

func setReady(p *corev1.PodStatus, ready bool) {
	condition(p, corev1.ContainersReady, ready)
	condition(p, corev1.PodReady, ready)
	for i := range p.ContainerStatuses {
		p.ContainerStatuses[i].Ready = ready
	}
}

// condition sets a condition; its time is that of the last change.
func condition(p *corev1.PodStatus, name corev1.PodConditionType, value bool) {
	status := corev1.ConditionFalse
	if value {
		status = corev1.ConditionTrue
	}
	for i := range p.Conditions {
		if c := &p.Conditions[i]; c.Type == name {
			if c.Status != status {
				c.Status, c.LastTransitionTime = status, metav1.Now()
			}
			return
		}
	}
	p.Conditions = append(p.Conditions, corev1.PodCondition{Type: name, Status: status, LastTransitionTime: metav1.Now()})
}

// ended says that the container has stopped: the phase is terminal, and Ready false.
func (s *status) ended(code int) {
	s.set(func(p *corev1.PodStatus) {
		p.Phase = corev1.PodFailed
		if code == app.ExitDone {
			p.Phase = corev1.PodSucceeded
		}
		for i := range p.ContainerStatuses {
			p.ContainerStatuses[i].State = corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code), FinishedAt: metav1.Now()}, // an exit code
			}
		}
		setReady(p, false)
	})
}

// failed says that the pod never ran.
func (s *status) failed(err error) {
	s.kubelet.Log.Error(err, "A pod cannot be run", "pod", s.pod.Name)
	s.set(func(p *corev1.PodStatus) {
		p.Phase, p.Reason, p.Message = corev1.PodFailed, "Unsupported", err.Error()
		setReady(p, false)
	})
}

// end has run return once all is written.
func (s *status) end() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.set(func(*corev1.PodStatus) {})
}

// retry is how long after a failure to write a status it is tried again. The real kubelet looks
// each 10 seconds (docs/model/pod-lifecycle.md 4); sooner, so that a case need not wait for that.
const retry = 500 * time.Millisecond

// run writes the status whenever it has changed.
func (s *status) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		for !s.write(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(retry):
			}
		}
		s.mu.Lock()
		over := s.over && len(s.changed) == 0
		s.mu.Unlock()
		if over {
			return
		}
	}
}

// write gives the API the status, and says whether there is nothing more to do about it.
func (s *status) write(ctx context.Context) bool {
	s.mu.Lock()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": s.pod.UID}, "status": s.now})
	s.mu.Unlock()
	if err == nil {
		_, err = s.kubelet.Client.CoreV1().Pods(s.pod.Namespace).
			Patch(ctx, s.pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	}
	if gone(err) || ctx.Err() != nil {
		return true
	}
	if err != nil {
		s.kubelet.Log.Error(err, "A pod's status was not written", "pod", s.pod.Name)
	}
	return err == nil
}

// gone says that there is no such pod any more, or another one of its name.
func gone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

// remove deletes the object of a pod that has ended.
func (s *status) remove(ctx context.Context) {
	for {
		err := s.kubelet.Client.CoreV1().Pods(s.pod.Namespace).Delete(ctx, s.pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &s.pod.UID},
		})
		if err == nil || gone(err) || ctx.Err() != nil {
			return
		}
		s.kubelet.Log.Error(err, "A pod's object was not deleted", "pod", s.pod.Name)
		select {
		case <-ctx.Done():
			return
		case <-time.After(retry):
		}
	}
}
