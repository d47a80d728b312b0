package edit

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

const service = `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  ports:
  - port: 80 # to the world
`

func loaded(t *testing.T, text string) *manifest.Object {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	if manifest.HasErrors(problems) || len(objects.Services) != 1 {
		t.Fatalf("%v", problems)
	}
	return objects.Services[0].Object
}

// What is to be pasted has the fields above that are missing, as few levels of braces as a person would write, and what is added.
func TestAnEditPrintsItself(t *testing.T) {
	t.Parallel()
	o := loaded(t, service)
	const config = "{kind: BackendConfig, metadata: {name: web}, spec: {connectionDraining: {drainingTimeoutSec: 10}}}"
	for name, c := range map[string]struct { // order: each for itself
		path, to, from string
		more           func(*Edit)
		want           string
	}{
		"a number that is there":     {"spec.ports[0].port", "81", "80", nil, ""},
		"a number that is not there": {"spec.ports[0].nodePort", "30001", "", nil, "nodePort: 30001"},
		"a block that is not there":  {"spec.sessionAffinityConfig.clientIP", "{timeoutSeconds: 9}", "", nil, "sessionAffinityConfig:|  clientIP:|    timeoutSeconds: 9"},
		"a block with braces in it":  {"spec.sessionAffinityConfig", "{clientIP: {timeoutSeconds: 9}}", "", nil, "sessionAffinityConfig:|  clientIP: {timeoutSeconds: 9}"},
		"a list":                     {"spec.externalIPs", `[10.0.0.1, "10.0.0.2"]`, "", nil, `externalIPs: [10.0.0.1, "10.0.0.2"]`},
		"a list of nothing":          {"spec.externalIPs", "[]", "", nil, "externalIPs: []"},
		"a list of blocks":           {"spec.ports", "[{port: 80}, {port: 81, name: b}]", "80", func(e *Edit) { e.At, e.From = "spec", Value{YAML: "80"} }, "ports:|  - port: 80|  - port: 81|    name: b"},
		"a script of lines":          {"spec.externalIPs", `[sh, -c, "a\nb: c"]`, "", nil, "externalIPs:|  - sh|  - -c|  - |-|    a|    b: c"},
		"a script with its end":      {"metadata.annotations", `{run: "a\nb\n", of: "a line\n"}`, "", nil, `annotations:|  run: ||    a|    b|  of: "a line\n"`},
		"a text in place of another": {"metadata.name", "api", "web", nil, ""},
		"a key":                      {`metadata.labels["a.b/c"]`, `'{"d": "e"}'`, "", nil, `labels:|  a.b/c: '{"d": "e"}'`},
		"to be merged":               {"metadata.name", "api", "web", func(e *Edit) { e.Merge = true }, "metadata:|  name: api"},
		"with another object": {"metadata.name", "api", "web", func(e *Edit) { e.With.YAML = config },
			"kind: BackendConfig|metadata: {name: web}|spec:|  connectionDraining: {drainingTimeoutSec: 10}"},
		"with an object of many words": {"metadata.name", "api", "web", func(e *Edit) { e.With.YAML = "{kind: X, spec: {a: " + strings.Repeat("x", 60) + ", b: {c: d, e: f}}}" },
			"kind: X|spec:|  a: " + strings.Repeat("x", 60) + "|  b: {c: d, e: f}"},
		"merged, with another": {"metadata.name", "api", "web", func(e *Edit) { e.Merge, e.With.YAML = true, "{kind: X}" }, "metadata:|  name: api|---|kind: X"},
	} {
		e := New(o, o.Value, c.path, Value{YAML: c.to}, "")
		if c.more != nil {
			c.more(&e)
		}
		if got := strings.Join(e.YAML(), "|"); got != c.want || e.From.String() != c.from || e.To.String() != c.to || e.Line == 0 || e.Kind != "Service" {
			t.Errorf("%s: %q, want %q; %+v", name, got, c.want, e)
		}
	}
	e := New(nil, o.Value, "spec.ports[0].port", Value{YAML: "{a: b}"}, "eighty")
	if e.YAML() != nil || e.From != (Value{YAML: "80", Words: "eighty"}) {
		t.Errorf("without a manifest: %+v", e)
	}
}

