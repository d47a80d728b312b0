package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What loadBalancer.preset takes beside the names of presets: auto goes by what the input says
// of it, none is one without any delay.
const (
	lbAuto = "auto"
	lbNone = "none"
)

// balancerSpec is the Scenario's load balancer.
func (b *builder) balancerSpec() cursor { return b.doc.spec().get("loadBalancer") }

// balancerName is what it says of the preset; mistakes, which checkBalancer reports, are as if
// nothing was said.
func (b *builder) balancerName() string {
	name := b.balancerSpec().get("preset").text(lbAuto)
	if name == lbAuto || !slices.Contains(LoadBalancerNames(), name) {
		return lbAuto
	}
	return name
}

// checkBalancer reports what is wrong with loadBalancer wherever it is used.
func (b *builder) checkBalancer() {
	preset := b.balancerSpec().get("preset")
	name := preset.text(lbAuto)
	if name == lbAuto {
		return
	}
	if !slices.Contains(LoadBalancerNames(), name) {
		preset.fail("there is no load balancer preset %s; %s", name, presetHint(name))
		return
	}
	if name == lbNone && b.overridden() {
		b.balancerSpec().fail("there is no load balancer whose fields could be changed: preset is none")
	}
}

// overridden says whether fields of the preset are given, too.
func (b *builder) overridden() bool {
	for _, key := range b.balancerSpec().keys() {
		if key != "preset" && b.balancerSpec().get(key).present() {
			return true
		}
	}
	return false
}

// Ways into the cluster that via names.
const (
	viaLB       = "lb"
	viaNodePort = "nodePort"
)

// balance gives a stream from outside its load balancer or proxy. via is what the stream says of
// its way, at where it says so.
func (b *builder) balance(t *world.Traffic, svc *corev1.Service, via string, at cursor) {
	t.Route = b.world.routeTo(t, svc)
	if b.entrance != nil {
		t.Route = b.entrance.route
	}
	switch {
	case via == viaLB && !t.External:
		at.fail("only traffic from outside goes through a load balancer: set from: external")
	case via == viaLB && len(t.Nodes) > 0:
		at.fail("a load balancer chooses the nodes: leave out via or nodes")
	case via == viaNodePort && t.External:
		t.HealthyNodesOnly, t.Direct = false, true
	case via == viaNodePort, len(t.Nodes) > 0:
	case b.throughProxy(t, svc, via):
		b.through(t, svc, b.proxyOf(t, svc))
	case via == viaLB:
		found := b.balancerOf(t, svc, via)
		if found.name == "" && b.balancerName() == lbAuto {
			at.fail("nothing in the input says which load balancer it is: give loadBalancer: {preset: NAME}; valid here: %s", strings.Join(familyNames(), ", "))
		}
		b.through(t, svc, found)
	case t.External && svc.Spec.Type == corev1.ServiceTypeLoadBalancer:
		b.through(t, svc, b.balancerOf(t, svc, via))
	}
}

// through sends a stream through what was found.
func (b *builder) through(t *world.Traffic, svc *corev1.Service, found balancerFound) {
	if t.Bypass = found.bypass; t.Bypass != "" {
		t.External, t.HealthyNodesOnly, t.Families = false, false, found.families
		return
	}
	if found.name == "" {
		return
	}
	t.External, t.HealthyNodesOnly = true, false
	t.LB = b.filled(found.name, t, svc)
	t.LBOthers, t.Families = found.others, found.families
	if t.LB != nil && b.overridden() && b.belong(t.LB) { // a user who sets its fields knows which one it is
		t.LBOthers, t.Families = nil, nil
	}
}

// anyProxy is a proxy in the cluster of which nothing is known.
const anyProxy = "l7-generic"

// Nameless says that a preset stands for any proxy of its kind, so that nobody calls his by its name.
func Nameless(preset string) bool { return preset == anyProxy || preset == world.CloudGateway }

// isProxy says whether a preset of that name is a proxy of HTTP requests.
func isProxy(name string) bool {
	p, ok := presetFor(name, "")
	return ok && p.Layer7()
}

// throughProxy says whether a stream goes through a proxy of HTTP requests: because an Ingress or
// HTTPRoute names its port, unless the Service has a load balancer of its own, or because the
// Scenario says so.
func (b *builder) throughProxy(t *world.Traffic, svc *corev1.Service, via string) bool {
	name := b.balancerName()
	switch {
	case t.Protocol != endpoints.TCP, t.Connection == world.ConnectionSession, t.Named:
		return false
	case isProxy(name):
		return via == viaLB || routed(t)
	case via == viaLB:
		return name == lbAuto && routed(t) && svc.Spec.Type != corev1.ServiceTypeLoadBalancer
	default:
		return routed(t) && (b.entrance != nil || svc.Spec.Type != corev1.ServiceTypeLoadBalancer)
	}
}

