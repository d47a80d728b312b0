package record

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/lameduck-proxy/lameduck/test/controlplane"
)

// hollow are the kubelets of a play: they write what the play says, and run nothing.
type hollow struct {
	client kubernetes.Interface
	ctx    context.Context
	failed func(error)
	group  *sync.WaitGroup

	mu     sync.Mutex
	pods   map[types.UID]*hollowPod
	silent map[string]bool // nodes whose kubelet says nothing any more
	count  int             // of pods, for their addresses
}

// hollowPod is one pod of a hollow kubelet.
type hollowPod struct {
	pod      *corev1.Pod // as last seen
	times    controlplane.Times
	running  bool
	stopping bool
	status   corev1.PodStatus
}

// Times of a node's lease (docs/model/pod-lifecycle.md 4.1).
const (
	leaseSeconds  = 40
	renewInterval = 10 * time.Second
)

// seen acts on a version of a pod.
func (h *hollow) seen(pod *corev1.Pod, times controlplane.Times) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pods[pod.UID]
	if p == nil {
		if pod.Spec.NodeName == "" || terminal(pod) {
			return
		}
		p = &hollowPod{times: times}
		h.pods[pod.UID] = p
		h.count++
		number := h.count
		h.later(times.Start.Duration(), func() { h.run(p, number) })
	}
	p.pod = pod
	if pod.DeletionTimestamp != nil && !p.stopping && !h.silent[pod.Spec.NodeName] {
		h.stop(p)
	}
}

func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// later does something after a while, unless the play is over by then.
func (h *hollow) later(after time.Duration, do func()) {
	h.group.Go(func() {
		select {
		case <-time.After(after):
			do()
		case <-h.ctx.Done():
		}
	})
}

// run has a pod be Running, and Ready.
func (h *hollow) run(p *hollowPod, number int) {
	if !h.write(p, func(s *corev1.PodStatus) bool {
		if p.stopping {
			return false
		}
		p.running = true
		now := metav1.Now()
		s.Phase, s.StartTime = corev1.PodRunning, &now
		s.HostIP, s.PodIP = "172.30.0.1", fmt.Sprintf("10.200.%d.%d", number/250, number%250+1)
		s.HostIPs, s.PodIPs = []corev1.HostIP{{IP: s.HostIP}}, []corev1.PodIP{{IP: s.PodIP}}
		c := &p.pod.Spec.Containers[0]
		s.ContainerStatuses = []corev1.ContainerStatus{{
			Name: c.Name, Image: c.Image, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}}
		ready := p.times.Ready != nil && *p.times.Ready == 0
		set(s, corev1.PodInitialized, true)
		set(s, corev1.ContainersReady, ready)
		set(s, corev1.PodReady, ready)
		return true
	}) || p.times.Ready == nil || *p.times.Ready == 0 {
		return
	}
	h.later(p.times.Ready.Duration(), func() {
		h.write(p, func(s *corev1.PodStatus) bool {
			set(s, corev1.ContainersReady, true)
			set(s, corev1.PodReady, true)
			return !p.stopping
		})
	})
}

// stop has a pod come to its end. One that does not run yet is there at once.
func (h *hollow) stop(p *hollowPod) {
	p.stopping = true
	var after time.Duration
	if p.running {
		grace := max(time.Second, time.Duration(*p.pod.DeletionGracePeriodSeconds)*time.Second)
		after = min(p.times.Stop.Duration(), grace)
	}
	h.later(after, func() {
		h.write(p, func(s *corev1.PodStatus) bool {
			s.Phase = corev1.PodSucceeded
			set(s, corev1.ContainersReady, false)
			set(s, corev1.PodReady, false)
			return true
		})
		h.remove(p.pod)
	})
}

