package world

import (
	"fmt"
	"slices"
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

// GateFamily ends the name of all the gates that begin alike.
const GateFamily = "*"

// Keeps says whether the load balancer's controller sets a readiness gate: the one that it is
// named after, or all that begin alike.
func (l *LoadBalancer) Keeps(gate string) bool {
	if prefix, family := strings.CutSuffix(l.ReadinessGate, GateFamily); family {
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
	prefix, family := strings.CutSuffix(l.ReadinessGate, GateFamily)
	if !family {
		return prefix
	}
	return prefix + fmt.Sprintf("k8s-%s-%d", strings.ReplaceAll(l.Service, "/", "-"), port)
}

// InjectInto decides, once the Service is known, whether a webhook gives its pods the gate:
// labelled says whether the namespace asks for it.
func (l *LoadBalancer) InjectInto(labelled bool) {
	switch {
	case l.GateInjection == InjectLabelled && labelled:
		l.GateInjection = InjectAlways
	case l.GateInjection == InjectLabelled:
		l.GateInjection = InjectNever
	}
}

// Keeper is a controller that is not in the input and sets readiness gates: in a cluster where pods that have one are Ready, something does.
type Keeper struct {
	// After is how long after a pod's containers are ready it sets the gates; nil: there is none, and they stay closed.
	After *engine.Dist
	Said  bool // by the input
}

// ByKeeper says that the Keeper sets a readiness gate of a workload's pods, unless a load balancer does: no action of the Scenario sets it.
func (s *Scenario) ByKeeper(w *Workload, gate string) bool {
	return s.Keeper.After != nil && !s.ByAction(w, gate)
}

// ByAction says that an action of the Scenario sets a readiness gate of a workload's pods.
func (s *Scenario) ByAction(w *Workload, gate string) bool {
	return slices.ContainsFunc(s.Actions, func(a Action) bool {
		o, ok := a.Operation.(SetGate)
		return ok && o.Workload == w.Name() && o.Gate == gate
	})
}

// GatePath is where a workload's manifest asks for a readiness gate, "" where it does not.
func (w *Workload) GatePath(gate string) string {
	for i, g := range w.Template().Spec.ReadinessGates {
		if string(g.ConditionType) == gate {
			return fmt.Sprintf("spec.template.spec.readinessGates[%d]", i)
		}
	}
	return ""
}
