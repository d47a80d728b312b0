package cluster

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const (
	ms  = engine.Millisecond
	sec = engine.Second
)

// build is a scenario under construction: one Deployment "web", one Service, one node, every
// delay zero, an app that listens at once, no probes.
type build struct {
	*world.Scenario
	d   *appsv1.Deployment
	svc *corev1.Service
}

func newBuild(replicas int) build {
	n, grace := int32(replicas), int64(30)
	labels := map[string]string{"app": "web"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: &grace,
					Containers:                    []corev1.Container{{Name: "app", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}},
				},
			},
		},
	}
	policy := corev1.ServiceInternalTrafficPolicyCluster
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.96.0.1", ClusterIPs: []string{"10.96.0.1"},
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, Selector: labels, InternalTrafficPolicy: &policy,
			Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)}},
		},
	}
	profile, err := endpoints.ProfileFor(endpoints.CurrentVersion(), nil)
	if err != nil {
		panic(err)
	}
	b := build{d: d, svc: svc, Scenario: &world.Scenario{
		Name: "test", Kubernetes: profile,
		Workloads: []world.Workload{{Resource: d, Hooks: map[string]world.Hook{}}},
		Services:  []world.Service{{Service: svc}},
	}}
	b.nodes(1)
	return b.strategy("25%", "25%")
}

func (b build) nodes(n int) build {
	b.Nodes = nil
	for i := range n {
		b.Nodes = append(b.Nodes, world.Node{Name: fmt.Sprintf("node-%d", i+1), Zone: "a", Proxy: world.Proxy{Mode: "nftables", MinSyncPeriod: sec, SyncPeriod: 30 * sec}})
	}
	return b
}

func (b build) strategy(surge, unavailable string) build {
	s, u := intstr.Parse(surge), intstr.Parse(unavailable)
	b.d.Spec.Strategy = appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &s, MaxUnavailable: &u},
	}
	return b
}

func (b build) recreate() build {
	b.d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	return b
}

func (b build) grace(seconds int64) build {
	b.d.Spec.Template.Spec.TerminationGracePeriodSeconds = &seconds
	return b
}

func (b build) hook(container string, h world.Hook) build {
	b.Workloads[0].Hooks[container] = h
	return b
}

func (b build) app(edit func(*world.App)) build {
	edit(&b.Workloads[0].App)
	return b
}

func (b build) container() *corev1.Container { return &b.d.Spec.Template.Spec.Containers[0] }

func probe(delay, period, success, failure int32) *corev1.Probe {
	return &corev1.Probe{InitialDelaySeconds: delay, PeriodSeconds: period, TimeoutSeconds: 1, SuccessThreshold: success, FailureThreshold: failure}
}

// latencies are drawn, as in the default world.
func (b build) drawn() build {
	u := func(a, z engine.Time) engine.Dist {
		d, err := engine.Uniform(a, z)
		if err != nil {
			panic(err)
		}
		return d
	}
	b.Latency = world.Latencies{
		APIWrite: u(5*ms, 20*ms), Watch: u(5*ms, 30*ms), SliceController: u(5*ms, 20*ms), Controller: u(5*ms, 20*ms),
		StatusWrite: u(10*ms, 50*ms), ProxySync: u(20*ms, 200*ms), Schedule: u(5*ms, 50*ms),
		Sandbox: u(300*ms, sec), ContainerStart: u(100*ms, 500*ms),
	}
	b.Workloads[0].App.Start = u(sec, 3*sec)
	return b
}

// world is a World with its engine and a record of what happened.
type testWorld struct {
	*World
	eng   *engine.Engine
	lines []string
	// inFlight is when the requests in flight will be done; 0 is none.
	inFlight engine.Time
	// changed and synced, if they are not nil, hear that something is the matter with a node, and of the end of a sync.
	changed, synced func(node int)
	t               *testing.T
	history         *history
}

func (b build) start(t *testing.T, seed uint64) *testWorld {
	t.Helper()
	w := b.startOne(t, seed)
	keep(t, w, w.log)
	w.Tell(nil)
	return w
}

// startOne is for one of hundreds of worlds: what happens in it is not kept.
func (b build) startOne(t *testing.T, seed uint64) *testWorld {
	t.Helper()
	w := &testWorld{eng: engine.New(seed, engine.Limits{Events: 2_000_000}), t: t}
	w.World = New(b.Scenario, w.eng, new(event.Log), w)
	return w
}

func (w *testWorld) note(format string, args ...any) {
	w.lines = append(w.lines, w.eng.Now().Seconds()+" "+fmt.Sprintf(format, args...))
}

func (w *testWorld) name(i *kubelet.Instance) string {
	return strings.TrimPrefix(w.podName(i.Pod), "default/web ")
}

func (w *testWorld) ListenerChanged(i *kubelet.Instance) {
	w.note("%s listening %v", w.name(i), i.Listening)
}
func (w *testWorld) Terminated(i *kubelet.Instance) { w.note("%s SIGTERM", w.name(i)) }
func (w *testWorld) Ended(i *kubelet.Instance, how event.Ending) {
	w.note("%s ended %s", w.name(i), [...]string{"by itself", "killed", "liveness", "crashed", "with the node"}[how])
}
func (w *testWorld) Reloading(i *kubelet.Instance) { w.note("%s reloading", w.name(i)) }
func (w *testWorld) LeftAlone(i *kubelet.Instance) { w.note("%s left alone", w.name(i)) }
func (w *testWorld) SandboxBack(*kubelet.Instance) {}

