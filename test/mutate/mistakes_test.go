package mutate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is the repository, seen from this package.
const root = "../.."

// loaded is the code in which mistakes are looked for: not what only tests use. It is read, never changed.
var loaded = sync.OnceValues(func() (all []*Mistake, err error) {
	sources, err := Load(root, "./...")
	for _, s := range sources {
		if !forTests.MatchString(s.Path) {
			all = append(all, s.Mistakes()...)
		}
	}
	return all, err
})

// production returns all mistakes that can be made in the repository.
func production(t *testing.T) []*Mistake {
	t.Helper()
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// forTests are packages that only tests use.
var forTests = regexp.MustCompile(`/lameduck/test/|/proxier/backendtest$|/livetest$`)

// Whatever is drawn, the sources with all of it compile.
func TestEveryMistakeCompiles(t *testing.T) {
	t.Parallel()
	all := production(t)
	bySource := map[*Source][]*Mistake{}
	kinds := map[string]int{}
	for _, m := range all {
		bySource[m.source] = append(bySource[m.source], m)
		kinds[m.Kind]++
	}
	for s, all := range bySource {
		if err := s.Check(switched("/nowhere", all)); err != nil {
			t.Errorf("%s: %v", s.Path, err)
		}
	}
	if len(bySource) < 30 || len(kinds) < 20 {
		t.Errorf("mistakes of %d kinds in %d packages", len(kinds), len(bySource))
	}
	var lines []string
	for kind, n := range kinds {
		lines = append(lines, fmt.Sprintf("%6d %s", n, kind))
	}
	slices.Sort(lines)
	t.Logf("%d mistakes can be made:\n%s", len(all), strings.Join(lines, "\n"))
}
