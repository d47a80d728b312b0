package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Normal writes the normalised form as YAML, for people and for tests: every default filled
// in, always in the same order. It is no Scenario document.
func Normal(s *world.Scenario) string {
	w := &printer{}
	w.line("name", s.Name)
	w.line("kubernetes", s.Kubernetes.Version.String())
	w.line("terminatingFallback", s.Kubernetes.Options.TerminatingFallback.String())
	w.texts("whatIf", s.Kubernetes.WhatIf)
	w.texts("notes", s.Kubernetes.Notes)
	w.time("warmup", s.Warmup)
	w.time("until", s.Until)
	w.list("nodes", len(s.Nodes), func(i int) { w.node(&s.Nodes[i]) })
	if s.Churn > 0 {
		w.raw("churn", units.RateText(s.Churn))
	}
	w.nested("latency", func() { w.latency(s.Latency) })
	w.list("workloads", len(s.Workloads), func(i int) { w.workload(&s.Workloads[i]) })
	w.list("services", len(s.Services), func(i int) { w.service(s.Services[i].Service) })
	if s.Unreachable {
		w.raw("deadAddress", s.UnreachableAfter.Duration().String())
	}
	w.list("traffic", len(s.Traffic), func(i int) { w.traffic(&s.Traffic[i]) })
	w.list("actions", len(s.Actions), func(i int) { w.action(&s.Actions[i]) })
	if s.Expect != nil {
		w.nested("expect", func() { w.expect(s.Expect) })
	}
	w.list("assumptions", len(s.Assumptions), func(i int) { w.line(s.Assumptions[i].ID, s.Assumptions[i].Value) })
	w.list("notModelled", len(s.NotModelled), func(i int) {
		n := s.NotModelled[i]
		w.line("id", n.ID)
		w.line("what", n.What)
		w.line("object", n.Object)
		w.line("direction", n.Direction)
	})
	return w.b.String()
}

// printer writes block YAML.
type printer struct {
	b      strings.Builder
	indent int
	dash   bool // the next line begins a list item
}

func (w *printer) key(key string) {
	pad := strings.Repeat("  ", w.indent)
	if w.dash {
		pad = pad[:len(pad)-2] + "- "
		w.dash = false
	}
	w.b.WriteString(pad + key + ":")
}

// line writes a text unless it is "".
func (w *printer) line(key, value string) {
	if value == "" {
		return
	}
	w.key(key)
	w.b.WriteString(" " + scalar(value) + "\n")
}

func (w *printer) number(key string, n int) { w.raw(key, strconv.Itoa(n)) }

func (w *printer) raw(key, value string) {
	w.key(key)
	w.b.WriteString(" " + value + "\n")
}

// flag and time leave out false and 0.
func (w *printer) flag(key string, b bool) {
	if b {
		w.raw(key, "true")
	}
}

func (w *printer) time(key string, t engine.Time) {
	if t != 0 {
		w.raw(key, t.Duration().String())
	}
}

func (w *printer) texts(key string, values []string) {
	if len(values) == 0 {
		return
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = scalar(v)
	}
	w.raw(key, "["+strings.Join(quoted, ", ")+"]")
}

func (w *printer) nested(key string, inside func()) {
	w.key(key)
	w.b.WriteString("\n")
	w.indent++
	inside()
	w.indent--
}

func (w *printer) list(key string, n int, each func(i int)) {
	if n == 0 {
		return
	}
	w.nested(key, func() {
		for i := range n {
			w.dash = true
			each(i)
			w.dash = false
		}
	})
}

// scalar quotes what YAML would read as something else.
func scalar(s string) string {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '/':
		case i > 0 && (c >= '0' && c <= '9' || strings.IndexByte(" -_.%()+=;<>", c) >= 0):
		default:
			return strconv.Quote(s)
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return strconv.Quote(s)
	}
	return s
}

