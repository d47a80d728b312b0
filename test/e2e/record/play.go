package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/lameduck-proxy/lameduck/test/controlplane"
)

// Play is a scenario to be played: what the Recording of it begins with.
type Play struct {
	Name, About string
	Nodes       int
	Objects     []runtime.Object // workloads, Services, budgets
	Times       []controlplane.Times
	Actions     []controlplane.Action
	Until       time.Duration
	// Alone says that it asks so much of controllers that others would wait for it.
	Alone bool
}

// settle is how long nothing has to happen before the first action.
const settle = 2 * time.Second

// stage is where a play is played: a namespace, and nodes that no other play's pods go to.
type stage struct {
	*Play
	client    kubernetes.Interface
	namespace string
	ctx       context.Context
	writer    *writer
	hollow    *hollow
	group     sync.WaitGroup

	stop context.CancelFunc

	mu  sync.Mutex
	err error // the first one
}

// Record plays a scenario on a control plane, and returns what it did. version is that of the control plane. What was made
// stays until ctx is over, kubelets and all: to take it away would keep controllers busy, whose requests are limited, while
// other plays are played.
//
// place is the name of the namespace, and what the names of the nodes begin with.
func Record(ctx context.Context, client kubernetes.Interface, p *Play, place, version string) (*controlplane.Recording, error) {
	s := &stage{Play: p, client: client, namespace: place}
	s.ctx, s.stop = context.WithCancel(ctx)
	s.writer = newWriter(p.Times, s.nodeName)
	s.hollow = &hollow{client: client, ctx: s.ctx, failed: s.fail, group: &s.group, pods: map[types.UID]*hollowPod{}, silent: map[string]bool{}}
	r, err := s.play(version)
	if failed := s.failure(); failed != nil {
		err = errors.Join(failed, err)
	}
	if err != nil {
		s.stop()
		s.group.Wait()
		return nil, err
	}
	return r, nil
}

// fail ends the play with an error.
func (s *stage) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		s.stop()
	}
}

// failure is the error that the play has ended with, nil for none.
func (s *stage) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// nodeName is what the recording calls a node, and nodeOf the other way round.
func (s *stage) nodeName(full string) string { return strings.TrimPrefix(full, s.namespace+"-") }
func (s *stage) nodeOf(name string) string   { return s.namespace + "-" + name }

func (s *stage) play(version string) (*controlplane.Recording, error) {
	r, err := s.recording(version)
	if err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	if err := s.calm(); err != nil {
		return nil, err
	}
	// At a whole second, since the API's times are whole seconds: how long a pod has been ready, for one.
	begun := time.Now().Add(second).Truncate(second)
	if err := s.wait(time.Until(begun)); err != nil {
		return nil, err
	}
	r.Pods = s.writer.begin(begun)
	for i := range s.Actions {
		a := &s.Actions[i]
		if err := s.wait(time.Until(begun.Add(a.At.Duration()))); err != nil {
			return nil, err
		}
		if err := s.act(a); err != nil {
			return nil, fmt.Errorf("%s at %s: %w", a.Do, a.At.Duration(), err)
		}
	}
	if err := s.wait(time.Until(begun.Add(s.Until))); err != nil {
		return nil, err
	}
	r.Events = s.writer.recorded()
	return r, nil
}