// routed says whether an Ingress or HTTPRoute leads a stream's requests to its Service port: not
// those of pods.
func routed(t *world.Traffic) bool {
	return t.Route != nil && (t.External || t.Class == ClassOutside || t.Class == ClassH2)
}

// proxyOf says which proxy it is, and lists it among the assumptions unless the user has said so.
func (b *builder) proxyOf(t *world.Traffic, svc *corev1.Service) balancerFound {
	found := b.pickFamily(b.routeFound(t.Route), t, svc)
	if found.name == nginxName && t.Route != nil && nginxBypass(t.Route) != "" {
		found.bypass = nginxBypass(t.Route)
		b.doc.balanced = b.doc.balanced || b.balancerName() == nginxName
	}
	if found.name != "" && found.basis != "" {
		b.assumeAs(map[bool]string{true: "ingress", false: "lb"}[isProxy(found.name)], found.name+" ("+found.why+")", found.basis)
	}
	return found
}

// routeFound is what a route leads through, as the user says, else as the input does; without a basis where it was the user.
func (b *builder) routeFound(r *world.Route) balancerFound {
	name := b.balancerName()
	switch {
	case name == lbNone:
		return balancerFound{bypass: "the ingress or gateway is left out (load balancer none)"}
	case isProxy(name), r.Object.Kind == kindBinding && strings.HasPrefix(name, "aws-nlb-"):
		return balancerFound{name: name}
	}
	found := findRoute(r, b.provider())
	if found.basis == "assumed" && b.overridden() { // a user who sets its fields knows which one it is
		found.name, found.families = anyProxy, nil
	}
	return found
}

// balancerOf says which load balancer a Service has, and lists it among the assumptions unless
// the user has said so. A proxy is none of a Service's own: it takes one that says via: [lb].
func (b *builder) balancerOf(t *world.Traffic, svc *corev1.Service, via string) balancerFound {
	name := b.balancerName()
	switch {
	case name == lbNone:
		return balancerFound{}
	case name != lbAuto && (via == viaLB || !isProxy(name)):
		return balancerFound{name: name}
	}
	env, _ := environmentNamed(b.opts.Env)
	found := findBalancer(svc, b.world.nodes, env, b.world.adverts)
	if found.name == "" {
		if name == lbAuto && b.overridden() {
			b.balancerSpec().fail("nothing in the input says which load balancer Service %s/%s has: give preset, too", svc.Namespace, svc.Name)
		}
		if via == viaLB { // who says that there is one can say which
			return found
		}
		other, known := b.otherBalancerOf(svc)
		switch provider, node := b.otherProvider(); {
		case known:
			found = balancerFound{families: other.families, why: other.words + " is not simulated", basis: "assumed"}
		case provider == k3s:
			b.assumeAs("lb", "none ("+serviceLB(node)+")", inferred)
			return found
		default:
			found = unknownBalancer(svc)
		}
	}
	found = b.pickFamily(found, t, svc)
	b.assumeAs("lb", found.name+" ("+found.why+")", found.basis)
	return found
}

// belong says whether the fields that are given beside the preset are those of a load balancer:
// beside a proxy's they are not those of Services of type LoadBalancer, and the other way round.
func (b *builder) belong(lb *world.LoadBalancer) bool {
	name := b.balancerName()
	return name == lbAuto || isProxy(name) == (lb.Layer7 != nil)
}

// filled makes the load balancer of a preset and of the fields that are given beside it; nil
// when they make no sense for the Service.
func (b *builder) filled(name string, t *world.Traffic, svc *corev1.Service) *world.LoadBalancer {
	policy := cmp.Or(svc.Spec.ExternalTrafficPolicy, policyCluster) // one of type ClusterIP has none
	c := b.balancerSpec()
	b.doc.balanced = b.doc.balanced || name == b.balancerName()
	p, ok := presetFor(name, policy)
	switch {
	case !ok:
		return nil // checkBalancer has said so
	case p.Layer7() && !b.carries(&p, t):
		return nil
	case !p.fits(policy):
		fitting, _ := presetFor(p.Family, policy)
		c.get("preset").fail("load balancer %s is for externalTrafficPolicy %s, Service %s/%s has %s: use %s, or %s for both",
			p.ID, p.Policy, svc.Namespace, svc.Name, policy, fitting.ID, p.Family)
		return nil
	}
	lb := p.LoadBalancer
	lb.Service = svc.Namespace + "/" + svc.Name
	b.checkAnnotations(append(b.world.setByMap(&lb), annotate(&lb, svc, t.Route)...), svc)
	lb.InjectInto(asksForGate(b.world.namespaces[svc.Namespace], gateLabelFor(svc, t.Route)))
	if b.belong(&lb) && !b.changed(&lb, svc) {
		return nil
	}
	likeItsMaker(&lb, t.Route)
	p.methods(t, &lb)
	return &lb
}

