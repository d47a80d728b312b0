package scenario

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// The budget of a NodePool is the least that holds at all times for consolidation. Without budgets it is another's default to say; where all
// of them are for other times or reasons there is no limit. Reference: docs/model/controllers.md 8.1 Budgets.
func TestBudgetsOfANodePool(t *testing.T) {
	t.Parallel()
	b := func(nodes string, more ...any) map[string]any {
		out := map[string]any{"nodes": nodes}
		for i := 0; i < len(more); i += 2 {
			out[fmt.Sprint(more[i])] = more[i+1]
		}
		return out
	}
	for name, c := range map[string]struct {
		budgets []any
		want    string
	}{
		"none":                     {nil, ""},
		"an empty list":            {[]any{}, ""},
		"the least":                {[]any{b("30%"), b("5"), b("20%")}, "5"},
		"for other reasons":        {[]any{b("30%"), b("0", "reasons", []any{"Drifted", "Empty"})}, "30%"},
		"for consolidation, too":   {[]any{b("30%"), b("0", "reasons", []any{"Drifted", "Underutilized"})}, "0"},
		"at other times":           {[]any{b("30%"), b("0", "schedule", "@daily", "duration", "10m")}, "30%"},
		"none that holds":          {[]any{b("0", "schedule", "@daily", "duration", "10m")}, "100%"},
		"none for these reasons":   {[]any{b("0", "reasons", []any{"Drifted"})}, "100%"},
		"a budget without a value": {[]any{map[string]any{}, b("2")}, "2"},
	} {
		spec := map[string]any{}
		if c.budgets != nil {
			spec["disruption"] = map[string]any{"budgets": c.budgets}
		}
		got, said := poolBudget(&manifest.Object{Value: map[string]any{"spec": spec}})
		if said != (c.want != "") || said && got.String() != c.want {
			t.Errorf("%s: %s, said %v", name, got, said)
		}
	}
}

// A run goes on for as long as a drain may take by its timeout; one that may take longer than can be simulated is refused.
func TestARunGoesOnForTheTimeoutOfADrain(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[string]engine.Time{"2h": 5 * engine.Hour, "5m": 70 * engine.Minute, "100h": 0} {
		text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: long}\nspec:\n  actions:\n  - {at: 5s, drain: {nodes: [node-1, node-2], timeout: " + timeout + "}}\n---\n" +
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}}}\n---\n" +
			"{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}\n"
		objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
		list, more := Parse(objects, Options{})
		if manifest.HasErrors(problems) || manifest.HasErrors(more) != (want == 0) {
			t.Errorf("%s: %v %v", timeout, problems, more)
			continue
		}
		if want > 0 && list[0].Until != want {
			t.Errorf("%s: until %s", timeout, list[0].Until.Duration())
		}
	}
}
