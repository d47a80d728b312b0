package scenario

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// initContainers counts a pod's init containers that end before the next begins: all but sidecars.
func initContainers(pod *corev1.PodSpec) int {
	n := 0
	for i := range pod.InitContainers {
		if !world.Sidecar(&pod.InitContainers[i]) {
			n++
		}
	}
	return n
}

// initializes says whether pods of a workload have ordinary init containers, those of a manifest that
// is applied during the run included.
func initializes(s *world.Scenario, w *world.Workload) bool {
	for i := range s.Actions {
		if r := world.Applied(s.Actions[i].Operation); r != nil && s.Actions[i].Target() == w.Name() && initContainers(&world.TemplateOf(r).Spec) > 0 {
			return true
		}
	}
	return initContainers(&w.Template().Spec) > 0
}

// initTime reads how long init containers take, where one place of the input says it.
func readInitTime(a *world.App, c cursor) {
	if c.present() {
		a.Init, a.InitSaid = c.dist(a.Init, ""), true
	}
}

// initialized changes how long the init containers run of every workload that has some, and of which
// it was not said.
func initialized(span engine.Time) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		changed := false
		for i := range s.Workloads {
			w := &s.Workloads[i]
			if w.App.InitSaid || w.Aside || !initializes(s, w) {
				continue
			}
			w.App.Init, changed = engine.Constant(span), true
			w.Revisions = eachApp(w.Revisions, func(a *world.App) {
				if !a.InitSaid {
					a.Init = engine.Constant(span)
				}
			})
		}
		return changed
	}
}

// eachApp is a copy of the apps of revisions, each changed.
func eachApp(revisions map[string]world.App, change func(*world.App)) map[string]world.App {
	out := map[string]world.App{}
	for _, name := range sortedKeys(revisions) {
		a := revisions[name]
		change(&a)
		out[name] = a
	}
	return out
}
