package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// gateLabel is the label of a Namespace that has the AWS Load Balancer Controller's webhook
// inject gates (docs/model/load-balancers.md 2 lbc readiness gate; verified).
const (
	gateLabel   = "elbv2.k8s.aws/pod-readiness-gate-inject"
	gateEnabled = "enabled"
)

// autoModeGateLabel is that of the webhook of EKS Auto Mode, which does not look at the other one (docs/model/load-balancers.md 2 EKS Auto Mode
// readiness gate; reported).
const autoModeGateLabel = "eks.amazonaws.com/pod-readiness-gate-inject"

// gateLabelFor is the label that the controller of a load balancer before a Service asks for, by its class: route is nil for one of the Service.
func gateLabelFor(svc *corev1.Service, route *world.Route) string {
	class := svc.Spec.LoadBalancerClass
	if route == nil && class != nil && *class == autoModeNLB || route != nil && route.Controller == autoModeALB {
		return autoModeGateLabel
	}
	return gateLabel
}

// asksForGate says that a Namespace has a label with which its pods are given readiness gates, nil for one that is not in the input.
func asksForGate(namespace *manifest.Object, label string) bool {
	if namespace == nil {
		return false
	}
	v, ok := namespace.Value.(*corev1.Namespace)
	return ok && v.Labels[label] == gateEnabled
}

// gateLabelOf is gateLabelFor of some traffic's load balancer.
func gateLabelOf(s *world.Scenario, t *world.Traffic) string {
	outer := t.ClientSide()
	if svc := s.ServiceNamed(outer.Service); svc != nil {
		return gateLabelFor(svc, t.Route)
	}
	return gateLabel
}

// gateFields are the fields of a load balancer that readiness gates need.
const gateFields = "readinessGate gateRecheck gateTimeout gateInjection"

// checkGates reports what does not go together.
func (b *builder) checkGates(lb *world.LoadBalancer) {
	c := b.balancerSpec()
	switch {
	case lb.ReadinessGate == "":
		for _, name := range []string{"gateRecheck", "gateTimeout", "gateInjection"} {
			if at := c.get(name); at.present() {
				at.fail("this load balancer sets no readiness gate: give readinessGate, too")
			}
		}
	case lb.Target != world.TargetPods:
		b.failAt(c, "readinessGate", "only pods have readiness gates, and the targets are nodes")
	case lb.GateRecheck == 0:
		b.failAt(c, "gateRecheck", "expected more than 0: how often pods that wait for the gate are looked at")
	}
}

// labelledGate says that the controller behind a load balancer gives pods its readiness gate in namespaces with a label.
func labelledGate(lb *world.LoadBalancer) bool {
	if lb == nil || lb.ReadinessGate == "" {
		return false
	}
	p, _ := presetFor(lb.Preset, "")
	return p.LoadBalancer.GateInjection == world.InjectLabelled
}

// assumeGates says whether pods behind such a load balancer have the gate, and by what.
func (b *builder) assumeGates() {
	for i := range b.out.Traffic {
		lb := b.out.Traffic[i].LB
		if !labelledGate(lb) || b.balancerSpec().get("gateInjection").present() {
			continue
		}
		namespace, _, _ := strings.Cut(lb.Service, "/")
		label := gateLabelOf(b.out, &b.out.Traffic[i])
		switch o := b.world.namespaces[namespace]; {
		case lb.GateInjection == world.InjectAlways:
			b.assumeAs("gate", fmt.Sprintf("injected by label %s of Namespace %s%s", label, namespace, place(o, fmt.Sprintf("metadata.labels[%q]", label), "")), inferred)
		case o != nil:
			b.assumeAs("gate", fmt.Sprintf("none (no label %s of Namespace %s)", label, namespace), inferred)
		default:
			b.assumeAs("gate", fmt.Sprintf("none: Namespace %s, whose label asks for it, is not in the input", namespace), "assumed")
			b.notModelled("gate", "readiness gates that the Namespace asks for (not in the input)", "Namespace "+namespace, "fewer")
		}
	}
}

// gated has pods behind such load balancers get the gate, where the input does not have their namespaces.
func gated(s *world.Scenario) bool {
	changed := false
	for i := range s.Traffic {
		t := &s.Traffic[i]
		if !labelledGate(t.LB) || t.LB.GateInjection != world.InjectNever {
			continue
		}
		namespace, _, _ := strings.Cut(t.LB.Service, "/")
		if s.Namespaces[namespace] == nil {
			lb := *t.LB
			lb.GateInjection = world.InjectAlways
			t.LB, changed = &lb, true
		}
	}
	return changed
}

