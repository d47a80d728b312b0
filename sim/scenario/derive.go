package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// derive makes the Scenario of one case: its own workload, the Services that select its pods
// (each of them makes the proxies sync), the other workloads behind those, whose pods answer
// meanwhile, and the default clients of one entry: none where they choose the pod.
func (b *builder) derive(base *world.Scenario, index int, e *entry, a *caseAction, does doing) *world.Scenario {
	s := *base
	own := &builder{doc: b.doc, opts: b.opts, world: b.world, census: b.census, out: &s, assumed: append([]world.Assumption(nil), b.assumed...), family: b.family, grown: does.more}
	s.Assumptions, s.NotModelled = nil, nil
	s.Workloads, s.Services, s.Budgets, s.Traffic = nil, nil, nil, nil
	own.servicesOf(index)
	if e.class == ClassDNS {
		own.asked(e.service)
	}
	near := b.census.beside(s.Services, index)
	all := near
	if b.with != nil || evicts(does.operation) {
		all = own.drained(near, b.with)
	}
	for _, i := range all {
		w := base.Workloads[i]
		w.Aside, w.Bystander = i != index, !slices.Contains(near, i)
		if !w.Aside && does.more > 0 {
			w.Resource = world.WithReplicas(w.Resource, w.Replicas()+int(does.more))
		}
		if !w.Bystander {
			own.serve(&w, e)
		}
		s.Workloads = append(s.Workloads, w)
	}
	own.budgets()
	own.makeRoom()
	own.askedBy(e)
	o := &b.census.owners[index]
	s.Actions = []world.Action{{At: s.Warmup, For: does.lasts, Operation: does.operation, Pos: o.object.Position}}
	own.taken()
	own.drift()
	own.reboots()
	own.reacts(o)
	if len(b.opts.Actions) == 0 {
		own.assume("action", a.name)
	}
	if len(world.LeavingNodes(does.operation)) > 0 || b.with != nil {
		own.vacate()
	}
	own.shutsDown()
	own.stops()
	own.assumePlaces(does.operation)
	own.finish()
	own.fromInside(e)
	own.longLived(e)
	own.takenToListen(e)
	own.otherWays(index, e)
	own.webhookBeyond(e)
	own.withoutDrain(o, does.operation)
	own.emptiedBeyond(o, does.operation, base.Workloads[index].Resource)
	return &s
}

// askedBy adds the default clients of an entry.
func (b *builder) askedBy(e *entry) {
	b.entrance = e.through
	for _, t := range clientsOf(e.class, &e.subject) {
		t.Headline = t.Headline && !e.aside
		b.asks(&t, e.service.Value)
	}
	if len(b.out.Traffic) > 0 {
		b.assume("clients", clientWords(b.out.Traffic))
	}
}

// emptiedBeyond says what is not simulated where pods leave their nodes.
func (b *builder) emptiedBeyond(own *owner, o world.Operation, r world.Resource) {
	b.wipes(own, o)
	b.unpromoted()
	if evicts(o) {
		b.uncounted()
	}
	if empties(o) && !b.addsNodes(o) {
		b.roomToDrain(r)
	}
}

// addsNodes says that nodes join before others are emptied: with so many as there are now pods still find one.
func (b *builder) addsNodes(o world.Operation) bool {
	t, ok := b.out.TakingOf(&world.Action{Operation: o})
	return ok && t.Ahead+t.Surges > 0
}

// wipes says with which flag kubectl drains pods that have an emptyDir: it refuses them without. Who asks for a drain is going to type it.
func (b *builder) wipes(o *owner, does world.Operation) {
	if _, drains := does.(world.Drain); !drains || !slices.Contains(b.opts.Actions, "drain") {
		return
	}
	for i := range o.template.Spec.Volumes {
		if v := &o.template.Spec.Volumes[i]; v.EmptyDir != nil {
			b.notModelled(world.DrainFlags, fmt.Sprintf("kubectl drain --delete-emptydir-data, without which it refuses these pods: volume %s is empty afterwards", v.Name), o.kind+" "+o.id(), "unknown")
			return
		}
	}
}

// withoutDrain says of a rollout that there is no drain beside it, where one takes nothing away.
func (b *builder) withoutDrain(o *owner, does world.Operation) {
	if _, rolls := does.(world.RolloutRestart); rolls && o.staysInDrain() != "" {
		b.notModelled(world.NoDrain, "a node drain: "+o.staysInDrain(), o.kind+" "+o.id(), "unknown")
	}
}

