package scenario

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Class is one row of the table of what a Service port is for (docs/model/simulator.md 5.1).
type Class struct {
	ID, Match, Clients string
	Headline           bool
	// NotJudged says why cases of the class have no verdict, "" when they have one.
	NotJudged string
}

// Classes of traffic.
const (
	ClassDNS      = "dns"
	ClassWebhook  = "webhook"
	ClassScrape   = "scrape"
	ClassPeer     = "peer"
	ClassH2       = "h2"
	ClassSession  = "session"
	ClassOutside  = "outside"
	ClassInside   = "inside"
	ClassDatagram = "datagram"
	ClassSCTP     = "sctp"
	ClassAdmin    = "admin"
)

// Classes lists the table; the first row that matches a port is its class.
func Classes() []Class {
	return []Class{
		{ID: ClassDNS, Match: "clusterIP None", Clients: "a DNS client a node", NotJudged: "clients choose the pod"},
		{ID: ClassWebhook, Match: "named by a webhook configuration", Clients: "the API server, 1/s, timeout 10s"},
		{ID: ClassScrape, Match: "port named metrics, *-metrics, prometheus, exporter or servicemonitor, a known exporter's, prometheus.io/port, or a controller that serves nothing else", Clients: "1 in 15s",
			NotJudged: "a scrape that fails is tried again; no client's request is lost"},
		{ID: ClassAdmin, Match: "port named pprof, debug, profiling or jmx, or, beside others, admin, health or status; not named by an Ingress, HTTPRoute or GRPCRoute", Clients: "operators and probes",
			NotJudged: "for operators and probes: no user waits for an answer"},
		{ID: ClassPeer, Match: "per-pod Service to which nothing leads from outside, publishNotReadyAddresses on a port of no protocol for clients, peer port of a known database, port named gossip, raft, peer, replication or cluster", Clients: "a long session a peer"},
		{ID: ClassSCTP, Match: "protocol SCTP", Clients: "associations", NotJudged: "SCTP traffic is not yet simulated"},
		{ID: ClassDatagram, Match: "protocol UDP", Clients: "query and answer, 100/s, a source port each; timeout 2s, 1 retry, none to ports without answers", Headline: true},
		{ID: ClassH2, Match: "appProtocol grpc or h2c, port named grpc* or *-grpc, grpc probe on it, or named by a GRPCRoute", Clients: "10 clients with a HTTP/2 connection each, 100 calls/s, no retry",
			Headline: true},
		{ID: ClassSession, Match: "6379, 3306, 5432, 27017, 5672, 9042, 11211, 9092, 4222, 9093 to 9099 of Kafka, port named or appProtocol ws, wss, websocket, rtmp, nats, amqp, mqtt, stomp or ssh, or tcp-* of an unknown app", Clients: "10 long sessions, 100 operations/s",
			Headline: true},
		{ID: ClassOutside, Match: "other TCP of a LoadBalancer or NodePort, or named by an Ingress or HTTPRoute",
			Clients: "new connection each request: Poisson 100/s, no retry; and keep-alive: 20 connections, 100/s, idle 60s", Headline: true},
		{ID: ClassInside, Match: "other TCP", Clients: "the same two, from pods, one a node", Headline: true},
	}
}

func classNamed(id string) Class {
	for _, c := range Classes() {
		if c.ID == id {
			return c
		}
	}
	return Class{ID: id}
}

// subject is a Service port together with the pods behind it.
type subject struct {
	service   manifest.Typed[*corev1.Service]
	port      *corev1.ServicePort
	template  *corev1.PodTemplateSpec
	container *corev1.Container // that listens on the target port
	// through is by which of several entrances requests come, nil where there is but one, or which one does not matter.
	through *entrance
}

// classify returns the class of a port.
func (w *inventory) classify(s *subject) string {
	svc, p := s.service.Value, s.port
	switch {
	case svc.Spec.ClusterIP == corev1.ClusterIPNone:
		return ClassDNS
	case w.isWebhook(s):
		return ClassWebhook
	case isScrape(s):
		return ClassScrape
	case isAdmin(s) && !w.routed(s):
		return ClassAdmin
	case w.ofOnePod(s), isPeer(s), svc.Spec.PublishNotReadyAddresses && !w.forClients(s):
		return ClassPeer
	case p.Protocol == corev1.ProtocolSCTP:
		return ClassSCTP
	case p.Protocol == corev1.ProtocolUDP:
		return ClassDatagram
	case isH2(s), w.routedBy(s) == kindGRPCRoute:
		return ClassH2
	case isSession(s), speaksSessions(s.port) && !w.routed(s): // a proxy of HTTP requests is simulated with requests
		return ClassSession
	case svc.Spec.Type == corev1.ServiceTypeLoadBalancer, svc.Spec.Type == corev1.ServiceTypeNodePort, w.routed(s):
		return ClassOutside
	default:
		return ClassInside
	}
}

