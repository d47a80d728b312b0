//go:build linux

package deploy

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// installation is what one rendered file has of each kind.
type installation struct {
	daemonSet *appsv1.DaemonSet
	account   *corev1.ServiceAccount
	role      *rbacv1.ClusterRole
	binding   *rbacv1.ClusterRoleBinding
	config    *corev1.ConfigMap
}

// sim is the overlay that runs beside a kube-proxy and has no rights.
const sim = "sim"

// container is the only one of the DaemonSet.
func (i *installation) container() *corev1.Container {
	return &i.daemonSet.Spec.Template.Spec.Containers[0]
}

// each runs a test on every rendered file.
func each(t *testing.T, test func(t *testing.T, overlay string, i *installation)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "manifests/rendered/*.yaml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("rendered manifests: %q %v", files, err)
	}
	for _, f := range files {
		overlay := strings.TrimSuffix(filepath.Base(f), ".yaml")
		t.Run(overlay, func(t *testing.T) {
			t.Parallel()
			test(t, overlay, install(t, f))
		})
	}
}

// install reads a file as strictly as the API server does with fieldValidation=Strict.
func install(t *testing.T, file string) *installation {
	t.Helper()
	i := &installation{}
	for _, o := range decode(t, file) {
		switch o := o.(type) {
		case *appsv1.DaemonSet:
			i.daemonSet = o
		case *corev1.ServiceAccount:
			i.account = o
		case *rbacv1.ClusterRole:
			i.role = o
		case *rbacv1.ClusterRoleBinding:
			i.binding = o
		case *corev1.ConfigMap:
			i.config = o
		default:
			t.Fatalf("%s: an unexpected %T", file, o)
		}
	}
	if i.daemonSet == nil || i.account == nil || i.role == nil || i.binding == nil || i.config == nil || len(i.daemonSet.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("%s: something is missing: %+v", file, i)
	}
	return i
}

// decode reads every object of a file. Unknown and repeated fields are errors.
func decode(t *testing.T, file string) []runtime.Object {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme, rbacv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	serializer := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	var objects []runtime.Object
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		o, _, err := serializer.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		objects = append(objects, o)
	}
	return objects
}

// A field that nobody knows fails: else nothing here would notice a slip of the pen.
func TestStrictness(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	serializer := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	_, _, err := serializer.Decode([]byte("apiVersion: v1\nkind: ConfigMap\ndate: {}\n"), nil, nil)
	if err == nil || !strings.Contains(err.Error(), `unknown field "date"`) {
		t.Errorf("%v", err)
	}
}

// Names and labels lead to each other.
func TestReferences(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ string, i *installation) {
		t.Helper()
		pod := i.daemonSet.Spec.Template
		selector, err := metav1.LabelSelectorAsSelector(i.daemonSet.Spec.Selector)
		if err != nil || selector.Empty() {
			t.Fatalf("selector %v %v", selector, err)
		}
		for _, o := range []runtime.Object{i.daemonSet, i.account, i.config} {
			if m, err := meta.Accessor(o); err != nil || m.GetNamespace() != "kube-system" {
				t.Errorf("%T in namespace %q (%v); a system-node-critical pod belongs into kube-system", o, m.GetNamespace(), err)
			}
		}
		same := func(what string, got, want any) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		if !selector.Matches(labelSet(pod.Labels)) {
			t.Errorf("the selector %s does not match the pod's labels %v", selector, pod.Labels)
		}
		same("the pod's ServiceAccount", pod.Spec.ServiceAccountName, i.account.Name)
		same("the binding's subjects", i.binding.Subjects, []rbacv1.Subject{{Kind: "ServiceAccount", Name: i.account.Name, Namespace: i.account.Namespace}})
		same("the binding's role", i.binding.RoleRef, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: i.role.Name})
		var mounts, volumes []string
		for _, m := range i.container().VolumeMounts {
			mounts = append(mounts, m.Name)
			if m.SubPath != "" {
				t.Errorf("%s is mounted as a file: what changes in it does not arrive", m.Name)
			}
		}
		for _, v := range pod.Spec.Volumes {
			volumes = append(volumes, v.Name)
			if v.ConfigMap != nil {
				same("the ConfigMap of volume "+v.Name, v.ConfigMap.Name, i.config.Name)
			}
		}
		slices.Sort(mounts)
		slices.Sort(volumes)
		same("mounted volumes", mounts, volumes)
	})
}

