package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// How long clients wait if nobody says it (docs/model/simulator.md 9). Load balancers, proxies and
// browsers wait for a minute or so, programs in a cluster for what was configured: none of it is a
// fact.
const (
	outsideTimeout = 30 * engine.Second
	insideTimeout  = 10 * engine.Second
	webhookTimeout = 10 * engine.Second // timeoutSeconds of a webhook configuration (its default)
	queryTimeout   = 2 * engine.Second  // of a question over UDP
	queryRetries   = 1                  // how often it is asked again then
	nameTimeout    = 5 * engine.Second  // of who resolves a headless Service and tries the next address then
	// dialTimeout is how long gRPC tries to connect: MIN_CONNECT_TIMEOUT of its back-off document
	// (recalled), whatever the deadlines of the calls that wait.
	dialTimeout = 20 * engine.Second
	// kernelTimeout is how long Linux tries to connect for who sets no limit: tcp_syn_retries 6
	// (recalled).
	kernelTimeout = 127 * engine.Second
)

// noTimeout is the word for no limit of the client's own.
const noTimeout = "none"

// linearSYNs is the field for how the kernel of a client repeats a SYN.
const linearSYNs = "synLinearTimeouts"

// ownPatience says whether the class or the kind of a stream has a timeout that is no assumption about
// clients in general: questions over UDP, webhooks and headless Services.
func ownPatience(t *world.Traffic) bool {
	return t.Protocol == endpoints.UDP || t.Named || t.Class == ClassWebhook
}

// ownTimeout is that timeout.
func ownTimeout(t *world.Traffic) engine.Time {
	switch {
	case t.Protocol == endpoints.UDP:
		return queryTimeout
	case t.Class == ClassWebhook:
		return webhookTimeout
	default:
		return nameTimeout
	}
}

// habits fills in what the clients of a stream do where own, its entry of the document, does not say it:
// as spec.clients has it, or else as assumed. own is the zero cursor where there is none.
func (b *builder) habits(own cursor, t *world.Traffic) {
	b.waits(own, t)
	b.connects(own, t)
	b.repeatsSYNs(own, t)
	if t.Protocol == endpoints.UDP {
		b.asksAgain(own, t)
	}
	if !t.KeepAlive {
		return
	}
	repeats := own.get("repeatReused")
	if !repeats.present() {
		repeats = b.clientsField("repeatReused")
	}
	t.RepeatReused, t.RepeatSaid = repeats.flag(true), repeats.present()
}

// asksAgain fills in how often a client over UDP asks again: queryRetries, and not at all where nobody waits for an answer.
func (b *builder) asksAgain(own cursor, t *world.Traffic) {
	c := own.get("retries").get("count")
	if !c.present() {
		if c = b.clientsField(udpRetries); c.whole(0) > maxRetries {
			c.fail("expected at most %d retries, got %d", maxRetries, c.whole(0))
		}
	}
	def := queryRetries
	if s, ok := b.world.service(t.Service); ok && oneWay(s.Value.Spec.Ports, t.Port) {
		def = 0
	}
	t.Retries, t.RepeatSaid = c.whole(def), c.present()
}

// udpRetries is the field for how often clients over UDP ask again.
const udpRetries = "udpRetries"

// oneWay says that a port over UDP is known to be one of a protocol without answers: syslog, traps of SNMP, statsd, NetFlow, IPFIX, sFlow,
// GELF, Jaeger's agent, RTP (IANA's list of ports, and their makers' defaults; recalled).
func oneWay(ports []corev1.ServicePort, port int) bool {
	return slices.ContainsFunc(ports, func(p corev1.ServicePort) bool {
		if int(p.Port) != port || p.Protocol != corev1.ProtocolUDP {
			return false
		}
		switch p.Port {
		case 162, 514, 2055, 4739, 5004, 5140, 5514, 6343, 6831, 6832, 8125, 9995, 9996, 12201:
			return true
		}
		return says(p.Name, "syslog", "statsd", "dogstatsd", "netflow", "ipfix", "sflow", "gelf", "rtp", "snmptrap", "traps")
	})
}

// What a client does over UDP whose question has no answer, and from which port it asks.
const (
	asksOnce  = "asks no second time"
	asksTwice = "asks again once, after 2s"
	onePort   = "asks from one port"
)

// asking has every client over UDP of which that was not said ask again so often.
func asking(retries int) func(*world.Scenario) bool {
	return eachClient(func(t *world.Traffic) bool {
		if t.Protocol != endpoints.UDP || t.RepeatSaid || t.Retries == retries {
			return false
		}
		t.Retries = retries
		return true
	})
}

// fromOnePort has every client over UDP of which its source port was not said ask from one.
func fromOnePort(s *world.Scenario) bool {
	return eachClient(func(t *world.Traffic) bool {
		if t.Protocol != endpoints.UDP || t.RepeatSaid || t.FixedPorts {
			return false
		}
		t.FixedPorts, t.Clients = true, sharers
		return true
	})(s)
}

