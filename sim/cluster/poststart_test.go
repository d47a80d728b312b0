package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// after is a postStart hook that takes so long.
func after(span engine.Time) world.Hook {
	return world.Hook{After: world.PostStart{Duration: engine.Constant(span), Why: "sleep"}}
}

// A container whose postStart hook goes on is not reported as running: no probe asks it, its pod is not ready, and the container behind it does not
// begin before. Reference: docs/model/pod-lifecycle.md 4.2 postStart.
func TestAPostStartHookHoldsThePodUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		app, other engine.Time // how long their hooks take, 0 for none
		begins     engine.Time // the other container
		ready      engine.Time // at the earliest
	}{
		{"none", 0, 0, 10100 * ms, 10400 * ms},
		{"of the first container", 20 * sec, 0, 30100 * ms, 30400 * ms},
		{"of the last one", 0, 20 * sec, 10100 * ms, 30400 * ms},
		{"of both", 20 * sec, 20 * sec, 30100 * ms, 50400 * ms},
	} {
		b := newBuild(1)
		spec := &b.d.Spec.Template.Spec
		spec.Containers = append(spec.Containers, corev1.Container{Name: "other", Image: "other"})
		for name, span := range map[string]engine.Time{b.container().Name: c.app, "other": c.other} {
			if span > 0 {
				b = b.hook(name, after(span))
			}
		}
		w, began := newPodOf(t, b)
		w.run(100 * sec)
		if began["app"] != 10100*ms || began["other"] != c.begins {
			t.Errorf("%s: the containers began at %s and %s s, want %s", c.name, began["app"].Seconds(), began["other"].Seconds(), c.begins.Seconds())
		}
		if at := w.when("r0 1 running ready=true"); at < c.ready || at > c.ready+2*sec {
			t.Errorf("%s: ready at %s s, want %s s or soon after\n%v", c.name, at.Seconds(), c.ready.Seconds(), w.lines)
		}
	}
}

// A sidecar's postStart hook keeps the next init container from its turn, and a pod that is deleted meanwhile starts nothing more.
func TestAPostStartHookOfASidecar(t *testing.T) {
	t.Parallel()
	w, began := newPodOf(t, newBuild(1).inits("+proxy").hook("proxy", after(20*sec)))
	w.run(60 * sec)
	if began["proxy"] != 10100*ms || began["app"] != 30500*ms {
		t.Errorf("%v, want the app to begin at 30.5 s", began)
	}
	w, began = newPodOf(t, newBuild(1).inits("+proxy").hook("proxy", after(20*sec)))
	w.do(15*sec, "scale", "web", "1")
	w.run(60 * sec)
	if _, ok := began["app"]; ok {
		t.Errorf("%v: the app began", began)
	}
}

// No probe asks a container before its postStart hook has ended: one that listens late is not killed for it. It runs again where the container is
// started again.
func TestAPostStartHookComesBeforeProbes(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	b.container().LivenessProbe = probe(0, 1, 1, 1)
	b = b.hook(b.container().Name, after(20*sec)).app(func(a *world.App) { a.Start = engine.Constant(10 * sec) })
	w, _ := newPodOf(t, b)
	w.run(60 * sec)
	w.want("r0 1", "10 r0 1 created", "10 r0 1 bound", "20.1 r0 1 listening true", "30.4 r0 1 running ready=true deleting=false restarts=0")
	w.Do(world.Action{Operation: world.CrashPod{Pods: world.Pods{Workload: "web", Number: 1}}})
	w.run(120 * sec)
	if at := w.when("r0 1 running ready=true deleting=false restarts=1"); at < 80*sec || at > 84*sec {
		t.Errorf("ready again at %s s", at.Seconds())
	}
}

// A kubelet that is restarted meanwhile finds the container running, and starts those behind it.
func TestAKubeletRestartWithinAPostStartHook(t *testing.T) {
	t.Parallel()
	b := newBuild(1)
	spec := &b.d.Spec.Template.Spec
	spec.Containers = append(spec.Containers, corev1.Container{Name: "other", Image: "other"})
	w, began := newPodOf(t, b.hook(b.container().Name, after(5*engine.Minute)))
	w.run(20 * sec)
	w.Do(world.Action{Operation: world.Component{Name: world.KubeletOf + "node-1", What: world.ComponentRestart}})
	w.run(60 * sec)
	if at := began["other"]; at < 20*sec || at > 40*sec || !w.pod(1).Ready {
		t.Errorf("the other container began at %s s: %+v", at.Seconds(), w.pod(1))
	}
}
