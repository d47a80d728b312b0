package script

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lameduck-proxy/lameduck/proxier/source/live"
	"github.com/lameduck-proxy/lameduck/proxier/source/live/livetest"
)

// cluster starts an API server with the objects of files, and names it in the kubeconfig that the story's programs
// find: cluster VERSION [KEY=VALUE]... FILE ..., where a key is forbid, missing, broken or hangs, and its value a
// resource, for forbid with the verb, such as list-nodes; or namespace, the context's.
func cluster(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: cluster VERSION [KEY=VALUE]... FILE ...")
	}
	var manifests []string
	settings := map[string][]string{}
	for _, arg := range args[1:] {
		if key, value, ok := strings.Cut(arg, "="); ok {
			settings[key] = append(settings[key], strings.ReplaceAll(value, "-", " "))
			continue
		}
		manifests = append(manifests, ts.ReadFile(arg))
	}
	s, err := livetest.New(args[0], manifests...)
	ts.Check(err)
	ts.Defer(s.Close)
	s.Forbidden, s.Missing, s.Broken, s.Hangs = settings["forbid"], settings["missing"], settings["broken"], settings["hangs"]
	s.Token = "story"
	namespace := append(settings["namespace"], "shop")[0]
	ts.Check(s.Kubeconfig(ts.MkAbs("home/.kube/config"), "kind-kind", namespace))
	ts.Setenv("HOME", ts.MkAbs("home"))
}

// around is what a cluster has besides an example: each kind that some verb reads.
const around = `
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-proxy, namespace: kube-system}
data:
  config.conf: |
    apiVersion: kubeproxy.config.k8s.io/v1alpha1
    kind: KubeProxyConfiguration
    mode: iptables
    clusterCIDR: 10.244.0.0/16
    iptables: {minSyncPeriod: 3s}
---
{apiVersion: v1, kind: Node, metadata: {name: node-8, labels: {topology.kubernetes.io/zone: a}}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-9, labels: {topology.kubernetes.io/zone: b}}}
---
{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: more}, spec: {cidrs: [10.96.0.0/16]}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  minReplicas: 5
  maxReplicas: 9
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: nginx
  rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}, spec: {controller: k8s.io/ingress-nginx}}
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: api, namespace: shop}
spec: {replicas: 2, template: {metadata: {labels: {app: api}}, spec: {containers: [{name: api, image: example.com/api}]}}}
---
{apiVersion: v1, kind: Service, metadata: {name: api, namespace: shop}, spec: {selector: {app: api}, ports: [{port: 80}]}}
`

// The same objects have the same answer, byte by byte, whether they come from files or from a cluster: each object is
// written to a file that is called as it is called when it comes from the cluster.
func TestAClusterIsAnsweredForLikeItsFiles(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	for _, tc := range []struct {
		name    string
		example string
		purpose live.Purpose
		args    []string
		has     []string // something of what is around
	}{
		{"explain", "web.yaml", live.Explain, []string{"explain", "--node", "node-1", "-o", "json"}, []string{`"mode": "iptables"`}},
		{"trace", "web.yaml", live.Trace, []string{"trace", "--node", "node-1", "--from", "192.0.2.7", "--to", "203.0.113.10:80/tcp"},
			[]string{"iptables mode", "neither a pod's address"}},
		{"sim", "web-app.yaml", live.Sim, []string{"sim", "--kubernetes-version", "1.36", "--runs", "3", "--rate", "20/s", "--timeout", "5s", "--sensitivity=false", "-o", "json"},
			[]string{"through an Ingress", `"of": 5`, "selects the Rollout api", `"file": "kind-kind: deployment shop/web"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir, config := t.TempDir(), filepath.Join(t.TempDir(), "config")
			text, err := os.ReadFile(filepath.Join("../../examples", tc.example))
			if err != nil {
				t.Fatal(err)
			}
			s, err := livetest.New("v1.36.3", inShop(string(text)), around)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			if err := s.Kubeconfig(config, "kind-kind", "shop"); err != nil {
				t.Fatal(err)
			}
			files := runIn(t, dir, slices.Concat(tc.args, objectFiles(t, dir, config, tc.purpose))...)
			read := runIn(t, dir, slices.Concat(tc.args, []string{"--kubeconfig", config})...)
			for _, want := range tc.has {
				if !strings.Contains(files, want) {
					t.Errorf("the answer has no %s:\n%s", want, files)
				}
			}
			if diff := cmp.Diff(files, read); diff != "" {
				t.Errorf("files and cluster differ (-files +cluster):\n%s", diff)
			}
		})
	}
}

// inShop gives the documents of an example without namespaces, which a user would apply with -n, theirs.
func inShop(text string) string {
	if strings.Contains(text, "namespace: shop") {
		return text
	}
	return regexp.MustCompile(`(?m)^metadata:\n  name: (\S+)$`).ReplaceAllString(text, "metadata:\n  namespace: shop\n  name: $1")
}

// objectFiles writes what is read of a cluster to files, and returns the flags that read these.
func objectFiles(t *testing.T, dir, config string, purpose live.Purpose) []string {
	t.Helper()
	c, err := live.Connect(live.Options{Kubeconfig: config})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Read(t.Context(), purpose, []string{"shop"})
	if err != nil {
		t.Fatal(err)
	}
	var flags []string
	for _, o := range r.Objects {
		path := filepath.Join(dir, o.File.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, o.Data, 0o600)); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "-f", o.File.Name)
	}
	return flags
}

// runIn is what lameduck prints, but for the command line that it would be called again by.
func runIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(binaries, "lameduck"), args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("lameduck %q: %v\n%s", args, err, stderr.String())
	}
	return regexp.MustCompile(`"replay": .*`).ReplaceAllString(string(out), "")
}