func (s *stage) wait(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// recording is a Recording of what is known beforehand.
func (s *stage) recording(version string) (*controlplane.Recording, error) {
	r := &controlplane.Recording{
		Format: controlplane.Format, Name: s.Name, About: s.About, Source: "the control plane of test/e2e, with hollow kubelets",
		Kubernetes: version, Times: s.Times, Actions: s.Actions, Until: controlplane.SecondsOf(s.Until),
	}
	var objects []runtime.Object
	for i := range s.Nodes {
		objects = append(objects, node(fmt.Sprint("node-", i+1)))
	}
	for _, o := range append(objects, s.Objects...) {
		data, err := bare(o)
		if err != nil {
			return nil, err
		}
		r.Objects = append(r.Objects, data)
	}
	return r, nil
}

// bare is an object as JSON, without fields that say nothing.
func bare(o runtime.Object) (json.RawMessage, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	if _, isNode := o.(*corev1.Node); !isNode {
		delete(fields, "status")
	} else if status, ok := fields["status"].(map[string]any); ok {
		delete(status, "daemonEndpoints")
	}
	return json.Marshal(without(fields))
}

// without drops nulls, empty texts and empty objects.
func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, field := range v {
			if field = without(field); field != nil {
				out[name] = field
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
		return v
	case string:
		if v == "" {
			return nil
		}
		return v
	default:
		return v
	}
}

// node is a node with room for every pod.
func node(name string) *corev1.Node {
	n := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}}
	n.Name, n.Labels = name, map[string]string{corev1.LabelHostname: name}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("500"),
	}
	n.Status.Capacity = n.Status.Allocatable
	return n
}

// placeLabel is a label of the nodes of a play: its pods go there alone.
const placeLabel = "play"

