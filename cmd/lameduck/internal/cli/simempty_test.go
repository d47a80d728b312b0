package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Where nothing of an input is simulated, its user is told why.
func TestWhyNothingIsSimulated(t *testing.T) {
	t.Parallel()
	foreign := func(kinds ...string) (text string) {
		for _, kind := range kinds {
			text += "---\n{apiVersion: example.com/v1, kind: " + kind + ", metadata: {name: a}}\n"
		}
		return text
	}
	const old = "{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: web}, spec: {}}\n"
	const service = "---\n{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}\n"
	for text, want := range map[string]string{
		"":       "hint: the input is empty: no Kubernetes object is in it; a Deployment and its Service are needed",
		service:  "",
		"# only": "hint: the input is empty: no Kubernetes object is in it; a Deployment and its Service are needed",
		"---\n{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization}\n": "",
		foreign("Foo"): "hint: nothing of the input is simulated: 1 Foo (example.com/v1); a Deployment and its Service are needed",
		foreign("A", "B", "C", "D"): "hint: nothing of the input is simulated: 1 A (example.com/v1), 1 B (example.com/v1), 1 C (example.com/v1), 1 D (example.com/v1); " +
			"a Deployment and its Service are needed",
		foreign("A", "B", "C", "D", "E", "F"): "hint: nothing of the input is simulated: 1 A (example.com/v1), 1 B (example.com/v1), 1 C (example.com/v1), 1 D (example.com/v1), 2 more kinds; " +
			"a Deployment and its Service are needed",
		foreign("Foo") + service: "",
		old:                      "hint: nothing of the input is simulated: 1 Deployment (extensions/v1beta1); a Deployment and its Service are needed",
		old + service:            "hint: nothing is simulated of Deployment default/web: skipped because of the apiVersion; valid for these kinds is apps/v1",
		old + "---\n" + strings.Replace(old, "web", "api", 1) + service: "hint: nothing is simulated of Deployment default/web, Deployment default/api: skipped because of the apiVersion; valid for these kinds is apps/v1",
		strings.Replace(old, "Deployment", "Role", 1) + service:         "",
	} {
		objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
		var said bytes.Buffer
		c := &simCommand{std: Streams{Err: &said}, in: &input{}}
		c.nothing(objects, problems)
		if got := strings.Join(strings.Fields(said.String()), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		said.Reset()
		c.in.cluster = &clusterInput{}
		if c.nothing(objects, problems); said.Len() > 0 {
			t.Errorf("%q of a cluster: %q", text, said.String())
		}
	}
}

// A Scenario without a request passes nowhere.
func TestAScenarioInWhichNobodyAsksPassesNowhere(t *testing.T) {
	t.Parallel()
	scenario := func(expect string) string {
		return "sim -f " + inFile(t, "s.yaml", "{apiVersion: lameduck/v1alpha1, kind: Scenario, metadata: {name: quiet}, spec: {traffic: [], actions: [{crashNode: node-1}]"+expect+"}}\n---\n"+small)
	}
	says(t, 0, scenario(""), "NOT JUDGED quiet, crashNode: nobody asks: no client sent a request in any run, so that none could be lost.")
	says(t, 1, scenario("")+" --fail-on not-judged")
	says(t, 0, scenario("")+" -o junit", `skipped="1"`, `<skipped message="nobody asks: `)
	expected := scenario(", expect: {failed: {max: 0}}")
	says(t, 1, expected, "Not as the Scenario expects: requests: none was sent in any run, so that nothing could be lost.")
	says(t, 1, expected+" -o junit", `failures="1"`)
}
