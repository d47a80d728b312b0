package cluster

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A log that follows one node tells of that node's rules and waits alone, and of all else that it would hear.
func TestALogMayFollowOneNodesRules(t *testing.T) {
	t.Parallel()
	heard := func(nodes []int) (rules, others []event.Event) {
		b := newBuild(3).nodes(3)
		w := b.start(t, 1)
		var j journal
		e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80})
		if !ok {
			t.Fatal("the stream enters nowhere")
		}
		w.log.Subscribe(j.Record, event.Stories()...)
		w.log.Follow(nodes)
		w.Tell([]Entry{e})
		w.at(30*sec, func() { w.deletePod(w.owner, 0) })
		w.run(60 * sec)
		for _, e := range j {
			if e.Kind == event.Rules || e.Kind == event.HealthPort || e.Kind == event.Wait {
				rules = append(rules, e)
			} else {
				others = append(others, e)
			}
		}
		return rules, others
	}
	all, same := heard(nil)
	for _, nodes := range [][]int{{}, {1}, {0, 2}} {
		got, others := heard(nodes)
		want := slices.DeleteFunc(slices.Clone(all), func(e event.Event) bool { return !slices.Contains(nodes, e.Node) })
		if !reflect.DeepEqual(others, same) {
			t.Errorf("of nodes %v: other events are others", nodes)
		}
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("of nodes %v: %d lists of rules and waits, want %d of all %d", nodes, len(got), len(want), len(all))
		}
	}
	if len(all) < 9 || len(same) == 0 {
		t.Errorf("%d lists of rules and waits and %d other events: the test shows nothing", len(all), len(same))
	}
}
