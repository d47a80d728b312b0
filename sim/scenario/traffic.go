package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// traffic reads the streams of requests; without any there are the default clients of every
// port that is judged.
func (b *builder) traffic(c cursor) {
	if !c.present() {
		b.defaultTraffic(c)
		return
	}
	seen := map[string]bool{}
	for _, t := range c.items() {
		if !t.isMapping() {
			continue
		}
		s, ok := b.stream(t)
		if !ok {
			continue
		}
		if s.Name == "" {
			s.Name = "traffic-" + strconv.Itoa(len(b.out.Traffic)+1)
		}
		if seen[s.Name] {
			t.get("name").fail("there is already traffic of the name %s", s.Name)
		}
		seen[s.Name] = true
		b.out.Traffic = append(b.out.Traffic, s)
	}
}

func (b *builder) defaultTraffic(c cursor) {
	for i := range b.out.Services {
		s := &b.out.Services[i]
		sub, ok := b.subject(manifest.Typed[*corev1.Service]{Object: s.Object, Value: s.Service}, nil)
		for ; ok; sub, ok = b.subject(sub.service, sub.port) {
			class := b.world.classify(&sub)
			if classNamed(class).NotJudged != "" {
				b.notModelled("traffic", classNamed(class).NotJudged, fmt.Sprintf("Service %s:%d", sub.service.ID(), sub.port.Port), "unknown")
				continue
			}
			for _, t := range clientsOf(class, &sub) {
				t.Headline = t.Headline && !b.world.setAside(&sub)
				t.Name = fmt.Sprintf("%s:%d %s", sub.service.Name, sub.port.Port, t.Name)
				b.asks(&t, sub.service.Value)
			}
		}
	}
	if len(b.out.Traffic) > 0 {
		b.assume("clients", clientWords(b.out.Traffic))
	} else if !manifest.HasErrors(b.doc.problems) {
		c.fail("there is no traffic, and no Service in the manifests whose traffic could be assumed%s", cmp.Or(b.onlyOthers(), b.onlyHeadless()))
	}
}

// asks adds default clients of a Service, with their way to it and their habits.
func (b *builder) asks(t *world.Traffic, service *corev1.Service) {
	t.Rate = b.rateOf(t.Rate)
	b.balance(t, service, "", cursor{})
	ground(t, service)
	b.habits(cursor{d: b.doc}, t)
	b.growPool(t, false)
	b.out.Traffic = append(b.out.Traffic, *t)
}

// onlyOthers is the end of a sentence where Services select nothing but kinds that are not simulated.
func (b *builder) onlyOthers() string {
	for _, s := range b.world.services {
		for _, i := range b.census.behind[s.ID()] {
			if o := &b.census.owners[i]; !o.simulated() && !o.ends() {
				return fmt.Sprintf(": Service %s selects the %s %s, a kind that is not simulated yet", s.ID(), o.kind, o.name)
			}
		}
	}
	return ""
}

// onlyHeadless is the end of that sentence where clients of a Service are left to choose the pod themselves.
func (b *builder) onlyHeadless() string {
	for _, s := range b.world.services {
		if s.Value.Spec.ClusterIP == corev1.ClusterIPNone && len(s.Value.Spec.Ports) > 0 && b.behind(s) != nil {
			to := strings.TrimPrefix(s.ID(), "default/")
			return fmt.Sprintf(": clients of the headless Service %s choose the pod; say in spec.traffic who asks, such as {to: %s:%d, from: pods}", s.ID(), to, s.Value.Spec.Ports[0].Port)
		}
	}
	return ""
}

// subject returns the port of a Service after the given one, with the pods behind it.
func (b *builder) subject(s manifest.Typed[*corev1.Service], after *corev1.ServicePort) (subject, bool) {
	w := b.behind(s)
	next := 0
	for i := range s.Value.Spec.Ports {
		if &s.Value.Spec.Ports[i] == after {
			next = i + 1
		}
	}
	if w == nil || next >= len(s.Value.Spec.Ports) {
		return subject{}, false
	}
	for i := range b.out.Workloads { // the first may lack a port of that name
		x := &b.out.Workloads[i]
		if _, ok := world.TargetPort(s.Value.Spec.Ports[next].TargetPort, x.Template()); ok && x.SelectedBy(s.Value) {
			w = x
			break
		}
	}
	return subjectOf(s, next, w.Template()), true
}

