package scenario

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// What a port is for, beside users' requests: its name says it, after the protocol that Istio's
// convention puts before it, or a number that belongs to one program alone.

// Users is how near the requests of a case are to users, the nearest first.
type Users uint8

// The ranks by which reports order cases.
const (
	UsersEntry    Users = iota // a load balancer, an Ingress or a route leads there
	UsersNodePort              // from outside, over the nodes' ports
	UsersInside                // requests inside the cluster
	UsersSessions              // long sessions, of databases and brokers, and messages to which there are no answers
	UsersWebhook               // the API server asks
	UsersNone                  // nobody's request: metrics, profiling, peers, proxies' configuration
)

// usersOf ranks an entry.
func (b *builder) usersOf(e *entry) Users {
	typ := e.service.Value.Spec.Type
	switch {
	case b.parked(e) != "", e.aside || e.class == ClassAdmin || e.class == ClassScrape || e.class == ClassPeer:
		return UsersNone
	case e.class == ClassWebhook:
		return UsersWebhook
	case e.routed != "", typ == corev1.ServiceTypeLoadBalancer && !e.oneWay():
		return UsersEntry
	case typ == corev1.ServiceTypeNodePort && !e.oneWay():
		return UsersNodePort
	case e.class == ClassSession, e.oneWay():
		return UsersSessions
	default:
		return UsersInside
	}
}

// oneWay says that nobody waits for an answer on any port of an entry.
func (e *entry) oneWay() bool {
	return e.class == ClassDatagram && !slices.ContainsFunc(e.ports, func(port string) bool {
		number, err := strconv.Atoi(strings.TrimPrefix(port, ":"))
		return err != nil || !oneWay(e.service.Value.Spec.Ports, number)
	})
}

// baseName is a port's name without the protocol before or after it: "debug" of "http-debug".
func baseName(name string) string {
	name = strings.ToLower(name)
	for _, protocol := range []string{"grpc", "https", "http", "tcp", "udp", "tls"} {
		name = strings.TrimSuffix(strings.TrimPrefix(name, protocol+"-"), "-"+protocol)
	}
	return name
}

// says whether one of some words is the name, or its beginning or end up to a hyphen.
func says(name string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return name == w || strings.HasPrefix(name, w+"-") || strings.HasSuffix(name, "-"+w)
	})
}

// isAdmin is a port for operators and probes: profiling and debugging wherever it is, and what is
// called admin, health or status beside a port for users.
func isAdmin(s *subject) bool {
	name := baseName(s.port.Name)
	if says(name, "pprof", "debug", "profiling", "profiler", "jmx", "jdwp") {
		return true
	}
	if isOnlyPort(s) {
		return false
	}
	switch targetNumber(s) {
	case 15021, 9901, 15671, 15672: // the health port of Istio's gateways, Envoy's admin port, RabbitMQ's management
		return true
	}
	return says(name, "admin", "management", "mgmt", "health", "healthz", "healthcheck", "livez", "readyz", "probe", "probes", "status")
}

// isControl is a port over which proxies are told their configuration: Envoy's xDS protocols, and
// istiod's numbers for them.
func isControl(s *subject) bool {
	switch targetNumber(s) {
	case 15010, 15012:
		return true
	}
	return says(baseName(s.port.Name), "xds", "ads", "sds")
}

// isWebhookByName is a port called webhook of which no webhook configuration of the input knows.
func isWebhookByName(s *subject) bool { return says(baseName(s.port.Name), "webhook", "webhooks") }

// namesPeer is a port by which replicas talk to each other.
func namesPeer(s *subject) bool {
	switch targetNumber(s) {
	case 2380, 7946: // etcd's peers, memberlist's gossip
		return true
	}
	name := baseName(s.port.Name)
	return name == "cluster" || says(name, "gossip", "memberlist", "serf", "raft", "peer", "peers", "replication")
}

// setAside says that a port is not for users although its class would be: how it is spoken to is
// one thing, who waits for an answer another.
func (w *inventory) setAside(s *subject) bool {
	return !w.routed(s) && (isControl(s) || isWebhookByName(s) && s.service.Value.Spec.Type == corev1.ServiceTypeClusterIP || isPeerUDP(s))
}

// isPeerUDP is gossip over UDP, which has no sessions.
func isPeerUDP(s *subject) bool { return s.port.Protocol == corev1.ProtocolUDP && namesPeer(s) }
