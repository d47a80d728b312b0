package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// caddySettings are what a configuration of Caddy says of its end, 0 for what it does not say.
type caddySettings struct{ delay, grace engine.Time }

// caddyConfig is the file that Caddy reads: its official image's, unless the command says another one.
func caddyConfig(c *corev1.Container) string {
	argv := append(slices.Clone(c.Command), c.Args...)
	for _, flag := range []string{"--config", "-c"} {
		if file := after(argv, flag); file != "" {
			return file
		}
		for _, word := range argv {
			if file, ok := strings.CutPrefix(word, flag+"="); ok {
				return file
			}
		}
	}
	return "/etc/caddy/Caddyfile"
}

// isCaddy says that a workload's server is Caddy, and nothing says that it does otherwise at SIGTERM.
func isCaddy(w *world.Workload) bool {
	return w.App.Profile == servers.Caddy && w.App.Basis == inferred
}

// readCaddyfile has Caddy do at SIGTERM what its configuration says, where that is in a ConfigMap of the input (docs/model/propagation.md 5 Caddy).
func (b *builder) readCaddyfile(w *world.Workload, c *corev1.Container) {
	if !isCaddy(w) {
		return
	}
	o, key := b.world.mounted(w, c, caddyConfig(c))
	if o == nil {
		return
	}
	text := rawText(o.Value, "data", key)
	s, ok := caddyfile(text)
	if !ok {
		return
	}
	w.App.FinishWithin = s.grace
	what := "no " + shutdownDelay
	if s.delay > 0 {
		what = shutdownDelay + " " + s.delay.Seconds() + " s"
		w.App.Listener, w.App.DrainFor = world.ListenerDrains, s.delay
		// Nobody asks for this placeholder but what answers health checks.
		w.App.ReadinessFails = strings.Contains(text, "http.shutting_down") && c.ReadinessProbe != nil && c.ReadinessProbe.HTTPGet != nil
	}
	w.App.Evidence += fmt.Sprintf(", %s in its configuration%s", what, place(o, fmt.Sprintf("data[%q]", key), ""))
}

const shutdownDelay = "shutdown_delay"

// caddyfile reads a Caddyfile or the JSON that Caddy makes of it. ok is false where what is not here, or cannot be read, may say something.
func caddyfile(text string) (s caddySettings, ok bool) {
	var whole struct {
		Apps struct {
			HTTP struct {
				Delay any `json:"shutdown_delay"`
				Grace any `json:"grace_period"`
			} `json:"http"`
		} `json:"apps"`
	}
	if json.Unmarshal([]byte(text), &whole) == nil {
		delay, ok := caddySpan(whole.Apps.HTTP.Delay)
		grace, read := caddySpan(whole.Apps.HTTP.Grace)
		return caddySettings{delay, grace}, ok && read
	}
	return globalOptions(text)
}

// caddySpan is a duration of the JSON: a text, or a number of nanoseconds.
func caddySpan(v any) (engine.Time, bool) {
	switch v := v.(type) {
	case nil:
		return 0, true
	case string:
		return units.ParseSpan(v, engine.Second)
	case float64:
		return engine.Time(v), v >= 0 && v < float64(servers.Forever)
	default:
		return 0, false
	}
}

// globalOptions reads the block that a Caddyfile may begin with. A brace opens or closes a block as a word of its own.
func globalOptions(text string) (s caddySettings, ok bool) {
	depth := 0
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "#") }); i >= 0 {
			words = words[:i]
		}
		if len(words) == 0 {
			continue
		}
		if depth == 0 && words[0] != "{" {
			return s, true // the first block is a site's, or another snippet's
		}
		if depth == 1 && !s.option(words) {
			return s, false
		}
		for _, w := range words {
			depth += map[string]int{"{": 1, "}": -1}[w]
		}
		if depth == 0 {
			return s, true
		}
	}
	return s, depth == 0 && text != ""
}

// option takes one of the global options, and says whether it can be read.
func (s *caddySettings) option(words []string) bool {
	to := map[string]*engine.Time{shutdownDelay: &s.delay, "grace_period": &s.grace}[words[0]]
	if to == nil {
		return words[0] != "import"
	}
	if len(words) < 2 {
		return false
	}
	d, ok := units.ParseSpan(words[1], engine.Second)
	*to = d
	return ok
}
