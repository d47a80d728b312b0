package sim

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// One world per cause that this path can have, and what it must be put down to.
func TestCauses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		world func() *world.Scenario
		want  ledger.Blame
		only  bool // nothing else fails
	}{
		{"the app dies with requests in flight after its own patience", func() *world.Scenario {
			sc := scaleDown()
			sc.Workloads[0].App.FinishWithin = sec
			return sc
		}, ledger.Blame{Cause: ledger.ExitInFlight, Actor: ledger.App, Elsewhere: true}, true},
		{"the kubelet kills it at the end of the grace period", func() *world.Scenario {
			sc := scaleDown()
			grace := int64(3)
			sc.Workloads[0].Deployment().Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
			return sc
		}, ledger.Blame{Cause: ledger.KilledInFlight, Actor: ledger.Spec, Elsewhere: true}, true},
		{"a dependency fails and liveness follows it: restarted", func() *world.Scenario {
			sc := plainWorld(2, sec)
			probe := *sc.Workloads[0].Deployment().Spec.Template.Spec.Containers[0].ReadinessProbe
			probe.FailureThreshold = 1
			sc.Workloads[0].Deployment().Spec.Template.Spec.Containers[0].LivenessProbe = &probe
			sc.Workloads[0].App.DependsOn, sc.Workloads[0].App.LivenessFollows = []string{"db"}, true
			sc.Actions = []world.Action{{At: 20 * sec, For: 5 * sec, Operation: world.Dependency{Name: "db", Down: true}}}
			return sc
		}, ledger.Blame{Cause: ledger.LivenessRestart, Actor: ledger.KubeletProbe, Elsewhere: false}, false},
		{"a crash, before the kubelet notices", func() *world.Scenario {
			sc := plainWorld(2, sec)
			sc.Actions = []world.Action{{At: 20 * sec, Operation: world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}}}}
			return sc
		}, ledger.Blame{Cause: ledger.Crashed, Actor: ledger.App, Elsewhere: true}, true},
		{"the only pod is not ready: rejected", func() *world.Scenario {
			sc := plainWorld(1, sec)
			sc.Actions = []world.Action{{At: 20 * sec, For: 10 * sec, Operation: world.SetReady{Pods: world.Pods{Workload: "web", Number: world.AllPods}, Ready: false}}}
			return sc
		}, ledger.Blame{Cause: ledger.NoEndpoint, Actor: ledger.Spec, Elsewhere: false}, false},
		{"the only pod is ready again, and its probe has not run yet", func() *world.Scenario {
			sc := plainWorld(1, sec)
			sc.Actions = []world.Action{{At: 20 * sec, For: 10 * sec, Operation: world.SetReady{Pods: world.Pods{Workload: "web", Number: world.AllPods}, Ready: false}}}
			return sc
		}, ledger.Blame{Cause: ledger.NoEndpoint, Actor: ledger.KubeletProbe, Elsewhere: false}, false},
		{"no readiness probe: sent to a pod that does not listen yet", func() *world.Scenario {
			sc := plainWorld(2, sec)
			sc.Workloads[0].Deployment().Spec.Template.Spec.Containers[0].ReadinessProbe = nil
			return sc
		}, ledger.Blame{Cause: ledger.NotListeningYet, Actor: ledger.App, Elsewhere: true}, false},
		{"the last endpoint has closed its listener and is still serving: KEP-1669 leads to it", func() *world.Scenario {
			sc := plainWorld(1, sec)
			one, zero := intstr.FromInt32(1), intstr.FromInt32(0)
			u := sc.Workloads[0].Deployment().Spec.Strategy.RollingUpdate
			u.MaxSurge, u.MaxUnavailable = &zero, &one
			sc.Workloads[0].App.Serve = engine.Constant(10 * sec) // it has work to finish, so it stays
			sc.Traffic[0].Timeout = 20 * sec
			return sc
		}, ledger.Blame{Cause: ledger.ListenerClosed, Actor: ledger.Spec, Elsewhere: false}, false},
		{"an idle connection closed while a request was on its way", func() *world.Scenario {
			sc := plainWorld(2, sec)
			sc.Traffic[0].KeepAlive, sc.Traffic[0].Clients = true, 200
			sc.Traffic[0].Rate, sc.Traffic[0].Arrivals = 20000*1000, world.ArrivalsPoisson
			return sc
		}, ledger.Blame{Cause: ledger.KeepaliveRace, Actor: ledger.App, Elsewhere: true}, false},
		{"removal held back by minSyncPeriod", func() *world.Scenario { return plainWorld(2, sec) },
			ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait, Elsewhere: true}, true},
		{"removal still being programmed", func() *world.Scenario {
			sc := plainWorld(2, 0)
			sc.Latency.ProxySync = engine.Constant(sec)
			sc.Workloads[0].Deployment().Spec.MinReadySeconds = 5
			return sc
		}, ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxySync, Elsewhere: true}, true},
		{"removal not written yet", func() *world.Scenario {
			sc := plainWorld(2, 0)
			sc.Latency.SliceController = engine.Constant(sec)
			sc.Workloads[0].Deployment().Spec.MinReadySeconds = 5
			return sc
		}, ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.SliceController, Elsewhere: true}, true},
		{"removal not delivered yet", func() *world.Scenario {
			sc := plainWorld(2, 0)
			late := engine.Constant(sec)
			sc.Nodes[0].Watch = &late // the node's kubelet and proxy alike
			sc.Workloads[0].Deployment().Spec.MinReadySeconds = 5
			sc.Actions = append(sc.Actions, world.Action{At: 60 * sec, Operation: world.CrashPod{Pods: world.Pods{Workload: "web", Number: 0}}})
			return sc
		}, ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.Watch, Elsewhere: true}, false},
		{"more than the app has room for", func() *world.Scenario {
			sc := plainWorld(1, sec)
			sc.Actions = nil
			sc.Workloads[0].App.Serve, sc.Workloads[0].App.Concurrency = engine.Constant(10*ms), 1
			return sc
		}, ledger.Blame{Cause: ledger.Overloaded, Actor: ledger.App, Elsewhere: false}, true},
		{"an error that the scenario asked of the app", func() *world.Scenario {
			sc := plainWorld(2, sec)
			sc.Actions = nil
			sc.Workloads[0].App.Errors = 50
			return sc
		}, ledger.Blame{Cause: ledger.AppError, Actor: ledger.App, Elsewhere: true}, true},
		{"calls over a connection that is reset when its server ends", func() *world.Scenario {
			sc := callsTo(world.ConnectionHTTP2)
			sc.Workloads[0].App.InFlight = world.InFlightCut
			return sc
		}, ledger.Blame{Cause: ledger.ExitInFlight, Actor: ledger.App, Elsewhere: true}, false},
		{"calls in back-off, after a connection that met rules of before", func() *world.Scenario {
			sc := callsTo(world.ConnectionHTTP2)
			sc.Workloads[0].Hooks, sc.Workloads[0].App.GoAway = nil, true
			sc.Latency.ProxySync = engine.Constant(sec)
			return sc
		}, ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxySync, Elsewhere: true}, false},
		{"a flow over UDP, and the proxy is cleaning up", func() *world.Scenario { return queries(true) },
			ledger.Blame{Cause: ledger.FlowPinned, Actor: ledger.ProxySync, Elsewhere: true}, false},
		{"a flow over UDP, and the slice is not written yet", func() *world.Scenario {
			sc := queries(true)
			sc.Latency.SliceController = engine.Constant(sec)
			return sc
		}, ledger.Blame{Cause: ledger.FlowPinned, Actor: ledger.SliceController, Elsewhere: true}, false},
		{"a flow over UDP, and the proxy waits", func() *world.Scenario {
			sc := queries(true)
			sc.Nodes[0].Proxy.MinSyncPeriod, sc.Latency.ProxySync = 10*sec, engine.Dist{}
			return sc
		}, ledger.Blame{Cause: ledger.FlowPinned, Actor: ledger.ProxyWait, Elsewhere: true}, false},
		{"a flow over UDP, and the kubelet has not written that the pod has ended", func() *world.Scenario {
			sc := queries(true)
			sc.Latency.StatusWrite = engine.Constant(sec)
			return sc
		}, ledger.Blame{Cause: ledger.FlowPinned, Actor: ledger.Kubelet, Elsewhere: true}, false},
		{"a flow over UDP to a pod that terminates with its port closed", func() *world.Scenario {
			sc := queries(true)
			sc.Latency.ProxySync, sc.Workloads[0].App.Linger = engine.Dist{}, 10*sec
			return sc
		}, ledger.Blame{Cause: ledger.FlowPinned, Actor: ledger.Spec, Elsewhere: true}, false},
		{"an address that a client has kept", named,
			ledger.Blame{Cause: ledger.StaleDNS, Actor: ledger.DNSCache, Elsewhere: true}, false},
		{"an address that the slices still have", func() *world.Scenario {
			sc := named()
			sc.Latency.SliceController = engine.Constant(sec)
			return sc
		}, ledger.Blame{Cause: ledger.StaleDNS, Actor: ledger.SliceController, Elsewhere: true}, false},
		{"a name without a ready pod", func() *world.Scenario {
			sc := named()
			sc.Actions = []world.Action{{At: 20 * sec, For: 60 * sec, Operation: world.SetReady{Pods: world.Pods{Workload: "web", Number: world.AllPods}, Ready: false}}}
			return sc
		}, ledger.Blame{Cause: ledger.StaleDNS, Actor: ledger.Spec, Elsewhere: false}, false},
		{"new flows over UDP", func() *world.Scenario { return queries(false) },
			ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxySync, Elsewhere: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc := c.world()
			if sc.Traffic[0].Rate == 1000*1000 {
				sc.Traffic[0].Rate = 2000 * 1000
			}
			r, err := Run(sc, 1)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, g := range r.Ledger.Groups() {
				found = found || g.Blame == c.want
				if c.only && g.Blame != c.want {
					t.Errorf("also %d %s %s/%s elsewhere %v", g.Count, g.Outcome, g.Blame.Cause, g.Blame.Actor, g.Blame.Elsewhere)
				}
			}
			if !found {
				for _, g := range r.Ledger.Groups() {
					t.Logf("%d %s %s/%s elsewhere %v, %s-%s", g.Count, g.Outcome, g.Blame.Cause, g.Blame.Actor, g.Blame.Elsewhere, g.First.Seconds(), g.Last.Seconds())
				}
				t.Errorf("no %s/%s elsewhere %v among the failures", c.want.Cause, c.want.Actor, c.want.Elsewhere)
			}
		})
	}
}

