package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output string
}

// counter counts what go test does.
type counter struct {
	out     io.Writer
	verbose bool
	figure  *regexp.Regexp // in what a test says, such as "12 cases compared"; nil for none

	cut     map[string]bool     // by package: the line that goes on in its next event is left out
	said    map[string][]string // by package and test: what it said so far
	ran     map[string]int      // by package: tests that passed or failed
	failed  int                 // packages and tests
	skipped []string            // reasons, each once, in order
	skips   int
	figures []string
}

func newCounter(out io.Writer, verbose bool, of string) *counter {
	c := &counter{out: out, verbose: verbose, cut: map[string]bool{}, said: map[string][]string{}, ran: map[string]int{}}
	if of != "" {
		c.figure = regexp.MustCompile(`(?:^|: )([0-9]+ ` + regexp.QuoteMeta(of) + `)\b`)
	}
	return c
}

// read reads events until the end. What is none, such as an error of the go command, is printed.
func (c *counter) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				fmt.Fprintf(c.out, "%s", line)
			} else {
				c.hear(&e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *counter) hear(e *event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		c.output(e, key)
	case "build-fail":
		c.failed++
	case "fail":
		c.failed++
		if e.Test == "" {
			c.unended(e.Package)
		}
		fallthrough
	case "pass":
		if e.Test != "" {
			c.count(e, key)
		}
	case "skip":
		if e.Test != "" {
			c.skip(e, key)
		}
	}
}

// output keeps what a test says until it ends, and prints what is nobody's.
func (c *counter) output(e *event, key string) {
	if m := c.match(e.Output); m != "" {
		c.figures = append(c.figures, m)
	}
	if e.Test != "" {
		c.said[key] = append(c.said[key], e.Output)
	}
	if c.verbose || e.Test == "" && e.Output != "PASS\n" {
		fmt.Fprintf(c.out, "%s", c.withoutCoverage(e))
	}
}

// withoutCoverage leaves out what go test says of a part of all packages together: of each a profile says it. Lines of many packages are
// cut into several events (cmd/internal/test2json, 4 KiB).
func (c *counter) withoutCoverage(e *event) string {
	if e.Test != "" {
		return e.Output
	}
	ends := strings.HasSuffix(e.Output, "\n")
	if c.cut[e.Package] {
		c.cut[e.Package] = !ends
		return ""
	}
	text, _, found := strings.Cut(e.Output, "coverage: ")
	if !found {
		return e.Output
	}
	c.cut[e.Package] = !ends
	if text == "" {
		return ""
	}
	return strings.TrimRight(text, "\t ") + "\n"
}

func (c *counter) match(line string) string {
	if c.figure != nil {
		if m := c.figure.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			return m[1]
		}
	}
	return ""
}

// count counts a test that has ended. If it failed, all that it said is printed in one piece, also where it was printed before among what
// others said: .ci/run shows these pieces. Those of another test count with it.
func (c *counter) count(e *event, key string) {
	if !strings.Contains(e.Test, "/") {
		c.ran[e.Package]++
	}
	if e.Action == "fail" {
		fmt.Fprintf(c.out, "=== FAIL  %s %s\n%s=== END\n", e.Package, e.Test, strings.Join(c.said[key], ""))
	}
	delete(c.said, key)
}

// unended prints what tests have said that had not ended when their package failed: one that takes too long takes all others with it, and go test says so
// as what one of them says.
func (c *counter) unended(of string) {
	for _, key := range slices.Sorted(maps.Keys(c.said)) {
		if test, ok := strings.CutPrefix(key, of+" "); ok {
			fmt.Fprintf(c.out, "=== FAIL  %s %s, which has not ended\n%s=== END\n", of, test, strings.Join(c.said[key], ""))
			delete(c.said, key)
		}
	}
}

// skip notes why a test was not run: the last line of what it said, but for go test's own.
func (c *counter) skip(e *event, key string) {
	reason := e.Test
	for _, line := range c.said[key] {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			_, text, found := strings.Cut(line, ": ") // after file and line
			if reason = line; found {
				reason = text
			}
		}
	}
	delete(c.said, key)
	c.skips++
	if !slices.Contains(c.skipped, reason) {
		c.skipped = append(c.skipped, reason)
	}
}

// atMost is how many reasons are told in the last line; more stand before it.
const atMost = 3

// sum prints what was run, and says whether all was well. Each of some packages has to have run a test.
func (c *counter) sum(each []string) bool {
	tests, packages, well := 0, 0, c.failed == 0
	for _, n := range c.ran { // order: a sum does not depend on it
		tests, packages = tests+n, packages+1
	}
	for _, p := range each {
		if c.ran[p] == 0 {
			fmt.Fprintf(c.out, "no test of %s was run\n", p)
			well = false
		}
	}
	last := fmt.Sprintf("ran %s in %s", plural(tests, "test"), plural(packages, "package"))
	if len(c.figures) > 0 {
		last += ", " + strings.Join(c.figures, ", ")
	}
	if len(c.skipped) > atMost {
		for _, s := range c.skipped {
			fmt.Fprintln(c.out, "not run:", s)
		}
		last += fmt.Sprintf("; not run: %s, for the reasons above", plural(c.skips, "test"))
	} else if len(c.skipped) > 0 {
		last += "; not run: " + strings.Join(c.skipped, "; ")
	}
	if tests == 0 || c.figure != nil && !slices.ContainsFunc(c.figures, func(f string) bool { return f[0] != '0' }) {
		well = false
		last += ": nothing was checked"
	}
	fmt.Fprintln(c.out, last)
	return well
}

func plural(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