func (w *inventory) isWebhook(s *subject) bool {
	for _, h := range w.webhooks {
		if h.service == s.service.ID() && h.port == s.port.Port {
			return true
		}
	}
	return false
}

// failurePolicy is that of the webhook configuration that names the port, "" when none does.
func (w *inventory) failurePolicy(s *subject) string {
	for _, h := range w.webhooks {
		if h.service == s.service.ID() && h.port == s.port.Port {
			return h.failurePolicy
		}
	}
	return ""
}

func isScrape(s *subject) bool {
	name := s.port.Name
	if namesScrape(name) || namesScrape(targetName(s)) || isExporter(s) {
		return true
	}
	if !isOnlyPort(s) && (says(baseName(name), "prometheus", "prom") && !isPrometheus(s) || exports(s)) {
		return true
	}
	target := targetNumber(s)
	switch target {
	case 15014, 15020, 15090: // istiod's and its proxies' (istio.io, Application Requirements; recalled)
		return true
	}
	for _, annotations := range []map[string]string{s.template.Annotations, s.service.Value.Annotations} {
		if port := annotations["prometheus.io/port"]; port != "" && port == strconv.Itoa(target) && !isOnlyPort(s) {
			return true
		}
	}
	return false
}

// namesScrape says that a port is for a scraper by its name, that of the Service or of the container.
func namesScrape(name string) bool {
	return says(baseName(name), "metrics", "monitoring", "telemetry") || strings.Contains(name, "exporter") || says(name, "servicemonitor", "podmonitor")
}

// targetName is what the container calls the port that a Service port leads to, "" for nothing.
func targetName(s *subject) string {
	if s.container == nil {
		return ""
	}
	for _, p := range s.container.Ports {
		if int(p.ContainerPort) == targetNumber(s) {
			return p.Name
		}
	}
	return ""
}

// isExporter says that what listens is a program of the cluster's own that serves nothing but metrics: an exporter, or a controller, which talks
// to the API server and is asked by nobody (the charts of each; recalled).
func isExporter(s *subject) bool {
	if s.container == nil || s.port.Protocol == corev1.ProtocolUDP {
		return false
	}
	return servers.ParseImage(s.container.Image).Named("kube-state-metrics", "external-dns", "cert-manager-controller", "cert-manager-cainjector", "cluster-autoscaler", "descheduler",
		"node-exporter", "blackbox-exporter", "mysqld-exporter", "postgres-exporter", "redis_exporter", "redis-exporter", "kafka-exporter", "nginx-prometheus-exporter",
		"cloudwatch-exporter", "elasticsearch_exporter", "mongodb_exporter", "memcached-exporter", "json-exporter", "snmp-exporter")
}

// isPrometheus says that what listens is Prometheus itself, whose port users ask.
func isPrometheus(s *subject) bool {
	return s.container != nil && servers.ParseImage(s.container.Image).Named("prometheus")
}

// exports says that a port has the number of RabbitMQ's metrics (rabbitmq.com, Monitoring with Prometheus; recalled) or of an exporter beside
// an app: node's, MySQL's, nginx's, Redis', PostgreSQL's, MongoDB's, Kafka's and the JVM's (github.com/prometheus/prometheus, Default port
// allocations; recalled).
func exports(s *subject) bool {
	switch targetNumber(s) {
	case 15692, 9100, 9104, 9113, 9121, 9187, 9216, 9308, 9404, 9419:
		return true
	}
	return false
}

// isOnlyPort: an app that serves its metrics on the port it serves everything on is not there
// to be scraped.
func isOnlyPort(s *subject) bool { return len(s.service.Value.Spec.Ports) == 1 }

