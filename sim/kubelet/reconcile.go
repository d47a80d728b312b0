package kubelet

import (
	"maps"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// reconcilePeriod is how often a kubelet compares the statuses of its pods with what it would write (docs/model/pod-lifecycle.md 4).
const reconcilePeriod = 10 * engine.Second

// reconciler is the kubelet writing statuses again that others have changed. Where nobody does, it is not there.
type reconciler struct {
	reconciles bool
	phase      engine.Time // of its periods
	planned    bool        // the next one will find something
}

// Reconcile has the kubelet write statuses again that others change.
func (k *Kubelet) Reconcile(name string) {
	k.reconciles = true
	k.phase = engine.Time(engine.Below(k.d.Engine.Stream("kubelet "+name, "reconcile phase").Draw(0), int(reconcilePeriod)))
}

// compare looks at what the watch shows of a pod's status.
func (k *Kubelet) compare(p *api.Pod) {
	wk := k.pods[p.ID]
	if !k.reconciles || wk == nil {
		return
	}
	wk.seenReady = p.Ready
	if !wk.differs() || k.planned {
		return
	}
	k.planned = true
	now := k.d.Engine.Now()
	next := now - (now-k.phase)%reconcilePeriod
	if next <= now {
		next += reconcilePeriod
	}
	k.after(next-now, "reconcile statuses", func() {
		k.planned = false
		for _, id := range slices.Sorted(maps.Keys(k.pods)) {
			if wk := k.pods[id]; wk.differs() && !wk.dirty && !wk.sending {
				wk.dirty = true
				k.dirty = append(k.dirty, wk)
			}
		}
		k.writeNext()
	})
}

// differs says whether the API shows another readiness than the kubelet has decided on.
func (wk *Worker) differs() bool {
	return wk.seenReady != wk.status.ready
}
