package world

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// A node whose kubelet is silent for as long as the controller's grace period may be taken for lost: the last renewal of its lease
// may be 10 s old. Other components that pause, and a kubelet that restarts, leave its lease alone.
func TestWhatMayLetALeaseLapse(t *testing.T) {
	t.Parallel()
	const grace = 40 * engine.Second
	for _, c := range []struct {
		name string
		of   Action
		want bool
	}{
		{"a crash", Action{Operation: CrashNode{}}, true},
		{"a shutdown", Action{Operation: ShutdownNode{}}, true},
		{"a spot notice", Action{Operation: SpotNotice{}}, true},
		{"a deletion", Action{Operation: DeleteNode{}}, true},
		{"a kubelet that pauses for good", Action{Operation: Component{Name: KubeletOf + "node-1", What: ComponentPause}}, true},
		{"a kubelet that pauses for long", Action{Operation: Component{Name: KubeletOf + "node-1", What: ComponentPause}, For: 31 * engine.Second}, true},
		{"a kubelet that pauses for a while", Action{Operation: Component{Name: KubeletOf + "node-1", What: ComponentPause}, For: 30 * engine.Second}, false},
		{"a kubelet that restarts", Action{Operation: Component{Name: KubeletOf + "node-1", What: ComponentRestart}, For: 31 * engine.Second}, false},
		{"a proxy that pauses", Action{Operation: Component{Name: "proxy/node-1", What: ComponentPause}}, false},
		{"a rollout", Action{Operation: RolloutRestart{}}, false},
	} {
		if got := Lapses(&c.of, grace); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// What decides how late others hear of a machine's end is no line of a manifest, unless its pods are deleted before.
func TestEndsOfMachinesThatNobodyAnnounces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operations []Operation
		want       bool
	}{
		{nil, false},
		{[]Operation{CrashNode{Node: "a"}}, true},
		{[]Operation{ShutdownNode{Node: "a"}, DeleteNode{Node: "a"}}, true},
		{[]Operation{SpotNotice{Node: "a"}}, true},
		{[]Operation{SpotNotice{Node: "a", Drains: true}}, false},
		{[]Operation{CrashNode{Node: "a"}, RolloutRestart{Workload: "ns/web"}}, false},
	} {
		s := &Scenario{}
		for _, o := range c.operations {
			s.Actions = append(s.Actions, Action{Operation: o})
		}
		if got := s.Unannounced(); got != c.want {
			t.Errorf("%v: %v", c.operations, got)
		}
	}
}
