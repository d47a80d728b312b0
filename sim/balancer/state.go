package balancer

// State is what a load balancer makes of one of its targets.
type State string

// The states of a target, in the order in which one that goes passes through them.
const (
	StateInitial   State = "initial"   // registered, and not yet found healthy: no new connections
	StateHealthy   State = "healthy"   // new connections
	StateFailing   State = "failing"   // its health checks fail, and it gets new connections still
	StateUnhealthy State = "unhealthy" // no new connections, for its health checks
	StateDraining  State = "draining"  // deregistered: no new connections, and those that it has go on
	StateRemoved   State = "removed"
)

// state is what is made of a member now. One that fails open gets connections whatever its state.
func (m *member) state() State {
	switch {
	case m.removed:
		return StateDraining
	case m.serves && (!m.healthy || m.row > 0):
		return StateFailing
	case m.serves:
		return StateHealthy
	case m.told == "" || m.told == StateInitial:
		return StateInitial
	default:
		return StateUnhealthy
	}
}

// tell tells the observer of a member that is in another state than it was.
func (b *Balancer) tell(m *member) {
	if now := m.state(); now != m.told && b.member(m.id) == m {
		m.told = now
		b.observer.Target(m.id, now)
	}
}

// Introduce tells the observer of all targets that there are at the beginning: one that is not healthy then has failed its checks.
func (b *Balancer) Introduce() {
	for _, m := range b.members {
		if !m.serves {
			m.told = StateUnhealthy
			b.observer.Target(m.id, StateUnhealthy)
			continue
		}
		b.tell(m)
	}
}
