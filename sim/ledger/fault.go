package ledger

// Fault says how an attempt failed, as far as the client's side knows it.
type Fault uint8

// The faults.
const (
	FaultRejected        Fault = iota // refused by a node's rules
	FaultDropped                      // swallowed by a node's rules
	FaultNoListener                   // refused by the pod's kernel
	FaultNoAnswer                     // nothing at the pod's address
	FaultTurnedAway                   // the app had no capacity
	FaultLate                         // accepted, and not answered in time
	FaultKilled                       // cut by SIGKILL after the grace period
	FaultExited                       // cut by the process's own end after SIGTERM
	FaultLiveness                     // cut by a liveness restart
	FaultCrashed                      // cut by a crash
	FaultErred                        // answered with an error
	FaultIdleRace                     // written while the server was closing the idle connection
	FaultFiltered                     // refused by a node's rules, and the refusal did not get through
	FaultNoTarget                     // swallowed by a load balancer without a target
	FaultNoTargetRefused              // refused by one
	FaultNoTarget503                  // answered by one with an error
	FaultDrainCut                     // cut by a load balancer
	FaultPinned                       // a flow that stands leads to an address where nothing is
	FaultPinnedShut                   // a flow that stands leads to a pod whose port is closed
	FaultUnresolved                   // the name has no address
	FaultForgotten                    // written over a connection that a load balancer had forgotten
	FaultNodeGone                     // over a connection or flow that stood, through a node that is gone or to a pod on it
	FaultNodeDead                     // sent to a node that is gone
	FaultUnreachable                  // nothing at the pod's address, and a router says so
	FaultElsewhere                    // none to the client: a proxy without a target has another Service answer
)

// Outcome is what the client sees of a fault.
func (f Fault) Outcome() Outcome {
	switch f {
	case FaultRejected, FaultNoListener, FaultNoTargetRefused, FaultPinnedShut:
		return Refused
	case FaultDropped, FaultNoAnswer, FaultLate, FaultFiltered, FaultNoTarget, FaultPinned, FaultNodeGone, FaultNodeDead:
		return Timeout
	case FaultUnresolved:
		return Unresolved
	case FaultUnreachable:
		return Unreachable
	case FaultTurnedAway, FaultErred, FaultNoTarget503:
		return HTTP5xx
	case FaultElsewhere:
		return OK
	default:
		return Reset
	}
}

// NewConnection says that the fault is one of a connection that did not come about, not of one
// that stood.
func (f Fault) NewConnection() bool {
	switch f {
	case FaultRejected, FaultDropped, FaultNoListener, FaultNoAnswer, FaultFiltered, FaultNoTarget, FaultNoTargetRefused, FaultNoTarget503, FaultNodeDead,
		FaultUnreachable:
		return true
	default:
		return false
	}
}
