package swarm

import (
	"encoding/json"
	"fmt"

	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/input"
	"github.com/lameduck-proxy/lameduck/sim/perfetto"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptReports has a line for each report on random worlds.
const keptReports = "testdata/reports.txt"

// toldSeeds is of how many worlds there are reports, two worlds in each.
const toldSeeds = 80

// What is said of random worlds stays as it was: the page, whole and short, the document, the lanes. LAMEDUCK_SWARM_SEED=n prints the report with
// that world.
func TestReportsSayWhatTheyDid(t *testing.T) {
	t.Parallel()
	one := uint64(envInt(t, "LAMEDUCK_SWARM_SEED", 0))
	lines := make([]string, toldSeeds/2)
	each(len(lines), func(i int) {
		seed := uint64(2*i + 1)
		var show func(string)
		if one == seed || one == seed+1 {
			show = func(text string) { t.Log(text) }
		}
		lines[i] = fmt.Sprintf("%3d %s", seed, toldOf(t, seed, show))
	})
	golden.Compare(t, keptReports, strings.Join(lines, "\n")+"\n", *update)
}

// toldOf is the first sentence of the report on two worlds, and sums of all that is said of them.
func toldOf(t *testing.T, seed uint64, show func(string)) string {
	scenarios := []*world.Scenario{draw(seed).Scenario, draw(seed + 1).Scenario}
	s, err := sweep.Run(t.Context(), sweep.Scenarios(scenarios), sweep.Options{
		Seed: seed, Runs: 2, Workers: 1, Fixes: 1, ConfirmRuns: 2, Timelines: 1, Wording: input.Wording(),
	})
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	short, whole := textOf(t, s, report.TextOptions{Lanes: true, Width: 90}), textOf(t, s, report.TextOptions{All: true, Verbose: true})
	doc, lanes := textOfJSON(t, report.Build(s)), textOfJSON(t, trace(s))
	if show != nil {
		show(short + "\n" + whole + "\n" + doc + "\n" + lanes)
	}
	first, _, _ := strings.Cut(short, "\n")
	return fmt.Sprintf("%s %s %s %s %s", textSum(short), textSum(whole), textSum(doc), textSum(lanes), strings.TrimSpace(first))
}

func textOf(t *testing.T, s *record.Simulation, opts report.TextOptions) string {
	t.Helper()
	var b strings.Builder
	if err := report.WriteText(&b, s, opts); err != nil {
		t.Error(err)
	}
	return b.String()
}

// trace has the lanes of all cases that have some.
func trace(s *record.Simulation) *perfetto.Trace {
	var runs []perfetto.Run
	for i := range s.Cases {
		if c := &s.Cases[i]; c.Timeline != nil {
			runs = append(runs, perfetto.Run{Title: c.ID, Timeline: c.Timeline})
		}
	}
	return perfetto.New("of a test", runs)
}

func textOfJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

func textSum(text string) string {
	s := &telling{sum: seedOfSums}
	s.text(text)
	return s.String()[:8]
}
