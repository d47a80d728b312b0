package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// daemons has the pods be those of a DaemonSet, with maxSurge and maxUnavailable.
func (b build) daemons(surge, unavailable string) build {
	b.Workloads[0].Resource = daemonSet(b.d, surge, unavailable)
	b.CountDaemons()
	return b
}

// daemonSet makes one of a Deployment's template.
func daemonSet(d *appsv1.Deployment, surge, unavailable string) *appsv1.DaemonSet {
	s, u := intstr.Parse(surge), intstr.Parse(unavailable)
	return &appsv1.DaemonSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.DaemonSetSpec{
		Selector: d.Spec.Selector, Template: d.Spec.Template, MinReadySeconds: d.Spec.MinReadySeconds,
		UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
			Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: &s, MaxUnavailable: &u},
		},
	}}
}

// A rolling update deletes the pod of a machine that is gone first, and waits for it for ever: nobody stops it. That is said, and the
// world is no broken one. Reference: docs/model/controllers.md 5 maxSurge 0; docs/model/pod-lifecycle.md 6.
func TestADaemonSetIsNotUpdatedPastAMachineThatIsGone(t *testing.T) {
	t.Parallel()
	w := newBuild(1).nodes(3).daemons("0", "1").does(world.CrashNode{Node: "node-1"}, 0).start(t, 1)
	w.do(10*sec, "crashNode", "node-1", "")
	w.do(70*sec, "rolloutRestart", "web", "")
	w.run(10 * engine.Minute)
	if got := w.where(); got != "2 r0, 3 r0" {
		t.Error(got)
	}
	if s, err := w.CannotEnd(), w.Stuck(); s == nil || s.What != "kubectl delete node node-1, once its machine is off for good" || err != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// onDelete has nobody replace a DaemonSet's pods.
func (b build) onDelete() build {
	b = b.daemons("0", "1")
	d, _ := b.Workloads[0].Resource.(*appsv1.DaemonSet)
	d.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	return b
}

// where lists the nodes of the pods that are not on their way out, with their revisions.
func (w *testWorld) where() string {
	var out []string
	for _, id := range w.livePods {
		if p := as[*api.Pod](w.store.Get(api.PodKey(id))); p.Active() {
			out = append(out, fmt.Sprintf("%d r%d", p.Node+1, p.Revision))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// Pods are replaced one after another, each when the one before is available; the new one is created when the old one is done, not
// when its object is gone. Reference: docs/model/controllers.md 5 maxSurge 0; docs/model/measured.md 1 DaemonSet maxSurge 0.
func TestADaemonSetIsUpdatedInPlace(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(2).daemons("0", "1").hook("app", sleepHook(2500*ms)).app(func(a *world.App) { a.Start = engine.Constant(2 * sec) })
	b.container().ReadinessProbe = probe(0, 1, 1, 3)
	b.Latency.APIWrite = engine.Constant(10 * ms)
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(60 * sec)
	w.want("created|deleting=true|terminal|gone|r1 running ready=true",
		"10.03 on node-2 r0 running ready=true deleting=true restarts=0",
		"12.53 on node-2 r0 terminal ready=false",
		"12.54 on node-2 r1 created",
		"12.972271 on node-2 r0 gone",
		"14.862271 on node-2 r1 running ready=true deleting=false restarts=0",
		"14.872271 on node-1 r0 running ready=true deleting=true restarts=0",
		"17.372271 on node-1 r0 terminal ready=false",
		"17.382271 on node-1 r1 created",
		"18.443951 on node-1 r0 gone",
		"20.333951 on node-1 r1 running ready=true deleting=false restarts=0",
	)
	if got := w.where(); got != "1 r1, 2 r1" || w.Unrest() != "" || w.StuckRollout() != nil {
		t.Errorf("%s; %s", got, w.Unrest())
	}
	if u := w.Usable(0); u.Of != 2 || u.Min != 1 {
		t.Errorf("%+v, expected one of two pods to be missing", u)
	}
}

// With a surge the new pod comes beside the old one, which goes when the new one is available; nobody is missing.
// Reference: docs/model/controllers.md 5 maxSurge.
func TestADaemonSetIsUpdatedBySurge(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(3).daemons("2", "0").app(func(a *world.App) { a.Start = engine.Constant(2 * sec) })
	b.container().ReadinessProbe = probe(0, 1, 1, 3)
	b.Latency.APIWrite = engine.Constant(10 * ms)
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(60 * sec)
	w.want("created|deleting=true|r1 running ready=true",
		"10.03 on node-2 r1 created",
		"10.04 on node-1 r1 created",
		"12.333951 on node-1 r1 running ready=true deleting=false restarts=0",
		"12.343951 on node-1 r0 running ready=true deleting=true restarts=0",
		"12.353951 on node-3 r1 created",
		"12.862271 on node-2 r1 running ready=true deleting=false restarts=0",
		"12.872271 on node-2 r0 running ready=true deleting=true restarts=0",
		"15.020043 on node-3 r1 running ready=true deleting=false restarts=0",
		"15.030043 on node-3 r0 running ready=true deleting=true restarts=0",
	)
	if got := w.where(); got != "1 r1, 2 r1, 3 r1" || w.Unrest() != "" {
		t.Errorf("%s; %s", got, w.Unrest())
	}
	if u := w.Usable(0); u.Of != 3 || u.Min != 3 {
		t.Errorf("%+v, expected nobody to be missing", u)
	}
}

// The controller looks again minReadySeconds after it has seen the pod ready, not after the pod became ready, and by then the whole
// seconds that the API keeps are over. Reference: docs/model/controllers.md 5 minReadySeconds.
func TestADaemonSetComesBackAfterMinReadySeconds(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(2).minReady(5).daemons("0", "1")
	b.Latency.APIWrite = engine.Constant(10 * ms)
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(60 * sec)
	w.want("r1 running ready=true|deleting=true",
		"10.03 on node-2 r0 running ready=true deleting=true restarts=0",
		"10.862271 on node-2 r1 running ready=true deleting=false restarts=0",
		"15.872271 on node-1 r0 running ready=true deleting=true restarts=0",
		"16.333951 on node-1 r1 running ready=true deleting=false restarts=0",
	)
}

// What is not available goes first, and takes the place of one that is. Reference: docs/model/controllers.md 5 maxSurge 0.
func TestADaemonSetReplacesWhatIsNotAvailableFirst(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		b := newBuild(1).nodes(4).daemons("0", "1").app(func(a *world.App) { a.Start = engine.Constant(2 * sec) })
		b.container().ReadinessProbe = probe(0, 1, 1, 1)
		w := b.start(t, seed)
		w.pods()
		w.do(5*sec, "setReady", "web#2", "false")
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(60 * sec)
		if first := w.when("deleting=true"); first != w.when("on node-3 r0 running ready=false deleting=true") {
			t.Errorf("seed %d: another pod went first: %s", seed, strings.Join(w.lines, "\n"))
		}
	}
}

// A pod with a host port never finds room beside the one that has it: the update makes no step more, whatever time it gets. Without
// a surge it goes on. Reference: docs/model/controllers.md 5 Host port; Kubernetes 1.36 pkg/apis/apps/validation, which allows it.
func TestASurgeOfADaemonSetWithAHostPortIsStuck(t *testing.T) {
	t.Parallel()
	const port, besides = "spec.template.spec.containers[0].ports[0].hostPort", "maxSurge 0 and maxUnavailable 1"
	for name, c := range map[string]struct { // order: each for itself
		b    build
		want *control.Stuck
	}{
		"one more": {newBuild(1).nodes(1).hostPort(80, nil).daemons("1", "0"),
			&control.Stuck{Why: "the new pod is for node-1 alone: node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: besides, Path: port}},
		"several more": {newBuild(1).nodes(4).hostPort(80, nil).daemons("100%", "0"),
			&control.Stuck{Why: "4 new pods are for one node each, node-1, node-2, node-3, ...: node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: besides, Path: port}},
		"the network of the node": {newBuild(1).nodes(1).hostPort(0, func(*corev1.ContainerPort) {}).network().daemons("1", "0"),
			&control.Stuck{Why: "the new pod is for node-1 alone: node(s) didn't have free ports for the requested pod ports (port 8080 of the node, hostNetwork)", What: besides, Path: "spec.template.spec.hostNetwork"}},
		"anti-affinity": {newBuild(1).nodes(1).apart().daemons("1", "0"),
			&control.Stuck{Why: "the new pod is for node-1 alone: node(s) didn't match pod anti-affinity rules", What: besides, Path: "spec.template.spec.affinity.podAntiAffinity"}},
		"no surge":     {newBuild(1).nodes(3).hostPort(80, nil).daemons("0", "1"), nil},
		"no host port": {newBuild(1).nodes(3).daemons("1", "0"), nil},
	} {
		w := c.b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(120 * sec)
		got := w.StuckRollout()
		if got == nil != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
		if u := w.Usable(0); c.want != nil && u.Min != u.Of {
			t.Errorf("%s: %+v, expected all old pods to stay", name, u)
		}
	}
}

// With OnDelete a new template changes nothing until somebody deletes a pod. Reference: docs/model/controllers.md 5 OnDelete.
func TestOnDeleteReplacesWhatIsDeleted(t *testing.T) {
	t.Parallel()
	w := newBuild(1).nodes(3).onDelete().start(t, 1)
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(30 * sec)
	if got := w.where(); got != "1 r0, 2 r0, 3 r0" || w.Unrest() != "" || w.StuckRollout() != nil {
		t.Errorf("before: %s; %s", got, w.Unrest())
	}
	w.do(40*sec, "delete", "web#1", "")
	w.run(90 * sec)
	if got := w.where(); got != "1 r0, 2 r1, 3 r0" || w.Unrest() != "" {
		t.Errorf("after: %s; %s", got, w.Unrest())
	}
}

// A node has a pod if the template selects it and tolerates its taints: what the controller adds counts, and a cordon keeps none off.
// Reference: docs/model/controllers.md 5 Nodes; docs/model/controllers.md 5 Tolerations.
func TestWhichNodesADaemonSetIsFor(t *testing.T) {
	t.Parallel()
	taint := func(key string, effect corev1.TaintEffect) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: key, Effect: effect}} }
	}
	for name, c := range map[string]struct { // order: each for itself
		b    build
		want string
	}{
		"all":                          {newBuild(1).nodes(2), "1 r0, 2 r0"},
		"a taint":                      {newBuild(1).nodes(2).node(0, tainted), "2 r0"},
		"pressure":                     {newBuild(1).nodes(2).node(0, taint(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)), "1 r0, 2 r0"},
		"a node that is not ready":     {newBuild(1).nodes(2).node(0, taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoSchedule)), "2 r0"},
		"one that drives away":         {newBuild(1).nodes(2).node(0, taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)), "1 r0, 2 r0"},
		"no network":                   {newBuild(1).nodes(2).node(0, taint(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)), "2 r0"},
		"no network, and hostNetwork":  {newBuild(1).nodes(2).network().node(0, taint(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)), "1 r0, 2 r0"},
		"a node that is cordoned":      {newBuild(1).nodes(2).node(0, func(n *corev1.Node) { n.Spec.Unschedulable = true }), "1 r0, 2 r0"},
		"a nodeSelector":               {newBuild(1).nodes(2).onSSD().node(0, labelled("hdd")).node(1, labelled("ssd")), "2 r0"},
		"the taint of a control plane": {newBuild(1).nodes(2).node(0, taint("node-role.kubernetes.io/control-plane", corev1.TaintEffectNoSchedule)), "2 r0"},
	} {
		w := c.b.daemons("0", "1").start(t, 1)
		w.run(20 * sec)
		if got := w.where(); got != c.want || w.Unrest() != "" {
			t.Errorf("%s: pods on %s, expected %s; %s", name, got, c.want, w.Unrest())
		}
	}
}

// kubectl drain leaves the pods of a DaemonSet where they are, and one that is deleted comes back on the node that is cordoned.
// Reference: docs/model/controllers.md 5 Drain.
func TestADrainLeavesTheDaemonSet(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(2).another("agent", 1).drained(nil, "node-1")
	b.Workloads[1].Resource = daemonSet(b.Workloads[1].Deployment(), "0", "1")
	w := b.acts(t)
	w.do(40*sec, "delete", "agent#0", "")
	w.run(60 * sec)
	if got := w.where(); got != "1 r0, 2 r0, 2 r0, 2 r0" || w.Unrest() != "" || w.CannotEnd() != nil {
		t.Errorf("%s; %s; %+v", got, w.Unrest(), w.CannotEnd())
	}
	w.want("kubectl|#2 created", "10 kubectl: node-1 cordoned=true", "11 kubectl: node-1 drained=true ", "40 default/agent on node-1 r0 #2 created")

	b.Actions[0].Operation = world.Drain{Nodes: []string{"node-2"}, DrainOptions: world.DrainOptions{GracePeriod: world.OwnGrace, MindDaemons: true}}
	w = b.acts(t)
	w.run(60 * sec)
	w.want("kubectl", "10 kubectl: node-2 cordoned=true",
		"10 kubectl: node-2 drained=false cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/agent on node-2 r0")
}

// The nodes of an update come in an order of chance, another one for each run and each template.
// Reference: docs/model/measured.md 1 DaemonSet order.
func TestTheOrderOfNodesIsChance(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for seed := range uint64(4) {
		w := newBuild(1).nodes(5).daemons("0", "1").start(t, seed)
		w.pods()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.do(60*sec, "rolloutRestart", "web", "")
		w.run(120 * sec)
		for _, revision := range []string{"r1", "r2"} {
			order := ""
			for _, l := range w.lines {
				if strings.Contains(l, revision+" created") {
					order += l[strings.Index(l, "node-"):strings.Index(l, " r")]
				}
			}
			seen[order] = true
		}
		if got := w.where(); got != "1 r2, 2 r2, 3 r2, 4 r2, 5 r2" {
			t.Errorf("seed %d: %s", seed, got)
		}
	}
	if len(seen) < 6 {
		t.Errorf("%d orders in 8 updates", len(seen))
	}
}

// kubectl rollout undo makes the template before the present one, pods included. A new pod that never listens holds an update up for
// good: no deadline ends it. Reference: docs/model/controllers.md 5 maxSurge 0.
func TestAnUpdateOfADaemonSetThatWaits(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(3).daemons("0", "1")
	b.container().ReadinessProbe = probe(0, 1, 1, 3)
	b.Workloads[0].Revisions = map[string]world.App{"new": {Start: engine.Constant(24 * engine.Hour)}}
	w := b.start(t, 1)
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(600 * sec)
	if w.StuckRollout() != nil {
		t.Errorf("after 590 s: %+v", w.StuckRollout())
	}
	w.run(620 * sec)
	want := control.Stuck{
		Why:  "the new pod web on node-2 does not listen, 600 s after it was made, and no deadline ends the rollout",
		What: "an image that does, or kubectl rollout undo", Path: "spec.template.spec.containers[0]",
	}
	if got := w.StuckRollout(); got == nil || *got != want {
		t.Errorf("after 610 s: %+v", got)
	}
	w.do(630*sec, "rollback", "web", "")
	w.run(700 * sec)
	if got := w.where(); got != "1 r0, 2 r0, 3 r0" || w.Unrest() != "" {
		t.Errorf("after the rollback: %s; %s", got, w.Unrest())
	}
}

// With a surge the old pod of a node is available all the time, and so is the node: that its successor is, is seen a second after
// minReadySeconds (Kubernetes 1.36 pkg/controller/daemon/daemon_controller.go, updatePod; verified). Reference: docs/model/controllers.md 5
// minReadySeconds.
func TestASurgeOfADaemonSetWaitsForMinReadySeconds(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(2)
	b.d.Spec.MinReadySeconds = 5
	b.container().ReadinessProbe = probe(0, 1, 1, 3)
	w := b.daemons("1", "0").start(t, 1)
	w.pods()
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(60 * sec)
	ready, deleted := w.when("on node-2 r1 running ready=true"), w.when("on node-2 r0 running ready=true deleting=true")
	if got := w.where(); got != "1 r1, 2 r1" || deleted < ready+6*sec || deleted > ready+6*sec+200*ms {
		t.Errorf("%s; ready at %s s, the old one deleted at %s s", got, ready.Seconds(), deleted.Seconds())
	}
}
