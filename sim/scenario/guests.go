package scenario

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// guests warns of Jobs whose pods a Service selects together with those that serve: while one runs it is an endpoint, and new connections go to
// it (docs/model/controllers.md 9.1 Ready: conditions are of pods, whoever made them; without a readiness probe a pod is
// ready as soon as it runs).
func (b *builder) guests() {
	for _, s := range b.world.services {
		serves := func(i int) bool { return !b.census.owners[i].ends() && b.census.owners[i].replicas != 0 }
		behind := b.census.behind[s.ID()]
		if !slices.ContainsFunc(behind, serves) {
			continue
		}
		for _, i := range behind {
			o := &b.census.owners[i]
			if port := guestPort(s.Value, o.template); o.ends() && port > 0 {
				b.doc.problems = append(b.doc.problems, o.object.Problem(manifest.Warning, labelsPath(o.object), fmt.Sprintf(
					"Service %s selects its pod, too: while it runs it is one of the endpoints of port %d, and new connections to it are refused unless it listens there: give it other labels", s.Name, port)))
			}
		}
	}
}

// guestPort is the first port of a Service whose endpoints a pod would be among, 0 for none: it is never ready where a probe says when it is,
// and nothing answers that.
func guestPort(s *corev1.Service, t *corev1.PodTemplateSpec) int32 {
	if slices.ContainsFunc(t.Spec.Containers, func(c corev1.Container) bool { return c.ReadinessProbe != nil }) && !s.Spec.PublishNotReadyAddresses {
		return 0
	}
	for i := range s.Spec.Ports {
		if _, ok := world.TargetPort(s.Spec.Ports[i].TargetPort, t); ok {
			return s.Spec.Ports[i].Port
		}
	}
	return 0
}

// labelsPath is where the labels of the pods of a Job or a CronJob stand.
func labelsPath(o *manifest.Object) string {
	if o.Kind == "CronJob" {
		return "spec.jobTemplate.spec.template.metadata.labels"
	}
	return "spec.template.metadata.labels"
}
