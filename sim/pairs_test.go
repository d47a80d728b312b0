package sim

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The rules of docs/model/simulator.md 2 are tried in order. For each two that follow each other
// and can both occur on this path, worlds in pairs: one in which both could be argued for, where
// the first wins, and its twin, in which one detail differs and the other wins.
//
// Rules 1, 3, 7 and 8 need names, load balancers or L7 proxies: pairs_balancers_test.go. Rules 2
// and 9 need dead nodes, which there are none of. Rule 6 needs a flow that nothing answers: the
// end of a TCP server ends its connections, see TestTheEndOfAServerLeavesNoFlowBehind.

type pairWorld struct {
	name     string
	world    func() *world.Scenario
	from, to engine.Time // arrivals of the requests it is about
	pod      string      // that they reached: the last word of its name with the revision, "" for any
	want     ledger.Blame
	outcome  ledger.Outcome
}

func (c *pairWorld) run(t *testing.T) {
	t.Helper()
	r, err := Run(c.world(), 1)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range r.Ledger.Failures() {
		if f.Arrival < c.from || f.Arrival >= c.to || c.pod != "" && !strings.HasSuffix(f.Pod, c.pod) {
			continue
		}
		found++
		if f.Blame != c.want || f.Outcome != c.outcome {
			t.Errorf("at %s s (%s): %s %s/%s elsewhere %v", f.Arrival.Seconds(), f.Pod, f.Outcome, f.Blame.Cause, f.Blame.Actor, f.Blame.Elsewhere)
			return
		}
	}
	if found == 0 {
		for _, g := range r.Ledger.Groups() {
			t.Logf("%d %s %s/%s elsewhere %v, %s-%s %v", g.Count, g.Outcome, g.Blame.Cause, g.Blame.Actor, g.Blame.Elsewhere, g.First.Seconds(), g.Last.Seconds(), g.Pods)
		}
		t.Error("nothing failed in that time")
	}
}

func runPairs(t *testing.T, cases []pairWorld) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// quiet is plainWorld without its rollout, with 20 requests a second, an app that listens at
// once, and no delay at all: rules change at the moment of the action.
func quiet(replicas int, actions ...world.Action) *world.Scenario {
	sc := plainWorld(replicas, 0)
	sc.Traffic[0].Rate = 20 * 1000
	sc.Workloads[0].App.Start = engine.Constant(0)
	sc.Actions = actions
	return sc
}

// changed applies further details to a world.
func changed(build func() *world.Scenario, details ...func(*world.Scenario)) func() *world.Scenario {
	return func() *world.Scenario {
		sc := build()
		for _, d := range details {
			d(sc)
		}
		return sc
	}
}

func template(sc *world.Scenario) *corev1.PodSpec {
	return &sc.Workloads[0].Deployment().Spec.Template.Spec
}

// slowSync has rules follow the API 1 s late.
func slowSync(sc *world.Scenario) { sc.Latency.ProxySync = engine.Constant(sec) }

// noReadiness makes a pod Ready as soon as its container runs.
func noReadiness(sc *world.Scenario) { template(sc).Containers[0].ReadinessProbe = nil }

func grace(seconds int64) func(*world.Scenario) {
	return func(sc *world.Scenario) { template(sc).TerminationGracePeriodSeconds = &seconds }
}

func finishWithin(d engine.Time) func(*world.Scenario) {
	return func(sc *world.Scenario) { sc.Workloads[0].App.FinishWithin = d }
}

func action(at engine.Time, o world.Operation) world.Action {
	return world.Action{At: at, Operation: o}
}

func also(actions ...world.Action) func(*world.Scenario) {
	return func(sc *world.Scenario) { sc.Actions = append(sc.Actions, actions...) }
}

// liveness restarts the container, by a probe each second that fails at the first, while the
// dependency is down.
func liveness(sc *world.Scenario) {
	template(sc).Containers[0].LivenessProbe = &corev1.Probe{PeriodSeconds: 1, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1}
	sc.Workloads[0].App.DependsOn, sc.Workloads[0].App.LivenessFollows = []string{"db"}, true
}

// longRequests take 10 s, so that some are always in flight.
func longRequests(sc *world.Scenario) {
	sc.Workloads[0].App.Serve = engine.Constant(10 * sec)
	sc.Traffic[0].Timeout = 60 * sec
}

