package cluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// leaving is a cluster of four nodes, of which the last one runs no pod, with a Service of policy Local.
func leaving(t *testing.T, version endpoints.Version) (*testWorld, Entry) {
	t.Helper()
	b := newBuild(3).nodes(4)
	b.svc.Spec.Type, b.svc.Spec.ExternalTrafficPolicy = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal
	b.svc.Spec.HealthCheckNodePort, b.svc.Spec.Ports[0].NodePort = 32000, 30080
	profile, err := endpoints.ProfileFor(version, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Kubernetes = profile
	b.Latency.Watch, b.Latency.APIWrite = engine.Constant(sec), engine.Constant(sec)
	b = b.does(world.CrashNode{Node: "node-4"}, 0)
	w := b.start(t, 1)
	e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80, External: true})
	if !ok {
		t.Fatal("no entry")
	}
	return w, e
}

// The taint makes /healthz fail once the node's proxy has seen it, from 1.30 on; a deleted object
// changes nothing more, and a machine that is gone answers nobody. Reference:
// docs/model/kube-proxy.md 5.2.
func TestHealthzOfANodeThatLeaves(t *testing.T) {
	t.Parallel()
	for minor, eligible := range map[int]bool{36: false, 30: false, 29: true} { // order: each for itself
		w, e := leaving(t, endpoints.Version{Major: 1, Minor: minor})
		scaleDown := world.Action{At: 10 * sec, Operation: world.ScaleDownNode{Node: "node-4"}}
		w.at(10*sec, func() { w.Do(scaleDown) })
		w.at(30*sec, func() { w.Undo(scaleDown) })
		for _, c := range []struct {
			at       engine.Time
			ok, late bool
		}{{11900 * ms, true, false}, {12100 * ms, eligible, false}, {29 * sec, eligible, false}, {30500 * ms, false, true}} {
			w.run(c.at)
			if a := w.ProbeProxy(3); a.OK != c.ok || a.Late != c.late || !a.Sure {
				t.Errorf("1.%d at %s s: %+v", minor, c.at.Seconds(), a)
			}
			if a := w.ProbeHealthPort(e, 3); a.OK || a.Late != c.late {
				t.Errorf("1.%d at %s s: health port %+v", minor, c.at.Seconds(), a)
			}
			if settled := c.at < 11*sec || eligible; w.EligibleSettled(3) != settled && c.at > 12*sec {
				t.Errorf("1.%d at %s s: settled %v", minor, c.at.Seconds(), w.EligibleSettled(3))
			}
		}
		if n := w.NodeInAPI(3); n.Gone {
			t.Errorf("1.%d: the object is gone before its deletion is written", minor)
		}
		w.run(32 * sec)
		if n := w.NodeInAPI(3); !n.Gone || !n.Tainted {
			t.Errorf("1.%d: %+v", minor, n)
		}
	}
}

// The taint leaves a health check node port alone: a node with pods, were it tainted.
func TestTheTaintLeavesHealthPortsAlone(t *testing.T) {
	t.Parallel()
	w, e := leaving(t, endpoints.CurrentVersion())
	w.at(10*sec, func() { w.writeNode(0, "taint", func(n *api.Node) { n.Tainted = true }) })
	w.run(20 * sec)
	if a := w.ProbeHealthPort(e, 0); !a.OK || w.ProbeProxy(0).OK {
		t.Errorf("health port %+v, proxy %+v", a, w.ProbeProxy(0))
	}
}

// A machine that crashes keeps its object, which is not ready after a while; nothing runs there, and nobody
// waits for it. Reference: docs/model/measured.md 1 silent node.
func TestACrashedNode(t *testing.T) {
	t.Parallel()
	w, e := leaving(t, endpoints.CurrentVersion())
	w.do(10*sec, "crashNode", "node-4", "")
	w.do(11*sec, "delete", "web#0", "")
	w.run(10*sec - 1)
	asked := w.Installs()
	if w.run(10 * sec); w.Installs() != asked+1 {
		t.Errorf("who asked for healthy nodes need not ask again: %d, and %d before", w.Installs(), asked)
	}
	w.run(45 * sec)
	if w.Unrest() == "" || w.NodeInAPI(3).NotReady {
		t.Errorf("%q, %+v", w.Unrest(), w.NodeInAPI(3))
	}
	if w.NodeHealthy(e, 3) || w.Reaches(e, 3) || w.ReachesSettled(e, 3) || !w.Dead(3) {
		t.Error("it answers")
	}
	if v := w.Proxies[3].Installed(); v != w.Proxies[3].Received() || v == w.Proxies[0].Installed() {
		t.Error("its proxy hears of changes")
	}
	w.run(67 * sec)
	if n := w.NodeInAPI(3); !n.NotReady || n.Gone {
		t.Errorf("%+v", n)
	}
	if s := w.Unrest(); s != "" {
		t.Error(s)
	}
	if err := w.Stuck(); err != nil {
		t.Error(err)
	}
}

