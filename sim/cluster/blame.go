package cluster

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Judge blames a failed attempt by the first rule that matches.
func (w *World) Judge(e Entry, node int, target netip.AddrPort, fault ledger.Fault) ledger.Blame {
	blame := ledger.Blame{Elsewhere: w.elsewhere(e, target)}
	blame.Cause, blame.Actor = w.cause(e, node, target, fault)
	return blame
}

// elsewhere says whether another pod of the workload would have accepted at this instant.
func (w *World) elsewhere(e Entry, target netip.AddrPort) bool {
	return w.AnyAccepts(e.workloads, target.Addr())
}

func (w *World) cause(e Entry, node int, target netip.AddrPort, fault ledger.Fault) (ledger.Cause, ledger.Actor) {
	switch fault {
	case ledger.FaultKilled:
		return ledger.KilledInFlight, ledger.Spec
	case ledger.FaultExited:
		return ledger.ExitInFlight, ledger.App
	case ledger.FaultLiveness:
		return ledger.LivenessRestart, ledger.KubeletProbe
	case ledger.FaultCrashed:
		return ledger.Crashed, ledger.App
	case ledger.FaultIdleRace:
		return ledger.KeepaliveRace, ledger.App
	case ledger.FaultTurnedAway, ledger.FaultLate:
		return ledger.Overloaded, ledger.App
	default: // a new connection that came to nothing
	}
	if w.stale(e, node, target) {
		return ledger.StaleRules, lateActor(w.Lateness(node))
	}
	switch fault {
	case ledger.FaultDropped:
		return ledger.NoLocalEndpoint, ledger.Spec
	case ledger.FaultRejected:
		if w.elsewhere(e, target) {
			return ledger.NoEndpoint, ledger.KubeletProbe // a pod is ready, and nobody has asked it yet
		}
		return ledger.NoEndpoint, ledger.Spec
	default:
		return w.unreachable(target)
	}
}

// stale says whether settled rules would have helped: they send this connection elsewhere,
// and there is someone there who accepts.
func (w *World) stale(e Entry, node int, target netip.AddrPort) bool {
	settled := decide(w.Settled(node), e)
	helps := false
	for _, t := range settled.Targets {
		if t.Addr == target {
			return false
		}
		if i := w.Instance(t.Addr.Addr()); i != nil && i.Accepts() {
			helps = true
		}
	}
	return helps
}

func lateActor(s Stage) ledger.Actor {
	switch s {
	case StageSlices:
		return ledger.SliceController
	case StageWatch:
		return ledger.Watch
	case StageWait:
		return ledger.ProxyWait
	case StageSync:
		return ledger.ProxySync
	default:
		return ledger.Kubelet
	}
}

// unreachable blames a pod that was reached and does not accept.
func (w *World) unreachable(target netip.AddrPort) (ledger.Cause, ledger.Actor) {
	i := w.Instance(target.Addr())
	if i == nil {
		return ledger.NotListeningYet, ledger.App
	}
	switch i.Why {
	case NotYet:
		return ledger.NotListeningYet, ledger.App
	case ClosedLiveness:
		return ledger.LivenessRestart, ledger.KubeletProbe
	case ClosedCrash:
		return ledger.Crashed, ledger.App
	default:
		return ledger.ListenerClosed, ledger.Spec
	}
}