func blame(c ledger.Cause, a ledger.Actor, elsewhere bool) ledger.Blame {
	return ledger.Blame{Cause: c, Actor: a, Elsewhere: elsewhere}
}

// Rule 4 within itself: requests of 10 s are in flight when the process ends.
func TestPairsOfInFlightCauses(t *testing.T) {
	t.Parallel()
	deleted := func() *world.Scenario {
		sc := quiet(1, action(20*sec, world.Scale{Workload: "deployment/web", Replicas: 0}))
		longRequests(sc)
		grace(4)(sc)
		return sc
	}
	probed := func() *world.Scenario {
		sc := quiet(1, action(20*sec, world.Dependency{Name: "db", Down: true}))
		longRequests(sc)
		liveness(sc)
		noReadiness(sc)
		finishWithin(4 * sec)(sc)
		return sc
	}
	erring := func(sc *world.Scenario) { sc.Workloads[0].App.Errors = 1000 }
	runPairs(t, []pairWorld{
		{"killed / exit: its own patience ends with the grace period", changed(deleted, finishWithin(4*sec)), 15 * sec, 20 * sec, "",
			blame(ledger.KilledInFlight, ledger.Spec, false), ledger.Reset},
		{"killed / exit: its own patience ends earlier", changed(deleted, finishWithin(3900*ms)), 15 * sec, 20 * sec, "",
			blame(ledger.ExitInFlight, ledger.App, false), ledger.Reset},
		{"exit / liveness: a liveness kill is under way and the pod is deleted", changed(probed, also(action(23*sec, world.Scale{Workload: "deployment/web", Replicas: 0}))), 17 * sec, 20 * sec, "",
			blame(ledger.ExitInFlight, ledger.App, false), ledger.Reset},
		{"exit / liveness: it is not deleted", probed, 17 * sec, 20 * sec, "",
			blame(ledger.LivenessRestart, ledger.KubeletProbe, false), ledger.Reset},
		{"killed / liveness: a liveness kill is under way and the grace period of a deletion ends first",
			changed(probed, grace(2), finishWithin(8*sec), also(action(21500*ms, world.Scale{Workload: "deployment/web", Replicas: 0}))), 17 * sec, 20 * sec, "",
			blame(ledger.KilledInFlight, ledger.Spec, false), ledger.Reset},
		{"liveness / crashed: it crashes while a liveness kill is under way", changed(probed, also(action(22500*ms, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}}))), 17 * sec, 20 * sec, "",
			blame(ledger.LivenessRestart, ledger.KubeletProbe, false), ledger.Reset},
		{"liveness / crashed: it crashes by itself", func() *world.Scenario {
			sc := quiet(1, action(22500*ms, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}}))
			longRequests(sc)
			return sc
		}, 17 * sec, 20 * sec, "", blame(ledger.Crashed, ledger.App, false), ledger.Reset},
		{"exit / crashed: it crashes after SIGTERM", func() *world.Scenario {
			sc := quiet(1, action(22*sec, world.RolloutRestart{Workload: "deployment/web"}), action(42*sec, world.Scale{Workload: "deployment/web", Replicas: 0}))
			longRequests(sc)
			sc.Workloads[0].App.CrashAfter = 21 * sec // of the new pod: at 43 s and a bit
			return sc
		}, 35 * sec, 42 * sec, "r1 0", blame(ledger.ExitInFlight, ledger.App, false), ledger.Reset},
		{"exit / crashed: it is not told to end", func() *world.Scenario {
			sc := quiet(1, action(22*sec, world.RolloutRestart{Workload: "deployment/web"}))
			longRequests(sc)
			sc.Workloads[0].App.CrashAfter = 21 * sec
			sc.Until = 60 * sec
			return sc
		}, 35 * sec, 42 * sec, "r1 0", blame(ledger.Crashed, ledger.App, false), ledger.Reset},
		{"killed / app-error: an answer that would have been an error is cut", changed(deleted, erring), 15 * sec, 20 * sec, "",
			blame(ledger.KilledInFlight, ledger.Spec, false), ledger.Reset},
		{"killed / app-error: there is time for the error", changed(deleted, erring, grace(30)), 15 * sec, 20 * sec, "",
			blame(ledger.AppError, ledger.App, false), ledger.HTTP5xx},
	})
}