// keeping is how long after a pod's containers are ready what is not in the input sets its readiness gates: nothing is known of it
// (docs/model/simulator.md 5.3 Keeper).
func keeping() engine.Dist {
	const most = 5 * engine.Second
	return engine.Must(engine.Uniform(0, most))
}

// specKeeper is what sets readiness gates that nothing of the input sets. It is printed where there are some.
func specKeeper() fieldOf[making] {
	return fieldOf[making]{
		field: field{"readinessGates", orWord(never).doc(keeping().String(),
			"how long after a pod's containers are ready something that is not in the input sets those of its readiness gates that nothing in the input sets")},
		read: func(c cursor, s *making) { s.Keeper = keeperOf(c) },
		write: func(w *printer, s *making) {
			switch after := s.Keeper.After; {
			case !slices.ContainsFunc(s.Workloads, func(x world.Workload) bool { return len(unkept(s.Scenario, &x)) > 0 }):
			case after == nil:
				w.line("readinessGates", never)
			default:
				w.dist("readinessGates", *after)
			}
		},
	}
}

func keeperOf(c cursor) world.Keeper {
	after := keeping()
	switch {
	case !c.present():
	case c.text("") == never:
		return world.Keeper{Said: true}
	default:
		after = engine.Constant(c.span(0))
	}
	return world.Keeper{After: &after, Said: c.present()}
}

// unkept are the readiness gates of a workload's template that nothing of the input sets.
func unkept(s *world.Scenario, w *world.Workload) []string {
	var out []string
	for _, g := range w.Template().Spec.ReadinessGates {
		if gate := string(g.ConditionType); !s.ByAction(w, gate) && !balancerSets(s, w, gate) {
			out = append(out, gate)
		}
	}
	return out
}

// keptBy gives the gates that nothing of the input sets another keeper, nil for none.
func keptBy(after *engine.Dist) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		s.Keeper.After = after
		return true
	}
}

// otherKeepers are the other values of what sets readiness gates.
func otherKeepers() []variant {
	late := engine.Constant(engine.Minute)
	return []variant{{"set after 1m", keptBy(&late)}, {"set by nothing", keptBy(nil)}}
}

// unkeptGates names the readiness gates that nobody in this input sets: something else is taken to, or, where that is said, nothing does,
// and pods that have one are never ready, unless they were before the run.
func (b *builder) unkeptGates(w *world.Workload) {
	for _, g := range unkept(b.out, w) {
		if after := b.out.Keeper.After; after != nil {
			if !b.out.Keeper.Said {
				b.assume("keeper", fmt.Sprintf("%s is set %s after a pod's containers are ready, by something not in the input", g, after))
			}
			continue
		}
		object := w.Kind() + " " + w.Name()
		if w.Object != nil {
			object += ", " + w.At(w.GatePath(g)).String()
		}
		b.notModelled("readiness-gate", fmt.Sprintf("nothing in this input sets readiness gate %s: pods that start during the run are never ready", g), object, "unknown")
	}
}

// balancerSets says whether the controller of a load balancer before a workload's pods sets a gate.
func balancerSets(s *world.Scenario, w *world.Workload, gate string) bool {
	for i := range s.Traffic {
		t := s.Traffic[i].ClientSide()
		svc := s.ServiceNamed(t.Service)
		if t.LB != nil && t.LB.Keeps(gate) && svc != nil && w.SelectedBy(svc) {
			return true
		}
	}
	return false
}

// setGate reads which readiness gate of which pods a controller that is not simulated sets.
func (b *builder) setGate(v cursor, namespace string) (world.Operation, bool) {
	id, ok := b.workloadTarget(v.get("of"), namespace, "setGate")
	if !ok {
		return nil, false
	}
	d, _ := b.world.workload(id)
	var gates []string
	for _, g := range world.TemplateOf(d.Value).Spec.ReadinessGates {
		gates = append(gates, string(g.ConditionType))
	}
	gate := v.get("type")
	name := gate.text("")
	switch {
	case len(gates) == 0:
		v.fail("%s %s has no readinessGates", d.Kind, id)
		return nil, false
	case name == "" && len(gates) > 1:
		v.fail("say which: type is one of %s", orList(gates))
		return nil, false
	case name != "" && !slices.Contains(gates, name):
		gate.fail("%s %s has no readiness gate %s; %s", d.Kind, id, name, didYouMean(name, gates))
		return nil, false
	case name == "":
		name = gates[0]
	}
	open := v.get("open").flag(true)
	return world.SetGate{Pods: world.Pods{Workload: id, Number: podNumber(v.get("pod"), true)}, Gate: name, Open: open}, true
}