func (w *printer) node(n *world.Node) {
	w.line("name", n.Name)
	w.line("zone", n.Zone)
	w.nested("proxy", func() {
		w.line("mode", n.Proxy.Mode)
		w.raw("minSyncPeriod", n.Proxy.MinSyncPeriod.Duration().String())
		w.time("syncPeriod", n.Proxy.SyncPeriod)
		w.flag("masqueradeAll", n.Proxy.MasqueradeAll)
	})
	if n.Watch != nil {
		w.dist("watch", *n.Watch)
	}
	if n.ProxySync != nil {
		w.dist("proxySync", *n.ProxySync)
	}
}

func (w *printer) dist(key string, d engine.Dist) { w.raw(key, d.String()) }

func (w *printer) latency(l world.Latencies) {
	for _, f := range latencyFields() {
		switch {
		case f.in != nil:
			w.dist(f.name, *f.in(&l))
		case l.ReadyToRules != nil:
			w.dist(f.name, *l.ReadyToRules)
		}
	}
}

func (w *printer) workload(x *world.Workload) {
	d := x.Deployment
	w.line("name", d.Namespace+"/"+d.Name)
	w.number("replicas", int(world.ReplicasOf(d)))
	w.line("strategy", string(d.Spec.Strategy.Type))
	if u := d.Spec.Strategy.RollingUpdate; u != nil && u.MaxSurge != nil && u.MaxUnavailable != nil {
		w.raw("maxSurge", u.MaxSurge.String())
		w.raw("maxUnavailable", u.MaxUnavailable.String())
	}
	if d.Spec.MinReadySeconds != 0 {
		w.number("minReadySeconds", int(d.Spec.MinReadySeconds))
	}
	if p := d.Spec.ProgressDeadlineSeconds; p != nil && *p != 600 {
		w.number("progressDeadlineSeconds", int(*p))
	}
	var gates []string
	for _, g := range d.Spec.Template.Spec.ReadinessGates {
		gates = append(gates, string(g.ConditionType))
	}
	w.texts("readinessGates", gates)
	if g := d.Spec.Template.Spec.TerminationGracePeriodSeconds; g != nil {
		w.raw("terminationGracePeriodSeconds", strconv.FormatInt(*g, 10))
	}
	w.line("server", x.Server)
	inits := initContainers(&d.Spec.Template.Spec)
	if inits > 0 {
		w.number("initContainers", inits)
	}
	w.nested("app", func() { w.app(&x.App, inits > 0) })
	for _, name := range []string{"old", "new"} {
		if app, ok := x.Revisions[name]; ok {
			w.nested(name, func() { w.app(&app, inits > 0) })
		}
	}
	for i := range d.Spec.Template.Spec.Containers {
		c := &d.Spec.Template.Spec.Containers[i]
		if h, ok := x.Hooks[c.Name]; ok {
			w.nested("preStop of "+c.Name, func() { w.hook(&h) })
		}
	}
}

func (w *printer) hook(h *world.Hook) {
	w.line("kind", h.Kind)
	w.dist("duration", h.Duration)
	w.flag("closesListener", h.ClosesListener)
	w.flag("signalsServer", h.SignalsServer)
	w.flag("failsReadiness", h.FailsReadiness)
	if h.ActsAfter.Max() > 0 {
		w.dist("actsAfter", h.ActsAfter)
	}
	w.flag("waitsForRequests", h.WaitsForRequests)
	w.flag("undetermined", h.Undetermined)
	w.line("why", h.Why)
}

func (w *printer) app(a *world.App, initializes bool) {
	printRows(w, slices.DeleteFunc(appFields(), func(r fieldOf[world.App]) bool { return r.name == "init" && !initializes }), a)
}

