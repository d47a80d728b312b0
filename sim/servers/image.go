package servers

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/units"
)

// Image is a container image's name in its parts.
type Image struct {
	full       string
	path, tag  string // path without tag and digest
	repo, name string // the last two elements of the path
}

// ParseImage splits the name of an image into its repository and its name, without tag and digest.
func ParseImage(s string) Image {
	i := Image{full: s}
	path, _, _ := strings.Cut(s, "@")
	if colon := strings.LastIndexByte(path, ':'); colon > strings.LastIndexByte(path, '/') {
		path, i.tag = path[:colon], path[colon+1:]
	}
	i.path = path
	parts := strings.Split(path, "/")
	i.name = parts[len(parts)-1]
	if len(parts) > 1 {
		i.repo = parts[len(parts)-2]
	}
	if name, ok := strings.CutPrefix(i.name, "mirrored-"); ok {
		i.repo, i.name = mirrored(name)
	}
	return i
}

// mirrored is what an image was called before Rancher, and with it k3s and RKE2, took it into a repository of theirs:
// rancher/mirrored-library-traefik, rancher/mirrored-coredns-coredns.
func mirrored(name string) (repo, of string) {
	if own, ok := strings.CutPrefix(name, "library-"); ok {
		return "library", own
	}
	if half := len(name) / 2; len(name)%2 == 1 && name[half] == '-' && name[:half] == name[half+1:] {
		return name[:half], name[:half]
	}
	return "", name
}

// Named says whether the image has one of the names, in whichever repository.
func (i Image) Named(names ...string) bool {
	for _, n := range names {
		if i.name == n {
			return true
		}
	}
	return false
}

func (i Image) is(repo, name string) bool    { return i.repo == repo && i.name == name }
func (i Image) in(repo string) bool          { return i.repo == repo }
func (i Image) hasPrefix(prefix string) bool { return strings.HasPrefix(i.name, prefix) }

// fpm says whether it is an image of PHP that has php-fpm in it, and no web server beside that: php:8.4-fpm-alpine, wordpress:fpm, acme/php-8.1-fpm.
func (i Image) fpm() bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(append(strings.Split(i.tag, "-"), i.segments()...), func(w string) bool { return slices.Contains(words, w) })
	}
	return i.of("php", "wordpress", "nextcloud", "drupal", "matomo") && has("fpm") && !has("nginx", "apache")
}

// IsWebServer says whether a container is a web server or a proxy, by a word of its image's name: one with an app's files in it, too.
func IsWebServer(c *corev1.Container) bool {
	return ParseImage(c.Image).of("nginx", "openresty", "httpd", "apache", "caddy", "haproxy", "envoy")
}

// stopsNginxFast says whether it is an image of nginx from before STOPSIGNAL SIGQUIT, by the version in its tag. The official image has it
// since 1.19.5 and, being built anew, 1.18; bitnami's since 1.28, and some builds of 1.27.5. Without it the runtime sends SIGTERM, which is
// nginx' fast shutdown. An image of somebody else may count its versions as it likes.
func (i Image) stopsNginxFast() bool {
	version := strings.Split(strings.SplitN(i.tag, "-", 2)[0], ".")
	if i.name != "nginx" || len(version) < 2 || version[0] != "1" {
		return false
	}
	minor, ok := units.Decimal(version[1], 0)
	if !ok {
		return false
	}
	patch := uint64(math.MaxUint64) // the last one
	if len(version) > 2 {
		if patch, ok = units.Decimal(version[2], 0); !ok {
			return false
		}
	}
	switch {
	case i.in("bitnami"), i.in("bitnamilegacy"):
		return minor < 27 || minor == 27 && patch < 5
	case i.in("library"), i.path == "nginx", i.path == "docker.io/nginx":
		return minor < 18 || minor == 19 && patch < 5
	default:
		return false
	}
}

// drainsClosed says whether it is a proxy of Istio's from before 1.8, by the version in its tag.
func (i Image) drainsClosed() bool {
	version := strings.Split(strings.SplitN(i.tag, "-", 2)[0], ".")
	if i.name != "proxyv2" || len(version) < 2 || version[0] != "1" {
		return false
	}
	minor, ok := units.Decimal(version[1], 0)
	return ok && minor < 8
}

// shell says which program a shell of that name is in the image: bash, busybox or dash, "" where nothing says so (docs/model/pod-lifecycle.md 2.3).
func (i Image) shell(name string) string {
	switch name {
	case "bash", "dash":
		return name
	case "ash":
		return "busybox"
	case "sh":
	default:
		return ""
	}
	of := append(strings.Split(i.tag, "-"), i.segments()...)
	system := func(names ...string) bool {
		return slices.ContainsFunc(of, func(w string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.TrimRight(w, "0123456789.") == n })
		})
	}
	official := []string{"golang", "node", "openjdk", "eclipse-temurin", "perl", "php", "pypy", "python", "ruby", "rust"}
	switch {
	case system("alpine", "busybox"):
		return "busybox"
	case system("ubi", "rhel", "centos", "fedora", "amazonlinux", "rockylinux", "almalinux"):
		return "bash"
	case system("debian", "ubuntu", "slim", "buster", "bullseye", "bookworm", "trixie", "focal", "jammy", "noble"),
		slices.Contains(official, i.name) && (i.path == i.name || i.in("library")):
		return "dash"
	default:
		return ""
	}
}

