package cluster

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
)

// Judge blames a failed attempt by the first rule that matches.
func (w *World) Judge(e Entry, node int, target netip.AddrPort, fault ledger.Fault) ledger.Blame {
	w.Heard(node, w.eng.Now())
	blame := ledger.Blame{Elsewhere: w.elsewhere(e, target)}
	blame.Cause, blame.Actor = w.cause(e, node, target, fault)
	return blame
}

// Elsewhere says whether another Ready pod of the Service, of whatever workload, than the one at
// an address would have answered at this instant.
func (w *World) Elsewhere(e Entry, target netip.AddrPort) bool { return w.elsewhere(e, target) }

// elsewhere says whether another pod would have answered at this instant if everything knew what
// the API says: one that accepts, is Ready in the API, and does not answer everything with an
// error. One that listens and is not Ready could not: no rule leads to it, but for a Service with
// publishNotReadyAddresses (docs/model/controllers.md 9.1). Nor could one that is deleted, though it
// is Ready for as long as its preStop hook takes: its endpoint is not, and it is the one that goes.
func (w *World) elsewhere(e Entry, target netip.AddrPort) bool {
	if !w.offers(e) {
		return false
	}
	published, port := w.services[e.service].publishAll, uint16(0)
	if w.repoints {
		port = w.targetPortInAPI(e)
	}
	for _, wl := range e.workloads {
		for _, i := range w.instances.Running(wl) {
			if i.IP == target.Addr() || !i.Accepts() || i.App.Errors >= everyRequest || !w.chosen(e.service, i.Pod) || !w.Listens(i, port) {
				continue
			}
			if p, ok := w.store.Get(api.PodKey(i.Pod)).(*api.Pod); published || w.usable[wl].pods[i.Pod] && ok && !p.Deleting() {
				return true
			}
		}
	}
	return false
}

func (w *World) cause(e Entry, node int, target netip.AddrPort, fault ledger.Fault) (ledger.Cause, ledger.Actor) {
	switch fault {
	case ledger.FaultNodeGone, ledger.FaultNodeDead: // nobody was late
		return ledger.NodeGone, ledger.Spec
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
	case ledger.FaultForgotten: // nobody was late: the client keeps connections for longer than it
		return ledger.KeepaliveRace, ledger.Spec
	case ledger.FaultErred:
		if i := w.Instance(target.Addr()); i != nil && i.Alone { // nobody was late: the manifest has one container end before the other
			return ledger.AppError, ledger.Spec
		}
		return ledger.AppError, ledger.App
	case ledger.FaultDrainCut:
		return ledger.DrainCut, ledger.LBController
	case ledger.FaultTurnedAway, ledger.FaultLate:
		return ledger.Overloaded, ledger.App
	case ledger.FaultPinned:
		return ledger.FlowPinned, w.pinning(e, node, target, ledger.Kubelet)
	case ledger.FaultPinnedShut:
		if w.helps(w.Proxies[node].Installed(), node, e, target) { // a new flow would go elsewhere
			return ledger.FlowPinned, w.pinning(e, node, target, ledger.Spec)
		}
	default: // a new connection that came to nothing
	}
	return w.connecting(e, node, target, fault)
}

// connecting is cause of a new connection that came to nothing.
func (w *World) connecting(e Entry, node int, target netip.AddrPort, fault ledger.Fault) (ledger.Cause, ledger.Actor) {
	if e.headless {
		return w.staleName(e, target)
	}
	if node < 0 { // past the nodes' rules
		return w.unreachable(target)
	}
	if w.uncollected(target) {
		return ledger.NodeGone, ledger.NodeLifecycle
	}
	if late, ok := w.unoffered(e, node, target); ok {
		return ledger.ServiceChanged, late
	}
	if w.stale(e, node, target) {
		return ledger.StaleRules, w.late(e, node, target)
	}
	switch fault {
	case ledger.FaultDropped:
		if w.Withdrawn(e, node) {
			return ledger.NoLocalEndpoint, ledger.App
		}
		return ledger.NoLocalEndpoint, w.unnoticed(e, func(i *kubelet.Instance) bool { return i.Node == node })
	case ledger.FaultRejected, ledger.FaultFiltered:
		return ledger.NoEndpoint, w.unnoticed(e, func(*kubelet.Instance) bool { return true })
	default:
		return w.unreachable(target)
	}
}

// unnoticed blames the missing of endpoints: on the manifest, unless one of the pods that would
// do is ready and the API does not say so; then on the component that is late with it.
func (w *World) unnoticed(e Entry, would func(*kubelet.Instance) bool) ledger.Actor {
	for _, actor := range []ledger.Actor{ledger.Kubelet, ledger.LBController, ledger.KubeletProbe} {
		if w.anyAnswers(e.workloads, func(i *kubelet.Instance) bool {
			return would(i) && w.chosen(e.service, i.Pod) && w.readyWouldHelp(e, i) && w.unready(i) == actor
		}) {
			return actor
		}
	}
	return w.Missing(e)
}

