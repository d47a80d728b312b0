package sim

import (
	"math"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What happens to the third node.
var (
	crashes = world.CrashNode{Node: "node-3"}
	goes    = world.ScaleDownNode{Node: "node-3"}
)

// forwarded is balanced with a third node, which runs no pod and forwards a third of the connections; it
// is what the action at 10 s is about.
func forwarded(lb world.LoadBalancer, o world.Operation, after engine.Time) *world.Scenario {
	sc := balanced(corev1.ServiceExternalTrafficPolicyCluster, lb)
	node := sc.Nodes[0]
	node.Name = "node-3"
	sc.Nodes = append(sc.Nodes, node)
	sc.Actions = []world.Action{{At: 10 * sec, For: after, Operation: o}}
	return sc
}

// checked has the proxies' health checked each so often, and two failures decide.
func checked(interval engine.Time) world.LoadBalancer {
	return world.LoadBalancer{Check: world.HealthCheck{Probe: world.ProbeProxyHealth, Interval: interval, Timeout: sec, Healthy: 1, Unhealthy: 2}}
}

// One of three nodes dies. A third of the new connections is lost until two checks have failed: after the
// rest of an interval, uniform in 0 to 3 s, an interval more and the timeout of 1 s: 5.5 s in the mean,
// 1.833 s of traffic. A client with the patience for SYNs after 1 and 3 s loses what it sends up to 3 s
// before the load balancer has left: 2.5 s in the mean, 0.833 s of traffic. The deviation of a run is
// that of U(0, 3)/3, 0.289 s, and of chance, at most 0.11 s.
func TestACrashedNodeCostsItsShareForTheTimeOfDetection(t *testing.T) {
	t.Parallel()
	const seeds = 200
	off := func(interval, timeout engine.Time, want float64) float64 {
		sc := forwarded(checked(interval), crashes, 0)
		sc.Traffic[0].Timeout = timeout
		mean, se, causes := overSeeds(t, sc, seeds)
		for b := range causes { // order: each for itself
			if b != blame(ledger.StaleLB, ledger.LBProbe, true) && b != blame(ledger.NodeGone, ledger.Spec, true) {
				t.Errorf("%v", b)
			}
		}
		return math.Abs(mean-want) / max(se, 0.309/math.Sqrt(seeds))
	}
	for timeout, want := range map[engine.Time]float64{sec / 2: 5.5 / 3, 5 * sec: 2.5 / 3} { // order: each for itself
		if off := off(3*sec, timeout, want); off > 4 {
			t.Errorf("timeout %s: off by %.1f standard errors", timeout.Duration(), off)
		}
		if off := off(33*sec/10, timeout, want); off <= 4 {
			t.Errorf("timeout %s: with an interval of 3.3 s it is off by only %.1f standard errors", timeout.Duration(), off)
		}
	}
}

// Cluster Autoscaler's taint has the load balancer leave before the machine goes, from the version on
// that looks at it; before that it is as if the node had crashed.
func TestTheTaintIsSeenInTimeSinceKEP3836(t *testing.T) {
	t.Parallel()
	for minor, lost := range map[int]bool{36: false, 30: false, 29: true} { // order: each for itself
		sc := forwarded(checked(3*sec), goes, 10*sec)
		version := endpoints.Version{Major: 1, Minor: minor}
		profile, err := endpoints.ProfileFor(version, nil)
		if err != nil {
			t.Fatal(err)
		}
		sc.Kubernetes = profile
		if mean, _, causes := overSeeds(t, sc, 20); mean > 0 != lost {
			t.Errorf("1.%d: lost %.3f s: %v", minor, mean, causes)
		}
	}
}

// A machine that runs on after the cloud's call forwards meanwhile: a load balancer that would have left too late, with checks 10 s apart,
// has the time. Reference: docs/model/controllers.md 8 Stopping.
func TestAMachineThatRunsOnForwards(t *testing.T) {
	t.Parallel()
	for stop, lost := range map[engine.Time]bool{0: true, 30 * sec: false} { // order: each for itself
		sc := forwarded(checked(10*sec), goes, 10*sec)
		sc.MachineStop = stop
		if mean, _, causes := overSeeds(t, sc, 20); mean > 0 != lost {
			t.Errorf("%s: lost %.3f s: %v", stop.Duration(), mean, causes)
		}
	}
}

// Whose new connections leave the node when: by what each controller looks at.
func TestWhenALoadBalancerLeavesANode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		leave    world.NodesLeave
		announce world.Announce
		does     world.Operation
		from, to engine.Time // the controller is told then; never: 0
	}{
		{"the service controller does not look at the taint", world.NodesDeleted, 0, goes, 70 * sec, 70 * sec},
		{"ingress-gce does", world.NodesTainted, 0, goes, 10 * sec, 10 * sec},
		{"and the AWS controller", world.NodesNotReady, 0, goes, 10 * sec, 10 * sec},
		{"MetalLB does not", world.NodesSilent, world.AnnounceBGP, goes, 70 * sec, 70 * sec},
		{"a node that crashes keeps its object", world.NodesDeleted, 0, crashes, 0, 0},
		{"and has no taint of the autoscaler's", world.NodesTainted, 0, crashes, 0, 0},
		{"it is not ready any more", world.NodesNotReady, 0, crashes, 50 * sec, 65 * sec},
		{"MetalLB's speakers notice", world.NodesSilent, world.AnnounceL2, crashes, 10 * sec, 10 * sec},
		{"routers wait for the hold time", world.NodesSilent, world.AnnounceBGP, crashes, 70 * sec, 100 * sec},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const late = 7 * sec
			sc := forwarded(world.LoadBalancer{
				NodesLeave: c.leave, Announce: c.announce, Controller: engine.Constant(2 * sec), Propagation: engine.Constant(5 * sec), Drain: engine.Never,
			}, c.does, 0)
			if c.does == goes {
				sc.Actions[0].For = 60 * sec
			}
			if c.announce == world.AnnounceL2 { // the one that answers
				sc.Actions[0].Operation = world.CrashNode{Node: "node-" + string(rune('1'+answering(t, sc)))}
				sc.Workloads[0].Deployment().Spec.Replicas = new(int32)
			}
			gone := slices.IndexFunc(sc.Nodes, func(n world.Node) bool { return n.Name == sc.Actions[0].Target() })
			left := engine.Time(0)
			_, err := RunWith(sc, 1, Options{Events: told(func(e event.Event) {
				if left == 0 && !slices.Contains(e.Members, gone) {
					left = e.At
				}
			}, event.Sends)})
			if err != nil {
				t.Fatal(err)
			}
			if c.to == 0 && left != 0 || c.to != 0 && (left < c.from+late || left > c.to+late) {
				t.Errorf("left at %s s, want %s to %s s", left.Seconds(), (c.from + late).Seconds(), (c.to + late).Seconds())
			}
		})
	}
}

