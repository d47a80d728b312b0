package swarm

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Workloads that are no Deployments, machines that end, and those who take nodes away. They are drawn from streams of
// their own, so that the rest of a seed's world is what it would be without them.

// kinds has a StatefulSet, DaemonSet, ReplicaSet or Pod be what keeps the pods of some worlds.
func (w *swarmWorld) kinds(seed uint64) {
	d := newDraws(seed, "kinds")
	if !d.chance(25) {
		return
	}
	wl := &w.Workloads[0]
	was := wl.Deployment()
	meta := metav1.ObjectMeta{Namespace: was.Namespace, Name: was.Name}
	n := int32(d.pick(5))
	switch d.pick(5) {
	case 0, 1:
		wl.Resource = statefulSet(d, was, meta, n)
	case 2, 3:
		wl.Resource = daemonSet(d, was, meta)
	default:
		if d.chance(50) {
			wl.Resource = &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{
				Replicas: &n, Selector: was.Spec.Selector, Template: was.Spec.Template, MinReadySeconds: was.Spec.MinReadySeconds,
			}}
			break
		}
		meta.Labels = was.Spec.Template.Labels
		wl.Resource = world.NewBarePod(&corev1.Pod{ObjectMeta: meta, Spec: was.Spec.Template.Spec})
	}
	world.Default(wl.Resource)
	w.fit(wl)
}

func statefulSet(d *draws, was *appsv1.Deployment, meta metav1.ObjectMeta, n int32) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
		Replicas: &n, Selector: was.Spec.Selector, Template: was.Spec.Template, MinReadySeconds: was.Spec.MinReadySeconds, ServiceName: "web",
		PodManagementPolicy: of(d, appsv1.OrderedReadyPodManagement, appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement),
	}}
	if d.chance(15) {
		s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		return s
	}
	partition := int32(of(d, 0, 0, 0, 1))
	s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{
		Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition},
	}
	return s
}

func daemonSet(d *draws, was *appsv1.Deployment, meta metav1.ObjectMeta) *appsv1.DaemonSet {
	s := &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{
		Selector: was.Spec.Selector, Template: was.Spec.Template, MinReadySeconds: was.Spec.MinReadySeconds,
	}}
	if d.chance(15) {
		s.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
		return s
	}
	f := of(d, [2]string{"0", "1"}, [2]string{"0", "1"}, [2]string{"0", "2"}, [2]string{"0", "50%"}, [2]string{"1", "0"}, [2]string{"50%", "0"})
	if was.Spec.Template.Spec.Containers[0].Ports[0].HostPort != 0 {
		f = [2]string{"0", "1"} // two pods of a node cannot have it
	}
	surge, unavailable := intstr.Parse(f[0]), intstr.Parse(f[1])
	s.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
		Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: &surge, MaxUnavailable: &unavailable},
	}
	return s
}

// fit has only be done to a workload what its kind knows.
func (w *swarmWorld) fit(wl *world.Workload) {
	var out []world.Action
	for _, a := range w.Actions {
		known := true
		switch o := a.Operation.(type) {
		case world.RolloutRestart:
			known = o.Workload != wl.Name() || world.RollsOut(wl.Resource)
		case world.Rollback:
			known = o.Workload != wl.Name() || world.RollsOut(wl.Resource)
		case world.Scale:
			known = o.Workload != wl.Name() || world.Scales(wl.Resource)
		case world.Pause:
			known = o.Workload != wl.Name()
		case world.Apply:
			known = o.Workload != wl.Name()
		}
		if known {
			out = append(out, a)
		}
	}
	if w.Actions = out; len(out) == 0 {
		w.Actions = []world.Action{{At: w.Warmup, Operation: world.Delete{Pods: world.Pods{Workload: wl.Name()}}}}
	}
}

// machines has machines of some worlds end, or be taken away.
func (w *swarmWorld) machines(seed uint64) {
	d := newDraws(seed, "machines")
	w.patience = 300 * sec
	if !d.chance(20) {
		return
	}
	w.goes = true
	if len(w.Nodes) == 1 {
		w.Nodes = append(w.Nodes, w.Nodes[0])
		w.Nodes[1].Name = "node-2"
	}
	if d.chance(60) {
		w.tolerate(engine.Time(of(d, 0, 5, 20, 60)) * sec)
	}
	if d.chance(50) {
		w.Shutdown = []world.ShutdownGroup{{Grace: d.span(0, 40*sec)}, {Priority: world.NodeCriticalPriority, Grace: 10 * sec}}
	}
	if d.chance(60) { // nothing else is done: the rules about nodes are sharp then
		w.Actions = nil
	}
	at, first := w.Warmup, d.pick(len(w.Nodes))
	for i := range d.pick(2) + 1 {
		at += d.span(0, 60*sec)
		a := w.ending(d, at, (first+i)%len(w.Nodes))
		if len(w.staying(append(slices.Clone(w.Actions), a))) == 0 {
			continue // clients have to run somewhere
		}
		w.Actions = append(w.Actions, a)
		if takes(w.Actions[len(w.Actions)-1].Operation) {
			break // nobody else takes what is taken
		}
	}
	w.Muster()
	w.takeOff()
	if w.endless {
		w.Until = max(w.Until, at+300*sec)
	} else {
		w.Until += 3600*sec + w.LongestTaking(&w.Actions[len(w.Actions)-1])
	}
}

