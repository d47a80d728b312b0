package sim_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "write what comes out today to the files that tests compare with")

// figureRuns is how many rollouts a figure of docs/field-figures.md is of.
const figureRuns = 24

// moreFigures are settings that docs/field-reports.md speaks of, besides the one that the comment of a story says to try.
func moreFigures() map[string][]string {
	return map[string][]string{
		"field-dingyu":         {"prestop.web=50s", "loadBalancer.preset=aws-alb-ip"},
		"field-open-vsx-12422": {"prestop.web=35s"},
		"field-agic-75":        {"prestop.web=40s"},
		"field-aws-2106":       {"prestop.web=70s"},
		"field-quay-6871":      {"loadBalancer.healthPropagation=0s"},
	}
}

// What lameduck says of each field report is written down by the program, so that a figure that people read is the one that comes out.
func TestFieldFigures(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("two dozen runs of each of sixty stories")
	}
	files, err := filepath.Glob(stories + "field-*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	rows := make([]string, len(files))
	t.Run("stories", func(t *testing.T) { // ends when all of them have
		for i, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				rows[i] = figuresOf(t, file)
			})
		}
	})
	if !slices.Contains(rows, "") { // -run may leave some out
		golden.Compare(t, "../docs/field-figures.md", figuresHead+strings.Join(rows, ""), *update)
	}
}

const figuresHead = `# Figures of the field reports

Written by a test (go test ./sim -run TestFieldFigures -update). Each line is of 24 rollouts, seeds 1 to 24: the median (lowest to highest). What was
reported, and what to make of it, is in docs/field-reports.md.

| Story | With | Requests lost | Of the traffic, s | Without any answer, s | Rollouts with loss |
|---|---|---|---|---|---|
`

// figuresOf are the lines of a story: as it is, and with what its comment says to try.
func figuresOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(file), ".yaml")
	sets := []string{""}
	if m := regexp.MustCompile(`(?m)^# Try: --set (\S+?)[,.]?( |$)`).FindSubmatch(text); m != nil {
		sets = append(sets, string(m[1]))
	}
	out := ""
	for _, set := range append(sets, moreFigures()[name]...) {
		c := fieldRun(t, name, set, figureRuns)
		out += fmt.Sprintf("| [%s](../examples/scenarios/%s.yaml) | %s | %s | %s | %s | %d |\n", name, name, set,
			span(c.RequestsLost, 1), span(c.LostSeconds, 1e9), span(c.LongestOutage, 1e9), c.WithLoss)
	}
	return out
}

// span is a range in units of so many.
func span(r record.Range, unit float64) string {
	of := func(n int64) string {
		if x := float64(n) / unit; x < 1000 {
			return fmt.Sprintf("%.3g", x)
		}
		return fmt.Sprintf("%.0f", float64(n)/unit)
	}
	if r.Min == r.Max {
		return of(r.Median)
	}
	return fmt.Sprintf("%s (%s to %s)", of(r.Median), of(r.Min), of(r.Max))
}