// keepsSignals says whether it is an official image of Node.js whose npm does not pass SIGTERM on, by the version in its tag: npm 9.6.7 to 10.2
// (which npm a Node.js came with: https://nodejs.org/en/about/previous-releases; recalled). A tag without the minor version is of the last one.
func (i Image) keepsSignals() bool {
	version := strings.Split(strings.SplitN(i.tag, "-", 2)[0], ".")
	if len(version) < 2 || !i.is("library", "node") && i.path != "node" && i.path != "docker.io/node" {
		return false
	}
	minor, ok := units.Decimal(version[1], 0)
	switch version[0] {
	case "18":
		return ok && minor >= 17 && minor < 20
	case "20":
		return ok && minor >= 3 && minor < 12
	case "21":
		return ok && minor < 7
	default:
		return false
	}
}

// segments are the words of its name: "redis-stack-server" has three. Digits at the end of a word are
// a version's: postgres14 is postgres.
func (i Image) segments() []string {
	words := strings.FieldsFunc(strings.ToLower(i.name), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	for k, w := range words {
		if short := strings.TrimRight(w, "0123456789"); short != "" {
			words[k] = short
		}
	}
	return words
}

// of says whether it is one of those servers: a whole word of its name is, as postgres is of
// "my-postgres" and not of "postgrest", and no other word says that it is something beside one.
func (i Image) of(servers ...string) bool {
	return slices.ContainsFunc(i.segments(), func(w string) bool { return slices.Contains(servers, w) }) && !i.beside()
}

// beside says whether it is something that belongs to a server without being one: an exporter, an
// operator, a client.
func (i Image) beside() bool {
	return slices.ContainsFunc(i.segments(), func(w string) bool { return slices.Contains(besideWords(), w) })
}

// besideWords are words in names of images that are not the server that another word names.
func besideWords() []string {
	return []string{
		"admin", "adminer", "agent", "api", "app", "backup", "backups", "bouncer", "box", "bridge", "browser", "cli", "client", "commander", "connect", "connector",
		"console", "consumer", "controller", "cron", "dashboard", "dashboards", "demo", "express", "exporter", "gateway", "gui", "init", "insight", "job",
		"loader", "manager", "metrics", "migrate", "migration", "migrations", "mirror", "monitor", "operator", "pooler", "producer", "proxy", "ratelimit", "reloader",
		"replicator", "rest", "restore", "router", "sentinel", "service", "sidecar", "sink", "sync", "tools", "ui", "viewer", "web", "webhook", "webui", "worker",
	}
}

// databaseNames are words in names of images of databases, caches and brokers. Kubernetes' guestbook
// calls its redis "gb-redisslave".
func databaseNames() []string {
	return []string{
		"redis", "redisslave", "redismaster", "valkey", "keydb", "dragonfly", "postgres", "postgresql", "timescaledb", "postgis", "spilo", "mysql", "mysqld", "mariadb", "percona",
		"cassandra", "scylla", "scylladb", "mongo", "mongodb", "mongod", "rabbitmq", "memcached", "elasticsearch", "opensearch", "zookeeper", "kafka", "redpanda",
		"etcd", "cockroach", "cockroachdb", "clickhouse", "couchdb", "couchbase", "neo4j", "influxdb", "nats",
	}
}

// isJVM says whether the program runs on a JVM, whatever it does at SIGTERM: those take longer to start.
func isJVM(e *Evidence) bool {
	if isJava(e) || e.image.of("tomcat", "jetty", "wildfly", "keycloak", "jenkins", "solr", "cassandra", "elasticsearch", "opensearch", "kafka", "zookeeper") {
		return true
	}
	return slices.ContainsFunc([]string{"JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"}, func(name string) bool { return e.variable(name) != "" })
}

// DatabasePort says whether databases, caches or brokers usually listen there: Redis, MySQL, PostgreSQL, MongoDB, AMQP, CQL, memcached, Kafka, NATS.
func DatabasePort(port int) bool {
	switch port {
	case 6379, 3306, 5432, 27017, 5672, 9042, 11211, 9092, 4222:
		return true
	default:
		return false
	}
}

// IsDatabase says whether the program is a database, a cache or a broker, by the name of its image.
func IsDatabase(e *Evidence) bool { return e.image.of(databaseNames()...) }
