package servers

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Where a program listens is known of official images that nobody tells anything.
func TestDefaultPorts(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]int32{
		"nginx:1.27": 80, "docker.io/library/httpd:2.4": 80, "docker.io/caddy": 80, "nginxinc/nginx-unprivileged:1.27": 8080,
		"registry.example.com/shop/nginx:3": 0, "example.com/web:1": 0,
	} {
		if got := DefaultPort(&corev1.Container{Image: image}); got != want {
			t.Errorf("%s: %d, want %d", image, got, want)
		}
		for _, c := range []corev1.Container{{Command: []string{"x"}}, {Args: []string{"x"}}, {VolumeMounts: []corev1.VolumeMount{{Name: "conf"}}}} {
			if c.Image = image; DefaultPort(&c) != 0 {
				t.Errorf("%s with %+v: %d, want 0", image, c, DefaultPort(&c))
			}
		}
	}
}

func TestPortsOfDatabases(t *testing.T) {
	t.Parallel()
	var got []int
	for port := range 65536 {
		if DatabasePort(port) {
			got = append(got, port)
		}
	}
	want := []int{3306, 4222, 5432, 5672, 6379, 9042, 9092, 11211, 27017} // MySQL, NATS, PostgreSQL, AMQP, Redis, CQL, Kafka, memcached, MongoDB
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
