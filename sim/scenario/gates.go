package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// GateInjection is who gives pods the readiness gate of the load balancer before them.
type GateInjection uint8

// The ways of injection.
const (
	InjectNever    GateInjection = iota // only the manifest does
	InjectLabelled                      // a webhook, in namespaces with a label: a finished Scenario says InjectAlways or InjectNever
	InjectAlways                        // a webhook, for every pod behind the load balancer
)

// gateLabel is the label of a Namespace that has the AWS Load Balancer Controller's webhook
// inject gates (docs/model/load-balancers.md 2 lbc readiness gate; verified).
const (
	gateLabel   = "elbv2.k8s.aws/pod-readiness-gate-inject"
	gateEnabled = "enabled"
)

// gateFamily ends the name of all the gates that begin alike.
const gateFamily = "*"

// Keeps says whether the load balancer's controller sets a readiness gate: the one that it is
// named after, or all that begin alike.
func (l *LoadBalancer) Keeps(gate string) bool {
	if prefix, family := strings.CutSuffix(l.ReadinessGate, gateFamily); family {
		return strings.HasPrefix(gate, prefix)
	}
	return l.ReadinessGate != "" && gate == l.ReadinessGate
}

// InjectedGate is the readiness gate that pods behind a port of the Service get without the
// manifest's asking, "" for none. One of a family is named after its target group, which a port
// has for itself.
func (l *LoadBalancer) InjectedGate(port int) string {
	if l.GateInjection != InjectAlways || l.ReadinessGate == "" {
		return ""
	}
	prefix, family := strings.CutSuffix(l.ReadinessGate, gateFamily)
	if !family {
		return prefix
	}
	return prefix + fmt.Sprintf("k8s-%s-%d", strings.ReplaceAll(l.Service, "/", "-"), port)
}

// gateFields are the fields of a load balancer that readiness gates need.
const gateFields = "readinessGate gateRecheck gateTimeout gateInjection"

// albGate has the AWS Load Balancer Controller set the gates of its ip targets.
func albGate(lb *LoadBalancer) []claim {
	lb.ReadinessGate, lb.GateRecheck, lb.GateInjection = "target-health.elbv2.k8s.aws/"+gateFamily, 15*engine.Second, InjectLabelled
	return []claim{
		{verified, "2 lbc readiness gate", "readinessGate gateRecheck gateInjection"},
		{inferred, "2 lbc readiness gate: it waits for ever", "gateTimeout"},
	}
}

// negGate has Google's controller set the gate of pods in NEGs.
func negGate(lb *LoadBalancer) []claim {
	lb.ReadinessGate, lb.GateTimeout, lb.GateInjection = "cloud.google.com/load-balancer-neg-ready", 10*engine.Minute, InjectAlways
	lb.GateRecheck = 5 * engine.Second
	return []claim{
		{verified, "2 GKE NEG L7: ingress-gce pkg/neg/readiness", "readinessGate gateTimeout"},
		{inferred, "2 GKE NEG L7: GKE injects it into the pods behind NEGs", "gateInjection"},
		{inferred, "not in docs/model: it asks for health every few seconds", "gateRecheck"},
	}
}

// injectInto decides, once the Service is known, whether a webhook gives its pods the gate:
// labelled says whether the namespace asks for it.
func (l *LoadBalancer) injectInto(labelled bool) {
	switch {
	case l.GateInjection == InjectLabelled && labelled:
		l.GateInjection = InjectAlways
	case l.GateInjection == InjectLabelled:
		l.GateInjection = InjectNever
	}
}

// checkGates reports what does not go together.
func (b *builder) checkGates(lb *LoadBalancer) {
	c := b.balancerSpec()
	switch {
	case lb.ReadinessGate == "":
		for _, name := range []string{"gateRecheck", "gateTimeout", "gateInjection"} {
			if at := c.get(name); at.present() {
				at.fail("this load balancer sets no readiness gate: give readinessGate, too")
			}
		}
	case lb.Target != TargetPods:
		b.failAt(c, "readinessGate", "only pods have readiness gates, and the targets are nodes")
	case lb.GateRecheck == 0:
		b.failAt(c, "gateRecheck", "expected more than 0: how often pods that wait for the gate are looked at")
	}
}

// GatePath is where a workload's manifest asks for a readiness gate, "" where it does not.
func (w *Workload) GatePath(gate string) string {
	for i, g := range w.Deployment.Spec.Template.Spec.ReadinessGates {
		if string(g.ConditionType) == gate {
			return fmt.Sprintf("spec.template.spec.readinessGates[%d]", i)
		}
	}
	return ""
}

// unkeptGates names the readiness gates that nobody in this world sets: pods that have one are
// never ready, unless they were before the run.
func (b *builder) unkeptGates(w *Workload) {
	for _, g := range w.Deployment.Spec.Template.Spec.ReadinessGates {
		if b.keeps(w, string(g.ConditionType)) {
			continue
		}
		object := "Deployment " + w.Name()
		if w.Object != nil {
			object += ", " + w.Object.At(w.GatePath(string(g.ConditionType))).String()
		}
		b.notModelled("readiness-gate", fmt.Sprintf("nobody here sets readiness gate %s: pods that start during the run are never ready", g.ConditionType), object, "unknown")
	}
}

// keeps says whether a load balancer before a workload's pods, or an action, sets a gate.
func (b *builder) keeps(w *Workload, gate string) bool {
	for _, a := range b.out.Actions {
		if name, _, _ := strings.Cut(a.Target, "#"); a.Verb == "setGate" && name == w.Name() && strings.HasPrefix(a.Value, gate+"=") {
			return true
		}
	}
	for i := range b.out.Traffic {
		t := b.out.Traffic[i].Door()
		svc := b.out.serviceNamed(t.Service)
		if t.LB != nil && t.LB.Keeps(gate) && svc != nil && svc.Namespace == w.Deployment.Namespace && selects(svc, w.Deployment.Spec.Template.Labels) {
			return true
		}
	}
	return false
}

// setGate reads which readiness gate of which pods a controller that is not simulated sets.
func (b *builder) setGate(v cursor, namespace string, a *Action) bool {
	if !b.workloadTarget(v.get("of"), namespace, a) {
		return false
	}
	d, _ := b.world.deployment(a.Target)
	var gates []string
	for _, g := range d.Value.Spec.Template.Spec.ReadinessGates {
		gates = append(gates, string(g.ConditionType))
	}
	gate := v.get("type")
	switch name := gate.text(""); {
	case len(gates) == 0:
		v.fail("Deployment %s has no readinessGates", a.Target)
		return false
	case name == "" && len(gates) > 1:
		v.fail("say which: type is one of %s", orList(gates))
		return false
	case name != "" && !slices.Contains(gates, name):
		gate.fail("Deployment %s has no readiness gate %s; %s", a.Target, name, didYouMean(name, gates))
		return false
	case name == "":
		a.Value = gates[0]
	default:
		a.Value = name
	}
	a.Value += "=" + strconv.FormatBool(v.get("open").flag(true))
	pick(v.get("pod"), a)
	return true
}