// clientsField is a field of spec.clients.
func (b *builder) clientsField(name string) cursor { return b.doc.spec().get("clients").get(name) }

// waits fills in the timeout.
func (b *builder) waits(own cursor, t *world.Traffic) {
	c := own.get("timeout")
	if !ownPatience(t) && (b.opts.Timeout != "" || !c.present()) {
		c = b.clientsField("timeout")
	}
	def := insideTimeout
	switch {
	case ownPatience(t):
		def = ownTimeout(t)
	case t.FromOutside():
		def = outsideTimeout
	}
	t.Timeout, t.TimeoutSaid = c.limit(def), c.present()
	if c.present() && t.Timeout == 0 && c.text("") != noTimeout {
		c.fail("a request without any time cannot succeed; no limit is %s", noTimeout)
	}
	if t.Timeout == 0 && t.Protocol == endpoints.UDP {
		c.fail("nothing but its timeout tells a UDP client that no answer comes: want a duration")
	}
}

// connects fills in how long the client tries to connect.
func (b *builder) connects(own cursor, t *world.Traffic) {
	c := own.get("connectTimeout")
	field := "connectTimeout"
	if t.Connection == world.ConnectionHTTP2 {
		field = "dialTimeout"
	}
	if !ownPatience(t) && (b.opts.ConnectTimeout != "" || !c.present()) {
		c = b.clientsField(field)
	}
	def := t.Timeout
	if t.Connection == world.ConnectionHTTP2 {
		def = dialTimeout
	}
	t.ConnectTimeout, t.ConnectSaid = c.limit(def), c.present()
	if c.present() && t.ConnectTimeout == 0 && c.text("") != noTimeout {
		c.fail("no connection comes about without any time; no limit is %s", noTimeout)
	}
	if own.get("connectTimeout").present() && t.ConnectTimeout > t.Timeout && t.Timeout > 0 && !t.Shared() {
		c.fail("connectTimeout %s is longer than timeout %s, which covers it", t.ConnectTimeout.Duration(), t.Timeout.Duration())
	}
	boundConnect(t)
}

// unusedDial warns of a time for gRPC's clients to connect where none of the cases has such clients.
func (b *builder) unusedDial(cases []Case) {
	c := b.clientsField("dialTimeout")
	runs := func(c Case) bool { return c.Scenario != nil }
	dials := func(c Case) bool {
		return c.Scenario != nil && slices.ContainsFunc(c.Scenario.Traffic, func(t world.Traffic) bool { return t.Connection == world.ConnectionHTTP2 })
	}
	if !c.present() || b.opts.ConnectTimeout != "" || !slices.ContainsFunc(cases, runs) || slices.ContainsFunc(cases, dials) || manifest.HasErrors(b.doc.problems) {
		return
	}
	b.doc.report(manifest.Warning, c.d.position(c.at), c.at, "no client uses gRPC or HTTP/2: it has no effect; for others it is connectTimeout")
}

// repeatsSYNs fills in how the kernel of the client repeats a SYN without an answer.
func (b *builder) repeatsSYNs(own cursor, t *world.Traffic) {
	c := own.get(linearSYNs)
	if !c.present() {
		c = b.clientsField(linearSYNs)
	}
	t.LinearSYNs, t.SYNSaid = c.whole(0), c.present()
	if t.LinearSYNs > world.MostLinearSYNs {
		c.fail("want 0 to %d", world.MostLinearSYNs)
		t.LinearSYNs = 0
	}
}

// bound keeps the time to connect within its limits: the request's own timeout covers it, and a
// connection that is shared is tried for as long as the kernel does where nobody sets a limit.
func boundConnect(t *world.Traffic) {
	switch {
	case t.Shared() && t.ConnectTimeout == 0:
		t.ConnectTimeout = kernelTimeout
	case t.Shared() || t.Timeout == 0:
	case t.ConnectTimeout == 0 || t.ConnectTimeout > t.Timeout:
		t.ConnectTimeout = t.Timeout
	}
}

// limit reads a duration, or the word for none: 0.
func (c cursor) limit(def engine.Time) engine.Time {
	if c.text("") == noTimeout {
		return 0
	}
	return c.span(def)
}

// limitWords is the text of a limit.
func limitWords(t engine.Time) string {
	if t == 0 {
		return noTimeout
	}
	return t.Duration().String()
}

// silent is the word for an address that answers nothing when its pod is gone.
const silent = "silent"

// deadAddress reads what the address of a pod answers that is gone.
func (b *builder) deadAddress(c cursor) {
	s := b.out
	s.Unreachable = c.present() && c.text("") != silent
	s.UnreachableAfter = c.span(0)
	s.DeadSaid = c.present()
}

