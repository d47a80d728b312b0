package servers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func TestProfileByImageAndCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		image string
		argv  string // the container's args, separated by |
		want  string
	}{
		{"nginx", "", "nginx closes finish"},
		{"docker.io/library/nginx:1.27@sha256:abc", "", "nginx closes finish"},
		{"localhost:5000/nginx", "", "nginx closes finish"},
		{"nginxinc/nginx-unprivileged:stable", "", "nginx closes finish"},
		{"nginxinc/something", "", "nginx closes finish"},
		{"nginx:1.14.2", "", "nginx-sigterm closes cut"},
		{"docker.io/library/nginx:1.17-alpine", "nginx|-g|daemon off;", "nginx-sigterm closes cut"},
		{"nginx:1.19.4", "", "nginx-sigterm closes cut"},
		{"nginx:1.19", "", "nginx closes finish"},
		{"nginx:1.18.0", "", "nginx closes finish"},
		{"nginx:1.x", "", "nginx closes finish"},
		{"nginx:1.1.x", "", "nginx closes finish"},
		{"example.com/shop/nginx:1.2.3", "", "nginx closes finish"},
		{"bitnami/nginx:1.25.4-debian-12-r3", "", "nginx-sigterm closes cut"},
		{"docker.io/bitnamilegacy/nginx:1.27.4", "", "nginx-sigterm closes cut"},
		{"bitnami/nginx:1.27", "", "nginx closes finish"},
		{"bitnami/nginx:1.28.0-debian-12-r3", "", "nginx closes finish"},
		{"bitnami/nginx:latest", "", "nginx closes finish"},
		{"bitnami/nginx-exporter:1.2.0", "", "closes-and-finishes closes finish"},
		{"my-nginx", "", "closes-and-finishes closes finish"},
		{"registry.k8s.io/ingress-nginx/controller:v1.15.1@sha256:abc", "", "ingress-nginx closes finish 4m0s readiness linger 10s"},
		{"ingress-nginx/controller", "--shutdown-grace-period=60|--post-shutdown-grace-period|5", "ingress-nginx drains 1m0s finish 4m0s readiness linger 5s"},
		{"example.com/mirror", "/nginx-ingress-controller", "ingress-nginx closes finish 4m0s readiness linger 10s"},
		{"envoyproxy/envoy:v1.31", "", "envoy closes cut"},
		{"docker.io/istio/proxyv2:1.23", "", "istio-proxy drains 5s cut"},
		{"docker.io/istio/proxyv2:1.8.0-distroless", "", "istio-proxy drains 5s cut"},
		{"docker.io/istio/proxyv2:1.7.8-distroless", "", "istio-proxy-1.7 closes finish 5s"},
		{"gcr.io/istio-release/proxyv2:1.6.7", "", "istio-proxy-1.7 closes finish 5s"},
		{"docker.io/istio/proxyv2", "", "istio-proxy drains 5s cut"},
		{"haproxy:3.0.8-alpine", "", "haproxy closes finish"},
		{"httpd:2.4", "", "httpd closes finish"},
		{"traefik:v3", "", "traefik closes finish 10s"},
		{"traefik:v3", "--entryPoints.web.transport.lifeCycle.requestAcceptGraceTimeout=15s|--entrypoints.web.transport.lifecycle.graceTimeOut=20", "traefik drains 15s finish 20s"},
		{"rancher/mirrored-library-traefik:2.11.8", "--entryPoints.web.transport.lifeCycle.requestAcceptGraceTimeout=10", "traefik drains 10s finish 10s"},
		{"example.com/edge", "--providers.kubernetesingress|--entryPoints.web.address=:80", "traefik closes finish 10s"},
		{"example.com/edge", "/usr/local/bin/traefik|--api", "traefik closes finish 10s"},
		{"openpolicyagent/opa:1.4.2-static", "run|--server", "opa closes finish 10s"},
		{"openpolicyagent/opa:0.64.1-envoy-rootless", "run|--server|--shutdown-wait-period=15|--shutdown-grace-period=5", "opa drains 15s finish 5s"},
		{"example.com/policies", "/opa|run|--shutdown-wait-period|20", "opa drains 20s finish 10s"},
		{"openpolicyagent/opa", "run|--shutdown-wait-period=0", "opa closes finish 10s"},
		{"openpolicyagent/kube-mgmt", "", "closes-and-finishes closes finish"},
		{"rancher/mirrored-coredns-coredns:1.12.0", "", "coredns drains 5s finish readiness"},
		{"docker.io/rancher/mirrored-library-nginx:1.16.1", "", "nginx-sigterm closes cut"},
		{"rancher/mirrored-metrics-server:v0.7.2", "", "closes-and-finishes closes finish"},
		{"registry.k8s.io/coredns/coredns:v1.12.0", "", "coredns drains 5s finish readiness"},
		{"example.com/dns", "/coredns|-conf|/etc/coredns/Corefile", "coredns drains 5s finish readiness"},
		{"caddy:2", "", "caddy closes finish"},
		{"redis:alpine", "", "database closes cut"},
		{"gcr.io/google_samples/gb-redisslave:v1", "", "database closes cut"},
		{"bitnami/redis-exporter", "", "closes-and-finishes closes finish"},
		{"gcr.io/google-samples/cassandra:v14", "", "database closes cut"},
		{"python:3", "gunicorn|app:app", "gunicorn closes finish 30s"},
		{"python:3", "sh|-c|exec gunicorn app:app --graceful-timeout 75", "gunicorn closes finish 1m15s"},
		{"python:3", "uvicorn|app:app|--timeout-graceful-shutdown|20", "uvicorn closes finish 20s"},
		{"python:3", "uvicorn|app:app", "uvicorn closes finish"},
		{"ruby:3", "bundle|exec|puma", "puma closes finish"},
		{"php", "php-fpm", "php-fpm closes cut"},
		{"php:8.4-fpm-alpine", "", "php-fpm closes cut"},
		{"wordpress:fpm", "", "php-fpm closes cut"},
		{"uselagoon/php-8.1-fpm:latest", "", "php-fpm closes cut"},
		{"acme/php8-fpm", "", "php-fpm closes cut"},
		{"acme/php-fpm-exporter", "", "closes-and-finishes closes finish"},
		{"richarvey/nginx-php-fpm", "", "closes-and-finishes closes finish"},
		{"serversideup/php:8.4-fpm-nginx", "", "closes-and-finishes closes finish"},
		{"php:8.4-fpm", "php|artisan|serve", "closes-and-finishes closes finish"},
		{"php:8.4-cli", "", "closes-and-finishes closes finish"},
		{"eclipse-temurin:21-jre", "", "spring-3.4 closes finish 30s"},
		{"example.com/app-jre", "", "spring-3.4 closes finish 30s"},
		{"example.com/app", "java|-jar|app.jar", "spring-3.4 closes finish 30s"},
		{"node:22", "", "node-default stays cut ignores"},
		{"example.com/app", "npm|start", "npm-start closes cut"},
		{"node:22", "npm|run|serve", "npm-start closes cut"},
		{"node:14", "yarn|start", "yarn-start closes cut"},
		{"node:14", "npm|start", "npm-start closes cut"},
		{"node:18.16", "npm|start", "npm-start closes cut"},
		{"node:18.17.1-alpine", "npm|start", "npm-9.6-start stays cut ignores"},
		{"node:18.20", "npm|start", "npm-start closes cut"},
		{"node:20", "npm|start", "npm-start closes cut"},
		{"node:20.2.0", "npm|start", "npm-start closes cut"},
		{"docker.io/library/node:20.3.0-slim", "tini|--|npm|start", "npm-9.6-start stays cut ignores"},
		{"node:20.11", "npx|serve", "npm-9.6-start stays cut ignores"},
		{"node:20.12.0", "npm|start", "npm-start closes cut"},
		{"node:21.6", "npm|start", "npm-9.6-start stays cut ignores"},
		{"node:21.7", "npm|start", "npm-start closes cut"},
		{"node:20.5", "pnpm|start", "npm-start closes cut"},
		{"node:20.x", "npm|start", "npm-start closes cut"},
		{"acme/node:20.5", "npm|start", "npm-start closes cut"},
		{"python:3", "uwsgi|--http|:8080|--master", "uwsgi stays cut ignores"},
		{"acme/uwsgi:2", "", "uwsgi stays cut ignores"},
		{"python:3", "sh|-c|exec uwsgi --http :8080 --die-on-term", "uwsgi closes cut"},
		{"python:3", "uwsgi|--die-on-term=true", "uwsgi closes cut"},
		{"python:3", "uwsgi|--hook-master-start|unix_signal:15 gracefully_kill_them_all", "uwsgi closes finish"},
		{"example.com/app", "tini|--|pnpm|start", "npm-start closes cut"},
		{"example.com/app", "sh|-c|npm start", "npm-start closes cut"},
		{"node:22", "node|server.js", "node-default stays cut ignores"},
		{"example.com/app", "tini|--|node|server.js", "behind-init closes cut"},
		{"node:22", "/sbin/tini|-g|-p|SIGTERM|--|node|server.js", "behind-init closes cut"},
		{"node:22", "dumb-init|--rewrite|15:2|node|server.js", "behind-init closes cut"},
		{"node:22", "/usr/bin/dumb-init|--|./server.js", "behind-init closes cut"},
		{"node:22", "/usr/local/bin/docker-init|--|env|node|server.js", "behind-init closes cut"},
		{"example.com/app", "catatonit|--|sh|-c|node server.js", "behind-init closes cut"},
		{"example.com/app", "/init|node|server.js", "behind-init closes cut"},
		{"example.com/app", "tini|--|sh|-c|exec ./server", "closes-and-finishes closes finish"},
		{"example.com/app", "tini|--|./server", "closes-and-finishes closes finish"},
		{"example.com/app", "tini|--|gunicorn|app:app", "gunicorn closes finish 30s"},
		{"example.com/app", "tini", "closes-and-finishes closes finish"},
		{"busybox", "sleep|infinity", "waits stays cut ignores none"},
		{"alpine", "/usr/bin/tail|-f|/dev/null", "waits stays cut ignores none"},
		{"alpine", "tini|--|sleep|infinity", "closes-and-finishes closes finish"},
		{"example.com/loadgenerator:v1", "", "load-generator closes cut none"},
		{"example.com/app", "/bin/sh|-c|./server --port 80", "closes-and-finishes closes finish"},
		{"example.com/app", "/bin/sh|-c|exec ./server", "closes-and-finishes closes finish"},
		{"example.com/app", "/bin/sh|run.sh", "closes-and-finishes closes finish"},
		{"gcr.io/x/frontend:v0.10.6", "", "closes-and-finishes closes finish"},
		{"", "", "closes-and-finishes closes finish"},
	} {
		c := &corev1.Container{Image: tt.image}
		if tt.argv != "" {
			c.Args = strings.Split(tt.argv, "|")
		}
		if got := appWords(ContainerApp(c, nil, world.Overrides{})); got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.image, tt.argv, got, tt.want)
		}
	}
}