// open makes the nodes, the namespace and the objects, and begins to watch.
func (s *stage) open() error {
	for i := range s.Nodes {
		n := node(s.nodeOf(fmt.Sprint("node-", i+1)))
		n.Labels[placeLabel] = s.namespace
		if err := s.hollow.register(n); err != nil {
			return err
		}
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if _, err := s.client.CoreV1().Namespaces().Create(s.ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := s.untainted(); err != nil {
		return err
	}
	if err := s.watch(); err != nil {
		return err
	}
	for _, o := range s.Objects {
		if err := s.create(o.DeepCopyObject()); err != nil {
			return err
		}
	}
	return nil
}

// untainted waits until pods may go to the nodes: each is not ready until its controller has looked at it.
func (s *stage) untainted() error {
	for {
		list, err := s.client.CoreV1().Nodes().List(s.ctx, metav1.ListOptions{LabelSelector: placeLabel + "=" + s.namespace})
		if err != nil {
			return err
		}
		tainted := 0
		for i := range list.Items {
			tainted += len(list.Items[i].Spec.Taints)
		}
		if tainted == 0 {
			return nil
		}
		if err := s.wait(100 * time.Millisecond); err != nil {
			return err
		}
	}
}

// create makes an object in the play's namespace, its pods bound for the play's nodes.
func (s *stage) create(o runtime.Object) (err error) {
	here := map[string]string{placeLabel: s.namespace}
	switch o := o.(type) {
	case *appsv1.Deployment:
		o.Namespace, o.Spec.Template.Spec.NodeSelector = s.namespace, here
		_, err = s.client.AppsV1().Deployments(s.namespace).Create(s.ctx, o, metav1.CreateOptions{})
	case *appsv1.StatefulSet:
		o.Namespace, o.Spec.Template.Spec.NodeSelector = s.namespace, here
		_, err = s.client.AppsV1().StatefulSets(s.namespace).Create(s.ctx, o, metav1.CreateOptions{})
	case *appsv1.DaemonSet:
		o.Namespace, o.Spec.Template.Spec.NodeSelector = s.namespace, here
		_, err = s.client.AppsV1().DaemonSets(s.namespace).Create(s.ctx, o, metav1.CreateOptions{})
	case *corev1.Service:
		o.Namespace = s.namespace
		_, err = s.client.CoreV1().Services(s.namespace).Create(s.ctx, o, metav1.CreateOptions{})
	case *policyv1.PodDisruptionBudget:
		o.Namespace = s.namespace
		_, err = s.client.PolicyV1().PodDisruptionBudgets(s.namespace).Create(s.ctx, o, metav1.CreateOptions{})
	default:
		err = fmt.Errorf("a play has no %T", o)
	}
	return err
}

// watch has the writer and the kubelets see what happens.
func (s *stage) watch() error {
	apps, core := s.client.AppsV1(), s.client.CoreV1()
	for _, begin := range []func(context.Context, metav1.ListOptions) (watch.Interface, error){
		core.Pods(s.namespace).Watch, apps.ReplicaSets(s.namespace).Watch,
		s.client.DiscoveryV1().EndpointSlices(s.namespace).Watch, s.client.PolicyV1().PodDisruptionBudgets(s.namespace).Watch,
	} {
		w, err := begin(s.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		s.group.Go(func() { s.follow(w, begin) })
	}
	return nil
}

// follow hands on what a watch shows. The API server closes one when it pleases, such as that of a client that is slow to read: then it begins
// again behind what was seen last.
func (s *stage) follow(w watch.Interface, begin func(context.Context, metav1.ListOptions) (watch.Interface, error)) {
	defer func() { w.Stop() }()
	last := ""
	for {
		select {
		case <-s.ctx.Done():
			return
		case e, open := <-w.ResultChan():
			if !open {
				next, err := begin(s.ctx, metav1.ListOptions{ResourceVersion: last})
				if err != nil {
					if s.ctx.Err() == nil {
						s.fail(fmt.Errorf("a watch was closed: %w", err))
					}
					return
				}
				w = next
				continue
			}
			if err := s.writer.see(e); err != nil {
				s.fail(err)
				return
			}
			if o, ok := e.Object.(metav1.Object); ok {
				last = o.GetResourceVersion()
			}
			if pod, ok := e.Object.(*corev1.Pod); ok && e.Type != watch.Deleted {
				s.hollow.seen(pod, s.writer.timesOf(pod))
			}
		}
	}
}

// calm waits until every workload has its pods, and nothing has happened for a while.
func (s *stage) calm() error {
	last, since := "", time.Now()
	for {
		now, settled, err := s.state()
		if err != nil {
			return err
		}
		if now != last || !settled {
			last, since = now, time.Now()
		}
		if time.Since(since) > settle {
			return nil
		}
		if err := s.wait(100 * time.Millisecond); err != nil {
			return fmt.Errorf("nothing has come to rest: %s: %w", now, err)
		}
	}
}

// state is what the workloads say of themselves, and whether that is what they are to be.
func (s *stage) state() (words string, settled bool, err error) {
	settled = true
	add := func(name string, want, have, ready int32, status any) {
		settled = settled && want == have && want == ready
		words += fmt.Sprintf("%s %d %d %d %v; ", name, want, have, ready, status)
	}
	deployments, errD := s.client.AppsV1().Deployments(s.namespace).List(s.ctx, metav1.ListOptions{})
	sets, errS := s.client.AppsV1().StatefulSets(s.namespace).List(s.ctx, metav1.ListOptions{})
	daemons, errDS := s.client.AppsV1().DaemonSets(s.namespace).List(s.ctx, metav1.ListOptions{})
	budgets, errB := s.client.PolicyV1().PodDisruptionBudgets(s.namespace).List(s.ctx, metav1.ListOptions{})
	if err := errors.Join(errD, errS, errDS, errB); err != nil {
		return words, false, err
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		add(d.Name, *d.Spec.Replicas, d.Status.Replicas, d.Status.AvailableReplicas, d.Status.ObservedGeneration)
	}
	for i := range sets.Items {
		d := &sets.Items[i]
		add(d.Name, *d.Spec.Replicas, d.Status.Replicas, d.Status.AvailableReplicas, d.Status.ObservedGeneration)
	}
	for i := range daemons.Items {
		d := &daemons.Items[i]
		add(d.Name, int32(s.Nodes), d.Status.CurrentNumberScheduled, d.Status.NumberAvailable, d.Status.ObservedGeneration) // a few
	}
	for i := range budgets.Items {
		words += fmt.Sprint(budgets.Items[i].Status.CurrentHealthy, " ")
	}
	return words, settled, nil
}
