package sim

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Pairs of rules 1 to 3 and 6 to 9, in the manner of pairs_test.go. What cannot be argued for both
// ways: clients that resolve names (rule 1) never go through a load balancer (rules 3, 7 and 8) or
// another node (rules 2 and 9), and keep no connection (rules 4 to 6); races of idle connections
// (rule 5) are TCP's, flows that nothing answers (rule 6) UDP's; a pod on a node that goes is not
// simulated (rules 2 and 4).

// Rules 1 and 12: an address that DNS may give, and one that it may not.
func TestPairsOfNames(t *testing.T) {
	t.Parallel()
	crashed := func() *world.Scenario { // both resolved at 0 s; it takes 15 s to listen again
		sc := named()
		two := int32(2)
		sc.Workloads[0].Deployment().Spec.Replicas = &two
		sc.Actions = []world.Action{action(20*sec, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}})}
		sc.Traffic[0].Rate = 20 * 1000
		return sc
	}
	late := func(sc *world.Scenario) { sc.Latency.StatusWrite = engine.Constant(5 * sec) }
	runPairs(t, []pairWorld{
		{"stale-dns / crashed: DNS does not have it any more, the client does", crashed, 22 * sec, 24 * sec, "r0 0",
			blame(ledger.StaleDNS, ledger.DNSCache, true), ledger.Refused},
		{"stale-dns / crashed: the API has it as ready", changed(crashed, late), 22 * sec, 24 * sec, "r0 0",
			blame(ledger.Crashed, ledger.App, true), ledger.Refused},
	})
}

// removed is balanced with pods as members; the one that is deleted at 10 s is left at 17 s, and
// drained for so long.
func removed(drain engine.Time) func() *world.Scenario {
	return func() *world.Scenario {
		return balanced(corev1.ServiceExternalTrafficPolicyCluster, world.LoadBalancer{
			Target: world.TargetPods, Members: world.MembersReadyPods, Controller: engine.Constant(2 * sec), Propagation: engine.Constant(5 * sec), Drain: drain,
		})
	}
}

// Rules 3, 4 and 5.
func TestPairsOfCuts(t *testing.T) {
	t.Parallel()
	killed := func(sc *world.Scenario) { // at 22 s, with requests under way
		longRequests(sc)
		grace(12)(sc)
		sc.Workloads[0].App.IgnoresSIGTERM, sc.Workloads[0].App.Listener = true, world.ListenerStays
	}
	// One request each 50 ms, over the connection that was used last; at 21 s sharp one is written.
	written := func(sc *world.Scenario) {
		sc.Traffic[0].KeepAlive, sc.Traffic[0].Clients, sc.Traffic[0].Rate = true, 1, 20*1000
		sc.Actions[0].Operation = world.Delete{Pods: world.Pods{Workload: "web", Number: 1}} // where that connection leads
	}
	hook := func(d engine.Time) func(*world.Scenario) {
		return func(sc *world.Scenario) {
			grace(60)(sc)
			sc.Workloads[0].Hooks = map[string]world.Hook{"app": {Kind: servers.HookSleep, Duration: engine.Constant(d)}}
		}
	}
	runPairs(t, []pairWorld{
		{"drain-cut / killed: the drain ends a second before the grace period", changed(removed(4*sec), killed), 15 * sec, 17 * sec, "r0 0",
			blame(ledger.DrainCut, ledger.LBController, true), ledger.Reset},
		{"drain-cut / killed: it ends a second after it", changed(removed(6*sec), killed), 15 * sec, 17 * sec, "r0 0",
			blame(ledger.KilledInFlight, ledger.Spec, true), ledger.Reset},
		{"drain-cut / keepalive-race: written when the drain ends, and the server closes what is idle 2 ms later", changed(removed(4*sec), written, hook(11002*ms)), 21 * sec, 21*sec + ms, "",
			blame(ledger.DrainCut, ledger.LBController, true), ledger.Reset},
		{"drain-cut / keepalive-race: the drain goes on", changed(removed(60*sec), written, hook(11*sec)), 21 * sec, 21*sec + ms, "",
			blame(ledger.KeepaliveRace, ledger.App, true), ledger.Reset},
	})
}

// unwell has the load balancer find every node unwell from 12 s on, and take half a minute to find
// out that they are well again from 17 s on.
func unwell(policy corev1.ServiceExternalTrafficPolicy, probe world.Probe, open bool) func() *world.Scenario {
	return func() *world.Scenario {
		sc := balanced(policy, world.LoadBalancer{
			FailOpen: open, Check: world.HealthCheck{Probe: probe, Interval: sec, Timeout: sec, Healthy: 30, Unhealthy: 1},
		})
		firstProbe(sc)
		linger(sc)
		neverReady(sc)
		sc.Actions = []world.Action{{At: 12 * sec, For: 3 * sec, Operation: world.SetReady{Pods: world.Pods{Workload: "web", Number: world.AllPods}, Ready: false}}, action(20*sec, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}})}
		return sc
	}
}