// saysRetries notes that a field beside the preset says what a proxy sends again.
func saysRetries(lb *world.LoadBalancer, field string) {
	if lb.Layer7 != nil && (field == "retries" || field == "retryOn") {
		lb.Layer7.RetriesSaid = true
	}
}

// methods has a proxy of a preset treat gRPC calls as what they are, POSTs, and what else nobody has said the method of as what it loses
// more of, where it is only recalled that it sends a GET again: Google's.
func (p *Preset) methods(t *world.Traffic, lb *world.LoadBalancer) {
	l := lb.Layer7
	if l != nil && !l.RetriesSaid && l.Retries > 0 && (t.Connection == world.ConnectionHTTP2 || p.status("retries") == recalled) {
		l.ForPOSTs()
	}
}

// status is how far a field is known, "" for one that the preset has not.
func (p *Preset) status(field string) string {
	for i := range p.Fields {
		if p.Fields[i].Name == field {
			return p.Fields[i].Status
		}
	}
	return ""
}

// carries reports traffic that is none of a proxy of HTTP requests.
func (b *builder) carries(p *Preset, t *world.Traffic) bool {
	switch c := b.balancerSpec().get("preset"); {
	case t.Protocol != endpoints.TCP:
		c.fail("load balancer %s is a proxy of HTTP requests: traffic to %s:%d is not TCP", p.ID, t.Service, t.Port)
	case t.Connection == world.ConnectionSession:
		c.fail("not yet simulated: sessions through load balancer %s, a proxy of HTTP requests", p.ID)
	default:
		return true
	}
	return false
}

// changed applies the fields that are given beside the preset, and says whether all is well.
func (b *builder) changed(lb *world.LoadBalancer, svc *corev1.Service) bool {
	c, before := b.balancerSpec(), len(b.doc.problems)
	for _, f := range lbFields() {
		switch at := c.get(f.name); {
		case f.belongsTo(lb):
			f.read(at, lb)
			if at.present() {
				saysRetries(lb, f.name)
				lb.SYNUnknown = lb.SYNUnknown && f.name != repeatedSYN
				lb.Reported = slices.DeleteFunc(slices.Clone(lb.Reported), func(r world.Report) bool { return r.Field == f.name })
			}
		case at.present() && f.layer4:
			at.fail("load balancer %s is a proxy: the clients' own connections to it are not simulated, and %s is about those", lb.Preset, f.name)
		case at.present():
			at.fail("load balancer %s passes connections on, and %s is a field of proxies of HTTP requests: %s", lb.Preset, f.name, orList(proxyNames()))
		}
	}
	return len(b.doc.problems) == before && b.sensible(lb, svc)
}

// proxyNames lists the presets that are proxies.
func proxyNames() []string {
	var names []string
	for _, p := range Presets() {
		if p.Layer7() {
			names = append(names, p.ID)
		}
	}
	return names
}

// needsNodePort says whether a stream ends at a node, and its Service has no port there.
func needsNodePort(t *world.Traffic, svc *corev1.Service) bool {
	return t.External && (t.LB == nil || t.LB.Target != world.TargetPods) && !hasNodePort(svc, t.Port, t.Protocol)
}

// hasNodePort says whether a Service's port has one on the nodes.
func hasNodePort(svc *corev1.Service, port int, protocol endpoints.Protocol) bool {
	return slices.ContainsFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool {
		return int(p.Port) == port && p.NodePort != 0 && (p.Protocol == corev1.ProtocolUDP) == (protocol == endpoints.UDP)
	})
}

// withoutNodePort is why the requests of a stream go to the ClusterIP whose load balancer sends to nodes.
const withoutNodePort = "the Service has no node port"

// ground has default clients of a port that nobody outside reaches go to the ClusterIP, and
// says so.
func ground(t *world.Traffic, svc *corev1.Service) {
	if !needsNodePort(t, svc) {
		return
	}
	t.Bypass = withoutNodePort
	if t.LB != nil {
		t.Bypass += ", and load balancer " + t.LB.Preset + " sends to nodes"
	}
	t.LB, t.External, t.HealthyNodesOnly = nil, false, false
}

