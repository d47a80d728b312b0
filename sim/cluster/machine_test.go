package cluster

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// A machine takes its pods along without a word: no process is told anything, no address answers, what its kubelet had
// planned and what it is told does not happen. The API shows the pods as they were. Reference: docs/model/pod-lifecycle.md 7
// Abrupt VM loss.
func TestPodsGoWithTheirMachine(t *testing.T) {
	t.Parallel()
	w := newBuild(3).nodes(3).hook("app", sleepHook(20*sec)).start(t, 1)
	var ended []event.Event
	w.hears(func(e event.Event) { ended = append(ended, e) }, event.Ended)
	w.do(10*sec, "delete", "web#0", "")
	w.run(15 * sec)
	first := w.instances.Of(0)
	w.die(first.Node)
	if first.Running || first.Listening || first.Sandbox || slices.Contains(w.instances.Running(0), first) || w.usable[0].pods[0] {
		t.Errorf("%+v", first)
	}
	w.run(200 * sec)
	w.want("r0 0 SIGTERM|r0 0 ended|r0 0 gone|r0 0 sandbox", "15 r0 0 sandbox down")
	p := as[*api.Pod](w.store.Get(api.PodKey(0)))
	if !p.Deleting() || !p.Ready || p.Phase != api.PhaseRunning {
		t.Errorf("%+v", p)
	}
	if len(ended) == 0 || ended[0].Pod != 0 || ended[0].At != 15*sec {
		t.Errorf("%d processes ended", len(ended))
	}
	for _, e := range ended {
		if e.Ending != event.WithNode {
			t.Errorf("%d ended at %s s in another way", e.Pod, e.At.Seconds())
		}
	}
	cause, actor := w.unreachable(netip.AddrPortFrom(first.IP, 80))
	if cause != ledger.NodeGone || actor != ledger.NodeLifecycle {
		t.Errorf("%s by %s", cause, actor)
	}
}
