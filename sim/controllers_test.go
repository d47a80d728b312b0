package sim

import (
	"math"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// behindController is plainWorld with two pods, and two pods of an ingress controller in front of
// them, which hear of a change of the endpoints 2 s later. A request takes 1 s to be answered.
func behindController(retries int) *world.Scenario {
	sc := plainWorld(2, 0)
	front := plainWorld(2, 0)
	d, svc := front.Workloads[0].Deployment(), front.Services[0].Service
	d.Name, svc.Name, svc.Spec.ClusterIP, svc.Spec.ClusterIPs = "ingress", "ingress", "10.96.0.2", []string{"10.96.0.2"}
	for _, labels := range []map[string]string{d.Spec.Selector.MatchLabels, d.Spec.Template.Labels, svc.Spec.Selector} {
		labels["app"] = "ingress"
	}
	sc.Workloads = append(front.Workloads, sc.Workloads...)
	sc.Services = append(front.Services, sc.Services...)
	t := &sc.Traffic[0]
	t.Rate, t.Timeout = 100*1000, 10*sec
	sc.Workloads[1].App.Serve = engine.Constant(sec)
	t.Ingress = &world.Ingress{Service: "default/ingress", Port: 80, Proxy: &world.LoadBalancer{
		Service: "default/web", Target: world.TargetPods, Members: world.MembersReadyPods, Controller: engine.Constant(2 * sec), Drain: engine.Never,
		Hash: world.HashRandom, NoTarget: world.NoTarget503, Layer7: &world.Layer7{Retries: retries, ConnectTimeout: sec, Ingress: true, WholeLists: true},
	}}
	return sc
}

// deleting is what a run loses when pods are deleted at 10 s.
func deleting(t *testing.T, sc *world.Scenario, pods world.Pods) (s StreamResult, causes map[ledger.Blame]uint64, outcomes map[ledger.Outcome]uint64) {
	t.Helper()
	sc.Actions = []world.Action{{At: 10 * sec, Operation: world.Delete{Pods: pods}}}
	r, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	causes, outcomes = map[ledger.Blame]uint64{}, map[ledger.Outcome]uint64{}
	for _, g := range r.Ledger.Groups() {
		causes[g.Blame] += g.Count
		outcomes[g.Outcome] += g.Count
	}
	return r.Streams[0], causes, outcomes
}

// An app's pod closes its listener when it is deleted, and the controller's pods go on asking it
// for 2 s: half of the requests meet a closed port, 100 of 200. A retry asks the other pod.
func TestARolloutBehindAController(t *testing.T) {
	t.Parallel()
	ingress := ledger.Blame{Cause: ledger.StaleLB, Actor: ledger.Ingress, Elsewhere: true}
	s, causes, outcomes := deleting(t, behindController(0), world.Pods{Workload: "web", Number: 0})
	// Which of the two is asked is chance: a standard error of sqrt(200/4) = 7.
	if n := causes[ingress]; math.Abs(float64(n)-100) > 4*7 || s.Failed != n || outcomes[ledger.HTTP5xx] != n {
		t.Errorf("lost %d: %v %v, want about 100 http-5xx", s.Failed, causes, outcomes)
	}
	s, causes, _ = deleting(t, behindController(1), world.Pods{Workload: "web", Number: 0})
	if s.Failed != 0 || math.Abs(float64(s.Rescued)-100) > 4*7 {
		t.Errorf("%d rescued, lost %d: %v, want about 100 and none", s.Rescued, s.Failed, causes)
	}
}

// A controller's pod that finishes what it has ends when the app has answered; one that exits at
// once takes half of the requests under way along, 100/s for 1 s: 50. Its app is well all the time.
func TestAControllersPodEnds(t *testing.T) {
	t.Parallel()
	sc := behindController(1)
	if s, causes, _ := deleting(t, sc, world.Pods{Workload: "ingress", Number: 0}); s.Failed != 0 {
		t.Errorf("lost %d: %v", s.Failed, causes)
	}
	sc.Workloads[0].App.InFlight = world.InFlightCut
	_, causes, outcomes := deleting(t, sc, world.Pods{Workload: "ingress", Number: 0})
	exit := ledger.Blame{Cause: ledger.ExitInFlight, Actor: ledger.App, Elsewhere: true}
	if n := causes[exit]; math.Abs(float64(n)-50) > 4*5 || len(causes) != 1 || outcomes[ledger.Reset] != n {
		t.Errorf("%v %v, want about 50 exit-in-flight", causes, outcomes)
	}
}

// An app's pod that exits at once takes half of the requests along: clients see an HTTP error of
// the controller. One that asks another pod after a reset loses nothing.
func TestAnAppsPodEndsBehindAController(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		sc := behindController(2)
		sc.Workloads[1].App.InFlight = world.InFlightCut
		if again {
			sc.Traffic[0].Ingress.Proxy.Layer7.RetryOn = world.RetryReset
		}
		s, causes, outcomes := deleting(t, sc, world.Pods{Workload: "web", Number: 0})
		switch n := outcomes[ledger.HTTP5xx]; {
		case again && s.Failed != 0:
			t.Errorf("lost %d: %v", s.Failed, causes)
		case !again && (math.Abs(float64(n)-50) > 4*5 || n != s.Failed):
			t.Errorf("%v %v, want about 50 http-5xx", causes, outcomes)
		}
	}
}