// What gave an app's profile away is named in a few words, whatever is so by itself before what is so only together.
func TestWhatGaveAProfileAway(t *testing.T) {
	t.Parallel()
	long := "java -Xmx512m -Dserver.port=8080 -jar /srv/application.jar"
	asks := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path}}}
	}
	probed := corev1.Container{ReadinessProbe: asks("/actuator/health"), LivenessProbe: asks("/actuator/health"), StartupProbe: asks("/live")}
	e := &Evidence{
		image: ParseImage("example.com/app:1"), words: strings.Fields(long), argv: []string{long}, paths: EvidenceOf(&probed, nil).paths,
		env: []corev1.EnvVar{{Name: "HOME"}, {Name: "JAVA_OPTS"}}, labels: map[string]string{"app": "web"},
	}
	for want, match := range map[string]func(*Evidence) bool{
		"image example.com/app:1":                             func(e *Evidence) bool { return e.image.full != "" || len(e.words) > 0 },
		"command java -Xmx512m -Dserver.port=8080 -jar /s...": func(e *Evidence) bool { return e.runs("java") || len(e.paths) > 0 },
		"probe of /actuator/health, /live":                    func(e *Evidence) bool { return len(e.paths) > 0 || len(e.env) > 0 },
		"variable JAVA_OPTS": func(e *Evidence) bool {
			return len(e.env) > 0 && e.env[len(e.env)-1].Name == "JAVA_OPTS" || len(e.labels) > 0
		},
		"labels":            func(e *Evidence) bool { return len(e.labels) > 0 },
		"image and command": func(e *Evidence) bool { return e.image.full != "" && len(e.words) > 0 },
	} {
		if got := e.decisive(match); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := e.decisive(func(e *Evidence) bool { return len(e.env) > 0 && e.env[0].Name == "HOME" }); got != "variable HOME" {
		t.Errorf("the first variable: %s", got)
	}
	exact := strings.Repeat("a", 40)
	if got := (&Evidence{words: []string{exact}}).decisive(func(e *Evidence) bool { return e.runs(exact) }); got != "command "+exact {
		t.Errorf("a command of 40 characters: %s", got)
	}
}

