package servers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Whether an image has a shell and sleep is known of some, and of others it is not: a hook that
// needs them fails at once, works, or works as an assumption.
// Reference: docs/model/pod-lifecycle.md 2.1.
func TestWhatAHookTakesForGranted(t *testing.T) {
	t.Parallel()
	const missing, known = "missing", ""
	for _, tt := range []struct {
		image, argv, want string
	}{
		{"example.com/web:1", "sleep|5", "sleep"},
		{"example.com/web:1", "/bin/sh|-c|sleep 5", "sh"},
		{"example.com/web:1", "bash|-c|/app/drain", "bash"},
		{"example.com/web:1", "/app/drain", known}, // how long that takes is the assumption
		{"example.com/web:1", "/wait-shutdown", known},
		{"example.com/web:1-alpine3.20", "sleep|5", known},
		{"example.com/web:2.1-bookworm", "sh|-c|sleep 5", known},
		{"nginx:1.29", "sh|-c|sleep 5", known},
		{"docker.io/library/python:3.13", "sleep|5", known},
		{"bitnami/anything", "sleep|5", known},
		{"postgres:17", "sh|-c|sleep 5", known},
		{"prom/prometheus:v3", "sleep|5", known},
		{"traefik:v3", "sh|-c|sleep 5", known},
		{"registry.k8s.io/ingress-nginx/controller:v1.15.1", "sh|-c|sleep 5; /wait-shutdown", known},
		{"prom/node-exporter", "sleep|5", "sleep"},
		{"scratch", "sleep|5", missing},
		{"gcr.io/distroless/static:nonroot", "sleep|5", missing},
		{"mcr.microsoft.com/dotnet/aspnet:8.0-noble-chiseled", "sleep|5", missing},
		{"mcr.microsoft.com/dotnet/aspnet:8.0-noble", "sleep|5", known},
		{"gcr.io/distroless/static:debug", "sh|-c|sleep 5", known},
		{"cgr.dev/chainguard/nginx:latest", "sh|-c|sleep 5", missing},
		{"cgr.dev/chainguard/nginx:latest-dev", "sh|-c|sleep 5", known},
		{"envoyproxy/envoy:distroless-v1.34.0", "sleep|5", missing},
		{"registry.k8s.io/coredns/coredns:v1.12.0", "sleep|5", missing},
		{"registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.15.0", "/bin/sleep|5", missing},
		{"quay.io/jetstack/cert-manager-controller:v1.17.0", "sleep|5", missing},
		{"otel/opentelemetry-collector-contrib:0.120.0", "sleep|5", missing},
		{"hashicorp/http-echo:1.0", "sleep|5", missing},
	} {
		h := HookOf(execIn(tt.image, strings.Split(tt.argv, "|")...), world.Overrides{})
		got := h.Assumes
		if h.Kind == HookMissing {
			got = missing
		}
		if got != tt.want {
			t.Errorf("%s %s: %q, want %q (%s)", tt.image, tt.argv, got, tt.want, h.Why)
		}
	}
}

// A container that runs a shell elsewhere has one.
func TestAContainerThatRunsAShellHasOne(t *testing.T) {
	t.Parallel()
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "test -f /ready"}}}}
	other := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/grpc_health_probe"}}}}
	for name, tt := range map[string]struct { // order: each for itself
		change func(*corev1.Container)
		want   string
	}{
		"nothing else":    {func(*corev1.Container) {}, "sleep"},
		"its command":     {func(c *corev1.Container) { c.Command = []string{"/bin/sh", "-c", "exec ./web"} }, ""},
		"its arguments":   {func(c *corev1.Container) { c.Args = []string{"bash", "run.sh"} }, ""},
		"readiness":       {func(c *corev1.Container) { c.ReadinessProbe = probe }, ""},
		"another program": {func(c *corev1.Container) { c.ReadinessProbe, c.Command = other, []string{"/web"} }, "sleep"},
		"postStart": {func(c *corev1.Container) {
			c.Lifecycle.PostStart = &corev1.LifecycleHandler{Exec: probe.Exec}
		}, ""},
	} {
		c := execIn("example.com/web", "sleep", "5")
		tt.change(c)
		if h := HookOf(c, world.Overrides{}); h.Assumes != tt.want {
			t.Errorf("%s: %q, want %q", name, h.Assumes, tt.want)
		}
	}
	if h := HookOf(execIn("example.com/web", "sleep", "5"), world.Overrides{PreStop: []world.Named{{Name: "", Dist: engine.Constant(engine.Second)}}}); h.Assumes != "" {
		t.Error("who says how long it takes says that it is there")
	}
}

// The directory of a path ends with its last slash, be that the first letter; a name alone has none.
func TestCutLast(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][3]any{
		"/server": {"", "server", true}, "/usr/bin/server": {"/usr/bin", "server", true}, "bin/": {"bin", "", true}, "server": {"", "server", false}, "": {"", "", false},
	} {
		if dir, name, found := cutLast(path); [3]any{dir, name, found} != want {
			t.Errorf("%q: %q, %q, %v", path, dir, name, found)
		}
	}
}

// What a probe runs is known not to be there where the image says so by its own name, or where the command is no name of a program.
func TestWhatAProbeCannotRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ image, argv, want string }{
		{"gcr.io/distroless/nodejs22-debian12", "cat|/tmp/ready", "the image gcr.io/distroless/nodejs22-debian12 has no cat"},
		{"gcr.io/distroless/static", "/bin/sh|-c|exit 0", "the image gcr.io/distroless/static has no sh"},
		{"mcr.microsoft.com/dotnet/aspnet:9.0-noble-chiseled", "curl|localhost", "the image mcr.microsoft.com/dotnet/aspnet has no curl"},
		{"gcr.io/distroless/static:debug", "cat|/tmp/ready", ""},
		{"gcr.io/distroless/static", "/app/check|--ready", ""},
		{"gcr.io/distroless/python3-debian12", "python3|check.py", ""},
		{"example.com/gatekeeper", "sh|-c|exit 0", ""}, // another one of that name, perhaps
		{"bitnami/metrics-server:1", "sh|-c|exit 0", ""},
		{"alpine", "cat /tmp/ready", `no program is called "cat /tmp/ready", for each word is an item of command`},
		{"alpine", "cat|/tmp/ready", ""},
	} {
		c := &corev1.Container{Image: tt.image}
		if got := Lacks(c, &corev1.ExecAction{Command: strings.Split(tt.argv, "|")}); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.image, tt.argv, got, tt.want)
		}
	}
	if got := Lacks(&corev1.Container{Image: "gcr.io/distroless/static"}, nil); got != "" {
		t.Errorf("no program: %q", got)
	}
}

// A program that is known to ask a server, and a script that says where, is no matter of a guess.
func TestWhichProbesAskAServer(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"curl -sf web:8080": true, "/usr/bin/pg_isready -U app": true, "python -c urlopen('http://web')": true, "sh -c test-it;redis-cli ping": true,
		"sh -c (echo>/dev/tcp/web/80)": true, "/bin/ready": false, "cat /tmp/curl.txt": false,
	} {
		p := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: strings.Split(command, " ")}}}
		if got := AsksServer(p); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}
