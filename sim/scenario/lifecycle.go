package scenario

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// sleepAction is the first version that has preStop sleep without a feature gate
// (facts/pod-lifecycle.md 2.2).
var sleepAction = endpoints.Version{Major: 1, Minor: 30}

// checkHooks warns of what containers ask of their end and do not get: hooks that the simulated
// version would not have, hooks whose program is known not to be in the image, and signals.
func (b *builder) checkHooks(o *manifest.Object, containers []corev1.Container) {
	old := b.out.Kubernetes.Version.Before(sleepAction)
	for i := range containers {
		hook := containers[i].Lifecycle
		if hook == nil {
			continue
		}
		warn := func(field, format string, args ...any) {
			path := fmt.Sprintf("spec.template.spec.containers[%d].lifecycle.%s", i, field)
			b.doc.problems = append(b.doc.problems, o.Problem(manifest.Warning, path, fmt.Sprintf(format, args...)))
		}
		h := HookOf(&containers[i], b.doc.set.For(o.Name))
		if h.Kind == HookMissing && len(hook.PreStop.Exec.Command) > 0 {
			warn("preStop.exec.command", "%s; valid here: preStop: {sleep: {seconds: N}}, for which the kubelet needs no program (Kubernetes %s and later)", h.Why, sleepAction)
		}
		if old && h.Kind == HookSleep {
			warn("preStop.sleep", "Kubernetes %s has no sleep action by default, %s is the first; it is simulated all the same", b.out.Kubernetes.Version, sleepAction)
		}
		// facts/pod-lifecycle.md 2.3: the API server drops the field while the gate is off.
		if hook.StopSignal != nil {
			warn("stopSignal", "Kubernetes drops it without the feature gate ContainerStopSignals, which is off by default in every version up to 1.36: "+
				"simulated as if it was not there; valid here: STOPSIGNAL in the image, or --profile for what the app does with that signal")
		}
	}
}