func appWords(a world.App) string {
	out := a.Profile + " " + [...]string{"closes", "stays", "drains"}[a.Listener]
	if a.DrainFor > 0 {
		out += " " + a.DrainFor.Duration().String()
	}
	out += " " + [...]string{"finish", "cut"}[a.InFlight]
	if a.FinishWithin > 0 {
		out += " " + a.FinishWithin.Duration().String()
	}
	if a.IgnoresSIGTERM {
		out += " ignores"
	}
	if a.ReadinessFails {
		out += " readiness"
	}
	if a.Linger > 0 {
		out += " linger " + a.Linger.Duration().String()
	}
	if a.NotAServer {
		out += " none"
	}
	return out
}

// How long a server keeps an idle connection; docs/model/propagation.md 5 has the two of 5 s, the
// others are the servers' documented defaults.
func TestHowLongServersKeepIdleConnections(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		image, argv string
		want        engine.Time
	}{
		{"node:22", "", 5 * engine.Second},
		{"python:3", "uvicorn|app:app", 5 * engine.Second},
		{"python:3", "gunicorn|app:app", 2 * engine.Second},
		{"nginx", "", 75 * engine.Second},
		{"httpd:2.4", "", 5 * engine.Second},
		{"ruby:3", "bundle|exec|puma", 20 * engine.Second},
		{"eclipse-temurin:21-jre", "", engine.Minute},
		{"traefik:v3", "", 3 * engine.Minute},
		{"caddy:2", "", 5 * engine.Minute},
		{"envoyproxy/envoy:v1.31", "", engine.Hour},
		{"example.com/app", "", 0},
	} {
		c := &corev1.Container{Image: tt.image}
		if tt.argv != "" {
			c.Args = strings.Split(tt.argv, "|")
		}
		if got := ContainerApp(c, nil, world.Overrides{}).ServerIdle; got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.image, tt.argv, got.Duration(), tt.want.Duration())
		}
	}
}

