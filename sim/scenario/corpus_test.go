package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The corpus is manifests that others wrote for real; it is not part of the repository. Those in own have the same
// traits and are.
const (
	corpus = "../../../shared/corpus"
	own    = "testdata/manifests"
)

// inferFile reads one file of the corpus.
func inferFile(t *testing.T, name string, opts Options) []Case {
	t.Helper()
	if _, err := os.Stat(filepath.Join(corpus, name)); os.IsNotExist(err) {
		t.Skipf("%s is not there: the corpus is kept outside the repository", filepath.Join(corpus, name))
	}
	return inferIn(t, corpus, name, opts)
}

func inferIn(t *testing.T, dir, name string, opts Options) []Case {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	objects, problems := manifest.Load([]manifest.File{{Name: name, Data: data}}, manifest.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	opts.Actions = []string{"rollout"}
	cases, problems := Infer(objects, opts)
	if manifest.HasErrors(problems) || len(problems) > 0 && opts.LB == "" {
		t.Fatal(problems)
	}
	return cases
}

// verdicts writes a case a line: workload, traffic, and "run" or why not.
func verdicts(cases []Case) string {
	var b strings.Builder
	for _, c := range cases {
		reason := c.Reason
		if c.Scenario != nil {
			reason = "run"
		}
		b.WriteString(strings.TrimPrefix(c.Workload, "default/") + ", " + c.Traffic + ": " + reason + "\n")
	}
	return b.String()
}

const (
	run    = "run\n"
	scrape = "a scrape that fails is tried again; no client's request is lost\n"
	single = "Service %s-%d selects single pods of the StatefulSet %s, by a label of each pod's own: not simulated\n"
)

// announced are the cases of Argo CD's Service for one pod of its Redis.
func announced(pod int) string {
	why := fmt.Sprintf(single, "argocd-redis-ha-announce", pod, "argocd-redis-ha-server")
	return "argocd-redis-ha-server, peers :6379: " + why + "argocd-redis-ha-server, peers :26379: " + why
}

// What is run of manifests such as the corpus has, and why the rest is not.
func TestOwnManifests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, want string }{
		{"frontend.yaml", "front, inside :80: run\n"},
		{"database.yaml", "wide, headless wide :9042: " + run},
		{"ingress.yaml", "edge/edge-controller, outside :80 :443: run\nedge/edge-controller, admission webhook :443: run\n"},
		{"shop.yaml", "adverts, gRPC :9555: " + run + "cart-store, Redis sessions :6379: " + run + "catalogue, gRPC :3550: " + run +
			"checkout, gRPC :5050: " + run + "shipping, gRPC :50051: " + run + "website, inside :80: run\nwebsite, outside :80: run\n"},
		{"sessions.yaml", "store-proxy, Redis sessions :6379: " + run + "store-proxy, metrics :9101: " + scrape +
			"store-server, peers :6379: " + fmt.Sprintf(single, "store-announce", 0, "store-server") + "store-server, headless store-ha :6379: " + run + "store-server, headless store-ha :26379: " + run},
	} {
		if got := verdicts(inferIn(t, own, tt.file, Options{})); got != tt.want {
			t.Errorf("%s: got:\n%s\nwant:\n%s", tt.file, got, tt.want)
		}
	}
}