// scaleDown takes one of two pods away while requests take 10 s.
func scaleDown() *world.Scenario {
	sc := plainWorld(2, sec)
	sc.Actions = []world.Action{{At: 20 * sec, Operation: world.Scale{Workload: "deployment/web", Replicas: 1}}}
	sc.Workloads[0].App.Serve = engine.Constant(10 * sec)
	sc.Traffic[0].Timeout = 30 * sec
	return sc
}

// Nodes of one zone share a Plan. From outside every one of them has to lead to the Service.
func TestEveryNodeOfAZoneLeadsToTheService(t *testing.T) {
	t.Parallel()
	sc := plainWorld(2, sec)
	for n := 2; n <= 5; n++ {
		node := sc.Nodes[0]
		node.Name = "node-" + string(rune('0'+n))
		sc.Nodes = append(sc.Nodes, node)
	}
	svc := sc.Services[0].Service
	svc.Spec.Type, svc.Spec.ExternalTrafficPolicy = corev1.ServiceTypeNodePort, corev1.ServiceExternalTrafficPolicyCluster
	svc.Spec.Ports[0].NodePort = 30080
	sc.Traffic[0].External = true
	sc.Actions = nil
	r, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	if all := r.Ledger.All(); all.Failed != 0 || all.OK < 20_000 {
		t.Errorf("%+v", all)
	}
}
