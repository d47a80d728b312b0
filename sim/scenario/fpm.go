package scenario

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// fpmTimeout is for how long php-fpm lets its workers finish at SIGQUIT. It is no setting of PHP's, so that -d does not set it.
const fpmTimeout = "process_control_timeout"

// readFPM has php-fpm do at SIGQUIT what its configuration says, where that is in a ConfigMap of the input (docs/model/propagation.md 5 PHP-FPM).
func (b *builder) readFPM(of *world.Workload, c *corev1.Container, app *world.App) {
	if app.Profile != servers.PHPFPM || app.Basis != inferred {
		return
	}
	for _, m := range c.VolumeMounts {
		for _, v := range of.Template().Spec.Volumes {
			if v.Name != m.Name || v.ConfigMap == nil {
				continue
			}
			o := b.world.configMaps[of.Namespace()+"/"+v.ConfigMap.Name]
			if o == nil {
				continue
			}
			lasts, key, ok := fpmSets(o)
			if !ok {
				continue
			}
			if app.Alternatives = nil; lasts > 0 {
				app.InFlight, app.FinishWithin = world.InFlightFinish, lasts
				app.GoAway = app.Tells()
			}
			app.Evidence += fmt.Sprintf(", %s %s%s", fpmTimeout, lasts.Duration(), place(o, fmt.Sprintf("data[%q]", key), ""))
			return
		}
	}
}

// fpmSets finds the timeout in the files of a ConfigMap.
func fpmSets(o *manifest.Object) (lasts engine.Time, key string, ok bool) {
	files, _ := rawAt(o.Value, "data").(map[string]any)
	for name := range files { // order: of several files the last by name counts, as they are read
		if key != "" && name < key {
			continue
		}
		text, _ := files[name].(string)
		for _, line := range strings.Split(text, "\n") {
			line, _, _ = strings.Cut(line, ";") // a comment
			setting, value, _ := strings.Cut(line, "=")
			if d, read := units.ParseSpan(strings.Trim(strings.TrimSpace(value), `"`), engine.Second); read && strings.TrimSpace(setting) == fpmTimeout {
				lasts, key, ok = d, name, true
			}
		}
	}
	return lasts, key, ok
}
