package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

func TestReferences(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: lameduck/v1alpha1
kind: Scenario
spec:
  manifests: [web.yaml, ../base/, /etc/x.yaml, 7]
  latency: {proxySync: {histogram: a.txt}, readyToRules: {histogram: {file: b.txt, cap: 1s}}}
  nodes: {overrides: [{latency: {proxySync: {histogram: c.txt}}}]}
  actions: [{apply: v2.yaml}, {drain: node-1}]
  nonsense: {histogram: no.txt}
`
	objects, problems := manifest.Load([]manifest.File{{Name: "stories/one/in.yaml", Data: []byte(text)}}, manifest.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	opts := Options{Wording: flags(), Set: []string{"latency.watch={histogram: here.txt}"}}
	var got []string
	for _, r := range References(objects.Scenarios[0], opts) {
		got = append(got, fmt.Sprintf("%s %s %s", r.Position, r.Field, r.Path))
	}
	want := []string{
		"stories/one/in.yaml:7:21 spec.actions[0].apply stories/one/v2.yaml",
		"stories/one/in.yaml:5:36 spec.latency.proxySync.histogram stories/one/a.txt",
		"stories/one/in.yaml:5:77 spec.latency.readyToRules.histogram.file stories/one/b.txt",
		"--set latency.watch={histogram: here.txt} spec.latency.watch.histogram here.txt",
		"stories/one/in.yaml:4:15 spec.manifests[0] stories/one/web.yaml",
		"stories/one/in.yaml:4:25 spec.manifests[1] stories/base",
		"stories/one/in.yaml:4:35 spec.manifests[2] /etc/x.yaml",
		"stories/one/in.yaml:6:57 spec.nodes.overrides[0].latency.proxySync.histogram stories/one/c.txt",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := References(nil, opts); len(got) != 1 || got[0].Path != "here.txt" {
		t.Errorf("without a document: %v", got)
	}
}

// A file that could not be read is an error where it is named, in the caller's words.
func TestContentThatIsNotThere(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: lameduck/v1alpha1\nkind: Scenario\nspec:\n  manifests: [gone.yaml, empty]\n"
	objects, _ := manifest.Load([]manifest.File{{Name: "-", Data: []byte(text)}}, manifest.Options{})
	opts := Options{Files: map[string]Content{"gone.yaml": {Err: "no such file or directory"}, "empty": {}}}
	scenarios, problems := parseKept(t, objects, opts)
	got := fmt.Sprint(problems)
	if len(scenarios) > 0 || !strings.Contains(got, "<stdin>:4:15: Scenario: spec.manifests[0]: gone.yaml: no such file or directory") ||
		!strings.Contains(got, "<stdin>:4:26: Scenario: spec.manifests[1]: empty: no manifests in it") {
		t.Error(got)
	}
}
