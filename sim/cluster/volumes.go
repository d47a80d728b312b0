package cluster

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/volume"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// openVolumes begins the table of volumes, where some workload has one that not everybody may have at a time.
func (w *World) openVolumes() {
	for i := range w.sc.Workloads {
		if len(w.sc.Workloads[i].Exclusive()) > 0 {
			w.waited = map[api.PodID]bool{}
			w.volumes = volume.New(volume.Settings{Engine: w.eng, Move: &w.sc.Volumes.Move, Silent: func(node int) bool { return w.dead[node] }})
			w.desk.Volumes = mounts{w}
			return
		}
	}
}

// mounts have a pod wait for its volumes.
type mounts struct{ w *World }

// Mount implements kubelet.Volumes.
func (m mounts) Mount(p *api.Pod, then func()) {
	has := false
	m.w.volumes.Mount(p.ID, p.Node, m.w.usesOf(p), func() {
		if has = true; m.w.waited[p.ID] {
			m.w.log.Tell(event.Event{Kind: event.Volume, Pod: p.ID, Node: p.Node, Stream: -1, OK: true})
		}
		then()
	})
	if !has {
		m.w.waited[p.ID] = true
		m.w.log.Tell(event.Event{Kind: event.Volume, Pod: p.ID, Node: p.Node, Stream: -1})
	}
}

// usesOf are the volumes that a pod has to have for itself, or for its node.
func (w *World) usesOf(p *api.Pod) []volume.Use {
	wl := &w.sc.Workloads[p.Workload]
	var out []volume.Use
	for _, c := range wl.Exclusive() {
		name := wl.Resource.GetNamespace() + "/" + c.Name
		if c.Each {
			name = fmt.Sprintf("%s-%s-%d", name, wl.ObjectName(), p.Ordinal)
		}
		out = append(out, volume.Use{Name: name, Access: c.Access})
	}
	return out
}

// sharesVolume is the node of the pods that have a volume which another pod has to have, too, and which only one node may have, -1 for none:
// where all of them run they are together.
func (w *World) sharesVolume(p *api.Pod) int {
	if w.volumes == nil {
		return -1
	}
	for _, u := range w.usesOf(p) {
		if node := w.volumes.Node(u); node >= 0 && u.Access == world.ReadWriteOnce {
			return node
		}
	}
	return -1
}

// noteVolumes hears of each version of a pod.
func (w *World) noteVolumes(old, p *api.Pod) {
	switch {
	case w.volumes == nil:
	case p.Gone || p.Phase.Terminal():
		w.volumes.Release(p.ID, w.usesOf(p))
	case old == nil && p.Node >= 0:
		w.volumes.Adopt(p.ID, p.Node, w.usesOf(p))
	}
}

// waitsForVolume says that a pod has not been started yet, for it has not got its volumes.
func (w *World) waitsForVolume(p *api.Pod) bool {
	return w.volumes != nil && p.Node >= 0 && w.volumes.Waits(p.ID, w.usesOf(p))
}

// Missing blames the missing of pods that are ready, where none is about to be: on the volume that one of them waits for, else on the manifest.
func (w *World) Missing(e Entry) ledger.Actor {
	if w.volumes != nil {
		for _, id := range w.livePods {
			p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
			if ok && p.Active() && slices.Contains(e.workloads, p.Workload) && w.waitsForVolume(p) {
				return ledger.VolumeAttach
			}
		}
	}
	return ledger.Spec
}

// heldVolume says that a pod of a workload waits for a volume which another pod has and keeps, nil for none.
func (w *World) heldVolume(d *api.Workload) *control.Stuck {
	if w.volumes == nil {
		return nil
	}
	for _, id := range w.livePods {
		p, ok := w.store.Get(api.PodKey(id)).(*api.Pod)
		if !ok || p.Workload != d.Workload || !p.Active() || p.Node < 0 {
			continue
		}
		holder, use, waits := w.volumes.Holder(id, w.usesOf(p))
		if !waits {
			continue
		}
		if h, ok := w.store.Get(api.PodKey(holder)).(*api.Pod); ok {
			if s := w.heldFor(d, p, h, use); s != nil {
				return s
			}
		}
	}
	return nil
}

// heldFor says why the pod that has a volume keeps it from another, nil where it is about to go.
func (w *World) heldFor(d *api.Workload, p, holder *api.Pod, use volume.Use) *control.Stuck {
	has := fmt.Sprintf("%s waits for its volume (%s), which %s on %s has", w.waitedFor(d, p), w.accessWords(p, use), holder.Called(), w.sc.Nodes[holder.Node].Name)
	switch {
	case w.stranded(holder):
		s := w.heldBy(holder)
		s.Why = has + ": " + s.Why
		return s
	case holder.Deleting():
		return nil
	case holder.Workload != p.Workload || holder.Revision == p.Revision: // no rollout takes that one away
		return &control.Stuck{Why: has + " and keeps", What: "a volume that several nodes may have (ReadWriteMany)", Path: w.claimPath(p)}
	default:
		what := "strategy Recreate"
		if of := &w.sc.Workloads[p.Workload]; of.Replicas() > 1 { // the second new pod may find another node
			what = "a volume that several nodes may have (ReadWriteMany), or replicas: 1 and strategy Recreate"
		}
		return &control.Stuck{Why: has + " and which stays until the new one is ready", What: what, Path: w.claimPath(p)}
	}
}

// accessWords are the access mode of a volume that a pod waits for, and that it is a guess where it is.
func (w *World) accessWords(p *api.Pod, use volume.Use) string {
	for _, c := range w.sc.Workloads[p.Workload].Exclusive() {
		if c.Access == use.Access && c.Assumed {
			return use.Access.String() + ", as assumed: its claim is not in the input"
		}
	}
	return use.Access.String()
}

// claimPath is where a pod's workload asks for the first volume that not everybody may have.
func (w *World) claimPath(p *api.Pod) string {
	for _, c := range w.sc.Workloads[p.Workload].Exclusive() {
		return c.Path
	}
	return ""
}