// A node that joins during the run becomes a target, after what any new one takes, whoever looks; its successor has been left by then.
// Karpenter's taint is one for the AWS controller, and its label for all that go by the API. Reference: docs/model/controllers.md 8.1 and 8.3.
func TestALoadBalancerHearsOfANewNode(t *testing.T) {
	t.Parallel()
	karpenter := world.Consolidate{Nodes: []string{"node-3"}, Replacements: 1, Provision: 30 * sec, Budget: world.NodeBudget{Number: 1}}
	for _, c := range []struct {
		name     string
		leave    world.NodesLeave
		announce world.Announce
		left     engine.Time
		o        world.Operation
	}{
		{"the service controller: by the label", world.NodesDeleted, 0, 40 * sec, karpenter},
		{"ingress-gce: by the label", world.NodesTainted, 0, 40 * sec, karpenter},
		{"the AWS controller: by the taint", world.NodesNotReady, 0, 10 * sec, karpenter},
		{"MetalLB: by the speaker", world.NodesSilent, world.AnnounceBGP, 42 * sec, karpenter},
		{"the service controller, of a cordon: by its end", world.NodesDeleted, 0, 0, world.UpgradePool{Provider: world.PoolGKE, Surge: 1, Provision: 30 * sec, Nodes: []string{"node-1"}}},
	} {
		sc := forwarded(world.LoadBalancer{
			NodesLeave: c.leave, Announce: c.announce, Controller: engine.Constant(2 * sec), Propagation: engine.Constant(5 * sec), Registration: engine.Constant(3 * sec), Drain: engine.Never,
		}, c.o, 0)
		sc.Muster()
		var joined, left engine.Time
		_, err := RunWith(sc, 1, Options{Events: told(func(e event.Event) {
			switch {
			case joined == 0 && slices.Contains(e.Members, 3):
				joined = e.At
			case left == 0 && !slices.Contains(e.Members, 2):
				left = e.At
			}
			if e.At < 40*sec && slices.Contains(e.Members, 3) {
				t.Errorf("%s: it is a target at %s s", c.name, e.At.Seconds())
			}
		}, event.Sends)})
		if err != nil {
			t.Fatal(err)
		}
		within := func(got, want engine.Time) bool { return got >= want && got < want+500*ms }
		if !within(joined, 45*sec) || c.left > 0 && !within(left, c.left+7*sec) {
			t.Errorf("%s: joined %s, left %s, want %s", c.name, joined.Seconds(), left.Seconds(), (c.left + 7*sec).Seconds())
		}
	}
}

// Where no new node comes, which a controller would look at, too, the label alone has it leave a node that Karpenter begins to empty, long
// before its pods are gone and the Node with them.
func TestTheLabelOfKarpenterIsHeardBeforeTheNodeIsGone(t *testing.T) {
	t.Parallel()
	sc := forwarded(world.LoadBalancer{
		NodesLeave: world.NodesDeleted, Controller: engine.Constant(2 * sec), Propagation: engine.Constant(5 * sec), Registration: engine.Constant(3 * sec), Drain: engine.Never,
	}, world.Consolidate{Nodes: []string{"node-3"}, Budget: world.NodeBudget{Number: 1}}, 0)
	w := &sc.Workloads[0] // a pod on each node, which takes its time to go
	w.Resource = world.WithReplicas(w.Resource, 3)
	w.App.IgnoresSIGTERM, w.App.Listener = true, world.ListenerStays
	var left engine.Time
	if _, err := RunWith(sc, 1, Options{Events: told(func(e event.Event) {
		if left == 0 && !slices.Contains(e.Members, 2) {
			left = e.At
		}
	}, event.Sends)}); err != nil {
		t.Fatal(err)
	}
	if left < 17*sec || left > 18*sec {
		t.Errorf("it is left at %s s, want 7 s after 10 s", left.Seconds())
	}
}

