package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// How kubelets shut down is taken from a KubeletConfiguration, unless the Scenario says it. Reference: docs/model/pod-lifecycle.md 5;
// Kubernetes 1.36 pkg/kubelet/apis/config/validation, staging/src/k8s.io/kubelet/config/v1beta1.
func TestAKubeletConfiguration(t *testing.T) {
	t.Parallel()
	const file = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
	for name, c := range map[string]struct {
		config, said  string // of the Scenario's nodes
		want, assumed string
		warned        string
	}{
		"both fields": {"shutdownGracePeriod: 45s\nshutdownGracePeriodCriticalPods: 10s\n", "",
			"0:35s 2000000000:10s", "shutdownGracePeriod 45s, 10s of it for critical pods (in.yaml:3)", ""},
		"one field":    {"shutdownGracePeriod: 1m\n", "", "0:1m0s 2000000000:0s", "shutdownGracePeriod 1m0s, 0s of it for critical pods (in.yaml:3)", ""},
		"none of them": {"maxPods: 50\n", "", "", "shutdownGracePeriod 0s: pods end with their machine", ""},
		"0s":           {"shutdownGracePeriod: 0s\n", "", "", "shutdownGracePeriod 0s: pods end with their machine (in.yaml:3)", ""},
		"by priority": {"shutdownGracePeriodByPodPriority:\n- {priority: 1000, shutdownGracePeriodSeconds: 5}\n- {priority: 0, shutdownGracePeriodSeconds: 20}\n", "",
			"0:20s 1000:5s", "shutdownGracePeriod 20s from priority 0 on, 5s from priority 1000 on (in.yaml:3)", ""},
		"the Scenario says it": {"shutdownGracePeriod: 45s\n", "kubelet: {shutdownGracePeriod: 20s}", "0:20s 2000000000:0s", "", ""},
		"what no kubelet starts with": {"shutdownGracePeriod: 10s\nshutdownGracePeriodCriticalPods: 20s\n", "",
			"", "shutdownGracePeriod 0s: pods end with their machine", "it is part of shutdownGracePeriod, and may not be longer"},
		"no duration":        {"shutdownGracePeriod: soon\n", "", "", "shutdownGracePeriod 0s: pods end with their machine", `"soon" is no duration`},
		"less than a second": {"shutdownGracePeriod: 10ms\n", "", "", "shutdownGracePeriod 0s: pods end with their machine", `"10ms" is no duration`},
		"both ways": {"shutdownGracePeriod: 10s\nshutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 20}]\n", "",
			"", "shutdownGracePeriod 0s: pods end with their machine", "a kubelet takes either this or"},
		"no number":         {"shutdownGracePeriodByPodPriority: [{priority: 0}]\n", "", "", "shutdownGracePeriod 0s: pods end with their machine", "it needs a priority and"},
		"less than nothing": {"shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: -5}]\n", "", "", "shutdownGracePeriod 0s: pods end with their machine", "it needs a priority and"},
		"no whole seconds":  {"shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 1.5}]\n", "", "", "shutdownGracePeriod 0s: pods end with their machine", "it needs a priority and"},
	} {
		nodes := c.said
		if nodes != "" {
			nodes = "  nodes: {" + nodes + "}\n"
		}
		text := file + c.config + "---\n" + webAndService + "---\napiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec:\n" + nodes +
			"  actions: [{at: 10s, shutdownNode: node-1}]\n"
		objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
		scenarios, more := parseKept(t, objects, Options{})
		problems = append(problems, more...)
		if manifest.HasErrors(problems) || len(scenarios) != 1 {
			t.Fatalf("%s: %v", name, problems)
		}
		var groups []string
		for _, g := range scenarios[0].Shutdown {
			groups = append(groups, g.String())
		}
		assumed := ""
		for _, a := range scenarios[0].Assumptions {
			if a.ID == "kubelet" {
				assumed = a.Value
				if a.Basis == "manifest" && triesKubelets(Alternatives(scenarios[0])) {
					t.Errorf("%s: other values are tried, though it is said", name)
				}
			}
		}
		if got := strings.Join(groups, " "); got != c.want || assumed != c.assumed {
			t.Errorf("%s: %q by %q, want %q by %q", name, got, assumed, c.want, c.assumed)
		}
		if warned := fmt.Sprint(problems); c.warned != "" && !strings.Contains(warned, c.warned) || c.warned == "" && strings.Contains(warned, "Kubelet") {
			t.Errorf("%s: %s", name, warned)
		}
	}
}

// webAndService is a Deployment and its Service.
const webAndService = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web, ports: [{containerPort: 8080}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
`

func triesKubelets(alternatives []Alternative) bool {
	for _, a := range alternatives {
		if a.ID == "kubelet" {
			return true
		}
	}
	return false
}
