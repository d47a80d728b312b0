package fix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/test/graft"
)

// What can be changed in inputs that are made of parts of the repository's stays as it was: a row for each workload of their first case.
func TestChangesOfGraftedInputs(t *testing.T) {
	t.Parallel()
	const groups = 8
	graft.Compare(t, "../..", groups, *update, func(rows *strings.Builder, name, text string, number uint64) {
		if strings.HasPrefix(name, "Scenario-") {
			return
		}
		objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
		if manifest.HasErrors(problems) || len(objects.Scenarios) > 0 {
			return
		}
		action := graft.Pick(number, scenario.Actions(), func(s string) string { return s })
		cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{action}})
		first := slices.IndexFunc(cases, func(c scenario.Case) bool { return c.Scenario != nil })
		if first < 0 {
			return
		}
		s := cases[first].Scenario
		for i := range s.Workloads {
			w := &s.Workloads[i]
			title, why := Untried(s, w)
			fmt.Fprintf(rows, "%s, %s: %s; %s %s %s\n", name, action, ofWorkload(s, w), title, why, Unevictable(s, w))
		}
	})
}
