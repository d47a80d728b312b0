package scenario

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
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

// gatedSleep is the first version whose API has preStop sleep, behind a feature gate that is off by default.
var gatedSleep = endpoints.Version{Major: 1, Minor: 29}

// A sleepHook is a hook of a container that is a sleep action.
type sleepHook struct {
	path    string // within the workload
	seconds int64
	drop    func()
}

// sleeps lists those of a pod's containers, of the sidecars among its init containers, too.
func sleeps(pod *corev1.PodSpec) []sleepHook {
	var out []sleepHook
	of := func(field string, containers []corev1.Container) {
		for i := range containers {
			hooks := containers[i].Lifecycle
			if hooks == nil {
				continue
			}
			on := func(name string, handler **corev1.LifecycleHandler) {
				if *handler != nil && (*handler).Sleep != nil {
					out = append(out, sleepHook{fmt.Sprintf("spec.template.spec.%s[%d].lifecycle.%s", field, i, name), (*handler).Sleep.Seconds, func() { *handler = nil }})
				}
			}
			on("postStart", &hooks.PostStart)
			on("preStop", &hooks.PreStop)
		}
	}
	of("containers", pod.Containers)
	of("initContainers", pod.InitContainers)
	return out
}

// refusedSleep says why the API server refuses a pod for one of its sleep actions, and of which field: one of more than the grace period, for it
// asks for 0 to the grace period (pkg/apis/core/validation/validation.go, validateSleepAction), or any where its version does not know the field,
// for what is left is a handler of no type (docs/model/pod-lifecycle.md 2.2). What a cluster has accepted is not refused.
func refusedSleep(o *manifest.Object, pod *corev1.PodSpec, version endpoints.Version) (field, why string) {
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if g := pod.TerminationGracePeriodSeconds; g != nil {
		grace = *g
	}
	for _, s := range sleeps(pod) {
		switch {
		case o.Has("metadata.uid"):
		case version.Before(gatedSleep):
			return s.path + ".sleep", fmt.Sprintf("Kubernetes %s has no sleep action: the API server refuses it, for it finds no handler; valid here: exec: {command: [sleep, \"%d\"]}, where the image has it, or Kubernetes %s and later",
				version, s.seconds, sleepAction)
		case !version.Before(sleepAction) && s.seconds > grace:
			return s.path + ".sleep.seconds", fmt.Sprintf("%d is more than terminationGracePeriodSeconds, %d: the API server refuses it; valid here: 0 to %d, or a longer terminationGracePeriodSeconds",
				s.seconds, grace, grace)
		}
	}
	return "", ""
}

// gatedSidecars is the first version whose API has the restartPolicy of a container, behind a feature gate that is off by default, and sidecars the
// first in which it is on (docs/model/pod-lifecycle.md 2.4).
var gatedSidecars, sidecars = endpoints.Version{Major: 1, Minor: 28}, endpoints.Version{Major: 1, Minor: 29}

// refusedSidecar says why the pods of a version without sidecars among their init containers never start: the API server does not know, or drops, the
// restartPolicy of the container, which has to end then before the others start, and does not. What a cluster has accepted is not refused.
func refusedSidecar(o *manifest.Object, pod *corev1.PodSpec, version endpoints.Version) (field, why string) {
	at := slices.IndexFunc(pod.InitContainers, func(c corev1.Container) bool { return world.Sidecar(&c) })
	if at < 0 || o.Has("metadata.uid") || !version.Before(sidecars) {
		return "", ""
	}
	how := fmt.Sprintf("Kubernetes %s does not know it", version)
	if !version.Before(gatedSidecars) {
		how = fmt.Sprintf("Kubernetes %s drops it, for its feature gate SidecarContainers is off by default before %s", version, sidecars)
	}
	return fmt.Sprintf("spec.template.spec.initContainers[%d].restartPolicy", at), fmt.Sprintf("%s: container %s is then an init container that never ends, and its pods never start; valid here: Kubernetes %s and later, or container %s among containers",
		how, pod.InitContainers[at].Name, sidecars, pod.InitContainers[at].Name)
}

// refusedSleeps leaves out workloads that the API server refuses for a sleep action, and those whose pods cannot start for a sidecar; only of those
// that are asked for it is said to be an error.
func (b *builder) refusedSleeps(objects []*manifest.Object) []*manifest.Object {
	version, err := endpoints.ParseVersion(b.doc.spec().get("kubernetes").get("version").text(endpoints.CurrentVersion().String()))
	if err != nil {
		return objects // kubernetes says so
	}
	var out []*manifest.Object
	for _, o := range objects {
		resource, ok := o.Value.(world.Resource)
		if template := world.TemplateOf(resource); ok && template != nil {
			field, why := refusedSleep(o, &template.Spec, version)
			if why == "" {
				field, why = refusedSidecar(o, &template.Spec, version)
			}
			if why != "" {
				p := o.Problem(manifest.Warning, field, why)
				p.Refused = strings.Contains(o.ID(), b.opts.Target)
				b.doc.problems = append(b.doc.problems, p)
				b.refused = append(b.refused, resource)
				continue
			}
		}
		out = append(out, o)
	}
	return out
}

