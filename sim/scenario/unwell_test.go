package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// A pod that is not ready is told with the reason that one of its containers waits, where it says one.
func TestWhatIsWrongWithAPod(t *testing.T) {
	t.Parallel()
	runs := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	waits := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
	}
	for name, c := range map[string]struct {
		node   string
		states []corev1.ContainerState
		want   string
	}{
		"without a node":     {"", []corev1.ContainerState{waits("ContainerCreating")}, "is Pending"},
		"nothing is known":   {"node-1", nil, "is not Ready"},
		"it runs":            {"node-1", []corev1.ContainerState{runs}, "is not Ready"},
		"it has ended":       {"node-1", []corev1.ContainerState{{Terminated: &corev1.ContainerStateTerminated{}}}, "is not Ready"},
		"no reason":          {"node-1", []corev1.ContainerState{waits("")}, "is not Ready"},
		"the second of them": {"node-1", []corev1.ContainerState{runs, waits(""), waits("CrashLoopBackOff")}, "is not Ready (CrashLoopBackOff)"},
	} {
		p := &homed{Typed: manifest.Typed[*corev1.Pod]{Value: &corev1.Pod{Spec: corev1.PodSpec{NodeName: c.node}}}}
		for _, s := range c.states {
			p.Value.Status.ContainerStatuses = append(p.Value.Status.ContainerStatuses, corev1.ContainerStatus{State: s})
		}
		if got := unwellWords(p); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The failure policy of a webhook is that of the configuration which names its Service and its port, and no other's.
func TestWhoseFailurePolicyItIs(t *testing.T) {
	t.Parallel()
	objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 443}]}\n")}}, manifest.Options{})
	if len(objects.Services) != 1 {
		t.Fatal("no Service")
	}
	s := &subject{service: objects.Services[0], port: &corev1.ServicePort{Port: 443}}
	for name, c := range map[string]struct {
		webhooks []webhook
		want     string
	}{
		"none":            {nil, ""},
		"its own":         {[]webhook{{service: "default/web", port: 443, failurePolicy: "Fail"}}, "Fail"},
		"another port":    {[]webhook{{service: "default/web", port: 8443, failurePolicy: "Fail"}}, ""},
		"another Service": {[]webhook{{service: "default/api", port: 443, failurePolicy: "Fail"}}, ""},
		"the last":        {[]webhook{{service: "default/api", port: 443, failurePolicy: "Fail"}, {service: "default/web", port: 8443, failurePolicy: "Fail"}, {service: "default/web", port: 443, failurePolicy: "Ignore"}}, "Ignore"},
	} {
		if got := (&inventory{webhooks: c.webhooks}).failurePolicy(s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What is written for a place is read as that place, whatever its names are.
func TestAPathIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"a", "a.b", "a[0]", "]", `"`, `\`, "ä", " ", "", "\n", "\x1b", "a/b-c", "[\"x\"]", "\xff"} {
		want := []step{{"spec", -1}, {"apps", -1}, {key, -1}, {"", 3}, {"rate", -1}}
		path := child(item(child(child("spec", "apps"), key), 3), "rate")
		if got, err := splitPath(path); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is written %s, and read %v, %v", key, path, got, err)
		}
	}
}

// A webhook keeps Pods from being made where its failurePolicy is Fail, its rules name the creation of Pods, and no selector leaves some out.
// Reference: docs/model/controllers.md 3 Webhooks.
func TestWhichWebhooksKeepPodsFromBeingMade(t *testing.T) {
	t.Parallel()
	const configuration = `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks: [{name: w.example.com, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {service: {name: SERVICE, namespace: shop, port: 80}}, rules: [{apiGroups: [""], apiVersions: [v1], operations: [OPERATION], resources: [pods]}]MORE}]
`
	for _, tt := range []struct{ service, operation, more, want string }{
		{"web", "CREATE", "", "[shop/web]"},
		{"web", "'*'", ", failurePolicy: Fail", "[shop/web]"},
		{"web", "UPDATE", "", "[]"},
		{"web", "CREATE", ", failurePolicy: Ignore", "[]"},
		{"web", "CREATE", ", namespaceSelector: {matchLabels: {a: b}}", "[]"},
		{"api", "CREATE", "", "[]"},
	} {
		text := altWeb + strings.NewReplacer("SERVICE", tt.service, "OPERATION", tt.operation, "MORE", tt.more).Replace(configuration)
		cases, problems := casesIn(t, text, Options{Actions: []string{"drain"}})
		if len(cases) != 1 {
			t.Fatal(problems)
		}
		var services []string
		for _, v := range cases[0].Scenario.Vetoes {
			services = append(services, v.Service)
			if v.Path != "webhooks[0]" || v.Object == nil || v.Object.Name != "w" {
				t.Errorf("%+v: %s of %v", tt, v.Path, v.Object)
			}
		}
		if got := fmt.Sprint(services); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
		remedies := WithOwnPodsUnasked(cases[0].Scenario, "shop/web")
		if len(remedies) != len(services) || len(services) > 0 && len(remedies[0].Scenario.Vetoes) > 0 {
			t.Errorf("%+v: %d remedies", tt, len(remedies))
		}
	}
}
