package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// What kubectl drain would say of pods of which the input has none, and which of them may come back to the node.
func TestThePlanOfADrainOfPodsThatAreAGuess(t *testing.T) {
	t.Parallel()
	const pod = "\n---\n{apiVersion: v1, kind: Pod, metadata: {name: solo, namespace: shop, labels: {app: solo}}, spec: {containers: [{name: c, image: c, ports: [{containerPort: 8080}]}]}}" +
		"\n---\n{apiVersion: v1, kind: Service, metadata: {name: solo, namespace: shop}, spec: {selector: {app: solo}, ports: [{port: 80, targetPort: 8080}]}}"
	with := func(spec string) string {
		return strings.Replace(altWeb, "      containers:", "      "+spec+"\n      containers:", 1)
	}
	for _, tt := range []struct{ what, text, want string }{
		{"nothing to say", altWeb, "guessed [shop/web]"},
		{"an emptyDir", with("volumes: [{name: tmp, emptyDir: {}}]"), "--delete-emptydir-data [shop/web] guessed [shop/web]"},
		{"a Pod without a controller", altWeb + pod, "--force [shop/solo] guessed [shop/web shop/solo]"},
		{"one that tolerates everything", with("tolerations: [{operator: Exists}]"), "guessed [shop/web] back [shop/web]"},
		{"one that tolerates a crash", with("tolerations: [{operator: Exists, key: node.kubernetes.io/unreachable}]"), "guessed [shop/web]"},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(tt.text)}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: []string{"drain=node-1"}})
		if manifest.HasErrors(problems) || cases[0].Drain == nil {
			t.Fatalf("%s: %v", tt.what, problems)
		}
		d := cases[0].Drain
		var got []string
		for _, r := range d.Nodes[0].Refused {
			got = append(got, fmt.Sprint(r.Flag, " ", r.Pods))
		}
		got = append(got, fmt.Sprint("guessed ", d.Guessed))
		if len(d.Back) > 0 {
			got = append(got, fmt.Sprint("back ", d.Back))
		}
		if len(d.Unwell) > 0 {
			got = append(got, fmt.Sprint("unwell ", d.Unwell))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, s, tt.want)
		}
	}
}

// What of the input cannot be meant as it stands is said, and read as if it did not stand there.
func TestWarningsOfWhatDisruptsPods(t *testing.T) {
	t.Parallel()
	pool := func(disruption, template string) string {
		return altWeb + "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {disruption: {" + disruption + "}, template: {spec: {" + template + "}}}}"
	}
	const node = "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}\n"
	pod := func(node string) string {
		return "---\n{apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: shop, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: '1', controller: true}]}," +
			" spec: {nodeName: " + node + ", containers: [{name: web}]}}\n"
	}
	for _, tt := range []struct{ what, text, want string }{
		{"a budget", pool("budgets: [{nodes: 10%}, {nodes: '1'}]", "terminationGracePeriod: 48h"), ""},
		{"no number", pool("budgets: [{nodes: '-1'}]", ""), `spec.disruption.budgets[0].nodes: "-1" is no number of nodes`},
		{"too many per cent", pool("budgets: [{nodes: 10%}, {nodes: 150%}]", ""), `spec.disruption.budgets[1].nodes: "150%" is no number of nodes`},
		{"no duration", pool("", "terminationGracePeriod: nonsense"), `"nonsense" is no duration such as 48h`},
		{"a field that is nearly one", pool("budgets: [{nodes: '1', shedule: '@daily', duration: 8h}]", ""), `spec.disruption.budgets[0].shedule: a NodePool has no shedule here, so that it does nothing: did you mean schedule?`},
		{"and elsewhere", pool("", "terminationGracePeriodd: 48h"), `spec.template.spec.terminationGracePeriodd: a NodePool has no terminationGracePeriodd here, so that it does nothing: did you mean terminationGracePeriod?`},
		{"a field of another version", pool("budgets: [{nodes: '1', crontab: x}]", "somethingElse: 3"), ""},
		{"a node that is there", altWeb + node + pod("n1"), ""},
		{"a node that is not there", altWeb + node + pod("ghost"), `spec.nodeName: there is no Node "ghost" in the input`},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(tt.text)}}, manifest.Options{})
		_, problems := inferKept(t, objects, Options{Actions: []string{"karpenter"}})
		var got []string
		for _, p := range problems {
			if strings.Contains(p.String(), "nodes") || strings.Contains(p.String(), "NodePool") || strings.Contains(p.String(), "duration") || strings.Contains(p.String(), "nodeName") {
				got = append(got, p.String())
			}
		}
		if s := strings.Join(got, "\n"); (s == "") != (tt.want == "") || !strings.Contains(s, tt.want) || len(got) > 1 {
			t.Errorf("%s: %q, want %q", tt.what, s, tt.want)
		}
	}
	text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  actions: [{at: 5s, upgradePool: {provider: gke, maxSurge: 0, maxUnavailable: 0}}]\n"
	objects, _ := manifest.Load([]manifest.File{{Name: "s.yaml", Data: []byte(text)}, {Name: "web.yaml", Data: []byte(altWeb)}}, manifest.Options{})
	if _, problems := parseKept(t, objects, Options{}); !strings.Contains(fmt.Sprint(problems), "no node could be replaced") {
		t.Errorf("%v", problems)
	}
}
