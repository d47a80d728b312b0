package servers

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// An image may have no shell and no sleep: then a preStop hook that runs one fails at once, which is
// no delay at all (docs/model/pod-lifecycle.md 2.1). Some images are known to have them and some not
// to; of the others it is an assumption.

// absent says why a program is known not to be in an image, or returns "". Only images that
// are known to hold one program and nothing else are listed; a path outside the usual places
// is taken to be there.
func absent(i Image, name string) string {
	if why := notIn(i, name); why != "" {
		return why + ": the hook fails at once, without any delay"
	}
	return ""
}

// Lacks says why the kubelet cannot run the command of a probe or of a postStart hook, "" where nothing says so: it is no name of a program, or
// the image says by its name or tag that it has no shell. An image that has the name of one with a single program may be another one: a
// pod that needs a shell to run at all is a reason to take it for that.
func Lacks(c *corev1.Container, action *corev1.ExecAction) string {
	if action == nil || len(action.Command) == 0 {
		return ""
	}
	name := action.Command[0]
	if strings.ContainsAny(name, " \t") {
		return fmt.Sprintf("no program is called %q, for each word is an item of command", name)
	}
	if i := ParseImage(c.Image); shellless(i) {
		return notIn(i, name)
	}
	return ""
}

func notIn(i Image, name string) string {
	if !bare(i) || i.hasPrefix("python") { // what is in distroless/python is not known well enough
		return ""
	}
	dir, _, found := cutLast(name)
	switch dir {
	case "", "/bin", "/usr/bin", "/usr/local/bin":
	default:
		return ""
	}
	if found && dir == "" {
		return "" // at the root: the program itself may live there
	}
	program := Base(name)
	if isShell(program) || slices.Contains(everyday(), program) {
		return "the image " + i.path + " has no " + program
	}
	return ""
}

// AsksServer says of an exec probe that its program is known to ask a server, or says where.
func AsksServer(p *corev1.Probe) bool {
	text := strings.Join(p.Exec.Command, " ")
	for _, place := range []string{"localhost", "127.0.0.1", "://", "/dev/tcp/"} {
		if strings.Contains(text, place) {
			return true
		}
	}
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()$`'\"", r) }), func(word string) bool {
		return slices.Contains([]string{
			"curl", "wget", "nc", "ncat", "telnet", "grpc_health_probe", "grpc-health-probe", "pg_isready", "psql", "redis-cli", "valkey-cli", "mysqladmin",
			"mysql", "mariadb-admin", "mariadb", "mongosh", "mongo", "rabbitmq-diagnostics", "rabbitmqctl", "nodetool", "cqlsh", "etcdctl", "cypher-shell",
			"clickhouse-client", "php-fpm-healthcheck", "cgi-fcgi", "ldapsearch", "kafka-broker-api-versions.sh",
		}, Base(word))
	})
}

// everyday lists what is in every image but the bare ones.
func everyday() []string {
	return []string{"sleep", "timeout", "curl", "wget", "kill", "pkill", "killall", "python", "python3", "perl", "usleep", "echo", "true", "cat", "touch", "test"}
}

// cutLast splits a path into its directory and name.
func cutLast(path string) (dir, name string, found bool) {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "", path, false
	}
	return path[:at], path[at+1:], true
}

// bare says whether an image is distroless (.NET's are called chiseled), built from scratch or of a single program. Which ones are
// is recalled.
func bare(i Image) bool {
	if i.fuller() {
		return false
	}
	return shellless(i) || strings.HasPrefix(i.path, "cgr.dev/") || i.is("coreos", "etcd") || i.hasPrefix("cert-manager-") || i.hasPrefix("opentelemetry-collector") || i.Named(singlePrograms()...)
}

// shellless says whether an image is distroless or chiseled, by its own name or tag.
func shellless(i Image) bool {
	return !i.fuller() && slices.ContainsFunc([]string{"distroless", "chiseled"}, func(word string) bool {
		return strings.Contains(i.path, word) || strings.Contains(i.tag, word)
	})
}

// fuller says whether an image has a shell by its tag, whatever it is called, or is one of bitnami's, which are built upon a distribution.
func (i Image) fuller() bool {
	return strings.Contains(i.tag, "debug") || strings.Contains(i.tag, "alpine") || strings.HasSuffix(i.tag, "-dev") || i.in("bitnami") || i.in("bitnamilegacy")
}

// singlePrograms are names of images with nothing in them but their program.
func singlePrograms() []string {
	return []string{
		"scratch", "pause", "hello-world", "whoami", "http-echo", "coredns", "metrics-server", "kube-state-metrics", "kube-rbac-proxy", "kube-apiserver",
		"kube-controller-manager", "kube-scheduler", "cluster-autoscaler", "aws-load-balancer-controller", "external-dns", "cloudflared", "oauth2-proxy",
		"argo-rollouts", "kyverno", "gatekeeper", "sealed-secrets-controller", "agnhost-scratch",
	}
}

// shelled are names of images that have a shell and sleep: distributions, languages, and servers that
// are built upon them.
func shelled() []string {
	return []string{
		"alpine", "busybox", "debian", "ubuntu", "centos", "fedora", "rockylinux", "almalinux", "amazonlinux", "ubi8", "ubi9", "oraclelinux",
		"python", "node", "php", "ruby", "golang", "openjdk", "eclipse-temurin", "amazoncorretto", "tomcat", "jetty", "wordpress", "ghost", "nextcloud", "gitea",
		"nginx", "nginx-unprivileged", "openresty", "httpd", "haproxy", "traefik", "caddy", "varnish", "envoy", "proxyv2", "nginx-ingress-controller",
		"prometheus", "alertmanager", "grafana", "vault", "consul", "argocd", "jenkins", "sonarqube",
	}
}

// HasShell says whether a container is known to have a shell and what comes with one: by its image, or
// because it runs one elsewhere.
func HasShell(c *corev1.Container) bool {
	i := ParseImage(c.Image)
	if bare(i) {
		return false
	}
	if i.Named(shelled()...) || i.in("bitnami") || i.in("bitnamilegacy") || i.is("ingress-nginx", "controller") || i.of(databaseNames()...) {
		return true
	}
	for _, word := range strings.FieldsFunc(i.tag, func(r rune) bool { return r == '-' || r == '.' || r == '_' }) {
		word = strings.TrimRight(word, "0123456789")
		if slices.Contains([]string{"alpine", "debian", "ubuntu", "slim", "buster", "bullseye", "bookworm", "trixie", "focal", "jammy", "noble", "ubi", "debug"}, word) {
			return true
		}
	}
	return runsShell(c.Command) || runsShell(c.Args) || probesWithShell(c)
}

// LacksShell says whether a container's image is known to have none.
func LacksShell(c *corev1.Container) bool { return bare(ParseImage(c.Image)) }

// runsShell says whether a command line needs a shell, or what comes with one.
func runsShell(argv []string) bool { return neededProgram(argv) != "" }

func probesWithShell(c *corev1.Container) bool {
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if p != nil && p.Exec != nil && runsShell(p.Exec.Command) {
			return true
		}
	}
	return c.Lifecycle != nil && c.Lifecycle.PostStart != nil && c.Lifecycle.PostStart.Exec != nil && runsShell(c.Lifecycle.PostStart.Exec.Command)
}

// neededProgram is what a command line needs that comes with a shell, "" for nothing: the shell itself,
// or sleep.
func neededProgram(argv []string) string {
	argv = unwrap(argv)
	if len(argv) == 0 {
		return ""
	}
	if name := Base(argv[0]); isShell(name) || slices.Contains(everyday(), name) {
		return name
	}
	return ""
}
