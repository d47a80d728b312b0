package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// An object that the API server refuses stops no other, is named, and makes the exit code 2; alone nothing is answered.
func TestARefusedObjectBesideAGoodOne(t *testing.T) {
	t.Parallel()
	bad := strings.Replace(strings.ReplaceAll(small, "web", "old"), "{matchLabels: {app: old}}", "{matchLabels: {app: odl}}", 1)
	line := "sim -f " + inFile(t, "in.yaml", small+"---\n"+bad) + " --action rollout --runs 2 --fixes 0 --sensitivity=false"
	if text := says(t, 2, line, "Left out: Deployment default/old: spec.selector: does not match", "default/web"); !strings.HasPrefix(text, "Left out: ") {
		t.Error(text)
	}
	var result struct {
		Cases   []struct{ Workload string }
		LeftOut []struct{ Object, Source, Reason string }
	}
	if err := json.Unmarshal([]byte(says(t, 2, line+" -o json")), &result); err != nil {
		t.Fatal(err)
	}
	if len(result.Cases) != 1 || result.Cases[0].Workload != "default/web" || len(result.LeftOut) != 1 || result.LeftOut[0].Object != "Deployment default/old" {
		t.Errorf("%+v", result)
	}
	if text := says(t, 2, "sim -f "+inFile(t, "bad.yaml", bad)); text != "" {
		t.Error(text)
	}
	says(t, 1, line+" --target default/web", "default/web")
}
