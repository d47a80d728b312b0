package scenario

import networkingv1 "k8s.io/api/networking/v1"

// pathWords names in parentheses what stands before a port that an Ingress names: a preset where
// its class is one of a provider (simulator.md 5.2), else the class.
func (b *builder) pathWords(t *Traffic) string {
	s, ok := b.world.service(t.Service)
	if !ok {
		return ""
	}
	for i := range s.Value.Spec.Ports {
		if p := &s.Value.Spec.Ports[i]; int(p.Port) == t.Port {
			if ingress, ok := b.world.ingressOf(&subject{service: s, port: p}); ok {
				if path := ingressPath(ingress.Value, s.Value.Annotations); path != "" {
					return " (" + path + ")"
				}
			}
		}
	}
	return ""
}

// ingressPath is what an Ingress makes of a Service. Its class stands in the spec or, before
// Kubernetes 1.18, in an annotation; without one it is the cluster's default.
func ingressPath(i *networkingv1.Ingress, service map[string]string) string {
	class := i.Annotations["kubernetes.io/ingress.class"]
	if c := i.Spec.IngressClassName; c != nil {
		class = *c
	}
	switch class {
	case "alb":
		const target = "alb.ingress.kubernetes.io/target-type"
		if i.Annotations[target] == "ip" || service[target] == "ip" {
			return "aws-alb-ip"
		}
		return "aws-alb-instance" // the controller's default (recalled)
	case "gce", "gce-internal":
		if service["cloud.google.com/neg"] == "" {
			return "gke-l7-instance-group, or gke-l7-neg where the cluster makes NEGs by itself"
		}
		return "gke-l7-neg"
	case "nginx":
		return "ingress-nginx"
	default:
		return class
	}
}
