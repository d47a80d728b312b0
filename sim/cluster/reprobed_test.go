package cluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// reprobed is a pod whose kubelet is restarted, with what its probes were asked, and when.
type reprobed struct {
	*testWorld
	asked []asked
}

// asked is "startup" and so on, with ! where it failed.
type asked struct {
	at   engine.Time
	what string
}

// restartedAt is a world in which the kubelet ends at a moment, and begins again a second later.
func (b build) restartedAt(t *testing.T, at engine.Time) *reprobed {
	t.Helper()
	c := b.container()
	names := map[*corev1.Probe]string{c.StartupProbe: "startup", c.ReadinessProbe: "readiness", c.LivenessProbe: "liveness"}
	w := &reprobed{testWorld: b.start(t, 1)}
	w.hears(func(e event.Event) {
		what := names[e.Probe]
		if !e.OK {
			what += "!"
		}
		w.asked = append(w.asked, asked{e.At, what})
	}, event.Probed)
	w.at(at, func() {
		w.pods()
		w.Do(world.Action{Operation: world.Component{Name: world.KubeletOf + "node-1", What: world.ComponentRestart}})
	})
	return w
}

// since lists what was asked from a moment on, each question once, in order.
func (w *reprobed) since(from engine.Time) (all []string) {
	for _, a := range w.asked {
		if a.at >= from && !slices.Contains(all, a.what) {
			all = append(all, a.what)
		}
	}
	return all
}

// allProbes are one of each kind, of which readiness and liveness follow a dependency.
func (b build) allProbes() build {
	c := b.container()
	c.StartupProbe, c.ReadinessProbe, c.LivenessProbe = probe(0, 1, 1, 30), probe(0, 1, 1, 1), probe(0, 5, 1, 3)
	return b.app(func(a *world.App) { a.LivenessFollows, a.DependsOn = true, []string{"db"} })
}

// restarted is a pod that was started at 2 s, in a world in which all that was there before is gone by 20 s.
const restarted = api.PodID(1)

// A startup probe that has passed is not asked again by a kubelet that keeps what the status says, and readiness is what it was; before 1.35 both
// begin anew. A startup probe that had not passed goes on in either case. Whatever is known, a dependency that fails at 50 s is noticed.
// Reference: docs/model/pod-lifecycle.md 2.1 Kubelet restart.
func TestWhatIsAskedOfAContainerAfterAKubeletRestart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		minor int
		start engine.Time // until it listens
		asked string      // but for what would come to the same
		lost  bool        // it was not ready meanwhile
	}{
		{"it keeps what is known", 36, 0, "readiness! liveness!", false},
		{"it does not", 34, 0, "startup readiness liveness readiness! liveness!", true},
		{"it keeps what is known of one that starts", 36, 28 * sec, "startup! startup readiness readiness! liveness!", false},
		{"it does not of one that starts", 34, 28 * sec, "startup! startup readiness readiness! liveness!", false},
	} {
		b := newBuild(1).version(c.minor).allProbes()
		b.Workloads[0].App.Start = engine.Constant(c.start)
		w := b.restartedAt(t, 20*sec)
		w.do(2*sec, "delete", "web#0", "")
		w.run(50 * sec)
		p := w.pod(restarted)
		lost := slices.ContainsFunc(w.lines, func(l string) bool { return strings.Contains(l, "running ready=false") })
		if lost != c.lost || !p.Ready || p.Restarts != 0 {
			t.Errorf("%s: not ready meanwhile: %v; %+v\n%s", c.name, lost, p, strings.Join(w.lines, "\n"))
		}
		w.do(50*sec, "dependency", "db", "down")
		w.run(60 * sec)
		if got, want := w.since(20*sec), strings.Fields(c.asked); !slices.Equal(got, want) {
			t.Errorf("%s: asked %v, want %v", c.name, got, want)
		}
	}
}

// A container that a probe has condemned and that the kubelet had not killed when it ended is killed by the next one, as soon as the probe has failed
// as often once more. Reference: docs/model/pod-lifecycle.md 2.1 Kubelet restart and 3.2.8.
func TestACondemnedContainerIsKilledAfterAKubeletRestart(t *testing.T) {
	t.Parallel()
	for _, minor := range []int{36, 34} {
		for _, kind := range []string{"startup", "liveness"} {
			b := newBuild(1).version(minor).allProbes().grace(60).hook("app", sleepHook(30*sec))
			condemning := b.container().LivenessProbe
			if kind == "startup" {
				condemning = b.container().StartupProbe
				condemning.FailureThreshold, condemning.PeriodSeconds = 5, 10
				b.Workloads[0].App.Start = engine.Constant(engine.Hour)
			}
			w := b.restartedAt(t, 60*sec)
			w.do(2*sec, "delete", "web#0", "")
			w.do(33*sec, "dependency", "db", "down")
			var times []engine.Time // of its failures
			w.run(150 * sec)
			for _, a := range w.asked {
				if a.what == kind+"!" {
					times = append(times, a.at)
				}
			}
			n, period := int(condemning.FailureThreshold), engine.Time(condemning.PeriodSeconds)*sec
			if len(times) < 2*n || times[n-1] > 60*sec || times[n] < 61*sec || times[n] > 63*sec+period {
				t.Fatalf("%s, 1.%d: it failed at %v", kind, minor, times)
			}
			if killed := w.when("r0 1 SIGTERM"); killed < times[2*n-1]+30*sec-ms || killed > times[2*n-1]+31*sec {
				t.Errorf("%s, 1.%d: killed at %s s, and failed at %v", kind, minor, killed.Seconds(), times)
			}
		}
	}
}

