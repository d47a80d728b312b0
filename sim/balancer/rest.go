package balancer

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Unrest says what of the load balancer is on its way, "" for nothing: members that are wanted and
// not registered, or the other way round, and health that is not known yet where connections are
// sent. Draining is none of it: who drains gets nothing new.
func (b *Balancer) Unrest() string {
	if b.waiting && !b.paused {
		return "the load balancer's controller has news to act on"
	}
	for _, id := range b.wanted {
		if b.member(id) == nil {
			return fmt.Sprintf("the load balancer has not registered %s", b.called(id))
		}
	}
	for _, m := range b.members {
		switch {
		case m.removed:
		case !slices.Contains(b.wanted, m.id):
			return fmt.Sprintf("the load balancer has not removed %s", b.called(m.id))
		case m.initial:
			return fmt.Sprintf("the load balancer has not finished the first checks of %s", b.called(m.id))
		case m.healthy != m.serves:
			return fmt.Sprintf("the load balancer does not know everywhere how %s is", b.called(m.id))
		case b.spec.Check.Probe != world.ProbeNone && m.healthy != b.cluster.WouldAnswer(b.spec.Check.Probe, m.id):
			return fmt.Sprintf("the load balancer has not found out how %s is", b.called(m.id))
		}
	}
	return ""
}

func (b *Balancer) called(id int) string {
	if b.spec.Target == world.TargetPods {
		return fmt.Sprintf("pod %d", id)
	}
	return b.cluster.Address(id)
}