// ofOnePod says that a Service selects one pod of a StatefulSet, and nobody comes by it from outside.
func (w *inventory) ofOnePod(s *subject) bool {
	of := s.service.Value.Spec.Selector
	return (of[appsv1.StatefulSetPodNameLabel] != "" || of[appsv1.PodIndexLabel] != "") && !w.fromOutside(s)
}

// fromOutside says that clients from outside come to a port: by a load balancer, a port of the nodes or a route.
func (w *inventory) fromOutside(s *subject) bool {
	t := s.service.Value.Spec.Type
	return t == corev1.ServiceTypeLoadBalancer || t == corev1.ServiceTypeNodePort || w.routed(s)
}

func isPeer(s *subject) bool {
	if namesPeer(s) && s.port.Protocol == corev1.ProtocolTCP {
		return true
	}
	if s.container == nil || !servers.IsDatabase(servers.EvidenceOf(s.container, nil)) {
		return false
	}
	switch targetNumber(s) {
	case 2380, 7000, 7001, 7199, 9300, 4369, 25672, 26379, 16379, 4567, 4568, 4444, 2888, 3888, 6222:
		return true
	}
	return false
}

// forClients says that a port is one that clients use, though its Service leads to pods that are not ready, too, as one for peers does:
// something leads there from outside, or its name or number is that of a protocol for clients.
func (w *inventory) forClients(s *subject) bool {
	if w.fromOutside(s) {
		return true
	}
	switch targetNumber(s) {
	case 80, 443, 8080, 8443, 9200:
		return true
	}
	first, _, _ := strings.Cut(strings.ToLower(s.port.Name), "-")
	switch first {
	case "http", "https", "http2", "grpc", "web", "api", "client", "rest":
		return true
	}
	return isH2(s) || ofDatabase(s) || speaksSessions(s.port)
}

func isH2(s *subject) bool {
	if p := s.port.AppProtocol; p != nil {
		switch strings.ToLower(*p) {
		case "grpc", "h2c", "kubernetes.io/h2c", "grpcs", "http2":
			return true
		}
	}
	if name := strings.ToLower(s.port.Name); strings.HasPrefix(name, "grpc") || strings.HasSuffix(name, "-grpc") || s.port.Name == "http2" || s.port.Name == "h2c" {
		return true
	}
	if s.container == nil {
		return false
	}
	for _, probe := range []*corev1.Probe{s.container.ReadinessProbe, s.container.LivenessProbe, s.container.StartupProbe} {
		if probe != nil && probe.GRPC != nil && int(probe.GRPC.Port) == targetNumber(s) {
			return true
		}
	}
	return false
}

// ofDatabase says that a port has the number of a database, a cache or a broker.
func ofDatabase(s *subject) bool {
	return servers.DatabasePort(int(s.port.Port)) || servers.DatabasePort(targetNumber(s))
}

// ofKafka says that a port is one of a Kafka broker's listeners beside the first: 9093 and on by convention, for TLS and for clients outside.
func ofKafka(s *subject) bool {
	const first, last = 9092, 9099
	number := targetNumber(s)
	return s.container != nil && servers.ParseImage(s.container.Image).Named("kafka", "cp-kafka", "redpanda") && number >= first && number <= last && s.port.Protocol != corev1.ProtocolUDP
}

func isSession(s *subject) bool {
	if ofDatabase(s) || ofKafka(s) {
		return true
	}
	if !strings.HasPrefix(s.port.Name, "tcp-") || s.container == nil {
		return false
	}
	return servers.AppFor(servers.EvidenceOf(s.container, s.template.Labels), "").Basis == "assumed"
}

// speaksSessions says that a port's protocol is one whose connections last, by what it is called: WebSockets, streams, brokers, shells.
func speaksSessions(p *corev1.ServicePort) bool {
	names := []string{baseName(p.Name)}
	if p.AppProtocol != nil {
		names = append(names, strings.TrimPrefix(strings.ToLower(*p.AppProtocol), "kubernetes.io/"))
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return says(name, "ws", "wss", "websocket", "websockets", "rtmp", "rtmps", "nats", "amqp", "amqps", "mqtt", "mqtts", "stomp", "ssh")
	})
}

// routed says whether an Ingress, an HTTPRoute or a GRPCRoute names the port.
func (w *inventory) routed(s *subject) bool { return w.routeOf(s) != nil }

// routedBy is the kind of what does, "" for neither.
func (w *inventory) routedBy(s *subject) string {
	if r := w.routeOf(s); r != nil {
		return r.Object.Kind
	}
	return ""
}