// Rules 6, 7 and 8.
func TestPairsOfTargets(t *testing.T) {
	t.Parallel()
	const local, everywhere = corev1.ServiceExternalTrafficPolicyLocal, corev1.ServiceExternalTrafficPolicyCluster
	// Flows over UDP: the pod is gone at 21 s, and the sync that cleans up ends after 22 s.
	flows := func(sc *world.Scenario) {
		sc.Workloads[0].App.Linger = 0
		sc.Latency.ProxySync = engine.Constant(2 * sec)
		sc.Services[0].Service.Spec.Ports[0].Protocol = corev1.ProtocolUDP
		t := &sc.Traffic[0]
		t.Protocol, t.FixedPorts, t.Clients = endpoints.UDP, true, 50
	}
	runPairs(t, []pairWorld{
		{"flow-pinned / no-healthy-target: no member is well, and all get what comes", changed(unwell(everywhere, world.ProbeNodePort, true), flows), 21500 * ms, 22 * sec, "r0 0",
			blame(ledger.FlowPinned, ledger.ProxySync, true), ledger.Timeout},
		{"flow-pinned / no-healthy-target: none gets anything", changed(unwell(everywhere, world.ProbeNodePort, false), flows), 21500 * ms, 22 * sec, "",
			blame(ledger.NoHealthyTarget, ledger.LBProbe, true), ledger.Timeout},
		{"no-healthy-target / stale-lb: none gets anything", unwell(local, world.ProbeHealthPort, false), 20 * sec, 25 * sec, "",
			blame(ledger.NoHealthyTarget, ledger.LBProbe, true), ledger.Timeout},
		{"no-healthy-target / stale-lb: all get what comes, and one is well", unwell(local, world.ProbeHealthPort, true), 20 * sec, 20500 * ms, "",
			blame(ledger.StaleLB, ledger.LBProbe, true), ledger.Refused},
	})
}

// Rules 2 and 3, 2 and 8: what stands through a node that goes at some time after its taint at 10 s.
func TestPairsOfNodesThatGo(t *testing.T) {
	t.Parallel()
	// Deregistered at 17 s, drained until 21 s.
	drained := func(after engine.Time) func() *world.Scenario {
		return func() *world.Scenario {
			sc := forwarded(world.LoadBalancer{
				NodesLeave: world.NodesTainted, Controller: engine.Constant(2 * sec), Propagation: engine.Constant(5 * sec), Drain: 4 * sec,
			}, goes, after)
			longRequests(sc)
			return sc
		}
	}
	// Flows over UDP through a load balancer that asks nobody how a node is, and knows nothing of the crash.
	flows := func(probe world.Probe, fixed bool) func() *world.Scenario {
		return func() *world.Scenario {
			sc := forwarded(world.LoadBalancer{Check: world.HealthCheck{Probe: probe, Interval: 30 * sec, Timeout: sec, Healthy: 1, Unhealthy: 2}}, crashes, 0)
			sc.Services[0].Service.Spec.Ports[0].Protocol = corev1.ProtocolUDP
			t := &sc.Traffic[0]
			t.Protocol, t.FixedPorts, t.Clients = endpoints.UDP, fixed, 50
			return sc
		}
	}
	gone := blame(ledger.NodeGone, ledger.Spec, true)
	runPairs(t, []pairWorld{
		{"node-gone / drain-cut: it goes a second before the end of draining", drained(10 * sec), 15 * sec, 17 * sec, "", gone, ledger.Timeout},
		{"node-gone / drain-cut: a second after it", drained(12 * sec), 15 * sec, 17 * sec, "",
			blame(ledger.DrainCut, ledger.LBController, true), ledger.Reset},
		{"node-gone / stale-lb: a flow that stood", flows(world.ProbeProxyHealth, true), 10*sec + ms, 12 * sec, "", gone, ledger.Timeout},
		{"node-gone / stale-lb: each question is a flow of its own", flows(world.ProbeProxyHealth, false), 10*sec + ms, 12 * sec, "",
			blame(ledger.StaleLB, ledger.LBProbe, true), ledger.Timeout},
	})
}

