package manifest

import (
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
)

// validateIngress checks the one field of an Ingress that networking.k8s.io/v1 wants and manifests forget (pkg/apis/networking/validation/validation.go,
// validateHTTPIngressPath): which requests a path is for is its controller's affair without it.
func validateIngress(o *Object, i *networkingv1.Ingress) ([]Problem, bool) {
	c := &checker{o: o}
	for r := range i.Spec.Rules {
		http := i.Spec.Rules[r].HTTP
		if http == nil {
			continue
		}
		for p := range http.Paths {
			path := fmt.Sprintf("spec.rules[%d].http.paths[%d].pathType", r, p)
			switch t := http.Paths[p].PathType; {
			case t == nil:
				c.replaced(path, "the path is used as a prefix", "must be Exact, Prefix or ImplementationSpecific, there is no default")
			case *t != networkingv1.PathTypeExact && *t != networkingv1.PathTypePrefix && *t != networkingv1.PathTypeImplementationSpecific:
				c.replaced(path, "the path is used as a prefix", "is %q, must be Exact, Prefix or ImplementationSpecific", *t)
			}
		}
	}
	return c.problems, true
}
