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
	for _, tt := range []struct{ image, command, value, tried string }{
		{"example.com/web", "npm, start", "npm-start (inferred from its command npm start)", "ignores, closes-and-finishes"},
		{"node:20.5", "npm, start", "npm-9.6-start (inferred from its image and command)", "npm-start"},
		{"node:20", "yarn, start", "yarn-start (inferred from its command yarn start)", "ignores, closes-and-finishes"},
	} {
		s := inferOne(t, strings.Replace(altWeb, "image: example.com/web", "image: "+tt.image+"\n        command: ["+tt.command+"]", 1), Options{}).Scenario
		if basis, value := assumptionOf(s, "sigterm"); value != "web: "+tt.value {
			t.Errorf("%s: %s", basis, value)
		}
		var got []string
		for _, a := range Alternatives(s) {
			if a.ID == "sigterm" {
				got = append(got, a.Scenario.Workloads[0].App.Profile)
			}
		}
		if strings.Join(got, ", ") != tt.tried {
			t.Errorf("tried %s, want %s", strings.Join(got, ", "), tt.tried)
		}
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
	if len(LatencyTable(Wording{})) != len(latencyFields())-2 { // all but readyToRules and imagePull, which have no default
		t.Errorf("%d rows for %d latencies", len(LatencyTable(Wording{})), len(latencyFields()))
	}
	for _, c := range Classes() {
		if c.ID == "" || c.Match == "" || c.Clients == "" {
			t.Errorf("class %q is not complete", c.ID)
		}
	}
	_ = fmt.Sprint(DefaultLatencies())
}