// Rules 7, 8, 9 and 10: new connections to a node that is gone.
func TestPairsOfNodesThatAreGone(t *testing.T) {
	t.Parallel()
	crashed := func() *world.Scenario { return forwarded(checked(30*sec), crashes, 0) }
	closed := func() *world.Scenario { // no member is left
		sc := forwarded(world.LoadBalancer{NodesLeave: world.NodesTainted}, goes, 5*sec)
		for n := range 2 {
			sc.Nodes[n].Object = &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "ToBeDeletedByClusterAutoscaler"}}}}
		}
		return sc
	}
	// Clients of the node port of node-3, whose rules follow the API 1 s late; a pod goes at 10 s.
	direct := func(actions ...world.Action) func() *world.Scenario {
		return func() *world.Scenario {
			sc := forwarded(world.LoadBalancer{}, crashes, 0)
			sc.Traffic[0].LB, sc.Traffic[0].Nodes = nil, []string{"node-3"}
			for n := range sc.Nodes {
				sc.Nodes[n].Proxy.MinSyncPeriod = 0
			}
			linger(sc)
			neverReady(sc)
			slowSync(sc)
			sc.Actions = append([]world.Action{action(10*sec, world.Delete{Pods: world.Pods{Workload: "web", Number: 0}})}, actions...)
			return sc
		}
	}
	runPairs(t, []pairWorld{
		{"no-healthy-target / node-gone: nobody is left but nodes that are about to go", closed, 12 * sec, 20 * sec, "",
			blame(ledger.NoHealthyTarget, ledger.Spec, true), ledger.Timeout},
		{"stale-lb / node-gone: the others would be asked, and lead to pods that accept", crashed, 11 * sec, 13 * sec, "",
			blame(ledger.StaleLB, ledger.LBProbe, true), ledger.Timeout},
		{"node-gone / stale-rules: it is gone", direct(action(10*sec, world.CrashNode{Node: "node-3"})), 10*sec + ms, 11 * sec, "",
			blame(ledger.NodeGone, ledger.Spec, true), ledger.Timeout},
		{"node-gone / stale-rules: it is there", direct(), 10*sec + ms, 11 * sec, "r0 0",
			blame(ledger.StaleRules, ledger.ProxySync, true), ledger.Refused},
	})
	// The others lead nowhere, either: only what met the node that is gone timed out.
	sc := crashed()
	neverReady(sc)
	linger(sc)
	sc.Actions = append(sc.Actions, action(10*sec, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}}), action(10*sec, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 1}}))
	r, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range r.Ledger.Failures() {
		if f.Node == 2 && f.Arrival > 10*sec && f.Arrival < 11*sec {
			found++
			if f.Blame != blame(ledger.NodeGone, ledger.Spec, false) || f.Outcome != ledger.Timeout {
				t.Errorf("stale-lb / node-gone: nobody accepts: %+v", f)
			}
		}
	}
	if found == 0 {
		t.Error("nothing met the node that is gone")
	}
}

// Rules 8, 10 and 12.
func TestPairsOfStaleTargets(t *testing.T) {
	t.Parallel()
	slow := func(policy corev1.ServiceExternalTrafficPolicy, probe world.Probe) func() *world.Scenario {
		return func() *world.Scenario {
			sc := balanced(policy, world.LoadBalancer{Check: world.HealthCheck{Probe: probe, Interval: 30 * sec, Timeout: sec, Healthy: 1, Unhealthy: 2}})
			sc.Nodes[0].Proxy.MinSyncPeriod, sc.Nodes[1].Proxy.MinSyncPeriod = 0, 0
			linger(sc)
			neverReady(sc)
			slowSync(sc)
			return sc
		}
	}
	pods := func() *world.Scenario {
		sc := removed(60 * sec)()
		linger(sc)
		neverReady(sc)
		return sc
	}
	const local, everywhere = corev1.ServiceExternalTrafficPolicyLocal, corev1.ServiceExternalTrafficPolicyCluster
	runPairs(t, []pairWorld{
		{"stale-lb / stale-rules: the other node would be asked, this one has nobody else", slow(local, world.ProbeHealthPort), 10 * sec, 11 * sec, "r0 0",
			blame(ledger.StaleLB, ledger.LBProbe, true), ledger.Refused},
		{"stale-lb / stale-rules: every node is as good as any other", slow(everywhere, world.ProbeProxyHealth), 10 * sec, 11 * sec, "r0 0",
			blame(ledger.StaleRules, ledger.ProxySync, true), ledger.Refused},
		{"stale-lb / listener-closed: the other pod would be asked, and accepts", pods, 10 * sec, 12 * sec, "r0 0",
			blame(ledger.StaleLB, ledger.LBController, true), ledger.Refused},
		{"stale-lb / listener-closed: the other pod would be asked, and does not accept", changed(pods, also(action(10*sec, world.CrashPod{Pods: world.Pods{Workload: "web", Number: 1}}))), 10 * sec, 12 * sec, "r0 0",
			blame(ledger.ListenerClosed, ledger.Spec, false), ledger.Refused},
		{"stale-lb / stale-lb: the controller has removed it", pods, 12*sec + ms, 17 * sec, "r0 0",
			blame(ledger.StaleLB, ledger.LBPropagation, true), ledger.Refused},
	})
}