func subjectOf(s manifest.Typed[*corev1.Service], port int, t *corev1.PodTemplateSpec) subject {
	out := subject{service: s, port: &s.Value.Spec.Ports[port], template: t}
	if i := servers.ServerOf(t, out.port.TargetPort.IntVal, out.port.TargetPort.StrVal); i >= 0 {
		out.container = world.Serving(&t.Spec)[i]
	}
	return out
}

// behind returns the first workload that a Service selects, or that it does once an action has given it or the workload's pods other labels.
func (b *builder) behind(s manifest.Typed[*corev1.Service]) *world.Workload {
	for i := range b.out.Workloads {
		w := &b.out.Workloads[i]
		if w.SelectedBy(s.Value) {
			return w
		}
	}
	selectors := append(b.selectorsLater(s.Value), s.Value.Spec.Selector)
	for i := range b.out.Workloads {
		w := &b.out.Workloads[i]
		if w.Namespace() == s.Namespace && slices.ContainsFunc(b.labelsLater(w), func(have map[string]string) bool {
			return slices.ContainsFunc(selectors, func(selector map[string]string) bool { return world.SelectedWith(selector, have) })
		}) {
			return w
		}
	}
	return nil
}

// rateOf is --rate where it was given.
func (b *builder) rateOf(r int) int {
	if b.opts.Rate == "" {
		return r
	}
	given, err := units.ParseRate(b.opts.Rate)
	if err != nil {
		return r // checkFlags has said so
	}
	return given
}

// checkFlags reports what is wrong with flags that do not go into the document.
func (b *builder) checkFlags() {
	if b.opts.Rate != "" {
		if _, err := units.ParseRate(b.opts.Rate); err != nil {
			b.doc.settingError(b.opts.Wording.Option("rate", b.opts.Rate), "%v", err)
		}
	}
	if b.opts.Nodes < 0 || b.opts.Nodes > maxNodes {
		b.doc.settingError(b.opts.Wording.Option("nodes", strconv.Itoa(b.opts.Nodes)), "want 1 to %d nodes", maxNodes)
	}
	if _, ok := environmentNamed(b.opts.Env); !ok && b.opts.Env != "" {
		b.doc.settingError(b.opts.Wording.Option("env", b.opts.Env), "there is no such environment; %s", didYouMean(b.opts.Env, EnvironmentNames()))
	}
}

// stream reads one entry of traffic.
func (b *builder) stream(c cursor) (world.Traffic, bool) {
	t := world.Traffic{Rate: defaultRate, Headline: true}
	readRows(c, trafficFields(), &t)
	t.Rate = b.rateOf(t.Rate)
	w := wayOf(c.get("via"))
	for i, name := range t.Nodes {
		names := world.NodeNames(b.out.Nodes)
		if nearestExact(name, names) {
			continue
		}
		c.get("nodes").items()[i].fail("there is no node %q; %s", name, didYouMean(name, names))
	}
	svc := b.target(c.get("to"), c.get("protocol").text(""), &t)
	b.clients(c, &t)
	if svc == nil {
		return t, false
	}
	if w.controller != nil {
		t.Route = b.world.routeTo(&t, svc)
		b.throughController(&t, *w.controller, w.name, w.at)
		return t, true
	}
	before := len(b.doc.problems)
	b.balance(&t, svc, w.name, w.at)
	if needsNodePort(&t, svc) && len(b.doc.problems) == before {
		c.get("to").fail("no traffic from outside for Service %s: %s", t.Service, noNodePort(&t, svc))
	}
	return t, true
}

// way is what a stream says of how its requests get there.
type way struct {
	name       string  // viaLB or viaNodePort, "" for neither
	at         cursor  // where that stands
	controller *cursor // what names the Service of an ingress controller, nil for nothing
}

// wayOf reads via, in the order in which requests pass it.
func wayOf(via cursor) way {
	w := way{at: via}
	for _, v := range via.items() {
		switch name := v.text(""); {
		case w.controller != nil && name != "":
			v.fail("behind the ingress controller %s there is nothing more than the Service itself", w.controller.text(""))
		case name == viaLB || name == viaNodePort:
			w.name, w.at = name, v
		case name == "" || name == "clusterIP":
		case !strings.Contains(name, "/"):
			v.fail("%q is no way: want lb, nodePort, clusterIP, or the Service of an ingress controller as NAMESPACE/SERVICE:PORT", name)
		default:
			w.controller = &v
		}
	}
	return w
}

