package sim

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// balanced is plainWorld with two nodes and two pods, one a node, behind a load balancer;
// pod 0 is deleted at 10 s, and exits at once.
func balanced(policy corev1.ServiceExternalTrafficPolicy, lb world.LoadBalancer) *world.Scenario {
	sc := plainWorld(2, sec)
	node := sc.Nodes[0]
	sc.Nodes = nil
	for i := range 2 {
		node.Name = "node-" + string(rune('1'+i))
		sc.Nodes = append(sc.Nodes, node)
	}
	svc := sc.Services[0].Service
	svc.Spec.Type, svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = corev1.ServiceTypeLoadBalancer, policy, 31000
	svc.Spec.Ports[0].NodePort = 30080
	lb.Service = "default/web"
	sc.Traffic[0].External, sc.Traffic[0].LB = true, &lb
	sc.Traffic[0].Rate = 100 * 1000
	sc.Traffic[0].Timeout = sec / 2 // no time for a second SYN, which may go elsewhere
	sc.Actions = []world.Action{{At: 10 * sec, Operation: world.Delete{Pods: world.Pods{Workload: "web", Number: 0}}}}
	return sc
}

// overSeeds is the mean of the seconds lost over seeds, with its standard error, and the causes.
func overSeeds(t *testing.T, sc *world.Scenario, seeds uint64) (mean, se float64, causes map[ledger.Blame]uint64) {
	t.Helper()
	if testing.Short() {
		t.Skipf("a mean over %d seeds", seeds)
	}
	causes = map[ledger.Blame]uint64{}
	var sum, squares float64
	for seed := range seeds {
		r, err := Run(sc, seed+1)
		if err != nil {
			t.Fatal(err)
		}
		x := float64(r.Streams[0].LostSeconds) / float64(sec)
		sum, squares = sum+x, squares+x*x
		for _, g := range r.Ledger.Groups() {
			causes[g.Blame] += g.Count
		}
	}
	n := float64(seeds)
	mean = sum / n
	return mean, math.Sqrt(max(0, squares/n-mean*mean) / n), causes
}

// Two nodes, one pod each, policy Local, no delay but the load balancer's and the start of the
// new pod (15 s). The pod closes its listener when it is deleted; its node's health port says
// 503 at once. Half of the connections go to that node until the load balancer has left it:
// after the rest of an interval, uniform in 0 to 3 s, and one interval more: 4.5 s in the mean,
// so 2.25 s of traffic. The deviation of U(0, 3)/2 is 0.433.
func TestDetectionCostsHalfOfTheTrafficForItsTime(t *testing.T) {
	t.Parallel()
	lb := world.LoadBalancer{Check: world.HealthCheck{Probe: world.ProbeHealthPort, Interval: 3 * sec, Timeout: sec, Healthy: 1, Unhealthy: 2}}
	const seeds = 400
	check := func(interval engine.Time) (off float64, causes map[ledger.Blame]uint64) {
		lb.Check.Interval = interval
		mean, se, causes := overSeeds(t, balanced(corev1.ServiceExternalTrafficPolicyLocal, lb), seeds)
		return math.Abs(mean-2.25) / max(se, 0.433/math.Sqrt(seeds)), causes
	}
	off, causes := check(3 * sec)
	if off > 4 {
		t.Errorf("off by %.1f standard errors", off)
	}
	want := ledger.Blame{Cause: ledger.StaleLB, Actor: ledger.LBProbe, Elsewhere: true}
	if len(causes) != 1 || causes[want] == 0 {
		t.Errorf("causes %v", causes)
	}
	if off, _ := check(33 * sec / 10); off <= 4 {
		t.Errorf("with an interval of 3.3 s it is off by only %.1f standard errors", off)
	}
}

// The same with a preStop of 7 s: the pod serves until the load balancer has left its node, 6 s
// after its deletion at the latest.
func TestPreStopOutlastsDetection(t *testing.T) {
	t.Parallel()
	lb := world.LoadBalancer{Check: world.HealthCheck{Probe: world.ProbeHealthPort, Interval: 3 * sec, Timeout: sec, Healthy: 1, Unhealthy: 2}}
	sc := balanced(corev1.ServiceExternalTrafficPolicyLocal, lb)
	sc.Workloads[0].Hooks = map[string]world.Hook{"app": {Kind: servers.HookSleep, Duration: engine.Constant(7 * sec)}}
	if mean, _, causes := overSeeds(t, sc, 50); mean != 0 {
		t.Errorf("lost %.3f s: %v", mean, causes)
	}
}

