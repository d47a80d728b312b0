package sim

import (
	"math"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// gatedLB sends to pods and takes 60 s to register one; its controller sets readiness gates.
func gatedLB(injection world.GateInjection) world.LoadBalancer {
	return world.LoadBalancer{
		Target: world.TargetPods, Members: world.MembersReadyPods, Registration: engine.Constant(60 * sec), NoTarget: world.NoTargetTimeout,
		Check: world.HealthCheck{Probe: world.ProbePod, Interval: 10 * sec, Timeout: sec, Healthy: 1, Unhealthy: 3},
		Drain: 300 * sec, ReadinessGate: "example.com/*", GateRecheck: 15 * sec, GateInjection: injection,
	}
}

// keptWorld is balanced with a rollout in the place of the deletion, and pods that start at once.
func keptWorld(lb world.LoadBalancer) *world.Scenario {
	sc := balanced(corev1.ServiceExternalTrafficPolicyCluster, lb)
	sc.Workloads[0].App.Start = engine.Constant(sec)
	sc.Actions = []world.Action{{At: 10 * sec, Operation: world.RolloutRestart{Workload: "web"}}}
	return sc
}

// journal keeps the events of one kind.
type journal struct {
	kind   event.Kind
	events []event.Event
}

func (j *journal) log() *event.Log {
	return told(func(e event.Event) { j.events = append(j.events, e) }, j.kind)
}

// told returns a log with one subscriber.
func told(hear func(event.Event), kinds ...event.Kind) *event.Log {
	log := &event.Log{}
	log.Subscribe(hear, kinds...)
	return log
}

// Registration takes 60 s. Without a gate the rollout is over long before: nobody who answers is
// registered until 60 s and one check (10 s) after the first new pod was ready. With the gate each
// old pod goes when its successor is a healthy target, and nothing is lost.
func TestAReadinessGateOutlastsRegistration(t *testing.T) {
	t.Parallel()
	without, _, causes := overSeeds(t, keptWorld(gatedLB(world.InjectNever)), 5)
	if math.Abs(without-70) > 2 || causes[ledger.Blame{Cause: ledger.NoHealthyTarget, Actor: ledger.LBPropagation, Elsewhere: true}] == 0 {
		t.Errorf("without a gate: lost %.1f s, want about 70: %v", without, causes)
	}
	with, _, causes := overSeeds(t, keptWorld(gatedLB(world.InjectAlways)), 5)
	if with != 0 {
		t.Errorf("with the gate: lost %.1f s, %v", with, causes)
	}
}

// The controller opens a gate at a tick of its own, each 15 s from when it first saw the pod
// wait, and the pod is ready then; with a world without any other delay, at the same moment.
func TestGatesOpenInARun(t *testing.T) {
	t.Parallel()
	sc := keptWorld(gatedLB(world.InjectAlways))
	gates, ready := &journal{kind: event.Gate}, &journal{kind: event.Ready}
	for _, j := range []*journal{gates, ready} {
		if _, err := RunWith(sc, 1, Options{Events: j.log()}); err != nil {
			t.Fatal(err)
		}
	}
	if len(gates.events) != 2 || len(ready.events) != 2 {
		t.Fatalf("%d gates, %d pods ready", len(gates.events), len(ready.events))
	}
	for i, e := range gates.events {
		if !e.OK || e.Gate != "example.com/k8s-default-web-80" || ready.events[i].Pod != e.Pod {
			t.Errorf("%+v", e)
		}
		if r := ready.events[i].At; r < e.At || r > e.At+sec { // at the relist at the latest
			t.Errorf("gate at %s, ready at %s", e.At.Seconds(), r.Seconds())
		}
	}
}

// A gate that several load balancers look after opens when all of them have found the pod healthy.
func TestAGateOfTwoLoadBalancers(t *testing.T) {
	t.Parallel()
	opened := func(registration engine.Time) engine.Time {
		lb := gatedLB(world.InjectNever)
		sc := keptWorld(lb)
		slow := lb
		slow.Service, slow.Registration = "default/web", engine.Constant(registration)
		second := sc.Traffic[0]
		second.Name, second.LB = "second", &slow
		sc.Traffic = append(sc.Traffic, second)
		sc.Workloads[0].Deployment().Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/own"}}
		j := &journal{kind: event.Gate}
		if _, err := RunWith(sc, 1, Options{Events: j.log()}); err != nil {
			t.Fatal(err)
		}
		if len(j.events) == 0 {
			t.Fatal("no gate opened")
		}
		return j.events[0].At
	}
	if fast, slow := opened(60*sec), opened(200*sec); slow-fast < 130*sec || slow-fast > 150*sec {
		t.Errorf("%s s, and %s s with a slow one", fast.Seconds(), slow.Seconds())
	}
}

// Behind an ingress controller it is the controller's pods that a load balancer registers, and whose
// gates its controller opens: the app's pods have none and wait for nobody.
func TestGatesAreThoseOfWhatTheLoadBalancerReaches(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]int{"web": 0, "ingress": 2} { // order: each for itself
		sc := behindController(0)
		lb := gatedLB(world.InjectAlways)
		lb.Service = "default/ingress"
		sc.Traffic[0].LB = &lb
		sc.Actions = []world.Action{{At: 10 * sec, Operation: world.RolloutRestart{Workload: target}}}
		gates, ready := &journal{kind: event.Gate}, &journal{kind: event.Ready}
		for _, j := range []*journal{gates, ready} {
			if _, err := RunWith(sc, 1, Options{Events: j.log()}); err != nil {
				t.Fatal(err)
			}
		}
		if len(gates.events) != want || len(ready.events) != 2 {
			t.Errorf("%s: %d gates opened and %d pods ready, want %d and 2", target, len(gates.events), len(ready.events), want)
		}
	}
}