// What an HPA, required anti-affinity, policy Local, a known image and a webhook make of a world.
func TestOwnManifestsScenarios(t *testing.T) {
	t.Parallel()
	front := inferIn(t, own, "frontend.yaml", Options{})[0].Scenario
	if n := world.ReplicasOf(front.Workloads[0].Deployment()); n != 3 || !strings.Contains(Normal(front), "- replicas: \"front: 3, by HPA front, minReplicas 3 (:") {
		t.Errorf("front starts with %d pods, or does not say why:\n%s", n, Normal(front))
	}
	if n := len(inferIn(t, own, "sessions.yaml", Options{Target: "store-proxy"})[0].Scenario.Nodes); n != 4 {
		t.Errorf("%d nodes: the proxy needs one for each of 3 replicas and one for the surge", n)
	}
	edge := inferIn(t, own, "ingress.yaml", Options{})
	if s := edge[0].Scenario.Services[0].Service; s.Spec.HealthCheckNodePort == 0 || s.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
		t.Errorf("edge: %+v", s.Spec)
	}
	if len(edge[0].Families) != len(unknownFamilies()) || len(edge[0].Scenario.Services) != 2 {
		t.Error("edge: its clients come through one of several load balancers, and two Services select its pods")
	}
	if h := edge[0].Scenario.Workloads[0].Hooks["controller"]; h.Duration.String() != "uniform 1s-2s" || !h.ClosesListener || !h.SignalsServer || !h.FailsReadiness || !h.WaitsForRequests {
		t.Errorf("edge: preStop is %+v", h)
	}
	if edge[1].FailurePolicy != "Fail" {
		t.Errorf("edge: failurePolicy of the webhook is %q", edge[1].FailurePolicy)
	}
	if none := inferIn(t, own, "ingress.yaml", Options{LB: "none"})[0]; !strings.Contains(Normal(none.Scenario), "id: load-balancer") || none.Families != nil {
		t.Error("edge with --lb none does not say that the load balancer is left out")
	}
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, want string }{
		{"podinfo-frontend.yaml", "frontend, inside :80: run\n"},
		{"guestbook.yaml", "frontend, outside :80: run\n" +
			"redis-master, Redis sessions :6379: " + run + "redis-replica, Redis sessions :6379: " + run},
		{"cassandra.yaml", "cassandra, headless cassandra :9042: " + run},
		{"ingress-nginx-cloud.yaml", "ingress-nginx/ingress-nginx-controller, outside :80 :443: run\n" +
			"ingress-nginx/ingress-nginx-controller, admission webhook :443: run\n"},
		{"ingress-nginx-baremetal.yaml", "ingress-nginx/ingress-nginx-controller, outside :80 :443: run\n" +
			"ingress-nginx/ingress-nginx-controller, admission webhook :443: run\n"},
		{"online-boutique.yaml", "adservice, gRPC :9555: " + run + "cartservice, gRPC :7070: " + run + "checkoutservice, gRPC :5050: " + run +
			"currencyservice, gRPC :7000: " + run + "emailservice, gRPC :5000: " + run +
			"frontend, inside :80: run\nfrontend, outside :80: run\n" +
			"paymentservice, gRPC :50051: " + run + "productcatalogservice, gRPC :3550: " + run + "recommendationservice, gRPC :8080: " + run +
			"redis-cart, Redis sessions :6379: " + run + "shippingservice, gRPC :50051: " + run},
		{"argo-cd-ha.yaml", "argocd-applicationset-controller, inside :7000: run\n" +
			"argocd-applicationset-controller, metrics :8080: " + scrape +
			"argocd-dex-server, inside :5556: run\nargocd-dex-server, gRPC :5557: " + run + "argocd-dex-server, metrics :5558: " + scrape +
			"argocd-notifications-controller, metrics :9001: " + scrape +
			"argocd-redis-ha-haproxy, Redis sessions :6379: " + run + "argocd-redis-ha-haproxy, metrics :9101: " + scrape +
			"argocd-repo-server, inside :8081: run\nargocd-repo-server, metrics :8084: " + scrape +
			"argocd-server, inside :80 :443: run\nargocd-server, metrics :8083: " + scrape +
			"argocd-application-controller, metrics :8082: " + scrape +
			"argocd-redis-ha-server, headless argocd-redis-ha :6379: " + run + "argocd-redis-ha-server, headless argocd-redis-ha :26379: " + run +
			announced(0) + announced(1) + announced(2)},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			if got := verdicts(inferFile(t, tt.file, Options{})); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestCorpusScenarios(t *testing.T) {
	t.Parallel()
	podinfo := inferFile(t, "podinfo-frontend.yaml", Options{})[0].Scenario
	if n := world.ReplicasOf(podinfo.Workloads[0].Deployment()); n != 2 {
		t.Errorf("podinfo starts with %d pods, its HPA says 2", n)
	}
	if !strings.Contains(Normal(podinfo), "- replicas: \"frontend: 2, by HPA frontend, minReplicas 2 (:") {
		t.Error("podinfo does not say where its replicas come from")
	}
	argo := inferFile(t, "argo-cd-ha.yaml", Options{Target: "argocd-server"})
	if len(argo[0].Scenario.Nodes) != 4 {
		t.Errorf("argo-cd has %d nodes: haproxy needs one for each of 3 replicas and one for the surge", len(argo[0].Scenario.Nodes))
	}
	ingress := inferFile(t, "ingress-nginx-cloud.yaml", Options{})[0]
	if s := ingress.Scenario.Services[0].Service; s.Spec.HealthCheckNodePort == 0 || s.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
		t.Errorf("ingress-nginx: %+v", s.Spec)
	}
	if len(ingress.Families) != len(unknownFamilies()) || len(ingress.Scenario.Services) != 2 {
		t.Error("ingress-nginx: its clients come through one of several load balancers, and two Services select its pods")
	}
	if h := ingress.Scenario.Workloads[0].Hooks["controller"]; h.Duration.String() != "uniform 1s-2s" || !h.ClosesListener || !h.SignalsServer || !h.FailsReadiness || !h.WaitsForRequests {
		t.Errorf("ingress-nginx: preStop is %+v", h)
	}
	if got := inferFile(t, "ingress-nginx-cloud.yaml", Options{})[1].FailurePolicy; got != "Fail" {
		t.Errorf("ingress-nginx: failurePolicy of the webhook is %q", got)
	}
	if none := inferFile(t, "ingress-nginx-cloud.yaml", Options{LB: "none"})[0]; !strings.Contains(Normal(none.Scenario), "id: load-balancer") || none.Families != nil {
		t.Error("ingress-nginx with --lb none does not say that the load balancer is left out")
	}
}

