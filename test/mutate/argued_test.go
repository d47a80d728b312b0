package mutate

import (
	"strings"
	"testing"
)

// argued is a mistake that no test can notice, because nothing that anybody sees depends on it.
type argued struct {
	name   string // Mistake.Name
	reason string
}

// reasonsByName has the reason of each argued mistake.
func reasonsByName() map[string]string {
	reasons := map[string]string{}
	for _, a := range arguedMistakes {
		reasons[a.name] = a.reason
	}
	return reasons
}

// An argued mistake can still be made: its function still has the text that it changes.
func TestArguedMistakesExist(t *testing.T) {
	t.Parallel()
	exist := map[string]bool{}
	for _, m := range production(t) {
		exist[m.Name()] = true
	}
	seen := map[string]bool{}
	for _, a := range arguedMistakes {
		if !exist[a.name] {
			t.Errorf("no such mistake any more: %s", a.name)
		}
		if seen[a.name] || len(strings.Fields(a.reason)) < 4 {
			t.Errorf("there twice, or without a reason: %s", a.name)
		}
		seen[a.name] = true
	}
}

var arguedMistakes = []argued{
	{
		`sim/balancer/gates.go: (*Balancer).keepGates: conjunct deleted: "waiting && !b.gates.waiting" -> "!b.gates.waiting"`,
		"while no pod waits nobody asks when the ticks are, and the first one that waits sets them anew",
	},
}