// roomToDrain says with how many nodes the pods of a drained node have nowhere to go.
func (b *builder) roomToDrain(r world.Resource) {
	if world.KindOf(r) == world.DaemonSet {
		return // its pods are for their nodes alone
	}
	if nodes, why := b.fewestToDrain(r); nodes > 0 && nodes < len(b.out.Nodes) {
		b.notModelled("room", fmt.Sprintf("with exactly %s the pods that are drained would find no other node: %s keeps them off", nodesInWords(nodes), why),
			world.KindOf(r)+" "+r.GetNamespace()+"/"+r.GetName(), "more")
	}
}

func nodesInWords(n int) string {
	if n == 1 {
		return "one node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// longLived says of an entry that what goes on over its connections for long is not simulated.
func (b *builder) longLived(e *entry) {
	b.lasting(e)
	b.quic(e)
}

// lasting says of an entry that is reached through a proxy of HTTP requests that its connections last by their name: the proxy is
// simulated with requests, and not with what goes on over one connection for hours.
func (b *builder) lasting(e *entry) {
	if speaksSessions(e.port) && e.class == ClassOutside {
		b.notModelled(world.LongLived, fmt.Sprintf("port %s is by its name one of connections that last, as WebSockets do, and is simulated with requests: such connections end with their pod, in every rollout and drain",
			cmp.Or(e.port.Name, e.ports[0])), "Service "+e.service.ID(), "more")
	}
}

// quic says of a Service with a UDP port that by its name or number is HTTP/3's that this is simulated with questions and answers.
func (b *builder) quic(e *entry) {
	for i := range e.service.Value.Spec.Ports {
		p := &e.service.Value.Spec.Ports[i]
		named := says(baseName(p.Name), "quic", "http3", "h3")
		if p.Protocol != corev1.ProtocolUDP || !named && p.Port != 443 {
			continue
		}
		b.notModelled(world.LongUDP, fmt.Sprintf("UDP port %s (%s) is by its %s one of QUIC (HTTP/3), and is simulated with single questions: a QUIC connection lives in its pod and ends with it, in every rollout and drain",
			cmp.Or(p.Name, fmt.Sprint(p.Port)), where(e.service.Object, fmt.Sprintf("spec.ports[%d]", i)), map[bool]string{true: "name", false: "number"}[named]), "Service "+e.service.ID(), "more")
	}
}

// fromInside says of an entry that is asked from outside, through a proxy, a load balancer or at a port of the nodes, that others may ask the
// Service itself: their way, from their own node and by kube-proxy's rules for clients inside, is not that of the case.
func (b *builder) fromInside(e *entry) {
	asked := ""
	switch typ := e.service.Value.Spec.Type; {
	case e.routed != "" && throughRoute(b.out.Traffic):
		asked = "its " + e.routed
	case typ == corev1.ServiceTypeLoadBalancer && outside(e.class, &e.subject):
		asked = "its load balancer"
	case typ == corev1.ServiceTypeNodePort && e.routed == "" && outside(e.class, &e.subject):
		asked = "a port of the nodes"
	}
	if asked != "" {
		b.notModelled(world.InsideClients, "clients inside the cluster, who ask the Service and not "+asked, "Service "+e.service.ID(), "unknown")
	}
}

// throughRoute says whether any stream goes through what an Ingress or HTTPRoute leads to.
func throughRoute(streams []world.Traffic) bool {
	return slices.ContainsFunc(streams, func(t world.Traffic) bool { return t.LB != nil && t.LB.Layer7 != nil })
}

// servicesOf keeps the Services that select a workload of the census and have something for a
// proxy to do.
func (b *builder) servicesOf(index int) {
	for _, s := range b.world.services {
		if endpoints.Unproxied(s.Value) == "" && b.census.owners[index].selecting(s) {
			b.out.Services = append(b.out.Services, world.Service{Service: s.Value, Object: s.Object})
		}
	}
}

// serve has a workload's App be that of the container which the entry's port leads to.
func (b *builder) serve(w *world.Workload, e *entry) {
	template := w.Template()
	i := servers.ServerOf(template, e.port.TargetPort.IntVal, e.port.TargetPort.StrVal)
	if i < 0 || world.Serving(&template.Spec)[i].Name == w.Server {
		return
	}
	b.describe(w, i)
	if c := b.doc.spec().get("apps").get(w.ObjectName()); c.present() {
		b.app(w, c)
	}
}

func clientWords(traffic []world.Traffic) string {
	var out []string
	for _, t := range traffic {
		out = append(out, fmt.Sprintf("%s %s", t.Name, units.RateText(t.Rate)))
	}
	return strings.Join(out, ", ")
}