// pooled has one connection that requests of 1 ms ride, one each 50 ms.
func pooled(sc *world.Scenario) { sc.Traffic[0].KeepAlive, sc.Traffic[0].Clients = true, 1 }

// linger keeps the process 10 s after its end is due: it refuses meanwhile.
func linger(sc *world.Scenario) { sc.Workloads[0].App.Linger = 10 * sec }

const us = engine.Microsecond

// Rules 4, 5 and 10: a round trip is 0.5 ms, so a request written at 20 s reaches the server at
// 20.00025 s.
func TestPairsOfConnectionCauses(t *testing.T) {
	t.Parallel()
	onItsWay := func(term engine.Time) func() *world.Scenario {
		return func() *world.Scenario {
			sc := quiet(1, action(term, world.Scale{Workload: "deployment/web", Replicas: 0}))
			pooled(sc)
			grace(2)(sc)
			return sc
		}
	}
	ignores := func(sc *world.Scenario) {
		sc.Workloads[0].App.IgnoresSIGTERM, sc.Workloads[0].App.Listener = true, world.ListenerStays
	}
	written := func() *world.Scenario {
		sc := quiet(2, action(20*sec-100*us, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}})) // the one that the connection leads to
		pooled(sc)
		slowSync(sc)
		return sc
	}
	runPairs(t, []pairWorld{
		{"killed / keepalive-race: on its way when the process is killed, with its connections", changed(onItsWay(18*sec+100*us), ignores), 20 * sec, 20*sec + ms, "r0 0",
			blame(ledger.KilledInFlight, ledger.Spec, false), ledger.Reset},
		{"killed / keepalive-race: the process closes its idle connections before it ends", onItsWay(20*sec + 100*us), 20 * sec, 20*sec + ms, "r0 0",
			blame(ledger.KeepaliveRace, ledger.App, false), ledger.Reset},
		{"keepalive-race / stale-rules: it rides a connection that is being closed, and rules are stale", written, 20 * sec, 20*sec + ms, "r0 0",
			blame(ledger.KeepaliveRace, ledger.App, true), ledger.Reset},
		{"keepalive-race / stale-rules: it needs a new connection", changed(written, linger, func(sc *world.Scenario) { sc.Traffic[0].KeepAlive = false }), 20 * sec, 21*sec - ms, "r0 0",
			blame(ledger.StaleRules, ledger.ProxySync, true), ledger.Refused},
	})
}

// A server's end closes its connections, and a TCP client finds that out at once: no request
// rides one that nothing answers (rule 6), not even while the rules still name the pod.
func TestTheEndOfAServerLeavesNoFlowBehind(t *testing.T) {
	t.Parallel()
	sc := quiet(2, action(20*sec, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}}))
	sc.Traffic[0].KeepAlive, sc.Traffic[0].Clients = true, 50
	sc.Workloads[0].App.Serve = engine.Constant(200 * ms) // 20 connections are in use, to both pods
	sc.Traffic[0].Retries = 1
	r, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range r.Ledger.Groups() {
		// What fails twice was sent to the dead pod again by rules that do not know yet.
		if g.Blame.Cause != ledger.Crashed || g.Outcome != ledger.Refused {
			t.Errorf("%d %s %s", g.Count, g.Outcome, g.Blame.Cause)
		}
	}
	rescued := uint64(0)
	for b, n := range r.Ledger.Rescued() {
		if b.Cause != ledger.Crashed {
			t.Errorf("%d escaped %s", n, b.Cause)
		}
		rescued += n
	}
	if rescued == 0 {
		t.Error("nothing was in flight at the crash")
	}
}

