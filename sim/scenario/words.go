package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// trafficWords describes an entry for people: "outside :80 :443", "Redis sessions :6379".
func trafficWords(e *entry) string {
	ports := " " + strings.Join(e.ports, " ")
	switch e.class {
	case ClassDNS:
		return "headless " + e.service.Name + ports
	case ClassWebhook:
		return "admission webhook" + ports
	case ClassScrape:
		return "metrics" + ports
	case ClassPeer:
		return "peers" + ports
	case ClassSCTP:
		return "SCTP" + ports
	case ClassDatagram:
		return "UDP" + e.from(" from outside") + ports
	case ClassSession:
		return sessionsOf(&e.subject) + e.from(" from outside") + ports
	case ClassH2:
		return protocolOf(&e.subject) + e.from(" from outside") + ports
	case ClassOutside:
		return "outside" + e.from("") + ports
	default:
		return e.class + ports
	}
}

// withArticle is a kind of object with "a" or "an" before it.
func withArticle(kind string) string {
	if strings.HasPrefix(kind, "I") || strings.HasPrefix(kind, "H") { // an HTTPRoute
		return "an " + kind
	}
	return "a " + kind
}

// from says that clients come from outside, unless the class says so already, and through what.
func (e *entry) from(outside string) string {
	switch typ := e.service.Value.Spec.Type; {
	case e.through != nil:
		return ", through " + e.through.words()
	case typ == corev1.ServiceTypeLoadBalancer:
		return outside
	case e.routed != "":
		return ", through " + withArticle(e.routed)
	case typ == corev1.ServiceTypeNodePort:
		return outside
	default:
		return ""
	}
}

// sessionsOf is what speaks over a port of the class, as the words for its sessions.
func sessionsOf(s *subject) string {
	for _, port := range []int{int(s.port.Port), targetNumber(s)} {
		switch port {
		case 6379:
			return "Redis sessions"
		case 3306:
			return "MySQL sessions"
		case 5432:
			return "PostgreSQL sessions"
		case 27017:
			return "MongoDB sessions"
		case 5672:
			return "AMQP sessions"
		case 9042:
			return "Cassandra sessions"
		case 11211:
			return "Memcached sessions"
		case 9092:
			return "Kafka sessions"
		case 4222:
			return "NATS sessions"
		}
	}
	if ofKafka(s) {
		return "Kafka sessions"
	}
	return "sessions"
}

// protocolOf is gRPC unless the port says HTTP/2 and nothing more.
func protocolOf(s *subject) string {
	said := strings.ToLower(s.port.Name)
	if p := s.port.AppProtocol; p != nil {
		said = strings.ToLower(*p)
	}
	switch said {
	case "h2c", "kubernetes.io/h2c", "http2":
		return "HTTP/2"
	default:
		return "gRPC"
	}
}

// Listed joins words as a sentence does: "a, b and c"; of more than most, the rest is a number.
func Listed(words []string, most int) string {
	if len(words) > most {
		words = append(slices.Clone(words[:most-1]), fmt.Sprintf("%d more", len(words)-most+1))
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
