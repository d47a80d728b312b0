package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// besideWeb is the web whose server has an image and sleeps for 7 s, with a container beside it.
func besideWeb(t *testing.T, image, beside, ports, kubernetes string) *world.Scenario {
	t.Helper()
	text := strings.Replace(altWeb, "image: example.com/web", "image: "+image, 1)
	text = strings.Replace(text, "{exec: {command: [/bin/drain]}}", `{exec: {command: [sleep, "7"]}}`, 1)
	text = strings.Replace(text, "      - name: web", "      - {"+beside+"}\n      - name: web", 1) + ports
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, problems := inferKept(t, objects, Options{Actions: []string{"rollout"}, KubernetesVersion: kubernetes})
	at := slices.IndexFunc(cases, func(c Case) bool { return c.Scenario != nil })
	if manifest.HasErrors(problems) || at < 0 {
		t.Fatalf("%s, %s: %d cases, %v", image, beside, len(cases), problems)
	}
	return cases[at].Scenario
}

// A proxy or a web server that a Service leads to passes its requests on to the app beside it: to what listens, or is known to be a server of apps,
// and is not led to by a Service itself, nor a database, nor what manages the proxy.
func TestWhatAProxyPassesItsRequestsOnTo(t *testing.T) {
	t.Parallel()
	const app, second = "name: app, image: example.com/app, ports: [{containerPort: 5000}]", "---\napiVersion: v1\nkind: Service\nmetadata: {name: app, namespace: shop}\nspec: {selector: {app: web}, ports: [{port: 5000}]}\n"
	for _, c := range []struct {
		image, beside, ports string
		behind               bool
	}{
		{"nginx:1.27", app, "", true},
		{"acme/nginx-drupal", "name: app, image: php:8.3-fpm", "", true},
		{"httpd:2.4", app, "", true}, {"caddy:2", app, "", true}, {"haproxy:3", app, "", true}, {"traefik:v3", app, "", true},
		{"envoyproxy/envoy:v1.30.2", app, "", true}, {"quay.io/oauth2-proxy/oauth2-proxy:v7", app, "", true},
		{"nginx:1.27", "name: app, image: 'python:3.12', command: [gunicorn, 'app:app']", "", true},
		{"nginx:1.27", app, second, false},
		{"example.com/web", app, "", false},
		{"registry.k8s.io/ingress-nginx/controller:v1.12", app, "", false},
		{"nginx:1.27", "name: app, image: example.com/app", "", false},
		{"nginx:1.27", "name: app, image: 'redis:7', ports: [{containerPort: 6379}]", "", false},
		{"nginx:1.27", "name: app, image: example.com/nginx-exporter, ports: [{containerPort: 9113}]", "", false},
		{"nginx:1.27", "name: app, image: gcr.io/x/cloud-sql-proxy, ports: [{containerPort: 5432}]", "", false},
		{"envoyproxy/envoy:v1.30.2", "name: shutdown-manager, image: example.com/contour, ports: [{containerPort: 8090}]", "", false},
	} {
		s := besideWeb(t, c.image, c.beside, c.ports, "")
		if got := slices.Contains(s.Workloads[0].Behind, "app"); got != c.behind || len(s.Workloads[0].Behind) > 1 {
			t.Errorf("%s, beside it %s: %v", c.image, c.beside, s.Workloads[0].Behind)
		}
		if c.behind && slices.ContainsFunc(s.NotModelled, func(n world.NotModelled) bool { return world.Uncounted(n.ID) }) {
			t.Errorf("%s: what is simulated is left out: %v", c.image, s.NotModelled)
		}
	}
}

