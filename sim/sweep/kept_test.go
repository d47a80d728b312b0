package sweep

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	gold "github.com/lameduck-proxy/lameduck/test/golden"
)

// keptResults has all that comes of the simulations of each test, whatever else it asks: verdicts, figures, stories, other values, fixes, timelines,
// and how many worlds it took.
const keptResults = "testdata/kept/results.txt"

var kept = gold.NewSums(keptResults, update, "simulations", "cases", "runs", "requests lost", "fixes", "no help", "worlds")

func TestMain(m *testing.M) { os.Exit(kept.Main(m)) }

// runKept is Run, and keeps what comes of it.
func runKept(ctx context.Context, t *testing.T, cases []scenario.Case, opts Options) (*record.Simulation, error) {
	t.Helper()
	if opts.Counts == nil {
		opts.Counts = map[Purpose]int{}
	}
	s, err := Run(ctx, cases, opts)
	keep(t, s, err, opts.Counts)
	return s, err
}

func keep(t *testing.T, s *record.Simulation, failed error, counts map[Purpose]int) {
	t.Helper()
	var text strings.Builder
	figures := []int{1, len(s.Cases), s.Runs, 0, len(s.Fixes), len(s.NoHelp), 0}
	for i := range s.Cases {
		figures[3] += int(s.Cases[i].Totals().Failed) //nolint:gosec // a few
	}
	for _, what := range Purposes {
		fmt.Fprintln(&text, what, counts[what])
		figures[6] += counts[what]
	}
	fmt.Fprintln(&text, gold.Text(s))
	fmt.Fprintln(&text, failed)
	whole := text.String()
	kept.Keep(t, func() (string, []int) { return whole, figures })
}
