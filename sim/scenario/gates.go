package scenario

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// gateLabel is the label of a Namespace that has the AWS Load Balancer Controller's webhook
// inject gates (docs/model/load-balancers.md 2 lbc readiness gate; verified).
const (
	gateLabel   = "elbv2.k8s.aws/pod-readiness-gate-inject"
	gateEnabled = "enabled"
)

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

// unkeptGates names the readiness gates that nobody in this world sets: pods that have one are
// never ready, unless they were before the run.
func (b *builder) unkeptGates(w *world.Workload) {
	for _, g := range w.Template().Spec.ReadinessGates {
		if b.keeps(w, string(g.ConditionType)) {
			continue
		}
		object := w.Kind() + " " + w.Name()
		if w.Object != nil {
			object += ", " + w.At(w.GatePath(string(g.ConditionType))).String()
		}
		b.notModelled("readiness-gate", fmt.Sprintf("nothing in this input sets readiness gate %s: pods that start during the run are never ready", g.ConditionType), object, "unknown")
	}
}

// keeps says whether a load balancer before a workload's pods, or an action, sets a gate.
func (b *builder) keeps(w *world.Workload, gate string) bool {
	for _, a := range b.out.Actions {
		if o, ok := a.Operation.(world.SetGate); ok && o.Workload == w.Name() && o.Gate == gate {
			return true
		}
	}
	for i := range b.out.Traffic {
		t := b.out.Traffic[i].ClientSide()
		svc := b.out.ServiceNamed(t.Service)
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
