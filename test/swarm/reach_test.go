package swarm

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// enoughSeeds is from how many worlds on every row has to come up.
const enoughSeeds = 2000

// perTenThousand is in how many of 10,000 worlds a row that can come up has to.
const perTenThousand = 10

// reachable lists what failures these worlds can come to. A row that is not here, and comes up,
// is a surprise.
var reachable = []row{
	{ledger.StaleDNS, ledger.Spec},
	{ledger.StaleDNS, ledger.Kubelet},
	{ledger.StaleDNS, ledger.KubeletProbe},
	{ledger.StaleDNS, ledger.SliceController},
	{ledger.StaleDNS, ledger.Watch},
	{ledger.StaleDNS, ledger.DNSCache},
	{ledger.KilledInFlight, ledger.Spec},
	{ledger.ExitInFlight, ledger.App},
	{ledger.LivenessRestart, ledger.KubeletProbe},
	{ledger.Crashed, ledger.App},
	{ledger.KeepaliveRace, ledger.App},
	{ledger.DrainCut, ledger.LBController},
	{ledger.DrainCut, ledger.LBProbe},
	{ledger.DrainCut, ledger.Spec},
	{ledger.NoHealthyTarget, ledger.Spec},
	{ledger.NoHealthyTarget, ledger.LBController},
	{ledger.NoHealthyTarget, ledger.LBProbe},
	{ledger.NoHealthyTarget, ledger.LBPropagation},
	{ledger.NoHealthyTarget, ledger.Ingress},
	{ledger.StaleLB, ledger.LBController},
	{ledger.StaleLB, ledger.LBProbe},
	{ledger.StaleLB, ledger.LBPropagation},
	{ledger.StaleLB, ledger.Ingress},
	{ledger.FlowPinned, ledger.Spec},
	{ledger.FlowPinned, ledger.Kubelet},
	{ledger.FlowPinned, ledger.SliceController},
	{ledger.FlowPinned, ledger.Watch},
	{ledger.FlowPinned, ledger.ProxyWait},
	{ledger.FlowPinned, ledger.ProxySync},
	{ledger.StaleRules, ledger.SliceController},
	{ledger.StaleRules, ledger.Watch},
	{ledger.StaleRules, ledger.ProxyWait},
	{ledger.StaleRules, ledger.ProxySync},
	{ledger.NoLocalEndpoint, ledger.Spec},
	{ledger.NoLocalEndpoint, ledger.Kubelet},
	{ledger.NoLocalEndpoint, ledger.KubeletProbe},
	{ledger.NoLocalEndpoint, ledger.LBController},
	{ledger.NoLocalEndpoint, ledger.App},
	{ledger.NoEndpoint, ledger.Spec},
	{ledger.NoEndpoint, ledger.Kubelet},
	{ledger.NoEndpoint, ledger.KubeletProbe},
	{ledger.NoEndpoint, ledger.LBController},
	{ledger.NotListeningYet, ledger.App},
	{ledger.ListenerClosed, ledger.Spec},
	{ledger.Overloaded, ledger.App},
	{ledger.AppError, ledger.App},
	{ledger.NodeGone, ledger.Spec},
	{ledger.NodeGone, ledger.NodeLifecycle},
}

// unreachable lists the causes that these worlds cannot come to, and why.
var unreachable = map[ledger.Cause]string{
	ledger.NoCause:        "a failed request always has one",
	ledger.ServiceChanged: "no Service changes in these worlds",
}

// idle lists the actors that nothing can be put down to here, and why.
var idle = map[ledger.Actor]string{
	ledger.VolumeAttach: "no pod of these worlds has a volume",
	ledger.Scheduler:    "a pod that is not scheduled yet is no endpoint",
}

// check fails when a row that can come up hardly does, or one comes up that cannot.
func (c *table) check(t *testing.T, n int) {
	t.Helper()
	known := map[row]bool{}
	for _, r := range reachable {
		known[r] = true
		if have := c.rows[r]; have == nil || have.seeds*10000 < perTenThousand*n {
			t.Errorf("%s, %s: came up in too few of %d worlds, want %d of 10,000", r.cause, r.actor, n, perTenThousand)
		}
	}
	for r := range c.rows {
		if !known[r] {
			t.Errorf("%s, %s: came up, and is not in the list of what can", r.cause, r.actor)
		}
	}
}

// Every cause and every actor of the ledger is in one of the lists, and in one only.
func TestListsAreComplete(t *testing.T) {
	t.Parallel()
	causes, actors := map[ledger.Cause]bool{}, map[ledger.Actor]bool{}
	for _, r := range reachable {
		causes[r.cause], actors[r.actor] = true, true
	}
	for c := range ledger.NumCauses {
		if _, not := unreachable[c]; causes[c] == not {
			t.Errorf("cause %q: reachable %v, unreachable %v", c, causes[c], not)
		}
	}
	for a := range ledger.NumActors {
		if _, not := idle[a]; actors[a] == not {
			t.Errorf("actor %q: reachable %v, idle %v", a, actors[a], not)
		}
	}
}
