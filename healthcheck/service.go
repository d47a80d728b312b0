package healthcheck

import (
	"encoding/json"
	"strconv"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Service is what one health-check node port of a node stands for.
type Service struct {
	Name   endpoints.ServiceName
	Family endpoints.IPFamily // the port listens in this family only
	Port   uint16             // spec.healthCheckNodePort
	// LocalEndpoints counts the distinct IPs of ready endpoints on this node. Terminating
	// endpoints are not ready, however well they serve; not-ready ones of a Service that
	// publishes not-ready addresses are.
	LocalEndpoints int
}

// ServiceOf returns what svc's health-check node port in a family stands for on the named
// node. It returns false when svc is nil or has no such port: only a Service of type
// LoadBalancer with externalTrafficPolicy Local has one.
func ServiceOf(svc *endpoints.Service, family endpoints.IPFamily, nodeName string, o endpoints.Options) (Service, bool) {
	if svc == nil {
		return Service{}, false
	}
	port := svc.HealthCheckNodePort(family)
	if port == 0 {
		return Service{}, false
	}
	return Service{
		Name: svc.Name, Family: family, Port: port,
		LocalEndpoints: svc.LocalReadyEndpoints(family, nodeName, o),
	}, true
}

// OK says whether a probe of the port passes: the node has ready endpoints and, since 1.27
// (Options.ServiceHealthInfo; recalled), its proxy is healthy. Neither a cordon, a taint
// nor a deletion of the node has any influence.
func (s Service) OK(proxyHealthy bool, o endpoints.Options) bool {
	return s.LocalEndpoints != 0 && (proxyHealthy || !o.ServiceHealthInfo)
}

// ServiceAnswer returns what the health-check node port of s answers while the proxy is
// healthy or not (see Healthy). Options.ServiceHealthInfo adds serviceProxyHealthy to the
// body, Options.EndpointWeight the weight header.
func ServiceAnswer(s Service, proxyHealthy bool, o endpoints.Options) Answer {
	a := answer(s.OK(proxyHealthy, o), serviceBody(s, proxyHealthy, o))
	if o.EndpointWeight {
		a.Header["X-Load-Balancing-Endpoint-Weight"] = []string{strconv.Itoa(s.LocalEndpoints)}
	}
	return a
}

// serviceBody lays the JSON out as upstream's template does, tabs included: programs in the
// field match it as text.
func serviceBody(s Service, proxyHealthy bool, o endpoints.Options) []byte {
	b := make([]byte, 0, 160)
	b = append(b, "{\n\t\"service\": {\n\t\t\"namespace\": "...)
	b = append(b, quoted(s.Name.Namespace)...)
	b = append(b, ",\n\t\t\"name\": "...)
	b = append(b, quoted(s.Name.Name)...)
	b = append(b, "\n\t},\n\t\"localEndpoints\": "...)
	b = strconv.AppendInt(b, int64(s.LocalEndpoints), 10)
	if o.ServiceHealthInfo {
		b = append(b, ",\n\t\"serviceProxyHealthy\": "...)
		b = strconv.AppendBool(b, proxyHealthy)
	}
	return append(b, "\n}"...)
}

// quoted returns a JSON string. Upstream quotes as Go source does, which is the same for
// every name the API server lets through; other names come from files.
func quoted(s string) []byte {
	b, _ := json.Marshal(s) // cannot fail: it is a string
	return b
}
