package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

const caddyPods = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: caddy:2.8
        args: [caddy, run, --config, /etc/caddy/Caddyfile]
        ports: [{containerPort: 80}]
        readinessProbe: {httpGet: {path: /up, port: 80}}
        volumeMounts: [{name: config, mountPath: /etc/caddy}]
      volumes: [{name: config, configMap: {name: caddy}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: caddy, namespace: shop}
data:
  Caddyfile: |
`

// withCaddyfile are pods of Caddy with a configuration, and one text of the manifest in place of another.
func withCaddyfile(file, from, to string) string {
	return strings.Replace(caddyPods, from, to, 1) + "    " + strings.ReplaceAll(file, "\n", "\n    ") + "\n"
}

// Caddy serves for the shutdown_delay of its configuration, where that is in the input, and the line is named; where it is not, it closes at once.
// Reference: docs/model/propagation.md 5 Caddy.
func TestCaddyfile(t *testing.T) {
	t.Parallel()
	const (
		site  = "\n:80 {\n  respond ok\n}"
		delay = "{\n  shutdown_delay 20s\n}" + site
		read  = " in its configuration (web.yaml:28)"
		args  = "args: [caddy, run, --config, /etc/caddy/Caddyfile]"
		mount = "volumeMounts: [{name: config, mountPath: /etc/caddy}]"
	)
	for name, x := range map[string]struct{ file, from, to, want string }{ // order: each for itself
		"a delay":                      {delay, "", "", "drains 20s, shutdown_delay 20 s" + read},
		"a delay and a limit":          {"{\n  grace_period 1m\n  shutdown_delay 2m # both\n}" + site, "", "", "drains 2m0s, finishes in 1m0s, shutdown_delay 120 s" + read},
		"a limit alone":                {"{\n  grace_period 10s\n}" + site, "", "", "closes, finishes in 10s, no shutdown_delay" + read},
		"neither":                      {"# a comment\n\n{\n  log {\n    shutdown_delay 9s\n  }\n}" + site, "", "", "closes, no shutdown_delay" + read},
		"no global options":            {":80 {\n  shutdown_delay 20s\n}", "", "", "closes, no shutdown_delay" + read},
		"in another block":             {"{\n  debug\n}\n{\n  shutdown_delay 20s\n}", "", "", "closes, no shutdown_delay" + read},
		"in a comment":                 {"{\n  # shutdown_delay 20s\n}" + site, "", "", "closes, no shutdown_delay" + read},
		"an import":                    {"{\n  import other\n  shutdown_delay 20s\n}" + site, "", "", "closes"},
		"a variable":                   {"{\n  shutdown_delay {$DELAY}\n}" + site, "", "", "closes"},
		"no time":                      {"{\n  shutdown_delay\n}" + site, "", "", "closes"},
		"a brace too few":              {"{\n  shutdown_delay 20s\n", "", "", "closes"},
		"what answers health checks":   {strings.Replace(delay, "respond ok", "respond {http.shutting_down}", 1), "", "", "drains 20s, readiness fails, shutdown_delay 20 s" + read},
		"... without such a probe":     {strings.Replace(delay, "respond ok", "respond {http.shutting_down}", 1), "httpGet: {path: /up, port: 80}", "tcpSocket: {port: 80}", "drains 20s, shutdown_delay 20 s" + read},
		"JSON":                         {`{"apps": {"http": {"shutdown_delay": "15s", "grace_period": 5000000000}}}`, "", "", "drains 15s, finishes in 5s, shutdown_delay 15 s" + read},
		"JSON without a delay":         {`{"admin": {}}`, "", "", "closes, no shutdown_delay" + read},
		"JSON with no time":            {`{"apps": {"http": {"shutdown_delay": true}}}`, "", "", "closes"},
		"JSON with a time below zero":  {`{"apps": {"http": {"grace_period": -1}}}`, "", "", "closes"},
		"where the image has it":       {delay, args, "args: [caddy, run]", "drains 20s, shutdown_delay 20 s" + read},
		"by another flag":              {delay, args, "args: [caddy, run, -c=/etc/caddy/Caddyfile]", "drains 20s, shutdown_delay 20 s" + read},
		"another file":                 {delay, args, "args: [caddy, run, --config=/etc/caddy/Other]", "closes"},
		"mounted elsewhere":            {delay, mount, "volumeMounts: [{name: config, mountPath: /srv}]", "closes"},
		"mounted as a file":            {delay, mount, "volumeMounts: [{name: config, mountPath: /etc/caddy/Caddyfile, subPath: Caddyfile}]", "drains 20s, shutdown_delay 20 s" + read},
		"another one mounted there":    {delay, mount, "volumeMounts: [{name: config, mountPath: /etc/caddy/Caddyfile, subPath: other}]", "closes"},
		"mounted as a file of another": {delay, mount, "volumeMounts: [{name: config, mountPath: /etc/caddy/Other, subPath: Caddyfile}]", "closes"},
		"another ConfigMap":            {delay, "configMap: {name: caddy}", "configMap: {name: other}", "closes"},
		"somebody else's Caddyfile":    {delay, "image: caddy:2.8", "image: nginx:1.29", "closes"},
	} {
		app := inferOne(t, withCaddyfile(x.file, x.from, x.to), Options{}).Scenario.Workloads[0].App
		_, by, _ := strings.Cut(app.Evidence, ", ")
		got := map[world.Listener]string{world.ListenerDrains: "drains " + app.DrainFor.Duration().String(), world.ListenerCloses: "closes"}[app.Listener]
		if app.FinishWithin > 0 {
			got += ", finishes in " + app.FinishWithin.Duration().String()
		}
		if app.ReadinessFails {
			got += ", readiness fails"
		}
		if by != "" {
			got += ", " + by
		}
		if got != x.want {
			t.Errorf("%s: got %s, want %s", name, got, x.want)
		}
	}
}
