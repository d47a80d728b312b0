package scenario

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// NobodyReacts is the value of the assumption who reacts to a spot notice where nobody does (docs/model/pod-lifecycle.md 5 Spot handlers).
const NobodyReacts = "nobody reacts"

// The others who may.
const (
	karpenterTakes = "Karpenter empties the node"
	handlerDrains  = "a node termination handler drains the node"
)

// interruptionQueue is the variable by which Karpenter's controller knows the queue with the notices: without it it hears of none (recalled).
const interruptionQueue = "INTERRUPTION_QUEUE"

// spotHandler is who reacts to spot notices, by what in the input, "" for nothing; known says that it is no guess.
type spotHandler struct {
	who, by string
	known   bool
}

// spotHandler finds who reacts to spot notices: a handler or Karpenter's controller in the input say it. A NodePool lets expect a queue,
// which the guide to Karpenter has everybody make, and which may be missing all the same.
func (b *builder) spotHandler(o *owner) spotHandler {
	for _, w := range slices.Concat(b.world.workloads, b.world.others) {
		containers := world.TemplateOf(w.Value).Spec.Containers
		for i := range containers {
			c, by := &containers[i], world.KindOf(w.Value)+" "+w.Name
			switch {
			case servers.ParseImage(c.Image).Named("aws-node-termination-handler"):
				return spotHandler{handlerDrains, by, true}
			case !strings.Contains(c.Image, "karpenter") || !b.onAWS():
			case hasQueue(c):
				return spotHandler{karpenterTakes, interruptionQueue + " of " + by, true}
			default:
				return spotHandler{NobodyReacts, by + " without " + interruptionQueue, true}
			}
		}
	}
	if pool := b.karpenterOf(o); pool != "" && b.onAWS() {
		return spotHandler{karpenterTakes, "NodePool " + pool + ", if its controller has " + interruptionQueue, false}
	}
	return spotHandler{who: NobodyReacts}
}

// karpenterOf is the name of the NodePool that the node of a workload is of, "" for none: with the nodes of a provider's managed pool Karpenter has
// nothing to do.
func (b *builder) karpenterOf(o *owner) string {
	const own = "NodePool "
	g := b.groupFor(o, func(n *corev1.Node) string {
		if name := karpenterPool(n); name != "" {
			return own + name
		}
		name, _, _ := managedPool(n)
		return name
	})
	name, karpenters := strings.CutPrefix(g.name, own)
	switch pool, _ := b.nodePool(o); {
	case karpenters:
		return name
	case g.name != "" || pool == nil:
		return ""
	default:
		return pool.Name
	}
}

// onAWS says that spot notices are AWS's: the only ones that Karpenter has a queue for (recalled).
func (b *builder) onAWS() bool {
	provider, why := b.poolProvider(nil)
	return why == "" || provider == world.PoolEKS
}

func hasQueue(c *corev1.Container) bool {
	return slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool {
		return v.Name == interruptionQueue && (v.Value != "" || v.ValueFrom != nil)
	}) ||
		slices.ContainsFunc(slices.Concat(c.Command, c.Args), func(arg string) bool {
			return strings.HasPrefix(arg, "--interruption-queue=") && !strings.HasSuffix(arg, "=")
		})
}

// handledBy is a spot notice to which somebody reacts.
func handledBy(o world.SpotNotice, who string) world.SpotNotice {
	o.Drains, o.Karpenter, o.Provision = who == handlerDrains, who == karpenterTakes, 0
	if o.Karpenter {
		o.Provision = Provisioning
	}
	return o
}

// reacts says who is taken to react to the spot notice of a case.
func (b *builder) reacts(o *owner) {
	for i := range b.out.Actions {
		if _, spot := b.out.Actions[i].Operation.(world.SpotNotice); !spot {
			continue
		}
		h, basis, value := b.spotHandler(o), "", ""
		if value = h.who; h.by != "" {
			value += ", by " + h.by
		}
		if h.known {
			basis = inferred
		}
		b.assumeAs("spot-handler", value, basis)
	}
}

// otherHandlers are the Scenario with others who react to its spot notice: Karpenter to those of AWS alone.
func otherHandlers(s *world.Scenario) []Alternative {
	var out []Alternative
	for i := range s.Actions {
		o, spot := s.Actions[i].Operation.(world.SpotNotice)
		if !spot {
			continue
		}
		for _, who := range []string{NobodyReacts, karpenterTakes, handlerDrains} {
			other := handledBy(o, who)
			if other.Drains == o.Drains && other.Karpenter == o.Karpenter || other.Karpenter && o.Notice < spotNoticeTime {
				continue
			}
			changed := s.Clone()
			changed.Actions[i].Operation = other
			changed.Muster()
			out = append(out, Alternative{"spot-handler", who, changed})
		}
	}
	return out
}
