package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const twoWorkloads = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app: web}}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec: {selector: {matchLabels: {app: api}}, template: {metadata: {labels: {app: api}}, spec: {containers: [{name: c}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, labels: {tier: front}}
spec: {ports: [{port: 80}]}
`

// -l leaves the cases of workloads with such labels, and Services likewise; if none is left, those that there are stand in the
// error with their labels.
func TestASelectorLeavesWhatHasSuchLabels(t *testing.T) {
	t.Parallel()
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(twoWorkloads)}}, manifest.Options{})
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	all := []scenario.Case{{ID: "1", Kind: "Deployment", Workload: "shop/web"}, {ID: "2", Kind: "Deployment", Workload: "shop/api"}, {ID: "3", Kind: "Deployment", Workload: "shop/web"}}
	for text, want := range map[string]string{
		"": "123", "app=web": "13", "app!=web": "2", "!app": "2",
		"app=db": "-l app=db: no workload has such labels; there are shop/web (app=web), shop/api (no labels)",
		"app in": "-l app in: ",
	} {
		f := &selectorFlag{text}
		left, err := f.cases(all, objects)
		got := ""
		for _, c := range left {
			got += c.ID
		}
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || text != "app in" || !strings.HasPrefix(got, want)) {
			t.Errorf("-l %q: %s, want %s", text, got, want)
		}
	}
	if _, err := (&selectorFlag{"app=web"}).cases(nil, objects); err == nil || err.Error() != "-l app=web: the input has no workload" {
		t.Errorf("no case: %v", err)
	}
	web := endpoints.ServiceName{Namespace: "shop", Name: "web"}
	if keep, err := (&selectorFlag{"tier=front"}).services(objects); err != nil || !keep(web) || keep(endpoints.ServiceName{Namespace: "shop", Name: "other"}) {
		t.Errorf("Services: %v", err)
	}
	if _, err := (&selectorFlag{"tier=back"}).services(objects); err == nil || err.Error() != "-l tier=back: no Service has such labels; there are shop/web (tier=front)" {
		t.Errorf("Services: %v", err)
	}
}

// Where nothing can be judged that is a finding only if --fail-on not-judged asks for it; a case that loses something is one
// without being asked; a run that was interrupted has no verdict.
func TestWhatEndsWithAFinding(t *testing.T) {
	t.Parallel()
	loses := record.Case{ID: "x", Verdict: record.Drops, WithLoss: 1, RequestsLost: record.Range{Max: 5}, Runs: make([]record.Run, 3)}
	for name, c := range map[string]struct {
		sim    record.Simulation
		failOn record.Verdict
		output string
		found  bool
		said   string
	}{
		"no case":                         {record.Simulation{}, "", "text", false, ""},
		"no case, and that fails":         {record.Simulation{}, record.NotJudged, "text", true, "nothing to judge: no workload of the input is behind a Service of it"},
		"it holds":                        {record.Simulation{Cases: []record.Case{{ID: "x", Verdict: record.Holds}}}, "", "text", false, ""},
		"one of two drops":                {record.Simulation{Cases: []record.Case{{ID: "y", Verdict: record.Holds}, loses}}, "", "text", true, ""},
		"it drops, and was interrupted":   {record.Simulation{Cases: []record.Case{loses}, Interrupted: true}, "", "text", false, ""},
		"an expectation of a JSON reader": {record.Simulation{Cases: []record.Case{{ID: "x", Verdict: record.Holds, Expectation: &world.Expect{}, Unmet: []string{"lost 3"}}}}, "", "json", true, "x: not as expected: lost 3"},
	} {
		var said bytes.Buffer
		command := &simCommand{output: c.output, std: Streams{Err: &said}}
		command.limits.FailOn = c.failOn
		err := command.verdict(&c.sim)
		if errors.Is(err, errFindings) != c.found || (c.said == "") != (said.Len() == 0) || !strings.Contains(said.String(), c.said) {
			t.Errorf("%s: %v, said %q", name, err, said.String())
		}
	}
}
