package servers

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// traefikInternal is the entry point of Traefik at which its API and /ping are, unless something says otherwise: no user comes that way.
const traefikInternal = "traefik"

// traefikSettings are Traefik's static configuration as its arguments write it, or its variables where there is no argument: it reads one of both
// (https://doc.traefik.io/traefik/getting-started/configuration-overview/). Its file is not read. Names are in lower case, with dots.
func traefikSettings(e *Evidence) [][2]string {
	var out [][2]string
	for _, w := range e.words {
		if flag, ok := strings.CutPrefix(w, "--"); ok {
			key, value, _ := strings.Cut(flag, "=")
			out = append(out, [2]string{strings.ToLower(key), value})
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, v := range e.env {
		if name, ok := strings.CutPrefix(v.Name, "TRAEFIK_"); ok {
			out = append(out, [2]string{strings.ToLower(strings.ReplaceAll(name, "_", ".")), v.Value})
		}
	}
	return out
}

// tuneTraefik reads for how long entry points accept after SIGTERM, each for itself: of those that users may come by the shortest time counts.
func tuneTraefik(e *Evidence, app *world.App) {
	accepts := map[string]engine.Time{}
	ping, code := traefikInternal, "503"
	for _, s := range traefikSettings(e) {
		switch s[0] {
		case "ping.entrypoint":
			ping = strings.ToLower(s[1])
		case "ping.terminatingstatuscode":
			code = s[1]
		}
		rest, of := strings.CutPrefix(s[0], "entrypoints.")
		point, setting, _ := strings.Cut(rest, ".")
		v, ok := units.ParseSpan(s[1], engine.Second)
		switch {
		case !ok || !of:
		case setting == "transport.lifecycle.requestacceptgracetimeout" && v > 0:
			accepts[point] = v
		case setting == "transport.lifecycle.gracetimeout":
			app.FinishWithin = v
		}
	}
	for point, d := range accepts { // order: the least counts
		if point != traefikInternal && (app.DrainFor == 0 || d < app.DrainFor) {
			app.Listener, app.DrainFor = world.ListenerDrains, d
		}
	}
	if app.DrainFor > 0 && e.ready == "/ping" && !(passes(code) && accepts[ping] >= app.DrainFor) {
		app.ReadinessFails = true
		adds(app, "its readinessProbe asks /ping, which fails from SIGTERM on")
	}
}

// passes says whether a probe takes an answer of that status for a good one (docs/model/pod-lifecycle.md 3.3).
func passes(code string) bool {
	return len(code) == 3 && (code[0] == '2' || code[0] == '3')
}
