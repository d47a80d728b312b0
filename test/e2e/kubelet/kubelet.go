package kubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/lameduck-proxy/lameduck/test/e2e/network"
)

// Options say which node it is.
type Options struct {
	Node   *network.Node
	Labels map[string]string
	Client kubernetes.Interface // asking as the node
	// ContainerStart is how long it takes from a pod's network to its process.
	ContainerStart time.Duration
	Log            logr.Logger
}

// Kubelet runs a node's pods.
type Kubelet struct {
	Options
	ctx  context.Context // the kubelet's life
	stop func()

	mu      sync.Mutex
	workers map[types.UID]*worker
	group   sync.WaitGroup
}

// Lease times of a node (docs/model/pod-lifecycle.md 4.1).
const (
	leaseDuration = 40 * time.Second
	renewInterval = 10 * time.Second
)

// Start registers the node and begins to run its pods. Close the Kubelet to end all of them.
func Start(ctx context.Context, o Options) (*Kubelet, error) {
	k := &Kubelet{Options: o, workers: map[types.UID]*worker{}}
	if err := k.register(ctx); err != nil {
		return nil, fmt.Errorf("kubelet of %s: %w", o.Node.Name, err)
	}
	k.ctx, k.stop = context.WithCancel(context.WithoutCancel(ctx))
	k.group.Go(k.renew)
	if err := k.watch(); err != nil {
		k.Close()
		return nil, fmt.Errorf("kubelet of %s: %w", o.Node.Name, err)
	}
	return k, nil
}

// Close ends the kubelet and its pods, without telling anybody.
func (k *Kubelet) Close() {
	k.stop()
	k.group.Wait()
}

// register makes the Node, ready, and its lease.
func (k *Kubelet) register(ctx context.Context) error {
	now := metav1.Now()
	node := &corev1.Node{}
	node.Name, node.Labels = k.Node.Name, map[string]string{corev1.LabelHostname: k.Node.Name}
	for name, value := range k.Labels {
		node.Labels[name] = value
	}
	for _, cidr := range k.Node.PodCIDRs {
		node.Spec.PodCIDRs = append(node.Spec.PodCIDRs, cidr.String())
	}
	node.Spec.PodCIDR = node.Spec.PodCIDRs[0]
	for _, a := range k.Node.Addrs {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a.String()})
	}
	node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: k.Node.Name})
	node.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("250"),
	}
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: now, LastTransitionTime: now,
	}}
	if _, err := k.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	seconds, renewed := int32(leaseDuration/time.Second), metav1.NowMicro()
	lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &k.Node.Name, LeaseDurationSeconds: &seconds, RenewTime: &renewed}}
	lease.Name = k.Node.Name
	if _, err := k.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Create(ctx, lease, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make the lease: %w", err)
	}
	return nil
}

// renew keeps the node's lease. The real kubelet tries again at the next turn, too.
func (k *Kubelet) renew() {
	tick := time.NewTicker(renewInterval)
	defer tick.Stop()
	for {
		select {
		case <-k.ctx.Done():
			return
		case <-tick.C:
		}
		patch := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, time.Now().UTC().Format(metav1.RFC3339Micro))
		_, err := k.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease).
			Patch(k.ctx, k.Node.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil && k.ctx.Err() == nil {
			k.Log.Error(err, "The lease was not renewed")
		}
	}
}

// watch follows the pods of the node.
func (k *Kubelet) watch() error {
	factory := informers.NewSharedInformerFactoryWithOptions(k.Client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", k.Node.Name).String()
	}))
	informer := factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    k.seen,
		UpdateFunc: func(_, o any) { k.seen(o) },
		DeleteFunc: k.gone,
	})
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	factory.Start(k.ctx.Done())
	k.group.Go(func() {
		<-k.ctx.Done()
		factory.Shutdown()
	})
	if !cache.WaitForCacheSync(k.ctx.Done(), informer.HasSynced) {
		return errors.New("the pods were not listed")
	}
	return nil
}

// seen tells the pod's worker what has become of it, or starts one.
func (k *Kubelet) seen(o any) {
	pod, ok := o.(*corev1.Pod)
	if !ok || k.ctx.Err() != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.workers[pod.UID]
	if w == nil {
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			return
		}
		w = newWorker(k, pod)
		k.workers[pod.UID] = w
		k.group.Go(w.run)
	}
	if pod.DeletionTimestamp != nil {
		w.terminate(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	}
}

// gone ends a pod whose object was deleted without waiting for it.
func (k *Kubelet) gone(o any) {
	if d, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = d.Obj
	}
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if w := k.workers[pod.UID]; w != nil {
		w.terminate(0)
	}
}

// forget drops a worker that has ended.
func (k *Kubelet) forget(w *worker) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.workers, w.pod.UID)
}

// Place is where a running pod is, nil if the node has no such pod.
func (k *Kubelet) Place(namespace, name string) *network.Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.workers { // order: there is one at most with an address
		if w.pod.Namespace == namespace && w.pod.Name == name {
			return w.place.Load()
		}
	}
	return nil
}
