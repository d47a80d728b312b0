package servers

import (
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
