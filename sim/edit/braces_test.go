package edit

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// What is to be pasted into braces is in braces, in one line, and the manifest with it has the field: both parsers of YAML tell braces from lines.
func TestWhatIsPastedIntoBracesParses(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n"
	const path = "spec.template.spec.containers[0].lifecycle.preStop"
	for name, c := range map[string]struct{ container, at, want string }{
		"a container in braces":   {"      - {name: web, image: web:1}\n", "{", "lifecycle: {preStop: {sleep: {seconds: 5}}}"},
		"an anchor, full parser":  {"      - &c {name: web, image: web:1}\n", "&c {", "lifecycle: {preStop: {sleep: {seconds: 5}}}"},
		"a hook in braces":        {"      - name: web\n        image: web:1\n        lifecycle: {postStart: {exec: {command: [date]}}}\n", "lifecycle: {", "preStop: {sleep: {seconds: 5}}"},
		"a hook that is replaced": {"      - name: web\n        image: web:1\n        lifecycle: {preStop: {exec: {command: [sleep, \"9\"]}}}\n", "", "preStop: {sleep: {seconds: 5}}"},
	} {
		load := func(text string) *manifest.Object {
			objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
			if manifest.HasErrors(problems) || len(objects.Deployments) != 1 {
				t.Fatalf("%s: %v in\n%s", name, problems, text)
			}
			return objects.Deployments[0].Object
		}
		o := load(head + c.container)
		e := New(o, o.Value, path, Value{YAML: "{sleep: {seconds: 5}}"}, "")
		if got := strings.Join(e.YAML(), "|"); got != c.want || e.Braces != InBraces {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		pasted := strings.Replace(c.container, c.at, c.at+e.YAML()[0]+", ", 1)
		if c.at == "" { // it takes the place of what is there
			before, _, _ := strings.Cut(c.container, "preStop")
			pasted = before + e.YAML()[0] + "}\n"
		}
		d, _ := load(head + pasted).Value.(*appsv1.Deployment)
		hook := d.Spec.Template.Spec.Containers[0].Lifecycle.PreStop
		if hook == nil || hook.Sleep == nil || hook.Sleep.Seconds != 5 || hook.Exec != nil {
			t.Errorf("%s: %+v in\n%s", name, hook, pasted)
		}
	}
	lines := "      - name: web\n        image: web:1\n"
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(head + lines)}}, manifest.Options{})
	o := objects.Deployments[0].Object
	if e := New(o, o.Value, path, Value{YAML: "{sleep: {seconds: 5}}"}, ""); e.Braces != NoBraces || len(e.YAML()) != 3 {
		t.Errorf("%+v", e)
	}
}

// What is pasted into a manifest in JSON is JSON with the comma that it needs, and the manifest with it has the field.
func TestWhatIsPastedIntoJSONParses(t *testing.T) {
	t.Parallel()
	const path = "spec.template.spec.containers[0].lifecycle.preStop"
	const hook = `{exec: {command: [sh, -c, "sleep 5 && echo \"<\" 7", "8", true]}}`
	for name, c := range map[string]struct{ container, at, want string }{ // order: each for itself
		"with other fields":       {`{"name": "web"}`, `{"name`, `"lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "sleep 5 && echo \"<\" 7", "8", true]}}},`},
		"with none":               {`{"name": "web", "lifecycle": {}}`, `{}`, `"preStop": {"exec": {"command": ["sh", "-c", "sleep 5 && echo \"<\" 7", "8", true]}}`},
		"a hook that is replaced": {`{"name": "web", "lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}`, ``, `"preStop": {"exec": {"command": ["sh", "-c", "sleep 5 && echo \"<\" 7", "8", true]}}`},
	} {
		text := `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
"spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [` + c.container + `]}}}}]}`
		objects, problems := manifest.Load([]manifest.File{{Name: "web.json", Data: []byte(text)}}, manifest.Options{})
		if len(objects.Deployments) != 1 {
			t.Fatalf("%s: %v", name, problems)
		}
		o := objects.Deployments[0].Object
		e := New(o, o.Value, path, Value{YAML: hook}, "")
		got := e.YAML()
		if len(got) != 1 || got[0] != c.want || !e.JSON() || e.Line != 2 {
			t.Errorf("%s: %q, want %q; %+v", name, got, c.want, e)
			continue
		}
		pasted := strings.Replace(text, c.at, "{"+got[0]+c.at[min(1, len(c.at)):], 1)
		if c.at == "" { // it takes the place of what is there
			pasted = strings.Replace(text, `"preStop": {"sleep": {"seconds": 1}}`, got[0], 1)
		}
		if !json.Valid([]byte(pasted)) {
			t.Errorf("%s: malformed with it: %s", name, pasted)
		}
	}
	for to, want := range map[string]string{"8080": `"targetPort": 8080`, "http": `"targetPort": "http"`} { // order: each for itself
		text := `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": [{"port": 80, "targetPort": 81}]}}`
		o := loaded(t, text)
		e := New(o, o.Value, "spec.ports[0].targetPort", Value{YAML: to}, "")
		if got := strings.Join(e.YAML(), "|"); got != want || !json.Valid([]byte(strings.Replace(text, `"targetPort": 81`, got, 1))) {
			t.Errorf("in place of a number: %q, want %q", got, want)
		}
	}
	for text, want := range map[string]bool{ // order: each for itself
		"apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n":                     false,
		"{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}\n":                   false,
		`{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}`: true,
		"\"apiVersion\": v1\nkind: Service\nmetadata: {\"name\": web}\nspec: {ports: [{port: 80}]}\n":             false,
	} {
		if got := loaded(t, text).InJSON(); got != want {
			t.Errorf("%v of %s", got, text)
		}
	}
}