// A gate that nobody sets holds the rollout for ever: the run ends as soon as that is clear, and says
// so.
func TestAGateThatNobodySets(t *testing.T) {
	t.Parallel()
	sc := keptWorld(gatedLB(world.InjectNever))
	sc.Workloads[0].Deployment().Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "other.example.com/ready"}}
	r, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Settled || r.Streams[0].Failed > 0 || r.End > 60*sec || r.Stuck == nil {
		t.Errorf("settled %v at %s s, %d failed, %+v", r.Settled, r.End.Seconds(), r.Streams[0].Failed, r.Stuck)
	}
	if words := "waits for its readiness gate other.example.com/ready, which nothing in this input sets"; !strings.Contains(r.Unrest, words) {
		t.Errorf("%q does not say %q", r.Unrest, words)
	}
}

// A new pod that is never ready may yet become so, until progressDeadlineSeconds have passed.
func TestARolloutThatMissesItsDeadline(t *testing.T) {
	t.Parallel()
	sc := quiet(2, action(10*sec, world.RolloutRestart{Workload: "deployment/web"}))
	neverReady(sc)
	seconds := int32(100)
	sc.Workloads[0].Deployment().Spec.ProgressDeadlineSeconds = &seconds
	r, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Settled || r.Streams[0].Failed > 0 || r.End < 110*sec || r.End > 160*sec || r.Stuck == nil {
		t.Errorf("settled %v at %s s, %d failed, %+v", r.Settled, r.End.Seconds(), r.Streams[0].Failed, r.Stuck)
	}
	if words := "the rollout of web made no progress for 100 s (ProgressDeadlineExceeded): Kubernetes does not roll back by itself"; !strings.Contains(r.Unrest, words) {
		t.Errorf("%q does not say %q", r.Unrest, words)
	}
}

// A host port on as many nodes as pods: the new pod finds no node, and nothing more comes of it. The
// run ends half a minute later, and has not settled.
func TestARolloutWithoutANodeEndsSoonAndIsStuck(t *testing.T) {
	t.Parallel()
	sc := quiet(1, action(10*sec, world.RolloutRestart{Workload: "deployment/web"}))
	template(sc).Containers[0].Ports[0].HostPort = 80
	r, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Settled || r.End > 45*sec || r.Stuck == nil || r.Stuck.Path != "spec.template.spec.containers[0].ports[0].hostPort" || r.Streams[0].Failed > 0 {
		t.Errorf("settled %v at %s s, %d failed, %+v", r.Settled, r.End.Seconds(), r.Streams[0].Failed, r.Stuck)
	}
	sc.Nodes = append(sc.Nodes, sc.Nodes[0])
	sc.Nodes[1].Name = "node-2"
	if r, err = Run(sc, 1); err != nil || !r.Settled || r.Stuck != nil {
		t.Errorf("with a node more: %+v, %v", r.Stuck, err)
	}
}

// While the controller is paused what it has registered stays: half of the connections go to a pod
// that is gone, and that is its lateness.
func TestPausedLBController(t *testing.T) {
	t.Parallel()
	lb := gatedLB(world.InjectNever)
	lb.Check = world.HealthCheck{Probe: world.ProbePod, Interval: 600 * sec, Timeout: sec, Healthy: 1, Unhealthy: 3}
	sc := balanced(corev1.ServiceExternalTrafficPolicyCluster, lb)
	pause := world.Action{At: 5 * sec, For: 25 * sec, Operation: world.Component{Name: world.LBController, What: world.ComponentPause}}
	sc.Actions = append([]world.Action{pause}, sc.Actions...)
	lost, se, causes := overSeeds(t, sc, 20)
	// The pod goes at 10 s, the controller hears of it at 30 s: half of 20 s. A thousand of 2,000
	// connections a run, 20 runs: a standard error of sqrt(2000/4/20)/100 = 0.05 s.
	if math.Abs(lost-10) > 4*max(se, 0.05) {
		t.Errorf("lost %.2f s, want 10", lost)
	}
	if len(causes) != 1 || causes[ledger.Blame{Cause: ledger.StaleLB, Actor: ledger.LBController, Elsewhere: true}] == 0 {
		t.Errorf("%v", causes)
	}
	sc.Actions[0].For = 275 * sec / 10
	if lost, _, _ := overSeeds(t, sc, 20); math.Abs(lost-10) <= 4*0.05 {
		t.Errorf("a pause 10 %% longer costs %.2f s, too", lost)
	}
}
