package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// A Service whose selector would fit a template but for one label leads nowhere unless somebody sets that label while pods run, as that of a
// primary: one that has another value, or is nearly one of the template's, is a mistake, and so is a selector of which nothing fits.
func TestAServiceWhoseLabelIsSetLater(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ selector, want string }{ // order: each for itself
		"a label of no template":               {"{app: web, role: primary}", "role=primary"},
		"another value":                        {"{app: web, tier: back}", ""},
		"nearly a label":                       {"{app: web, teir: front}", ""},
		"two labels of no template":            {"{app: web, role: primary, zone: a}", ""},
		"nothing fits":                         {"{role: primary}", ""},
		"another app's":                        {"{app: other, role: primary}", ""},
		"two that fit, and one of no template": {"{app: web, tier: front, vault-active: 'true'}", "vault-active=true"},
		"of a workload of another namespace":   {"{app: far, role: primary}", ""},
	} {
		text := strings.Replace(altWeb, "labels: {app: web}", "labels: {app: web, tier: front}", 1) + "---\n{apiVersion: v1, kind: Service, metadata: {name: rw, namespace: shop}, spec: {selector: " + tt.selector + ", ports: [{port: 1}]}}\n---\n" +
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: far, namespace: other}, spec: {selector: {matchLabels: {app: far}}, template: {metadata: {labels: {app: far}}, spec: {containers: [{name: a, image: b}]}}}}\n"
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
		_, problems := inferKept(t, objects, Options{})
		found := false
		for i := range problems {
			if p := &problems[i]; p.Nowhere {
				found = true
				if p.SetLater != tt.want || p.Name != "shop/rw" || strings.Contains(p.Message, "no template has its label "+tt.want+": it leads nowhere unless") != (tt.want != "") {
					t.Errorf("%s: %q, %s", name, p.SetLater, p.Message)
				}
			}
		}
		if !found {
			t.Errorf("%s: it leads somewhere: %v", name, problems)
		}
	}
}

// Of several hooks whose programs take nobody knows how long that of the server is named first: it is what a reader is told to set.
func TestTheServersHookIsNamedFirst(t *testing.T) {
	t.Parallel()
	const beside = "      - name: agent\n        image: example.com/agent\n        lifecycle: {preStop: {exec: {command: [/bin/bye]}}}\n      - name: zebra\n        image: example.com/zebra\n        lifecycle: {preStop: {exec: {command: [/bin/bye]}}}\n"
	s := firstOf(t, strings.Replace(altWeb, "---\n", beside+"---\n", 1))
	const unknown = ": uniform 0s-5s (unknown program /bin/"
	if got, want := assumedValue(s, "prestop"), "web"+unknown+"drain); agent"+unknown+"bye); zebra"+unknown+"bye)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
