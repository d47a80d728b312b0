package scenario

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// sleepAction is the first version that has preStop sleep without a feature gate
// (docs/model/pod-lifecycle.md 2.2).
var sleepAction = endpoints.Version{Major: 1, Minor: 30}

// checkHooks warns of what containers ask of their end and do not get: hooks that the simulated
// version would not have, hooks whose program is known not to be in the image, hooks that take the whole grace period, and
// signals. A sleep action that the API server refuses is an error.
func (b *builder) checkHooks(o *manifest.Object, pod *corev1.PodSpec) {
	old := b.out.Kubernetes.Version.Before(sleepAction)
	containers := pod.Containers
	for i := range containers {
		hook := containers[i].Lifecycle
		if hook == nil {
			continue
		}
		warn := func(field, format string, args ...any) {
			path := fmt.Sprintf("spec.template.spec.containers[%d].lifecycle.%s", i, field)
			b.doc.problems = append(b.doc.problems, o.Problem(manifest.Warning, path, fmt.Sprintf(format, args...)))
		}
		b.checkSleeps(o, pod, i)
		h := servers.HookOf(&containers[i], b.doc.set.For(o.Name))
		if h.Kind == servers.HookMissing && len(hook.PreStop.Exec.Command) > 0 {
			warn("preStop.exec.command", "%s; valid here: preStop: {sleep: {seconds: N}}, for which the kubelet needs no program (Kubernetes %s and later)", h.Why, sleepAction)
		}
		if old && h.Kind == servers.HookSleep {
			warn("preStop.sleep", "Kubernetes %s has no sleep action by default, %s is the first; it is simulated all the same", b.out.Kubernetes.Version, sleepAction)
		}
		// docs/model/pod-lifecycle.md 2.3: the API server drops the field while the gate is off.
		if hook.StopSignal != nil {
			warn("stopSignal", "Kubernetes drops it without the feature gate ContainerStopSignals, which is off by default in every version up to 1.36: "+
				"simulated as if it was not there; valid here: STOPSIGNAL in the image, or the profile of what the app does with that signal")
		}
	}
}

// checkSpread leaves out of topology spread constraints which nodes count, where the simulated version has no such fields: its API server drops
// them (docs/model/controllers.md 5 Node inclusion policies).
func (b *builder) checkSpread(o *manifest.Object, pod *corev1.PodSpec) {
	if b.out.Kubernetes.Version.Minor >= world.InclusionSince {
		return
	}
	for i := range pod.TopologySpreadConstraints {
		c := &pod.TopologySpreadConstraints[i]
		for field, policy := range map[string]**corev1.NodeInclusionPolicy{"nodeAffinityPolicy": &c.NodeAffinityPolicy, "nodeTaintsPolicy": &c.NodeTaintsPolicy} { // order: problems are sorted
			if *policy == nil {
				continue
			}
			*policy = nil
			path := fmt.Sprintf("spec.template.spec.topologySpreadConstraints[%d].%s", i, field)
			b.doc.problems = append(b.doc.problems, o.Problem(manifest.Warning, path, fmt.Sprintf(
				"Kubernetes %s drops it, 1.%d is the first that heeds it by default: simulated as if it was not there", b.out.Kubernetes.Version, world.InclusionSince)))
		}
	}
}

// checkSleeps looks at how long the hooks of a container take beside the grace period. A sleep action that is longer is
// refused by the API server, which asks for one from 0 to the grace period (pkg/apis/core/validation/validation.go,
// validateSleepAction; docs/model/pod-lifecycle.md 2.2), and so an error; what a cluster has accepted is simulated. Any
// other preStop hook that takes as long is cut: the kubelet gives the app 2 s more (docs/model/pod-lifecycle.md 2.1).
func (b *builder) checkSleeps(o *manifest.Object, pod *corev1.PodSpec, container int) {
	c := &pod.Containers[container]
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if g := pod.TerminationGracePeriodSeconds; g != nil {
		grace = *g
	}
	at := fmt.Sprintf("spec.template.spec.containers[%d].lifecycle.", container)
	refused := false
	for _, hook := range []struct {
		name    string
		handler *corev1.LifecycleHandler
	}{{"postStart", c.Lifecycle.PostStart}, {"preStop", c.Lifecycle.PreStop}} {
		h := hook.handler
		if h == nil || h.Sleep == nil || h.Sleep.Seconds <= grace || b.out.Kubernetes.Version.Before(sleepAction) || o.Has("metadata.uid") {
			continue
		}
		refused = true
		b.doc.problems = append(b.doc.problems, o.Problem(manifest.Error, at+hook.name+".sleep.seconds", fmt.Sprintf(
			"%d is more than terminationGracePeriodSeconds, %d: the API server refuses it; valid here: 0 to %d, or a longer terminationGracePeriodSeconds",
			h.Sleep.Seconds, grace, grace)))
	}
	took := servers.HookOf(c, b.doc.set.For(o.Name)).Duration.Min()
	if refused || c.Lifecycle.PreStop == nil || took == 0 || took < engine.Time(grace)*engine.Second {
		return
	}
	words := fmt.Sprintf("it takes %s, and the grace period is %d s: the kubelet cuts it", took.Duration(), grace)
	if took == engine.Time(grace)*engine.Second {
		words = fmt.Sprintf("it takes the whole grace period of %d s", grace)
	}
	b.doc.problems = append(b.doc.problems, o.Problem(manifest.Warning, at+"preStop",
		words+", and the app has 2 s to finish after SIGTERM; a longer terminationGracePeriodSeconds mends it"))
}
