package scenario

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A server is known by whole words of its image's name, and what is beside one is not taken for it.
func TestImagesAreKnownByWholeWords(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{ // order: each for itself
		"redis":                                                "database",
		"library/redis:7":                                      "database",
		"redis/redis-stack-server:7.4.0-v1":                    "database",
		"bitnami/redis-cluster":                                "database",
		"gcr.io/google_samples/gb-redisslave:v1":               "database",
		"us-docker.pkg.dev/x/gb-redis-follower":                "database",
		"bitnami/postgresql:16":                                "database",
		"bitnami/postgresql-repmgr":                            "database",
		"postgis/postgis":                                      "database",
		"example.com/postgres14":                               "database",
		"ghcr.io/zalando/spilo-15:3.0-p1":                      "database",
		"mysql/mysql-server":                                   "database",
		"percona/percona-xtradb-cluster":                       "database",
		"mongo:7":                                              "database",
		"bitnami/mongodb":                                      "database",
		"rabbitmq:4-management":                                "database",
		"confluentinc/cp-kafka":                                "database",
		"confluentinc/cp-zookeeper":                            "database",
		"quay.io/coreos/etcd":                                  "database",
		"docker.elastic.co/elasticsearch/elasticsearch:8.15.0": "database",
		"neo4j:5":    "database",
		"nats:2.10":  "database",
		"my_redis":   "database",
		"my-redis.7": "database",

		"postgrest/postgrest": UnknownProfile,
		"mongo-express:1.0":   UnknownProfile,
		"mysql/mysql-router":  UnknownProfile,
		"container-registry.oracle.com/mysql/community-router":      UnknownProfile,
		"rediscommander/redis-commander":                            UnknownProfile,
		"oliver006/redis_exporter":                                  UnknownProfile,
		"redis/redisinsight":                                        UnknownProfile,
		"quay.io/prometheuscommunity/postgres-exporter":             UnknownProfile,
		"prom/mysqld-exporter":                                      UnknownProfile,
		"kbudde/rabbitmq-exporter":                                  UnknownProfile,
		"ghcr.io/zalando/postgres-operator:v1":                      UnknownProfile,
		"rabbitmqoperator/cluster-operator":                         UnknownProfile,
		"confluentinc/cp-kafka-connect":                             UnknownProfile,
		"confluentinc/cp-kafka-rest":                                UnknownProfile,
		"provectuslabs/kafka-ui":                                    UnknownProfile,
		"opensearchproject/opensearch-dashboards":                   UnknownProfile,
		"natsio/nats-box":                                           UnknownProfile,
		"natsio/nats-server-config-reloader":                        UnknownProfile,
		"example.com/kafkaesque":                                    UnknownProfile,
		"example.com/orders-mongo-api":                              UnknownProfile,
		"nginx/nginx-prometheus-exporter":                           UnknownProfile,
		"nginxinc/nginx-prometheus-exporter":                        UnknownProfile,
		"nginxinc/nginx-s3-gateway-of-ours":                         UnknownProfile,
		"prom/haproxy-exporter":                                     UnknownProfile,
		"envoyproxy/envoy-ratelimit":                                UnknownProfile,
		"quay.io/prometheus/node-exporter":                          UnknownProfile,
		"thomseddon/traefik-forward-auth":                           UnknownProfile,
		"nginxinc/nginx-unprivileged":                               "nginx",
		"bitnami/nginx":                                             "nginx",
		"haproxytech/haproxy-alpine:3.0":                            "haproxy",
		"envoyproxy/envoy-distroless:v1.31":                         "envoy",
		"registry.k8s.io/ingress-nginx/controller:v1.15.1":          "ingress-nginx",
		"registry.k8s.io/ingress-nginx/kube-webhook-certgen:v1.5.1": UnknownProfile,
	} {
		if got := ContainerApp(&corev1.Container{Image: image}, nil, world.Overrides{}).Profile; got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}

// An app on a JVM takes 15 s to listen, and from 5 to 40 s as other values of the assumption, whatever
// it does at SIGTERM.
func TestAJVMStartsLater(t *testing.T) {
	t.Parallel()
	const usual = "2s, then 500ms, 20s"
	jvm := func(by string) string { return "15s (a JVM, by its " + by + "), then 5s (a JVM), 40s (a JVM)" }
	for _, tt := range []struct{ image, more, want string }{
		{"example.com/web", "", usual},
		{"eclipse-temurin:21-jre", "", jvm("image eclipse-temurin:21-jre")},
		{"example.com/web-jre", "", jvm("image example.com/web-jre")},
		{"example.com/web", "command: [java, -jar, app.jar]", jvm("command java -jar app.jar")},
		{"example.com/web", "env: [{name: SPRING_PROFILES_ACTIVE, value: prod}]", jvm("variable SPRING_PROFILES_ACTIVE")},
		{"example.com/web", "env: [{name: JAVA_TOOL_OPTIONS, value: -Xmx1g}]", jvm("variable JAVA_TOOL_OPTIONS")},
		{"tomcat:10", "", jvm("image tomcat:10")},
		{"example.com/web", "livenessProbe: {httpGet: {path: /actuator/health/liveness, port: 8080}}", jvm("probe of /actuator/health/liveness")},
		{"example.com/web", "livenessProbe: {httpGet: {path: /health, port: 8080}}", usual},
		{"quay.io/keycloak/keycloak:26", "", jvm("image quay.io/keycloak/keycloak:26")},
		{"example.com/javascript", "", usual},
		{"node:22", "", usual},
	} {
		text := strings.Replace(altWeb, "image: example.com/web", "image: "+tt.image+"\n        "+tt.more, 1)
		s := inferOne(t, text, Options{}).Scenario
		_, value := assumptionOf(s, "start")
		var tried []string
		for _, a := range Alternatives(s) {
			if a.ID == "start" {
				tried = append(tried, a.Value)
				if got := a.Scenario.Workloads[0].App.Start.Max().Duration().String(); !strings.HasPrefix(a.Value, got) {
					t.Errorf("%s: %s is %s", tt.image, a.Value, got)
				}
			}
		}
		if got := value + ", then " + strings.Join(tried, ", "); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.image, tt.more, got, tt.want)
		}
	}
	if s := inferOne(t, strings.Replace(altWeb, "example.com/web", "openjdk", 1), Options{Set: []string{"start=3s"}}).Scenario; s.Workloads[0].App.Start.Max().Seconds() != "3" {
		t.Error("what is said of the start-up does not count for a JVM")
	}
}