// assumeClients notes what nobody said about the clients.
func (b *builder) assumeClients() {
	connects := false
	for i := range b.out.Traffic {
		t := &b.out.Traffic[i]
		if !t.TimeoutSaid && !ownPatience(t) {
			b.assume("timeout", limitWords(t.Timeout))
		}
		if t.Protocol == endpoints.UDP {
			if !t.RepeatSaid {
				b.assume("udp-repeat", map[bool]string{true: asksOnce, false: asksTwice}[t.Retries == 0])
			}
			continue
		}
		connects = true
		switch {
		case t.ConnectSaid || ownPatience(t):
		case t.Connection == world.ConnectionHTTP2:
			b.assume("dial-timeout", limitWords(t.ConnectTimeout))
		default:
			b.assume("connect-timeout", "as the whole request")
		}
		if t.KeepAlive && !t.RepeatSaid {
			b.assume("keepalive-repeat", "asks again over another connection")
		}
		if words, _ := methodWords(t); words != "" {
			b.assume("methods", words)
		}
	}
	if connects && slices.ContainsFunc(b.out.Traffic, assumedSYNs) {
		b.assume("syn-repeats", "after 1, 3, 7 and 15 s")
	}
	if connects && !b.out.DeadSaid {
		b.assume("dead-address", silent)
	}
}

// assumedSYNs says that nobody said how a client's kernel repeats a SYN.
func assumedSYNs(t world.Traffic) bool { return !t.SYNSaid && t.Protocol != endpoints.UDP }

// repeatingSYNs has every kernel of which that was not said repeat so many SYNs each second first.
func repeatingSYNs(linear int) func(*world.Scenario) bool {
	return eachClient(func(t *world.Traffic) bool {
		if !assumedSYNs(*t) {
			return false
		}
		t.LinearSYNs = linear
		return true
	})
}

// waiting has every client whose timeout was not said wait for so long, 0 for ever.
func waiting(span engine.Time) func(*world.Scenario) bool {
	return eachClient(func(t *world.Traffic) bool {
		if t.TimeoutSaid || ownPatience(t) {
			return false
		}
		t.Timeout = span
		if !t.ConnectSaid && t.Connection != world.ConnectionHTTP2 {
			t.ConnectTimeout = span
		}
		return true
	})
}

// connecting has every client connect for so long where that was not said: those of gRPC, or all
// others.
func connecting(grpc bool, span engine.Time) func(*world.Scenario) bool {
	return eachClient(func(t *world.Traffic) bool {
		if t.ConnectSaid || ownPatience(t) || (t.Connection == world.ConnectionHTTP2) != grpc {
			return false
		}
		t.ConnectTimeout = span
		return true
	})
}

// repeating has every client of a pool repeat what a reused connection lost, or not.
func repeating(repeats bool) func(*world.Scenario) bool {
	return eachClient(func(t *world.Traffic) bool {
		if t.RepeatSaid || !t.KeepAlive {
			return false
		}
		t.RepeatReused = repeats
		return true
	})
}

// The methods of requests: a proxy may do again what a GET asks for.
const (
	getsWords  = "GETs, which a proxy may send again"
	postsWords = "POSTs, which a proxy may not send again"
)

// methodWords says what a stream's requests are taken to be, and what else they may be, where its proxy sends again what may be done
// twice and nothing says what is asked; "" where that is no matter. gRPC calls are POSTs.
func methodWords(t *world.Traffic) (are, other string) {
	p := t.ProxyAfter()
	switch {
	case p == nil || p.RetriesSaid || t.Connection == world.ConnectionHTTP2:
		return "", ""
	case p.GETs > 0:
		return postsWords, getsWords
	case p.Retries > 0:
		return getsWords, postsWords
	default:
		return "", ""
	}
}

// otherMethods has clients behind a proxy ask what it treats in the other way.
func otherMethods(to string) func(*world.Scenario) bool {
	return eachClient(func(t *world.Traffic) bool {
		if _, other := methodWords(t); other != to {
			return false
		}
		own := *t.ProxyAfter()
		if to == getsWords {
			own.ForGETs()
		} else {
			own.ForPOSTs()
		}
		t.SetProxyAfter(&own)
		return true
	})
}

// eachClient changes every stream for which change says that it has changed something.
func eachClient(change func(*world.Traffic) bool) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		changed := false
		for i := range s.Traffic {
			if change(&s.Traffic[i]) {
				boundConnect(&s.Traffic[i])
				changed = true
			}
		}
		return changed
	}
}

// answering has routers answer for the addresses of pods that are gone, so long after the question.
// Where all clients are behind load balancers that let no ICMP through nobody would hear of it.
func answering(after engine.Time) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		s.Unreachable, s.UnreachableAfter = true, after
		for i := range s.Traffic {
			t := &s.Traffic[i]
			if t.Protocol != endpoints.UDP && (t.LB == nil || t.LB.Layer7 != nil || !t.LB.ICMPFiltered || t.Ingress != nil) {
				return !s.DeadSaid
			}
		}
		return false
	}
}
