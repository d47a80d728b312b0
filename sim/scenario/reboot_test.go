package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// How long a machine is away that reboots decides whether anybody notices, and whether its pods are driven away: it is listed, and other times
// are tried. One that crashes for good has none. Reference: docs/model/pod-lifecycle.md 6 Reboot.
func TestHowLongARebootTakesIsAssumedAndVaried(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{"reboot": "2m 30s 30s, 10m 10m0s", "crash": "- "} {
		s := spotCase(t, action, Options{})
		assumed, others := "-", []string(nil)
		for _, a := range s.Assumptions {
			if a.ID == "reboot" {
				assumed = a.Value
			}
		}
		for _, a := range Alternatives(s) {
			if a.ID == "reboot" {
				others = append(others, a.Value+" "+a.Scenario.Actions[0].For.Duration().String())
			}
		}
		if got := fmt.Sprintf("%s %v", assumed, strings.Join(others, ", ")); got != want {
			t.Errorf("%s: %s, want %s", action, got, want)
		}
		if back := s.Actions[0].For; (back == 2*engine.Minute) != (action == "reboot") {
			t.Errorf("%s: back after %s s", action, back.Seconds())
		}
	}
}

// kubectl delete node of a case is that of the node with most of its pods, whose machine runs on.
func TestANodeThatIsDeletedOfManifests(t *testing.T) {
	t.Parallel()
	s := spotCase(t, "delete-node", Options{})
	if a := s.Actions[0]; a.Operation != (world.DeleteNode{Fullest: "shop/web"}) || world.FullestOf(a.Operation) != "shop/web" {
		t.Errorf("%+v", a)
	}
	if got := world.OnNode(s.Actions[0].Operation, "node-2"); got != (world.DeleteNode{Node: "node-2"}) {
		t.Errorf("%+v", got)
	}
	if !slices.ContainsFunc(s.Assumptions, func(a world.Assumption) bool { return a.ID == Places }) {
		t.Error("where its pods are is not said to be assumed")
	}
}