// A server that shuts down closes its idle connections: the next request goes to another pod,
// and none is there to be killed 2 s later. A request each 1/7.25 s takes 100 ms: none is under
// way at 19.99 s, and one at 21.99 s. Reference: docs/model/propagation.md 5.
func TestAServerThatShutsDownClosesIdleConnections(t *testing.T) {
	t.Parallel()
	build := func() *world.Scenario {
		sc := quiet(2, action(19990*ms, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}})) // the one that the connection leads to
		pooled(sc)
		linger(sc)
		grace(2)(sc)
		sc.Traffic[0].Rate, sc.Workloads[0].App.Serve = 7250, engine.Constant(100*ms)
		return sc
	}
	r, err := Run(build(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if all := r.Ledger.All(); all.Failed > 0 || all.OK == 0 {
		t.Errorf("%+v", all)
	}
	ignores := func(sc *world.Scenario) {
		sc.Workloads[0].App.IgnoresSIGTERM, sc.Workloads[0].App.Listener = true, world.ListenerStays
	}
	runPairs(t, []pairWorld{{"one that does not has a request under way when it is killed", changed(build, ignores), 21 * sec, 22 * sec, "r0 0",
		blame(ledger.KilledInFlight, ledger.Spec, true), ledger.Reset}})
}

// A server that shuts down with an open listener closes its connections, too: when it has drained, or
// at once if its listener stays open until it ends. Its process then ends by itself, long before the
// end of its grace period, although its clients ask all the time. One that ignores SIGTERM serves them
// until SIGKILL. Reference: docs/model/propagation.md 5.
func TestAServerThatDrainsClosesItsConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		app         func(*world.App)
		least, most engine.Time
		how         event.Ending
	}{
		{"drains for 5 s", func(a *world.App) { a.Listener, a.DrainFor = world.ListenerDrains, 5*sec }, 25 * sec, 26 * sec, event.ByItself},
		{"listens until it ends", func(a *world.App) { a.Listener = world.ListenerStays }, 20 * sec, 21 * sec, event.ByItself},
		{"ignores SIGTERM", func(a *world.App) { a.IgnoresSIGTERM, a.Listener = true, world.ListenerStays }, 50 * sec, 51 * sec, event.Killed},
	} {
		sc := quiet(2, action(20*sec, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}})) // the one that the connections lead to
		sc.Traffic[0].KeepAlive, sc.Traffic[0].Clients, sc.Traffic[0].Retries = true, 4, 1
		sc.Workloads[0].App.Serve = engine.Constant(200 * ms) // at 20/s some request is always under way
		c.app(&sc.Workloads[0].App)
		ends := &journal{kind: event.Ended}
		if _, err := RunWith(sc, 1, Options{Events: ends.log()}); err != nil {
			t.Fatal(err)
		}
		if len(ends.events) != 1 || ends.events[0].Ending != c.how || ends.events[0].At < c.least || ends.events[0].At > c.most {
			t.Errorf("%s: %+v", c.name, ends.events)
		}
	}
}

// neverReady has pods that begin during the run never listen.
func neverReady(sc *world.Scenario) { sc.Workloads[0].App.Start = engine.Constant(engine.Hour) }

func slowStatus(sc *world.Scenario) { sc.Latency.StatusWrite = engine.Constant(sec) }

// unready has pods say that they are not ready, from 20 s on.
func unready(pods world.Pods, length engine.Time) world.Action {
	return world.Action{At: 20 * sec, For: length, Operation: world.SetReady{Pods: pods}}
}

// firstProbe has readiness follow the app's answer at the next probe, 1 s later at most.
func firstProbe(sc *world.Scenario) {
	template(sc).Containers[0].ReadinessProbe.FailureThreshold = 1
}

// local has two nodes with a pod each, reached from outside by policy Local.
func local(sc *world.Scenario) {
	node := sc.Nodes[0]
	node.Name = "node-2"
	sc.Nodes = append(sc.Nodes, node)
	svc := sc.Services[0].Service
	svc.Spec.Type, svc.Spec.ExternalTrafficPolicy = corev1.ServiceTypeNodePort, corev1.ServiceExternalTrafficPolicyLocal
	svc.Spec.Ports[0].NodePort = 30080
	sc.Traffic[0].External, sc.Traffic[0].Timeout = true, sec // no retransmission
}

