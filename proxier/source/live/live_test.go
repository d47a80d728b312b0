package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/source/live/livetest"
)

// serve starts a server and connects to it.
func serve(t testing.TB, change func(*livetest.Server), manifests ...string) (*livetest.Server, *Cluster) {
	t.Helper()
	s, err := livetest.New("v1.36.3", manifests...)
	if err != nil {
		t.Fatal(err)
	}
	s.Token = "secret"
	if change != nil {
		change(s)
	}
	t.Cleanup(s.Close)
	path := filepath.Join(t.TempDir(), "config")
	if err := s.Kubeconfig(path, "kind-kind", "shop"); err != nil {
		t.Fatal(err)
	}
	c, err := Connect(Options{Kubeconfig: path})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func names(r *Result) []string {
	var out []string
	for _, o := range r.Objects {
		out = append(out, o.File.Name)
	}
	return out
}

const small = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
---
apiVersion: v1
kind: Service
metadata: {name: other, namespace: elsewhere}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop}
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: web-x, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: a, controller: true}]}
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: Gateway
metadata: {name: edge, namespace: infra}
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
`

func TestAPurposeDecidesWhatIsRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		purpose    Purpose
		namespaces []string
		want       []string
	}{
		{"explain reads Services and EndpointSlices of the namespace", Explain, []string{"shop"},
			[]string{"service shop/web", "endpointslice shop/web-1", "node node-1"}},
		{"explain reads all of several namespaces", Explain, []string{"elsewhere", "shop"},
			[]string{"service elsewhere/other", "service shop/web", "endpointslice shop/web-1", "node node-1"}},
		{"trace reads every Service, whatever the namespace", Trace, []string{"shop"},
			[]string{"service elsewhere/other", "service shop/web", "endpointslice shop/web-1", "node node-1"}},
		{"sim reads workloads, and Gateways of every namespace in the version that there is", Sim, []string{"shop"},
			[]string{"service shop/web", "deployment shop/web", "node node-1", "pod shop/web-x", "namespace shop", "httproute shop/web", "gateway infra/edge"}},
		{"no namespace is all of them", Sim, nil,
			[]string{"service elsewhere/other", "service shop/web", "deployment shop/web", "node node-1", "pod shop/web-x", "namespace shop", "httproute shop/web", "gateway infra/edge"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, c := serve(t, nil, small)
			r, err := c.Read(t.Context(), tc.purpose, tc.namespaces)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, w := range tc.want {
				want = append(want, "kind-kind: "+w)
			}
			if diff := cmp.Diff(want, names(r)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if len(r.Warnings) > 0 || r.Version != "v1.36.3" {
				t.Errorf("version %q, warnings %q", r.Version, r.Warnings)
			}
			for _, asked := range s.Requests() {
				if !strings.HasPrefix(asked, "GET ") || strings.Contains(asked, "cloud.google.com") {
					t.Errorf("asked %s", asked)
				}
			}
		})
	}
}

// What other makers' kinds there are is read as from files: workloads that Services lead to, scalers and rules of meshes, each
// under a name of its own, though Kubernetes has a kind of that name, too.
func TestKindsOfOtherMakersAreRead(t *testing.T) {
	t.Parallel()
	const more = small + `
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: api, namespace: shop}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web, namespace: shop}
---
apiVersion: networking.istio.io/v1beta1
kind: VirtualService
metadata: {name: web, namespace: shop}
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: web, namespace: shop}
---
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: db, namespace: shop}
`
	s, c := serve(t, func(s *livetest.Server) { s.Forbidden = []string{"list rollouts"} }, more)
	r, err := c.Read(t.Context(), Sim, []string{"shop"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"scaledobject shop/web", "virtualservice shop/web", "service shop/web", "service.serving.knative.dev shop/web", "statefulset.apps.kruise.io shop/db"} {
		if !slices.Contains(names(r), "kind-kind: "+want) {
			t.Errorf("no %q in %q", want, names(r))
		}
	}
	want := []string{`kind-kind: cannot list rollouts.argoproj.io in namespace shop: forbidden (RBAC: verb list, resource rollouts, API group "argoproj.io"); ` +
		`the answer lacks which Services lead to workloads of other makers`}
	if !slices.Equal(r.Warnings, want) {
		t.Errorf("warnings %q, want %q", r.Warnings, want)
	}
	for _, asked := range s.Requests() {
		if strings.Contains(asked, "openshift") {
			t.Errorf("asked %s", asked)
		}
	}
}

// What Kubernetes itself has and nothing rolls out is read as from files, and all Pods, for where they are; of the ReplicaSets and Jobs
// that a controller has made only the metadata are asked for.
func TestWhatNoControllerHasMadeIsRead(t *testing.T) {
	t.Parallel()
	const owned = "ownerReferences: [{apiVersion: v1, kind: Owner, name: o, uid: a, controller: true}]"
	const alone = small + `
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: by-hand, namespace: shop}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, namespace: shop, ` + owned + `}}
---
{apiVersion: v1, kind: Pod, metadata: {name: debug, namespace: shop, ownerReferences: [{apiVersion: v1, kind: Owner, name: o, uid: a}]}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: migrate, namespace: shop}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: report-1, namespace: shop, ` + owned + `}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: report, namespace: shop}}
`
	var many strings.Builder
	for i := range mostAlone + 3 {
		fmt.Fprintf(&many, "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: p%03d, namespace: crowd}}\n", i)
	}
	const lacks = "the answer lacks which Services lead to Pods that nothing rolls out"
	for _, tc := range []struct {
		name, namespace string
		change          func(*livetest.Server)
		want, warnings  []string
	}{
		{"with every right", "shop", func(*livetest.Server) {},
			[]string{"pod shop/debug", "pod shop/web-x", "cronjob shop/report", "job shop/migrate", "replicaset shop/by-hand"}, nil},
		{"in pages, of which one comes too late", "shop", func(s *livetest.Server) { s.Page, s.Expires = 1, true },
			[]string{"pod shop/debug", "pod shop/web-x", "cronjob shop/report", "job shop/migrate", "replicaset shop/by-hand"}, nil},
		{"without the right to list", "shop", func(s *livetest.Server) { s.Forbidden = []string{"list pods shop"} },
			[]string{"cronjob shop/report", "job shop/migrate", "replicaset shop/by-hand"},
			[]string{`kind-kind: cannot list pods in namespace shop: forbidden (RBAC: verb list, resource pods, API group ""); the answer lacks which pods are where, so that a scheduler's guess stands for it`}},
		{"without the right to get", "shop", func(s *livetest.Server) { s.Forbidden = []string{"get replicasets"} },
			[]string{"pod shop/debug", "pod shop/web-x", "cronjob shop/report", "job shop/migrate"},
			[]string{`kind-kind: cannot get replicasets.apps in namespace shop: forbidden (RBAC: verb get, resource replicasets, API group "apps"); ` + lacks}},
		{"of a server without Jobs", "shop", func(s *livetest.Server) { s.Missing = []string{"jobs"} },
			[]string{"pod shop/debug", "pod shop/web-x", "cronjob shop/report", "replicaset shop/by-hand"}, nil},
		{"more than anybody makes by hand", "crowd", func(*livetest.Server) {}, nil,
			[]string{"kind-kind: 200 replicasets.apps of no controller are read, and 3 more are not: " + lacks}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, c := serve(t, tc.change, alone, many.String(), "{apiVersion: v1, kind: Namespace, metadata: {name: crowd}}")
			r, err := c.Read(t.Context(), Sim, []string{tc.namespace})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range names(r) {
				kind, _, _ := strings.Cut(strings.TrimPrefix(name, "kind-kind: "), " ")
				if slices.Contains([]string{"cronjob", "job", "replicaset", "pod"}, kind) && tc.namespace == "shop" {
					got = append(got, strings.TrimPrefix(name, "kind-kind: "))
				}
			}
			if !slices.Equal(got, tc.want) || !slices.Equal(r.Warnings, tc.warnings) {
				t.Errorf("%q, warnings %q", got, r.Warnings)
			}
			for _, asked := range s.Requests() {
				if !strings.HasPrefix(asked, "GET ") || strings.Contains(asked, "web-1") || strings.Contains(asked, "report-1") {
					t.Errorf("asked %s", asked)
				}
			}
		})
	}
}