func nearestExact(name string, names []string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// clients reads what of the clients depends on several fields.
func (b *builder) clients(c cursor, t *world.Traffic) {
	b.shared(c, t)
	t.Clients = defaultClients(t)
	if n := c.get("clients"); n.present() {
		if t.Clients = n.whole(1); t.Clients < 1 {
			n.fail("expected at least 1 client, got %d", t.Clients)
		}
		if !t.KeepAlive && !t.Counted() && t.Arrivals != world.ArrivalsClosedLoop {
			n.fail("each request has a connection of its own: clients count with connection: keep-alive or arrivals: closed-loop only")
		}
	}
	if t.Arrivals == world.ArrivalsClosedLoop {
		if c.get("rate").present() {
			c.get("rate").fail("clients in a closed loop ask when their answer has come: they have no rate, give clients instead")
		}
		t.Rate = 0
	}
	b.habits(c, t)
	if !c.get("clients").present() {
		b.growPool(t, c.get("rate").present())
	}
	if r := c.get("repeatReused"); r.present() && !t.KeepAlive {
		r.fail("only connections that are kept alive are used again: set connection: keep-alive")
	}
	b.retries(c, t)
}

// retries reads how often clients ask again.
func (b *builder) retries(c cursor, t *world.Traffic) {
	t.Retries = c.get("retries").get("count").whole(t.Retries)
	if t.Named {
		t.Retries = c.get("retries").get("count").whole(1)
	}
	if t.Retries > maxRetries {
		c.get("retries").get("count").fail("expected at most %d retries, got %d", maxRetries, t.Retries)
	}
}

const maxRetries = 100

// defaultClients is how many clients, or connections of a pool, there are if nobody says.
func defaultClients(t *world.Traffic) int {
	switch {
	case t.KeepAlive:
		return poolSize
	case t.Counted():
		return sharers
	default:
		return 1
	}
}

// protocol is that of the port.
func readProtocol(t *world.Traffic, c cursor, p *corev1.ServicePort) {
	switch p.Protocol {
	case corev1.ProtocolUDP:
		t.Protocol = endpoints.UDP
	case corev1.ProtocolSCTP:
		c.fail("not yet simulated: %s traffic", p.Protocol)
	default: // TCP
	}
}

// named completes traffic to a headless Service: that has no frontend for a proxy, and is there for
// those who resolve its name.
func (b *builder) named(c cursor, s manifest.Typed[*corev1.Service], t *world.Traffic) {
	t.Class = ClassDNS
	if t.Protocol != endpoints.TCP {
		c.fail("not yet simulated: %s traffic to a headless Service", t.Protocol)
	}
	b.asked(s)
}

// asked adds a Service that has clients to the world, where no proxy or no workload made it part of it.
func (b *builder) asked(s manifest.Typed[*corev1.Service]) {
	if slices.ContainsFunc(b.out.Services, func(o world.Service) bool { return o.Service == s.Value }) {
		return
	}
	b.out.Services = append(b.out.Services, world.Service{Service: s.Value, Object: s.Object})
	sorted.By(b.out.Services, func(x, y world.Service) int { return cmp.Compare(x.Object.ID(), y.Object.ID()) })
}

// shared reads what belongs to connections that are shared.
func (b *builder) shared(c cursor, t *world.Traffic) {
	connection := c.get("connection")
	udp := t.Protocol == endpoints.UDP
	if t.Named && connection.text("per-request") != "per-request" {
		connection.fail("not yet simulated: connection %s to a headless Service", connection.text(""))
	}
	if udp && connection.present() {
		connection.fail("UDP has no connections: leave it out, or say sourcePorts: fixed")
	}
	if t.FixedPorts && !udp {
		c.get("sourcePorts").fail("only UDP clients ask from one port: with TCP a connection has its own")
	}
	if udp && t.Arrivals == world.ArrivalsClosedLoop {
		c.get("arrivals").fail("questions over UDP come at a rate: no closed loop")
	}
	if t.WaitForReady && t.Connection != world.ConnectionHTTP2 {
		c.get("waitForReady").fail("only calls over HTTP/2 can wait for a connection: set connection: grpc")
	}
	if t.Shared() && t.Arrivals == world.ArrivalsClosedLoop {
		c.get("arrivals").fail("requests that share a connection come at a rate: no closed loop")
	}
}

// target reads "ns/name:port"; the namespace may be left out, the port may be a name. It
// returns the Service, nil when there is none.
func (b *builder) target(c cursor, protocol string, t *world.Traffic) *corev1.Service {
	to := c.text("")
	if to == "" {
		c.fail("say where the requests go: to: NAMESPACE/SERVICE:PORT")
		return nil
	}
	id, port, found := strings.Cut(to, ":")
	if !strings.Contains(id, "/") {
		id = "default/" + id
	}
	s, ok := b.world.service(id)
	if !ok {
		var ids []string
		for _, s := range b.world.services {
			ids = append(ids, s.ID())
		}
		c.fail("there is no Service %s in the manifests; %s", id, didYouMean(id, ids))
		return nil
	}
	t.Named = s.Value.Spec.ClusterIP == corev1.ClusterIPNone
	if why := endpoints.Unproxied(s.Value); why != "" && !t.Named {
		c.fail("not yet simulated: traffic to Service %s: %s", id, why)
		return nil
	}
	t.Service = id
	i := portIndex(s.Value, port, protocol)
	if !found && len(s.Value.Spec.Ports) == 1 {
		i = 0
	}
	if i >= 0 && protocol != "" && string(s.Value.Spec.Ports[i].Protocol) != protocol {
		c.fail("port %s of Service %s is %s, not %s", port, id, s.Value.Spec.Ports[i].Protocol, protocol)
		return nil
	}
	if i < 0 {
		c.fail("Service %s has no port %s; valid here: %s", id, port, portList(s.Value))
		return nil
	}
	p := &s.Value.Spec.Ports[i]
	t.Port = int(p.Port)
	readProtocol(t, c, p)
	if t.External {
		t.HealthyNodesOnly = len(t.Nodes) == 0 && s.Value.Spec.HealthCheckNodePort != 0
	}
	t.Class = ClassInside
	if t.External {
		t.Class = ClassOutside
	}
	if t.Named {
		b.named(c, s, t)
	}
	b.servers(c, s)
	return s.Value
}

// servers reports traffic to a Service whose pods the model does not have, or not all of them.
func (b *builder) servers(c cursor, s manifest.Typed[*corev1.Service]) {
	var missing []string
	for _, i := range b.census.behind[s.ID()] {
		if o := &b.census.owners[i]; !o.simulated() && !o.ends() && o.replicas != 0 {
			missing = append(missing, o.kind+" "+o.name)
		}
	}
	switch words := strings.Join(missing, ", "); {
	case b.behind(s) != nil && words != "":
		b.notModelled("workload", "Service "+s.ID()+" selects kinds that are not simulated, too: their pods are missing", words, "fewer")
	case b.behind(s) != nil:
	case words != "":
		c.fail("not yet simulated: Service %s selects the %s", s.ID(), words)
	case b.census.picked(s) != "":
		c.fail("%s", b.census.picked(s))
	default:
		b.doc.report(manifest.Warning, c.d.position(c.at), c.at, "no workload of the manifests is behind Service %s: every request will fail", s.ID())
		b.asked(s)
	}
}

// portIndex finds a port by name or number; of two with one number, one TCP and one UDP, that
// of the protocol, which is TCP where none is said.
func portIndex(s *corev1.Service, port, protocol string) int {
	found := -1
	for i, p := range s.Spec.Ports {
		switch {
		case port == "" || p.Name != port && strconv.Itoa(int(p.Port)) != port:
		case found < 0 || string(p.Protocol) == protocol || protocol == "" && p.Protocol == corev1.ProtocolTCP:
			found = i
		}
	}
	return found
}

func portList(s *corev1.Service) string {
	var out []string
	for _, p := range s.Spec.Ports {
		name := strconv.Itoa(int(p.Port))
		if p.Name != "" {
			name += " (" + p.Name + ")"
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// warmupOf is the time before the first action.
func warmupOf(actions []world.Action, def engine.Time) engine.Time {
	first := engine.Never
	for _, a := range actions {
		first = min(first, a.At)
	}
	if first == engine.Never {
		return def
	}
	return first
}