// Rules 10 and 11.
func TestPairsOfRulesThatSendNowhere(t *testing.T) {
	t.Parallel()
	back := func() *world.Scenario {
		sc := quiet(1, unready(world.Pods{Workload: "web", Number: world.AllPods}, 10*sec)) // by 31 s the probe has seen it ready again
		firstProbe(sc)
		return sc
	}
	more := func() *world.Scenario { // the only pod is not ready, a second one begins at 25 s
		sc := quiet(1, unready(world.Pods{Workload: "web", Number: 0}, 30*sec), action(25*sec, world.Scale{Workload: "deployment/web", Replicas: 2}))
		firstProbe(sc)
		slowSync(sc)
		return sc
	}
	here := func() *world.Scenario {
		sc := quiet(2, unready(world.Pods{Workload: "web", Number: 0}, 10*sec))
		firstProbe(sc)
		local(sc)
		return sc
	}
	runPairs(t, []pairWorld{
		{"stale / no-endpoint: the rules reject, the API has a ready pod", changed(back, slowSync), 31 * sec, 32 * sec, "",
			blame(ledger.StaleRules, ledger.ProxySync, true), ledger.Refused},
		{"stale / no-endpoint: the kubelet has still to write that it is ready", changed(back, slowStatus), 31 * sec, 32 * sec, "",
			blame(ledger.NoEndpoint, ledger.Kubelet, false), ledger.Refused},
		{"stale / no-endpoint: nothing is ready anywhere", back, 25 * sec, 30 * sec, "",
			blame(ledger.NoEndpoint, ledger.Spec, false), ledger.Refused},
		{"stale / no-endpoint: the rules lack a second pod, which is ready", more, 26 * sec, 27 * sec, "",
			blame(ledger.StaleRules, ledger.ProxySync, true), ledger.Refused},
		{"stale / no-endpoint: the rules lack a second pod, which is not ready and would not help", changed(more, neverReady), 25 * sec, 27 * sec, "",
			blame(ledger.NoEndpoint, ledger.Spec, false), ledger.Refused},
		{"stale / no-local-endpoint: the rules drop, the API has a ready pod on this node", changed(here, slowSync), 31 * sec, 32 * sec, "",
			blame(ledger.StaleRules, ledger.ProxySync, true), ledger.Timeout},
		{"stale / no-local-endpoint: the kubelet has still to write that it is ready", changed(here, slowStatus), 31 * sec, 32 * sec, "",
			blame(ledger.NoLocalEndpoint, ledger.Kubelet, true), ledger.Timeout},
		{"stale / no-local-endpoint: the kubelet is late with a pod of another node, which would not help here", func() *world.Scenario {
			sc := quiet(3, unready(world.Pods{Workload: "web", Number: 1}, 30*sec), unready(world.Pods{Workload: "web", Number: 0}, 10*sec)) // web#2 is ready, beside web#0
			firstProbe(sc)
			local(sc)
			slowStatus(sc)
			sc.Traffic[0].Nodes = []string{"node-2"}
			return sc
		}, 31 * sec, 32 * sec, "",
			blame(ledger.NoLocalEndpoint, ledger.Spec, true), ledger.Timeout},
		{"stale / no-local-endpoint: the pod here is not ready, the other one does not help", here, 25 * sec, 30 * sec, "",
			blame(ledger.NoLocalEndpoint, ledger.Spec, true), ledger.Timeout},
	})
}

// withoutKEP1669 is a cluster whose rules never lead to a terminating pod.
func withoutKEP1669(sc *world.Scenario) {
	p, err := endpoints.ProfileFor(endpoints.Version{Major: 1, Minor: 27}, map[string]bool{"ProxyTerminatingEndpoints": false})
	if err != nil {
		panic(err)
	}
	sc.Kubernetes = p
}