// Pods are the members: the controller deregisters a pod when it terminates, 2 s later, and new
// connections stop 5 s after that. Until then half of the connections meet a closed listener:
// 7 s of half of the traffic, whatever the seed.
func TestDeregistrationOfAPod(t *testing.T) {
	t.Parallel()
	lb := world.LoadBalancer{
		Target: world.TargetPods, Members: world.MembersReadyPods, Controller: engine.Constant(2 * sec), Propagation: engine.Constant(5 * sec), Drain: 300 * sec,
		Check: world.HealthCheck{Probe: world.ProbePod, Interval: 60 * sec, Timeout: 10 * sec, Healthy: 1, Unhealthy: 3},
	}
	mean, se, causes := overSeeds(t, balanced(corev1.ServiceExternalTrafficPolicyCluster, lb), 50)
	// Whether a connection goes left or right is chance: 700 connections a run, 50 runs: a
	// standard error of sqrt(700/4/50)/100 = 0.019 s.
	if math.Abs(mean-3.5) > 4*max(se, 0.019) {
		t.Errorf("lost %.3f s, want 3.5", mean)
	}
	for b := range causes {
		if b.Cause != ledger.StaleLB || b.Actor != ledger.LBController && b.Actor != ledger.LBPropagation {
			t.Errorf("%v", causes)
		}
	}
}

// All nodes fail their checks. A load balancer that fails closed has no target: the client's
// packets vanish; one that fails open sends everywhere, and nothing is lost.
func TestAllUnhealthy(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{true, false} {
		lb := world.LoadBalancer{FailOpen: open, Check: world.HealthCheck{Probe: world.ProbeHealthPort, Interval: sec, Timeout: sec, Healthy: 1, Unhealthy: 1}}
		sc := balanced(corev1.ServiceExternalTrafficPolicyLocal, lb)
		// Every pod terminates and serves on for 20 s: ready nowhere, served by the fallback.
		sc.Actions = []world.Action{{At: 10 * sec, Operation: world.Delete{Pods: world.Pods{Workload: "web", Number: world.AllPods}}}}
		sc.Workloads[0].Hooks = map[string]world.Hook{"app": {Kind: servers.HookSleep, Duration: engine.Constant(20 * sec)}}
		mean, _, causes := overSeeds(t, sc, 10)
		opened := 0 // how often it is said that a node is sent to because none is healthy
		if _, err := RunWith(sc, 1, Options{Events: told(func(e event.Event) {
			if e.OK && e.Fallback {
				opened++
			}
		}, event.Balancer)}); err != nil {
			t.Fatal(err)
		}
		if (opened > 0) != open {
			t.Errorf("fail-open %v: said %d times", open, opened)
		}
		lost := causes[ledger.Blame{Cause: ledger.NoHealthyTarget, Actor: ledger.Spec}] // nobody else could have answered: all of them go
		if open && mean != 0 || !open && lost == 0 {
			t.Errorf("fail-open %v: lost %.3f s, %v", open, mean, causes)
		}
	}
}

// A connection in use is cut when the draining of its member is over.
func TestDrainCut(t *testing.T) {
	t.Parallel()
	lb := world.LoadBalancer{Target: world.TargetPods, Members: world.MembersReadyPods, Drain: 5 * sec}
	sc := balanced(corev1.ServiceExternalTrafficPolicyCluster, lb)
	sc.Workloads[0].Hooks = map[string]world.Hook{"app": {Kind: servers.HookSleep, Duration: engine.Constant(20 * sec)}}
	sc.Workloads[0].App.Serve = engine.Constant(8 * sec)
	sc.Traffic[0].Timeout = 60 * sec
	_, _, causes := overSeeds(t, sc, 3)
	if causes[ledger.Blame{Cause: ledger.DrainCut, Actor: ledger.LBController, Elsewhere: true}] == 0 {
		t.Errorf("%v", causes)
	}
}

// draining is balanced with pods as members, which are told of within 2 s, left 5 s later and
// drained for 5 s; the pod that is deleted at 10 s serves on for 30 s. A request takes 10 s.
func draining(kind world.Connection) *world.Scenario {
	lb := world.LoadBalancer{
		Target: world.TargetPods, Members: world.MembersReadyPods, Controller: engine.Constant(2 * sec), Propagation: engine.Constant(5 * sec), Drain: 5 * sec,
	}
	sc := balanced(corev1.ServiceExternalTrafficPolicyCluster, lb)
	sc.Workloads[0].Hooks = map[string]world.Hook{"app": {Kind: servers.HookSleep, Duration: engine.Constant(30 * sec)}}
	grace(60)(sc)
	sc.Workloads[0].App.Serve = engine.Constant(10 * sec)
	t := &sc.Traffic[0]
	t.Timeout, t.Rate, t.Connection, t.Clients = 60*sec, 20_000*1000, kind, 100
	sc.Until = 26 * sec
	return sc
}

