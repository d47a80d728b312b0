package cluster

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Pods keep to the delays that were recorded of such pods, and begin on the nodes where they were.
func TestPodsKeepToWhatWasRecorded(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(3).grace(10)
	b.Recorded = &world.Recorded{
		First: func(_, ordinal int) world.FirstPod {
			return world.FirstPod{Node: []string{"node-3", "node-2"}[ordinal], Created: -9 * sec, Ready: -7 * sec}
		},
		Times: func(_, revision int) world.PodTimes {
			return []world.PodTimes{{Start: 4 * sec, Ready: 3 * sec, Stop: 60 * sec}, {Start: 2 * sec, Ready: world.NeverReady, Stop: sec}}[revision]
		},
	}
	w := b.start(t, 1)
	if on := w.PodsOn(2); len(on) != 1 || on[0].ReadySince != -7*sec || on[0].Created != -9*sec || len(w.PodsOn(1)) != 1 {
		t.Errorf("%+v on node-3, %d pods on node-2", on, len(w.PodsOn(1)))
	}
	w.pods()
	w.do(10*sec, "delete", "web#0", "")
	w.do(30*sec, "rolloutRestart", "web", "")
	w.do(40*sec, "rollback", "web", "")
	w.run(60 * sec)
	w.want("ready=|gone",
		"10 r0 0 running ready=true deleting=true restarts=0",
		"14 r0 2 running ready=false deleting=false restarts=0",
		"17 r0 2 running ready=true deleting=false restarts=0",
		"20 r0 0 terminal ready=false", // the grace period
		"20 r0 0 gone",
		"32 r1 0 running ready=false deleting=false restarts=0",
		"40 r1 0 running ready=false deleting=true restarts=0",
		"41 r1 0 terminal ready=false",
		"41 r1 0 gone",
	)
}
