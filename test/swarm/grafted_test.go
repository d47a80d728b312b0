package swarm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/graft"
)

// Worlds of inputs that are made of parts of the repository's come to what they came to before: a line for the first case of each, as of random ones.
func TestGraftedWorldsComeToWhatTheyDid(t *testing.T) {
	t.Parallel()
	const groups = 8
	graft.Compare(t, "../..", groups, *update, func(rows *strings.Builder, name, text string, number uint64) {
		s := graftedScenario(text, number)
		if s == nil {
			return
		}
		s.Until = min(s.Until, 5*engine.Minute)
		log := &event.Log{}
		told := newTelling(log)
		res, err := sim.RunWith(s, 1, sim.Options{Events: log})
		if err != nil {
			fmt.Fprintf(rows, "%s: %v\n", name, err)
			return
		}
		fmt.Fprintf(rows, "%s: %s\n", name, kept(res, told))
	})
}

// graftedScenario is the first Scenario of an input, or that of its first case, for one of the things that can be done; nil for none.
func graftedScenario(text string, number uint64) *world.Scenario {
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
	if manifest.HasErrors(problems) {
		return nil
	}
	if len(objects.Scenarios) > 0 {
		if scenarios, _ := scenario.Parse(objects, scenario.Options{}); len(scenarios) > 0 {
			return scenarios[0]
		}
		return nil
	}
	action := graft.Pick(number, scenario.Actions(), func(s string) string { return s })
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{action}})
	for i := range cases {
		if cases[i].Scenario != nil {
			return cases[i].Scenario
		}
	}
	return nil
}