// New connections go to the pod until 17 s, each with an even chance, and those that it has are
// cut at 22 s: the requests that came between 12 s, and a round trip of 10 ms before, and 17 s,
// half of them: of 5.01 s x 20,000.
func TestDrainCutsWhatTakesLonger(t *testing.T) {
	t.Parallel()
	derivation{
		world: func() *world.Scenario { return draining(world.ConnectionOwn) },
		seeds: 2, measure: only(ledger.DrainCut), holds: chances(5.01*20_000, 0.5),
		what: "a drain 10 % longer", changed: func(sc *world.Scenario) { sc.Traffic[0].LB.Drain = 5500 * ms },
	}.test(t)
	derivation{
		world: func() *world.Scenario {
			sc := draining(world.ConnectionOwn)
			sc.Traffic[0].LB.Drain = engine.Never
			return sc
		},
		seeds: 2, measure: failed, holds: exactly(0),
		what: "a drain that ends", changed: func(sc *world.Scenario) { sc.Traffic[0].LB.Drain = 5 * sec },
	}.test(t)
}

// Connections that clients share are used until they are cut, at 22 s: all that was asked over
// them in the 10.01 s before is lost, and what is written in the 5 ms until the clients know; then
// they lead to the other pod. Of 100 connections as many led to the pod as chance has it: each
// loses 10.015 s of 200 requests a second.
func TestDrainCutsSharedConnections(t *testing.T) {
	t.Parallel()
	for _, kind := range []world.Connection{world.ConnectionHTTP2, world.ConnectionSession} {
		var cut float64
		derivation{
			world: func() *world.Scenario { return draining(kind) },
			seeds: 2,
			measure: func(r *Result) float64 {
				cut = float64(r.Streams[0].Cuts)
				return only(ledger.DrainCut)(r) / cut
			},
			holds: func(each float64, seeds int) bool {
				return math.Abs(cut-50) <= 4*5 && math.Abs(each-2003*float64(seeds)) <= float64(seeds)
			},
			what: "a request takes 10 % longer", changed: func(sc *world.Scenario) { sc.Workloads[0].App.Serve = engine.Constant(11 * sec) },
		}.test(t)
	}
}

// A proxy knows of six pods, of which three have gone and the controller does not hear of it for
// a minute. It meets one of them with chance 3/6; then it tries another one than that, which has
// gone with chance 2/5, and so on: with R retries a request fails with chance 1/2 x (2/5)^R.
func TestRetriesRescueWhatCombinatoricsSays(t *testing.T) {
	t.Parallel()
	world := func(retries int) *world.Scenario {
		sc := balanced(corev1.ServiceExternalTrafficPolicyCluster, world.LoadBalancer{
			Target: world.TargetPods, Members: world.MembersReadyPods, Controller: engine.Constant(60 * sec), Drain: engine.Never,
			Hash: world.HashRandom, Layer7: &world.Layer7{Retries: retries},
		})
		six := int32(6)
		sc.Workloads[0].Deployment().Spec.Replicas = &six
		linger(sc) // it refuses
		sc.Workloads[0].App.Linger = 60 * sec
		grace(60)(sc)
		sc.Actions = nil
		for i := range 3 {
			sc.Actions = append(sc.Actions, action(10*sec, world.Delete{Pods: world.Pods{Workload: "web", Number: i}}))
		}
		sc.Traffic[0].Rate, sc.Traffic[0].Timeout = 1000*1000, 5*sec
		sc.Until = 30 * sec
		return sc
	}
	const asked = 20 * 1000
	lost := func(retries int) float64 {
		r, err := Run(world(retries), 1)
		if err != nil {
			t.Fatal(err)
		}
		return of(ledger.StaleLB, ledger.HTTP5xx)(r)
	}
	holds := func(lost, p float64) bool { return math.Abs(lost-asked*p) <= 4*math.Sqrt(asked*p*(1-p)) }
	for retries, p := range []float64{0.5, 0.2, 0.08} {
		if n := lost(retries); !holds(n, p) {
			t.Errorf("%d retries: %.0f of %d lost, want %.0f", retries, n, asked, asked*p)
		}
		if n := lost(retries + 1); holds(n, p) {
			t.Errorf("%d retries: one more is not noticed", retries)
		}
	}
}