// An edit changes its field and makes what is missing above it. All else of the object is the same afterwards.
func TestAnEditChangesAnObject(t *testing.T) {
	t.Parallel()
	four := int32(4)
	deployment := func(change func(*appsv1.Deployment)) *appsv1.Deployment {
		d := &appsv1.Deployment{}
		d.Name, d.Labels = "web", map[string]string{"a": "b"}
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", LivenessProbe: &corev1.Probe{PeriodSeconds: 5}}, {Name: "log"}}
		if change != nil {
			change(d)
		}
		return d
	}
	for _, c := range []struct {
		path, to string
		want     func(*appsv1.Deployment)
	}{
		{"spec.replicas", "4", func(d *appsv1.Deployment) { d.Spec.Replicas = &four }},
		{"spec.strategy.type", "Recreate", func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }},
		{`metadata.labels["c.d/e"]`, "f", func(d *appsv1.Deployment) { d.Labels["c.d/e"] = "f" }},
		{`metadata.annotations["c.d/e"]`, "'1'", func(d *appsv1.Deployment) { d.Annotations = map[string]string{"c.d/e": "1"} }},
		{"spec.template.spec.containers[1].lifecycle.preStop", "{sleep: {seconds: 4}}", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[1].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 4}}}
		}},
		{"spec.template.spec.containers[0].livenessProbe", "{failureThreshold: 4}", func(d *appsv1.Deployment) { // what it had is gone
			d.Spec.Template.Spec.Containers[0].LivenessProbe = &corev1.Probe{FailureThreshold: 4}
		}},
		{"spec.template.spec.containers[0].livenessProbe.exec.command", `[cat, "4"]`, func(d *appsv1.Deployment) { // of an embedded type
			d.Spec.Template.Spec.Containers[0].LivenessProbe.Exec = &corev1.ExecAction{Command: []string{"cat", "4"}}
		}},
	} {
		got, e := deployment(nil), Edit{Path: c.path, To: Value{YAML: c.to}}
		if err := e.Apply(got); err != nil {
			t.Errorf("%s: %v", c.path, err)
		}
		if diff := cmp.Diff(deployment(c.want), got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.path, diff)
		}
	}
	config := map[string]any{"kind": "X", "spec": map[string]any{"a": int64(1)}}
	e := Edit{Path: "spec.draining.seconds", To: Value{YAML: "10"}}
	if err := e.Apply(&config); err != nil {
		t.Error(err)
	}
	want := map[string]any{"kind": "X", "spec": map[string]any{"a": int64(1), "draining": map[string]any{"seconds": 10.0}}}
	if diff := cmp.Diff(want, config); diff != "" || Read(config, e.Path, "") != (Value{YAML: "10"}) {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A port or a Namespace may be called what is a number or a bool to YAML.
func TestANameIsReadAsAName(t *testing.T) {
	t.Parallel()
	words := map[string]string{"http": "http", "1e3": `"1e3"`, "": `""`, "web-2": "web-2"}
	for _, s := range []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"} { // YAML 1.1 has a bool or nothing in each, small or large
		words[s], words[strings.ToUpper(s)] = strconv.Quote(s), strconv.Quote(strings.ToUpper(s))
	}
	for name, want := range words { // order: each for itself
		d, e := &appsv1.Deployment{}, Edit{Path: `metadata.labels["a"]`, To: Value{YAML: Word(name)}}
		if err := e.Apply(d); err != nil || d.Labels["a"] != name || Word(name) != want {
			t.Errorf("%q: %s, %v, %v", name, Word(name), d.Labels, err)
		}
	}
}

// Letters may stand in front of a name; in front of all else of ASCII there are quotes, and what is in them is read as it was.
func TestANameIsInQuotesUnlessItBeginsWithALetter(t *testing.T) {
	t.Parallel()
	for c := byte(' '); c <= '~'; c++ {
		name := string(c) + "eb"
		got, letter := Word(name), 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if (got == name) != letter {
			t.Errorf("%q is %s", name, got)
		}
		var back string
		if err := yaml.Unmarshal([]byte(got), &back); err != nil || back != name {
			t.Errorf("%s is read as %q, %v", got, back, err)
		}
	}
}

// What an object cannot have is an error that names the path, and no silence.
func TestAnEditThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct{ to, want string }{ // order: each for itself
		"spec.replica":                           {"4", "spec.replica: v1.DeploymentSpec has no replica"},
		"spec.template.spec.nodes[0]":            {"4", "spec.template.spec.nodes[0]: v1.PodSpec has no nodes"},
		"spec.template.spec.containers[0].image": {"x", "spec.template.spec.containers[0].image: []v1.Container has no [0]"},
		"spec.replicas":                          {"many", "spec.replicas: json: cannot unmarshal string into Go value of type int32"},
		"spec.strategy":                          {"{kind: x}", `spec.strategy: json: unknown field "kind"`},
		"spec.paused":                            {"{", "spec.paused: yaml:"},
	} {
		d, e := &appsv1.Deployment{}, Edit{Path: path, To: Value{YAML: c.to}}
		if err := e.Apply(d); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		if got := Read(d, path, ""); path != "spec.strategy" && path != "spec.paused" && got != (Value{}) {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// A list has items and no fields: a path that leaves the number out is refused, and does not mean the first.
func TestAPathThroughAListHasANumber(t *testing.T) {
	t.Parallel()
	d := &appsv1.Deployment{}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: "example.com/app:1"}}
	e := Edit{Path: "spec.template.spec.containers.image", To: Value{YAML: "x"}}
	if err := e.Apply(d); err == nil || !strings.Contains(err.Error(), "[]v1.Container has no [image]") || d.Spec.Template.Spec.Containers[0].Image != "example.com/app:1" {
		t.Errorf("%v, %+v", err, d.Spec.Template.Spec.Containers)
	}
}

// An object that is added stands behind all others of its file.
func TestTextAddsAnObject(t *testing.T) {
	t.Parallel()
	o := loaded(t, service)
	e := New(o, o.Value, `metadata.annotations["a/b"]`, Value{YAML: `'{"default": "web"}'`}, "")
	e.Merge, e.With.YAML = true, "{kind: BackendConfig, spec: {seconds: 1}}"
	want := strings.Replace(service, "  namespace: shop\n", "  namespace: shop\n  annotations:\n    a/b: '{\"default\": \"web\"}'\n", 1) +
		"---\nkind: BackendConfig\nspec: {seconds: 1}\n"
	if got, err := Text([]byte(service), []Edit{e}); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(got)))
	}
	alone := Edit{File: "web.yaml", Kind: "BackendConfig", With: e.With} // no field is changed
	if got, err := Text([]byte(service), []Edit{alone}); err != nil || string(got) != service+"---\nkind: BackendConfig\nspec: {seconds: 1}\n" {
		t.Errorf("%v\n%s", err, got)
	}
	if lines := alone.YAML(); len(lines) != 2 {
		t.Errorf("%q", lines)
	}
}
