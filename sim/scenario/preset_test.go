package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// All presets with every field, its source and how far it is known.
func TestPresets(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, p := range Presets() {
		fmt.Fprintf(&b, "%s (family %s): %s", p.ID, p.Family, p.What)
		if p.Layer7() {
			b.WriteString("; layer 7")
		}
		b.WriteString("\n")
		for _, f := range p.Fields {
			fmt.Fprintf(&b, "  %-17s %-20s %-9s %s\n", f.Name, f.Value, f.Status, f.Source)
		}
	}
	golden.Compare(t, "testdata/presets.golden", b.String(), *update)
}

func TestAFamilyHasARowForEachPolicy(t *testing.T) {
	t.Parallel()
	for _, name := range familyNames() {
		for _, policy := range []corev1.ServiceExternalTrafficPolicy{policyLocal, policyCluster} {
			if p, ok := presetFor(name, policy); !ok || p.Family != name || !p.fits(policy) {
				t.Errorf("%s for %s is %s, %t", name, policy, p.ID, ok)
			}
		}
	}
	if _, ok := presetFor("f5", policyLocal); ok {
		t.Error("there is no f5")
	}
}

// The first row of the table that matches says which load balancer it is.
// Reference: docs/model/simulator.md 5.2.
func TestEvidenceOfALoadBalancer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ meta, spec, rest, env, want string }{ // order: each for itself
		"nothing": {"", "", "", "", ""},
		"an address in the status is no evidence":       {"", "", "status: {loadBalancer: {ingress: [{ip: 203.0.113.7}]}}", "", ""},
		"the hostname of an NLB":                        {"", "", "status: {loadBalancer: {ingress: [{hostname: a-0123.elb.eu-west-1.amazonaws.com}]}}", "", "aws-nlb-instance inferred aws-nlb-ip"},
		"the hostname of a classic load balancer":       {"", "", "status: {loadBalancer: {ingress: [{hostname: a-0123.eu-west-1.elb.amazonaws.com}]}}", "", "aws-classic inferred"},
		"a hostname that only looks like one":           {"", "", "status: {loadBalancer: {ingress: [{hostname: elb.example.com}]}}", "", ""},
		"ip targets":                                    {"service.beta.kubernetes.io/aws-load-balancer-nlb-target-type: ip", "", "", "", "aws-nlb-ip inferred"},
		"instance targets":                              {"service.beta.kubernetes.io/aws-load-balancer-nlb-target-type: instance", "", "", "", "aws-nlb-instance inferred"},
		"type external":                                 {"service.beta.kubernetes.io/aws-load-balancer-type: external", "", "", "", "aws-nlb-instance inferred aws-nlb-ip"},
		"type nlb-ip":                                   {"service.beta.kubernetes.io/aws-load-balancer-type: nlb-ip", "", "", "", "aws-nlb-ip inferred"},
		"the class of the AWS Load Balancer Controller": {"", "loadBalancerClass: service.k8s.aws/nlb", "", "", "aws-nlb-instance inferred aws-nlb-ip"},
		"type nlb":                                      {"service.beta.kubernetes.io/aws-load-balancer-type: nlb", "", "", "", "aws-nlb-in-tree inferred"},
		"type nlb goes before the hostname, which does not tell them apart": {"service.beta.kubernetes.io/aws-load-balancer-type: nlb", "", "status: {loadBalancer: {ingress: [{hostname: a-0123.elb.eu-west-1.amazonaws.com}]}}", "", "aws-nlb-in-tree inferred"},
		"any other annotation of AWS":                                       {"service.beta.kubernetes.io/aws-load-balancer-internal: \"true\"", "", "", "", "aws-classic inferred"},
		"GKE internal":                                                      {"networking.gke.io/load-balancer-type: Internal", "", "", "", "gke-l4 inferred ?gke-legacy-internal"},
		"GKE with backend services":                                         {"cloud.google.com/l4-rbs: enabled", "", "", "", "gke-l4 inferred"},
		"GKE by an annotation for another purpose":                          {"cloud.google.com/neg: '{}'", "", "", "", "gke-l4 inferred ?gke-legacy-external"},
		"GKE by class":                                                      {"", "loadBalancerClass: networking.gke.io/l4-regional-external", "", "", "gke-l4 inferred"},
		"Azure":                                                             {"service.beta.kubernetes.io/azure-load-balancer-internal: \"true\"", "", "", "", "azure-standard inferred"},
		"MetalLB by annotation":                                             {"metallb.io/address-pool: a", "", "", "", "metallb-l2 inferred ?metallb-bgp"},
		"MetalLB by its older annotation":                                   {"metallb.universe.tf/address-pool: a", "", "", "", "metallb-l2 inferred ?metallb-bgp"},
		"MetalLB by class":                                                  {"", "loadBalancerClass: metallb.io/metallb", "", "", "metallb-l2 inferred ?metallb-bgp"},
		"a node of a pool of GKE":                                           {"", "", "---\n{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {cloud.google.com/gke-nodepool: a}}}", "", "gke-l4 inferred ?gke-legacy-external"},
		"a node of a pool of AKS":                                           {"", "", "---\n{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.azure.com/agentpool: a}}}", "", "azure-standard inferred"},
		"a node of AWS":                                                     {"", "", "node aws:///eu-west-1a/i-0123", "", "aws-classic inferred ?aws-nlb-instance"},
		"a node of Google":                                                  {"", "", "node gce://project/zone/n", "", "gke-l4 inferred ?gke-legacy-external"},
		"a node of Azure":                                                   {"", "", "node azure:///subscriptions/x", "", "azure-standard inferred"},
		"a node of kind":                                                    {"", "", "node kind://docker/kind/kind-worker", "", "kind inferred"},
		"a node of somebody else":                                           {"", "", "node hcloud://7", "", ""},
		"an annotation goes before the node":                                {"metallb.io/address-pool: a", "", "node aws:///eu-west-1a/i-0123", "", "metallb-l2 inferred ?metallb-bgp"},
		"an environment":                                                    {"", "", "", "aks", "azure-standard preset"},
		"an environment of which the load balancer is not known": {"", "", "", "kubeadm", ""},
		"a node goes before the environment":                     {"", "", "node kind://docker/kind/kind-worker", "aks", "kind inferred"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc, nodes := evidenceInput(t, tt.meta, tt.spec, tt.rest)
			env, _ := environmentNamed(tt.env)
			f := findBalancer(svc, nodes, env, nil)
			if got := strings.TrimSpace(strings.Join(append([]string{f.name, f.basis}, guesses(f.name, f.others, f.families)...), " ")); got != tt.want {
				t.Errorf("got %q (%s), want %q", got, f.why, tt.want)
			}
			if f.name != "" && f.why == "" {
				t.Error("it does not say why")
			}
			for _, name := range slices.Concat(f.others, f.families, unknownFamilies()) {
				if p, ok := presetFor(name, policyCluster); !ok || p.Layer7() || p.Family != name {
					t.Errorf("%s is no family", name)
				}
			}
		})
	}
}

// guesses lists what a load balancer might be beside name: with a "?" where that is as likely.
func guesses(name string, others, families []string) []string {
	out := slices.Clone(others)
	for _, family := range families {
		if family != name {
			out = append(out, "?"+family)
		}
	}
	return out
}

// evidenceInput is a Service of type LoadBalancer, with an annotation, a line of its spec, and
// either its status or the providerID of a Node.
func evidenceInput(t *testing.T, meta, spec, rest string) (*corev1.Service, []manifest.Typed[*corev1.Node]) {
	t.Helper()
	text := "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  annotations: {" + meta + "}\nspec:\n  type: LoadBalancer\n  ports: [{port: 80}]\n"
	if spec != "" {
		text += "  " + spec + "\n"
	}
	if id, ok := strings.CutPrefix(rest, "node "); ok {
		text += "---\napiVersion: v1\nkind: Node\nmetadata: {name: first}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: second}\nspec: {providerID: \"" + id + "\"}\n"
	} else {
		text += rest + "\n"
	}
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	w := newInventory(objects.All)
	return w.services[0].Value, w.nodes
}