// kindGRPCRoute has rules and backendRefs as an HTTPRoute has (Gateway API, GRPCRoute; recalled). Whatever the port that it names is
// called, gRPC is spoken there.
const kindGRPCRoute = "GRPCRoute"

// leadsTo says whether an Ingress names the port.
func leadsTo(i manifest.Typed[*networkingv1.Ingress], s *subject) bool {
	names := func(b *networkingv1.IngressBackend) bool {
		return b != nil && b.Service != nil && b.Service.Name == s.service.Name && namesPort(b.Service.Port.Name, b.Service.Port.Number, s.port)
	}
	if i.Namespace != s.service.Namespace {
		return false
	}
	if names(i.Value.Spec.DefaultBackend) {
		return true
	}
	for _, rule := range i.Value.Spec.Rules {
		if rule.HTTP != nil && slices.ContainsFunc(rule.HTTP.Paths, func(p networkingv1.HTTPIngressPath) bool { return names(&p.Backend) }) {
			return true
		}
	}
	return false
}

func namesPort(name string, number int32, p *corev1.ServicePort) bool {
	return name != "" && name == p.Name || name == "" && number == p.Port
}

// targetNumber is the number of the port that the pods listen on, 0 when nothing declares it.
func targetNumber(s *subject) int {
	n, _ := world.TargetPort(s.port.TargetPort, s.template)
	return int(n)
}

// targetOf returns the target port of the first Service that selects pods with these labels.
func (w *inventory) targetOf(namespace string, labels map[string]string) (intstr.IntOrString, bool) {
	for _, s := range w.services {
		if s.Namespace == namespace && world.Selects(s.Value, labels) && len(s.Value.Spec.Ports) > 0 {
			return s.Value.Spec.Ports[0].TargetPort, true
		}
	}
	return intstr.IntOrString{}, false
}

// outside says whether a port's default clients come from outside the cluster, as far as the
// Service says it; those of an Ingress are another matter.
func outside(class string, s *subject) bool {
	switch class {
	case ClassOutside, ClassH2, ClassSession, ClassDatagram:
		typ := s.service.Value.Spec.Type
		return typ == corev1.ServiceTypeLoadBalancer || s.port.NodePort != 0 && typ != corev1.ServiceTypeClusterIP
	default:
		return false
	}
}

// Messages is the name of clients that wait for no answer: what is lost of theirs vanishes.
const Messages = "messages"

// Default clients.
const (
	defaultRate = 100 * units.RateUnit
	defaultIdle = engine.Minute
	poolSize    = 20
	sharers     = 10 // clients of connections that are shared, each with one
)

// clientsOf returns the default clients of a port of a class, nil for none. How long they wait depends on
// their way: see habits.
func clientsOf(class string, s *subject) []world.Traffic {
	base := world.Traffic{
		Service: s.service.ID(), Port: int(s.port.Port), Class: class, Headline: classNamed(class).Headline,
		Rate: defaultRate, Clients: 1,
	}
	svc := s.service.Value
	base.External = outside(class, s)
	base.HealthyNodesOnly = base.External && svc.Spec.HealthCheckNodePort != 0
	if class == ClassWebhook {
		base.Name, base.Rate = "API server", units.RateUnit
		return []world.Traffic{base}
	}
	switch class {
	case ClassDNS: // whatever they do, they do it by themselves
		return nil
	case ClassH2:
		base.Name, base.Connection, base.Clients = "gRPC calls", world.ConnectionHTTP2, sharers
		return []world.Traffic{base}
	case ClassSession:
		base.Name, base.Connection, base.Clients = "sessions", world.ConnectionSession, sharers
		return []world.Traffic{base}
	case ClassPeer:
		base.Name, base.Connection, base.Clients = "peers", world.ConnectionSession, 1
		return []world.Traffic{base}
	case ClassDatagram:
		base.Name, base.Protocol = "queries", endpoints.UDP
		if oneWay(s.service.Value.Spec.Ports, int(s.port.Port)) {
			base.Name = Messages
		}
		return []world.Traffic{base}
	}
	fresh, pool := base, base
	fresh.Name = "new connections"
	pool.Name, pool.KeepAlive, pool.Clients, pool.ClientIdle = "keep-alive", true, poolSize, defaultIdle
	return []world.Traffic{fresh, pool}
}
