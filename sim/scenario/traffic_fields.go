package scenario

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// trafficFields are those of a stream of requests. What depends on the Service, or on several fields together, is read by
// builder.stream after them.
func trafficFields() []fieldOf[world.Traffic] {
	return append(trafficWay(), trafficHabits()...)
}

// trafficWay are where requests come from and go to.
func trafficWay() []fieldOf[world.Traffic] {
	return []fieldOf[world.Traffic]{
		textRow("name", of(text).doc("traffic-1, traffic-2, ...", "the name of the stream in reports"), func(t *world.Traffic) *string { return &t.Name }),
		{
			field: field{"from", word("external", "pods").doc("external", "where the clients are: outside of the cluster, or in its pods")},
			read:  func(c cursor, t *world.Traffic) { t.External = c.text("external") == "external" },
			write: func(w *printer, t *world.Traffic) {
				w.line("from", map[bool]string{true: "external", false: "pods"}[t.External])
			},
		},
		{
			field: field{"to", of(text).doc("", "NAMESPACE/SERVICE:PORT; the namespace default may be left out, the port may be a name")},
			write: func(w *printer, t *world.Traffic) { w.line("to", fmt.Sprintf("%s:%d", t.Service, t.Port)) },
		},
		textsRow("nodes", list(of(text)).doc("all nodes", "with from pods: where the clients run; with from external: the nodes they connect to"),
			func(t *world.Traffic) *[]string { return &t.Nodes }),
		{
			field: field{"via", list(of(text)).doc("[lb] where the Service has one",
				"the way: lb, nodePort, clusterIP, and the Service of an ingress controller as NAMESPACE/SERVICE:PORT, in the order in which requests pass them")},
			write: func(w *printer, t *world.Traffic) {
				w.flag("healthyNodesOnly", t.HealthyNodesOnly)
				if t.LB != nil {
					w.nested("loadBalancer", func() { w.balancer(t.LB) })
				}
				if t.Ingress != nil {
					w.nested("ingress", func() { w.ingress(t.Ingress) })
				}
				w.line("class", t.Class)
			},
		},
		{field: field{"protocol", word("TCP", "UDP", "SCTP").doc("that of the port", "to tell apart two ports with one number")}},
		{
			field: field{"rate", of(rate).doc("100/s", "requests a second, over all clients")},
			read:  func(c cursor, t *world.Traffic) { t.Rate = c.rate(t.Rate) },
			write: func(w *printer, t *world.Traffic) {
				if t.Rate > 0 {
					w.raw("rate", units.RateText(t.Rate))
				}
			},
		},
	}
}

// trafficHabits are what the clients do.
func trafficHabits() []fieldOf[world.Traffic] {
	return []fieldOf[world.Traffic]{
		wordRow("arrivals", word("poisson", "constant", "closed-loop").doc("poisson", "when they ask: by chance, evenly, or each as soon as it has its answer"),
			func(t *world.Traffic) *world.Arrivals { return &t.Arrivals }).printsBefore("rate"),
		{
			field: field{"clients", of(whole).doc("1; 20 connections with keep-alive, more where answers are slow; 10 with http2 and session", "how many clients, or connections of a pool, there are")},
			write: func(w *printer, t *world.Traffic) { w.number("clients", t.Clients) },
		},
		{
			field: field{"connection", word("per-request", "keep-alive", "http2", "grpc", "session").doc("per-request", "what requests share of a connection")},
			read:  readConnection,
			write: func(w *printer, t *world.Traffic) { w.line("connection", connectionWord(t)) },
		},
		flagRow("waitForReady", of(boolean).doc("false", "gRPC calls wait for a connection instead of failing while there is none"), func(t *world.Traffic) *bool { return &t.WaitForReady }),
		{
			field: field{"sourcePorts", word("ephemeral", "fixed").doc("ephemeral", "of UDP clients: a port for each question, or one for all")},
			read:  func(c cursor, t *world.Traffic) { t.FixedPorts = c.text("ephemeral") == "fixed" },
			write: func(w *printer, t *world.Traffic) { w.flag("fixedPorts", t.FixedPorts) },
		},
		onlyPrinted(func(w *printer, t *world.Traffic) { w.flag("named", t.Named) }),
		{
			field: field{"idle", of(duration).doc("1m", "with keep-alive: how long the client keeps an idle connection")},
			read: func(c cursor, t *world.Traffic) {
				if t.KeepAlive {
					t.ClientIdle = c.span(defaultIdle)
				} else if c.present() {
					c.fail("only connections that are kept alive can be idle: set connection: keep-alive")
				}
			},
			write: func(w *printer, t *world.Traffic) { w.time("idle", t.ClientIdle) },
		},
		limitRow("connectTimeout", "that of the request; 20s with grpc", "how long the client waits for a connection", func(t *world.Traffic) engine.Time { return t.ConnectTimeout }),
		limitRow("timeout", "30s from outside, 10s inside; 2s for UDP, 5s for headless Services", "how long it waits for the answer, the connection included",
			func(t *world.Traffic) engine.Time { return t.Timeout }),
		{
			field: field{"repeatReused", of(boolean).doc("true",
				"with keep-alive: it asks again over another connection when one that it had used before is closed before any byte of the answer")},
			write:  func(w *printer, t *world.Traffic) { w.flag("repeatReused", t.RepeatReused) },
			before: "connectTimeout",
		},
		{
			field: field{linearSYNs, of(whole).doc("0", "net.ipv4.tcp_syn_linear_timeouts of the client's kernel, as in spec.clients")},
			write: func(w *printer, t *world.Traffic) {
				if t.LinearSYNs > 0 {
					w.number(linearSYNs, t.LinearSYNs)
				}
			},
		},
		{
			field: field{"retries", fieldsOf(field{"count", of(whole).doc("0; that of spec.clients for UDP, 1 for headless Services", "how often it asks again after a failure")})},
			write: func(w *printer, t *world.Traffic) { w.number("retries", t.Retries) },
		},
		flagRow("headline", of(boolean).doc("true", "the stream counts for the verdict's first line"), func(t *world.Traffic) *bool { return &t.Headline }).printsBefore("arrivals"),
	}
}

// limitRow is a time that clients wait for at most, or the word for none. builder.habits reads it.
func limitRow(name, def, about string, limit func(*world.Traffic) engine.Time) fieldOf[world.Traffic] {
	return fieldOf[world.Traffic]{
		field: field{name, orWord(noTimeout).doc(def, about)},
		write: func(w *printer, t *world.Traffic) { w.raw(name, limitWords(limit(t))) },
	}
}

func readConnection(c cursor, t *world.Traffic) {
	switch c.text("per-request") {
	case "keep-alive":
		t.KeepAlive = true
	case "http2", "grpc":
		t.Connection = world.ConnectionHTTP2
	case "session":
		t.Connection = world.ConnectionSession
	}
}

// connectionWord is the grammar's word for what requests share.
func connectionWord(t *world.Traffic) string {
	switch {
	case t.Connection == world.ConnectionHTTP2:
		return "http2"
	case t.Connection == world.ConnectionSession:
		return "session"
	case t.KeepAlive:
		return "keep-alive"
	case t.Protocol == endpoints.UDP:
		return "UDP"
	default:
		return "per-request"
	}
}
