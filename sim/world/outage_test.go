package world

import "testing"

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