// A kubelet that is restarted while an init container runs takes none of the others to be ready, whatever probes they have.
// Reference: docs/model/pod-lifecycle.md 2.1 Kubelet restart.
func TestAKubeletRestartWhileAPodIsInitialized(t *testing.T) {
	t.Parallel()
	for _, minor := range []int{36, 34} {
		for _, probes := range []bool{true, false} {
			b := newBuild(1).version(minor)
			if b.container().ReadinessProbe = nil; probes {
				b = b.allProbes()
			}
			w := b.inits("init").app(func(a *world.App) { a.Init = engine.Constant(30 * sec) }).restartedAt(t, 20*sec)
			w.do(2*sec, "delete", "web#0", "")
			w.run(25 * sec)
			if p := w.pod(restarted); p.Ready || p.ContainersReady || p.Phase != api.PhasePending {
				t.Errorf("1.%d, probes %v: %+v", minor, probes, p)
			}
			w.run(100 * sec)
			if p := w.pod(restarted); !p.Ready || p.Phase != api.PhaseRunning {
				t.Errorf("1.%d, probes %v: %+v", minor, probes, p)
			}
		}
	}
}

// A container that was not ready when its kubelet ended is not ready for the next one, either, until its probe has passed.
// Reference: docs/model/pod-lifecycle.md 2.1 Kubelet restart.
func TestAKubeletRestartMakesNothingReady(t *testing.T) {
	t.Parallel()
	for _, minor := range []int{36, 34} {
		b := newBuild(1).version(minor).allProbes()
		b.container().LivenessProbe = nil
		w := b.restartedAt(t, 40*sec)
		w.do(2*sec, "delete", "web#0", "")
		w.do(30*sec, "dependency", "db", "down")
		w.do(60*sec, "dependency", "db", "up")
		w.run(39 * sec)
		if p := w.pod(restarted); p.Ready || w.instances.Of(restarted) == nil {
			t.Fatalf("1.%d: %+v", minor, p)
		}
		ready := engine.Time(0)
		for at := 39 * sec; at < 70*sec && ready == 0; at += 100 * ms {
			if w.run(at); w.pod(restarted).Ready {
				ready = at
			}
		}
		if ready < 60*sec || ready > 62*sec {
			t.Errorf("1.%d: ready at %s s", minor, ready.Seconds())
		}
	}
}

// What serves nobody listens on nothing, and is ready as soon as it runs.
func TestWhatIsNoServerNeverListens(t *testing.T) {
	t.Parallel()
	w := newBuild(1).app(func(a *world.App) { a.NotAServer = true }).start(t, 1)
	w.hears(func(e event.Event) { t.Errorf("pod %d listens at %s s", e.Pod, e.At.Seconds()) }, event.Listening)
	w.do(10*sec, "delete", "web#0", "")
	w.run(60 * sec)
	if i := w.instances.Of(1); i == nil || !i.Running || i.Listening || i.Accepts() || !w.pod(1).Ready {
		t.Errorf("%+v", i)
	}
}

// A liveness probe that looks for the process never ends an app that starts slowly; one that asks the app does, again and again.
func TestALivenessProbeOfTheProcessEndsNoSlowStart(t *testing.T) {
	t.Parallel()
	for program, restarts := range map[string]bool{"pgrep": false, "redis-cli": true} { // order: each for itself
		b := newBuild(1).app(func(a *world.App) { a.Start = engine.Constant(50 * sec) })
		asks := probe(10, 10, 1, 3)
		asks.ProbeHandler = corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{program, "web"}}}
		b.container().LivenessProbe = asks
		w := b.start(t, 1)
		w.pods()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(100 * sec)
		listens := false
		for _, i := range w.instances.Running(0) {
			listens = listens || i.Revision == 1 && i.Listening
		}
		if listens == restarts {
			t.Errorf("%s: listens %v", program, listens)
		}
	}
}
