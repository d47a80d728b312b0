package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A stream whose via names a Service goes through the pods behind it: an ingress controller that
// is part of the Scenario, with a rollout of its own. One that is not is a proxy at rest, which
// lb.go finds by the Ingress or HTTPRoute.

// ingressSpec is what the Scenario says of such controllers.
func (b *builder) ingressSpec() cursor { return b.doc.spec().get("ingress") }

// ingressFields are those of a proxy that goes by endpoints alone.
func ingressFields() []lbField {
	names := []string{"members", "controller", "controllerHold", "registration", "propagation", "noTarget", "hash"}
	return slices.DeleteFunc(lbFields(), func(f lbField) bool {
		return f.name == "ingress" || f.layer4 || !f.layer7 && !slices.Contains(names, f.name)
	})
}

// ingressShape has a field for each of them beside the preset.
func ingressShape() shape {
	s := fieldsOf(field{"preset", word(ingressNames()...).doc("by the class of the Ingress", "an ingress controller whose pods are part of the Scenario")})
	for _, f := range ingressFields() {
		s.fields = append(s.fields, field{f.name, f.shape})
	}
	return s
}

// ingressNames lists the presets that run inside of the cluster.
func ingressNames() []string {
	var names []string
	for _, p := range presetTable() {
		if p.Layer7() && p.LoadBalancer.Layer7.Ingress {
			names = append(names, p.ID)
		}
	}
	return names
}

// throughController sends a stream through the ingress controller that controller, an entry of its via, names.
// way is what the rest of via says of how clients get there, at where.
func (b *builder) throughController(t *world.Traffic, controller cursor, way string, at cursor) {
	front := world.Traffic{External: t.External, Nodes: t.Nodes, Connection: t.Connection}
	svc := b.target(controller, "", &front)
	if svc == nil {
		return
	}
	switch {
	case t.Protocol != endpoints.TCP || front.Protocol != endpoints.TCP:
		controller.fail("an ingress controller is a proxy of HTTP requests: both Services have to be TCP")
		return
	case t.Connection == world.ConnectionSession:
		controller.fail("not yet simulated: sessions through an ingress controller")
		return
	case t.Named || front.Named:
		controller.fail("not yet simulated: headless Services behind or in front of an ingress controller")
		return
	case front.Service == t.Service:
		controller.fail("the requests of Service %s go through it already", t.Service)
		return
	}
	before := len(b.doc.problems)
	b.balance(&front, svc, way, at)
	if front.LB != nil && front.LB.Layer7 != nil {
		controller.fail("not yet simulated: load balancer %s, a proxy, in front of an ingress controller", front.LB.Preset)
	}
	if needsNodePort(&front, svc) && len(b.doc.problems) == before {
		controller.fail("no traffic from outside for Service %s: %s", front.Service, noNodePort(&front, svc))
	}
	t.External, t.HealthyNodesOnly, t.LB = front.External, front.HealthyNodesOnly, front.LB
	t.Direct, t.Bypass, t.LBOthers, t.Families = front.Direct, front.Bypass, front.LBOthers, front.Families
	t.Ingress = &world.Ingress{Service: front.Service, Port: front.Port, Proxy: b.controllerOf(t, front.Service)}
}

// controllerOf fills in what a controller does with requests: as its preset says, the annotations
// of the Ingress that leads through it, and the fields beside the preset.
func (b *builder) controllerOf(t *world.Traffic, service string) *world.LoadBalancer {
	c := b.ingressSpec()
	name := c.get("preset").text("")
	if name == "" {
		var why, basis string
		name, why, basis = b.findController(t, service)
		b.assumeAs("ingress", name+" ("+why+")", basis)
	}
	p, ok := presetFor(name, "")
	if !ok {
		return &world.LoadBalancer{Layer7: &world.Layer7{}} // the grammar has refused the name
	}
	lb := p.LoadBalancer
	lb.Service = t.Service
	if s, ok := b.world.service(t.Service); ok {
		b.checkAnnotations(append(b.world.setByMap(&lb), annotate(&lb, s.Value, t.Route)...), s.Value)
	}
	for _, f := range ingressFields() {
		if at := c.get(f.name); at.present() {
			saysRetries(&lb, f.name)
		}
		f.read(c.get(f.name), &lb)
	}
	p.methods(t, &lb)
	if lb.Members != world.MembersReadyPods && lb.Members != world.MembersLivePods && lb.Members != world.MembersServingPods {
		c.get("members").fail("an ingress controller asks pods: want ready-pods, live-pods or serving-pods")
	}
	return &lb
}

// findController goes by the class of the Ingress or Gateway, and by the image of the controller.
func (b *builder) findController(t *world.Traffic, service string) (name, why, basis string) {
	if t.Route != nil {
		if f := findRoute(t.Route, b.provider()); f.basis == inferred && slices.Contains(ingressNames(), f.name) {
			return f.name, f.why, inferred
		}
	}
	if s, ok := b.world.service(service); ok {
		if w := b.behind(s); w != nil {
			for _, known := range []string{"ingress-nginx", "envoy"} {
				if strings.HasPrefix(w.App.Profile, known) {
					return map[string]string{"ingress-nginx": "ingress-nginx", "envoy": "envoy-gateway"}[known], "by its image", inferred
				}
			}
		}
	}
	return anyProxy, "nothing says which one it is", "assumed"
}

// unusedIngress warns of a controller that no traffic goes through.
func (b *builder) unusedIngress() {
	c := b.ingressSpec()
	if !c.present() || manifest.HasErrors(b.doc.problems) || slices.ContainsFunc(b.out.Traffic, func(t world.Traffic) bool { return t.Ingress != nil }) {
		return
	}
	b.doc.report(manifest.Warning, c.d.position(c.at), c.at, "no traffic goes through an ingress controller: that wants via: [NAMESPACE/SERVICE:PORT] with its Service")
}

func (w *printer) ingress(i *world.Ingress) {
	w.line("service", fmt.Sprintf("%s:%d", i.Service, i.Port))
	w.line("preset", i.Proxy.Preset)
	for _, f := range ingressFields() {
		w.raw(f.name, f.say(i.Proxy))
	}
}