func TestProfileByLabelsAndVariables(t *testing.T) {
	t.Parallel()
	managed := map[string]string{"gateway.envoyproxy.io/owning-gateway-name": "eg"}
	c := &corev1.Container{Image: "envoyproxy/envoy:distroless-v1.31", Args: []string{"--drain-time-s", "45"}}
	if got, want := appWords(ContainerApp(c, managed, world.Overrides{})), "envoy-gateway drains 45s finish readiness"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, tt := range []struct{ name, value, want string }{
		{"SERVER_SHUTDOWN", "immediate", "spring-3.4 closes cut"},
		{"SERVER_SHUTDOWN", "graceful", "spring-3.4 closes finish 30s"},
		{"SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE", "45s", "spring-3.4 closes finish 45s"},
	} {
		c := &corev1.Container{Image: "openjdk", Env: []corev1.EnvVar{{Name: tt.name, Value: tt.value}}}
		if got := appWords(ContainerApp(c, nil, world.Overrides{})); got != tt.want {
			t.Errorf("%s=%s: got %s, want %s", tt.name, tt.value, got, tt.want)
		}
		if got, want := ContainerApp(c, nil, world.Overrides{}).Evidence, "image openjdk, "+tt.name+"="+tt.value; got != want {
			t.Errorf("by %s, want by %s", got, want)
		}
	}
	c = &corev1.Container{Image: "istio/proxyv2", Env: []corev1.EnvVar{
		{Name: "TERMINATION_DRAIN_DURATION_SECONDS", Value: "20"}, {Name: "EXIT_ON_ZERO_ACTIVE_CONNECTIONS", Value: "true"},
	}}
	if got, want := appWords(ContainerApp(c, nil, world.Overrides{})), "istio-proxy drains 20s finish"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestProfilesAreATable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range Profiles() {
		if seen[p.ID] || p.ID == "" || p.Match == "" || p.Listener == "" || p.InFlight == "" || p.Source == "" || p.Status == "" {
			t.Errorf("row %q is not complete, or twice there", p.ID)
		}
		seen[p.ID] = true
		if app := AppFor(&Evidence{}, p.ID); app.Profile != p.ID || app.Basis != "manifest" || app.Start.Mean() != 2*engine.Second {
			t.Errorf("profile %s by name: %+v", p.ID, app)
		}
	}
	for _, p := range Profiles() {
		for _, other := range p.Alternatives {
			if !seen[other] {
				t.Errorf("%s names the alternative %s, which is not there", p.ID, other)
			}
		}
	}
}

