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
		x := testCase{Class: page.Shown(c.Workload), Name: page.Shown(title(c))}
		switch {
		case fails(c):
			out.Failures++
			x.Failure = &message{Message: page.Shown(subject(c) + sentence(c, s.Wording)), Text: details(c)}
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

// details lists what was not as expected, and the causes.
func details(c *record.Case) string {
	var b strings.Builder
	for _, u := range c.Unmet {
		fmt.Fprintf(&b, "not as expected: %s\n", page.Shown(u))
	}
	for i := range c.Causes {
		x := &c.Causes[i]
		fmt.Fprintf(&b, "%d lost: %s: %s\n", x.Count, x.Cause, page.Shown(causeName(x.Blame)))
	}
	return b.String()
}
