package input

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx, ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`

// scenarioOf is a Scenario that restarts web.
func scenarioOf(name string) string {
	return "---\napiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: " + name + "}\nspec:\n" +
		"  traffic: [{name: a, from: pods, to: web:80, rate: 10/s}]\n  actions: [{rolloutRestart: deployment/web}]\n"
}

// asked is what comes of files: a line for each case, problem and error, and how often they were read.
func asked(opts scenario.Options, files ...manifest.File) string {
	var out []string
	opts.Wording = Wording()
	s := Source{Files: files, Load: func(files []manifest.File) (*manifest.Objects, []manifest.Problem, error) {
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
		}
		out = append(out, "load "+strings.Join(names, " "))
		objects, problems := manifest.Load(files, manifest.Options{})
		return objects, problems, nil
	}, Read: func(path string) scenario.Content {
		out = append(out, "read "+path)
		return scenario.Content{Err: "it is not there"}
	}}
	objects, problems := manifest.Load(files, manifest.Options{})
	cases, problems, err := s.Cases(objects, problems, &opts)
	if err != nil {
		out = append(out, "error "+err.Error())
	}
	for _, p := range problems {
		out = append(out, fmt.Sprint(p.Severity, " ", p))
	}
	for _, c := range cases {
		out = append(out, fmt.Sprintf("case %s, %s of %s", c.ID, c.Action, c.Workload))
	}
	return strings.Join(out, "\n")
}

// Each file with Scenarios is one input together with all files that have none, and nothing that another one has.
func TestCasesOfFiles(t *testing.T) {
	t.Parallel()
	file := func(name, text string) manifest.File { return manifest.File{Name: name, Data: []byte(text)} }
	const (
		restart = "case default/web/rollout/web:80, rolling restart of default/web"
		one     = "case one, rolloutRestart of default/web"
		both    = one + "\ncase two, rolloutRestart of default/web"
		late    = "latency.proxySync={histogram: h.txt}"
		missing = "spec.latency.proxySync.histogram: h.txt: it is not there"
	)
	rollout := []string{"rollout"}
	other := "---\n" + strings.ReplaceAll(web, "web", "api")
	for name, c := range map[string]struct { // order: each for itself
		opts  scenario.Options
		files []manifest.File
		want  string
	}{
		"manifests": {
			scenario.Options{},
			[]manifest.File{file("web.yaml", web)},
			restart + "\ncase default/web/drain/web:80, node drain of default/web",
		},
		"of one action": {scenario.Options{Actions: rollout}, []manifest.File{file("web.yaml", web)}, restart},
		"one Scenario":  {scenario.Options{}, []manifest.File{file("a.yaml", web+scenarioOf("one"))}, one},
		"two in a file": {scenario.Options{}, []manifest.File{file("a.yaml", web+scenarioOf("one")+scenarioOf("two"))}, both},
		"beside a file": {scenario.Options{}, []manifest.File{file("web.yaml", web), file("a.yaml", scenarioOf("one"))}, one},
		"two with one": {
			scenario.Options{},
			[]manifest.File{file("a.yaml", scenarioOf("one")), file("web.yaml", web), file("b.yaml", scenarioOf("two"))},
			"load a.yaml web.yaml\nload web.yaml b.yaml\n" + both,
		},
		"two of a name": {
			scenario.Options{},
			[]manifest.File{file("a.yaml", web+scenarioOf("one")), file("b.yaml", web+other+scenarioOf("two"))},
			"load a.yaml\nload b.yaml\n" + both,
		},
		"broken": {
			scenario.Options{},
			[]manifest.File{file("web.yaml", web+"  x: y\n")},
			"error web.yaml:15:3: malformed YAML: expected a key here; check the indentation of this line and those above",
		},
		"no action": {
			scenario.Options{Actions: []string{}},
			[]manifest.File{file("web.yaml", web)},
			"error --action: say which; valid here: rollout, drain, evict, scale-down, autoscaler, karpenter, pool-upgrade, shutdown, spot, crash, reboot or delete-node, or drain=NODE",
		},
		"both": {
			scenario.Options{Actions: rollout},
			[]manifest.File{file("a.yaml", web+scenarioOf("one"))},
			"error --action is for manifests: a Scenario says itself what is done (spec.actions)",
		},
		"a file is read": {
			scenario.Options{Set: []string{late}, Actions: rollout},
			[]manifest.File{file("web.yaml", web)},
			"read h.txt\nerror --set " + late + ": " + missing + "\n" + restart,
		},
		"named in a set": {
			scenario.Options{Set: []string{late}},
			[]manifest.File{file("a.yaml", web+scenarioOf("one"))},
			"read h.txt\nerror --set " + late + ": Scenario one: " + missing,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, asked(c.opts, c.files...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWordsOfFlags(t *testing.T) {
	t.Parallel()
	w := Wording()
	for got, want := range map[string]string{ // order: each for itself
		w.OptionText("nodes", "3"): "--nodes 3", w.OptionText("fixes", "false"): "--fixes=false", w.OptionText("all", "true"): "--all=true",
		w.OptionText("all", ""):         "--all",
		w.FieldText("nodes.count", "4"): "--set nodes.count=4",
		OneOf(nil):                      "", OneOf([]string{"a"}): "a", OneOf([]string{"a", "b"}): "a or b", OneOf([]string{"a", "b", "c"}): "a, b or c",
		Quoted("web-app_1./a=b:c,d@e+f%azAZ09"): "web-app_1./a=b:c,d@e+f%azAZ09",
		Quoted(""):                              "''", Quoted("a b"): "'a b'", Quoted("it's"): `'it'\''s'`, Quoted("a{b"): "'a{b'",
		Quoted("[x"): "'[x'", Quoted("`"): "'`'",
		Quoted("a\x1bb"): `$'a\x1bb'`, Quoted("a\n'\\"): `$'a\n\'\\'`,
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestGatesAndSets(t *testing.T) {
	t.Parallel()
	gates, errs := Gates(map[string]string{"B": "true", "A": "false", "D": "yes", "C": ""})
	if diff := cmp.Diff(map[string]bool{"A": false, "B": true, "C": false, "D": false}, gates); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(errs); got != "[--feature-gates C=: want true or false --feature-gates D=yes: want true or false]" {
		t.Error(got)
	}
	if err := SetTwice([]string{"a=1", "b=1", "ab=1"}); err != nil {
		t.Error(err)
	}
	if err := SetTwice([]string{"a=1", "b=2", "a=3=4"}); err == nil || err.Error() != `--set a is given twice, with "1" and "3=4"; want one of them` {
		t.Error(err)
	}
}
