package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// No cluster is idle, but a Scenario's world is what it says.
func TestOtherServicesChangeUnlessAScenarioIsSilentAboutThem(t *testing.T) {
	t.Parallel()
	if s := altScenario(t, Options{}); s.Churn != 200 || assumedValue(s, "churn") != "0.2/s" {
		t.Errorf("manifests: %d, assumed %q", s.Churn, assumedValue(s, "churn"))
	}
	if s := altScenario(t, Options{Set: []string{"churn=3/m"}}); s.Churn != 50 || assumedValue(s, "churn") != "" {
		t.Errorf("set: %d, assumed %q", s.Churn, assumedValue(s, "churn"))
	}
	for text, want := range map[string]int{"": 0, "churn: 0/s": 0, "churn: 2/s": 2000, "churn: 0.2/s": 200} { // order: each for itself
		s, problems := churning(t, text)
		if s == nil || s.Churn != want || assumedValue(s, "churn") != "" {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

func TestWhatIsNoRateOfChanges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // order: each for itself
		"churn: 2":       `expected changes in a time, such as "0.2/s", "10/m", or "0/s" for none, got the number 2`,
		"churn: 2/d":     `"2/d" is no number of changes in a time: want "0.2/s", "10/m", or "0/s" for none, in whole thousandths a second`,
		"churn: often":   `"often" is no number of changes`,
		"churn: 1000/s":  `"1000/s" is more than 100/s`,
		"churn: 0/d":     `"0/d" is no number of changes`,
		"churn: 0.001/h": `"0.001/h" is no number of changes`,
	} {
		_, problems := churning(t, text)
		if len(problems) != 1 || !strings.Contains(problems[0].String(), "s.yaml:5:10: Scenario s: spec.churn: "+want) {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

// churning is a Scenario with a further line.
func churning(t *testing.T, line string) (*world.Scenario, []manifest.Problem) {
	t.Helper()
	text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  " + line + "\n  traffic: [{from: pods, to: shop/web:80}]\n  actions: [{rolloutRestart: deployment/web, namespace: shop}]\n---" + altWeb
	objects, problems := manifest.Load([]manifest.File{{Name: "s.yaml", Data: []byte(text)}}, manifest.Options{})
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	list, problems := parseKept(t, objects, Options{})
	if len(list) != 1 {
		return nil, problems
	}
	return list[0], problems
}

// assumedValue is an assumption's, "" where it is none of the Scenario's.
func assumedValue(s *world.Scenario, id string) string {
	for _, a := range s.Assumptions {
		if a.ID == id {
			return a.Value
		}
	}
	return ""
}
