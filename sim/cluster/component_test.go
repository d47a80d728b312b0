package cluster

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// rolled is the story of a rollout at 10 s of one pod with surge, while a component is paused
// from 5 s to 60 s: when the new pod was created, bound, ready, and the old one deleted.
func rolled(t *testing.T, component string) *testWorld {
	t.Helper()
	w := newBuild(1).strategy("1", "0").app(func(a *world.App) { a.Start = engine.Constant(2 * sec) }).start(t, 1)
	w.pods()
	pause := world.Action{At: 5 * sec, For: 55 * sec, Operation: world.Component{Name: component, What: world.ComponentPause}}
	w.at(pause.At, func() { w.Do(pause) })
	w.at(pause.At+pause.For, func() { w.Undo(pause) })
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(50 * sec)
	if component != "" && w.Unrest() != component+" is paused" {
		t.Errorf("%s: at 50 s %q", component, w.Unrest())
	}
	w.run(200 * sec)
	if s := w.Unrest(); s != "" {
		t.Errorf("%s: in the end %s", component, s)
	}
	return w
}

// An address is that of the pod that it was given, and of nobody else.
func TestAnAddressIsThatOfOnePod(t *testing.T) {
	t.Parallel()
	w := newBuild(2).start(t, 1)
	for id := range api.PodID(2) {
		if i := w.PodInstance(id); i == nil || w.Instance(i.IP) != i {
			t.Errorf("pod %d is not found by its address", id)
		}
	}
	for _, other := range []string{"10.96.0.1", "192.0.2.1", "fd00::1"} {
		if i := w.Instance(netip.MustParseAddr(other)); i != nil {
			t.Errorf("%s is taken for that of %+v", other, i)
		}
	}
	if i := w.Instance(w.PodInstance(1).IP.Next()); i != nil {
		t.Errorf("an address that nobody has been given is that of %+v", i)
	}
	if i := w.Instance(netip.Addr{}); i != nil {
		t.Errorf("no address is that of %+v", i)
	}
}

// A proxy is found by its node's name, and by nothing else.
func TestAProxyIsNamedByItsNode(t *testing.T) {
	t.Parallel()
	w := newBuild(1).nodes(2).start(t, 1)
	for name, want := range map[string]int{"kube-proxy/node-1": 0, "kube-proxy/node-2": 1} {
		if p := w.proxyNamed(name); p == nil || p.Node != want {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := w.proxyNamed("kube-proxy/node-3"); p != nil {
		t.Errorf("there is no such node: %+v", p)
	}
}

// A component that is paused does nothing, and what it has to do when it runs again: everything
// after it in the chain of a rollout waits for it.
func TestPausedComponents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		component                     string
		created, bound, ready, gone50 bool // by 50 s
	}{
		{"", true, true, true, true},
		{"deployment-controller", false, false, false, false},
		{"replicaset-controller", false, false, false, false},
		{"scheduler", true, false, false, false},
		{"kubelet/node-1", true, true, false, false},
		{"endpointslice-controller", true, true, true, true},
		{"kube-proxy/node-1", true, true, true, true},
	} {
		w := rolled(t, c.component)
		for _, step := range []struct {
			line string
			by   bool
		}{{"r1 0 created", c.created}, {"r1 0 bound", c.bound}, {"r1 0 running ready=true", c.ready}, {"r0 0 running ready=true deleting=true", c.gone50}} {
			if at := w.when(step.line); (at < 50*sec) != step.by {
				t.Errorf("%s paused: %s at %s", c.component, step.line, at.Seconds())
			}
		}
	}
}

// A node whose proxy is paused keeps its rules, whatever becomes of the pods; then it catches up
// in one sync, and whatever fails meanwhile is its own lateness.
func TestPausedProxyKeepsItsRules(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(2)
	w := b.start(t, 1)
	pause := world.Action{At: 5 * sec, For: 55 * sec, Operation: world.Component{Name: "kube-proxy/node-1", What: world.ComponentPause}}
	w.at(pause.At, func() { w.Do(pause) })
	w.at(pause.At+pause.For, func() { w.Undo(pause) })
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(6 * sec)
	before := w.Proxies[0].Installed()
	syncs := w.Proxies[0].Syncs()
	w.run(59 * sec)
	if w.Proxies[0].Installed() != before || w.Proxies[1].Installed() == before {
		t.Error("the paused proxy has other rules, or the other one has not")
	}
	e, _ := w.Entry(world.Traffic{Service: "default/web", Port: 80})
	old := w.Enter(e, 0).Targets[0].Addr
	if got := w.Judge(e, 0, old, ledger.FaultNoListener); got.Cause != ledger.StaleRules || got.Actor != ledger.ProxySync {
		t.Errorf("%+v", got)
	}
	w.run(60*sec + 100*ms)
	if n := w.Proxies[0].Syncs() - syncs; w.Proxies[0].Installed() == before || n != 1 {
		t.Errorf("%d syncs after the pause", n)
	}
	w.run(70 * sec)
	if w.Proxies[0].Installed() != w.Proxies[1].Installed() {
		t.Error("it has not caught up")
	}
}

