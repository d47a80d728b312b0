package scenario

import (
	"fmt"
	"strings"
	"testing"
)

// What npm does with SIGTERM is an assumption: it is passed on to an app without a handler, which ends
// at once, or to one that has one, or it is swallowed.
func TestWhatAPackageRunnerDoesIsAnAssumption(t *testing.T) {
	t.Parallel()
	s := inferOne(t, strings.Replace(altWeb, "image: example.com/web", "image: example.com/web\n        command: [npm, start]", 1), Options{}).Scenario
	if basis, value := assumptionOf(s, "sigterm"); value != "web: npm-start (inferred from its command npm start)" {
		t.Errorf("%s: %s", basis, value)
	}
	var got []string
	for _, a := range Alternatives(s) {
		if a.ID == "sigterm" {
			got = append(got, a.Scenario.Workloads[0].App.Profile)
		}
	}
	if want := "ignores, closes-and-finishes"; strings.Join(got, ", ") != want {
		t.Errorf("tried %s, want %s", strings.Join(got, ", "), want)
	}
}

func TestAssumptionsAreATable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, a := range Assumptions(Wording{}) {
		if seen[a.ID] || a.ID == "" || a.What == "" || a.Value == "" || a.Basis == "" || a.Source == "" || a.Settle == "" {
			t.Errorf("row %q is not complete, or twice there", a.ID)
		}
		seen[a.ID] = true
	}
	if len(LatencyTable(Wording{})) != len(latencyFields())-1 { // all but readyToRules, which has no default
		t.Errorf("%d rows for %d latencies", len(LatencyTable(Wording{})), len(latencyFields()))
	}
	for _, c := range Classes() {
		if c.ID == "" || c.Match == "" || c.Clients == "" {
			t.Errorf("class %q is not complete", c.ID)
		}
	}
	_ = fmt.Sprint(DefaultLatencies())
}
