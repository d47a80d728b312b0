package volume

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// ForcedAfter is how long a volume stays attached to a node that does not say that it has unmounted it (Kubernetes 1.36
// pkg/controller/volume/attachdetach, ReconcilerMaxWaitForUnmountDuration; verified).
const ForcedAfter = 6 * engine.Minute

// Use is a volume that a pod has to have before it starts.
type Use struct {
	Name   string
	Access world.Access
}

// Settings are what a Table goes by.
type Settings struct {
	Engine *engine.Engine
	Move   *engine.Dist
	// Silent says that nobody on a node unmounts anything.
	Silent func(node int) bool
}

// Table is which pods have each volume.
type Table struct {
	set     Settings
	owner   engine.Owner
	volumes map[string]*volume
}

// New returns a Table of volumes that nobody has.
func New(set Settings) *Table {
	return &Table{set: set, owner: set.Engine.Register("attach-detach-controller"), volumes: map[string]*volume{}}
}

// volume is who has it, and who waits for it, the first to come first.
type volume struct {
	name    string
	access  world.Access
	node    int // which has it, or had it last; -1 for none yet
	users   []api.PodID
	waiting []waiter
	free    engine.Time // when another node can have it, once no pod has it
	moves   uint64
	timer   engine.Handle
}

type waiter struct {
	pod  api.PodID
	node int
	then func()
}

// Adopt notes a pod that has run on a node for a while.
func (t *Table) Adopt(pod api.PodID, node int, uses []Use) {
	for _, u := range uses {
		v := t.volume(u)
		v.node, v.users = node, append(v.users, pod)
	}
}

func (t *Table) volume(u Use) *volume {
	v := t.volumes[u.Name]
	if v == nil {
		v = &volume{name: u.Name, access: u.Access, node: -1}
		t.volumes[u.Name] = v
	}
	return v
}

// Node is the node on which pods have a volume, -1 where none has it.
func (t *Table) Node(u Use) int {
	if v := t.volumes[u.Name]; v != nil && len(v.users) > 0 {
		return v.node
	}
	return -1
}

// Mount has a pod wait on its node for its volumes, one after the other, and goes on when it has all: at once where it has them.
func (t *Table) Mount(pod api.PodID, node int, uses []Use, then func()) {
	if len(uses) == 0 {
		then()
		return
	}
	v, next := t.volume(uses[0]), func() { t.Mount(pod, node, uses[1:], then) }
	if slices.Contains(v.users, pod) {
		next()
		return
	}
	v.waiting = append(v.waiting, waiter{pod, node, next})
	t.serve(v)
}

// serve gives a volume to those who wait for it and may have it. It is on its way to the first of them where nobody has it and it was
// elsewhere.
func (t *Table) serve(v *volume) {
	for len(v.waiting) > 0 && v.admits(v.waiting[0].node, t.set.Engine.Now()) {
		w := v.waiting[0]
		v.waiting = v.waiting[1:]
		v.node, v.users = w.node, append(v.users, w.pod)
		w.then()
	}
	if len(v.waiting) == 0 || len(v.users) > 0 || v.timer != (engine.Handle{}) {
		return
	}
	v.timer = t.set.Engine.At(v.free, engine.ClassTimer, t.owner, "volume attached", func() {
		v.timer = engine.Handle{}
		t.serve(v)
	})
}

// admits says whether a pod on a node may have a volume now.
func (v *volume) admits(node int, now engine.Time) bool {
	switch {
	case len(v.users) == 0:
		return v.node == node || v.node < 0 || now >= v.free
	case v.access == world.ReadWriteOncePod:
		return false
	default:
		return v.node == node
	}
}

// Release notes that a pod has ended for good: its object is gone, or says that it has ended. A node that is silent does not say that it
// has unmounted anything.
func (t *Table) Release(pod api.PodID, uses []Use) {
	for _, u := range uses {
		v := t.volume(u)
		v.waiting = slices.DeleteFunc(v.waiting, func(w waiter) bool { return w.pod == pod })
		at := slices.Index(v.users, pod)
		if at < 0 {
			continue
		}
		v.users = slices.Delete(v.users, at, at+1)
		if len(v.users) > 0 {
			continue
		}
		v.free = t.set.Engine.Now() + t.set.Move.Sample(t.set.Engine.Stream("volume "+v.name, "move").Draw(v.moves))
		v.moves++
		if t.set.Silent(v.node) {
			v.free += ForcedAfter
		}
		t.serve(v)
	}
}

// Holder is a pod that has a volume which another one waits for, and the volume; false where that waits for none, or only until the
// volume has come.
func (t *Table) Holder(pod api.PodID, uses []Use) (holder api.PodID, of Use, ok bool) {
	for _, u := range uses {
		v := t.volume(u)
		if len(v.users) > 0 && slices.ContainsFunc(v.waiting, func(w waiter) bool { return w.pod == pod }) {
			return v.users[0], u, true
		}
	}
	return 0, Use{}, false
}

// Waits says that a pod has not got all of its volumes yet.
func (t *Table) Waits(pod api.PodID, uses []Use) bool {
	return slices.ContainsFunc(uses, func(u Use) bool {
		return slices.ContainsFunc(t.volume(u).waiting, func(w waiter) bool { return w.pod == pod })
	})
}
