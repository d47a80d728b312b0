// Package schema holds the JSON Schemas that lameduck prints to what it reads and prints: every example is valid by them,
// what the parser refuses is not, and a result is.
package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
)

func compiled(t *testing.T, schema map[string]any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", decoded(t, encoded(t, schema))); err != nil {
		t.Fatal(err)
	}
	out, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decoded(t *testing.T, data []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// documents are those of kind Scenario in a file.
func documents(t *testing.T, name string, text []byte) []any {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: name, Data: text}}, manifest.Options{})
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	var out []any
	for _, o := range objects.Scenarios {
		out = append(out, decoded(t, encoded(t, o.Value)))
	}
	return out
}

func TestEveryExampleIsValidByTheSchema(t *testing.T) {
	t.Parallel()
	schema := compiled(t, scenario.Schema())
	files, err := filepath.Glob("../../examples/scenarios/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := documents(t, file, data)
		if len(found) == 0 {
			t.Errorf("%s: no Scenario", file)
		}
		for _, d := range found {
			if err := schema.Validate(d); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

func TestMistakesAreInvalidByTheSchema(t *testing.T) {
	t.Parallel()
	schema := compiled(t, scenario.Schema())
	for name, spec := range map[string]string{
		"an unknown field":         "traffics: []",
		"a duration without unit":  "warmup: '5'",
		"a rate without time":      "traffic: [{to: web, rate: '200'}]",
		"a word that is none":      "nodes: {proxy: {mode: ipvs}}",
		"two distributions in one": "latency: {watch: {constant: 5ms, uniform: [1ms, 2ms]}}",
		"a list that is a text":    "expect: {causes: {only: stale-rules}}",
		"an action there is not":   "actions: [{evaporate: node-1}]",
		"a part beyond the whole":  "apps: {web: {errors: 1.5}}",
	} {
		for _, d := range documents(t, name, []byte("apiVersion: lameduck/v1alpha1\nkind: Scenario\nspec: {"+spec+"}\n")) {
			if schema.Validate(d) == nil {
				t.Errorf("%s is valid", name)
			}
		}
	}
}

// A result of everything that a result may have: losses, causes, fixes, assumptions.
func TestAResultIsValidByTheSchema(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../examples/web-app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, _ := manifest.Load([]manifest.File{{Name: "web-app.yaml", Data: data}}, manifest.Options{})
	cases, problems := scenario.Infer(objects, scenario.Options{})
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	s, err := sweep.Run(context.Background(), cases, sweep.Options{Runs: 3, Sensitivity: true, Fixes: 1, ConfirmRuns: 5})
	if err != nil {
		t.Fatal(err)
	}
	result := encoded(t, report.Build(s))
	schema := compiled(t, report.Schema())
	if err := schema.Validate(decoded(t, result)); err != nil {
		t.Error(err)
	}
	broken := bytes.Replace(result, []byte(`"seed":1`), []byte(`"seed":"one"`), 1)
	if schema.Validate(decoded(t, broken)) == nil {
		t.Error("a seed that is a text is valid")
	}
}