// The way of deregistration behind a proxy: it asks a pod that has gone for 7 s, and each second
// request then. Without a retry the client sees an HTTP error, with one nobody does.
func TestAProxyRetriesElsewhere(t *testing.T) {
	t.Parallel()
	for _, retries := range []int{0, 1} {
		lb := world.LoadBalancer{
			Target: world.TargetPods, Members: world.MembersReadyPods, Controller: engine.Constant(2 * sec), Propagation: engine.Constant(5 * sec), Drain: 300 * sec,
			Hash: world.HashRandom, Layer7: &world.Layer7{Retries: retries, ConnectTimeout: sec / 10, Ingress: true, WholeLists: true},
		}
		sc := balanced(corev1.ServiceExternalTrafficPolicyCluster, lb)
		r, err := Run(sc, 1)
		if err != nil {
			t.Fatal(err)
		}
		s := r.Streams[0]
		switch retries {
		case 0:
			if x := float64(s.LostSeconds) / float64(sec); math.Abs(x-3.5) > 0.5 {
				t.Errorf("lost %.2f s, want about 3.5", x)
			}
			for _, g := range r.Ledger.Groups() {
				if g.Outcome != ledger.HTTP5xx || g.Blame != (ledger.Blame{Cause: ledger.StaleLB, Actor: ledger.Ingress, Elsewhere: true}) && g.Blame.Cause != ledger.KeepaliveRace {
					t.Errorf("%s: %+v", g.Outcome, g.Blame)
				}
			}
		default:
			// What remains is what was under way over idle connections that the pod closed.
			for _, g := range r.Ledger.Groups() {
				if g.Blame.Cause != ledger.KeepaliveRace {
					t.Errorf("%d %s %+v", g.Count, g.Outcome, g.Blame)
				}
			}
			if s.Rescued < 250 {
				t.Errorf("%d rescued, want about 350", s.Rescued)
			}
		}
	}
}

// A proxy's controller holds back for 4 s after each call, as ingress-nginx does. The news of a new
// pod makes it act; that of the old pod, which is deleted 50 ms later, falls into the hold. Until
// then one of three targets is gone: a third of the traffic for 3.95 s, for each of two pods.
func TestAProxyThatHoldsBackLosesAShareOfTheTraffic(t *testing.T) {
	t.Parallel()
	check := func(hold engine.Time) float64 {
		lb := world.LoadBalancer{
			Target: world.TargetPods, Members: world.MembersReadyPods, ControllerHold: hold, Drain: engine.Never,
			Hash: world.HashRandom, NoTarget: world.NoTarget503, Layer7: &world.Layer7{ConnectTimeout: sec / 10, Ingress: true, WholeLists: true},
		}
		sc := balanced(corev1.ServiceExternalTrafficPolicyCluster, lb)
		sc.Latency.Controller = engine.Constant(50 * engine.Millisecond)
		sc.Actions = []world.Action{{At: 10 * sec, Operation: world.RolloutRestart{Workload: "default/web"}}}
		const seeds = 60
		mean, se, causes := overSeeds(t, sc, seeds)
		for b := range causes {
			if b.Cause != ledger.KeepaliveRace && b != (ledger.Blame{Cause: ledger.StaleLB, Actor: ledger.Ingress, Elsewhere: true}) {
				t.Errorf("%v", causes)
			}
		}
		// 790 requests a run, one in three fails.
		return math.Abs(mean-2*3.95/3) / max(se, math.Sqrt(790*2.0/9/seeds)/100)
	}
	if off := check(4 * sec); off > 4 {
		t.Errorf("off by %.1f standard errors", off)
	}
	if off := check(44 * sec / 10); off <= 4 {
		t.Errorf("with a hold of 4.4 s it is off by only %.1f standard errors", off)
	}
}

// Requests are lost between a proxy and its targets, which are near; where clients come to the
// nodes themselves the way from outside counts.
func TestAProxyIsNearItsTargets(t *testing.T) {
	t.Parallel()
	sc := balanced(corev1.ServiceExternalTrafficPolicyCluster, world.LoadBalancer{Target: world.TargetPods, Members: world.MembersReadyPods})
	if s := (&run{sc: sc}).specs()[0]; s.RTT != externalRTT || s.Proxy != nil {
		t.Errorf("%+v", s)
	}
	sc.Traffic[0].LB.Layer7 = &world.Layer7{}
	if s := (&run{sc: sc}).specs()[0]; s.RTT != externalRTT || s.Proxy.RTT != defaultRTT {
		t.Errorf("%+v, %+v", s, s.Proxy)
	}
}