// Nothing is ready behind the controller: it answers 503 by itself, to everybody, and clients
// keep their connections to it.
func TestAControllerWithoutEndpoints(t *testing.T) {
	t.Parallel()
	sc := behindController(2)
	sc.Traffic[0].KeepAlive, sc.Traffic[0].Clients = true, 200
	_, causes, outcomes := deleting(t, sc, world.Pods{Workload: "web", Number: world.AllPods})
	blame := ledger.Blame{Cause: ledger.NoHealthyTarget, Actor: ledger.Spec}
	if causes[blame] < 1000 || outcomes[ledger.HTTP5xx] < 1000 || len(outcomes) != 1 {
		t.Errorf("%v %v", causes, outcomes)
	}
}

// The controller's pods wait for a connection to pods that answer nobody, and one of them exits
// meanwhile: what waits there is lost with it, and what waits at the other gets its 504.
func TestAControllersPodEndsWhileItWaits(t *testing.T) {
	t.Parallel()
	sc := behindController(0)
	sc.Kubernetes.Options.TerminatingFallback = endpoints.FallbackAll
	sc.Workloads[0].App.InFlight = world.InFlightCut
	sc.Traffic[0].Ingress.Proxy.Controller = engine.Constant(20 * sec)
	sc.Traffic[0].Ingress.Proxy.Layer7.ConnectTimeout = 4 * sec
	sc.Workloads[1].App.Serve = engine.Constant(ms)
	sc.Actions = []world.Action{{At: 10 * sec, Operation: world.Delete{Pods: world.Pods{Workload: "web", Number: world.AllPods}}}, {At: 14 * sec, Operation: world.Delete{Pods: world.Pods{Workload: "ingress", Number: 0}}}}
	r, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[ledger.Cause]uint64{}
	for _, g := range r.Ledger.Groups() {
		counts[g.Blame.Cause] += g.Count
	}
	// At 14 s what came in the last 4 s waits, half of it at each pod: 200 of 400.
	if n := counts[ledger.ExitInFlight]; math.Abs(float64(n)-200) > 4*10 {
		t.Errorf("%v, want about 200 exit-in-flight", counts)
	}
}

// A controller of load balancers that gets no time is no business of an ingress controller's pods.
func TestAPausedBalancersControllerIsNotTheIngress(t *testing.T) {
	t.Parallel()
	lost := func(actions ...world.Action) uint64 {
		sc := behindController(0)
		sc.Actions = slices.Concat(actions, []world.Action{{At: 10 * sec, Operation: world.Delete{Pods: world.Pods{Workload: "web", Number: 0}}}})
		r, err := Run(sc, 1)
		if err != nil {
			t.Fatal(err)
		}
		return r.Streams[0].Failed
	}
	pause := world.Action{At: 9 * sec, For: 20 * sec, Operation: world.Component{Name: world.LBController, What: world.ComponentPause}}
	if with, without := lost(pause), lost(); with != without {
		t.Errorf("lost %d with the pause, %d without", with, without)
	}
}

// Where there is no load balancer the journal has nothing of one: each of the controller's two pods says to whom it
// sends, 2 s after the app's pod was deleted.
func TestTheJournalTellsOfControllersPodsAndOfNoLoadBalancer(t *testing.T) {
	t.Parallel()
	sends, balancers := &journal{kind: event.Ingress}, &journal{kind: event.Balancer}
	for _, j := range []*journal{sends, balancers} {
		sc := behindController(0)
		sc.Actions = []world.Action{{At: 10 * sec, Operation: world.Delete{Pods: world.Pods{Workload: "web", Number: 0}}}}
		if _, err := RunWith(sc, 1, Options{Events: j.log()}); err != nil {
			t.Fatal(err)
		}
	}
	pods := map[api.PodID]bool{}
	for _, e := range sends.events {
		if e.At == 12*sec && len(e.Targets) == 1 {
			pods[e.Pod] = true
		}
	}
	if len(pods) != 2 || len(balancers.events) > 0 {
		t.Errorf("at 12 s %d pods send to one pod alone, want 2; %d events of load balancers: %+v", len(pods), len(balancers.events), sends.events)
	}
}
