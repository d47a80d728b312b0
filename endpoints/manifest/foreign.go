package manifest

import "slices"

// foreign says whether a kind is one that is kept raw, whatever its version, because Services may
// lead to its pods, or requests may go another way because of it. Nothing is asked of such an
// object, not even a name.
func foreign(group, kind string) bool {
	return slices.Contains(map[string][]string{
		"":                          {"ConfigMap", "ReplicationController"},   // a ConfigMap says how a proxy is set
		"apps.kruise.io":            {"CloneSet", "DaemonSet", "StatefulSet"}, // OpenKruise
		"apps.openshift.io":         {"DeploymentConfig"},
		"argoproj.io":               {"Rollout"},
		"batch":                     {"CronJob", "Job"},
		"gateway.envoyproxy.io":     {"BackendTrafficPolicy"},
		"gateway.networking.k8s.io": {"GRPCRoute"},
		"karpenter.sh":              {"NodePool"},
		"keda.sh":                   {"ScaledObject"},
		"metallb.io":                {"BGPAdvertisement", "L2Advertisement"},
		"networking.istio.io":       {"DestinationRule", "VirtualService"},
		"serving.knative.dev":       {"Service"},
	}[group], kind) || UnreadRoute(group, kind)
}

// UnreadRoute says whether a kind leads requests to Services in a way that nobody reads here, as an Ingress, HTTPRoute or GRPCRoute is read: only the
// names of the Services are.
func UnreadRoute(group, kind string) bool {
	return slices.Contains(map[string][]string{
		"apisix.apache.org":         {"ApisixRoute"},
		"configuration.konghq.com":  {"TCPIngress", "UDPIngress"},
		"eks.amazonaws.com":         {"TargetGroupBinding"},
		"elbv2.k8s.aws":             {"TargetGroupBinding"},
		"gateway.networking.k8s.io": {"TCPRoute", "TLSRoute", "UDPRoute"},
		"getambassador.io":          {"Mapping", "TCPMapping"},
		"k8s.nginx.org":             {"TransportServer", "VirtualServer", "VirtualServerRoute"},
		"networking.istio.io":       {"VirtualService"},
		"projectcontour.io":         {"HTTPProxy"},
		"route.openshift.io":        {"Route"},
		"traefik.containo.us":       {"IngressRoute", "IngressRouteTCP", "IngressRouteUDP"},
		"traefik.io":                {"IngressRoute", "IngressRouteTCP", "IngressRouteUDP"},
		"zalando.org":               {"RouteGroup"},
	}[group], kind)
}

// Group is the API group of an object, "" for the core group.
func (o *Object) Group() string { return groupOf(o.APIVersion) }