// What the server may need, and is not simulated, is named first, with its remedy: a proxy to a database is needed, of others nobody knows.
func TestWhatStopsBeforeTheServerIsNamed(t *testing.T) {
	t.Parallel()
	const cache = "name: cache, image: example.com/cache, ports: [{containerPort: 7000}]"
	for _, c := range []struct{ image, beside, version, id, what, remedy string }{
		{"example.com/web", cache, "", world.Beside, "as the manifest is, container cache (web.yaml:12) is told to stop at once, 7 s before web: if web needs it, what is sent to the pod in that time fails, and is not counted here",
			"the same delay in container cache, too (web.yaml:12): lifecycle: {preStop: {sleep: {seconds: 7}}}"},
		{"example.com/web", cache + ", lifecycle: {preStop: {sleep: {seconds: 3}}}", "", world.Beside, "as the manifest is, container cache (web.yaml:12) is told to stop after 3 s, 4 s before web: ", "the same delay in container cache, too"},
		{"example.com/web", cache + ", lifecycle: {preStop: {sleep: {seconds: 7}}}", "", "", "", ""},
		{"example.com/web", "name: sql, image: gcr.io/x/cloud-sql-proxy:2", "", world.Needed, "container sql (web.yaml:12) is told to stop at once, 7 s before web: what web is asked then and needs what is behind it for, such as a database, fails, and is not counted here",
			"the same delay in container sql, too (web.yaml:12): lifecycle: {preStop: {sleep: {seconds: 7}}}; or have it be a sidecar, an init container with restartPolicy: Always (Kubernetes 1.29 and later), which ends last"},
		{"example.com/web", "name: pool, image: bitnami/pgbouncer:1", "1.28", world.Needed, "container pool (web.yaml:12) is told to stop at once", `lifecycle: {preStop: {exec: {command: [sleep, "7"]}}}`},
	} {
		var found []world.NotModelled
		for _, n := range besideWeb(t, c.image, c.beside, "", c.version).NotModelled {
			if world.Uncounted(n.ID) {
				found = append(found, n)
			}
		}
		if c.id == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || found[0].ID != c.id || !strings.HasPrefix(found[0].What, c.what) || !strings.Contains(found[0].Remedy, c.remedy) || !world.Foremost(c.id) || found[0].Direction != "more" {
			t.Errorf("%s: %q", c.beside, found)
		}
	}
}

// Of an app behind a proxy of which nothing is known it is said what it is taken to do.
func TestWhatAnAppBehindAProxyIsTakenToDoIsSaid(t *testing.T) {
	t.Parallel()
	for beside, want := range map[string]bool{ // order: each for itself
		"name: app, image: example.com/app, ports: [{containerPort: 5000}]": true,
		"name: app, image: php:8.3-fpm":                                     false,
	} {
		got := slices.ContainsFunc(besideWeb(t, "nginx:1.27", beside, "", "").NotModelled, func(n world.NotModelled) bool {
			return n.What == "container app, behind web, is taken to take no requests any more as soon as it is told to stop" && n.Direction == "fewer"
		})
		if got != want {
			t.Errorf("%s: %t", beside, got)
		}
	}
}

// A sidecar among the init containers of a pod is one that never ends in a version that has none: its workload is refused, unless a cluster has it.
func TestASidecarNeedsAVersionThatHasThem(t *testing.T) {
	t.Parallel()
	with := strings.Replace(altWeb, "      containers:", "      initContainers:\n      - {name: migrate, image: example.com/m}\n      - {name: mesh, image: example.com/p, restartPolicy: Always}\n      containers:", 1)
	const field, end = "spec.template.spec.initContainers[1].restartPolicy: Kubernetes ", ": container mesh is then an init container that never ends, and its pods never start; valid here: Kubernetes 1.29 and later, or container mesh among containers"
	for _, c := range []struct{ text, version, want string }{
		{with, "1.27", field + "1.27 does not know it" + end},
		{with, "1.28", field + "1.28 drops it, for its feature gate SidecarContainers is off by default before 1.29" + end},
		{with, "1.29", ""},
		{with, "", ""},
		{strings.Replace(with, "{name: web, namespace: shop}", "{name: web, namespace: shop, uid: a-b-c}", 1), "1.28", ""},
		{strings.Replace(with, ", restartPolicy: Always", "", 1), "1.27", ""},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(c.text)}}, manifest.Options{})
		_, problems := inferKept(t, objects, Options{KubernetesVersion: c.version, Actions: []string{"rollout"}})
		got := ""
		for _, p := range problems {
			if strings.Contains(p.Field, "initContainers") {
				got += p.Field + ": " + p.Message
				if !p.Refused || p.Line == 0 {
					t.Errorf("%s: %v", c.version, p)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.version, got, c.want)
		}
	}
}
