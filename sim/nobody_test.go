package sim

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// parsed is the one Scenario of a text.
func parsed(t *testing.T, text string) *world.Scenario {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
	scenarios, more := scenario.Parse(objects, scenario.Options{})
	if problems = append(problems, more...); manifest.HasErrors(problems) || len(scenarios) != 1 {
		t.Fatal(len(scenarios), problems)
	}
	return scenarios[0]
}

const oneDeployment = `
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}},
 spec: {containers: [{name: web, image: "example.com/web", ports: [{containerPort: 8080}], readinessProbe: {httpGet: {path: /, port: 8080}}}]}}}}
---
{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {type: LoadBalancer, %s ports: [{port: 80, targetPort: 8080, nodePort: 30080}]}}
---
{apiVersion: lameduck/v1alpha1, kind: Scenario, metadata: {name: s}, spec: {kubernetes: {version: "%s"}, until: 60s,
 traffic: [{name: a, to: "%s:80", from: pods, rate: 20/s}, {name: b, to: "%s:80", from: external, rate: 20/s}], actions: [{at: 12s, %s}]}}
`

// A Service may have no workload in the manifests, or no selector at all: whoever asks it gets no answer, in any run.
func TestEveryRequestToAServiceWithoutWorkloadFails(t *testing.T) {
	t.Parallel()
	for _, selector := range []string{"selector: {app: other},", ""} {
		sc := parsed(t, fmt.Sprintf(oneDeployment, "other", selector, "1.36", "other", "other", "rolloutRestart: deployment/web"))
		res, err := Run(sc, 1)
		if err != nil {
			t.Fatalf("selector %q: %v", selector, err)
		}
		for _, s := range res.Streams {
			if s.Total == 0 || s.Failed != s.Total {
				t.Errorf("selector %q: of %d requests of %s %d failed, want all", selector, s.Total, s.Name, s.Failed)
			}
		}
	}
}

// With publishNotReadyAddresses slices of 1.19 to 1.21 had terminating pods, as ready ones, and kube-proxy sent connections there
// until they were gone (ShouldPodBeInEndpoints, Kubernetes 1.21): no version's rules and its slices disagree.
func TestAnOldVersionPublishesPodsThatTerminate(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.19", "1.20", "1.21", "1.22", "1.36"} {
		sc := parsed(t, fmt.Sprintf(oneDeployment, "web", "selector: {app: web}, publishNotReadyAddresses: true,", version, "web", "web", "scale: {of: deployment/web, replicas: 0}"))
		for seed := range uint64(5) {
			if _, err := Run(sc, seed+1); err != nil {
				t.Errorf("%s: %v", version, err)
			}
		}
	}
}