// A pod that is on its way to a node which the autoscaler removes is evicted there.
func TestAPodOnItsWayToANodeThatGoes(t *testing.T) {
	t.Parallel()
	w, _ := leaving(t, endpoints.CurrentVersion())
	w.do(10*sec, "scale", "web", "4")
	for at := 10 * sec; !assumed(w) && at < 20*sec; at += 10 * ms {
		w.run(at)
	}
	w.Do(world.Action{Operation: world.ScaleDownNode{Node: "node-4"}})
	w.run(100 * sec)
	if n := len(w.livePods); n != 4 || !w.Dead(3) || w.Unrest() != "" {
		t.Errorf("%d pods, gone %v, %q", n, w.Dead(3), w.Unrest())
	}
}

// The autoscaler cordons the node: what is scheduled later goes elsewhere, although it has the fewest pods.
func TestATaintedNodeTakesNoPods(t *testing.T) {
	t.Parallel()
	w, _ := leaving(t, endpoints.CurrentVersion())
	w.do(10*sec, "scaleDownNode", "node-4", "")
	w.do(11*sec, "scale", "web", "5")
	w.run(60 * sec)
	for _, id := range w.livePods {
		if p := as[*api.Pod](w.store.Get(api.PodKey(id))); p.Node == 3 {
			t.Errorf("%s runs there", p.Name)
		}
	}
	if len(w.livePods) != 5 {
		t.Errorf("%d pods", len(w.livePods))
	}
}

// assumed says whether some pod is bound to a node of which the scheduler's watch has not told yet.
func assumed(w *testWorld) bool {
	return slices.ContainsFunc(w.livePods, func(id api.PodID) bool {
		_, ok := w.sched.Assumed(id)
		return ok
	})
}

// Whoever asked for healthy nodes asks again as soon as something is the matter with one of them: it joins, it crashes or shuts down, it is back.
func TestWhateverBecomesOfANodeIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		b       build
		changes string // of nodes, in this order
	}{
		"a crash":            {newBuild(4).nodes(2).does(world.CrashNode{Node: "node-2"}, 0), "node-2"},
		"a crash and a boot": {newBuild(4).nodes(2).does(world.CrashNode{Node: "node-2"}, 60*sec), "node-2 node-2"},
		"a shutdown":         {newBuild(4).nodes(2).shuts(30*sec, 10*sec).does(world.ShutdownNode{Node: "node-2"}, 0), "node-2 node-2"},
		"of a critical pod":  {newBuild(4).nodes(2).critical().shuts(30*sec, 10*sec).does(world.ShutdownNode{Node: "node-2"}, 0), "node-2 node-2"},
		"a reboot":           {newBuild(4).nodes(2).shuts(30*sec, 10*sec).does(world.ShutdownNode{Node: "node-2"}, 100*sec), "node-2 node-2 node-2"},
		"one in its place":   {newBuild(4).nodes(2).taken(world.UpgradePool{Provider: world.PoolGKE, Surge: 1, Provision: sec, Nodes: []string{"node-2"}}), "node-2-new node-2"},
	} {
		c.b.svc.Spec.Type, c.b.svc.Spec.ExternalTrafficPolicy = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal
		c.b.svc.Spec.HealthCheckNodePort, c.b.svc.Spec.Ports[0].NodePort = 32000, 30080
		w := c.b.acts(t)
		e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80, External: true, HealthyNodesOnly: true, Nodes: world.NodeNames(w.sc.Nodes)})
		if !ok || !e.Changing() {
			t.Fatalf("%s: no entry", name)
		}
		asked, nodes := w.Installs(), w.NodesFor(e) // as who asks remembers it
		ask := func(int) {
			if w.Installs() < asked {
				t.Errorf("%s: %d changes, and %d before", name, w.Installs(), asked)
			}
			if now := w.NodesFor(e); w.Installs() != asked {
				asked, nodes = w.Installs(), now
			} else if !slices.Equal(now, nodes) {
				t.Errorf("%s: at %s s nobody asks again: %v, and %v before", name, w.eng.Now().Seconds(), now, nodes)
			}
		}
		var changes []string
		w.synced = ask
		w.changed = func(node int) {
			changes = append(changes, w.sc.Nodes[node].Name)
			ask(node)
		}
		w.run(300 * sec)
		if got := strings.Join(changes, " "); got != c.changes {
			t.Errorf("%s: changes of %s, want %s", name, got, c.changes)
		}
	}
}
