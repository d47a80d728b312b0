package servers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Traefik's entry points accept each for its own time, and its /ping answers that it stops, so that a readiness probe of it fails while users'
// entry points still accept. Reference: docs/model/propagation.md 5 Traefik, Traefik's ping.
func TestTraefik(t *testing.T) {
	t.Parallel()
	const (
		web      = "--entryPoints.web.transport.lifeCycle.requestAcceptGraceTimeout=30"
		own      = "--entryPoints.traefik.transport.lifeCycle.requestAcceptGraceTimeout="
		variable = "TRAEFIK_ENTRYPOINTS_WEB_TRANSPORT_LIFECYCLE_REQUESTACCEPTGRACETIMEOUT=30s"
		fails    = "its readinessProbe asks /ping, which fails from SIGTERM on"
	)
	for name, c := range map[string]struct {
		args, env, path string
		want            string
	}{ // order: each for itself
		"/ping":                           {web, "", "/ping", "drains 30s finish 10s readiness"},
		"another path":                    {web, "", "/healthz", "drains 30s finish 10s"},
		"no probe over HTTP":              {web, "", "", "drains 30s finish 10s"},
		"closed at once":                  {"--ping", "", "/ping", "closes finish 10s"},
		"a code of its own":               {web + "|--ping.terminatingStatusCode=204|" + own + "30", "", "/ping", "drains 30s finish 10s"},
		"a redirection":                   {web + "|--ping.terminatingstatuscode=302|" + own + "40s", "", "/ping", "drains 30s finish 10s"},
		"no code of its own":              {web + "|" + own + "30", "", "/ping", "drains 30s finish 10s readiness"},
		"another error":                   {web + "|--ping.terminatingStatusCode=404|" + own + "30", "", "/ping", "drains 30s finish 10s readiness"},
		"no code at all":                  {web + "|--ping.terminatingStatusCode=2000|" + own + "30", "", "/ping", "drains 30s finish 10s readiness"},
		"its entry point closes":          {web + "|--ping.terminatingStatusCode=204", "", "/ping", "drains 30s finish 10s readiness"},
		"its entry point closes sooner":   {web + "|--ping.terminatingStatusCode=204|" + own + "29", "", "/ping", "drains 30s finish 10s readiness"},
		"at the users' entry point":       {web + "|--ping.terminatingStatusCode=204|--ping.entryPoint=Web", "", "/ping", "drains 30s finish 10s"},
		"its entry point alone":           {own + "30", "", "/ping", "closes finish 10s"},
		"its entry point's is not theirs": {web + "|" + own + "5", "", "/", "drains 30s finish 10s"},
		"two entry points":                {web + "|--entrypoints.websecure.transport.lifecycle.requestacceptgracetimeout=20", "", "/", "drains 20s finish 10s"},
		"... in the other order":          {"--entrypoints.websecure.transport.lifecycle.requestacceptgracetimeout=20|" + web, "", "/", "drains 20s finish 10s"},
		"one without":                     {web + "|--entrypoints.websecure.transport.lifecycle.requestacceptgracetimeout=0", "", "/", "drains 30s finish 10s"},
		"no time":                         {"--entrypoints.web.transport.lifecycle.requestacceptgracetimeout=long", "", "/", "closes finish 10s"},
		"somebody else's setting":         {"--x.web.transport.lifecycle.requestacceptgracetimeout=30", "", "/", "closes finish 10s"},
		"variables":                       {"", variable, "/ping", "drains 30s finish 10s readiness"},
		"variables, and a code":           {"", variable + "|TRAEFIK_PING_TERMINATINGSTATUSCODE=200|TRAEFIK_PING_ENTRYPOINT=web", "/ping", "drains 30s finish 10s"},
		"variables beside arguments":      {"--ping=true", variable, "/ping", "closes finish 10s"},
		"somebody else's variable":        {"", "X_" + variable, "/ping", "closes finish 10s"},
	} {
		container := &corev1.Container{Image: "traefik:v3"}
		if c.args != "" {
			container.Args = strings.Split(c.args, "|")
		}
		for _, v := range strings.FieldsFunc(c.env, func(r rune) bool { return r == '|' }) {
			name, value, _ := strings.Cut(v, "=")
			container.Env = append(container.Env, corev1.EnvVar{Name: name, Value: value})
		}
		if c.path != "" {
			container.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: c.path}}}
			container.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ping"}}}
		}
		app := ContainerApp(container, nil, world.Overrides{})
		if got := appWords(app); got != "traefik "+c.want {
			t.Errorf("%s: got %s, want traefik %s", name, got, c.want)
		}
		if said := app.Evidence == "image traefik:v3, "+fails; said != app.ReadinessFails {
			t.Errorf("%s: evidence %q", name, app.Evidence)
		}
		if named := ContainerApp(container, nil, world.Overrides{Profile: "traefik"}); named.Evidence != "" || named.ReadinessFails != app.ReadinessFails {
			t.Errorf("%s, by its name: %q, %t", name, named.Evidence, named.ReadinessFails)
		}
	}
}