// Rules 10, 11 and 12: a pod is deleted at 20 s, closes its listener and stays for 10 s. Its
// successor never listens.
func TestPairsOfPodsThatDoNotAccept(t *testing.T) {
	t.Parallel()
	gone := func(replicas int) func() *world.Scenario {
		return func() *world.Scenario {
			sc := quiet(replicas, action(20*sec, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}}))
			linger(sc)
			neverReady(sc)
			return sc
		}
	}
	runPairs(t, []pairWorld{
		{"stale / listener-closed: settled rules lead to a pod that accepts", changed(gone(2), slowSync), 20 * sec, 21 * sec, "r0 0",
			blame(ledger.StaleRules, ledger.ProxySync, true), ledger.Refused},
		{"stale / listener-closed: settled rules lead to a pod that does not accept", changed(gone(2), slowSync, also(action(20*sec, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 1}}))), 20 * sec, 21 * sec, "r0 0",
			blame(ledger.ListenerClosed, ledger.Spec, false), ledger.Refused},
		{"stale / crashed: settled rules lead to the pod that crashed", changed(gone(2), slowSync, also(action(20*sec, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 1}}))), 20 * sec, 21 * sec, "r0 1",
			blame(ledger.Crashed, ledger.App, false), ledger.Refused},
		{"no-endpoint / listener-closed: KEP-1669 leads to the last pod, which still serves", gone(1), 20 * sec, 21 * sec, "",
			blame(ledger.ListenerClosed, ledger.Spec, false), ledger.Refused},
		{"no-endpoint / listener-closed: without it the rules reject", changed(gone(1), withoutKEP1669), 20 * sec, 21 * sec, "",
			blame(ledger.NoEndpoint, ledger.Spec, false), ledger.Refused},
		{"no-local-endpoint / listener-closed: KEP-1669 leads to the last pod of the node", changed(gone(2), local), 20 * sec, 21 * sec, "",
			blame(ledger.ListenerClosed, ledger.Spec, true), ledger.Refused},
		{"no-local-endpoint: without it the rules drop, though the pod serves: nobody is late", changed(gone(2), local, withoutKEP1669, func(sc *world.Scenario) {
			sc.Workloads[0].App.Listener, sc.Workloads[0].App.DrainFor = world.ListenerDrains, 5*sec
		}), 20 * sec, 21 * sec, "",
			blame(ledger.NoLocalEndpoint, ledger.Spec, true), ledger.Timeout},
		{"no-local-endpoint / listener-closed: without it the rules drop", changed(gone(2), local, withoutKEP1669), 20 * sec, 21 * sec, "",
			blame(ledger.NoLocalEndpoint, ledger.Spec, true), ledger.Timeout},
	})
}