// --lb settles which load balancer is in front of a Service of type LoadBalancer; what comes
// through node ports has none, whatever is asked for.
func TestCorpusBehindALoadBalancer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, want string }{
		{"ingress-nginx-cloud.yaml", "gke-l4-local gke-l4-local none"},
		{"ingress-nginx-baremetal.yaml", "none none none"},
		{"online-boutique.yaml", "gke-l4-cluster gke-l4-cluster" + strings.Repeat(" none", 12)},
		{"guestbook.yaml", "none none none none"},
	} {
		if got := balancersOf(inferFile(t, tt.file, Options{LB: "gke-l4"})); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.file, got, tt.want)
		}
	}
}

func TestOwnManifestsBehindALoadBalancer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, want string }{
		{"ingress.yaml", "gke-l4-local gke-l4-local none"},
		{"shop.yaml", "gke-l4-cluster gke-l4-cluster" + strings.Repeat(" none", 7)},
		{"frontend.yaml", "none none"},
	} {
		if got := balancersOf(inferIn(t, own, tt.file, Options{LB: "gke-l4"})); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.file, got, tt.want)
		}
	}
}

// balancersOf lists the preset of each stream of traffic, in order.
func balancersOf(cases []Case) string {
	var out []string
	for _, c := range cases {
		for i := range c.Scenario.Traffic {
			name := "none"
			if lb := c.Scenario.Traffic[i].LB; lb != nil {
				name = lb.Preset
			}
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Two readings of the same input are the same to the last byte.
func TestInferIsDeterministic(t *testing.T) {
	t.Parallel()
	all := func() string {
		var b strings.Builder
		for _, c := range slices.Concat(inferIn(t, own, "sessions.yaml", Options{}), inferIn(t, own, "shop.yaml", Options{})) {
			b.WriteString(c.ID + "\n")
			if c.Scenario != nil {
				b.WriteString(Normal(c.Scenario))
			}
		}
		return b.String()
	}
	first := all()
	for range 5 {
		if all() != first {
			t.Fatal("two readings differ")
		}
	}
}
