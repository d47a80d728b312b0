package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// hostPort has each pod take a port of its node.
func (b build) hostPort(port int32, edit func(*corev1.ContainerPort)) build {
	p := corev1.ContainerPort{ContainerPort: 8080, HostPort: port}
	if edit != nil {
		edit(&p)
	}
	b.container().Ports = []corev1.ContainerPort{p}
	return b
}

// apart keeps the pods off nodes with one of them.
func (b build) apart(matchLabelKeys ...string) build {
	b.d.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, MatchLabelKeys: matchLabelKeys,
		}},
	}}
	return b
}

// another adds a workload of the same Service, with the same template.
func (b build) another(name string, replicas int32) build {
	w := b.Workloads[0]
	w.Resource = w.Deployment().DeepCopy()
	w.Deployment().Name, w.Deployment().Spec.Replicas = name, &replicas
	b.Workloads = append(b.Workloads, w)
	return b
}

// node has the n-th node be an object.
func (b build) node(n int, edit func(*corev1.Node)) build {
	o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: b.Nodes[n].Name, Labels: map[string]string{}}}
	edit(o)
	b.Nodes[n].Object = o
	return b
}

// A rollout that finds no node for its new pods cannot go on, whatever time it gets. Ports that
// differ in number, protocol or address do not get in each other's way (Kubernetes 1.36
// pkg/scheduler/framework/plugins/nodeports). Reference: docs/model/controllers.md 5 Host port;
// docs/model/simulator.md 9.
func TestARolloutThatFindsNoNodeIsStuck(t *testing.T) {
	t.Parallel()
	const port = "spec.template.spec.containers[0].ports[0].hostPort"
	const turn = "maxSurge 0 and maxUnavailable 1, or one node more"
	for _, c := range []struct {
		name string
		b    build
		want *control.Stuck // nil: it comes to its end
	}{
		{"a host port, and as many nodes as pods", newBuild(3).nodes(3).hostPort(80, nil),
			&control.Stuck{Why: "the new pod finds no node: 0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: turn, Path: port}},
		{"a host port, and one node more", newBuild(3).nodes(4).hostPort(80, nil), nil},
		{"a host port, and no surge", newBuild(3).nodes(3).hostPort(80, nil).strategy("0", "1"), nil},
		{"a host port, and a pod may be missing", newBuild(3).nodes(3).hostPort(80, nil).strategy("1", "1"), nil},
		{"a host port, and Recreate", newBuild(3).nodes(3).hostPort(80, nil).recreate(), nil},
		{"a host port on one node", newBuild(1).hostPort(80, nil),
			&control.Stuck{Why: "the new pod finds no node: 0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: turn, Path: port}},
		{"a host port of one address", newBuild(1).hostPort(80, func(p *corev1.ContainerPort) { p.HostIP = "127.0.0.1" }),
			&control.Stuck{Why: "the new pod finds no node: 0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: turn, Path: port}},
		{"more pods than nodes", newBuild(5).nodes(3).hostPort(80, nil).strategy("1", "0"),
			&control.Stuck{Why: "3 new pods find no node: 0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: "3 nodes more", Path: port}},
		{"more pods than nodes, and no surge", newBuild(5).nodes(3).hostPort(80, nil).strategy("0", "1"),
			&control.Stuck{Why: "2 new pods find no node: 0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: "2 nodes more", Path: port}},
		{"the network of the node", newBuild(2).nodes(2).hostPort(0, func(*corev1.ContainerPort) {}).network(),
			&control.Stuck{Why: "the new pod finds no node: 0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports (port 8080 of the node, hostNetwork)", What: turn, Path: "spec.template.spec.hostNetwork"}},
		{"anti-affinity", newBuild(3).nodes(3).apart(),
			&control.Stuck{Why: "the new pod finds no node: 0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules", What: turn, Path: "spec.template.spec.affinity.podAntiAffinity"}},
		{"anti-affinity within a revision", newBuild(3).nodes(3).apart("pod-template-hash"), nil},
		{"anti-affinity, and another workload on the last node", newBuild(2).nodes(3).apart().another("canary", 1),
			&control.Stuck{Why: "the new pod finds no node: 0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules", What: turn, Path: "spec.template.spec.affinity.podAntiAffinity"}},
		{"a host port, and another workload with it on the last node", newBuild(2).nodes(3).hostPort(80, nil).another("canary", 1),
			&control.Stuck{Why: "the new pod finds no node: 0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: turn, Path: port}},
		{"a host port, and a tainted node", newBuild(2).nodes(3).hostPort(80, nil).node(2, tainted), &control.Stuck{Why: "the new pod finds no node: 0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: turn, Path: port}},
		{"nodes that all have taints", newBuild(1).nodes(2).node(0, tainted).node(1, tainted),
			&control.Stuck{Why: "2 new pods find no node: 0/2 nodes are available: 2 node(s) had untolerated taint(s)", What: "a toleration of the taints, or a node without them", Path: "spec.template.spec.tolerations"}},
		{"nodes that are all of another kind", newBuild(1).nodes(2).onSSD().node(0, labelled("hdd")).node(1, labelled("hdd")),
			&control.Stuck{Why: "2 new pods find no node: 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector", What: "a node with the labels that it asks for", Path: "spec.template.spec.nodeSelector"}},
		{"a node with a taint, and one of another kind", newBuild(1).nodes(2).onSSD().node(0, labelled("hdd")).node(1, tainted),
			&control.Stuck{Why: "2 new pods find no node: 0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s)",
				What: "a toleration of the taints, or a node without them", Path: "spec.template.spec.tolerations"}},
		{"a host port, and a node of another kind", newBuild(2).nodes(3).hostPort(80, nil).onSSD().node(0, labelled("ssd")).node(1, labelled("ssd")).node(2, labelled("hdd")),
			&control.Stuck{Why: "the new pod finds no node: 0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: turn, Path: port}},
	} {
		w := c.b.start(t, 1)
		if w.StuckRollout() != nil {
			t.Errorf("%s: %+v before anything was begun", c.name, w.StuckRollout())
		}
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(300 * sec)
		got := w.StuckRollout()
		if got == nil != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
		d := as[*api.Workload](w.store.Get(api.DeploymentKey(0)))
		if census := w.census(d); (census.old == 0 && len(census.sick) == 0) != (c.want == nil) {
			t.Errorf("%s: %+v", c.name, census)
		}
	}
}

func tainted(n *corev1.Node) {
	n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
}

func labelled(disk string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels["disk"] = disk }
}

// onSSD has pods run on nodes with such a disk only.
func (b build) onSSD() build {
	b.d.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd", corev1.LabelOSStable: "linux"}
	return b
}

// network gives the pods that of their node.
func (b build) network() build {
	b.d.Spec.Template.Spec.HostNetwork = true
	return b
}

// Host ports are told apart as the scheduler does.
func TestHostPortsThatDoNotClash(t *testing.T) {
	t.Parallel()
	plain := world.HostPort{Port: 80, Protocol: corev1.ProtocolTCP, IP: "0.0.0.0"}
	for _, c := range []struct {
		edit func(*world.HostPort)
		want bool
	}{
		{func(*world.HostPort) {}, true},
		{func(p *world.HostPort) { p.Port = 81 }, false},
		{func(p *world.HostPort) { p.Protocol = corev1.ProtocolUDP }, false},
		{func(p *world.HostPort) { p.IP = "10.0.0.1" }, true},
	} {
		other := plain
		if c.edit(&other); plain.Clashes(other) != c.want || other.Clashes(plain) != c.want {
			t.Errorf("%+v and %+v: want %v", plain, other, c.want)
		}
	}
	one, two := plain, plain
	if one.IP, two.IP = "10.0.0.1", "10.0.0.2"; one.Clashes(two) {
		t.Error("one port of two addresses")
	}
}

// A pod that waits for a node gets the first that another one leaves: here the one of a pod that
// takes 20 s to end. Until then nothing is stuck.
func TestAPendingPodIsBoundWhenAnotherHasGone(t *testing.T) {
	t.Parallel()
	b := newBuild(1).hostPort(80, nil).hook("app", world.Hook{Kind: "sleep", Duration: engine.Constant(20 * sec)})
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "delete", "web#0", "")
	w.do(15*sec, "scale", "web", "2")
	w.at(20*sec, func() {
		if s := w.StuckRollout(); s != nil {
			t.Errorf("%+v while a pod is Terminating", s)
		}
	})
	w.run(60 * sec)
	if created, ended, bound := w.when("r0 1 created"), w.when("r0 0 terminal"), w.when("r0 1 bound"); created != 10*sec || bound < ended || bound > ended+100*ms {
		t.Errorf("created at %s s, the one before ended at %s s, bound at %s s", created.Seconds(), ended.Seconds(), bound.Seconds())
	}
	want := control.Stuck{Why: "the new pod finds no node: 0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports (hostPort 80)", What: "one node more", Path: "spec.template.spec.containers[0].ports[0].hostPort"}
	if s := w.StuckRollout(); s == nil || *s != want {
		t.Errorf("scaled up: %+v", s)
	}
}

// What else a rollout waits for in vain, and when that is certain.
func TestWhatARolloutWaitsForInVain(t *testing.T) {
	t.Parallel()
	deadline := int32(60)
	const server = "spec.template.spec.containers[0]"
	const slow = ": it kills what does not listen 3-5 s after its start, by chance, and the server is taken to listen after 86400 s; " +
		"it is always stuck if that takes more than 5 s, never with less than 3 s, by chance in between"
	for _, c := range []struct {
		name string
		b    build
		then func(*testWorld)
		want *control.Stuck
	}{
		{"a readiness gate that nobody sets", newBuild(2).gated(gateOne).strategy("1", "0"), nil,
			&control.Stuck{Why: "the new pod waits for its readiness gate " + gateOne + ", which nothing sets", What: "the controller that sets it, or no such readiness gate", Path: "spec.template.spec.readinessGates"}},
		{"an app that never listens", newBuild(2).strategy("1", "0").app(neverListens), nil,
			&control.Stuck{Why: "the new pod does not listen, 60 s after the last progress (progressDeadlineSeconds)", What: "an image that does, or kubectl rollout undo", Path: server}},
		{"an app that is never ready", newBuild(2).strategy("1", "0").app(func(a *world.App) { a.ReadyAfter = engine.Constant(engine.Hour) }), nil,
			&control.Stuck{Why: "the new pod is not ready, 60 s after the last progress (progressDeadlineSeconds)", What: "a pod that becomes ready, or kubectl rollout undo", Path: server + ".readinessProbe"}},
		{"an app that crashes before it is available", newBuild(2).strategy("1", "0").app(func(a *world.App) { a.CrashAfter = 3 * sec }).minReady(10), nil,
			&control.Stuck{Why: "the new pod has crashed 5 times and never stays ready", What: "an image that does, or kubectl rollout undo", Path: server}},
		{"a liveness probe that does not wait for the app", newBuild(2).strategy("1", "0").app(neverListens).liveness(), nil,
			&control.Stuck{Why: "the new pod has been restarted 7 times by its livenessProbe and has not stayed ready" + slow, TakenToListen: "86400 s", What: "a startupProbe with time enough, or kubectl rollout undo", Path: server + ".livenessProbe"}},
		{"a startup probe that does not wait for the app", newBuild(2).strategy("1", "0").app(neverListens).liveness().startup(), nil,
			&control.Stuck{Why: "the new pod has been restarted 7 times by its startupProbe and has not stayed ready" + slow, TakenToListen: "86400 s", What: "a startupProbe with time enough (failureThreshold: 345598, which is 345600 s), or kubectl rollout undo", Path: server + ".startupProbe"}},
		{"the Deployment controller hangs", newBuild(2).gated(gateOne).strategy("1", "0"), func(w *testWorld) { w.do(50*sec, "component", "deployment-controller", "pause") }, nil},
		{"it is paused", newBuild(2).gated(gateOne).strategy("1", "0"), func(w *testWorld) { w.do(50*sec, "pause", "web", "") }, nil},
		{"the API server is down", newBuild(2).gated(gateOne).strategy("1", "0"), func(w *testWorld) { w.do(50*sec, "apiserver", "", "down") }, nil},
		{"it was complete, and fails later", newBuild(2).gated(gateOne).strategy("1", "0"), func(w *testWorld) {
			w.gate(20*sec, "web#2", gateOne, true)
			w.gate(30*sec, "web#2", gateOne, true)
			w.gate(50*sec, "web", gateOne, false)
		}, nil},
	} {
		c.b.d.Spec.ProgressDeadlineSeconds = &deadline
		c.b.container().ReadinessProbe = probe(0, 1, 1, 3)
		w := c.b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		if c.then != nil {
			c.then(w)
		}
		w.run(300 * sec)
		if got := w.StuckRollout(); got == nil != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// Pods in the place of those that were drained, evicted or deleted wait for readiness gates as those of a rollout do. A drain that a
// budget keeps until they are ready waits with them.
func TestPodsInThePlaceOfOthersWaitForGates(t *testing.T) {
	t.Parallel()
	const never = "the new pod waits for its readiness gate " + gateOne + ", which nothing sets"
	const refused = "kubectl drain of node-2 waits for ever: PodDisruptionBudget web (minAvailable 2) allows no eviction: 2 of 3 pods are ready, and 2 have to be; "
	for _, c := range []struct {
		name, why string
		drain     bool
		b         build
	}{
		{"a drain", never, false, newBuild(2).nodes(3).drained(nil, "node-1")},
		{"a drain that a budget keeps from going on", refused + never, true, newBuild(3).nodes(3).budget("minAvailable 2").drained(nil, "node-1", "node-2")},
		{"an eviction", never, false, newBuild(2).nodes(3).does(world.Evict{Pods: world.Pods{Workload: "default/web"}}, 0)},
		{"a deletion", never, false, newBuild(2).nodes(3).does(world.Delete{Pods: world.Pods{Workload: "default/web"}}, 0)},
		{"a crash", "", false, newBuild(2).nodes(3).does(world.CrashPod{Pods: world.Pods{Workload: "default/web"}}, 0)},
	} {
		w := c.b.gated(gateOne).acts(t)
		w.run(100 * sec)
		got := w.CannotEnd()
		if c.why == "" && got == nil {
			continue
		}
		want := control.Stuck{Drain: c.drain, Why: c.why, What: "the controller that sets it, or no such readiness gate", Path: "spec.template.spec.readinessGates"}
		if got == nil || *got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, want)
		}
	}
}

// Pods in the place of those that were drained, and that never get ready, never come back either; no rollout is there to be taken back. One
// that gets ready in the end does.
func TestPodsInThePlaceOfOthersThatNeverGetReady(t *testing.T) {
	t.Parallel()
	const server = "spec.template.spec.containers[0]"
	const slow = ": it kills what does not listen 3-5 s after its start, by chance, and the server is taken to listen after 86400 s; " +
		"it is always stuck if that takes more than 5 s, never with less than 3 s, by chance in between"
	for name, c := range map[string]struct {
		b    build
		want *control.Stuck
	}{
		"killed by its liveness probe": {newBuild(2).nodes(3).app(neverListens).liveness(),
			&control.Stuck{Why: "the new pod has been restarted 9 times by its livenessProbe and has not stayed ready" + slow, TakenToListen: "86400 s", What: "a startupProbe with time enough", Path: server + ".livenessProbe"}},
		"two find no room": {newBuild(4).nodes(2).asks("cpu=1").have("cpu=2 memory=8Gi pods=10"),
			&control.Stuck{Why: "2 new pods find no node: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable", What: "room for 2 pods more, with cpu 1 left for each", Path: server + ".resources.requests.cpu"}},
		"is ready late":  {newBuild(2).nodes(3).app(func(a *world.App) { a.ReadyAfter = engine.Constant(90 * sec) }), nil},
		"has no trouble": {newBuild(2).nodes(3), nil},
	} {
		c.b.container().ReadinessProbe = probe(0, 1, 1, 3)
		w := c.b.drained(nil, "node-1").acts(t)
		w.run(600 * sec)
		if got := w.CannotEnd(); got == nil != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
	}
}

func (b build) minReady(seconds int32) build {
	b.d.Spec.MinReadySeconds = seconds
	return b
}

// liveness restarts what does not listen within 5 s.
func (b build) liveness() build {
	b.container().LivenessProbe = probe(2, 1, 1, 3)
	return b
}

// A liveness probe kills what takes longer to listen than the latest of its last ticks, never what takes less than the soonest, and between them
// some starts and not others: what it says of a pod that it kills are these two, and no limit between.
func TestWhenALivenessProbeKillsAStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		delay, threshold int32
		after            engine.Time
		some, all        bool
		says             string
	}{
		{2, 3, 2900 * ms, false, false, ""},
		{2, 3, 4 * sec, true, false, ": it kills what does not listen 3-5 s after its start, by chance, and the server listens after 4 s; it is always stuck if that takes more than 5 s, never with less than 3 s, by chance in between"},
		{2, 3, 5100 * ms, true, true, ""},
		{1, 1, 500 * ms, true, false, ": it kills what does not listen 0-2 s after its start, by chance, and the server listens after 0.5 s; it is always stuck if that takes more than 2 s, with less by chance"},
		{0, 3, 1900 * ms, false, false, ""},
		{0, 3, 2500 * ms, true, false, ": it kills what does not listen 2-3 s after its start, by chance, and the server listens after 2.5 s; it is always stuck if that takes more than 3 s, never with less than 2 s, by chance in between"},
	} {
		const seeds = 20
		killed, up := 0, 0
		for seed := range uint64(seeds) {
			b := newBuild(2).strategy("1", "0").app(func(a *world.App) { a.Start, a.StartSaid = engine.Constant(c.after), true })
			b.Latency.ContainerStart = engine.Must(engine.Uniform(100*ms, 2100*ms)) // wherever between two ticks
			b.container().LivenessProbe = probe(c.delay, 1, 1, c.threshold)
			w := b.start(t, seed+1)
			w.do(10*sec, "rolloutRestart", "web", "")
			w.run(100 * sec)
			for id := range api.PodID(8) {
				p := w.pod(id)
				if p == nil || p.Revision == 0 || p.Deleting() {
					continue
				}
				if p.Restarts > 0 {
					killed++
				}
				if p.Ready {
					up++
				}
				if says, taken := w.slowStart(p); taken != "" || c.says != "" && says != c.says {
					t.Fatalf("delay %d: %q", c.delay, says)
				}
			}
		}
		if killed > 0 != c.some || up == 0 != c.all {
			t.Errorf("delay %d, threshold %d, listens after %v: %d pods were killed, %d are ready", c.delay, c.threshold, c.after, killed, up)
		}
	}
}

// startup restarts what does not listen within 5 s of its start.
func (b build) startup() build {
	b.container().StartupProbe = probe(2, 1, 1, 3)
	return b
}

// What is stuck is the workload whose pods are, and what of it other workloads do does not matter.
func TestTheRolloutThatIsStuckIsNamed(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]int{"web": 0, "api": 1} {
		b := newBuild(2).gated(gateOne).strategy("1", "0").another("api", 1)
		b.container().ReadinessProbe = probe(0, 1, 1, 3)
		w := b.start(t, 1)
		w.do(10*sec, "rolloutRestart", target, "")
		w.run(100 * sec)
		if got := w.StuckRollout(); got == nil || got.Workload != want {
			t.Errorf("a rollout of %s is stuck: %+v", target, got)
		}
	}
}

// Pods that find no node at the beginning wait for one from the beginning, and count as not ready.
func TestPodsWithoutANodeArePendingFromTheBeginning(t *testing.T) {
	t.Parallel()
	w := newBuild(4).nodes(3).hostPort(80, nil).start(t, 1)
	w.run(10 * sec)
	rs := as[*api.ReplicaSet](w.store.Get(api.ReplicaSetKey(api.ReplicaSetID{Workload: 0, Revision: 0})))
	if u := w.Usable(0); len(w.sched.Pending()) != 1 || rs.Pods != 4 || rs.Available != 3 || u.Of != 4 || u.Min != 3 || w.StuckRollout() != nil {
		t.Errorf("%d pending, %+v, %+v, %+v", len(w.sched.Pending()), rs, u, w.StuckRollout())
	}
}

// As many pods as required anti-affinity allows get a node, and no more: it counts pods of the same
// revision, all of the workload, or those of another that wants to be alone. Nothing else keeps pods
// from sharing a node. Reference: Kubernetes 1.36 pkg/scheduler/framework/plugins/interpodaffinity
// (existing pods' anti-affinity counts as much as the incoming pod's).
func TestPodsThatAreKeptApart(t *testing.T) {
	t.Parallel()
	beside := func(b build, replicas int32) build {
		b = b.another("canary", replicas)
		b.Workloads[1].Deployment().Spec.Template.Spec.Affinity = nil
		return b
	}
	for _, c := range []struct {
		name    string
		b       build
		scaled  string
		pending int
	}{
		{"nothing keeps them apart", newBuild(1).nodes(2), "web", 0},
		{"all of the workload", newBuild(1).nodes(2).apart(), "web", 2},
		{"those of a revision", newBuild(1).nodes(2).apart("pod-template-hash"), "web", 2},
		{"from another workload that says nothing itself", beside(newBuild(1).nodes(3).apart(), 2), "web", 3},
		{"from one that wants to be alone", beside(newBuild(3).nodes(3).apart(), 0), "canary", 4},
		{"those of a revision, beside another workload", beside(newBuild(1).nodes(3).apart("pod-template-hash"), 2), "web", 1},
	} {
		w := c.b.start(t, 1)
		w.do(10*sec, "scale", c.scaled, "4")
		w.run(60 * sec)
		pending := 0
		for _, id := range w.livePods {
			if as[*api.Pod](w.store.Get(api.PodKey(id))).Node < 0 {
				pending++
			}
		}
		if pending != c.pending {
			t.Errorf("%s: %d pods without a node, want %d", c.name, pending, c.pending)
		}
	}
}