// many are Services enough for several pages.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Service\nmetadata: {name: s%05d, namespace: shop}\n", i)
	}
	return b.String()
}

func TestListsAreReadInPages(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		expires bool
		limits  []string
	}{
		{"each page goes on where the last one ended", false,
			[]string{"limit=500", "limit=500&continue=500", "limit=500&continue=1000"}},
		{"a list that has expired is begun again, in one piece", true,
			[]string{"limit=500", "limit=500&continue=500", ""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			const n = 1203
			s, c := serve(t, func(s *livetest.Server) { s.Expires = tc.expires }, many(n))
			r, err := c.Read(t.Context(), Explain, []string{"shop"})
			if err != nil {
				t.Fatal(err)
			}
			got := names(r)
			if len(got) != n || got[0] != "kind-kind: service shop/s00000" || got[n-1] != "kind-kind: service shop/s01202" || !slices.IsSorted(got) {
				t.Errorf("%d objects, want %d in order", len(got), n)
			}
			var limits []string
			for _, asked := range s.Requests() {
				if rest, ok := strings.CutPrefix(asked, "GET /api/v1/namespaces/shop/services"); ok {
					limits = append(limits, order(strings.TrimPrefix(rest, "?")))
				}
			}
			if diff := cmp.Diff(tc.limits, limits); diff != "" {
				t.Errorf("queries (-want +got):\n%s", diff)
			}
		})
	}
}