// sensible reports fields that do not go together.
func (b *builder) sensible(lb *world.LoadBalancer, svc *corev1.Service) bool {
	c, before := b.balancerSpec(), len(b.doc.problems)
	b.checkGates(lb)
	if lb.Layer7 != nil {
		b.sensibleProxy(lb, c)
	} else if lb.NoTarget == world.NoTargetElsewhere {
		b.failAt(c, "noTarget", "only a proxy of HTTP requests has another Service answer")
	}
	pods := lb.Members == world.MembersReadyPods || lb.Members == world.MembersLivePods || lb.Members == world.MembersServingPods
	if pods != (lb.Target == world.TargetPods) {
		want := "all-nodes, local-nodes or serving-nodes"
		if lb.Target == world.TargetPods {
			want = "ready-pods, live-pods or serving-pods"
		}
		b.failAt(c, "members", "with these targets members has to be %s", want)
	}
	switch probe := lb.Check.Probe; {
	case probe == world.ProbeNone:
		return len(b.doc.problems) == before
	case (probe == world.ProbePod) != (lb.Target == world.TargetPods):
		b.failAt(c, "probe", "pods are asked with probe: pod, nodes with any other")
	case probe == world.ProbeHealthPort && svc.Spec.HealthCheckNodePort == 0:
		b.failAt(c, "probe", "Service %s/%s has no healthCheckNodePort: it needs type LoadBalancer and externalTrafficPolicy Local", svc.Namespace, svc.Name)
	}
	for _, f := range []struct {
		name string
		zero bool
	}{{"interval", lb.Check.Interval == 0}, {"timeout", lb.Check.Timeout == 0}, {"healthy", lb.Check.Healthy == 0}, {"unhealthy", lb.Check.Unhealthy == 0}} {
		if f.zero {
			b.failAt(c, f.name, "a health check needs more than 0")
		}
	}
	if lb.Announce != world.AnnounceNone && lb.Target == world.TargetPods {
		b.failAt(c, "announce", "addresses are announced by nodes, not by pods")
	}
	return len(b.doc.problems) == before
}

// sensibleProxy reports fields that make no sense of a proxy of HTTP requests.
func (b *builder) sensibleProxy(lb *world.LoadBalancer, c cursor) {
	if lb.Announce != world.AnnounceNone {
		b.failAt(c, "announce", "a proxy has an address of its own: nothing announces it")
	}
	if lb.Layer7.Retries > maxRetries {
		b.failAt(c, "retries", "expected at most %d retries, got %d", maxRetries, lb.Layer7.Retries)
	}
}

// failAt reports a field where it stands, else where the load balancer does.
func (b *builder) failAt(c cursor, name, format string, args ...any) {
	if at := c.get(name); at.present() {
		at.fail(format, args...)
		return
	}
	b.doc.report(manifest.Error, c.d.position(c.at), child(c.at, name), format, args...)
}

// wayLeftOut lists what of the way to a Service the model does not have.
func (b *builder) wayLeftOut(svc *corev1.Service) {
	name := svc.Namespace + "/" + svc.Name
	direct, weighed, probe, bypass, other := false, false, "", "", ""
	for i := range b.out.Traffic {
		t := b.out.Traffic[i].ClientSide()
		if t.Service != name {
			continue
		}
		probe = cmp.Or(probe, otherProbe(&t, svc))
		other = cmp.Or(other, b.standIn(&t))
		b.stickyLeftOut(&t)
		b.retriesLeftOut(&t)
		if !weighed {
			weighed = b.weighed(&t, svc)
		}
		direct = direct || t.External && t.LB == nil && !t.Direct && len(t.Nodes) == 0
		if bypass == "" && t.Bypass != "" {
			if bypass = t.Bypass; refusedByALB(&t) {
				b.notModelled(world.Refused, "the AWS Load Balancer Controller refuses this Service, for an ALB of target-type instance wants a node port: nobody comes through it. "+
					"What follows is as if requests went to the ClusterIP", "Service "+name, "more")
				continue
			}
			b.notModelled(map[bool]string{true: "ingress", false: "load-balancer"}[t.Route != nil], t.Bypass+": its requests go to the ClusterIP", "Service "+name, "unknown")
		}
	}
	if other == "" && (b.entrance == nil || b.entrance.route == nil) {
		other = b.balancerStandsIn(svc)
	}
	if other != "" {
		b.notModelled(world.StandIn, other, "Service "+name, "unknown")
	}
	if probe != "" {
		b.notModelled(world.Unfollowed, "annotation "+probe+" is not followed: health checks ask what they do without it", "Service "+name, "unknown")
	}
	b.noBalancer(svc, direct)
}

