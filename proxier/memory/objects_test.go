package memory

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// objects returns the API objects that a simple service port is read from.
func objects(sp endpoints.ServicePort) (*corev1.Service, *discoveryv1.EndpointSlice) {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name = sp.Name.Namespace, sp.Name.Name
	svc.Spec.Type, svc.Spec.ClusterIP = corev1.ServiceTypeClusterIP, sp.ClusterIP.String()
	svc.Spec.Ports = []corev1.ServicePort{{Name: sp.Name.Port, Port: int32(sp.Port)}}
	if sp.AffinityTimeout > 0 {
		svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
		seconds := int32(sp.AffinityTimeout / time.Second)
		svc.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
	}
	slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	slice.Namespace, slice.Name = svc.Namespace, svc.Name
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: svc.Name}
	for i := range sp.Endpoints {
		e := &sp.Endpoints[i]
		slice.Ports = []discoveryv1.EndpointPort{{Name: &sp.Name.Port, Port: new(int32(e.Addr.Port()))}}
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{e.Addr.Addr().String()}, NodeName: &e.NodeName,
			Conditions: discoveryv1.EndpointConditions{Ready: new(e.Conditions.Ready()), Serving: new(e.Conditions.Serving()), Terminating: new(e.Conditions.Terminating())},
		})
	}
	return svc, slice
}

// planWithNodePort plans a load balancer with node port 30080, health-check node port 31000
// and one endpoint.
func planWithNodePort(t testing.TB, n *plan.Node) *plan.Plan {
	t.Helper()
	svc, slice := objects(portOf(1, 0))
	svc.Spec.Type = corev1.ServiceTypeLoadBalancer
	svc.Spec.Ports[0].NodePort, svc.Spec.HealthCheckNodePort = 30080, 31000
	svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	c := endpoints.NewCache(n.Options)
	if problems := append(c.SetService(svc), c.SetSlice(slice)...); len(problems) > 0 {
		t.Fatal(problems)
	}
	return plan.Build(c.Snapshot(), n)
}