type labelSet map[string]string

func (l labelSet) Has(label string) bool              { _, ok := l[label]; return ok }
func (l labelSet) Get(label string) string            { return l[label] }
func (l labelSet) Lookup(label string) (string, bool) { v, ok := l[label]; return v, ok }

// A proxy has these rights and no others; docs/security.md says what each is for, and TestConfined needs each.
func TestRights(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, overlay string, i *installation) {
		t.Helper()
		root, nobody, no, yes := int64(0), int64(65532), false, true
		want := &corev1.SecurityContext{
			RunAsUser: &root, RunAsGroup: &root, AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_ADMIN"}},
		}
		if overlay == sim {
			want.RunAsUser, want.RunAsGroup, want.RunAsNonRoot, want.Capabilities.Add = &nobody, &nobody, &yes, nil
		}
		hostPaths := []string{}
		if overlay == "iptables-legacy" {
			want.Capabilities.Add = append(want.Capabilities.Add, "NET_RAW")
			hostPaths = append(hostPaths, "/run/xtables.lock")
		}
		if diff := cmp.Diff(want, i.container().SecurityContext); diff != "" {
			t.Errorf("securityContext (-want +got):\n%s", diff)
		}
		spec := i.daemonSet.Spec.Template.Spec
		if spec.HostNetwork == (overlay == sim) || spec.HostPID || spec.HostIPC {
			t.Errorf("hostNetwork %v, hostPID %v, hostIPC %v: want the network, but for sim, and nothing else", spec.HostNetwork, spec.HostPID, spec.HostIPC)
		}
		seccomp := &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		if diff := cmp.Diff(seccomp, spec.SecurityContext); diff != "" {
			t.Errorf("pod securityContext (-want +got):\n%s", diff)
		}
		have := []string{}
		for _, v := range spec.Volumes {
			if v.HostPath != nil {
				have = append(have, v.HostPath.Path)
			}
		}
		if diff := cmp.Diff(hostPaths, have); diff != "" {
			t.Errorf("paths of the host (-want +got):\n%s", diff)
		}
	})
}

// A service proxy runs on every node of Linux, whatever its taints, and before all others.
func TestEveryNodeHasOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, overlay string, i *installation) {
		t.Helper()
		spec := i.daemonSet.Spec.Template.Spec
		if want := map[bool]string{false: "system-node-critical"}[overlay == sim]; spec.PriorityClassName != want {
			t.Errorf("priority class %q", spec.PriorityClassName)
		}
		if diff := cmp.Diff([]corev1.Toleration{{Operator: corev1.TolerationOpExists}}, spec.Tolerations); diff != "" {
			t.Errorf("tolerations (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"kubernetes.io/os": "linux"}, spec.NodeSelector); diff != "" {
			t.Errorf("node selector (-want +got):\n%s", diff)
		}
		if len(i.container().Resources.Limits) > 0 || i.container().Resources.Requests.Cpu().IsZero() || i.container().Resources.Requests.Memory().IsZero() {
			t.Errorf("resources %v", i.container().Resources)
		}
	})
}

// variable is a reference to an environment variable in an argument.
var variable = regexp.MustCompile(`\$\(([A-Z_]+)\)`)