// stickyLeftOut says what an annotation of ingress-nginx that keeps clients with their pods means for those whose pod fails.
func (b *builder) stickyLeftOut(t *world.Traffic) {
	if key := stuckTo(t); key != "" {
		b.notModelled("sticky", fmt.Sprintf("%s%s (%s) keeps a client with its pod, also when that fails: no second try at another pod is simulated, not for clients without the cookie or key either",
			nginxPrefix, key, where(t.Route.Object, annotationPath(nginxPrefix+key))), t.Route.Object.String(), "fewer")
	}
}

// noBalancer says what it means for a Service of type LoadBalancer that some of its clients come to the nodes themselves.
func (b *builder) noBalancer(svc *corev1.Service, direct bool) {
	name := svc.Namespace + "/" + svc.Name
	if provider, node := b.otherProvider(); direct && provider == k3s && b.balancerName() == lbAuto && svc.Spec.Type == corev1.ServiceTypeLoadBalancer {
		b.notModelled("load-balancer", serviceLB(node)+": clients go to the nodes themselves, as they do there, and to any of them", "Service "+name, "unknown")
	} else if direct && svc.Spec.Type == corev1.ServiceTypeLoadBalancer {
		b.notModelled("load-balancer", "no load balancer is simulated: clients go to the node ports as one without any delay would", "Service "+name, "more")
	}
}

// refusedByALB says that a stream's ALB is told to send to nodes, and its Service has no node port.
func refusedByALB(t *world.Traffic) bool {
	if t.Route == nil || !strings.HasPrefix(t.Bypass, withoutNodePort) {
		return false
	}
	target, _ := routeAnnotation(t.Route, albPrefix+"target-type")
	return target == "instance"
}

// unusedBalancer warns of a load balancer that no traffic goes through. What comes from outside in a case that is not judged might have.
func (b *builder) unusedBalancer(cases ...Case) {
	if slices.ContainsFunc(cases, func(c Case) bool { return c.Scenario == nil && strings.HasPrefix(c.Traffic, "outside") }) {
		return
	}
	c := b.balancerSpec()
	if name := b.balancerName(); name == lbAuto || name == lbNone || b.doc.balanced || manifest.HasErrors(b.doc.problems) {
		return
	}
	wants := "no traffic goes through a load balancer: that wants a Service of type LoadBalancer, or via: [lb]"
	if isProxy(b.balancerName()) {
		wants = "no traffic goes through a proxy: that wants an Ingress or HTTPRoute that names the Service port, or via: [lb]"
	}
	b.doc.report(manifest.Warning, c.d.position(child(c.at, "preset")), child(c.at, "preset"), "%s", wants)
}

// otherBalancers are the load balancers, or with proxies the proxies, that it might be instead, of
// every stream of which that was not said.
func otherBalancers(s *world.Scenario, id string) []Alternative {
	var names []string
	for i := range s.Traffic {
		names = append(names, s.Traffic[i].LBOthers...)
	}
	var out []Alternative
	for _, name := range distinct(names) {
		if isProxy(name) != (id == "ingress") {
			continue
		}
		changed, value := s.Clone(), ""
		for i := range changed.Traffic {
			t := &changed.Traffic[i]
			outer := t.ClientSide()
			svc := s.ServiceNamed(outer.Service)
			if svc == nil || !slices.Contains(t.LBOthers, name) {
				continue
			}
			p, _ := presetFor(name, svc.Spec.ExternalTrafficPolicy)
			lb := p.LoadBalancer
			annotate(&lb, svc, t.Route)
			lb.InjectInto(asksForGate(s.Namespaces[svc.Namespace], gateLabelFor(svc, t.Route)))
			lb.Service = outer.Service
			outer.LB, outer.External = &lb, true
			if !needsNodePort(&outer, svc) {
				t.LB, t.External, t.HealthyNodesOnly, t.Bypass, value = &lb, true, false, "", p.ID
			}
		}
		if value != "" {
			out = append(out, Alternative{id, value, changed})
			out = append(out, slowest(changed, id, value)...)
		}
	}
	return out
}

// slowest is a Scenario with another load balancer once more, with the most that was reported of how long it sends to targets that are gone:
// what is enough behind it has to be enough then, too, as where the input says that it is this one.
func slowest(s *world.Scenario, id, name string) []Alternative {
	ends := reportedEnds(s, "propagation")
	if len(ends) == 0 {
		return nil
	}
	most := ends[len(ends)-1]
	after, _, _ := strings.Cut(most.Value, " (")
	return []Alternative{{id, name + " that leaves a removed target after " + after, most.Scenario}}
}
