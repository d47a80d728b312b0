package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// spotCase is the notice for the node of the web, told to shut down by its cloud.
func spotCase(t *testing.T, action string, opts Options) *world.Scenario {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(altWeb)}}, manifest.Options{})
	opts.Actions = []string{action}
	cases, more := inferKept(t, objects, opts)
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || len(cases) != 1 {
		t.Fatalf("%d cases, %v %v", len(cases), problems, more)
	}
	return cases[0].Scenario
}

// kubeletOf is what a Scenario takes for granted of its kubelets, and the other values that are tried.
func kubeletOf(s *world.Scenario) (assumed bool, others []string) {
	assumed = slices.ContainsFunc(s.Assumptions, func(a world.Assumption) bool { return a.ID == "kubelet" })
	for _, a := range Alternatives(s) {
		if a.ID == "kubelet" {
			others = append(others, a.Value)
		}
	}
	return assumed, others
}

// The notice is that of whose cloud it is, and so is what kubelets of its spot machines are set to. Whether they end their pods decides what
// a shutdown loses: where nobody says it the other is tried. Reference: docs/model/pod-lifecycle.md 5 Spot.
func TestSpotMachinesOfEachCloud(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	for _, c := range []struct {
		action, env, set string
		notice           engine.Time
		sudden, shuts    bool
		others           []string
	}{
		{"spot", "", "", 120 * sec, false, false, []string{"shutdownGracePeriod 30s"}},
		{"spot", "eks", "", 120 * sec, false, false, []string{"shutdownGracePeriod 30s"}},
		{"spot", "aks", "", 30 * sec, false, false, []string{"shutdownGracePeriod 30s"}},
		{"spot", "gke", "", 30 * sec, true, true, []string{"shutdownGracePeriod 0s"}},
		{"spot", "gke", "0s", 30 * sec, true, false, nil},
		{"spot", "gke", "60s", 30 * sec, true, true, nil},
		{"shutdown", "gke", "", 0, false, false, []string{"shutdownGracePeriod 30s"}},
		{"shutdown", "", "0s", 0, false, false, nil},
		{"rollout", "gke", "", 0, false, false, nil},
	} {
		opts := Options{Env: c.env}
		if c.set != "" {
			opts.Set = []string{"nodes.kubelet.shutdownGracePeriod=" + c.set}
		}
		s := spotCase(t, c.action, opts)
		o, _ := s.Actions[0].Operation.(world.SpotNotice)
		if o.Notice != c.notice || o.Sudden != c.sudden || (len(s.Shutdown) > 0) != c.shuts {
			t.Errorf("%s, %s, %s: %+v, %v", c.action, c.env, c.set, o, s.Shutdown)
		}
		if assumed, others := kubeletOf(s); assumed != (c.others != nil) || !slices.Equal(others, c.others) {
			t.Errorf("%s, %s, %s: assumed %v, others %v", c.action, c.env, c.set, assumed, others)
		}
	}
}

// Whose cloud it is, is seen by the labels of nodes that pods ask for, too, and by what only one cloud reads.
func TestWhoseNodesPodsAskFor(t *testing.T) {
	t.Parallel()
	for add, want := range map[string]string{
		"nodeSelector: {cloud.google.com/gke-spot: 'true'}":                        "30s by cloud.google.com/gke-spot, which Deployment web asks of its nodes",
		"tolerations: [{key: kubernetes.azure.com/scalesetpriority, value: spot}]": "30s",
		"nodeSelector: {eks.amazonaws.com/capacityType: SPOT}":                     "2m0s",
		"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: cloud.google.com/gke-nodepool, operator: Exists}]}]}}}":  "30s by cloud.google.com/gke-nodepool, which Deployment web asks of its nodes",
		"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: cloud.google.com/gke-spot, operator: Exists}]}}]}}": "30s by cloud.google.com/gke-spot, which Deployment web asks of its nodes",
		"nodeSelector: {example.com/spot: 'true'}": "2m0s",
		"config": "30s by BackendConfig web",
	} {
		text := strings.Replace(altWeb, "      containers:", "      "+add+"\n      containers:", 1)
		if add == "config" {
			text = altWeb + "\n---\n{apiVersion: cloud.google.com/v1, kind: BackendConfig, metadata: {name: web}, spec: {}}\n"
		}
		cases, problems := inferText(t, text, Options{Actions: []string{"spot"}})
		if manifest.HasErrors(problems) || len(cases) != 1 {
			t.Fatalf("%s: %v", add, problems)
		}
		s := cases[0].Scenario
		o, _ := s.Actions[0].Operation.(world.SpotNotice)
		got := o.Notice.Duration().String()
		for _, a := range s.Assumptions {
			if _, by, ok := strings.Cut(a.Value, "machines, by "); ok && a.ID == "kubelet" {
				got += " by " + by
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", add, got, want)
		}
	}
}

// A kubelet that goes by priorities is not tried where the pods' is not known, nor taken for granted.
func TestAKubeletThatGoesByUnknownPriorities(t *testing.T) {
	t.Parallel()
	s := spotCase(t, "shutdown", Options{})
	s.Workloads[0].Template().Spec.PriorityClassName = "mine"
	if _, others := kubeletOf(s); others != nil {
		t.Error(others)
	}
}