// A sync that is under way when the proxy is paused ends when it runs again.
func TestPausedInTheMiddleOfASync(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.Latency.ProxySync = engine.Constant(2 * sec)
	w := b.start(t, 1)
	w.do(10*sec, "delete", "web#0", "") // heard of at once: the sync ends at 12 s
	w.do(11*sec, "component", "kube-proxy/node-1", "pause")
	w.do(30*sec, "component", "kube-proxy/node-1", "resume")
	before := w.Proxies[0].Installed()
	w.run(30*sec - 1)
	if w.Proxies[0].Installed() != before {
		t.Error("the sync has ended")
	}
	w.run(30 * sec)
	if w.Proxies[0].Installed() == before {
		t.Error("the sync has not ended")
	}
}

// A proxy that is restarted keeps its rules, reads everything again and syncs at once, however
// short ago the last sync was; the sync under way is lost. News that was on its way before does
// not take it back.
func TestRestartedProxy(t *testing.T) {
	t.Parallel()
	b := newBuild(2)
	b.Latency.ProxySync, b.Latency.Watch = engine.Constant(500*ms), engine.Constant(100*ms)
	b.Nodes[0].Proxy.MinSyncPeriod = 10 * sec
	w := b.start(t, 1)
	var began, ended []string
	w.hears(func(e event.Event) {
		switch e.Kind {
		case event.SyncBegan:
			began = append(began, e.At.Seconds())
		case event.SyncEnded:
			ended = append(ended, e.At.Seconds())
		default:
		}
	})
	w.do(10*sec, "delete", "web#0", "")                                           // heard of at 10.2 s
	w.do(10*sec+400*ms, "component", "kube-proxy/node-1", world.ComponentRestart) // in the middle of the sync
	w.do(14*sec, "component", "kube-proxy/node-1", world.ComponentRestart)        // within minSyncPeriod
	w.run(40 * sec)
	if want := []string{"10.2", "10.5", "14.1"}; !slices.Equal(began, want) {
		t.Errorf("syncs began at %v, want %v", began, want)
	}
	if want := []string{"11", "14.6"}; !slices.Equal(ended, want) {
		t.Errorf("syncs ended at %v, want %v", ended, want)
	}
	if w.Proxies[0].Installed() != w.views.Last {
		t.Error("the rules are not up to date")
	}
}

// A kubelet that is paused asks no probe and signals nobody; what runs in its pods goes on.
func TestPausedKubelet(t *testing.T) {
	t.Parallel()
	b := newBuild(1).grace(10).app(func(a *world.App) { a.IgnoresSIGTERM = true })
	b.container().LivenessProbe = probe(0, 1, 1, 1)
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "delete", "web#0", "")
	w.do(11*sec, "component", "kubelet/node-1", "pause") // the grace period runs in the runtime
	w.do(40*sec, "component", "kubelet/node-1", "resume")
	w.run(60 * sec)
	if term, kill := w.when("r0 0 SIGTERM"), w.when("r0 0 ended killed"); kill-term != 10*sec || kill > 30*sec {
		t.Errorf("SIGTERM at %s, SIGKILL at %s", term.Seconds(), kill.Seconds())
	}
	if at := w.when("r0 0 terminal"); at != 40*sec {
		t.Errorf("its end is reported at %s", at.Seconds())
	}
}

// A service proxy that starts again has no caches and no port to answer health checks on, until its watches have brought all there is.
func TestAProxyThatStartsAgainHasNothingYet(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.Latency.Watch = engine.Constant(100 * ms)
	w := b.start(t, 1)
	p := w.Proxies[0]
	filled := map[engine.Time]bool{}
	for _, at := range []engine.Time{9 * sec, 10*sec + 50*ms, 11 * sec} {
		w.at(at, func() { filled[at] = p.Filled() })
	}
	w.do(10*sec, "component", world.KubeProxyOf+"node-1", world.ComponentRestart)
	w.run(20 * sec)
	if !filled[9*sec] || filled[10*sec+50*ms] || !filled[11*sec] {
		t.Errorf("filled before, meanwhile and afterwards: %v", filled)
	}
}