// answering is the node that gets everything at first.
func answering(t *testing.T, sc *world.Scenario) int {
	t.Helper()
	node := -1
	quiet := *sc
	quiet.Actions = nil
	_, err := RunWith(&quiet, 1, Options{Events: told(func(e event.Event) {
		node = e.Members[0]
	}, event.Sends)})
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// Whatever leads through a node that goes is never answered: not the requests under way, not what is
// written over connections that stand. Each client finds out by its own timeout, and goes elsewhere.
func TestWhatStandsThroughANodeDiesWithIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		world  func(*world.Scenario)
		within engine.Time // after the node is gone, of the last arrival that is lost
	}{
		{"requests under way", func(sc *world.Scenario) {
			longRequests(sc)
			sc.Actions[0].For = 5 * sec
		}, 0},
		{"connections of a pool", func(sc *world.Scenario) { sc.Traffic[0].KeepAlive, sc.Traffic[0].Clients = true, 30 }, 10 * sec},
		{"HTTP/2", func(sc *world.Scenario) {
			sc.Traffic[0].Connection, sc.Traffic[0].Clients = world.ConnectionHTTP2, 30
		}, 6 * sec},
		{"sessions", func(sc *world.Scenario) {
			sc.Traffic[0].Connection, sc.Traffic[0].Clients = world.ConnectionSession, 30
		}, 6 * sec},
		{"flows over UDP", func(sc *world.Scenario) {
			sc.Services[0].Service.Spec.Ports[0].Protocol = corev1.ProtocolUDP
			t := &sc.Traffic[0]
			t.Protocol, t.FixedPorts, t.Clients = endpoints.UDP, true, 50
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// The load balancer has left the node before, and does not mind flows that stand.
			lb := world.LoadBalancer{NodesLeave: world.NodesTainted, Drain: engine.Never}
			sc := forwarded(lb, goes, 10*sec)
			sc.Traffic[0].Timeout = 5 * sec
			c.world(sc)
			r, err := Run(sc, 1)
			if err != nil {
				t.Fatal(err)
			}
			want := blame(ledger.NodeGone, ledger.Spec, true)
			list := r.Ledger.Failures()
			if c.name == "flows over UDP" { // they are not pinned to the load balancer's choice of before
				if len(list) != 0 {
					t.Errorf("%d failed, the first %+v", len(list), list[0])
				}
				return
			}
			if len(list) == 0 {
				t.Fatal("nothing failed")
			}
			for _, f := range list {
				if f.Blame != want || f.Outcome != ledger.Timeout || f.Arrival > 20*sec+c.within || f.End-f.Arrival != sc.Traffic[0].Timeout {
					t.Errorf("%s to %s s: %s %s/%s elsewhere %v", f.Arrival.Seconds(), f.End.Seconds(), f.Outcome, f.Blame.Cause, f.Blame.Actor, f.Blame.Elsewhere)
					return
				}
			}
		})
	}
}

// Clients that go to node ports themselves have nobody who leaves the node for them.
func TestClientsOfANodePortGoOnAskingANodeThatIsGone(t *testing.T) {
	t.Parallel()
	sc := forwarded(world.LoadBalancer{}, crashes, 0)
	sc.Traffic[0].LB = nil
	mean, _, causes := overSeeds(t, sc, 10)
	if len(causes) != 1 || causes[blame(ledger.NodeGone, ledger.Spec, true)] == 0 || mean < 8 {
		t.Errorf("lost %.3f s: %v", mean, causes)
	}
}

// Pods are kept off a node by a taint that they do not tolerate, by a cordon, and once it goes away.
func TestPodsKeepOffATaintedNode(t *testing.T) {
	t.Parallel()
	tainted := &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}}}
	for name, c := range map[string]struct {
		node *corev1.Node
		off  bool
	}{
		"no taint": {&corev1.Node{}, false}, "a taint": {tainted, true}, "a cordon": {&corev1.Node{Spec: corev1.NodeSpec{Unschedulable: true}}, true},
	} { // order: each for itself
		sc := forwarded(world.LoadBalancer{}, world.RolloutRestart{Workload: "default/web"}, 0)
		replicas := int32(4)
		sc.Workloads[0].Deployment().Spec.Replicas = &replicas
		sc.Nodes[1].Object = c.node
		on := false
		_, err := RunWith(sc, 1, Options{Events: told(func(e event.Event) {
			p, ok := e.Object.(*api.Pod)
			on = on || ok && p.Node == 1 && p.Revision > 0
		}, event.Wrote)})
		if err != nil || on == c.off {
			t.Errorf("%s: a new pod runs there: %v, %v", name, on, err)
		}
	}
}