// set sets a condition; its time is that of the last change.
func set(s *corev1.PodStatus, name corev1.PodConditionType, value bool) {
	status := corev1.ConditionFalse
	if value {
		status = corev1.ConditionTrue
	}
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == name {
			if c.Status != status {
				c.Status, c.LastTransitionTime = status, metav1.Now()
			}
			return
		}
	}
	s.Conditions = append(s.Conditions, corev1.PodCondition{Type: name, Status: status, LastTransitionTime: metav1.Now()})
}

// write changes a pod's status and gives it to the API, unless change says not to.
func (h *hollow) write(p *hollowPod, change func(*corev1.PodStatus) bool) bool {
	h.mu.Lock()
	if h.silent[p.pod.Spec.NodeName] || !change(&p.status) {
		h.mu.Unlock()
		return false
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.pod.UID}, "status": p.status})
	pod := p.pod
	h.mu.Unlock()
	if err == nil {
		_, err = h.client.CoreV1().Pods(pod.Namespace).Patch(h.ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	}
	h.mind(err)
	return true
}

// mind has the play fail, unless it is only that a pod has gone, or that the play is over.
func (h *hollow) mind(err error) {
	if err != nil && h.ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		h.failed(fmt.Errorf("a hollow kubelet: %w", err))
	}
}

// remove deletes the object of a pod that has ended.
func (h *hollow) remove(pod *corev1.Pod) {
	h.mu.Lock()
	silent := h.silent[pod.Spec.NodeName]
	h.mu.Unlock()
	if !silent {
		h.mind(h.client.CoreV1().Pods(pod.Namespace).Delete(h.ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &pod.UID},
		}))
	}
}

// register makes a Node, ready, and keeps its lease.
func (h *hollow) register(node *corev1.Node) error {
	now := metav1.Now()
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: now, LastTransitionTime: now,
	}}
	if _, err := h.client.CoreV1().Nodes().Create(h.ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("register %s: %w", node.Name, err)
	}
	seconds, renewed := int32(leaseSeconds), metav1.NowMicro()
	lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &node.Name, LeaseDurationSeconds: &seconds, RenewTime: &renewed}}
	lease.Name = node.Name
	if _, err := h.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Create(h.ctx, lease, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make the lease of %s: %w", node.Name, err)
	}
	h.group.Go(func() { h.renew(node.Name) })
	return nil
}

// renew keeps the lease of a node until it falls silent.
func (h *hollow) renew(node string) {
	tick := time.NewTicker(renewInterval)
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-tick.C:
		}
		h.mu.Lock()
		silent := h.silent[node]
		h.mu.Unlock()
		if silent {
			continue
		}
		h.mind(h.renewNow(node))
	}
}

// renewNow renews the lease of a node.
func (h *hollow) renewNow(node string) error {
	patch := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, time.Now().UTC().Format(metav1.RFC3339Micro))
	_, err := h.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Patch(h.ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// fallSilent has the kubelet of a node say nothing any more.
func (h *hollow) fallSilent(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent[node] = true
}

// speak has the kubelet of a node say again how things are: the node is ready, and so are its pods, as they were before. What was
// asked for meanwhile is done now.
func (h *hollow) speak(node string) error {
	h.mu.Lock()
	h.silent[node] = false
	var pods []*hollowPod
	for _, p := range h.pods { // order: each has its own object
		if p.pod.Spec.NodeName == node {
			pods = append(pods, p)
		}
	}
	h.mu.Unlock()
	if err := h.renewNow(node); err != nil {
		return err
	}
	now := time.Now().UTC().Format(time.RFC3339)
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":%q,"lastTransitionTime":%q}]}}`, now, now)
	if _, err := h.client.CoreV1().Nodes().Patch(h.ctx, node, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	for _, p := range pods {
		h.write(p, func(*corev1.PodStatus) bool { return true })
		h.mu.Lock()
		if p.pod.DeletionTimestamp != nil && !p.stopping {
			h.stop(p)
		}
		h.mu.Unlock()
	}
	return nil
}