func TestAppOf(t *testing.T) {
	t.Parallel()
	pod := func(containers ...corev1.Container) *corev1.PodTemplateSpec {
		return &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{}, Spec: corev1.PodSpec{Containers: containers}}
	}
	port := func(n int32, name string) []corev1.ContainerPort {
		return []corev1.ContainerPort{{ContainerPort: n, Name: name}}
	}
	sidecar := corev1.Container{Name: "istio-proxy", Image: "istio/proxyv2", Ports: port(15020, "")}
	app := corev1.Container{Name: "app", Image: "nginx", Ports: port(80, "http")}
	second := corev1.Container{Name: "second", Image: "redis", Ports: port(6379, "redis")}
	for _, tt := range []struct {
		name string
		pod  *corev1.PodTemplateSpec
		port int32
		by   string
		want int
	}{
		{"no container", pod(), 0, "", -1},
		{"the only one", pod(corev1.Container{}), 0, "", 0},
		{"the first with a port that is no sidecar", pod(sidecar, corev1.Container{}, app), 0, "", 2},
		{"the first that is no sidecar", pod(sidecar, corev1.Container{}), 0, "", 1},
		{"only a sidecar", pod(sidecar), 0, "", 0},
		{"by number", pod(app, second), 6379, "", 1},
		{"by name", pod(app, second), 0, "redis", 1},
		{"a number nobody declares", pod(app, second), 9999, "", 0},
	} {
		if got := ServerOf(tt.pod, tt.port, tt.by); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
	set := world.Overrides{Start: []world.Named{{Name: "", Dist: engine.Constant(engine.Second)}, {Name: "web", Dist: engine.Constant(7 * engine.Second)}}}
	if got := AppOf(pod(sidecar, app), set.For("web")); got.Profile != "nginx" || got.Start.Mean() != 7*engine.Second {
		t.Errorf("got %s, start %s", got.Profile, got.Start)
	}
	if got := AppOf(pod(app), set); got.Start.Mean() != engine.Second {
		t.Errorf("start for all: got %s", got.Start)
	}
	if got := AppOf(pod(), world.Overrides{}); got.Profile != UnknownProfile {
		t.Errorf("a pod without containers: %+v", got)
	}
	if got := AppOf(pod(app), world.Overrides{Profile: "ignores"}); got.Profile != "ignores" || !got.IgnoresSIGTERM {
		t.Errorf("--profile: %+v", got)
	}
}