func (w *printer) service(s *corev1.Service) {
	w.line("name", s.Namespace+"/"+s.Name)
	w.line("type", string(s.Spec.Type))
	w.texts("clusterIPs", s.Spec.ClusterIPs)
	w.line("externalTrafficPolicy", string(s.Spec.ExternalTrafficPolicy))
	if s.Spec.HealthCheckNodePort != 0 {
		w.number("healthCheckNodePort", int(s.Spec.HealthCheckNodePort))
	}
	w.list("ports", len(s.Spec.Ports), func(i int) {
		p := &s.Spec.Ports[i]
		w.line("name", p.Name)
		w.number("port", int(p.Port))
		if p.Protocol != corev1.ProtocolTCP {
			w.line("protocol", string(p.Protocol))
		}
		w.line("targetPort", p.TargetPort.String())
		if p.NodePort != 0 {
			w.number("nodePort", int(p.NodePort))
		}
	})
}

func (w *printer) traffic(t *world.Traffic) {
	w.line("name", t.Name)
	w.line("from", map[bool]string{true: "external", false: "pods"}[t.External])
	w.line("to", fmt.Sprintf("%s:%d", t.Service, t.Port))
	w.texts("nodes", t.Nodes)
	w.flag("healthyNodesOnly", t.HealthyNodesOnly)
	if t.LB != nil {
		w.nested("loadBalancer", func() { w.balancer(t.LB) })
	}
	if t.Ingress != nil {
		w.nested("ingress", func() { w.ingress(t.Ingress) })
	}
	w.line("class", t.Class)
	w.flag("headline", t.Headline)
	w.line("arrivals", [...]string{"poisson", "constant", "closed-loop"}[t.Arrivals])
	if t.Rate > 0 {
		w.raw("rate", units.RateText(t.Rate))
	}
	w.number("clients", t.Clients)
	w.line("connection", connectionName(t))
	w.flag("waitForReady", t.WaitForReady)
	w.flag("fixedPorts", t.FixedPorts)
	w.flag("named", t.Named)
	w.time("idle", t.ClientIdle)
	w.flag("repeatReused", t.RepeatReused)
	w.raw("connectTimeout", limitWords(t.ConnectTimeout))
	w.raw("timeout", limitWords(t.Timeout))
	w.number("retries", t.Retries)
}

func (w *printer) balancer(lb *world.LoadBalancer) {
	w.line("preset", lb.Preset)
	for _, f := range balancerFields(lb) {
		if lb.ReadinessGate == "" && strings.Contains(gateFields, f.name) {
			continue // most have none
		}
		w.raw(f.name, f.say(lb))
	}
}

func (w *printer) ingress(i *world.Ingress) {
	w.line("service", fmt.Sprintf("%s:%d", i.Service, i.Port))
	w.line("preset", i.Proxy.Preset)
	for _, f := range ingressFields() {
		w.raw(f.name, f.say(i.Proxy))
	}
}

// connection is the grammar's word for what requests share.
func connectionName(t *world.Traffic) string {
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

func (w *printer) action(a *world.Action) {
	w.raw("at", a.At.Duration().String())
	w.time("for", a.For)
	w.line("verb", a.Verb())
	w.line("target", a.Target())
	w.line("value", a.Value())
	w.line("position", a.Pos.String())
}

func (w *printer) expect(e *world.Expect) {
	count := func(key string, n *int) {
		if n != nil {
			w.number(key, *n)
		}
	}
	span := func(key string, t *engine.Time) {
		if t != nil {
			w.raw(key, t.Seconds())
		}
	}
	count("failedMin", e.FailedMin)
	count("failedMax", e.FailedMax)
	span("lostSecondsMin", e.LostSecondsMin)
	span("lostSecondsMax", e.LostSecondsMax)
	w.texts("causesOnly", e.CausesOnly)
	w.texts("causesSome", e.CausesSome)
	w.texts("causesNone", e.CausesNone)
	w.line("verdict", e.Verdict)
	count("usablePodsMin", e.UsablePodsMin)
	count("usablePodsMax", e.UsablePodsMax)
	w.texts("order", e.Order)
}

// partText writes a part as it is read: 0.05, 1.
func partText(thousandths int) string {
	if thousandths%wholePart == 0 {
		return strconv.Itoa(thousandths / wholePart)
	}
	return "0." + strings.TrimRight(strconv.Itoa(wholePart + thousandths)[1:], "0")
}
