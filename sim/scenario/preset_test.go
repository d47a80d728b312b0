package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
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
	const path = "testdata/presets.golden"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestEveryFieldOfAPresetHasOneSource(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, r := range presetRows() {
		if names[r.id] {
			t.Errorf("%s is there twice", r.id)
		}
		names[r.id] = true
		claims := map[string]int{}
		for _, c := range r.claims {
			if !slices.Contains([]string{verified, documented, recalled, inferred, reported}, c.status) || c.source == "" {
				t.Errorf("%s: status %q, source %q", r.id, c.status, c.source)
			}
			for _, name := range strings.Fields(c.fields) {
				claims[name]++
			}
		}
		for _, f := range r.lb.fields() {
			if claims[f.name] != 1 {
				t.Errorf("%s: %d sources for %s", r.id, claims[f.name], f.name)
			}
			delete(claims, f.name)
		}
		if len(claims) > 0 {
			t.Errorf("%s: sources for fields that are none: %v", r.id, claims)
		}
	}
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

// factRows says which preset each row of the facts' table is.
func factRows() map[string][]string {
	return map[string][]string{
		"GKE L4 (subsetting), Local":                       {"gke-l4-local"},
		"GKE L4 (subsetting), Cluster":                     {"gke-l4-cluster"},
		"GKE legacy external (target pool), both policies": {"gke-legacy-external-local", "gke-legacy-external-cluster"},
		"GKE legacy internal (instance groups)":            {"gke-legacy-internal-local", "gke-legacy-internal-cluster"},
		"GKE L7 container-native NEG":                      {"gke-l7-neg"},
		"GKE L7 instance group":                            {"gke-l7-instance-group"},
		"AWS NLB ip target (lbc)":                          {"aws-nlb-ip"},
		"AWS NLB instance, Cluster":                        {"aws-nlb-instance-cluster"},
		"AWS NLB instance, Local":                          {"aws-nlb-instance-local"},
		"AWS ALB ip / instance":                            {"aws-alb-ip", "aws-alb-instance"},
		"AWS classic ELB (in-tree)":                        {"aws-classic-local", "aws-classic-cluster"},
		"AWS in-tree NLB, Cluster":                         {"aws-nlb-in-tree-cluster"},
		"AWS in-tree NLB, Local":                           {"aws-nlb-in-tree-local"},
		"Azure Standard LB, Local":                         {"azure-standard-local"},
		"Azure Standard LB, Cluster":                       {"azure-standard-cluster"},
		"MetalLB L2 / BGP":                                 {"metallb-l2-local", "metallb-l2-cluster", "metallb-bgp-local", "metallb-bgp-cluster"},
		"cloud-provider-kind":                              {"kind-local", "kind-cluster"},
	}
}

// Where the facts are, if they are, and what they say of the presets: for each row of their section 1 its name, interval and
// timeout, thresholds and drain; of section 5 the lines of insideRows.
const (
	factsFile   = "../../../shared/facts/load-balancers.md"
	numbersFile = "testdata/load-balancers.txt"
)

// ofTheFacts returns what the facts say of the presets, ok false where they are not there.
func ofTheFacts(t *testing.T) (lines string, ok bool) {
	t.Helper()
	data, err := os.ReadFile(factsFile)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	_, table, _ := strings.Cut(string(data), "\n## 1. ")
	table, _, _ = strings.Cut(table, "\n## 2. ")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 9 || strings.Contains(line, "|---|") || strings.Contains(line, "| Target |") {
			continue
		}
		var said []string
		for _, i := range []int{1, 4, 5, 7} {
			said = append(said, strings.TrimSpace(cells[i]))
		}
		b.WriteString(strings.Join(said, " | ") + "\n")
	}
	for line := range strings.Lines(string(data)) {
		for _, row := range insideRows() { // order: one of them at most
			if row != "" && strings.Contains(line, row) {
				b.WriteString(line)
			}
		}
	}
	return b.String(), true
}

// What the repository keeps of the facts is what they say, where they are beside it.
func TestTheNumbersAreTheFacts(t *testing.T) {
	t.Parallel()
	want, ok := ofTheFacts(t)
	if !ok {
		t.Skipf("%s is not there: the facts are kept outside the repository, which has their numbers", filepath.Clean(factsFile))
	}
	if *update {
		if err := os.WriteFile(numbersFile, []byte(want), 0o644); err != nil { //nolint:gosec // as all files of the repository
			t.Fatal(err)
		}
	}
	if have := numbersOfTheFacts(t); have != want {
		t.Errorf("%s says\n%s\nthe facts say\n%s", numbersFile, have, want)
	}
}