// takes says whether an operation is that of somebody who takes nodes away.
func takes(o world.Operation) bool {
	switch o.(type) {
	case world.ScaleDownNode, world.Consolidate, world.UpgradePool:
		return true
	default:
		return false
	}
}

// tolerate has all pods leave nodes that are not ready after so long.
func (w *swarmWorld) tolerate(patience engine.Time) {
	w.patience = patience
	seconds := int64(patience / sec)
	for i := range w.Workloads {
		spec := &w.Workloads[i].Template().Spec
		for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
			})
		}
	}
}

// ending is how a node ends.
func (w *swarmWorld) ending(d *draws, at engine.Time, node int) world.Action {
	name := w.Nodes[node].Name
	back := of(d, 0, d.span(sec, 120*sec))
	switch d.pick(12) {
	case 0, 1, 2:
		return world.Action{At: at, For: back, Operation: world.CrashNode{Node: name}}
	case 3, 4:
		return world.Action{At: at, For: back, Operation: world.ShutdownNode{Node: name}}
	case 5:
		return world.Action{At: at, Operation: world.SpotNotice{Node: name, Notice: d.span(sec, 60*sec), Sudden: d.chance(50), Drains: d.chance(50)}}
	case 6:
		return world.Action{At: at, Operation: world.DeleteNode{Node: name, Machine: d.chance(60)}}
	case 7:
		return world.Action{At: at, Operation: world.Component{Name: world.KubeletOf + name, What: world.ComponentRestart}}
	case 8:
		return world.Action{At: at, For: d.span(60*sec, 200*sec), Operation: world.Component{Name: world.KubeletOf + name, What: world.ComponentPause}}
	case 9:
		return world.Action{At: at, For: d.span(sec, 30*sec), Operation: world.ScaleDownNode{Node: name}}
	case 10:
		o := world.Consolidate{Nodes: []string{name}, Replacements: d.pick(2), Provision: d.span(sec, 60*sec), Budget: world.NodeBudget{Number: 1 + d.pick(2)}}
		if d.chance(40) {
			o.Grace = d.span(sec, 60*sec)
		}
		if len(w.Nodes) > 2 && d.chance(60) {
			o.Nodes = append(o.Nodes, w.Nodes[(node+1)%len(w.Nodes)].Name)
		}
		return world.Action{At: at, Operation: o}
	default:
		o := world.UpgradePool{Provider: of(d, world.PoolGKE, world.PoolEKS, world.PoolAKS), Surge: d.pick(2), Provision: d.span(sec, 60*sec), Force: d.chance(30)}
		if o.Unavailable = d.pick(2); o.Surge == 0 {
			o.Unavailable = 1
		}
		if d.chance(50) {
			o.Limit = d.span(10*sec, 200*sec)
		}
		if o.Provider == world.PoolEKS {
			o.Surge, o.Unavailable = world.AllOfThem, max(1, o.Unavailable)
		}
		return world.Action{At: at, Operation: o}
	}
}

// takeOff takes clients off nodes that go: inside of the cluster they are pods, too.
func (w *swarmWorld) takeOff() {
	stay := w.staying(w.Actions)
	for i := range w.Traffic {
		t := &w.Traffic[i]
		ours := func(n string) bool {
			return !slices.Contains(world.NodeNames(w.Standing()), n) || slices.Contains(stay, n)
		}
		if !t.External && (t.Nodes == nil || slices.ContainsFunc(t.Nodes, func(n string) bool { return !ours(n) })) {
			t.Nodes = stay
		}
	}
}

// staying are the nodes that no action takes away, by name. An upgrade of the whole pool gives clients nodes of their own.
func (w *swarmWorld) staying(actions []world.Action) []string {
	var going, stay []string
	for _, a := range actions {
		going = append(going, world.LeavingNodes(a.Operation)...)
	}
	for _, name := range world.NodeNames(w.Standing()) {
		if !slices.Contains(going, name) {
			stay = append(stay, name)
		}
	}
	return stay
}