// order puts limit first.
func order(query string) string {
	parts := strings.Split(query, "&")
	slices.SortFunc(parts, func(a, b string) int { return strings.Compare(b, a) })
	return strings.Join(parts, "&")
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		change   func(*livetest.Server)
		purpose  Purpose
		in       string
		warnings []string
		err      string
	}{
		{"a right that is missing is a warning where there is an answer without",
			func(s *livetest.Server) { s.Forbidden = []string{"list nodes", "get configmaps"} }, Explain, "shop",
			[]string{
				`kind-kind: cannot list nodes: forbidden (RBAC: verb list, resource nodes, API group ""); the answer lacks zones, addresses and pod CIDRs of nodes (--node-ip and --node-label say them)`,
				`kind-kind: cannot get configmap kube-system/kube-proxy: forbidden (RBAC: verb get, resource configmaps, API group ""); the answer lacks the settings of the cluster's kube-proxy (a KubeProxyConfiguration given by -f has them)`,
			}, ""},
		{"and an error where there is none, for all that is missing at once",
			func(s *livetest.Server) { s.Forbidden = []string{"list services", "list endpointslices shop"} }, Explain, "shop", nil,
			"kind-kind: cannot list services in namespace shop, and there is no answer without: forbidden (RBAC: verb list, resource services, API group \"\")\n" +
				"kind-kind: cannot list endpointslices.discovery.k8s.io in namespace shop, and there is no answer without: forbidden (RBAC: verb list, resource endpointslices, API group \"discovery.k8s.io\")"},
		{"a resource that the server does not know is nothing to speak of",
			func(s *livetest.Server) { s.Missing = []string{"httproutes"} }, Sim, "shop", nil, ""},
		{"but one that every server has is",
			func(s *livetest.Server) { s.Missing = []string{"services"} }, Sim, "shop", nil,
			"kind-kind: the server has no services of version v1"},
		{"a resource that fails is a warning, too",
			func(s *livetest.Server) { s.Broken = []string{"gateways"} }, Sim, "shop",
			[]string{"kind-kind: cannot list gateways.gateway.networking.k8s.io in all namespaces: conversion webhook failed; the answer lacks which proxy takes care of Ingresses or HTTPRoutes"}, ""},
		{"a namespace that is not there",
			func(*livetest.Server) {}, Sim, "shpo", nil, "kind-kind: there is no namespace shpo"},
		{"somebody whom the server does not know",
			func(s *livetest.Server) { s.Token = "changed" }, Explain, "shop", nil,
			"kind-kind: the server has asked for the client to provide credentials"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, c := serve(t, nil, small)
			tc.change(s)
			r, err := c.Read(t.Context(), tc.purpose, []string{tc.in})
			if fmt.Sprint(err) != tc.err && (err != nil || tc.err != "") {
				t.Fatalf("error\n%v\nwant\n%s", err, tc.err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.warnings, r.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASlowServerIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	_, c := serve(t, func(s *livetest.Server) { s.Hangs = []string{"nodes"} }, small)
	c.config.Timeout = 100 * time.Millisecond
	_, err := c.Read(t.Context(), Explain, []string{"shop"})
	if err == nil || !strings.HasPrefix(err.Error(), "kind-kind: no answer within 100ms (--request-timeout): ") {
		t.Errorf("error %v", err)
	}
}

func TestAClusterThatIsTooLargeIsNotReadWhole(t *testing.T) {
	t.Parallel()
	_, c := serve(t, nil, many(3))
	c.limit = 100
	_, err := c.Read(t.Context(), Explain, []string{"shop"})
	if err == nil || err.Error() != "kind-kind: its objects have more than 0 MiB: ask for one namespace (-n)" {
		t.Errorf("error %v", err)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	_, c := serve(t, func(s *livetest.Server) { s.Hangs = []string{"nodes"} }, small)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Read(ctx, Explain, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// What messages say of lines is what kubectl get -o yaml shows: keys are sorted, lists are not indented, long text is
// folded at column 80. Verified with kubectl 1.32 and a kube-apiserver 1.36.3, for Deployments, Services, EndpointSlices,
// Nodes, Namespaces and ServiceCIDRs: the same bytes, but for the annotation's second line.
func TestAnObjectReadsAsKubectlPrintsIt(t *testing.T) {
	t.Parallel()
	_, c := serve(t, nil, `
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  managedFields: [{manager: kubectl}]
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: "{\"a\":1}\n"
    note: "a text that is longer than eighty columns because it goes on and on and on, as messages do"
spec:
  sessionAffinity: None
  ports:
  - {port: 80, name: "on"}
  publishNotReadyAddresses: true
`)
	r, err := c.Read(t.Context(), Explain, []string{"shop"})
	if err != nil || len(r.Objects) != 1 {
		t.Fatalf("%v, %v", r, err)
	}
	const want = `apiVersion: v1
kind: Service
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {}
    note: a text that is longer than eighty columns because it goes on and on and
      on, as messages do
  name: web
  namespace: shop
spec:
  ports:
  - name: "on"
    port: 80
  publishNotReadyAddresses: true
  sessionAffinity: None
`
	if diff := cmp.Diff(want, string(r.Objects[0].Data)); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
	if _, problems := manifest.Load([]manifest.File{r.Objects[0].File}, manifest.Options{}); len(problems) > 0 {
		t.Errorf("problems %v", problems)
	}
}

func TestTheProxyConfigurationIsWhereTheInstallerLeftIt(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: kube-system, name: %s}\ndata:\n  %s: |\n    mode: nftables\n"
	for _, tc := range []struct {
		name string
		maps []string
		want []string
	}{
		{"kubeadm and kind", []string{fmt.Sprintf(header, "kube-proxy", "config.conf")}, []string{"kind-kind: configmap kube-system/kube-proxy config.conf"}},
		{"EKS keeps a kubeconfig in the other one", []string{fmt.Sprintf(header, "kube-proxy", "kubeconfig"), fmt.Sprintf(header, "kube-proxy-config", "config")},
			[]string{"kind-kind: configmap kube-system/kube-proxy-config config"}},
		{"nowhere", nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, c := serve(t, nil, tc.maps...)
			r, err := c.Read(t.Context(), Explain, []string{"shop"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, names(r)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if len(r.Objects) == 1 && string(r.Objects[0].Data) != "mode: nftables\n" {
				t.Errorf("content %q", r.Objects[0].Data)
			}
		})
	}
}

func TestConnectSaysWhatCouldBeChosen(t *testing.T) {
	t.Parallel()
	const two = `{"clusters": [{"name": "c", "cluster": {"server": "https://192.0.2.1"}}],
"contexts": [{"name": "a", "context": {"cluster": "c"}}, {"name": "b", "context": {"cluster": "c", "namespace": "shop"}}]}`
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name      string
		options   Options
		namespace string
		err       string
	}{
		{"the context's namespace", Options{Context: "b"}, "shop", ""},
		{"a context without one", Options{Context: "a"}, "default", ""},
		{"the one that is asked for", Options{Context: "b", Namespace: "other"}, "other", ""},
		{"an unknown context", Options{Context: "d"}, "", `kubeconfig: no context "d"; there are a, b`},
		{"no current context", Options{}, "", "no kubeconfig with a current context: give --context NAME; there are a, b"},
		{"an unknown user", Options{Context: "a", User: "nobody"}, "", `kubeconfig: auth info "nobody" does not exist`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := tc.options
			o.Kubeconfig = path
			c, err := Connect(o)
			if fmt.Sprint(err) != tc.err && (err != nil || tc.err != "") {
				t.Fatalf("error %v, want %s", err, tc.err)
			}
			if err == nil && (c.Namespace != tc.namespace || c.Name != o.Context || c.Context != o.Context || c.Server != "https://192.0.2.1") {
				t.Errorf("%+v", c)
			}
		})
	}
	if _, err := Connect(Options{Kubeconfig: path + "-of-nobody"}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, Contexts(path)); diff != "" {
		t.Errorf("contexts (-want +got):\n%s", diff)
	}
}

// Clusters of cloud providers hand out credentials through a plugin.
func TestAPluginMayAuthenticate(t *testing.T) {
	t.Parallel()
	s, err := livetest.New("v1.36.3", small)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	path := filepath.Join(t.TempDir(), "config")
	if err := s.Kubeconfig(path, "kind-kind", "shop"); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const plugin = `user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable, command: echo, args: ['{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "secret"}}']}}`
	text := strings.Replace(string(config), `user: {token: ""}`, plugin, 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Token = "secret"
	c, err := Connect(Options{Kubeconfig: path, StdinTaken: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(t.Context(), Explain, []string{"shop"}); err != nil {
		t.Error(err)
	}
	if !c.config.ExecProvider.StdinUnavailable {
		t.Error("the plugin may read what -f - reads")
	}
}

// Of the providers within client-go, one is left that does something; those that are gone say what took their place.
func TestTheBuiltInProvidersAreThere(t *testing.T) {
	t.Parallel()
	for provider, want := range map[string]string{
		"oidc":  "Must provide idp-issuer-url",
		"gcp":   "The gcp auth plugin has been removed.",
		"azure": "The azure auth plugin has been removed.",
	} {
		path := filepath.Join(t.TempDir(), "config")
		text := fmt.Sprintf(`{"clusters": [{"name": "c", "cluster": {"server": "https://192.0.2.1"}}], "current-context": "a",
"users": [{"name": "u", "user": {"auth-provider": {"name": %q, "config": {"client-id": "x"}}}}], "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}]}`, provider)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Connect(Options{Kubeconfig: path})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(t.Context(), Explain, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", provider, err, want)
		}
	}
}
