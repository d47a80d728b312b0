package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// suites is JUnit's document, as continuous integration systems read it.
type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Suite    suite    `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testCase `xml:"testcase"`
}

type testCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *message `xml:"failure"`
	Skipped *message `xml:"skipped"`
	Output  string   `xml:"system-out,omitempty"`
}

type message struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes a simulation as JUnit XML: a test a case, a failure where fails says so,
// skipped where it was not judged. fails is asked of nil where there is no case at all, which is a test of its own then.
func WriteJUnit(w io.Writer, s *record.Simulation, fails func(*record.Case) bool) error {
	out := suite{Name: "lameduck sim"}
	for i := range s.Cases {
		c := &s.Cases[i]
		x := testCase{Class: page.Shown(c.Workload), Name: page.Shown(title(c) + ofService(s, c))}
		switch {
		case fails(c):
			out.Failures++
			x.Failure = &message{Message: page.Shown(subject(c) + sentence(c, s.Wording) + inVainFor(c)), Text: details(s, c)}
		case c.Verdict == record.NotJudged:
			out.Skipped++
			x.Skipped = &message{Message: page.Shown(c.Reason + darkWords(c))}
		default:
			x.Output = page.Shown(subject(c) + sentence(c, s.Wording))
		}
		out.Tests++
		out.Cases = append(out.Cases, x)
	}
	for _, o := range s.LeftOut {
		out.Failures++
		out.Tests++
		out.Cases = append(out.Cases, testCase{Class: "input", Name: page.Shown(o.Kind + " " + o.Name), Failure: &message{Message: page.Shown("left out: " + o.Why), Text: page.Shown(o.Source)}})
	}
	if len(s.Cases) == 0 && fails(nil) {
		out.Failures, out.Tests = 1, 1
		out.Cases = append(out.Cases, testCase{Name: "input", Failure: &message{Message: "nothing to judge"}})
	}
	doc, err := xml.MarshalIndent(suites{Tests: out.Tests, Failures: out.Failures, Skipped: out.Skipped, Suite: out}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, doc)
	return err
}

// inVainFor is what a case waits for that cannot end, as a sentence; "" for others.
func inVainFor(c *record.Case) string {
	if !c.Waits() {
		return ""
	}
	return " Why: " + c.Stuck.Why + "."
}

// details lists what was not as expected, what is waited for in vain, what to do, and the causes.
func details(s *record.Simulation, c *record.Case) string {
	var b strings.Builder
	for _, u := range c.Unmet {
		fmt.Fprintf(&b, "not as expected: %s\n", page.Shown(u))
	}
	if c.Waits() {
		fmt.Fprintf(&b, "why: %s\n", page.Shown(c.Stuck.Why))
		if c.Stuck.Line > 0 {
			fmt.Fprintf(&b, "line: %s:%d\n", page.Shown(c.Stuck.File), c.Stuck.Line)
		}
	}
	if do := newText(s, TextOptions{}, everything).todo(c); len(do) > 0 {
		fmt.Fprintf(&b, "what to do: %s\n", page.Shown(strings.Join(do, "; ")))
	}
	if all := c.Totals().Failed; all > 0 {
		fmt.Fprintf(&b, "%s lost in %s of all clients together, of them:\n", count(int(all), "request", "requests"), count(len(c.Runs), "run", "runs"))
	}
	var lines []string
	lost := map[string]uint64{}
	for i := range c.Causes { // the most first; those that differ in what stands behind them are one line
		x := &c.Causes[i]
		words := x.Cause.String() + ": " + page.Shown(inFront(c, causeName(x.Blame)))
		lines = distinct(lines, words)
		lost[words] += x.Count
	}
	for _, words := range lines {
		fmt.Fprintf(&b, "%d requests: %s\n", lost[words], words)
	}
	return b.String()
}
