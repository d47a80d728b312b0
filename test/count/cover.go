package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// reached counts statements of a package: all, and those that some test reaches.
type reached struct{ all, by int }

func (r reached) percent() float64 { return 100 * float64(r.by) / float64(max(r.all, 1)) }

// readProfile reads what go test -coverprofile wrote, package by package. A block is in it once for each test binary that has its
// package in it.
func readProfile(in io.Reader) (map[string]reached, error) {
	statements, hit := map[string]int{}, map[string]bool{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "mode: ") {
			continue
		}
		var block string
		var n, times int
		if _, err := fmt.Sscan(line, &block, &n, &times); err != nil {
			return nil, fmt.Errorf("%q is no line of a coverage profile: %w", line, err)
		}
		statements[block] = n
		hit[block] = hit[block] || times > 0
	}
	out := map[string]reached{}
	for block, n := range statements { // order: sums do not depend on it
		file, _, _ := strings.Cut(block, ":")
		r := out[path.Dir(file)]
		r.all += n
		if hit[block] {
			r.by += n
		}
		out[path.Dir(file)] = r
	}
	return out, lines.Err()
}

// printTable prints the packages, what tests reach least of first, and says whether it is as much as asked for of each.
func printTable(out io.Writer, packages map[string]reached, percent float64) bool {
	names := slices.SortedFunc(maps.Keys(packages), func(a, b string) int {
		return cmp.Or(cmp.Compare(packages[a].percent(), packages[b].percent()), strings.Compare(a, b))
	})
	well := len(names) > 0
	for _, name := range names {
		r, mark := packages[name], ""
		if r.percent() < percent {
			mark, well = fmt.Sprintf("  below %g %%", percent), false
		}
		fmt.Fprintf(out, "%5.1f %%  %5d statements  %s%s\n", r.percent(), r.all, name, mark)
	}
	return well
}
