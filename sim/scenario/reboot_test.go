package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
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

// Who knows how long it takes says so: then it is no assumption, and no other time is tried. A Scenario says it with its action.
func TestHowLongARebootTakesIsSet(t *testing.T) {
	t.Parallel()
	s := spotCase(t, "reboot", Options{Set: []string{"reboot=45s"}})
	if a := s.Actions[0]; a.For != 45*engine.Second {
		t.Errorf("back after %s s", a.For.Seconds())
	}
	isReboot := func(id string) bool { return id == "reboot" }
	if slices.ContainsFunc(s.Assumptions, func(a world.Assumption) bool { return isReboot(a.ID) }) || slices.ContainsFunc(Alternatives(s), func(a Alternative) bool { return isReboot(a.ID) }) {
		t.Errorf("%+v", s.Assumptions)
	}
	if a := spotCase(t, "crash", Options{Set: []string{"reboot=45s"}}).Actions[0]; a.For != 0 {
		t.Errorf("one that crashes is back after %s s", a.For.Seconds())
	}
	text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s, namespace: shop}\nspec: {reboot: 45s, actions: [{crashNode: {node: node-1}}]}\n"
	objects, _ := manifest.Load([]manifest.File{{Name: "s.yaml", Data: []byte(text)}, {Name: "web.yaml", Data: []byte(altWeb)}}, manifest.Options{})
	if _, problems := parseKept(t, objects, Options{}); !strings.Contains(fmt.Sprint(problems), "a Scenario has no reboot: say for beside crashNode") {
		t.Errorf("%v", problems)
	}
	objects, _ = manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(altWeb)}}, manifest.Options{})
	for set, want := range map[string]string{
		"reboot=0s":   "a machine that reboots is away for some time: want more than 0s",
		"reboot=long": "is no duration",
	} {
		if _, problems := inferKept(t, objects, Options{Actions: []string{"reboot"}, Set: []string{set}}); !strings.Contains(fmt.Sprint(problems), want) {
			t.Errorf("%s: %v", set, problems)
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
