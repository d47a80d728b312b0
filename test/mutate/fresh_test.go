package mutate

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the environment says of TestFreshMistakes.
const (
	countEnv = "LAMEDUCK_FRESH" // how many are drawn; without it the test is skipped
	seedEnv  = "MUTANT_SEED"    // what they are drawn from: today's date, as in 20260131, if it is empty
	matchEnv = "MUTANT_MATCH"   // a regular expression: only mistakes whose names match are drawn
	ownEnv   = "MUTANT_OWN"     // if not empty, only the tests of a mistake's own package are run
	limitEnv = "MUTANT_TIME"    // no further one is tried after that time, as in 3m
)

// enough is how many mistakes say something about the share of all mistakes that are noticed, and goal is that share, in percent.
const (
	enough = 200
	goal   = 95
)

// TestFreshMistakes draws mistakes that nobody has chosen and runs the tests that come by them.
func TestFreshMistakes(t *testing.T) {
	value := os.Getenv(countEnv)
	if value == "" {
		t.Skipf("builds and runs most tests with each of many mistakes: make mutants, or %s=n for n of them", countEnv)
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: want a number of mistakes", countEnv, value)
	}
	seed := os.Getenv(seedEnv)
	if seed == "" {
		seed = time.Now().Format("20060102")
	}
	match, err := regexp.Compile(os.Getenv(matchEnv))
	if err != nil {
		t.Fatalf("%s: %v", matchEnv, err)
	}
	reasons := reasonsByName()
	all := slices.DeleteFunc(slices.Clone(production(t)), func(m *Mistake) bool { return reasons[m.Name()] != "" })
	drawn := Draw(all, seed, n, match)
	t.Logf("%d of %d mistakes drawn with %s=%s, %d argued", len(drawn), len(all), seedEnv, seed, len(reasons))

	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil { // tests start programs of users without rights
		t.Fatal(err)
	}
	bench := &Bench{
		Root: root, Dir: dir, Own: os.Getenv(ownEnv) != "", Quick: 2 * time.Second,
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
	}
	if limit := os.Getenv(limitEnv); limit != "" {
		d, err := time.ParseDuration(limit)
		if err != nil {
			t.Fatalf("%s: %v", limitEnv, err)
		}
		bench.Till = time.Now().Add(d)
	}
	verdicts, err := bench.Try(t.Context(), drawn)
	if err != nil {
		t.Fatal(err)
	}
	judge(t, verdicts)
}

// judge prints what survived and the share of each package, and fails if too many survived to be chance.
func judge(t *testing.T, verdicts []Verdict) {
	t.Helper()
	type count struct{ noticed, survived, open int }
	var total count
	packages := map[string]*count{}
	var text strings.Builder
	for _, v := range verdicts {
		c := packages[v.Mistake.Package]
		if c == nil {
			c = &count{}
			packages[v.Mistake.Package] = c
		}
		switch {
		case v.By != "":
			c.noticed, total.noticed = c.noticed+1, total.noticed+1
		case v.Open:
			c.open, total.open = c.open+1, total.open+1
			fmt.Fprintf(&text, "left open after %d tests: %s\n", v.Tried, v.Mistake.Name())
		default:
			c.survived, total.survived = c.survived+1, total.survived+1
			fmt.Fprintf(&text, "\nsurvived %d tests: %s\n%s", v.Tried, v.Mistake.Name(), v.Mistake.Diff())
		}
	}
	row := func(name string, c count) {
		all := c.noticed + c.survived + c.open
		fmt.Fprintf(&text, "%5d of %5d noticed, %3d %%; %d survived, %d left open  %s\n", c.noticed, all, 100*c.noticed/max(all, 1), c.survived, c.open, name)
	}
	text.WriteString("\n")
	for _, path := range sortedKeys(packages) {
		row(path, *packages[path])
	}
	row("all", total)
	t.Log(text.String())
	decided := total.noticed + total.survived
	if decided == 0 {
		t.Error("no mistake was tried to the end: nothing is shown")
	}
	if decided >= enough && 100*total.noticed < goal*decided {
		t.Errorf("%d of %d mistakes were noticed, fewer than %d of 100: write the tests that are missing, or argue in argued_test.go why a mistake changes nothing",
			total.noticed, decided, goal)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
