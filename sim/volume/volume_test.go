package volume

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const sec = engine.Second

// table is a Table whose volumes move in 15 s, with who got all of theirs, and when.
type table struct {
	*Table
	eng    *engine.Engine
	silent map[int]bool
	got    []string
}

func newTable() *table {
	t := &table{eng: engine.New(1, engine.Limits{Events: 1000}), silent: map[int]bool{}}
	move := engine.Constant(15 * sec)
	t.Table = New(Settings{Engine: t.eng, Move: &move, Silent: func(node int) bool { return t.silent[node] }})
	return t
}

func (t *table) mount(pod api.PodID, node int, uses ...Use) {
	t.Mount(pod, node, uses, func() { t.got = append(t.got, fmt.Sprintf("%d %s", pod, t.eng.Now().Seconds())) })
}

func (t *table) at(when engine.Time, do func()) {
	t.eng.At(when, engine.ClassAction, t.owner, "test", do)
}

func TestWhoHasAVolumeWhen(t *testing.T) {
	t.Parallel()
	once, pod := Use{"data", world.ReadWriteOnce}, Use{"data", world.ReadWriteOncePod}
	logs := Use{"logs", world.ReadWriteOnce}
	for _, c := range []struct {
		name string
		play func(*table)
		want []string
	}{
		{"nobody has it", func(x *table) { x.mount(1, 0, once) }, []string{"1 0"}},
		{"a pod of the same node has it", func(x *table) { x.Adopt(1, 0, []Use{once}); x.mount(2, 0, once) }, []string{"2 0"}},
		{"a pod of another node keeps it", func(x *table) { x.Adopt(1, 0, []Use{once}); x.mount(2, 1, once) }, nil},
		{"a pod of another node goes", func(x *table) {
			x.Adopt(1, 0, []Use{once})
			x.mount(2, 1, once)
			x.at(10*sec, func() { x.Release(1, []Use{once}) })
		}, []string{"2 25"}},
		{"it went before", func(x *table) {
			x.Adopt(1, 0, []Use{once})
			x.Release(1, []Use{once})
			x.at(10*sec, func() { x.mount(2, 1, once) })
		}, []string{"2 15"}},
		{"it went long before", func(x *table) {
			x.Adopt(1, 0, []Use{once})
			x.Release(1, []Use{once})
			x.at(40*sec, func() { x.mount(2, 1, once) })
		}, []string{"2 40"}},
		{"it went, and the next is on its node", func(x *table) {
			x.Adopt(1, 0, []Use{once})
			x.Release(1, []Use{once})
			x.at(10*sec, func() { x.mount(2, 0, once) })
		}, []string{"2 10"}},
		{"one of two pods of a node goes", func(x *table) {
			x.Adopt(1, 0, []Use{once})
			x.Adopt(2, 0, []Use{once})
			x.mount(3, 1, once)
			x.at(10*sec, func() { x.Release(1, []Use{once}) })
		}, nil},
		{"its node is silent", func(x *table) {
			x.Adopt(1, 0, []Use{once})
			x.silent[0] = true
			x.mount(2, 1, once)
			x.at(10*sec, func() { x.Release(1, []Use{once}) })
		}, []string{"2 385"}},
		{"who waited is gone when it comes", func(x *table) {
			x.Adopt(1, 0, []Use{once})
			x.mount(2, 1, once)
			x.mount(3, 2, once)
			x.at(10*sec, func() { x.Release(1, []Use{once}) })
			x.at(12*sec, func() { x.Release(2, []Use{once}) })
		}, []string{"3 25"}},
		{"the next after the next", func(x *table) {
			x.Adopt(1, 0, []Use{once})
			x.mount(2, 1, once)
			x.mount(3, 2, once)
			x.at(10*sec, func() { x.Release(1, []Use{once}) })
			x.at(30*sec, func() { x.Release(2, []Use{once}) })
		}, []string{"2 25", "3 45"}},
		{"one pod alone may have it, on the same node, too", func(x *table) {
			x.Adopt(1, 0, []Use{pod})
			x.mount(2, 0, pod)
			x.at(10*sec, func() { x.Release(1, []Use{pod}) })
		}, []string{"2 10"}},
		{"a pod that has it starts again", func(x *table) { x.Adopt(1, 0, []Use{pod}); x.mount(1, 0, pod) }, []string{"1 0"}},
		{"two volumes, one after the other", func(x *table) {
			x.Adopt(1, 0, []Use{once, logs})
			x.mount(2, 1, once, logs)
			x.at(10*sec, func() { x.Release(1, []Use{once}) })
			x.at(20*sec, func() { x.Release(1, []Use{logs}) })
		}, []string{"2 35"}},
		{"no volume", func(x *table) { x.mount(1, 0) }, []string{"1 0"}},
		{"who does not have it lets it go", func(x *table) {
			x.Adopt(1, 0, []Use{once})
			x.mount(2, 1, once)
			x.at(10*sec, func() { x.Release(7, []Use{once}) })
		}, nil},
	} {
		x := newTable()
		c.play(x)
		if err := x.eng.RunUntil(1000 * sec); err != nil || !slices.Equal(x.got, c.want) {
			t.Errorf("%s: got %v, want %v (%v)", c.name, x.got, c.want, err)
		}
	}
}

// A pod that waits for a volume of another one is told from one whose volume is on its way.
func TestWhoHoldsTheVolumeOfAnother(t *testing.T) {
	t.Parallel()
	x, uses := newTable(), []Use{{"data", world.ReadWriteOnce}}
	x.Adopt(1, 0, uses)
	if _, _, ok := x.Holder(1, uses); ok || x.Waits(1, uses) {
		t.Error("pod 1 has it")
	}
	x.mount(2, 1, uses...)
	if holder, of, ok := x.Holder(2, uses); !ok || holder != 1 || of != uses[0] || !x.Waits(2, uses) {
		t.Errorf("held by %d: %v %v", holder, of, ok)
	}
	x.Release(1, uses)
	if _, _, ok := x.Holder(2, uses); ok || !x.Waits(2, uses) {
		t.Error("nobody has it, and it is on its way")
	}
	if err := x.eng.RunUntil(20 * sec); err != nil || x.Waits(2, uses) {
		t.Errorf("pod 2 has it: %v", err)
	}
}