// dropSleeps takes out of a pod the sleep actions that the API server drops, with their handlers, while the feature gate is off (pkg/api/pod/util.go,
// dropPodLifecycleSleepAction; docs/model/pod-lifecycle.md 2.2). In a pod that a cluster has accepted with one, the gate is on.
func (b *builder) dropSleeps(w *world.Workload) {
	o := w.Object
	if !b.out.Kubernetes.Version.Before(sleepAction) || o.Has("metadata.uid") || len(sleeps(&w.Template().Spec)) == 0 {
		return
	}
	if own, ok := w.Resource.DeepCopyObject().(world.Resource); ok { // the input stays as it is
		w.Resource = own
	}
	for _, s := range sleeps(&w.Template().Spec) {
		s.drop()
		why := fmt.Sprintf("Kubernetes %s drops the sleep action, for its feature gate PodLifecycleSleepAction is off by default before %s: simulated without this hook", b.out.Kubernetes.Version, sleepAction)
		b.doc.problems = append(b.doc.problems, o.Problem(manifest.Warning, s.path+".sleep", why))
		w.Dropped = append(w.Dropped, world.NotModelled{ID: world.Dropped, What: fmt.Sprintf("%s (%s)", why, where(o, s.path)), Object: o.String(), Direction: "fewer"})
	}
}

// checkHooks warns of what containers ask of their end and do not get: hooks whose program is known not to be in the image, hooks that take the whole grace period, and
// signals. A sleep action that the API server refuses is an error.
func (b *builder) checkHooks(o *manifest.Object, pod *corev1.PodSpec) {
	field, refused := refusedSleep(o, pod, b.out.Kubernetes.Version)
	if refused != "" { // of a Scenario's objects: those of manifests have been left out
		b.doc.problems = append(b.doc.problems, o.Problem(manifest.Error, field, refused))
	}
	if field, why := refusedSidecar(o, pod, b.out.Kubernetes.Version); why != "" {
		b.doc.problems = append(b.doc.problems, o.Problem(manifest.Error, field, why))
	}
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
		if refused == "" {
			b.checkLength(o, pod, i)
		}
		h := servers.HookOf(&containers[i], b.doc.set.For(o.Name))
		if h.Kind == servers.HookMissing && len(hook.PreStop.Exec.Command) > 0 {
			warn("preStop.exec.command", "%s; valid here: preStop: {sleep: {seconds: N}}, for which the kubelet needs no program (Kubernetes %s and later)", h.Why, sleepAction)
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
		for _, own := range []struct {
			field  string
			policy **corev1.NodeInclusionPolicy
		}{{"nodeAffinityPolicy", &c.NodeAffinityPolicy}, {"nodeTaintsPolicy", &c.NodeTaintsPolicy}} {
			if *own.policy == nil {
				continue
			}
			*own.policy = nil
			path := fmt.Sprintf("spec.template.spec.topologySpreadConstraints[%d].%s", i, own.field)
			b.doc.problems = append(b.doc.problems, o.Problem(manifest.Warning, path, fmt.Sprintf(
				"Kubernetes %s drops it, 1.%d is the first that heeds it by default: simulated as if it was not there", b.out.Kubernetes.Version, world.InclusionSince)))
		}
	}
}

// checkDeadline warns of a Deployment whose pods cannot be ready before its rollout is called failed: there is no progress until then, and it goes
// on all the same (docs/model/controllers.md 2 Progress timeout).
func (b *builder) checkDeadline(o *manifest.Object, pod *corev1.PodSpec) {
	d, ok := o.Value.(*appsv1.Deployment)
	if !ok || d.Spec.Paused || d.Spec.ProgressDeadlineSeconds == nil {
		return
	}
	deadline := *d.Spec.ProgressDeadlineSeconds
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if probe := c.ReadinessProbe; probe != nil && probe.InitialDelaySeconds >= deadline {
			b.doc.problems = append(b.doc.problems, o.Problem(manifest.Warning, "spec.progressDeadlineSeconds", fmt.Sprintf(
				"no pod is ready before the %d s of readinessProbe.initialDelaySeconds of container %s, and after %d s without progress Kubernetes calls the rollout failed "+
					"(ProgressDeadlineExceeded): kubectl rollout status ends with an error, though the rollout goes on; valid here: more than %d s, such as %d",
				probe.InitialDelaySeconds, c.Name, deadline, probe.InitialDelaySeconds, probe.InitialDelaySeconds+minuteOfProgress)))
			return
		}
	}
}

// minuteOfProgress is what a deadline has beside what is waited for in any case.
const minuteOfProgress = 60

// checkLength looks at how long the preStop hook of a container takes beside the grace period: one that takes as long is cut, and the kubelet gives
// the app 2 s more (docs/model/pod-lifecycle.md 2.1).
func (b *builder) checkLength(o *manifest.Object, pod *corev1.PodSpec, container int) {
	c := &pod.Containers[container]
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if g := pod.TerminationGracePeriodSeconds; g != nil {
		grace = max(*g, 1) // docs/model/pod-lifecycle.md 2.1 Effective grace
	}
	took := servers.HookOf(c, b.doc.set.For(o.Name)).Duration.Min()
	if c.Lifecycle.PreStop == nil || took == 0 || took < engine.Time(grace)*engine.Second {
		return
	}
	words, longer := fmt.Sprintf("it takes %s, and the grace period is %d s: the kubelet cuts it", took.Duration(), grace), "; a longer terminationGracePeriodSeconds lets it end, and mends nothing else"
	switch {
	case took >= servers.Forever:
		words, longer = fmt.Sprintf("it does not end by itself: the kubelet cuts it after the grace period of %d s", grace), ""
	case took == engine.Time(grace)*engine.Second:
		words = fmt.Sprintf("it takes the whole grace period of %d s", grace)
	}
	b.doc.problems = append(b.doc.problems, o.Problem(manifest.Warning, fmt.Sprintf("spec.template.spec.containers[%d].lifecycle.preStop", container),
		words+", and the app has 2 s to finish after SIGTERM"+longer))
}