func (w *testWorld) SandboxGone(i *kubelet.Instance) { w.note("%s sandbox down", w.name(i)) }
func (w *testWorld) Synced(node int) {
	if w.history != nil {
		w.history.askMeanwhile()
	}
	if w.synced != nil {
		w.synced(node)
	}
}

func (w *testWorld) NodeChanged(node int) {
	if w.changed != nil {
		w.changed(node)
	}
}
func (w *testWorld) InFlightUntil(*kubelet.Instance) engine.Time {
	return max(w.eng.Now(), w.inFlight)
}

// pods records every version of every pod from now on, without delay.
func (w *testWorld) pods() {
	w.store.Subscribe("test pods", w.eng.Register("test"), engine.Dist{}, func(o api.Object) {
		p := as[*api.Pod](o)
		name := strings.TrimPrefix(p.Name, "default/web ")
		switch {
		case p.Gone:
			w.note("%s gone", name)
		case p.Phase.Terminal():
			w.note("%s terminal ready=%v", name, p.Ready)
		case p.Phase == api.PhasePending && p.Node < 0:
			w.note("%s created", name)
		case p.Phase == api.PhasePending:
			w.note("%s bound", name)
		default:
			w.note("%s running ready=%v deleting=%v restarts=%d", name, p.Ready, p.Deleting(), p.Restarts)
		}
	}, api.KindPod)
}

func (w *testWorld) at(t engine.Time, run func()) {
	w.eng.At(t, engine.ClassAction, w.owner, "test", run)
}

// action is an action as tests write it down: "delete", "web#0", "".
func action(verb, target, value string) world.Action {
	pods := world.Pods{Workload: target, Number: world.AllPods}
	if name, number, one := strings.Cut(target, "#"); one {
		pods = world.Pods{Workload: name, Number: atoi(number)}
	}
	gate, open, _ := strings.Cut(value, "=")
	operations := []world.Operation{
		world.RolloutRestart{Workload: target}, world.Rollback{Workload: target}, world.Pause{Workload: target}, world.Resume{Workload: target},
		world.Scale{Workload: target, Replicas: atoi(value)}, world.Delete{Pods: pods}, world.CrashPod{Pods: pods},
		world.SetReady{Pods: pods, Ready: value == "true"}, world.SetGate{Pods: pods, Gate: gate, Open: open == "true"},
		world.Dependency{Name: target, Down: value == "down"}, world.APIServer{Down: value == "down"},
		world.Component{Name: target, What: value}, world.CrashNode{Node: target}, world.ScaleDownNode{Node: target},
	}
	for _, o := range operations {
		if a := (world.Action{Operation: o}); a.Verb() == verb {
			return a
		}
	}
	panic("no such action: " + verb)
}

// atoi is 0 for what is no number.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

func (w *testWorld) do(t engine.Time, verb, target, value string) {
	w.at(t, func() {
		if verb == "note" {
			w.note("size -")
			return
		}
		w.Do(action(verb, target, value))
	})
}

func (w *testWorld) run(until engine.Time) {
	w.t.Helper()
	if err := w.eng.RunUntil(until); err != nil {
		w.t.Fatal(err)
	}
}

// want compares the lines that contain one of the words with what is wanted.
func (w *testWorld) want(words string, want ...string) {
	w.t.Helper()
	var got []string
	for _, l := range w.lines {
		for _, word := range strings.Split(words, "|") {
			if strings.Contains(l, word) {
				got = append(got, l)
				break
			}
		}
	}
	if g, x := strings.Join(got, "\n"), strings.Join(want, "\n"); g != x {
		w.t.Errorf("got\n%s\nwant\n%s", g, x)
	}
}

// when returns the time of the first line that contains a text.
func (w *testWorld) when(text string) engine.Time {
	w.t.Helper()
	for _, l := range w.lines {
		stamp, rest, _ := strings.Cut(l, " ")
		if strings.Contains(rest, text) {
			whole, frac, _ := strings.Cut(stamp, ".")
			s, _ := strconv.ParseInt(whole, 10, 64)
			f, _ := strconv.ParseInt((frac + "000000")[:6], 10, 64)
			return engine.Time(s)*sec + engine.Time(f)*engine.Microsecond
		}
	}
	w.t.Fatalf("no %q in\n%s", text, strings.Join(w.lines, "\n"))
	return 0
}

// neverListens makes new pods that are never ready.
func neverListens(a *world.App) { a.Start = engine.Constant(24 * engine.Hour) }

// as asserts what an object is.
func as[T any](o api.Object) T {
	v, ok := o.(T)
	if !ok {
		panic(fmt.Sprintf("%T", o))
	}
	return v
}

// hears has somebody hear of what happens from now on, of some kinds or of all.
func (w *testWorld) hears(hear func(event.Event), kinds ...event.Kind) {
	w.log.Subscribe(hear, kinds...)
	w.Tell(nil)
}
