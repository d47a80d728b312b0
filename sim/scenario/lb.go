package scenario

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// What loadBalancer.preset takes beside the names of presets: auto goes by what the input says
// of it, none is one without any delay.
const (
	lbAuto = "auto"
	lbNone = "none"
)

// anyFamily lists the load balancers that are tried where nothing says which one it is, one of
// each family (simulator.md 3).
func anyFamily() []string {
	return []string{"gke-l4", "aws-nlb-ip", "aws-nlb-instance", "azure-standard", "metallb-l2"}
}

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
	for _, p := range Presets() {
		if p.Layer7 && (p.ID == name || p.Family == name) {
			preset.fail("not yet simulated: load balancer %s, a proxy of HTTP requests", p.ID)
		}
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

// balance gives a stream from outside its load balancer. via is what the stream says of its
// way, at where it says so.
func (b *builder) balance(t *Traffic, svc *corev1.Service, via string, at cursor) {
	typed := svc.Spec.Type == corev1.ServiceTypeLoadBalancer
	switch {
	case !t.External:
		if via == viaLB {
			at.fail("only traffic from outside goes through a load balancer: set from: external")
		}
		return
	case via == viaNodePort:
		t.HealthyNodesOnly, t.direct = false, true
		return
	case via == viaLB && len(t.Nodes) > 0:
		at.fail("a load balancer chooses the nodes: leave out via or nodes")
		return
	case via != viaLB && (!typed || len(t.Nodes) > 0):
		return
	}
	found := b.balancerOf(t, svc)
	if found.name == "" {
		if via == viaLB && b.balancerName() == lbAuto {
			at.fail("nothing in the input says which load balancer it is: give loadBalancer: {preset: NAME}; valid here: %s", strings.Join(familyNames(), ", "))
		}
		return
	}
	t.HealthyNodesOnly = false
	t.LB = b.filled(found.name, svc)
	if t.lbOthers = found.others; b.overridden() { // whoever knows its fields knows which one it is
		t.lbOthers = nil
	}
}

// balancerOf says which load balancer it is, and lists it among the assumptions unless somebody
// has said so.
func (b *builder) balancerOf(t *Traffic, svc *corev1.Service) balancerFound {
	name := b.balancerName()
	switch name {
	case lbNone:
		return balancerFound{}
	case lbAuto:
		env, _ := environmentNamed(b.opts.Env)
		found := findBalancer(svc, b.world.nodes, env)
		if found.name == "" {
			if b.overridden() {
				b.balancerSpec().fail("nothing in the input says which load balancer Service %s/%s has: give preset, too", svc.Namespace, svc.Name)
			}
			b.assumeAs("lb", "unknown: as one without any delay", "assumed")
			t.lbOthers = anyFamily()
			return found
		}
		b.assumeAs("lb", found.name+" ("+found.why+")", found.basis)
		return found
	default:
		return balancerFound{name: name}
	}
}

// filled makes the load balancer of a preset and of the fields that are given beside it; nil
// when they make no sense for the Service.
func (b *builder) filled(name string, svc *corev1.Service) *LoadBalancer {
	policy := svc.Spec.ExternalTrafficPolicy
	c := b.balancerSpec()
	b.doc.balanced = true
	p, ok := presetFor(name, policy)
	if !ok || p.Layer7 {
		return nil // checkBalancer has said so
	}
	if !p.fits(policy) {
		fitting, _ := presetFor(p.Family, policy)
		c.get("preset").fail("load balancer %s is for externalTrafficPolicy %s, Service %s/%s has %s: use %s, or %s for both",
			p.ID, p.Policy, svc.Namespace, svc.Name, policy, fitting.ID, p.Family)
		return nil
	}
	lb := p.LoadBalancer
	lb.Service = svc.Namespace + "/" + svc.Name
	b.checkAnnotations(annotate(&lb, svc), svc)
	for _, f := range lbFields() {
		f.read(c.get(f.name), &lb)
	}
	if !b.sensible(&lb, svc) {
		return nil
	}
	return &lb
}

// sensible reports fields that do not go together.
func (b *builder) sensible(lb *LoadBalancer, svc *corev1.Service) bool {
	c, before := b.balancerSpec(), len(b.doc.problems)
	pods := lb.Members == MembersReadyPods || lb.Members == MembersLivePods
	if pods != (lb.Target == TargetPods) {
		want := "all-nodes, local-nodes or serving-nodes"
		if lb.Target == TargetPods {
			want = "ready-pods or live-pods"
		}
		b.failAt(c, "members", "with these targets members has to be %s", want)
	}
	switch probe := lb.Check.Probe; {
	case probe == ProbeNone:
		return len(b.doc.problems) == before
	case (probe == ProbePod) != (lb.Target == TargetPods):
		b.failAt(c, "probe", "pods are asked with probe: pod, nodes with any other")
	case probe == ProbeHealthPort && svc.Spec.HealthCheckNodePort == 0:
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
	if lb.Announce != AnnounceNone && lb.Target == TargetPods {
		b.failAt(c, "announce", "addresses are announced by nodes, not by pods")
	}
	return len(b.doc.problems) == before
}

// failAt reports a field where it stands, else where the load balancer does.
func (b *builder) failAt(c cursor, name, format string, args ...any) {
	if at := c.get(name); at.present() {
		at.fail(format, args...)
		return
	}
	b.doc.report(manifest.Error, c.d.position(c.at), child(c.at, name), format, args...)
}

// unusedBalancer warns of a load balancer that no traffic goes through.
func (b *builder) unusedBalancer() {
	c := b.balancerSpec()
	if name := b.balancerName(); name == lbAuto || name == lbNone || b.doc.balanced || manifest.HasErrors(b.doc.problems) {
		return
	}
	b.doc.report(manifest.Warning, c.d.position(child(c.at, "preset")), child(c.at, "preset"),
		"no traffic goes through a load balancer: that wants a Service of type LoadBalancer, or via: [lb]")
}

// otherBalancers are the load balancers that it might be instead, of every stream whose load
// balancer was not said.
func otherBalancers(s *Scenario) []Alternative {
	var names []string
	for i := range s.Traffic {
		names = append(names, s.Traffic[i].lbOthers...)
	}
	var out []Alternative
	for _, name := range distinct(names) {
		changed, value := s.clone(), ""
		for i := range changed.Traffic {
			t := &changed.Traffic[i]
			svc := s.serviceNamed(t.Service)
			if svc == nil || !slices.Contains(t.lbOthers, name) {
				continue
			}
			p, _ := presetFor(name, svc.Spec.ExternalTrafficPolicy)
			lb := p.LoadBalancer
			annotate(&lb, svc)
			lb.Service, value = t.Service, p.ID
			t.LB, t.HealthyNodesOnly = &lb, false
		}
		out = append(out, Alternative{"lb", value, changed})
	}
	return out
}

// serviceNamed returns the Service "ns/name", nil when there is none.
func (s *Scenario) serviceNamed(name string) *corev1.Service {
	for i := range s.Services {
		if svc := s.Services[i].Service; svc.Namespace+"/"+svc.Name == name {
			return svc
		}
	}
	return nil
}