// The arguments are the program's: the verb, flags that it has, files that are there, variables that are set.
func TestArguments(t *testing.T) {
	t.Parallel()
	help := lameduck(t, "proxy", "--help")
	each(t, func(t *testing.T, _ string, i *installation) {
		t.Helper()
		c := i.container()
		if len(c.Command) > 0 || len(c.Args) == 0 || c.Args[0] != "proxy" {
			t.Fatalf("command %q, arguments %q: want the image's entry point with proxy", c.Command, c.Args)
		}
		for _, a := range c.Args[1:] {
			flag, value, _ := strings.Cut(a, "=")
			if !regexp.MustCompile(`(?m)^ +(-\w, )?` + regexp.QuoteMeta(flag) + `\b`).MatchString(help) {
				t.Errorf("%s: lameduck proxy has no such flag", a)
			}
			for _, m := range variable.FindAllStringSubmatch(value, -1) {
				if !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == m[1] }) {
					t.Errorf("%s: %s is not set", a, m[1])
				}
			}
			if strings.HasPrefix(value, "/") {
				i.file(t, value)
			}
		}
	})
}

// file is what the pod finds under a path of its ConfigMap.
func (i *installation) file(t *testing.T, path string) string {
	t.Helper()
	for _, m := range i.container().VolumeMounts {
		if m.MountPath == filepath.Dir(path) {
			text, ok := i.config.Data[filepath.Base(path)]
			if !ok {
				t.Errorf("%s: the ConfigMap has %q", path, slices.Sorted(maps.Keys(i.config.Data)))
			}
			return text
		}
	}
	t.Errorf("%s: nothing is mounted at %s", path, filepath.Dir(path))
	return ""
}

// The configuration is one that the proxy takes, without a warning, and the mode that the file is for.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, overlay string, i *installation) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "config.conf")
		if err := os.WriteFile(file, []byte(i.config.Data["config.conf"]), 0o600); err != nil {
			t.Fatal(err)
		}
		rules := lameduck(t, "proxy", "--dry-run", "--config", file, "-f", filepath.Join(root, "examples/web.yaml"), "--node", "node-1")
		if strings.Contains(rules, "warning") {
			t.Errorf("%s", rules)
		}
		want := "table ip lameduck {"
		if strings.HasPrefix(overlay, "iptables") {
			want = ":KUBE-SERVICES"
		}
		if !strings.Contains(rules, want) {
			t.Errorf("no %q in:\n%.300s", want, rules)
		}
		if overlay == sim { // as all pods: neither a kubeconfig nor probes
			if c := i.container(); strings.Contains(i.config.Data["config.conf"], "kubeconfig") || c.LivenessProbe != nil || c.ReadinessProbe != nil || len(c.Ports) > 0 {
				t.Errorf("%+v", c)
			}
			return
		}
		// The API server is asked where the pod finds it: as the pod's own account, over the file that is mounted.
		kubeconfig := regexp.MustCompile(`(?m)^ *kubeconfig: (.*)$`).FindStringSubmatch(i.config.Data["config.conf"])
		if kubeconfig == nil {
			t.Fatal("the configuration names no kubeconfig")
		}
		text := i.file(t, kubeconfig[1])
		for _, want := range []string{"/var/run/secrets/kubernetes.io/serviceaccount/ca.crt\n", "tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token\n", "server: https://"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in the kubeconfig:\n%s", want, text)
			}
		}
		// Probes ask where health is served, from the node itself.
		if !strings.Contains(i.config.Data["config.conf"], "\nhealthzBindAddress: 0.0.0.0:10256\n") {
			t.Error("health is not served where the probes ask")
		}
		for _, p := range []*corev1.Probe{i.container().LivenessProbe, i.container().ReadinessProbe} {
			if p == nil || p.HTTPGet == nil || p.HTTPGet.Path != "/livez" || p.HTTPGet.Port.IntValue() != 10256 || p.HTTPGet.Host != "127.0.0.1" {
				t.Errorf("probe %+v", p)
			}
		}
	})
}