func numbersOfTheFacts(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(numbersFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The numbers of the presets are those of the facts, and no row of either is missing.
// Reference: facts/load-balancers.md 1.
func TestPresetsHaveTheNumbersOfTheFacts(t *testing.T) {
	t.Parallel()
	seen := 0
	for line := range strings.Lines(numbersOfTheFacts(t)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), " | ")
		if len(cells) != 4 {
			continue
		}
		row, drain := cells[0], cells[3]
		ids := factRows()[row]
		if len(ids) == 0 {
			t.Errorf("no preset for %q", row)
		}
		for _, id := range ids {
			seen++
			p, _ := presetFor(id, "")
			check := p.LoadBalancer.Check
			numbers(t, id+" interval / timeout", cells[1], seconds(check.Interval), seconds(check.Timeout))
			numbers(t, id+" H / U", cells[2], strconv.Itoa(check.Healthy), strconv.Itoa(check.Unhealthy))
			if strings.HasPrefix(drain, "none") != (p.LoadBalancer.Drain == 0) && drain[0] != '0' &&
				!strings.HasPrefix(drain, "**disabled**") && drain != "BackendConfig" {
				t.Errorf("%s: drain %s, the facts say %s", id, p.LoadBalancer.Drain.Duration(), drain)
			}
		}
	}
	if inside := len(insideRows()); seen+inside != len(Presets()) {
		t.Errorf("the facts speak of %d presets and of %d proxies inside of the cluster, there are %d", seen, inside, len(Presets()))
	}
}

// insideRows are the presets that section 1 of the facts does not list, with what section 5 says
// of them; nothing does of the one that stands for all others.
func insideRows() map[string]string {
	return map[string]string{
		"ingress-nginx": "| Upstream selection | uses endpoints with ready nil/true only: terminating pods are removed at once (no fallback); dynamic via Lua, ~1 s batch |",
		"envoy-gateway": "| Backend endpoints | terminating or not serving -> sent to Envoy as draining |",
		"l7-generic":    "",
	}
}

// Reference: facts/load-balancers.md 5.
func TestProxiesInsideGoByTheEndpointsOfTheFacts(t *testing.T) {
	t.Parallel()
	said := numbersOfTheFacts(t)
	members := map[string]LBMembers{"ingress-nginx": MembersReadyPods, "envoy-gateway": MembersServingPods, "l7-generic": MembersReadyPods}
	for id, row := range insideRows() { // order: each for itself
		p, ok := presetFor(id, "")
		if !ok || !strings.Contains(said, row) {
			t.Errorf("the facts do not say of %s: %s", id, row)
		}
		if lb := p.LoadBalancer; lb.Target != TargetPods || lb.Members != members[id] || lb.Check.Probe != ProbeNone || !lb.Layer7.Ingress || lb.NoTarget != NoTarget503 {
			t.Errorf("%s: %+v", id, lb)
		}
	}
	nginx, _ := presetFor("ingress-nginx", "")
	if lb := nginx.LoadBalancer; lb.Propagation.Max() != engine.Second {
		t.Errorf("a batch of %s", lb.Propagation)
	}
}

func seconds(t engine.Time) string { return t.Seconds() + " s" }

// numbers compares "3 s / 1 s" with two values; a "-" says nothing.
func numbers(t *testing.T, what, cell string, want ...string) {
	t.Helper()
	cell, _, _ = strings.Cut(strings.ReplaceAll(cell, "*", ""), "(")
	for i, part := range strings.Split(cell, "/") {
		if part = strings.TrimSpace(part); part != "-" && part != want[i] {
			t.Errorf("%s: %s, the facts say %s", what, want[i], cell)
		}
	}
}

// The first row of the table that matches says which load balancer it is.
// Reference: simulator.md 5.2.
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
		"a node of AWS":                                                     {"", "", "node aws:///eu-west-1a/i-0123", "", "aws-classic inferred ?aws-nlb-instance ?aws-nlb-ip"},
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
			f := findBalancer(svc, nodes, env)
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
	w := newWorld(objects.All)
	return w.services[0].Value, w.nodes
}