// Rules 8 and 11: a pod that is deleted at 20 s accepts for 10 s, and says that it is not ready: its node has nobody to send to, whether or not
// a load balancer could have left it by then.
func TestAPodThatSaysItIsNotReady(t *testing.T) {
	t.Parallel()
	draining := func() *world.Scenario {
		sc := balanced(corev1.ServiceExternalTrafficPolicyLocal, world.LoadBalancer{
			Check: world.HealthCheck{Probe: world.ProbeHealthPort, Interval: 30 * sec, Timeout: sec, Healthy: 1, Unhealthy: 2},
		})
		sc.Actions = []world.Action{action(20*sec, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}})}
		neverReady(sc)
		app := &sc.Workloads[0].App
		app.Listener, app.DrainFor, app.ReadinessFails = world.ListenerDrains, 10*sec, true
		probe := template(sc).Containers[0].ReadinessProbe
		probe.PeriodSeconds, probe.FailureThreshold = 1, 1
		return sc
	}
	stays := func(sc *world.Scenario) { sc.Workloads[0].App.ReadinessFails = false }
	direct := func(sc *world.Scenario) { sc.Traffic[0].LB = nil }
	runPairs(t, []pairWorld{
		{"it accepts still", draining, 24 * sec, 28 * sec, "", blame(ledger.NoLocalEndpoint, ledger.App, true), ledger.Timeout},
		{"it accepts still, and nobody could have left its node", changed(draining, direct), 24 * sec, 28 * sec, "",
			blame(ledger.NoLocalEndpoint, ledger.App, true), ledger.Timeout},
		{"it has ended", draining, 32 * sec, 35 * sec, "", blame(ledger.StaleLB, ledger.LBProbe, true), ledger.Timeout},
		{"it stayed ready, and has ended", changed(draining, stays), 32 * sec, 35 * sec, "", blame(ledger.StaleLB, ledger.LBProbe, true), ledger.Timeout},
	})
	r, err := Run(changed(draining, stays)(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Ledger.Failures() {
		if f.Arrival < 28*sec {
			t.Errorf("with a pod that stays ready: %+v", f)
		}
	}
}

// Rule 12 within itself: the only pod does not listen.
func TestPairsOfListeners(t *testing.T) {
	t.Parallel()
	started := func() *world.Scenario { // a new pod at 10 s, Ready before it listens
		sc := quiet(1, action(10*sec, world.RolloutRestart{Workload: "deployment/web"}))
		noReadiness(sc)
		linger(sc)
		neverReady(sc)
		return sc
	}
	listens := func(sc *world.Scenario) { sc.Workloads[0].App.Start = engine.Constant(0) }
	stopped := also(action(30*sec, world.Scale{Workload: "deployment/web", Replicas: 0}))
	crashes := also(action(30*sec, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}}))
	restarted := func() *world.Scenario { // by liveness at 21 s at the latest; it takes 5 s to listen again
		sc := quiet(1, world.Action{At: 20 * sec, For: 2 * sec, Operation: world.Dependency{Name: "db", Down: true}})
		noReadiness(sc)
		liveness(sc)
		template(sc).Containers[0].LivenessProbe.InitialDelaySeconds = 30
		sc.Workloads[0].App.Start = engine.Constant(5 * sec)
		return sc
	}
	runPairs(t, []pairWorld{
		{"not-listening-yet / listener-closed: told to end before it ever listened", changed(started, stopped), 30 * sec, 31 * sec, "r1 0",
			blame(ledger.NotListeningYet, ledger.App, false), ledger.Refused},
		{"not-listening-yet / listener-closed: it has listened", changed(started, stopped, listens), 30 * sec, 31 * sec, "r1 0",
			blame(ledger.ListenerClosed, ledger.Spec, false), ledger.Refused},
		{"not-listening-yet / liveness: restarted before it ever listened", changed(started, liveness), 12 * sec, 13 * sec, "r1 0",
			blame(ledger.NotListeningYet, ledger.App, false), ledger.Refused},
		{"not-listening-yet / liveness: it has listened", restarted, 22 * sec, 25 * sec, "r0 0",
			blame(ledger.LivenessRestart, ledger.KubeletProbe, false), ledger.Refused},
		{"not-listening-yet / crashed: it crashes before it ever listened", changed(started, crashes), 30 * sec, 31 * sec, "r1 0",
			blame(ledger.NotListeningYet, ledger.App, false), ledger.Refused},
		{"not-listening-yet / crashed: it has listened", changed(started, crashes, listens), 30 * sec, 31 * sec, "r1 0",
			blame(ledger.Crashed, ledger.App, false), ledger.Refused},
		{"listener-closed / liveness: told to end before it listens again after a restart", changed(restarted, linger, also(action(23*sec, world.Scale{Workload: "deployment/web", Replicas: 0}))), 24 * sec, 25 * sec, "r0 0",
			blame(ledger.ListenerClosed, ledger.Spec, false), ledger.Refused},
		{"listener-closed / liveness: not told to end", changed(restarted, linger), 24 * sec, 25 * sec, "r0 0",
			blame(ledger.LivenessRestart, ledger.KubeletProbe, false), ledger.Refused},
		{"liveness / crashed: it crashes before it listens again after a restart", changed(restarted, also(action(22500*ms, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}}))), 22500 * ms, 24 * sec, "r0 0",
			blame(ledger.LivenessRestart, ledger.KubeletProbe, false), ledger.Refused},
		{"liveness / crashed: it crashes, and was not restarted before", func() *world.Scenario {
			sc := restarted()
			sc.Actions = []world.Action{action(22500*ms, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}})}
			return sc
		}, 22500 * ms, 24 * sec, "r0 0", blame(ledger.Crashed, ledger.App, false), ledger.Refused},
	})
}