// A node's service proxy that gets no time answers no probe, of its own health or of the
// Service's: its rules go on working, and load balancers leave the node when its probes have timed
// out often enough: the rest of an interval, one more, and the timeout of the second, 4 to 7 s. Nothing
// is lost: the pods are well, and the node sends to them all the time.
func TestAPausedProxyAnswersNoProbe(t *testing.T) {
	t.Parallel()
	for _, probe := range []world.Probe{world.ProbeHealthPort, world.ProbeProxyHealth} {
		sc := balanced(corev1.ServiceExternalTrafficPolicyLocal, world.LoadBalancer{
			Check: world.HealthCheck{Probe: probe, Interval: 3 * sec, Timeout: sec, Healthy: 1, Unhealthy: 2},
		})
		sc.Actions = []world.Action{{At: 10 * sec, For: 20 * sec, Operation: world.Component{Name: world.KubeProxyOf + "node-1", What: world.ComponentPause}}}
		var sent []engine.Time // when the load balancer sends to both again, or to one
		r, err := RunWith(sc, 1, Options{Events: told(func(e event.Event) {
			sent = append(sent, e.At)
		}, event.Sends)})
		if err != nil {
			t.Fatal(err)
		}
		if len(sent) != 3 || sent[1] < 14*sec || sent[1] > 17*sec || sent[2] < 30*sec || sent[2] > 33*sec || r.Streams[0].Failed != 0 {
			t.Errorf("probe %d: changes at %v, lost %d", probe, sent, r.Streams[0].Failed)
		}
	}
}

// A change that waits for a sync for twice the sync period makes a proxy unhealthy, and with it all
// health ports of its node (docs/model/kube-proxy.md 5.1 and 5.2): here one that comes while
// minSyncPeriod holds it back for 100 s.
func TestAProxyThatDoesNotKeepUpIsUnhealthy(t *testing.T) {
	t.Parallel()
	for _, probe := range []world.Probe{world.ProbeHealthPort, world.ProbeProxyHealth} {
		sc := balanced(corev1.ServiceExternalTrafficPolicyLocal, world.LoadBalancer{
			Check: world.HealthCheck{Probe: probe, Interval: sec, Timeout: sec, Healthy: 1, Unhealthy: 1},
		})
		for i := range sc.Nodes {
			sc.Nodes[i].Proxy.MinSyncPeriod = 100 * sec
		}
		sc.Actions = []world.Action{{At: 10 * sec, Operation: world.Scale{Workload: "web", Replicas: 3}}, {At: 20 * sec, Operation: world.Scale{Workload: "web", Replicas: 4}}}
		var none []engine.Time
		if _, err := RunWith(sc, 1, Options{Events: told(func(e event.Event) {
			if len(e.Members) == 0 {
				none = append(none, e.At)
			}
		}, event.Sends)}); err != nil {
			t.Fatal(err)
		}
		// The third pod is in the slices, not ready, within a second of its creation, and synced at
		// once. The fourth, a second after 20 s at the latest, waits.
		if len(none) != 1 || none[0] < 80*sec || none[0] > 82*sec {
			t.Errorf("probe %d: no member from %v on, want 80 to 82 s", probe, none)
		}
	}
}

// While it has no target, a proxy that has another Service to ask loses nothing for that; one that has none answers with errors.
func TestAProxyWithoutATargetAsksElsewhere(t *testing.T) {
	t.Parallel()
	for noTarget, loses := range map[world.NoTarget]bool{world.NoTarget503: true, world.NoTargetElsewhere: false} {
		for seed := range uint64(5) {
			sc := balanced(corev1.ServiceExternalTrafficPolicyCluster, world.LoadBalancer{
				Target: world.TargetPods, Members: world.MembersReadyPods, Drain: engine.Never,
				Hash: world.HashRandom, NoTarget: noTarget, Layer7: &world.Layer7{ConnectTimeout: sec / 10, Ingress: true, WholeLists: true},
			})
			sc.Actions = append(sc.Actions, world.Action{At: 10 * sec, Operation: world.Delete{Pods: world.Pods{Workload: "web", Number: 1}}})
			r, err := Run(sc, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			without := uint64(0)
			for _, g := range r.Ledger.Groups() {
				if g.Blame.Cause == ledger.NoHealthyTarget {
					without += g.Count
				}
			}
			if totals := r.Ledger.Totals(0); (without > 50) != loses || !loses && without > 0 {
				t.Errorf("no target %d: %d lost without one: %+v", noTarget, without, totals)
			}
		}
	}
}