// Servers that are written in Java take as long to start as any program of it, though neither their image nor their command says java.
func TestWhatRunsOnAJVM(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]bool{ // order: each for itself
		"tomcat:10": true, "jetty:12": true, "quay.io/wildfly/wildfly:30": true, "quay.io/keycloak/keycloak:25.0": true, "jenkins/jenkins:lts": true, "solr:9": true,
		"cassandra:5": true, "elasticsearch:8.15.0": true, "opensearchproject/opensearch:2": true, "apache/kafka:3.8.0": true, "zookeeper:3.9": true,
		"eclipse-temurin:21": true, "nginx:1.29": false, "redis:7": false, "node:22": false, "example.com/tomcat-exporter:1": false,
	} {
		if e := EvidenceOf(&corev1.Container{Image: image}, nil); isJVM(e) != want {
			t.Errorf("%s: %v, want %v", image, !want, want)
		}
	}
	if jvm, other := StartWords(&world.App{JVM: true}, "15s"), StartWords(&world.App{}, "2s"); jvm != "15s (a JVM)" || other != "2s" {
		t.Errorf("%q, %q", jvm, other)
	}
}

// What a shell does with the last command of its string, as bash 5.2, busybox 1.35 and dash 0.5.12 were seen to do it.
func TestShellsThatStay(t *testing.T) {
	t.Parallel()
	const stays, gone = "shell-pid1 stays cut ignores", "closes-and-finishes closes finish"
	for _, tt := range []struct{ image, argv, want, first string }{
		{"example.com/app", "/bin/bash^-c^./server --port 8080", gone, "exits-at-once"},
		{"example.com/app", "bash^-c^cd /app && A=1 ./server", gone, "exits-at-once"},
		{"example.com/app", "bash^-c^./server >/dev/null", stays, "closes-and-finishes"},
		{"example.com/app", "bash^-c^exec ./server >/dev/null", gone, "exits-at-once"},
		{"example.com/app", "bash^-c^./server || ./other", stays, "closes-and-finishes"},
		{"example.com/app", "bash^-c^./server | tee log", stays, "closes-and-finishes"},
		{"example.com/app", "bash^-c^while true; do ./server; done", stays, "closes-and-finishes"},
		{"example.com/app", "bash^-c^A=1", stays, "closes-and-finishes"},
		{"example.com/app", "bash^-c^java -jar app.jar", "spring-3.4 closes finish 30s", "spring-old"},
		{"example.com/app", "sh^-c^java -jar app.jar", "spring-3.4 closes finish 30s", "shell-pid1"},
		{"example.com/app", "sh^-c^./server", gone, "shell-pid1"},
		{"example.com/app", "ksh^-c^./server", gone, "shell-pid1"},
		{"example.com/app", "sh^-c^exec ./server", gone, "exits-at-once"},
		{"example.com/app", "sh^-c^bash -c './server >log'", stays, "closes-and-finishes"},
		{"example.com/app:1-alpine3.20", "sh^-c^./server >/dev/null", gone, "exits-at-once"},
		{"example.com/app", "ash^-c^./server", gone, "exits-at-once"},
		{"registry.access.redhat.com/ubi9/ubi-minimal:9.4", "sh^-c^./server", gone, "exits-at-once"},
		{"debian:12", "sh^-c^./server", stays, "closes-and-finishes"},
		{"example.com/app:2-bookworm", "sh^-c^true; ./server", stays, "closes-and-finishes"},
		{"example.com/app", "dash^-c^./server", stays, "closes-and-finishes"},
		{"python:3.12", "sh^-c^python manage.py migrate && gunicorn app:app", stays, "closes-and-finishes"},
		{"acme/python:3.12", "sh^-c^python manage.py migrate && gunicorn app:app", "gunicorn closes finish 30s", "shell-pid1"},
		{"python:3.12-alpine", "sh^-c^python manage.py migrate && gunicorn app:app", "gunicorn closes finish 30s", ""},
		{"example.com/app", "tini^--^sh^-c^./server", "behind-init closes cut", "closes-and-finishes"},
	} {
		app := ContainerApp(&corev1.Container{Image: tt.image, Command: strings.Split(tt.argv, "^")}, nil, world.Overrides{})
		if got := appWords(app); got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.image, tt.argv, got, tt.want)
		}
		if first := strings.Join(app.Alternatives[:min(1, len(app.Alternatives))], ""); first != tt.first {
			t.Errorf("%s %s: what else it may be is %q first, want %q", tt.image, tt.argv, first, tt.first)
		}
	}
}