// Rules 12 and 13.
func TestPairsOfAnswers(t *testing.T) {
	t.Parallel()
	full := func() *world.Scenario { // one request of 10 s at a time, so it is always full
		sc := quiet(1, action(25*sec, world.Scale{Workload: "deployment/web", Replicas: 0}))
		longRequests(sc)
		sc.Workloads[0].App.Concurrency = 1
		return sc
	}
	stays := func(sc *world.Scenario) { sc.Workloads[0].App.Listener = world.ListenerStays }
	erring := func(sc *world.Scenario) { sc.Workloads[0].App.Errors = 1000 }
	roomy := func(sc *world.Scenario) { sc.Workloads[0].App.Concurrency = 0 }
	hasty := func(sc *world.Scenario) { sc.Traffic[0].Timeout = 9 * sec }
	runPairs(t, []pairWorld{
		{"listener-closed / overloaded: it is full, and has closed its listener", full, 25*sec + 10*ms, 26 * sec, "",
			blame(ledger.ListenerClosed, ledger.Spec, false), ledger.Refused},
		{"listener-closed / overloaded: it is full, and accepts until it ends", changed(full, stays), 25*sec + 10*ms, 26 * sec, "",
			blame(ledger.Overloaded, ledger.App, false), ledger.HTTP5xx},
		{"listener-closed / app-error: it answers with errors, and has closed its listener", changed(full, erring, roomy), 25*sec + 10*ms, 26 * sec, "",
			blame(ledger.ListenerClosed, ledger.Spec, false), ledger.Refused},
		{"listener-closed / app-error: it accepts", changed(full, erring, roomy), 12 * sec, 15 * sec, "",
			blame(ledger.AppError, ledger.App, false), ledger.HTTP5xx},
		{"overloaded / app-error: the error would have no room", changed(full, erring), 12 * sec, 15 * sec, "",
			blame(ledger.Overloaded, ledger.App, false), ledger.HTTP5xx},
		{"overloaded / app-error: the error comes too late", changed(full, erring, roomy, hasty), 12 * sec, 15 * sec, "",
			blame(ledger.Overloaded, ledger.App, false), ledger.Timeout},
		{"overloaded / app-error: it has answered with an error and could have answered elsewhere no better", changed(full, erring, roomy, func(sc *world.Scenario) {
			two := int32(2)
			sc.Workloads[0].Deployment().Spec.Replicas = &two
		}), 12 * sec, 14 * sec, "",
			blame(ledger.AppError, ledger.App, false), ledger.HTTP5xx},
		{"overloaded / app-error: another pod answers some", changed(full, roomy, func(sc *world.Scenario) {
			two := int32(2)
			sc.Workloads[0].Deployment().Spec.Replicas = &two
			sc.Workloads[0].App.Errors = 999
		}), 12 * sec, 14 * sec, "",
			blame(ledger.AppError, ledger.App, true), ledger.HTTP5xx},
	})
}

// Rule 10 has five actors: the first stage that has not got the news yet which would help.
func TestPairsOfStages(t *testing.T) {
	t.Parallel()
	two := func() *world.Scenario { // of three pods, deleted half a second apart; a sync takes 1 s
		sc := quiet(3, action(20*sec, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}}), action(20500*ms, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}}))
		linger(sc)
		neverReady(sc)
		slowSync(sc)
		return sc
	}
	other := func() *world.Scenario { // news takes half a second, and another Service changes, too
		sc := two()
		half := engine.Constant(500 * ms)
		sc.Nodes[0].Watch = &half
		sc.Actions[1] = action(20800*ms, world.Delete{Pods: world.Pods{Workload: "other", Number: 0}})
		w := sc.Workloads[0]
		w.Resource = w.Deployment().DeepCopy()
		svc := sc.Services[0].Service.DeepCopy()
		w.Deployment().Name, svc.Name, svc.Spec.ClusterIP, svc.Spec.ClusterIPs = "other", "other", "10.96.0.2", []string{"10.96.0.2"}
		labels := map[string]string{"app": "other"}
		w.Deployment().Spec.Selector.MatchLabels, w.Deployment().Spec.Template.Labels, svc.Spec.Selector = labels, labels, labels
		sc.Workloads = append(sc.Workloads, w)
		sc.Services = append(sc.Services, world.Service{Service: svc})
		return sc
	}
	slowSlices := func(sc *world.Scenario) { sc.Latency.SliceController = engine.Constant(800 * ms) }
	late := func(a ledger.Actor) ledger.Blame { return blame(ledger.StaleRules, a, true) }
	runPairs(t, []pairWorld{
		{"slice-controller / watch: not written yet", changed(other, slowSlices), 20500 * ms, 20800 * ms, "r0 0", late(ledger.SliceController), ledger.Refused},
		{"slice-controller / watch: written, and that of the other Service is not", changed(other, slowSlices), 20800 * ms, 21300 * ms, "r0 0", late(ledger.Watch), ledger.Refused},
		{"watch / proxy-sync: the news is being programmed, that of the other Service is on its way", other, 20800 * ms, 21300 * ms, "r0 0", late(ledger.ProxySync), ledger.Refused},
		{"proxy-wait / proxy-sync: it came after the sync under way had begun", two, 20500 * ms, 21 * sec, "r0 1", late(ledger.ProxyWait), ledger.Refused},
		{"proxy-wait / proxy-sync: the sync has begun that will bring it", two, 21 * sec, 22 * sec, "r0 1", late(ledger.ProxySync), ledger.Refused},
	})
}
