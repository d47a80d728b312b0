package scenario

import (
	"strings"
	"testing"
)

// A configuration of Caddy or Traefik that is mounted and is not read may have a delay: a report says so, and with which field to try one.
func TestFilesOfServersThatAreNotRead(t *testing.T) {
	t.Parallel()
	const (
		delay = "{\n  shutdown_delay 20s\n}"
		mount = "volumeMounts: [{name: config, mountPath: /etc/caddy}]"
		want  = "shutdown_delay of Caddy, if /etc/caddy/Caddyfile has one: that file is mounted into container web (web.yaml:21) and is not read; apps.web.profile=drains stands for one of 10 s"
	)
	const caddy = "        image: caddy:2.8\n        args: [caddy, run, --config, /etc/caddy/Caddyfile]\n        ports: [{containerPort: 80}]\n        readinessProbe: {httpGet: {path: /up, port: 80}}\n        " + mount + "\n"
	traefik := func(args string) string {
		return "        image: traefik:v3\n" + args + "        ports: [{containerPort: 80}]\n        volumeMounts: [{name: config, mountPath: /etc/traefik}]\n"
	}
	of := func(file string) string {
		line := map[bool]string{true: "19", false: "20"}[file == "/etc/traefik/traefik.yml"]
		return "requestAcceptGraceTimeout of Traefik, if " + file + " has one: that file is mounted into container web (web.yaml:" + line + ") and is not read; apps.web.profile=drains stands for one of 10 s"
	}
	for name, x := range map[string]struct {
		file, from, to, profile, want string
	}{ // order: each for itself
		"another ConfigMap":        {delay, "configMap: {name: caddy}", "configMap: {name: other}", "", want},
		"a Secret":                 {delay, "configMap: {name: caddy}", "secret: {secretName: caddy}", "", want},
		"a variable":               {"{\n  shutdown_delay {$DELAY}\n}", "", "", "", want},
		"one file of a Secret":     {delay, mount + "\n      volumes: [{name: config, configMap: {name: caddy}}]", "volumeMounts: [{name: config, mountPath: /etc/caddy/Caddyfile, subPath: x}]\n      volumes: [{name: config, secret: {secretName: caddy}}]", "", want},
		"one that is read":         {delay, "", "", "", ""},
		"one without a delay":      {"{\n  debug\n}", "", "", "", ""},
		"none":                     {delay, mount, "volumeMounts: [{name: config, mountPath: /srv}]", "", ""},
		"a profile that is given":  {delay, "configMap: {name: caddy}", "configMap: {name: other}", "exits-at-once", ""},
		"Traefik":                  {delay, caddy, traefik(""), "", of("/etc/traefik/traefik.yml")},
		"Traefik, by its flag":     {delay, caddy, traefik("        args: [--configFile=/etc/traefik/x.toml]\n"), "", of("/etc/traefik/x.toml")},
		"... in two words":         {delay, caddy, traefik("        args: [--configfile, /etc/traefik/x.toml]\n"), "", of("/etc/traefik/x.toml")},
		"... a file of elsewhere":  {delay, caddy, traefik("        args: [--configfile, /srv/x.toml]\n"), "", ""},
		"... without a file":       {delay, caddy, traefik("        args: [--configfile]\n"), "", strings.Replace(of("/etc/traefik/traefik.yml"), ":19", ":20", 1)},
		"Traefik, by arguments":    {delay, caddy, traefik("        args: [--ping=true]\n"), "", ""},
		"Traefik that is told how": {delay, caddy, traefik(""), "drains", ""},
		"another server":           {delay, "image: caddy:2.8", "image: nginx:1.29", "", ""},
	} {
		s := inferOne(t, withCaddyfile(x.file, x.from, x.to), Options{Profile: x.profile}).Scenario
		got := ""
		for _, n := range s.NotModelled {
			if n.ID == "server-file" {
				got += n.What
				if n.Direction != "fewer" || n.Object != "Deployment shop/web" {
					t.Errorf("%s: %+v", name, n)
				}
			}
		}
		if got != x.want {
			t.Errorf("%s: got %q, want %q", name, got, x.want)
		}
	}
}
