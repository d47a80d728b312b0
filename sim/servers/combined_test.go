package servers

import (
	"flag"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "rewrite what combinations come to")

// Parts of hooks, of which any two may stand in one script.
var hookParts = []string{
	"sleep 4", "sleep 1m 2s", "sleep ${X:-3}", "true", "false", "drain", "/app/drain -x", "timeout 3 sleep 10", "timeout 3 drain", "kill -TERM 1",
	"kill -s QUIT 1", "kill -9 1", "nginx -s quit",
	"/wait-shutdown", "curl -m 2 localhost:9901/healthcheck/fail", "wget -T 2 -q localhost/drain", "exec sleep 7", "exit 1",
	"(sleep 2)", "sleep 2 &", `sh -c "sleep 6; false"`, "touch /tmp/x", "pkill -TERM -f server", "python3 -c 'import time; time.sleep(2)'",
	"while pgrep x; do sleep 1; done", "echo 'a b'  # why", "X=1 env Y=2 sleep 3", "cat /x | grep y",
}

// Images of all kinds, and what may be run in them.
var (
	combinedImages = []string{
		"", "example.com/app:1", "nginx", "my-nginx:1", "nginxinc/nginx-unprivileged", "registry.k8s.io/ingress-nginx/controller:v1.15.1", "envoyproxy/envoy:v1.31",
		"docker.io/istio/proxyv2:1.23", "haproxy:3.0", "httpd", "traefik:v3", "caddy", "redis:7", "bitnami/redis-exporter", "postgres-14", "python:3", "ruby:3",
		"eclipse-temurin:21-jre", "example.com/app-jre", "node:22", "example.com/loadgenerator:v1", "gcr.io/distroless/static", "gcr.io/distroless/base:debug",
		"cgr.dev/chainguard/go", "coreos/etcd", "openresty/openresty@sha256:a", "php:fpm", "localhost:5000/a/b/kafka_2", "memcached1.6",
	}
	combinedCommands = []string{
		"", "gunicorn app --graceful-timeout 75", "uvicorn a:b", "bundle exec puma", "java -jar a.jar", "npm start", "sh -c|npm start", "node server.js",
		"tini -- node server.js", "/bin/sh -c|exec ./server", "/bin/sh -c|./server", "php-fpm", "nginx -g|daemon off;", "--shutdown-grace-period=60",
		"--entrypoints.web.transport.lifecycle.graceTimeOut=20", "--drain-time-s 5", "/envoy --config", "dotnet app.dll", "celery worker",
	}
)

// What two parts of a hook come to together, and an image with a command, stays as it is in testdata.
func TestCombinations(t *testing.T) {
	t.Parallel()
	var lines []string
	joints := []string{"; ", " && ", " || "}
	for i, a := range hookParts {
		for k, b := range hookParts {
			script := a + joints[(i+k)%len(joints)] + b
			image := []string{"example.com/app:1", "nginx", "node:22"}[(i+2*k)%3]
			h := HookOf(execIn(image, "sh", "-c", script), world.Overrides{})
			lines = append(lines, image+" $ "+script+" -> "+words(h)+": "+h.Why)
		}
	}
	for _, image := range combinedImages {
		lines = append(lines, image+" $ sleep 5 -> "+words(HookOf(execIn(image, "sleep", "5"), world.Overrides{})))
		for _, command := range combinedCommands {
			c := &corev1.Container{Image: image, Args: slices.DeleteFunc(strings.Split(command, "|"), func(s string) bool { return s == "" })}
			if !strings.Contains(command, "|") {
				c.Args = strings.Fields(command)
			} else if words := strings.Fields(c.Args[0]); len(words) > 1 {
				c.Args = append(words, c.Args[1:]...)
			}
			app := ContainerApp(c, nil, world.Overrides{})
			lines = append(lines, image+" "+command+" -> "+appWords(app)+", starts in "+app.Start.String()+", "+BasisWords(&app))
		}
	}
	golden.Compare(t, "testdata/combinations.txt", strings.Join(lines, "\n")+"\n", *update)
}
