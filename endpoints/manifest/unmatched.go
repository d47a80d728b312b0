package manifest

import (
	discoveryv1 "k8s.io/api/discovery/v1"

	corev1 "k8s.io/api/core/v1"
)

// Unmatched returns a Warning for each EndpointSlice that names a Service which
// is not in the input, and for each Service that no EndpointSlice in the input
// names: such a Service has no endpoints. ExternalName Services need none.
// Whether that matters depends on the command: the simulator makes its own
// EndpointSlices. Slices come first, each in input order; nil when all match.
func Unmatched(objs *Objects) []Problem {
	type key struct{ namespace, name string }
	services := map[key]bool{}
	for _, s := range objs.Services {
		services[key{s.Namespace, s.Name}] = true
	}
	var problems []Problem
	matched := map[key]bool{}
	for _, s := range objs.EndpointSlices {
		service := s.Value.Labels[discoveryv1.LabelServiceName]
		if service == "" {
			continue // Load has said so
		}
		k := key{s.Namespace, service}
		matched[k] = true
		if !services[k] {
			problems = append(problems, s.Problem(Warning, `metadata.labels["`+discoveryv1.LabelServiceName+`"]`,
				"there is no Service "+s.Namespace+"/"+service+" in the input; this EndpointSlice is never used"))
		}
	}
	for _, s := range objs.Services {
		if matched[key{s.Namespace, s.Name}] || s.Value.Spec.Type == corev1.ServiceTypeExternalName {
			continue
		}
		problems = append(problems, s.Problem(Warning, "",
			"no EndpointSlice in the input has the label "+discoveryv1.LabelServiceName+": "+s.Name+"; this Service has no endpoints"))
	}
	return problems
}
