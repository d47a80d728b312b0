package cluster

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Pods keep to the delays that were recorded of such pods, and begin on the nodes where they were.
func TestPodsKeepToWhatWasRecorded(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(3).grace(10)
	b.Recorded = &world.Recorded{
		First: func(pod string) world.FirstPod {
			if strings.HasSuffix(pod, "r0 0") {
				return world.FirstPod{Node: "node-3", Created: -9 * sec, Ready: -7 * sec}
			}
			return world.FirstPod{Node: "node-2", Created: -9 * sec, Ready: -8 * sec}
		},
		Times: func(pod string) world.PodTimes {
			switch {
			case strings.HasSuffix(pod, "r0 2"):
				return world.PodTimes{Start: 4 * sec, Ready: 3 * sec, Stop: 60 * sec}
			case strings.HasSuffix(pod, "r0 3"):
				return world.PodTimes{Start: 2 * sec, Ready: world.NeverReady, Stop: sec}
			default:
				return world.PodTimes{Stop: 5 * sec}
			}
		},
	}
	w := b.start(t, 1)
	if on := w.PodsOn(2); len(on) != 1 || on[0].ReadySince != -7*sec || on[0].Created != -9*sec || len(w.PodsOn(1)) != 1 {
		t.Errorf("%+v on node-3, %d pods on node-2", on, len(w.PodsOn(1)))
	}
	w.pods()
	w.do(10*sec, "delete", "web#0", "")
	w.do(30*sec, "delete", "web#1", "")
	w.do(45*sec, "delete", "web#1", "")
	w.run(60 * sec)
	w.want("ready=|gone",
		"10 r0 0 running ready=true deleting=true restarts=0",
		"14 r0 2 running ready=false deleting=false restarts=0",
		"15 r0 0 terminal ready=false",
		"15 r0 0 gone",
		"17 r0 2 running ready=true deleting=false restarts=0",
		"30 r0 2 running ready=true deleting=true restarts=0",
		"32 r0 3 running ready=false deleting=false restarts=0",
		"40 r0 2 terminal ready=false",
		"40 r0 2 gone",
		"45 r0 3 running ready=false deleting=true restarts=0",
		"45 r0 4 running ready=true deleting=false restarts=0",
		"46 r0 3 terminal ready=false",
		"46 r0 3 gone",
	)
}