// Withdrawn says that a node has a pod of a Service that ends and accepts connections still, and that the node does not send to it only
// because its app says that it is not ready: had it not said so, the node would fall back to it (docs/model/load-balancers.md 5.1).
func (w *World) Withdrawn(e Entry, node int) bool {
	for _, wl := range e.workloads {
		for _, i := range w.instances.Running(wl) {
			if i.Node != node || !i.Accepts() || !w.chosen(e.service, i.Pod) || !w.readyWouldHelp(e, i) {
				continue
			}
			wk := w.kubelets[node].Worker(i.Pod)
			p, ok := w.store.Get(api.PodKey(i.Pod)).(*api.Pod)
			if ok && p.Deleting() && wk != nil && (wk.SaysUnready() || !w.desk.Passes(i, false)) {
				return true
			}
		}
	}
	return false
}

// unready is who keeps a pod that could answer from being ready in the API: the kubelet, which has
// to write it, the controller that sets its readiness gate, the manifest with a gate that nobody
// sets, or else the kubelet's probe, which has not asked yet.
func (w *World) unready(i *kubelet.Instance) ledger.Actor {
	k := w.kubelets[i.Node]
	wk := k.Worker(i.Pod)
	p, _ := w.store.Get(api.PodKey(i.Pod)).(*api.Pod)
	switch closed := p.ClosedGates(); {
	case w.asleep(k.Owner) || wk != nil && wk.Ready():
		return ledger.Kubelet
	case wk == nil || !wk.ContainersReady():
		return ledger.KubeletProbe
	case len(closed) == 0: // it has not seen them open
		return ledger.Kubelet
	case w.kept(i.Workload, closed[0]):
		return ledger.LBController
	default:
		return ledger.Spec
	}
}

// readyWouldHelp says whether a pod would be used if only the API said that it is ready: one that
// terminates only where KEP-1669 falls back to it.
func (w *World) readyWouldHelp(e Entry, i *kubelet.Instance) bool {
	p, ok := w.store.Get(api.PodKey(i.Pod)).(*api.Pod)
	if !ok || p.Ready {
		return false
	}
	switch w.sc.Kubernetes.Options.TerminatingFallback {
	case endpoints.FallbackAll:
		return true
	case endpoints.FallbackExternalLocal:
		return e.External || !p.Deleting()
	default:
		return !p.Deleting()
	}
}

// uncollected says that a pod went with a machine whose Node is deleted, and that the API does not say so of the pod yet: until PodGC
// comes nobody does, and no slice is late.
func (w *World) uncollected(target netip.AddrPort) bool {
	i := w.Instance(target.Addr())
	if i == nil || i.Why != kubelet.ClosedWithNode || !w.NodeInAPI(i.Node).Gone {
		return false
	}
	p, ok := w.store.Get(api.PodKey(i.Pod)).(*api.Pod)
	return ok && p.Ready && !p.Deleting()
}

// stale says whether settled rules would have helped.
func (w *World) stale(e Entry, node int, target netip.AddrPort) bool {
	return w.helps(w.settledView(), node, e, target)
}

// helps says whether a View's rules would send a connection elsewhere than to a target, the zero
// address for nowhere, with someone there who accepts.
func (w *World) helps(v *nodeproxy.View, node int, e Entry, target netip.AddrPort) bool {
	targets := w.targetsOf(v, node, e)
	if _, among := slices.BinarySearchFunc(targets, target, func(t plan.Target, a netip.AddrPort) int { return t.Addr.Compare(a) }); among {
		return false // they are in address order (plan.Lists)
	}
	return slices.ContainsFunc(targets, func(t plan.Target) bool {
		i := w.Instance(t.Addr.Addr())
		return i != nil && i.Accepts() && w.Listens(i, t.Addr.Port())
	})
}

// late finds the first stage on the way from the API's pods to a node's rules that has not got
// the news that would help; other news, which is always on its way in a large cluster, is not
// to blame.
func (w *World) late(e Entry, node int, target netip.AddrPort) ledger.Actor {
	p := w.Proxies[node]
	has := func(v *nodeproxy.View) bool { return v != nil && w.helps(v, node, e, target) }
	switch {
	case !has(w.views.Last):
		return ledger.SliceController
	case w.asleep(p.Owner): // the news may be there: the proxy does nothing with it
		return ledger.ProxySync
	case !has(p.Received()):
		return ledger.Watch
	case !has(p.Syncing()):
		return ledger.ProxyWait
	default:
		return ledger.ProxySync
	}
}

// unreachable blames a pod that was reached and does not accept.
func (w *World) unreachable(target netip.AddrPort) (ledger.Cause, ledger.Actor) {
	i := w.Instance(target.Addr())
	if i == nil {
		return ledger.NotListeningYet, ledger.App
	}
	if !w.Listens(i, target.Port()) {
		return ledger.ServiceChanged, ledger.Spec
	}
	switch i.Why {
	case kubelet.NotYet:
		return ledger.NotListeningYet, ledger.App
	case kubelet.ClosedLiveness:
		return ledger.LivenessRestart, ledger.KubeletProbe
	case kubelet.ClosedCrash:
		return ledger.Crashed, ledger.App
	case kubelet.ClosedWithNode:
		return ledger.NodeGone, ledger.NodeLifecycle
	default:
		return ledger.ListenerClosed, ledger.Spec
	}
}
